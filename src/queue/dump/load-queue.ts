import * as v from 'valibot'
import { farthest, invalidDump, shortened } from '../../kernel/dump-problems.js'
import { canonicalName, headerMap } from '../../kernel/http.js'
import { endOfTime, iso } from '../../kernel/instant.js'
import { bytesOf } from '../../kernel/portable.js'
import type { DumpedBulkAction } from '../bulk-actions.js'
import type { RestoredLogEntry } from '../delivery/delivery-scheduler.js'
import type { Message, RunMessage } from '../message/message.js'
import { plainHeaders } from '../publish/publish.js'
import type { QueueEngine } from '../queue-engine.js'
import type { HeaderValue } from '../settings/message-settings.js'
import { QueueRejection } from '../settings/queue-rejections.js'
import { checkTarget, checkUrl, targetOf } from '../settings/url.js'
import { count, headerPairs, headers, id, limit, portable, settings, status, text, time } from './dump-fields.js'
import { type DumpedPart, dumpedPart, dumpedRun, type RunsToLoad } from './dumped-run-rows.js'
import { headerList, readable } from './portable-settings.js'
import type {
  DumpedDeadLetter,
  DumpedDuplicate,
  DumpedFlowKey,
  DumpedGroup,
  DumpedLogEntry,
  DumpedMessage,
  DumpedQueue,
  DumpedSchedule,
  QueueDump,
} from './queue-dump.js'

const sent = {
  body: portable,
  headers,
  settings,
  words: v.optional(v.string()),
  callerIp: v.string(),
  region: v.string(),
}
const states = ['CREATED', 'ACTIVE', 'ERROR', 'RETRY', 'DELIVERED', 'FAILED', 'CANCEL_REQUESTED', 'CANCELLED'] as const

/** Schemas for one item of each list in a dump. */
const dumpedRows: {
  readonly urlGroups: v.GenericSchema<unknown, DumpedGroup>
  readonly queues: v.GenericSchema<unknown, DumpedQueue>
  readonly flowControlKeys: v.GenericSchema<unknown, DumpedFlowKey>
  readonly schedules: v.GenericSchema<unknown, DumpedSchedule>
  readonly messages: v.GenericSchema<unknown, DumpedMessage>
  readonly deadLetters: v.GenericSchema<unknown, DumpedDeadLetter>
} = {
  urlGroups: v.object({
    name: v.string(),
    createdAt: time,
    updatedAt: time,
    endpoints: v.array(v.object({ url: v.string(), name: v.optional(v.string()) })),
    defaults: v.optional(settings),
    contentType: v.optional(v.string()),
    headers: v.optional(headers),
  }),
  queues: v.object({
    name: v.string(),
    createdAt: time,
    updatedAt: time,
    parallelism: v.pipe(limit, v.minValue(1)),
    paused: v.boolean(),
  }),
  flowControlKeys: v.object({
    key: v.string(),
    parallelism: v.optional(v.pipe(limit, v.minValue(1))),
    rate: v.optional(v.pipe(limit, v.minValue(1))),
    period: v.pipe(limit, v.minValue(1)),
    pinnedParallelism: v.boolean(),
    pinnedRate: v.boolean(),
    paused: v.boolean(),
    rateCount: count,
    ratePeriodStart: v.optional(time),
  }),
  schedules: v.object({
    ...sent,
    id,
    cron: v.string(),
    destination: v.string(),
    createdAt: time,
    paused: v.boolean(),
    lastTime: v.optional(time),
    lastMessages: v.array(v.string()),
    missed: v.optional(time),
  }),
  messages: v.object({
    ...sent,
    id,
    kind: v.picklist(['message', 'callback', 'failure-callback']),
    url: v.string(),
    state: v.picklist(states),
    createdAt: time,
    notBefore: time,
    due: time,
    retried: v.pipe(count, v.maxValue(999_999_999)),
    wait: v.optional(
      v.object({ delay: v.pipe(v.number(), v.minValue(0), v.maxValue(farthest - endOfTime)), reason: v.string() }),
    ),
    urlGroup: v.optional(v.string()),
    endpointName: v.optional(v.string()),
    scheduleId: v.optional(v.string()),
    source: v.optional(v.string()),
    run: v.optional(dumpedPart),
    kept: v.optional(v.picklist(['forgotten', 'vanished'])),
  }),
  deadLetters: v.object({
    id: v.pipe(v.string(), v.regex(/^\d{1,16}-\d{1,15}$/)),
    time,
    message: v.string(),
    status,
    headers: headerPairs,
    body: portable,
    error: v.optional(v.string()),
  }),
}

