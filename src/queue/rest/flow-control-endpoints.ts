import { decodeSegment } from '../../kernel/http.js'
import { json } from '../../protocol/call.js'
import type { RawResponse, ServiceRequest } from '../../protocol/service.js'
import type { QueryValues } from '../message/message-filters.js'
import type { QueueEngine } from '../queue-engine.js'
import { readPeriod } from '../settings/publish-options.js'
import { refusals } from '../settings/queue-rejections.js'
import { done, found, type QueueApi, type QueueEndpoint, queryOf, row } from './reading.js'
import { flowKeyShape } from './response-shapes.js'

/** Endpoints of flow control. [queue.md 1.11, 6.2] */
export const flowControlEndpoints: readonly QueueEndpoint[] = [
  row('GET', '/v2/flowControl', 'List the flow-control keys.', (call, api) => {
    const { queue } = api
    const search = queryOf(call).get('search')?.[0] ?? ''
    const keys = [...queue.flow.keys.values()].filter((key) => key.key.includes(search))
    return json(keys.map((key) => flowKeyShape(key, queue.now())))
  }),
  row(
    'GET',
    '/v2/flowControl/**',
    'Read a flow-control key.',
    (call, { queue }) => {
      const key = decodeSegment(call.rest)
      return json(flowKeyShape(found(queue.flow.keys.get(key), 'flow control key', key), queue.now()))
    },
    { facts: (call) => ({ flowControlKey: decodeSegment(call.rest) }) },
  ),
  row(
    'POST',
    '/v2/flowControl/**',
    'Manage a flow-control key: `<key>/pause`, `resume`, `pin`, `unpin`, `resetRate`, `reset`.',
    (call, api) => manageFlow(call, api),
    { facts: (call) => ({ flowControlKey: actionOn(call)?.key }) },
  ),
  row('GET', '/v2/globalParallelism', 'Read the number of deliveries in flight.', (_call, { queue }) =>
    json({ parallelismMax: queue.limits.globalParallelism, parallelismCount: queue.flow.inFlight }),
  ),
]

/**
 * Splits a path such as `<key>/pause` into the key and the action. A key may contain slashes, so the last slash
 * separates them.
 */
function actionOn({ rest }: ServiceRequest): { readonly key: string; readonly action: string } | undefined {
  const match = /^(?:(.*)\/)?(pause|resume|pin|unpin|resetRate|reset)\/?$/i.exec(rest)
  return match === null ? undefined : { key: decodeSegment(match[1] ?? ''), action: match[2]!.toLowerCase() }
}

function manageFlow(call: ServiceRequest, api: QueueApi): RawResponse {
  const { queue } = api
  const asked = actionOn(call)
  if (asked === undefined) throw refusals.unknownPath(call.method, call.path)
  const { key, action } = asked
  if (key === '') throw refusals.invalid('flow control key', 'it is missing')
  const query = queryOf(call)
  const flag = (of: string): boolean => query.get(of)?.[0]?.toLowerCase() === 'true'
  switch (action) {
    case 'pause':
      return done(queue.flow.pause(key))
    case 'resume':
      return done(queue.flow.resume(key))
    case 'pin':
      return done(queue.flow.pin(key, pinned(query, queue)))
    case 'unpin':
      return done(queue.flow.unpin(key, { parallelism: flag('parallelism'), rate: flag('rate') }))
    case 'resetrate':
      return done(queue.flow.resetRate(key))
    default:
      return done(queue.flow.reset(key))
  }
}

function pinned(
  query: QueryValues,
  queue: QueueEngine,
): { parallelism?: number | undefined; rate?: number | undefined; period?: number | undefined } {
  const positive = (field: string): number | undefined => {
    const value = query.get(field)?.[0]
    if (value === undefined || value === '') return undefined
    if (!/^[1-9]\d{0,9}$/.test(value))
      throw refusals.invalid(field, `${JSON.stringify(value)} is not a positive integer`)
    return Number(value)
  }
  const limits = { parallelism: positive('parallelism'), rate: positive('rate') }
  const given = query.get('period')?.[0] || undefined
  const period = given && readPeriod(given, queue.policy, (reason) => refusals.invalid('period', reason))
  if (limits.parallelism === undefined && limits.rate === undefined && !period) {
    throw refusals.invalid('pin', 'parallelism, rate or period is required')
  }
  return period ? { ...limits, period } : limits
}
