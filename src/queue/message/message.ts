import type { Injection } from '../../faults/fault.js'
import { Account } from '../../kernel/account.js'
import type { Bytes } from '../../kernel/bytes.js'
import type { HeaderList } from '../../kernel/http.js'
import {
  type IndexedRecord,
  type Page,
  type RecordField,
  type RecordQuery,
  Records,
} from '../../kernel/indexed-records.js'
import type { Task, Timer } from '../../kernel/time.js'
import type { MessageKind, StepSettings } from '../../kernel/traffic-log.js'
import { loggedAsJson } from '../../kernel/views.js'
import { weightOfHeaders } from '../../kernel/weight.js'
import type { PublishSettings } from '../settings/message-settings.js'
import type { FieldRedaction } from '../settings/redacted-fields.js'
import { hostsOf, pathOf } from '../settings/url.js'
import type { FifoQueue } from './fifo-queue.js'
import type { LoggedState, MessageState } from './state.js'

/**
 * Origin of a message, such as the IP address of the publisher or the ID of the schedule. All messages that one publish
 * sends to a destination share one object.
 */
export interface MessageOrigin {
  readonly callerIp: string
  readonly region: string
  readonly urlGroup?: string | undefined
  readonly endpointName?: string | undefined
  readonly scheduleId?: string | undefined
  /** `seq` of the traffic entry that caused the publish. */
  readonly cause?: number | undefined
}

/** Message that has no ID yet. */
export interface Draft {
  readonly kind: MessageKind
  readonly url: string
  readonly body: Bytes
  readonly settings: PublishSettings
  readonly origin: MessageOrigin
  /** Message that a callback reports. Set only for callbacks. */
  readonly source?: Message | undefined
  /**
   * Whether a drain waits for the message. Default `true`; `false` if a schedule published the message during a drain.
   */
  readonly awaited?: boolean
  /** Role of the message in a workflow run. Absent for other messages. */
  readonly part?: RunMessage | undefined
  /**
   * Whether the message waits for the end of the request that submits it. When this request has received its response,
   * `DeliveryScheduler.letGo()` releases the message. [workflow.md 0, 11]
   */
  readonly held?: boolean
}

export interface MessageCarrier {
  due(message: Message, task: Task): Promise<void> | void
}

/** Fields of a message that local and remote sandboxes return. Times are virtual milliseconds since the Unix epoch. */
export type MessageView = Pick<
  Message,
  | 'id'
  | 'kind'
  | 'url'
  | 'method'
  | 'body'
  | 'state'
  | 'createdAt'
  | 'notBefore'
  | 'nextAttemptAt'
  | 'retried'
  | 'maxRetries'
  | 'isEnded'
>

/** Message to one URL. The object exists from the publish until the message has ended and left the message log. */
export class Message {
  static {
    loggedAsJson(Message)
  }

  /** ID of the message (`msg_…`). */
  readonly id: string
  /** @internal */
  readonly seq: number
  /** Creation time in virtual milliseconds. */
  readonly createdAt: number
  /** Earliest virtual time of the first attempt, in milliseconds since the epoch. */
  readonly notBefore: number
  /** @internal */
  private readonly carrier: MessageCarrier
  /** State of the message as the message log shows it, in the spelling of the service. */
  state: LoggedState = 'CREATED'
  /** Delivery state. @internal */
  delivery: MessageState
  /** @internal */
  gone = false
  /**
   * Number of attempts so far. It includes duplicate deliveries, and deliveries that a request or a test started before
   * they were due.
   * @internal
   */
  attempts = 0
  /**
   * Timer for the next attempt. The delivery scheduler sets it.
   * @internal
   */
  timer: Timer | undefined
  /**
   * FIFO queue that contains the message.
   * @internal
   */
  lane: FifoQueue<Message> | undefined
  /** Whether a drain waits for the message. `false` if a schedule published it during a drain. @internal */
  awaited: boolean
  /**
   * Number of callbacks that report this message and have not ended. As long as there is one, the message keeps its
   * slot in a FIFO queue.
   * @internal
   */
  openCallbacks = 0
  /**
   * Faults for the next attempt. `undefined`: the fault rules have not been evaluated. Empty: no rule injects a fault.
   * @internal
   */
  declare injections?: readonly Injection[] | undefined
  /**
   * Role of the message in a workflow run. Absent for other messages.
   * @internal
   */
  declare part?: RunMessage
  /** @internal */
  lastLog: LogEntry | undefined
  /**
   * `seq` of the latest traffic entry about the message. That entry is the cause of the next one.
   * @internal
   */
  lastEntrySeq = 0
  /** Kind of the message: published by the app, a callback or a failure callback. */
  readonly kind: MessageKind
  /** URL of the destination. */
  readonly url: string
  /** Body that was published, as a byte string. */
  readonly body: Bytes
  /** @internal */
  readonly settings: PublishSettings
  /** @internal */
  readonly origin: MessageOrigin
  /** @internal */
  readonly source: Message | undefined

