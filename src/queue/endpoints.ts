import * as v from 'valibot'
import { bearerToken, queryToken } from '../http/auth.js'
import { empty, json } from '../http/respond.js'
import type { Answer, Endpoint, Service, ServiceCall } from '../http/service.js'
import { settingName, type Vocabulary } from '../http/vocabulary.js'
import { type Bytes, text, utf8 } from '../kernel/bytes.js'
import { CallLimits } from './call-limits.js'
import { userOf } from './credentials.js'
import type { DeadLetter } from './dead-letters.js'
import { isUrl, readDestination } from './destination-url.js'
import { Refusal, refusals } from './errors.js'
import { dlqFilters, logFilters, messageFilters, type QueryValues, readFilters, readTrimBody } from './filters.js'
import type { HeaderList } from './headers.js'
import type { LogEntry } from './log.js'
import type { Message } from './message.js'
import type { RawSettings } from './publish.js'
import { readPeriod } from './publish-options.js'
import type { PreparedPublish, PublishCall, PublishResult, Queue } from './queue.js'
import type { Selection } from './records.js'
import {
  deadLetterShape,
  flowKeyShape,
  logShape,
  messageShape,
  queueShape,
  scheduleShape,
  urlGroupShape,
} from './shapes.js'

export interface QueueServiceOptions {
  readonly vocabulary: Vocabulary
  readonly token: string
  readonly readOnlyToken?: string | undefined
}

/** What the endpoints work on: the queue and the words in which its settings arrive. */
export interface QueueApi {
  readonly queue: Queue
  readonly vocabulary: Vocabulary
}

type Row = Endpoint<QueueApi>

function row(
  method: string | readonly string[],
  path: string,
  summary: string,
  run: (call: ServiceCall, api: QueueApi) => Answer,
): Row {
  return { method, path, auth: 'bearer', summary, run }
}

function open(method: string, path: string, summary: string, run: Row['run']): Row {
  return { method, path, auth: 'none', summary, run }
}

