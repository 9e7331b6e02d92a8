import * as v from 'valibot'
import type { FaultFacts } from '../../faults/fault.js'
import { text } from '../../kernel/bytes.js'
import { hasMoreValues } from '../../kernel/json-depth.js'
import { parsedJson } from '../../kernel/parsed-json.js'
import { empty } from '../../protocol/call.js'
import { settingName } from '../../protocol/dialect.js'
import type { Endpoint, LateResponse, RawResponse, ServiceRequest } from '../../protocol/service.js'
import type { QueryValues } from '../message/message-filters.js'
import type { QueueEngine } from '../queue-engine.js'
import { refusals } from '../settings/queue-rejections.js'

export interface QueueApi {
  readonly queue: QueueEngine
}

export type QueueEndpoint = Endpoint<QueueApi>

export function row(
  method: string | readonly string[],
  path: string,
  summary: string,
  run: (call: ServiceRequest, api: QueueApi) => RawResponse | LateResponse,
  more: Pick<QueueEndpoint, 'facts' | 'limit' | 'point'> = {},
): QueueEndpoint {
  return { method, path, auth: 'bearer', summary, run, ...factOf(path), ...more }
}

/**
 * Facts for fault rules, by the path segment before their value. In `/v2/queues/orders`, the segment `queues` comes
 * before `orders`. The value of the fact `queue` is therefore `orders`.
 */
const namedBehind: Readonly<Record<string, keyof FaultFacts>> = {
  enqueue: 'queue',
  messages: 'messageId',
  queues: 'queue',
  schedules: 'scheduleId',
  topics: 'urlGroup',
}

function factOf(path: string): Pick<QueueEndpoint, 'facts'> {
  const [, word = '', param = ''] = /^\/v2\/(\w+)\/:(\w+)/.exec(path) ?? []
  const fact = namedBehind[word]
  return fact === undefined ? {} : { facts: ({ params }) => ({ [fact]: params[param] }) }
}

export function open(
  method: QueueEndpoint['method'],
  path: string,
  summary: string,
  run: QueueEndpoint['run'],
): QueueEndpoint {
  return { method, path, auth: 'none', summary, run }
}

export function name(call: ServiceRequest): string {
  return call.params.name!
}

export function found<T>(thing: T | undefined, kind: string, id: string): T {
  if (thing === undefined) throw refusals.notFound(kind, id)
  return thing
}

export function done(_nothing: void): RawResponse {
  return empty()
}

/**
 * Returns the parameters of the query. Leaves out the token, and all parameters with the prefix of the dialect, such as
 * publish options.
 */
export function queryOf(call: ServiceRequest): Map<string, string[]> {
  const query = new Map<string, string[]>()
  if (call.query === '') return query
  const { dialect } = call
  for (const [key, value] of new URLSearchParams(call.query)) {
    if (key === dialect.queueTokenQuery || settingName(key, dialect) !== undefined) continue
    const values = query.get(key)
    if (values) values.push(value)
    else query.set(key, [value])
  }
  return query
}

/**
 * Maximum size in bytes of a JSON body with the parameters of a request, for example with some 14,000 message IDs. It
 * limits the time for which a request blocks others. This package chose the number.
 */
export const maxParametersSize = 1_048_576

/**
 * Returns the parameters of the query and of the JSON body. Older clients send parameters in the body. [queue.md 1.5]
 */
export function queryAndBody(call: ServiceRequest): QueryValues {
  const query = queryOf(call)
  if (call.body === '') return query
  if (call.body.length > maxParametersSize)
    throw refusals.invalid('body', `it has more than ${maxParametersSize} bytes`)
  const scalar = v.union([v.string(), v.number(), v.boolean()])
  for (const [key, value] of parsed(call, entriesOf(v.nullish(v.union([scalar, v.array(scalar)]))))) {
    query.set(key, [value ?? []].flat().map(String))
  }
  return query
}

/**
 * Returns a schema that reads the names and values of a JSON object. `v.record` would drop names such as `constructor`.
 * A filter with such a name must be rejected, because a request without filters selects everything.
 */
export function entriesOf<S extends v.GenericSchema>(
  value: S,
): v.GenericSchema<unknown, [name: string, value: v.InferOutput<S>][]> {
  return v.pipe(
    v.custom<object>(
      (given) => typeof given === 'object' && given !== null && !Array.isArray(given),
      'Expected an object',
    ),
    v.transform((object) => Object.entries(object)),
    v.array(v.tuple([v.string(), value])),
  )
}

/**
 * Maximum number of values in the JSON body of a request. It limits memory. The worst case is a batch of many empty
 * items, because each item gets a response. This package chose the number; public sources leave it open.
 */
export const maxQueueValues = 1_048_576

export function parsed<S extends v.GenericSchema>(call: ServiceRequest, schema: S): v.InferOutput<S> {
  if (hasMoreValues(call.body, maxQueueValues))
    throw refusals.invalid('body', `it has more than ${maxQueueValues} values`)
  const value = parsedJson(text(call.body))
  if (value === undefined) throw refusals.invalid('body', 'it is not JSON')
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  const [issue] = result.issues
  throw refusals.invalid(v.getDotPath(issue) ?? 'body', issue.message)
}