  /** @internal */
  constructor(
    id: string,
    seq: number,
    createdAt: number,
    notBefore: number,
    draft: Draft,
    delivery: MessageState,
    carrier: MessageCarrier,
  ) {
    this.id = id
    this.seq = seq
    this.createdAt = createdAt
    this.notBefore = notBefore
    this.carrier = carrier
    this.kind = draft.kind
    this.url = draft.url
    this.body = draft.body
    this.settings = draft.settings
    this.origin = draft.origin
    this.source = draft.source
    this.awaited = draft.awaited ?? draft.source?.awaited ?? true
    this.delivery = delivery
    if (draft.part !== undefined) this.part = draft.part
  }

  /**
   * Delivers the message. Its timer calls this method.
   * @internal
   */
  fire(task: Task): Promise<void> | void {
    return this.carrier.due(this, task)
  }

  /** Maximum number of retries after the first attempt. */
  get maxRetries(): number {
    return this.settings.retries
  }

  /** HTTP method of the delivery. */
  get method(): string {
    return this.settings.method
  }

  /** Headers that the publisher configured: Content-Type and forwarded headers, in canonical spelling. @internal */
  get headers(): HeaderList {
    return this.settings.headers
  }

  /** Time at which the next attempt is due. For an ended message, time at which the last attempt was due. */
  get nextAttemptAt(): number {
    return this.delivery.due
  }

  /** Number of retries so far. This equals the number of the current or next attempt, counted from 0. */
  get retried(): number {
    return this.delivery.retried
  }

  /** Whether an attempt is in flight. @internal */
  get running(): boolean {
    return this.delivery.is === 'running'
  }

  /** Whether the message has ended, so that it gets no further attempts. */
  get isEnded(): boolean {
    return this.delivery.is === 'ended'
  }

  /** Whether a cancel was requested, even if the message has not ended. @internal */
  get cancelRequested(): boolean {
    return this.delivery.asked === 'end'
  }

  /**
   * Whether the API still shows the message. As soon as a cancel is requested, the API no longer shows the message.
   * This package chose this time; public sources leave it open. [queue.md 4.2]
   * @internal
   */
  get visible(): boolean {
    const { is, asked } = this.delivery
    return is !== 'ended' && asked !== 'end'
  }

  toJSON(): MessageView {
    const { id, kind, url, method, body, state, createdAt, notBefore, nextAttemptAt, retried, maxRetries, isEnded } =
      this
    return { id, kind, url, method, body, state, createdAt, notBefore, nextAttemptAt, retried, maxRetries, isEnded }
  }
}

/**
 * Details of a log entry. They depend on its state: for example, `nextDeliveryTime` exists only for `CREATED` and
 * `RETRY`.
 */
export interface LogDetail {
  readonly nextDeliveryTime?: number
  readonly error?: string
  readonly response?: { readonly status: number; readonly headers: HeaderList; readonly body: Bytes }
}

/** Entry of the message log. It says that a message entered a state. */
export class LogEntry implements IndexedRecord {
  gone = false
  /** Previous entry about the same message. */
  readonly previous: LogEntry | undefined
  readonly #detail: LogDetail | 'not before' | undefined

  /** @param detail `not before`: the next delivery is due at `message.notBefore`; it takes no memory */
  constructor(
    readonly seq: number,
    readonly createdAt: number,
    readonly message: Message,
    readonly state: LoggedState,
    detail: LogDetail | 'not before' | undefined,
  ) {
    this.previous = message.lastLog
    this.#detail = detail
  }

  get detail(): LogDetail | undefined {
    return this.#detail === 'not before' ? { nextDeliveryTime: this.message.notBefore } : this.#detail
  }
}