/** Every endpoint of the queue API. [queue.md 1.2] */
export const queueEndpoints: readonly Row[] = [
  row('POST', '/v2/publish/**', 'Publish one message to a url, or to every endpoint of a url group.', (call, api) =>
    publish(call, api),
  ),
  row('POST', '/v2/enqueue/:queue/**', 'Publish into a FIFO queue; creates the queue.', (call, api) =>
    publish(call, api, call.params.queue),
  ),
  row('POST', '/v2/batch', 'Many publishes and enqueues at once.', (call, api) => batch(call, api)),

  row('GET', '/v2/messages/:id', 'Read a pending message.', (call, { queue }) =>
    json(messageShape(pending(queue, call))),
  ),
  row('DELETE', '/v2/messages/:id', 'Cancel one message.', (call, { queue }) =>
    json({ cancelled: queue.courier.cancel(pending(queue, call)) ? 1 : 0 }),
  ),
  row('DELETE', '/v2/messages', 'Cancel many messages, by ids or filters.', (call, api) => cancelMany(call, api)),
  row('POST', '/v2/messages/:id/retry', 'Deliver a waiting message now.', (call, { queue }) => retryNow(call, queue)),

  row('POST', '/v2/queues', 'Create or update a queue.', (call, { queue }) => upsertQueue(call, queue)),
  row('GET', '/v2/queues', 'List the queues.', (_call, { queue }) => json(queue.lanes.list().map(queueShape))),
  row('GET', '/v2/queues/:name', 'Read a queue.', (call, { queue }) =>
    json(queueShape(found(queue.lanes.get(name(call)), 'queue', name(call)))),
  ),
  row('DELETE', '/v2/queues/:name', 'Delete a queue; its messages are cancelled.', (call, { queue }) =>
    done(queue.deleteQueue(name(call))),
  ),
  row('POST', '/v2/queues/:name/pause', 'Pause a queue.', (call, { queue }) => done(queue.pauseQueue(name(call)))),
  row('POST', '/v2/queues/:name/resume', 'Resume a queue.', (call, { queue }) => done(queue.resumeQueue(name(call)))),

  row('POST', '/v2/schedules/**', 'Create a schedule, or replace the one of the same id.', (call, api) =>
    createSchedule(call, api),
  ),
  row('GET', '/v2/schedules', 'List the schedules.', (_call, { queue }) =>
    json(queue.schedules.list().map(scheduleShape)),
  ),
  row('GET', '/v2/schedules/:id', 'Read a schedule.', (call, { queue }) => json(scheduleShape(schedule(queue, call)))),
  row('DELETE', '/v2/schedules/:id', 'Delete a schedule; its messages stay.', (call, { queue }) =>
    done(queue.schedules.delete(call.params.id!)),
  ),
  row(['PATCH', 'POST'], '/v2/schedules/:id/pause', 'Pause a schedule.', (call, { queue }) => {
    schedule(queue, call).paused = true
    return empty()
  }),
  row(['PATCH', 'POST'], '/v2/schedules/:id/resume', 'Resume a schedule.', (call, { queue }) => {
    schedule(queue, call).paused = false
    return empty()
  }),

  row('GET', '/v2/topics', 'List the url groups.', (_call, { queue }) =>
    json(queue.urlGroups.list().map(urlGroupShape)),
  ),
  row('GET', '/v2/topics/:name', 'Read a url group.', (call, { queue }) =>
    json(urlGroupShape(found(queue.urlGroups.get(name(call)), 'topic', name(call)))),
  ),
  row(
    'POST',
    '/v2/topics/:name/endpoints',
    'Add or change endpoints of a url group; creates the group.',
    (call, { queue }) => {
      const { endpoints } = parsed(
        call,
        v.object({ endpoints: v.array(v.object({ url: v.string(), name: v.optional(v.string()) })) }),
      )
      queue.urlGroups.upsert(name(call), endpoints)
      return empty()
    },
  ),
  row('DELETE', '/v2/topics/:name/endpoints', 'Remove endpoints, by name or url.', (call, { queue }) => {
    const { endpoints } = parsed(
      call,
      v.object({ endpoints: v.array(v.object({ url: v.optional(v.string()), name: v.optional(v.string()) })) }),
    )
    queue.urlGroups.remove(name(call), endpoints)
    return empty()
  }),
  row('PATCH', '/v2/topics/:name', 'Set the default headers of a url group.', (call, api) => setDefaults(call, api)),
  row('DELETE', '/v2/topics/:name', 'Delete a url group.', (call, { queue }) =>
    done(queue.urlGroups.delete(name(call))),
  ),

  row('GET', '/v2/dlq', 'List the dead letters.', (call, api) => {
    const query = queryOf(call, api)
    const page = api.queue.courier.deadLetters.select(dlqSelection(query, api.queue))
    return json({
      messages: page.items.map((letter) => deadLetterShape(letter, readTrimBody(query))),
      cursor: page.cursor,
    })
  }),
  row('GET', '/v2/dlq/:id', 'Read a dead letter.', (call, { queue }) => json(deadLetterShape(deadLetter(queue, call)))),
  row('DELETE', '/v2/dlq/:id', 'Delete a dead letter.', (call, { queue }) =>
    done(queue.courier.deadLetters.delete(deadLetter(queue, call))),
  ),
  row('DELETE', '/v2/dlq', 'Delete many dead letters, by ids or filters.', (call, api) => {
    const page = api.queue.courier.deadLetters.select(dlqSelection(queryAndBody(call, api), api.queue))
    for (const letter of page.items) api.queue.courier.deadLetters.delete(letter)
    return json({ deleted: page.items.length, cursor: page.cursor })
  }),
  row('POST', '/v2/dlq/retry/:id', 'Publish a dead letter again.', (call, api) => {
    const { message, deduplicated } = api.queue.retryDeadLetter(
      deadLetter(api.queue, call),
      settingsIn(call, api),
      call.cause,
    )
    return json({ messageId: message.id, url: message.url, ...(deduplicated && { deduplicated }) }, 201)
  }),
  row('POST', '/v2/dlq/retry', 'Publish many dead letters again, by ids or filters.', (call, api) =>
    retryMany(call, api),
  ),

  row('GET', '/v2/events', 'The log, newest first.', (call, api) =>
    logs(call, api, (events, cursor) => ({ events, cursor })),
  ),
  row('GET', '/v2/logs', 'The log under its newer name.', (call, api) =>
    logs(call, api, (events, cursor) => ({ logs: events, events, cursor })),
  ),

  row('GET', '/v2/keys', 'Read the signing keys.', (_call, { queue }) => json(queue.keys.pair())),
  row('POST', '/v2/keys/rotate', 'Rotate the signing keys: next becomes current.', (_call, { queue }) =>
    json(queue.keys.rotate()),
  ),

  row('GET', '/v2/flowControl', 'List the flow-control keys.', (call, api) => {
    const { queue } = api
    const search = queryOf(call, api).get('search')?.[0] ?? ''
    const keys = [...queue.flow.keys.values()].filter((key) => key.key.includes(search))
    return json(keys.map((key) => flowKeyShape(key, queue.now())))
  }),
  row('GET', '/v2/flowControl/**', 'Read a flow-control key.', (call, { queue }) => {
    const key = decoded(call.rest)
    return json(flowKeyShape(found(queue.flow.keys.get(key), 'flow control key', key), queue.now()))
  }),
  row(
    'POST',
    '/v2/flowControl/**',
    'Manage a flow-control key: `<key>/pause`, `resume`, `pin`, `unpin`, `resetRate`, `reset`.',
    (call, api) => manageFlow(call, api),
  ),
  row('GET', '/v2/globalParallelism', 'All calls in flight.', (_call, { queue }) =>
    json({ parallelismMax: queue.limits.globalParallelism, parallelismCount: queue.flow.inFlight }),
  ),

  open('GET', '/', 'Readiness.', () => empty()),
  open('GET', '/v2/readiness', 'Readiness.', () => empty()),
]