const queueSchema: v.GenericSchema<unknown, QueueDump> = v.object({
  format: v.literal('stuntdouble/queue'),
  version: v.literal(1),
  urlGroups: v.array(dumpedRows.urlGroups),
  queues: v.array(dumpedRows.queues),
  flowControlKeys: v.array(dumpedRows.flowControlKeys),
  schedules: v.array(dumpedRows.schedules),
  messages: v.array(dumpedRows.messages),
  deadLetters: v.array(dumpedRows.deadLetters),
  log: v.optional(
    v.array(
      v.object({
        message: v.string(),
        state: v.picklist(states),
        time,
        nextDeliveryTime: v.optional(time),
        error: v.optional(v.string()),
        response: v.optional(v.object({ status, headers: headerPairs, body: portable })),
      }),
    ),
  ),
  duplicates: v.optional(
    v.array(v.object({ of: v.picklist(['message', 'schedule']), key: portable, id: v.string(), until: time })),
  ),
  bulkActions: v.optional(
    v.array(
      v.object({
        id,
        resource: v.picklist(['messages', 'runs']),
        filter: v.custom<DumpedBulkAction['filter']>(areFilters, 'must be an object with a list of texts per filter'),
        total: count,
        processed: count,
        createdAt: time,
        completedAt: v.optional(time),
        endsAt: v.optional(time),
        through: v.optional(v.string()),
      }),
    ),
  ),
  keys: v.optional(v.object({ current: text, next: text, former: v.array(text) })),
  runs: v.optional(v.array(dumpedRun)),
  workflowUrls: v.optional(v.array(v.string())),
})

/**
 * `v.record()` would drop a filter with a name such as `constructor`, and an empty list does not count as a filter. With
 * either, the action would cancel more than it should.
 */
function areFilters(given: unknown): boolean {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  return Object.values(given).every(
    (values) => Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string'),
  )
}

/**
 * Parses the dump of a queue.
 * @throws TypeError when the dump is invalid
 */
function parsedQueue(given: unknown): QueueDump {
  const parsed = v.safeParse(queueSchema, given)
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  throw invalidDump('a queue', { place: v.getDotPath(issue), reason: issue.message })
}

/**
 * Replaces the contents of a queue with a dump of this or another sandbox. If a delivery was in flight in the dump, its
 * message is due immediately.
 * @throws TypeError when the dump is invalid; the queue then stays unchanged
 */
export function loadInto(queue: QueueEngine, given: QueueDump): void {
  const dump = parsedQueue(given)
  queue.replace(() => fill(queue, dump))
}

/**
 * Fills an empty queue from a dump.
 * @throws TypeError when parts of the dump contradict each other
 */