/** Fields by which API requests can select messages, log entries and dead letters. [queue.md 1.5, 1.9, 1.10] */
export const messageFields: Readonly<Record<string, RecordField<Message>>> = {
  messageIds: (message) => message.id,
  url: (message) => message.url,
  host: (message) => hostsOf(message.url),
  path: (message) => pathOf(message.url),
  topicName: (message) => message.origin.urlGroup,
  scheduleId: (message) => message.origin.scheduleId,
  queueName: (message) => message.settings.queue,
  label: (message) => message.settings.labels,
  flowControlKey: (message) => message.settings.flowControl?.key,
  callerIp: (message) => message.origin.callerIp,
}

/** Returns the fields of `messageFields` for records that have a `message`, such as log entries. */
export function fieldsThrough<T extends { readonly message: Message }>(): Record<string, RecordField<T>> {
  return Object.fromEntries(
    Object.entries(messageFields).map(([name, field]) => [name, (record: T) => field(record.message)]),
  )
}

/**
 * Fraction of the sandbox's memory that the message log may use. Dead letters, deduplication keys of messages, and
 * deduplication keys of schedules may each use the same fraction.
 */
export const messagesShare: number = 1 / 16

/** Message log: the entries about all messages that are younger than the retention period, oldest first. */
export class MessageLog {
  readonly #records = new Records<LogEntry>({ ...fieldsThrough<LogEntry>(), state: (entry) => entry.state })
  readonly #retention: number
  readonly #onForgotten: (message: Message) => void
  readonly #kept: Account
  #sequence = 0
  #prunedAt = -1

  /**
   * @param onForgotten called when the log has deleted its last entry about a message
   * @param kept limits the memory for log entries; if the limit is exceeded, the oldest are deleted before their
   *   retention ends
   */
  constructor(
    retention: number,
    onForgotten: (message: Message) => void,
    kept: Account = new Account(Number.POSITIVE_INFINITY),
  ) {
    this.#retention = retention
    this.#onForgotten = onForgotten
    this.#kept = kept
  }