/** The queue as the gateway serves it. */
export function queueService(queue: Queue, options: QueueServiceOptions): Service<QueueApi> {
  const { vocabulary, token, readOnlyToken } = options
  const limits = new CallLimits(queue.policy, queue.limits.messagesPerDay)
  return {
    name: 'queue',
    state: { queue, vocabulary },
    endpoints: queueEndpoints,
    authorize(call) {
      const given = bearerToken(call) ?? queryToken(call, vocabulary.queueTokenQuery)
      if (given === undefined || (given !== token && given !== readOnlyToken)) return refuse(refusals.invalidToken())
      call.identity = userOf(given)
      const { homeRegion, readOnlyStatus } = queue.policy
      if (homeRegion !== undefined && call.region !== undefined && call.region !== homeRegion) {
        return refuse(refusals.otherRegion(call.identity, call.region))
      }
      if (given !== token && call.method !== 'GET') return refuse(refusals.readOnly(readOnlyStatus))
      limits.count(publishes(call.path), queue.now())
      return undefined
    },
    notFound: (call) => refuse(refusals.unknownPath(call.method, call.path)),
    methodNotAllowed: (call, allowed) =>
      refuse(refusals.wrongMethod(call.method, call.path), [['allow', allowed.join(', ')]]),
    failure: (error) => (error instanceof Refusal ? refuse(error) : undefined),
  }
}

function refuse(refusal: Refusal, headers: HeaderList = []): Answer {
  return json({ error: refusal.message }, refusal.status, [...refusal.headers, ...headers])
}

/** Calls that count against the daily limit and not against the burst limit. [queue.md 10] */
function publishes(path: string): boolean {
  return /^\/v2\/(?:publish|enqueue|batch|trigger|notify|wait)(?:\/|$)/.test(path)
}

// --- Publishing -----------------------------------------------------------------------------------------------------

function publish(call: ServiceCall, api: QueueApi, into?: string): Answer {
  const { queue } = api
  const given = publishCall(call, api, into)
  if (given.settings.has('cron')) return createSchedule(call, api)
  const results = queue.send(queue.prepare(given))
  const shown = results.map((result) => resultShape(result, true))
  const status = results.length > 0 && results.every((result) => result.deduplicated) ? 202 : 200
  return json(isUrl(given.destination) ? shown[0] : shown, status)
}

function resultShape({ message, deduplicated }: PublishResult, withUrl: boolean): object {
  return { messageId: message.id, ...(withUrl && { url: message.url }), ...(deduplicated && { deduplicated }) }
}

/** A publish as path, query, headers and body say it. Headers win over the query. [queue.md 2.1] */
function publishCall(call: ServiceCall, api: QueueApi, into?: string): PublishCall {
  const { queue, vocabulary } = api
  const { own, rest } = splitQuery(call.query, vocabulary)
  if (/^https?%3a/i.test(call.rest) && !queue.policy.refuseEncodedDestination) {
    queue.diagnostics.push(
      `A percent-encoded destination was accepted: ${call.rest}. The live service is reported to refuse it; write the url as it is, or set policy.refuseEncodedDestination.`,
    )
  }
  return {
    destination: readDestination(call.rest, rest, queue.policy),
    settings: own.size === 0 ? call.settings : new Map([...own, ...call.settings]),
    headers: { contentType: call.header('content-type'), incoming: call.headers },
    body: call.body,
    callerIp: callerIp(call, queue),
    region: call.region ?? 'eu-central-1',
    cause: call.cause,
    queue: into,
  }
}

