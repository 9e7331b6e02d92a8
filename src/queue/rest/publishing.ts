import * as v from 'valibot'
import type { FaultFacts } from '../../faults/fault.js'
import { type Bytes, utf8 } from '../../kernel/bytes.js'
import { compactJson } from '../../kernel/compact-json.js'
import type { HeaderList } from '../../kernel/http.js'
import { bearerToken, json, queryToken } from '../../protocol/call.js'
import { type Dialect, settingName } from '../../protocol/dialect.js'
import type { RawResponse, ServiceRequest } from '../../protocol/service.js'
import type { AcceptedPublish, PublishCall } from '../publisher.js'
import type { QueueEngine } from '../queue-engine.js'
import type { HeaderValue, RawSettings } from '../settings/message-settings.js'
import type { QueueDialect } from '../settings/queue-dialect.js'
import { QueueRejection, refusals } from '../settings/queue-rejections.js'
import { readTarget, targetOf } from '../settings/url.js'
import { entriesOf, parsed, type QueueApi, type QueueEndpoint, row } from './reading.js'

/** Endpoints for publishing. [queue.md 1.3, 1.4] */
export const publishEndpoints: readonly QueueEndpoint[] = [
  row(
    'POST',
    '/v2/publish/**',
    'Publish one message to a URL, or to every endpoint of a URL group.',
    (call, api) => publish(call, api),
    { facts: targetFacts, limit: 'daily' },
  ),
  row(
    'POST',
    '/v2/enqueue/:queue/**',
    'Publish into a FIFO queue, which is created if it does not exist.',
    (call, api) => publish(call, api, call.params.queue),
    { facts: (call) => ({ ...targetFacts(call), queue: call.params.queue }), limit: 'daily' },
  ),
  row('POST', '/v2/batch', 'Publish and enqueue many messages in one request.', (call, api) => batch(call, api), {
    limit: 'daily',
  }),
]

export function targetFacts(call: ServiceRequest): FaultFacts {
  const rules = { rejectEncodedDestination: false }
  const { url, group } = readTarget(call.rest, splitQuery(call.query, call.dialect).rest, rules)
  return url === undefined ? { urlGroup: group } : { destination: url }
}

function publish(call: ServiceRequest, api: QueueApi, into?: string): RawResponse {
  const { queue } = api
  const given = publishCall(call, api, into)
  if (given.settings.has('cron')) return created(given, queue)
  const results = queue.publisher.publish(given)
  const shown = results.map((result) => resultShape(result, true))
  return json(given.target.url === undefined ? shown : shown[0], publishedStatus(results))
}

/**
 * Returns the status of the response to a publish. It is 202 for a duplicate, 201 for a message of a workflow run, and
 * 200 otherwise. [queue.md 1.3; workflow.md 1]
 */
function publishedStatus(results: readonly AcceptedPublish[]): number {
  if (results.length > 0 && results.every((result) => result.deduplicated)) return 202
  return results.some(({ message }) => message.part !== undefined) ? 201 : 200
}

export function resultShape({ message, deduplicated }: AcceptedPublish, withUrl: boolean): object {
  return { messageId: message.id, ...(withUrl && { url: message.url }), ...(deduplicated && { deduplicated }) }
}

/**
 * Reads a publish from a request: its path, query, headers and body. An option in a header overrides the same option in
 * the query. [queue.md 2.1]
 */
export function publishCall(call: ServiceRequest, api: QueueApi, into?: string): PublishCall {
  const { queue } = api
  const { own, rest } = splitQuery(call.query, call.dialect)
  if (/^https?%3a/i.test(call.rest) && !queue.policy.rejectEncodedDestination) {
    queue.notice(
      `A percent-encoded destination was accepted: ${call.rest}. According to reports, the real service rejects it. Send the URL without encoding, or set policy.rejectEncodedDestination.`,
    )
  }
  return {
    target: readTarget(call.rest, rest, queue.policy),
    settings: settingsOf(call, own),
    headers: {
      contentType: call.header('content-type'),
      incoming: call.headers,
      ownAuthorization: ownAuthorization(call),
    },
    body: call.body,
    callerIp: callerIp(call, queue),
    region: call.region ?? queue.region,
    cause: call.cause,
    words: requestDialect(call, api),
    queue: into,
  }
}

/**
 * Returns the dialect for the deliveries of a request: the one to which its headers belong, otherwise the fallback
 * dialect.
 */
export function requestDialect(
  spoken: Pick<ServiceRequest, 'isUnmarked' | 'dialect'>,
  { queue }: QueueApi,
): QueueDialect {
  return (spoken.isUnmarked ? undefined : queue.wordsByName.get(spoken.dialect.name)) ?? queue.words
}

function settingsOf({ settings, lists }: Pick<ServiceRequest, 'settings' | 'lists'>, query?: RawSettings): RawSettings {
  if (lists === undefined && (query === undefined || query.size === 0)) return settings
  return new Map<string, HeaderValue>([...(query ?? []), ...settings, ...(lists ?? [])])
}

/** Returns the options in headers and query of a request that does not publish. */
export function settingsIn(call: ServiceRequest): RawSettings {
  return settingsOf(call, splitQuery(call.query, call.dialect).own)
}