  write(message: Message, state: LoggedState, now: number, detail?: LogDetail | 'not before'): LogEntry {
    if (now !== this.#prunedAt) this.prune(now)
    const entry = new LogEntry(++this.#sequence, now, message, state, detail)
    message.lastLog = entry
    message.state = state
    this.#records.add(entry)
    this.#kept.put(weightOf(entry))
    if (this.#kept.held > this.#kept.limit) this.#makeRoom(entry)
    return entry
  }

  #makeRoom(newest: LogEntry): void {
    for (let first = this.#records.first(); first !== newest && first !== undefined; first = this.#records.first()) {
      if (this.#kept.held <= this.#kept.limit) return
      this.#drop(first)
    }
  }

  #drop(first: LogEntry): void {
    this.#records.delete(first)
    this.#kept.release(weightOf(first))
    if (first.message.lastLog === first) this.#onForgotten(first.message)
  }

  prune(now: number): void {
    this.#prunedAt = now
    for (let first = this.#records.first(); first !== undefined; first = this.#records.first()) {
      if (first.createdAt >= now - this.#retention) return
      this.#drop(first)
    }
  }

  select(wanted: RecordQuery<LogEntry>, now: number): Page<LogEntry> {
    this.prune(now)
    return this.#records.select(wanted)
  }

  /** Returns the entries about one message, oldest first. Follows the links between them and uses no index. */
  about(message: Message): readonly LogEntry[] {
    const entries: LogEntry[] = []
    for (let entry = message.lastLog; entry !== undefined && !entry.gone; entry = entry.previous) entries.unshift(entry)
    return entries
  }
}

/** Estimated size of a log entry in bytes, including its references in indexes. */
const entryBytes = 100
/**
 * Estimated size of a message in bytes, without its body and headers. It is added to the size of the first log entry
 * about the message.
 */
const messageBytes = 400

function weightOf({ previous, message, detail }: LogEntry): number {
  const weight = entryBytes + (detail?.response?.body.length ?? 0)
  return previous === undefined ? weight + weightOfMessage(message) : weight
}

export function weightOfMessage({ url, body, settings }: Message): number {
  return messageBytes + url.length + body.length + weightOfHeaders(settings.headers)
}

/** Response to a delivery, as a workflow run reads it. */
export interface RunReply {
  /** Status; 0 without a response. */
  readonly status: number
  /** Headers of the response as pairs of name and value. Empty without a response. */
  readonly headers: HeaderList
  /** Body of the response as a byte string. Empty without a response. */
  readonly body: Bytes
  /** Reason why there is no response. */
  readonly error?: string | undefined
}

/** Result of a delivery: a response, or the reason why there is none. */
export interface RawOutcome extends RunReply {
  readonly error?: string
  /**
   * Note for the traffic log about something that the queue itself cannot know. For example, the handler ran, but its
   * response was lost.
   */
  readonly note?: string
  /** Set if no response will arrive. The attempt then ends when it times out. */
  readonly never?: true
  /** Set if the response was registered as fixed data, so that no handler ran. */
  readonly isGiven?: true
}

/** Delivery to the endpoint of a workflow run. A stub may respond in place of the endpoint. */
export interface StubbableDelivery {
  readonly message: Message
  /** `seq` of the attempt's traffic entry. */
  readonly seq: number
  /**
   * Sends another body to the endpoint and returns the response. The request is not logged or recorded, and takes no
   * virtual time.
   */
  probe(body: Bytes): RawOutcome | Promise<RawOutcome>
  /** Delivers the attempt to the endpoint, without a stub. */
  send(): RawOutcome | Promise<RawOutcome>
}

/**
 * Role of a message in its workflow run. The queue calls the members of this interface, and the workflow engine
 * implements them.
 */
export interface RunMessage {
  readonly runId: string
  /** Creation time of the run in virtual milliseconds. */
  readonly runCreatedAt: number
  readonly runUrl: string
  /** Settings of the step that the delivery of this message runs. Absent if it was sent without. [workflow.md 5.1] */
  readonly stepSettings?: StepSettings | undefined
  /** Fields to redact, from the options of the request that triggered the run. */
  readonly redact: FieldRedaction | undefined
  /** Whether the run has ended. If so, the message gets no further attempts. */
  readonly isOver: boolean
  /**
   * Whether the message is a workflow call. A workflow call sends a callback only after its last attempt. If it fails,
   * the failure becomes the result of the step and not a dead letter. [workflow.md 0, 1]
   */
  readonly isCall: boolean
  /**
   * Returns the step to which the message belongs. The message submits this step, or makes the call of the step, or
   * contains the response to that call. Returns `undefined` if the message belongs to no step.
   */
  step(message: Message): { readonly stepName: string; readonly stepType: string } | undefined
  /** Returns additional headers for deliveries of this message. Their names are in the dialect of the message. */
  headers(message: Message): HeaderList
  body(message: Message): Bytes
  /** Returns the SHA-256 of the body if it is known without reading the whole body. Otherwise, returns `undefined`. */
  bodyHash(message: Message): Bytes | undefined
  /**
   * Returns why the message fails although the status of the response is a success. Returns `undefined` if the response
   * is valid. [workflow.md 2.5]
   */
  wrongWith(message: Message, reply: RunReply): string | undefined
  /**
   * Returns the role that a callback about this message has in the workflow run. Returns `undefined` if the callback
   * has no role.
   */
  reporter(kind: 'callback' | 'failure-callback'): RunMessage | undefined
  /** Adds fields of the workflow run to the body of a callback, and returns the body. */
  reported(body: Record<string, unknown>): Record<string, unknown>
  /** Returns the fields that the workflow run adds to the dead letter of the message. */
  deadLetter(): Record<string, unknown>
  /** State of the run's failure function, as the API shows it. */
  readonly failureFunctionState: string | undefined
  accepted(message: Message): void
  /**
   * Responds in place of the endpoint if a test has stubbed the step that this delivery would run. Returns `undefined`
   * if no stub applies.
   */
  stage?(delivery: StubbableDelivery): Promise<RawOutcome> | undefined
  begins(message: Message): void
  /**
   * Called at the end of an attempt, after callbacks about the attempt were accepted. The message may have ended with
   * the attempt.
   */
  ends(message: Message, reply: RunReply, error: string | undefined): void
  /** Called when the message has ended without a further attempt: it was canceled, or a fault dropped it. */
  left(message: Message): void
  /** Called when the message has become a dead letter, before its failure callback is accepted. */
  failed(message: Message, reply: RunReply, dlqId: string): void
}