/** Settings of a call that is no publish, from headers and query. */
function settingsIn(call: ServiceCall, { vocabulary }: QueueApi): RawSettings {
  return new Map([...splitQuery(call.query, vocabulary).own, ...call.settings])
}

/** Takes the service's own parameters out of a query; the rest belongs to the destination, byte for byte. [queue.md 1.3] */
function splitQuery(query: string, vocabulary: Vocabulary): { own: Map<string, string>; rest: string } {
  const own = new Map<string, string>()
  if (query === '') return { own, rest: '' }
  const rest: string[] = []
  for (const pair of query.split('&')) {
    const [key, value] = new URLSearchParams(pair).entries().next().value ?? ['', '']
    const setting = settingName(key, vocabulary)
    if (setting !== undefined && key !== vocabulary.queueTokenQuery) own.set(setting, value)
    else if (key !== vocabulary.queueTokenQuery) rest.push(pair)
  }
  return { own, rest: rest.join('&') }
}

/** The publisher's address: the first one a proxy noted. */
function callerIp(call: ServiceCall, queue: Queue): string {
  return call.header('x-forwarded-for')?.split(',')[0]?.trim() || queue.policy.callerIp
}

const batchItems = v.array(
  v.object({
    destination: v.string(),
    headers: v.nullish(v.record(v.string(), v.union([v.string(), v.array(v.string())]))),
    body: v.optional(v.unknown()),
    queue: v.nullish(v.string()),
  }),
)

/** Checks all items before it accepts any; what fails afterwards fails alone. [queue.md 1.4] */
function batch(call: ServiceCall, api: QueueApi): Answer {
  const { queue } = api
  const { enforceQuotas, maxBatchSize, quotaStatus } = queue.policy
  if (enforceQuotas && call.body.length > maxBatchSize) throw refusals.quota('maxBatchSize', maxBatchSize, quotaStatus)
  const prepared = parsed(call, batchItems).map((item): PreparedPublish => queue.prepare(itemCall(item, call, api)))
  return json(
    prepared.map((item) => {
      try {
        const results = queue.send(item)
        if (isUrl(item.call.destination)) return resultShape(results[0]!, false)
        return results.map((result) => resultShape(result, true))
      } catch (error) {
        if (error instanceof Refusal) return { error: error.message }
        throw error
      }
    }),
  )
}

function itemCall(item: v.InferOutput<typeof batchItems>[number], call: ServiceCall, api: QueueApi): PublishCall {
  const headers = Object.entries(item.headers ?? {}).map(([key, value]): [string, string] => [
    key,
    [value].flat().join(', '),
  ])
  const { settings, contentType } = readHeaderObject(headers, api.vocabulary)
  return {
    destination: item.destination,
    settings,
    headers: { contentType, incoming: headers },
    body: itemBody(item.body),
    callerIp: callerIp(call, api.queue),
    region: call.region ?? 'eu-central-1',
    cause: call.cause,
    queue: item.queue ? item.queue : undefined,
  }
}

/** A text as it is; any other JSON value compactly. [queue.md 1.4] */
function itemBody(body: unknown): Bytes {
  if (body === undefined || body === null) return '' as Bytes
  return utf8(typeof body === 'string' ? body : JSON.stringify(body))
}

function readHeaderObject(
  headers: readonly (readonly [string, string])[],
  vocabulary: Vocabulary,
): { settings: Map<string, string>; contentType: string | undefined } {
  const settings = new Map<string, string>()
  let contentType: string | undefined
  for (const [key, value] of headers) {
    const setting = settingName(key, vocabulary)
    if (setting !== undefined) settings.set(setting, value)
    else if (key.toLowerCase() === 'content-type') contentType = value
  }
  return { settings, contentType }
}

// --- Messages -------------------------------------------------------------------------------------------------------

function pending(queue: Queue, call: ServiceCall): Message {
  return found(queue.message(call.params.id!), 'message', call.params.id!)
}

function cancelMany(call: ServiceCall, api: QueueApi): Answer {
  const { queue } = api
  const rules = {
    filters: messageFilters,
    ids: 'messageIds',
    defaultCount: undefined,
    maxCount: queue.policy.maxCancelCount,
  }
  const page = queue.courier.live.select(readFilters<Message>(queryAndBody(call, api), rules))
  let cancelled = 0
  for (const message of page.items) if (queue.courier.cancel(message)) cancelled++
  return json({ cancelled })
}

