import type { Bytes } from '../../kernel/bytes.js'
import { definedFields } from '../../kernel/defined-fields.js'
import type { HeaderList } from '../../kernel/http.js'
import { type PortableString, portableString } from '../../kernel/portable.js'
import type { MessageKind } from '../../kernel/traffic-log.js'
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

// The queue as JSON, with instants in milliseconds since the Unix epoch. A dump does not contain deliveries in flight:
// after loading, their messages are due immediately.

/** An endpoint of a URL group in a dump. */
export interface DumpedEndpoint {
  readonly url: string
  readonly name?: string | undefined
}

/** A URL group in a dump. */
export interface DumpedGroup {
  readonly name: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly endpoints: readonly DumpedEndpoint[]
  /** Default settings: header names in lower case, without prefix. */
  readonly defaults?: PortableSettings | undefined
  readonly contentType?: string | undefined
  /** Default headers for deliveries that are not headers of the service. */
  readonly headers?: PortableHeaders | undefined
}

/** A FIFO queue in a dump. */
export interface DumpedQueue {
  readonly name: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly parallelism: number
  readonly paused: boolean
}

/** A flow-control key in a dump. */
export interface DumpedFlowKey {
  readonly key: string
  readonly parallelism?: number | undefined
  readonly rate?: number | undefined
  /** Rate period in seconds. */
  readonly period: number
  readonly pinnedParallelism: boolean
  readonly pinnedRate: boolean
  readonly paused: boolean
  readonly rateCount: number
  readonly ratePeriodStart?: number | undefined
}

interface Sent {
  readonly body: PortableString
  readonly headers: PortableHeaders
  readonly settings: PortableSettings
  /** Name of the dialect in which it is delivered; omitted for all spellings. */
  readonly words?: string | undefined
  readonly callerIp: string
  readonly region: string
}

/** A schedule in a dump. */
export interface DumpedSchedule extends Sent {
  readonly id: string
  readonly cron: string
  /** URL or name of a URL group. */
  readonly destination: string
  readonly createdAt: number
  readonly paused: boolean
  readonly lastTime?: number | undefined
  /** IDs of the messages of the latest firing. */
  readonly lastMessages: readonly string[]
  /**
   * Fire time in the past at which the schedule has not fired yet, because a clock that follows host time may be late.
   */
  readonly missed?: number | undefined
}

/** A message in a dump. */
export interface DumpedMessage extends Sent {
  readonly id: string
  readonly kind: MessageKind
  readonly url: string
  readonly state: LoggedState
  readonly createdAt: number
  readonly notBefore: number
  /** Time at which the next attempt is due, or at which the last one was. */
  readonly due: number
  /** Number of retries so far. */
  readonly retried: number
  /** Wait before the next attempt: its duration in milliseconds and its reason. */
  readonly wait?: { readonly delay: number; readonly reason: string } | undefined
  readonly urlGroup?: string | undefined
  readonly endpointName?: string | undefined
  readonly scheduleId?: string | undefined
  /** ID of the message whose delivery a callback reports. */
  readonly source?: string | undefined
  /** Role in a workflow run. */
  readonly run?: DumpedPart | undefined
  /**
   * Set for a message without log entries that is dumped because a workflow run or a callback refers to it.
   * `forgotten`: its log entries were deleted; `vanished`: a fault dropped it.
   */
  readonly kept?: 'forgotten' | 'vanished' | undefined
}

/** A dead letter in a dump. */
export interface DumpedDeadLetter {
  /** ID in the form `<milliseconds>-<n>`. */
  readonly id: string
  readonly time: number
  /** ID of the message. */
  readonly message: string
  /** Status of the last response; 0 without one. */
  readonly status: number
  readonly headers: HeaderList
  readonly body: PortableString
  /** Reason why there was no response. */
  readonly error?: string | undefined
}

/** Entry of the message log: a message entered a state. */
export interface DumpedLogEntry {
  /** ID of the message. */
  readonly message: string
  readonly state: LoggedState
  readonly time: number
  readonly nextDeliveryTime?: number | undefined
  readonly error?: string | undefined
  readonly response?:
    | {
        readonly status: number
        readonly headers: HeaderList
        readonly body: PortableString
      }
    | undefined
}

/**
 * Deduplication key whose window has not ended. A publish with the same key counts as a duplicate of this message or
 * schedule.
 */
export interface DumpedDuplicate {
  readonly of: 'message' | 'schedule'
  readonly key: PortableString
  readonly id: string
  readonly until: number
}

/** Everything in the queue as JSON. It survives `JSON.stringify()` and `JSON.parse()`, with any bytes. */
export interface QueueDump {
  readonly format: 'stuntdouble/queue'
  readonly version: 1
  readonly urlGroups: readonly DumpedGroup[]
  readonly queues: readonly DumpedQueue[]
  readonly flowControlKeys: readonly DumpedFlowKey[]
  readonly schedules: readonly DumpedSchedule[]
  readonly messages: readonly DumpedMessage[]
  readonly deadLetters: readonly DumpedDeadLetter[]
  /** Message log, oldest first. Without it, the log begins with the current state of each message. */
  readonly log?: readonly DumpedLogEntry[] | undefined
  readonly duplicates?: readonly DumpedDuplicate[] | undefined
  /** Signing keys. Without them, the present keys stay. */
  readonly keys?: { readonly current: string; readonly next: string; readonly former: readonly string[] } | undefined
  /** Workflow runs, oldest first. */
  readonly runs?: readonly DumpedRun[] | undefined
  /** URLs that have responded as workflows. */
  readonly workflowUrls?: readonly string[] | undefined
}

export function dumpOf(queue: QueueEngine): QueueDump {
  const { courier, flow } = queue
  queue.log.prune(queue.now())
  const letters = courier.deadLetters.select({}).items
  const known = new Set([...courier.byId.values()].filter((message) => !hasVanished(message)))
  // A dead letter may be kept longer than the log entries about its message.
  for (const { message } of letters) known.add(message)
  const runs = queue.workflows?.dump(known)
  // A workflow run or a callback may also be kept longer than the log entries about its message.
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
 * Returns the raw settings of a schedule for a dump, because each firing merges them with the current defaults of its
 * URL group.
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
