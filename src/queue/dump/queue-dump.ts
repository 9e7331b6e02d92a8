import type { Bytes } from '../../kernel/bytes.js'
import { definedFields } from '../../kernel/defined-fields.js'
import type { HeaderList } from '../../kernel/http.js'
import { type PortableString, portableString } from '../../kernel/portable.js'
import type { MessageKind } from '../../kernel/traffic-log.js'
import type { DumpedBulkAction } from '../bulk-actions.js'
import type { DeadLetter } from '../delivery/callbacks-and-dead-letters.js'
import type { FlowKey } from '../delivery/flow-key.js'
import type { FifoQueue } from '../message/fifo-queue.js'

import type { LogEntry, Message } from '../message/message.js'
import type { LoggedState } from '../message/state.js'
import type { Remembered } from '../publish/deduplication.js'
import type { UrlGroup } from '../publish/url-groups.js'
import type { QueueEngine } from '../queue-engine.js'
import type { Schedule, ScheduleDraft } from '../schedules/schedule.js'
import type { DumpedPart, DumpedRun, RunsOfDump } from './dumped-run-rows.js'
import {
  type PortableHeaders,
  type PortableSettings,
  portableDialect,
  portableHeaders,
  portableSettings,
} from './portable-settings.js'

// Types of the queue as JSON. Instants are in milliseconds since the Unix epoch. A dump has no deliveries in flight:
// their messages are due immediately after loading.

/** An endpoint of a URL group in a dump. */
export interface DumpedEndpoint {
  /** URL to which messages of the group are delivered. */
  readonly url: string
  /** Name of the endpoint within its group. Default: none. */
  readonly name?: string | undefined
}

/** A URL group in a dump. */
export interface DumpedGroup {
  /** Name of the URL group, to which messages can be published instead of a URL. */
  readonly name: string
  /** Creation time in milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** Time of the latest change in milliseconds since the Unix epoch. */
  readonly updatedAt: number
  /** Endpoints of the group. A publish creates one message for each. [queue.md 8] */
  readonly endpoints: readonly DumpedEndpoint[]
  /** Default settings of messages to the group: header names in lower case, without prefix. */
  readonly defaults?: PortableSettings | undefined
  /** Default Content-Type of messages to the group. Absent without a default. */
  readonly contentType?: string | undefined
  /** Default headers that the destinations receive. Headers of the service itself are in `defaults`. */
  readonly headers?: PortableHeaders | undefined
}

/** A FIFO queue in a dump. */
export interface DumpedQueue {
  /** Name of the FIFO queue. */
  readonly name: string
  /** Creation time in milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** Time of the latest change in milliseconds since the Unix epoch. */
  readonly updatedAt: number
  /** Number of messages that are delivered at the same time, at least 1. */
  readonly parallelism: number
  /** Whether the queue is paused. */
  readonly paused: boolean
}

/** A flow-control key in a dump. */
export interface DumpedFlowKey {
  /** Name of the flow-control key. */
  readonly key: string
  /** Maximum number of attempts in flight at the same time. Default: no limit. */
  readonly parallelism?: number | undefined
  /** Maximum number of attempts in one rate period. Default: no limit. */
  readonly rate?: number | undefined
  /** Rate period in seconds. */
  readonly period: number
  /** Whether the parallelism is pinned, so that messages cannot change it. [queue.md 6.2] */
  readonly pinnedParallelism: boolean
  /** Whether the rate and its period are pinned, so that messages cannot change them. [queue.md 6.2] */
  readonly pinnedRate: boolean
  /** Whether the key is paused, so that no message with this key starts. */
  readonly paused: boolean
  /** Number of attempts that have started in the current rate period. */
  readonly rateCount: number
  /** Start of the rate period in milliseconds since the Unix epoch. Absent if no period has begun. */
  readonly ratePeriodStart?: number | undefined
}

interface Sent {
  /** Body of the message. For a schedule, the body of each message that it publishes. */
  readonly body: PortableString
  /** Headers that the publisher set for the delivery: Content-Type and forwarded headers. */
  readonly headers: PortableHeaders
  /** Options of the publish. The keys are header names in lower case, without prefix. */
  readonly settings: PortableSettings
  /** Name of the dialect of the deliveries. Absent if deliveries have the headers of all dialects. */
  readonly words?: string | undefined
  /** IP address of the client that sent the publish. */
  readonly callerIp: string
  /** Region of the queue that received the publish: `us-east-1` or `eu-central-1`. */
  readonly region: string
}