function retryNow(call: ServiceCall, queue: Queue): Answer {
  const id = call.params.id!
  const message = queue.courier.byId.get(id)
  if (message === undefined || message.ended) throw refusals.notFound('message', id)
  if (message.settings.queue !== undefined)
    throw refusals.invalid('message', `${id} belongs to queue ${message.settings.queue}`)
  if (message.cancelRequested) throw refusals.invalid('message', `${id} was cancelled`)
  if (message.running) throw refusals.invalid('message', `${id} is being delivered`)
  queue.courier.release(message)
  return empty()
}

// --- Queues and schedules -------------------------------------------------------------------------------------------

function upsertQueue(call: ServiceCall, queue: Queue): Answer {
  const shape = v.object({
    queueName: v.string(),
    parallelism: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1))),
    paused: v.nullish(v.boolean()),
  })
  const { queueName, parallelism, paused } = parsed(call, shape)
  queue.upsertQueue(queueName, parallelism ?? 1, paused ?? undefined)
  return empty()
}

function createSchedule(call: ServiceCall, api: QueueApi): Answer {
  const { schedule: created, deduplicated } = api.queue.schedule(publishCall(call, api))
  return json({ scheduleId: created.id, ...(deduplicated && { deduplicated }) }, deduplicated ? 202 : 200)
}

function schedule(queue: Queue, call: ServiceCall): ReturnType<Queue['schedules']['list']>[number] {
  return found(queue.schedules.get(call.params.id!), 'schedule', call.params.id!)
}

// --- URL groups -----------------------------------------------------------------------------------------------------

function setDefaults(call: ServiceCall, { queue, vocabulary }: QueueApi): Answer {
  const shape = v.object({ headers: v.record(v.string(), v.union([v.string(), v.array(v.string())])) })
  const { headers } = parsed(call, shape)
  const list = Object.entries(headers).map(([key, value]): [string, string] => [key, [value].flat().join(', ')])
  const { settings, contentType } = readHeaderObject(list, vocabulary)
  queue.urlGroups.setDefaults(name(call), settings, contentType, headers)
  return empty()
}

// --- Dead letters and log -------------------------------------------------------------------------------------------

function deadLetter(queue: Queue, call: ServiceCall): DeadLetter {
  return found(queue.courier.deadLetters.get(call.params.id!), 'dlq message', call.params.id!)
}

function dlqSelection(query: QueryValues, queue: Queue): Selection<DeadLetter> {
  const size = queue.policy.dlqPageSize
  const rules = {
    filters: dlqFilters,
    ids: 'dlqIds',
    defaultCount: size,
    maxCount: size,
    others: ['trimBody', 'source'],
  }
  const selection = readFilters<DeadLetter>(query, rules)
  if (query.get('source')?.[0] !== 'workflow') return selection
  return { ...selection, only: (letter) => letter.message.settings.workflow?.has('workflow-runid') === true }
}

function retryMany(call: ServiceCall, api: QueueApi): Answer {
  const { queue } = api
  const query = queryAndBody(call, api)
  const page = queue.courier.deadLetters.select(dlqSelection(query, queue))
  if (page.items.length === 0 && query.has('dlqIds'))
    throw refusals.notFound('dlq message', query.get('dlqIds')!.join(','))
  const overrides = settingsIn(call, api)
  const responses = page.items.map((letter) => resultShape(queue.retryDeadLetter(letter, overrides, call.cause), false))
  return json({ cursor: page.cursor ?? '', responses }, 201)
}

const inProgress = ['ACTIVE', 'RETRY', 'ERROR']
const states = ['CREATED', ...inProgress, 'DELIVERED', 'FAILED', 'CANCEL_REQUESTED', 'CANCELLED']

