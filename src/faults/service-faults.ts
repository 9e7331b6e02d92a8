import * as v from 'valibot'
import { type Duration, formatDuration, milliseconds } from '../kernel/duration.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import { plural } from '../kernel/plural.js'
import type { FaultOf, ServiceFault } from './fault.js'
import { atDeliveries, atRequests, atRequestsAndOutbound } from './fault-context.js'
import type { FaultGroup } from './fault-spec.js'
import { optional, milliseconds as span, statusCode, text, upToThousand } from './fault-values.js'
import { type DeliveryInjectionPoint, deliveryPoints } from './points.js'
import { done, inBothPhases, statusResponse, wasRefused, wasReset } from './shared-effects.js'

// Faults of a whole service: stale reads, restarts and outages.

/**
 * Makes a read return the value that the key had before its last `versions` changes (default 1).
 * @param options `unlessSynced`: reads of a request with the newest sync token get the present values, as on the
 * service. SDKs send the token of the latest response, unless `readYourWrites` is false.
 * @example
 * sandbox.faults.add({ on: 'store.command', match: { command: 'GET' }, times: 1, fault: fault.staleRead() })
 * await redis.set('stock', 5)
 * await redis.set('stock', 4)
 * expect(await redis.get('stock')).toBe(5)
 */
export function staleRead(versions = 1, options: { readonly unlessSynced?: true } = {}): FaultOf<'stale-read'> {
  checkOptionNames('fault.staleRead()', options, { unlessSynced: true })
  return { kind: 'stale-read', versions, ...(options.unlessSynced === true && { unlessSynced: true }) }
}

/**
 * Restarts the service: requests in flight break, and deliveries in flight are made again.
 * @example sandbox.faults.add({ on: 'queue.delivery', times: 1, fault: fault.restart('10s') })
 */
export function restart(down?: Duration): FaultOf<'restart'> {
  return down === undefined ? { kind: 'restart' } : { kind: 'restart', downMs: milliseconds(down) }
}

/**
 * Makes a region or the whole service unavailable. Connections are refused. With `status`, responses have this status
 * instead.
 * @example sandbox.faults.add({ on: 'queue.request', until: '10m', fault: fault.outage({ status: 503 }) })
 */
export function outage(options: { readonly region?: string; readonly status?: number } = {}): FaultOf<'outage'> {
  checkOptionNames('fault.outage()', options, { region: true, status: true })
  return { kind: 'outage', ...options }
}

const rows: FaultGroup<never, ServiceFault> = {
  'stale-read': {
    summary:
      'A read-only command gets the values that its keys had before their last `versions` changes. Writes are not affected. With `unlessSynced`, a request with the newest sync token gets the present values.',
    effect: 'answers',
    sentence: ({ versions }) => `replied with values from ${plural(versions, 'change')} ago`,
    made: { staleRead },
    phases: ['before'],
    fields: { versions: upToThousand, unlessSynced: optional(v.literal(true)) },
    // Commands that write must not use earlier values, so the fault matches only commands that read.
    also: () => ({ reads: true }),
    sample: [1],
    shownAt: 'store.command',
    at: {
      'store.command': ({ versions, unlessSynced }, moment) => {
        if (unlessSynced === true && moment.isSynced) {
          moment.tell('the request has the newest sync token: replied with present values')
          return moment.run()
        }
        const stale = moment.past(versions)
        if (stale !== undefined) return stale.reply
        const reply = moment.run()
        moment.tell('its keys have changed fewer times: replied with their present values')
        return reply
      },
    },
  },
  restart: {
    summary:
      'The service restarts and is down for `downMs`: connections and event streams break, and new connections are refused. Deliveries in flight break and are attempted again, which does not count as a retry.',
    effect: 'answers',
    sentence: ({ downMs }, phase) =>
      `${done(phase)}the service restarts${downMs === undefined ? '' : `, down for ${formatDuration(downMs)}`}`,
    made: { restart },
    phases: ['after', 'before'],
    fields: { downMs: optional(span) },
    sample: ['10s'],
    shownAt: 'queue.delivery',
    at: {
      ...atRequests<FaultOf<'restart'>>(
        inBothPhases(({ downMs = 0 }, moment) => {
          moment.restart(downMs)
          throw wasReset()
        }),
      ),
      ...atDeliveries({ restarts: ({ downMs = 0 }: FaultOf<'restart'>) => downMs }),
    },
  },
  outage: {
    summary:
      'A `region`, or the whole service, is unavailable during the window of the rule: connections are refused, or the response has `status`. Deliveries wait for the end of the outage.',
    effect: 'answers',
    sentence({ region, status }) {
      const what = region === undefined ? 'the service' : `region ${region}`
      return `${what} is down: ${status === undefined ? 'connections are refused' : `responded ${status}`}`
    },
    made: { outage },
    phases: ['before'],
    fields: { region: optional(text), status: optional(statusCode) },
    also: ({ region }) => (region === undefined ? {} : { region }),
    oddRule: (_fault, { on, until }) =>
      until === undefined && [on].flat().some((point) => deliveryPoints.includes(point as DeliveryInjectionPoint))
        ? ['until', 'is missing: deliveries wait for the end of an outage']
        : undefined,
    sample: [{ region: 'us-east-1', status: 503 }],
    shownAt: 'queue.request',
    at: {
      ...atRequestsAndOutbound<FaultOf<'outage'>>(({ status }, moment) => {
        if (status === undefined) throw wasRefused()
        return statusResponse({ kind: 'status', status }, moment)
      }),
      ...atDeliveries({
        holds(_fault: FaultOf<'outage'>, moment) {
          const { now, until = now } = moment
          moment.log(`waits for the end of the outage, ${formatDuration(until - now)}`)
          moment.waitUntil(until, 'held by an outage')
        },
      }),
    },
  },
}
export default rows