function fill(queue: QueueEngine, dump: QueueDump): void {
  checkOnce('url group', dump.urlGroups, ({ name }) => name)
  checkOnce('queue', dump.queues, ({ name }) => name)
  checkOnce('flow-control key', dump.flowControlKeys, ({ key }) => key)
  checkOnce('schedule', dump.schedules, ({ id }) => id)
  checkOnce('dead letter', dump.deadLetters, ({ id }) => id)
  checkOnce('run', dump.runs ?? [], ({ id, createdAt }) => `${id} of ${createdAt}`)
  checkOnce('bulk action', dump.bulkActions ?? [], ({ id }) => id)
  for (const group of dump.urlGroups) within(`url group ${group.name}`, () => loadGroup(queue, group))
  for (const row of dump.queues) within(`queue ${row.name}`, () => loadQueue(queue, row))
  for (const key of dump.flowControlKeys) loadKey(queue, key)
  loadMessages(queue, dump, loadRuns(queue, dump))
  for (const schedule of dump.schedules) within(`schedule ${schedule.id}`, () => loadSchedule(queue, schedule))
  for (const letter of dump.deadLetters.toSorted((a, b) => a.time - b.time)) loadLetter(queue, letter)
  loadDuplicates(queue, dump.duplicates ?? [])
  for (const action of (dump.bulkActions ?? []).toSorted((a, b) => a.createdAt - b.createdAt))
    within(`bulk action ${action.id}`, () => loadBulkAction(queue, action))
  if (dump.keys !== undefined) queue.keys.replace(dump.keys)
}

function checkOnce<T>(thing: string, rows: readonly T[], nameOf: (row: T) => string): void {
  const names = new Set<string>()
  for (const row of rows) {
    const name = nameOf(row)
    if (names.has(name)) throw new TypeError(`The dump has two ${thing}s ${shortened(name)}.`)
    names.add(name)
  }
}

function loadDuplicates(queue: QueueEngine, duplicates: readonly DumpedDuplicate[]): void {
  const { published: messages, scheduled: schedules } = queue.publisher
  for (const { of, key, id, until } of duplicates.toSorted((a, b) => a.until - b.until)) {
    const message = of === 'message' ? queue.courier.byId.get(id) : undefined
    const schedule = of === 'schedule' ? queue.schedules.get(id) : undefined
    // Skip a key whose message is no longer in the message log. Its deduplication window then ends a little too early.
    if (message !== undefined) messages.restore(bytesOf(key), message, until)
    if (schedule !== undefined) schedules.restore(bytesOf(key), schedule, until)
  }
}

/**
 * Runs `load()` for a part of a dump, such as `schedule nightly`. If the queue rejects it, the error names this part.
 */
function within(part: string, load: () => void): void {
  try {
    load()
  } catch (error) {
    if (error instanceof QueueRejection)
      throw new TypeError(`The ${shortened(part)} of the dump cannot be loaded: ${shortened(error.message)}.`)
    throw error
  }
}

function loadGroup(queue: QueueEngine, dumped: DumpedGroup): void {
  const { name, createdAt, updatedAt, endpoints, defaults, contentType, headers } = dumped
  checkPast(queue, `url group ${name}`, 'was created', createdAt)
  checkPast(queue, `url group ${name}`, 'was changed', updatedAt)
  const group = queue.urlGroups.upsert(name, endpoints)
  if (defaults !== undefined || contentType !== undefined || headers !== undefined) {
    const said = new Map(Object.entries(defaults ?? {}))
    const plain = plainHeaders(headerList(headers ?? {}))
    const shown: Record<string, HeaderValue> = Object.fromEntries(
      [...said].map(([option, value]) => [queue.words.header(canonicalName(option)), value]),
    )
    if (contentType !== undefined) shown['Content-Type'] = contentType
    queue.urlGroups.setDefaults(
      name,
      { settings: said, contentType, headers: plain },
      { ...shown, ...headerMap(plain) },
    )
  }
  Object.assign(group, { createdAt, updatedAt })
}

function loadQueue(queue: QueueEngine, { name, parallelism, paused, createdAt, updatedAt }: DumpedQueue): void {
  checkPast(queue, `queue ${name}`, 'was created', createdAt)
  checkPast(queue, `queue ${name}`, 'was changed', updatedAt)
  queue.upsertQueue(name, parallelism, paused)
  Object.assign(queue.lanes.open(name), { createdAt, updatedAt })
}