/**
 * Splits a query in two: `own` contains the parameters of the service, and `rest` is sent to the destination unchanged.
 * [queue.md 1.3]
 */
export function splitQuery(query: string, dialect: Dialect): { own: Map<string, string>; rest: string } {
  const own = new Map<string, string>()
  if (query === '') return { own, rest: '' }
  const rest: string[] = []
  for (const pair of query.split('&')) {
    const [key, value] = new URLSearchParams(pair).entries().next().value ?? ['', '']
    const setting = settingName(key, dialect)
    if (setting !== undefined && key !== dialect.queueTokenQuery) own.set(setting, value)
    else if (key !== dialect.queueTokenQuery) rest.push(pair)
  }
  return { own, rest: rest.join('&') }
}

/**
 * Whether the `Authorization` header of the request is meant for the destination. That is the case if the query
 * contains the token for the queue. [queue.md 2.3]
 */
function ownAuthorization(call: ServiceRequest): boolean {
  const token = queryToken(call, call.dialect.queueTokenQuery)
  return token !== undefined && token !== bearerToken(call)
}

/** Returns the publisher's IP address: the first address in `X-Forwarded-For`, otherwise the policy `callerIp`. */
function callerIp(call: ServiceRequest, queue: QueueEngine): string {
  return call.header('x-forwarded-for')?.split(',')[0]?.trim() || queue.policy.callerIp
}

/** Schema of a JSON object with header names. Each value is a string or a list of strings. */
export const headerObject: v.GenericSchema<unknown, [name: string, value: string | string[]][]> = entriesOf(
  v.union([v.string(), v.array(v.string())]),
)

export interface BatchItem {
  readonly destination: string
  readonly headers?: [name: string, value: string | string[]][] | null | undefined
  readonly body?: unknown
  readonly queue?: string | null | undefined
}

const itemSchema: v.GenericSchema<unknown, BatchItem> = v.object({
  destination: v.nullish(v.string(), ''),
  headers: v.nullish(headerObject),
  body: v.optional(v.unknown()),
  queue: v.nullish(v.string()),
})

export const batchSchema: v.GenericSchema<unknown, BatchItem[]> = v.array(itemSchema)

/**
 * Publishes a batch. If one item is invalid, no item is accepted. An error that occurs later affects only its own item.
 * [queue.md 1.4]
 */
function batch(call: ServiceRequest, api: QueueApi): RawResponse {
  const { queue } = api
  const { enforceQuotas, maxBatchSize, quotaStatus } = queue.policy
  if (enforceQuotas && call.body.length > maxBatchSize) throw refusals.quota('maxBatchSize', maxBatchSize, quotaStatus)
  const prepared = parsed(call, batchSchema).map((item) => queue.publisher.prepare(itemCall(item, call, api)))
  return json(
    prepared.map((item) => {
      try {
        const results = queue.publisher.send(item)
        if (item.call.target.url !== undefined) return resultShape(results[0]!, false)
        return results.map((result) => resultShape(result, true))
      } catch (error) {
        if (error instanceof QueueRejection) return { error: error.message }
        throw error
      }
    }),
  )
}

export function itemCall(item: BatchItem, call: ServiceRequest, api: QueueApi): PublishCall {
  const headers = (item.headers ?? []).map(([key, value]): [string, string] => [
    key,
    typeof value === 'string' ? value : value.join(', '),
  ])
  const { settings, contentType, words } = readHeaderObject(headers, call, api)
  return {
    target: targetOf(item.destination),
    settings,
    headers: { contentType, incoming: headers, ownAuthorization: true },
    body: itemBody(item.body),
    callerIp: callerIp(call, api.queue),
    region: call.region ?? api.queue.region,
    cause: call.cause,
    words,
    queue: item.queue ? item.queue : undefined,
  }
}

/** Returns the body of a batch item: a string unchanged, any other value as compact JSON. [queue.md 1.4] */
function itemBody(body: unknown): Bytes {
  if (body === undefined || body === null) return '' as Bytes
  return utf8(typeof body === 'string' ? body : compactJson(body))
}

/**
 * Reads headers from a JSON body. Their names determine the dialect. If they belong to no dialect, the dialect of the
 * request is used.
 */
export function readHeaderObject(
  headers: HeaderList,
  call: ServiceRequest,
  api: QueueApi,
): { settings: RawSettings; contentType: string | undefined; words: QueueDialect } {
  const spoken = call.hear(headers)
  const contentType = headers.findLast(([name]) => name.toLowerCase() === 'content-type')?.[1]
  const { lists } = spoken
  return {
    settings: settingsOf({ settings: spoken.settings, lists }),
    contentType,
    words: spoken.isUnmarked ? requestDialect(call, api) : requestDialect(spoken, api),
  }
}

export function createSchedule(call: ServiceRequest, api: QueueApi): RawResponse {
  return created(publishCall(call, api), api.queue)
}

function created(call: PublishCall, queue: QueueEngine): RawResponse {
  const { schedule, deduplicated } = queue.publisher.schedule(call)
  return json({ scheduleId: schedule.id, ...(deduplicated && { deduplicated }) }, deduplicated ? 202 : 200)
}