/** A schedule in a dump. */
export interface DumpedSchedule extends Sent {
  /** ID of the schedule: `scd_…` if it was generated, or the ID that its creator chose. [queue.md 12] */
  readonly id: string
  /** Cron expression, which may begin with `CRON_TZ=<zone>`. [queue.md 7] */
  readonly cron: string
  /** URL or name of a URL group. */
  readonly destination: string
  /** Creation time in milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** Whether the schedule is paused. Fire times during a pause are skipped. [queue.md 7] */
  readonly paused: boolean
  /** Time of the latest firing in milliseconds since the Unix epoch. Absent before the first one. */
  readonly lastTime?: number | undefined
  /** IDs of the messages of the latest firing. */
  readonly lastMessages: readonly string[]
  /**
   * Fire time that has passed and at which the schedule has not fired. This is possible if the clock follows host time
   * and its timers are late.
   */
  readonly missed?: number | undefined
}

/** A message in a dump. */
export interface DumpedMessage extends Sent {
  /** ID of the message (`msg_…`). */
  readonly id: string
  /** Kind of the message: published by the app, a callback or a failure callback. */
  readonly kind: MessageKind
  /** URL of the destination. */
  readonly url: string
  /** State of the message, in the spelling of the service. [queue.md 4.1] */
  readonly state: LoggedState
  /** Creation time in milliseconds since the Unix epoch. */
  readonly createdAt: number
  /** Earliest time of the first attempt in milliseconds since the Unix epoch. */
  readonly notBefore: number
  /** Time at which the next attempt is due. For an ended message, time at which the last attempt was due. */
  readonly due: number
  /** Number of retries so far. */
  readonly retried: number
  /** Delay before the next attempt in milliseconds, and the reason for it. */
  readonly wait?: { readonly delay: number; readonly reason: string } | undefined
  /** Name of the URL group to which the message was published. Absent if it was published to a URL. */
  readonly urlGroup?: string | undefined
  /** Name of the endpoint within its URL group. Absent if it has none. */
  readonly endpointName?: string | undefined
  /** ID of the schedule that published the message. Absent for other messages. */
  readonly scheduleId?: string | undefined
  /** ID of the message whose attempt this callback reports. Absent for other messages. */
  readonly source?: string | undefined
  /** Role of the message in a workflow run. Absent for other messages. */
  readonly run?: DumpedPart | undefined
  /**
   * Why the message has no log entries in the dump. `forgotten`: its log entries were deleted. `vanished`: a fault
   * dropped the message. Such a message is in the dump because a workflow run or a callback refers to it.
   */
  readonly kept?: 'forgotten' | 'vanished' | undefined
}

/** A dead letter in a dump. */
export interface DumpedDeadLetter {
  /** ID in the form `<milliseconds>-<n>`. */
  readonly id: string
  /** Time at which the message failed permanently, in milliseconds since the Unix epoch. */
  readonly time: number
  /** ID of the message. */
  readonly message: string
  /** Status of the last response; 0 without one. */
  readonly status: number
  /** Headers of the last response as pairs of name and value. Empty without one. */
  readonly headers: HeaderList
  /** Body of the last response. Empty without one. */
  readonly body: PortableString
  /** Reason why there was no response. */
  readonly error?: string | undefined
}

/** Entry of the message log. It says that a message entered a state. */
export interface DumpedLogEntry {
  /** ID of the message. */
  readonly message: string
  /** State that the message entered, in the spelling of the service. [queue.md 4.1] */
  readonly state: LoggedState
  /** Time of the entry in milliseconds since the Unix epoch. */
  readonly time: number
  /**
   * Time of the next attempt in milliseconds since the Unix epoch. Set for RETRY, and for CREATED with a delay.
   * [queue.md 4.3]
   */
  readonly nextDeliveryTime?: number | undefined
  /** Error text, set for ERROR and FAILED: a network error, a timeout or the status line. [queue.md 4.3] */
  readonly error?: string | undefined
  /** Response of the failed attempt. Set for ERROR. [queue.md 4.3] */
  readonly response?:
    | {
        readonly status: number
        readonly headers: HeaderList
        readonly body: PortableString
      }
    | undefined
}

/**
 * Deduplication key in use. Until its window ends, a publish with the same key is a duplicate of the message or
 * schedule that used the key first.
 */