function loadKey(queue: QueueEngine, dumped: DumpedFlowKey): void {
  const { parallelism, rate, period, pinnedParallelism, pinnedRate, paused, rateCount, ratePeriodStart } = dumped
  if (ratePeriodStart !== undefined) {
    checkPast(queue, `flow-control key ${dumped.key}`, 'began its period', ratePeriodStart)
  }
  Object.assign(queue.flow.keyOf(dumped.key), {
    parallelismMax: parallelism,
    rateMax: rate,
    ratePeriod: period,
    pinnedParallelism,
    pinnedRate,
    paused,
    rateCount,
    ratePeriodStart,
  })
}

/** Loads the workflow runs of a dump. This must happen before the messages are restored. */
function loadRuns(queue: QueueEngine, { runs = [], workflowUrls = [] }: QueueDump): RunsToLoad | undefined {
  if (queue.workflows === undefined) {
    if (runs.length === 0) return undefined
    throw new TypeError(
      'The dump has workflow runs, but this queue has no workflow engine. Load the dump into a sandbox.',
    )
  }
  const counts = new Map<string, number>()
  for (const { id, createdAt, completedAt, steps } of runs) {
    // Runs with the same ID that begin at the same instant are 1 ms apart.
    const earlier = counts.get(id) ?? 0
    counts.set(id, earlier + 1)
    checkPast(queue, `run ${id}`, 'began', createdAt - earlier)
    if (completedAt !== undefined) checkPast(queue, `run ${id}`, 'ended', completedAt - earlier)
    for (const step of steps) checkPast(queue, `step ${step.stepName} of run ${id}`, 'began', step.createdAt)
  }
  let loading: RunsToLoad | undefined
  const load = queue.workflows.load.bind(queue.workflows)
  within('list of runs', () => {
    loading = load(runs, workflowUrls)
  })
  return loading
}

function loadMessages(queue: QueueEngine, { messages, log = [] }: QueueDump, runs: RunsToLoad | undefined): void {
  const { courier } = queue
  const logged = new Set(log.map(({ message }) => message))
  const restored = new Map<string, Message>()
  for (const dumped of messages.toSorted((a, b) => a.createdAt - b.createdAt)) {
    const { id, url, source: sourceId, run } = dumped
    checkPast(queue, `message ${id}`, 'was created', dumped.createdAt)
    if (restored.has(id)) throw new TypeError(`The dump has two messages ${shortened(id)}.`)
    const source = sourceId === undefined ? undefined : restored.get(sourceId)
    if (sourceId !== undefined && source === undefined)
      throw new TypeError(
        `The message ${shortened(id)} of the dump is a callback of ${shortened(sourceId)}, which is not in the dump.`,
      )
    within(`message ${id}`, () => {
      checkUrl(url, 'url')
      const { raw, given } = readable(dumped.settings, dumped.headers)
      const settings = queue.publisher.settings(raw, queue.wordsNamed(dumped.words), given)
      const { kind, callerIp, region, urlGroup, endpointName, scheduleId } = dumped
      const origin = { callerIp, region, urlGroup, endpointName, scheduleId }
      const part = run && partOf(runs, id, run)
      const held = runs?.isHeld(id) === true
      const draft = { kind, url, body: bytesOf(dumped.body), settings, origin, source, part, held }
      restored.set(id, courier.restore(draft, dumped, logged.has(id)))
    })
  }
  for (const { message, time: at } of log) checkPast(queue, `log of message ${message}`, 'was written', at)
  runs?.complete(restored)
  courier.restored(log.toSorted((a, b) => a.time - b.time).map(restoredLogEntry))
}

function partOf(runs: RunsToLoad | undefined, id: string, run: DumpedPart): RunMessage {
  const part = runs?.partOf(run)
  if (part !== undefined) return part
  throw new TypeError(
    `The message ${shortened(id)} of the dump belongs to run ${shortened(run.id)}, which is not in the dump.`,
  )
}

