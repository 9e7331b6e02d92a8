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

// Faults that break a connection or prevent it.

/**
 * Resets the connection before the request is processed, or after it with `phase: 'after'`. `fetch` rejects with cause
 * `ECONNRESET`, and the queue retries the delivery.
 * @example sandbox.faults.add({ on: 'store.request', phase: 'after', times: 1, fault: fault.reset() })
 */
export function reset(): FaultOf<'reset'> {
  return { kind: 'reset' }
}

/**
 * Refuses the connection: `fetch` rejects with cause `ECONNREFUSED`, and the queue retries the delivery.
 * @example sandbox.destinations.script('https://shop.test/orders', [fault.refused(), 200])
 */
export function refused(): FaultOf<'refused'> {
  return { kind: 'refused' }
}

/**
 * Makes the DNS lookup of the host fail: `fetch` rejects with cause `ENOTFOUND`.
 * @example
 * sandbox.faults.add({ on: 'outbound.request', match: { url: 'https://bank.test/*' }, fault: fault.unresolvedHost() })
 */
export function unresolvedHost(): FaultOf<'unresolved-host'> {
  return { kind: 'unresolved-host' }
}

/**
 * Presents an invalid TLS certificate: `fetch` rejects with cause `CERT_HAS_EXPIRED`.
 * @example sandbox.destinations.script('https://shop.test/orders', [fault.badCertificate(), 200])
 */
export function badCertificate(): FaultOf<'bad-certificate'> {
  return { kind: 'bad-certificate' }
}

/**
 * Sends no response, and closes the connection after `length`.
 * Without `length`, a delivery fails with its timeout, and `fetch` rejects with cause `ETIMEDOUT` after 5 minutes of
 * virtual time.
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
  // A caller that has already disconnected does not wait, so the fault takes no time.
  if (signal?.aborted === true) throw new ConnectionBroken('ECONNRESET', 'the caller gave up')
  tell(`no response for ${formatDuration(patience)}, then the caller gave up`)
  throw new ConnectionBroken('ETIMEDOUT', 'no response arrived')
})

function fails(error: string): AttemptAction<unknown> {
  return { meets: () => brokenReply(error) }
}

const rows: FaultGroup<ConnectionStep> = {
  reset: {
    summary: 'The connection is reset before the request is processed, or afterwards with `phase: after`.',
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
          return afterwards(moment, (given) => ({ ...broken, note: `${outcomeText(given)}, its response was lost` }))
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
    summary: 'The connection is refused.',
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
    summary: 'The host name does not resolve.',
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
    summary: 'The TLS certificate is not valid.',
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
      'No response arrives for `forMs`, then the connection closes. Without `forMs`, a delivery fails with its timeout, and a request fails after 5 minutes of virtual time.',
    effect: 'answers',
    sentence: ({ forMs }, phase) =>
      forMs === undefined ? `${done(phase)}no response` : `${done(phase)}no response for ${formatDuration(forMs)}`,
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
          return afterwards(moment, (given) =>
            silence(moment, forMs, `${outcomeText(given)}, its response was not received`),
          )
        },
      }),
      'stream.open': hangs,
    },
  },
}
export default rows