export interface DumpedDuplicate {
  /** Kind of object that used the key first. */
  readonly of: 'message' | 'schedule'
  /** Internal form of the key: `id` with the deduplication ID, or `content` with a hash. */
  readonly key: PortableString
  /** ID of the message or schedule that used the key first. */
  readonly id: string
  /** End of the deduplication window in milliseconds since the Unix epoch. */
  readonly until: number
}

/**
 * The contents of a queue as plain JSON. Bodies and headers with any bytes survive `JSON.stringify()` and
 * `JSON.parse()`.
 */
export interface QueueDump {
  /** Name of the format. `load()` accepts only dumps with this name. */
  readonly format: 'stuntdouble/queue'
  /** Version of the format. */
  readonly version: 1
  /** URL groups with their endpoints and default headers. */
  readonly urlGroups: readonly DumpedGroup[]
  /** FIFO queues and their options. Their messages are in `messages`. */
  readonly queues: readonly DumpedQueue[]
  /** Flow-control keys with their limits and counters. */
  readonly flowControlKeys: readonly DumpedFlowKey[]
  /** Schedules, including paused ones. */
  readonly schedules: readonly DumpedSchedule[]
  /** Pending messages, and ended messages to which other parts of the dump refer. Oldest first. */
  readonly messages: readonly DumpedMessage[]
  /** Dead letters, oldest first. */
  readonly deadLetters: readonly DumpedDeadLetter[]
  /** Message log, oldest first. If absent, the log begins with the current state of each message. */
  readonly log?: readonly DumpedLogEntry[] | undefined
  /** Deduplication keys in use, whose windows have not ended. Default: none. */
  readonly duplicates?: readonly DumpedDuplicate[] | undefined
  /** Bulk actions of the last seven days, oldest first. Default: none. */
  readonly bulkActions?: readonly DumpedBulkAction[] | undefined
  /** Signing keys. If absent, a load leaves the keys of the queue unchanged. */
  readonly keys?: { readonly current: string; readonly next: string; readonly former: readonly string[] } | undefined
  /** Workflow runs, oldest first. */
  readonly runs?: readonly DumpedRun[] | undefined
  /** URLs whose responses have shown that they are workflow endpoints. */
  readonly workflowUrls?: readonly string[] | undefined
}

export function dumpOf(queue: QueueEngine): QueueDump {
  const { courier, flow } = queue
  queue.log.prune(queue.now())
  const letters = courier.deadLetters.select({}).items
  const known = new Set([...courier.byId.values()].filter((message) => !hasVanished(message)))
  // Add the messages of dead letters, because a dead letter may exist longer than the log entries about its message.
  for (const { message } of letters) known.add(message)
  const runs = queue.workflows?.dump(known)
  const bulkActions = queue.bulkActions.dump()
  // Add messages to which workflow runs or callbacks refer. These may exist longer than the log entries about the
  // message.
  const messages = new Set([...known, ...(runs?.messages ?? [])])
  for (const { source } of messages) if (source !== undefined) messages.add(source)
  return {
    format: 'stuntdouble/queue',
    version: 1,
    urlGroups: queue.urlGroups.list().map(dumpedGroup),
    queues: queue.lanes.list().map(dumpedQueue),
    flowControlKeys: [...flow.keys.values()].map((key) => dumpedKey(key, queue.now())),
    schedules: queue.schedules.list().map((schedule) => dumpedSchedule(schedule, queue.now())),
    messages: [...messages].sort((a, b) => a.seq - b.seq).map((message) => dumpedMessage(message, known, runs)),
    deadLetters: letters.map(dumpedLetter),
    log: queue.log.select({}, queue.now()).items.map(dumpedLogEntry),
    duplicates: [
      ...queue.publisher.published.remembered(queue.now()).map(dumpedDuplicate('message')),
      ...queue.publisher.scheduled.remembered(queue.now()).map(dumpedDuplicate('schedule')),
    ],
    ...(bulkActions.length > 0 && { bulkActions }),
    keys: { ...queue.keys.pair(), former: [...queue.keys.former] },
    ...(runs !== undefined && runs.runs.length > 0 && { runs: runs.runs }),
    ...(runs !== undefined && runs.urls.length > 0 && { workflowUrls: runs.urls }),
  }
}