function restoredLogEntry(dumped: DumpedLogEntry): RestoredLogEntry {
  const { message, state, time, nextDeliveryTime, error, response } = dumped
  return {
    message,
    state,
    time,
    ...(nextDeliveryTime !== undefined && { nextDeliveryTime }),
    ...(error !== undefined && { error }),
    ...(response !== undefined && { response: { ...response, body: bytesOf(response.body) } }),
  }
}

function loadSchedule(queue: QueueEngine, dumped: DumpedSchedule): void {
  const { id, cron, destination, callerIp, region, createdAt, paused, lastTime, missed } = dumped
  checkPast(queue, `schedule ${id}`, 'was created', createdAt)
  if (lastTime !== undefined) checkPast(queue, `schedule ${id}`, 'fired', lastTime)
  const target = targetOf(destination)
  checkTarget(target)
  const { raw, given } = readable({ ...dumped.settings, cron, 'schedule-id': id }, dumped.headers)
  const settings = queue.publisher.settings(raw, queue.wordsNamed(dumped.words), given)
  const body = bytesOf(dumped.body)
  const draft = { cron, target, body, settings, raw, headers: given, callerIp, region }
  const lastMessages = dumped.lastMessages.flatMap((message) => queue.courier.byId.get(message) ?? [])
  const schedule = queue.schedules.create(draft, missed)
  if (missed !== undefined && (schedule.nextTime !== missed || missed > queue.now())) {
    throw new TypeError(
      `The schedule ${id} of the dump has missed fire time ${iso(missed)}, which must be a past fire time of its cron expression.`,
    )
  }
  queue.schedules.setPaused(schedule, paused)
  Object.assign(schedule, { createdAt, lastTime, lastMessages })
}

function loadLetter(queue: QueueEngine, dumped: DumpedDeadLetter): void {
  const { id, time: at, status, headers, error } = dumped
  checkPast(queue, `dead letter ${id}`, 'was filed', at)
  const message = queue.courier.byId.get(dumped.message)
  if (message?.state !== 'FAILED') {
    const why = message === undefined ? 'which is not in the dump' : `whose state is ${message.state} and not FAILED`
    throw new TypeError(`The dead letter ${id} of the dump belongs to message ${shortened(dumped.message)}, ${why}.`)
  }
  const reply = { status, headers, body: bytesOf(dumped.body), ...(error !== undefined && { error }) }
  queue.courier.deadLetters.add(message, reply, { id, time: at })
}

function loadBulkAction(queue: QueueEngine, action: DumpedBulkAction): void {
  const { id, resource, total, processed, createdAt, completedAt } = action
  checkPast(queue, `bulk action ${id}`, 'was accepted', createdAt)
  if (completedAt !== undefined) checkPast(queue, `bulk action ${id}`, 'finished', completedAt)
  if (processed > total)
    throw new TypeError(
      `The bulk action ${shortened(id)} of the dump has processed ${processed} records of ${total}. processed must be at most total.`,
    )
  if (resource === 'runs' && queue.workflows === undefined)
    throw new TypeError(
      `The bulk action ${shortened(id)} of the dump cancels workflow runs, but this queue has no workflow engine. Load the dump into a sandbox.`,
    )
  queue.bulkActions.restore(action)
}

function checkPast(queue: QueueEngine, thing: string, happened: string, at: number): void {
  if (at <= queue.now()) return
  throw new TypeError(
    `The ${shortened(thing)} of the dump ${happened} at ${iso(at)}, but the clock of the sandbox is at ${iso(queue.now())}. Load the dump into a sandbox whose startAt is not before that time.`,
  )
}

/** Returns the schemas for one item of each list in a dump. */
export function dumpedRowSchemas(): typeof dumpedRows {
  return dumpedRows
}

export function dumpedQueueSchema(): typeof queueSchema {
  return queueSchema
}
