import { type Duration, formatDuration, milliseconds } from '../kernel/duration.js'
import { ConnectionBroken } from '../kernel/http.js'
import { patience } from './broken-bodies.js'
import type { ConnectionStep, FaultOf } from './fault.js'
import { type AttemptAction, atDeliveries, atRequestsAndOutbound, type OnRequest } from './fault-context.js'
import type { FaultGroup } from './fault-spec.js'
import { optional, milliseconds as span } from './fault-values.js'
import { networkErrors } from './network-errors.js'
import {
  afterwards,
  brokenReply,
  done,
  inBothPhases,
  noConnection,
  oneNetworkError,
  outcomeText,
  silence,
  wasRefused,
  wasReset,
} from './shared-effects.js'

// Connections that break or are never made.

// ---- constructors -------------------------------------------------------------------------------------------------

/**
 * The connection breaks: before the work, or after it with `phase: 'after'`.
 * @example sandbox.faults.add({ on: 'store.request', phase: 'after', times: 1, fault: fault.reset() })
 */
export function reset(): FaultOf<'reset'> {
  return { kind: 'reset' }
}

/**
 * Nobody listens.
 * @example sandbox.destinations.script('https://shop.test/orders', [fault.refused(), 200])
 */
export function refused(): FaultOf<'refused'> {
  return { kind: 'refused' }
}

/**
 * The host name does not resolve.
 * @example
 * sandbox.faults.add({ on: 'outbound.request', match: { url: 'https://bank.test/*' }, fault: fault.unresolvedHost() })
 */
export function unresolvedHost(): FaultOf<'unresolved-host'> {
  return { kind: 'unresolved-host' }
}

/**
 * The certificate is not valid.
 * @example sandbox.destinations.script('https://shop.test/orders', [fault.badCertificate(), 200])
 */
export function badCertificate(): FaultOf<'bad-certificate'> {
  return { kind: 'bad-certificate' }
}

/**
 * No answer for this long, then the connection closes; without a length until the caller gives up.
 * A delivery fails at its timeout and is retried. A request without a length fails after 5 virtual minutes.
 * @example
 * sandbox.destinations.script('https://shop.test/orders', [fault.hang()])
 * await checkout()
 * await sandbox.clock.drain()
 * // The first delivery ended at its timeout.
 * expect(sandbox.queue).toHaveDelivered({ to: 'https://shop.test/orders', attempts: 2 })
 */
export function hang(length?: Duration): FaultOf<'hang'> {
  return length === undefined ? { kind: 'hang' } : { kind: 'hang', forMs: milliseconds(length) }
}

// ---- what they do -----------------------------------------------------------------------------------------------

function breaks(broken: () => ConnectionBroken): OnRequest<unknown> {
  return () => {
    throw broken()
  }
}

const resets = inBothPhases(breaks(wasReset))
const refuses = breaks(wasRefused)
const isUnresolved = breaks(() => new ConnectionBroken('ENOTFOUND', 'getaddrinfo ENOTFOUND'))
const isUntrusted = breaks(() => new ConnectionBroken('CERT_HAS_EXPIRED', 'certificate has expired'))

const hangs: OnRequest<FaultOf<'hang'>> = inBothPhases(async ({ forMs }, { task, signal, tell }) => {
  await task.sleep(forMs ?? patience, signal)
  if (forMs !== undefined) throw wasReset()
  // Who went before had no patience to lose.
  if (signal?.aborted === true) throw new ConnectionBroken('ECONNRESET', 'the caller gave up')
  tell(`no answer for ${formatDuration(patience)}, then given up`)
  throw new ConnectionBroken('ETIMEDOUT', 'no answer came')
})

function fails(error: string): AttemptAction<unknown> {
  return { meets: () => brokenReply(error) }
}

const rows: FaultGroup<ConnectionStep> = {
  reset: {
    summary: 'The connection breaks: before the work, or after it with `phase: after`.',
    effect: 'answers',
    sentence: (_fault, phase) => `${done(phase)}the connection is reset`,
    made: { reset },
    phases: ['before', 'after'],
    fields: {},
    sample: [],
    shownAt: 'store.request',
    instead: oneNetworkError,
    at: {
      ...atRequestsAndOutbound(resets),
      ...atDeliveries({
        meets(_fault: FaultOf<'reset'>, moment) {
          const broken = brokenReply(networkErrors.reset)
          if (moment.phase === 'before') return broken
          return afterwards(moment, (given) => ({ ...broken, note: `${outcomeText(given)}, its answer was lost` }))
        },
      }),
      'stream.open': resets,
      'store.command': (_fault, moment) => {
        if (moment.phase === 'after') moment.run()
        return moment.breakConnection()
      },
      'stream.event': (_fault, moment) => {
        moment.copies = moment.phase === 'before' ? 0 : 1
        moment.breaks = true
      },
    },
  },
  refused: {
    summary: 'Nobody listens: the connection is refused.',
    effect: 'answers',
    sentence: () => 'the connection is refused',
    made: { refused },
    phases: ['before'],
    fields: {},
    sample: [],
    shownAt: 'queue.delivery',
    instead: noConnection,
    at: { ...atRequestsAndOutbound(refuses), ...atDeliveries(fails(networkErrors.refused)), 'stream.open': refuses },
  },
  'unresolved-host': {
    summary: 'The name of the host does not resolve.',
    effect: 'answers',
    sentence: () => 'the host is not found',
    made: { unresolvedHost },
    phases: ['before'],
    fields: {},
    sample: [],
    shownAt: 'queue.delivery',
    instead: noConnection,
    at: {
      ...atRequestsAndOutbound(isUnresolved),
      ...atDeliveries(fails(networkErrors.unresolved)),
      'stream.open': isUnresolved,
    },
  },
  'bad-certificate': {
    summary: 'The certificate is not valid.',
    effect: 'answers',
    sentence: () => 'the certificate is not valid',
    made: { badCertificate },
    phases: ['before'],
    fields: {},
    sample: [],
    shownAt: 'queue.delivery',
    instead: noConnection,
    at: {
      ...atRequestsAndOutbound(isUntrusted),
      ...atDeliveries(fails(networkErrors.certificate)),
      'stream.open': isUntrusted,
    },
  },
  hang: {
    summary:
      'No answer for `forMs`, then the connection closes. Without it a delivery meets its time-out, and a request is given up after 5 virtual minutes.',
    effect: 'answers',
    sentence: ({ forMs }, phase) =>
      forMs === undefined ? `${done(phase)}no answer` : `${done(phase)}no answer for ${formatDuration(forMs)}`,
    made: { hang },
    meant: { timeout: "fault.hang() makes { kind: 'hang' }" },
    phases: ['before', 'after'],
    fields: { forMs: optional(span) },
    sample: [],
    shownAt: 'queue.delivery',
    at: {
      ...atRequestsAndOutbound(hangs),
      ...atDeliveries({
        arrives: true,
        meets({ forMs }: FaultOf<'hang'>, moment) {
          if (moment.phase === 'before') return silence(moment, forMs)
          return afterwards(moment, (given) => silence(moment, forMs, `${outcomeText(given)}, nobody heard of it`))
        },
      }),
      'stream.open': hangs,
    },
  },
}
export default rows