function logs(
  call: ServiceCall,
  api: QueueApi,
  shape: (entries: readonly object[], cursor: string | undefined) => object,
): Answer {
  const { queue } = api
  const query = new Map(queryOf(call, api))
  const wantedStates = query.get('state')?.flatMap((value) => value.split(',')) ?? []
  if (wantedStates.length > 0) query.set('state', wantedStates.flatMap(statesNamed))
  const { logPageSize, maxLogPageSize } = queue.policy
  const selection = readFilters<LogEntry>(query, {
    filters: logFilters,
    defaultCount: logPageSize,
    maxCount: maxLogPageSize,
    order: 'latestFirst',
    others: ['trimBody', 'groupBy'],
  })
  const trim = readTrimBody(query)
  const page = queue.log.select(selection, queue.now())
  const groupBy = query.get('groupBy')?.[0]
  if (groupBy === undefined || groupBy === '') {
    return json(
      shape(
        page.items.map((entry) => logShape(entry, queue.policy, trim)),
        page.cursor,
      ),
    )
  }
  if (groupBy !== 'messageId') throw refusals.invalid('groupBy', `${JSON.stringify(groupBy)} is not messageId`)
  const groups = new Map<string, object[]>()
  for (const entry of page.items) {
    const events = groups.get(entry.message.id) ?? []
    events.push(logShape(entry, queue.policy, trim))
    groups.set(entry.message.id, events)
  }
  return json({ messages: [...groups].map(([messageId, events]) => ({ messageId, events })), cursor: page.cursor })
}

/** A filter value of the log as the states it stands for. [queue.md 1.10, 4.1] */
function statesNamed(given: string): readonly string[] {
  const state = given.trim().toUpperCase()
  if (state === 'IN_PROGRESS') return inProgress
  if (state === 'CANCELED') return ['CANCELLED']
  if (states.includes(state)) return [state]
  throw refusals.invalid('state', `${JSON.stringify(given)} is not a state`)
}

// --- Flow control ---------------------------------------------------------------------------------------------------

function manageFlow(call: ServiceCall, api: QueueApi): Answer {
  const { queue } = api
  const match = /^(.*)\/(pause|resume|pin|unpin|resetRate|reset)\/?$/.exec(call.rest)
  if (!match) throw refusals.unknownPath(call.method, call.path)
  const key = decoded(match[1]!)
  if (key === '') throw refusals.invalid('flow control key', 'it is missing')
  const query = queryOf(call, api)
  const flag = (of: string): boolean => query.get(of)?.[0]?.toLowerCase() === 'true'
  switch (match[2]) {
    case 'pause':
      return done(queue.flow.pause(key))
    case 'resume':
      return done(queue.flow.resume(key))
    case 'pin':
      return done(queue.flow.pin(key, pinned(query, queue)))
    case 'unpin':
      return done(queue.flow.unpin(key, { parallelism: flag('parallelism'), rate: flag('rate') }))
    case 'resetRate':
      return done(queue.flow.resetRate(key))
    default:
      return done(queue.flow.reset(key))
  }
}

function pinned(
  query: QueryValues,
  queue: Queue,
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
    throw refusals.invalid('pin', 'give parallelism, rate or period')
  }
  return period ? { ...limits, period } : limits
}

// --- Reading --------------------------------------------------------------------------------------------------------

function name(call: ServiceCall): string {
  return call.params.name!
}

function found<T>(thing: T | undefined, kind: string, id: string): T {
  if (thing === undefined) throw refusals.notFound(kind, id)
  return thing
}

function done(_nothing: void): Answer {
  return empty()
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The query without the token and the service's own settings. */
function queryOf(call: ServiceCall, { vocabulary }: QueueApi): Map<string, string[]> {
  const query = new Map<string, string[]>()
  if (call.query === '') return query
  for (const [key, value] of new URLSearchParams(call.query)) {
    if (key === vocabulary.queueTokenQuery || settingName(key, vocabulary) !== undefined) continue
    const values = query.get(key)
    if (values) values.push(value)
    else query.set(key, [value])
  }
  return query
}

/** The query, or the JSON body that older clients send the same names in. [queue.md 1.5] */
function queryAndBody(call: ServiceCall, api: QueueApi): QueryValues {
  const query = queryOf(call, api)
  if (call.body === '') return query
  const scalar = v.union([v.string(), v.number(), v.boolean()])
  const body = parsed(call, v.record(v.string(), v.nullish(v.union([scalar, v.array(scalar)]))))
  for (const [key, value] of Object.entries(body)) {
    const values = [value ?? []].flat().map(String)
    if (values.length > 0) query.set(key, values)
  }
  return query
}

function parsed<S extends v.GenericSchema>(call: ServiceCall, schema: S): v.InferOutput<S> {
  let value: unknown
  try {
    value = JSON.parse(text(call.body))
  } catch {
    throw refusals.invalid('body', 'it is not JSON')
  }
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  const [issue] = result.issues
  throw refusals.invalid(v.getDotPath(issue) ?? 'body', issue.message)
}