function dumpedLogEntry({ message, state, createdAt: time, detail }: LogEntry): DumpedLogEntry {
  const { nextDeliveryTime, error, response } = detail ?? {}
  return definedFields({
    message: message.id,
    state,
    time,
    nextDeliveryTime,
    error,
    response: response && {
      status: response.status,
      headers: response.headers.map(([name, value]) => [name, value] as const),
      body: portableString(response.body),
    },
  })
}

const dumpedDuplicate =
  (of: DumpedDuplicate['of']) =>
  ({ key, first, until }: Remembered<{ readonly id: string }>): DumpedDuplicate => ({
    of,
    key: portableString(key as Bytes),
    id: first.id,
    until,
  })

function dumpedGroup({ name, createdAt, updatedAt, endpoints, defaults, contentType, headers }: UrlGroup): DumpedGroup {
  return {
    name,
    createdAt,
    updatedAt,
    endpoints: endpoints.map((endpoint) => definedFields({ url: endpoint.url, name: endpoint.name })),
    ...definedFields({
      defaults: defaults && Object.fromEntries(defaults),
      contentType,
      headers: headers.length === 0 ? undefined : portableHeaders(headers),
    }),
  }
}

function dumpedQueue({ name, createdAt, updatedAt, parallelism, paused }: FifoQueue<Message>): DumpedQueue {
  return { name, createdAt, updatedAt, parallelism, paused }
}

function dumpedKey(key: FlowKey, now: number): DumpedFlowKey {
  key.refresh(now)
  return definedFields({
    key: key.key,
    parallelism: key.parallelismMax,
    rate: key.rateMax,
    period: key.ratePeriod,
    pinnedParallelism: key.pinnedParallelism,
    pinnedRate: key.pinnedRate,
    paused: key.paused,
    rateCount: key.rateCount,
    ratePeriodStart: key.ratePeriodStart,
  })
}

function dumpedSchedule(schedule: Schedule, now: number): DumpedSchedule {
  const { id, createdAt, paused, lastTime, lastMessages, draft, nextTime, destination } = schedule
  const { cron, body, settings, callerIp, region } = draft
  return definedFields({
    id,
    cron,
    destination,
    body: portableString(body),
    headers: portableHeaders(settings.headers),
    settings: givenSettings(draft),
    words: portableDialect(settings),
    callerIp,
    region,
    createdAt,
    paused,
    lastTime,
    lastMessages: lastMessages.map((message) => message.id),
    missed: nextTime !== undefined && nextTime <= now ? nextTime : undefined,
  })
}

/**
 * Returns the options that the request for the schedule contained, for a dump. Each firing merges these options with
 * the current defaults of the URL group.
 */
function givenSettings({ raw, settings }: ScheduleDraft): PortableSettings {
  const given = [...raw].filter(([name]) => !/^(?:cron|schedule-id|header-forward|forward-.*)$/.test(name))
  return Object.fromEntries(settings.queue === undefined ? given : [...given, ['queue-name', settings.queue]])
}

function dumpedMessage(message: Message, known: ReadonlySet<Message>, runs: RunsOfDump | undefined): DumpedMessage {
  const { id, kind, url, settings, origin, createdAt: time, notBefore, source, delivery } = message
  const { due, retried, wait } = delivery
  return definedFields({
    id,
    kind,
    url,
    state: message.cancelRequested && !message.isEnded ? 'CANCEL_REQUESTED' : message.state,
    body: portableString(message.body),
    headers: portableHeaders(settings.headers),
    settings: portableSettings(settings),
    words: portableDialect(settings),
    callerIp: origin.callerIp,
    region: origin.region,
    createdAt: time,
    notBefore,
    due,
    retried,
    wait: wait && { delay: wait.delay, reason: wait.reason },
    urlGroup: origin.urlGroup,
    endpointName: origin.endpointName,
    scheduleId: origin.scheduleId,
    source: source?.id,
    run: runs?.partOf(message),
    kept: known.has(message) ? undefined : hasVanished(message) ? ('vanished' as const) : ('forgotten' as const),
  })
}

function hasVanished({ delivery }: Message): boolean {
  return delivery.is === 'ended' && delivery.as === 'vanished'
}

function dumpedLetter({ id, createdAt: time, message, response: reply }: DeadLetter): DumpedDeadLetter {
  const { status, headers, body, error } = reply
  return definedFields({
    id,
    time,
    message: message.id,
    status,
    headers: headers.map(([name, value]) => [name, value] as const),
    body: portableString(body),
    error,
  })
}
