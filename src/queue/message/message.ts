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
import type { MessageKind } from '../../kernel/traffic-log.js'
import { loggedAsJson } from '../../kernel/views.js'
import { weightOfHeaders } from '../../kernel/weight.js'
import type { PublishSettings } from '../settings/message-settings.js'
import type { FieldRedaction } from '../settings/redacted-fields.js'
import { hostsOf, pathOf } from '../settings/url.js'
import type { FifoQueue } from './fifo-queue.js'
import type { LoggedState, MessageState } from './state.js'

/** Origin of a message, shared by all messages of one publish to one destination. */
export interface MessageOrigin {
  readonly callerIp: string
  readonly region: string
  readonly urlGroup?: string | undefined
  readonly endpointName?: string | undefined
  readonly scheduleId?: string | undefined
  /** `seq` of the traffic entry that caused the publish. */
  readonly cause?: number | undefined
}

/** Message before it has an ID. */
export interface Draft {
  readonly kind: MessageKind
  readonly url: string
  readonly body: Bytes
  readonly settings: PublishSettings
  readonly origin: MessageOrigin
  /** Message whose delivery a callback reports. */
  readonly source?: Message | undefined
  /** `false` if a schedule published it while time was draining. */
  readonly awaited?: boolean
  /** Role in a workflow run. */
  readonly part?: RunMessage | undefined
  /**
   * Whether the delivery waits until the request that submits the message has its response. `DeliveryScheduler.letGo()`
   * ends the wait. [workflow.md 0, 11]
   */
  readonly held?: boolean
}

/** Delivers a message when it is due. */
export interface MessageCarrier {
  due(message: Message, task: Task): Promise<void> | void
}

/** Public fields of a message, also in a remote sandbox. Times are virtual milliseconds since the Unix epoch. */
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

/** Message to one URL, from its acceptance to its end. */
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
  /** State in the latest entry of the message log, as the service spells it. */
  state: LoggedState = 'CREATED'
  /** Delivery state. @internal */
  delivery: MessageState
  /** @internal */
  gone = false
  /** Number of attempts so far, including those of duplicates and on request. @internal */
  attempts = 0
  /** Timer of a planned message, which the delivery scheduler sets. @internal */
  timer: Timer | undefined
  /** FIFO queue that contains it. @internal */
  lane: FifoQueue<Message> | undefined
  /** Whether a drain waits for the message. `false` if a schedule published it during a drain. @internal */
  awaited: boolean
  /** Number of callbacks that have not ended; a FIFO queue waits for them. @internal */
  openCallbacks = 0
  /**
   * Faults to inject into the next attempt. Empty if no rule injected one; `undefined` before the rules are evaluated.
   * @internal
   */
  declare injections?: readonly Injection[] | undefined
  /** Role in a workflow run; most messages have none. @internal */
  declare part?: RunMessage
  /** @internal */
  lastLog: LogEntry | undefined
  /** `seq` of its latest traffic entry, which is the cause of the next one. @internal */
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

  /** Delivers the message; its timer calls this. @internal */
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

  /** Time at which the next delivery is due, or at which the last one was. */
  get nextAttemptAt(): number {
    return this.delivery.due
  }

  /** Number of retries so far, which is the number of the current or next attempt, counted from 0. */
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
   * Whether the API still shows the message. A message with a requested cancel is not shown, even before it ends.
   * [queue.md 4.2, choice] @internal
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

/** Details of a log entry in addition to its state. */
export interface LogDetail {
  readonly nextDeliveryTime?: number
  readonly error?: string
  readonly response?: { readonly status: number; readonly headers: HeaderList; readonly body: Bytes }
}

/** Entry of the message log: a message entered a state. */
export class LogEntry implements IndexedRecord {
  gone = false
  /** Previous entry about the same message. */
  readonly previous: LogEntry | undefined

  constructor(
    readonly seq: number,
    readonly createdAt: number,
    readonly message: Message,
    readonly state: LoggedState,
    readonly detail: LogDetail | undefined,
  ) {
    this.previous = message.lastLog
  }
}

/** Fields by which the API can search for messages, log entries and dead letters. [queue.md 1.5, 1.9, 1.10] */
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

/** Returns these fields for a record that refers to a message, such as a log entry. */
export function fieldsThrough<T extends { readonly message: Message }>(): Record<string, RecordField<T>> {
  return Object.fromEntries(
    Object.entries(messageFields).map(([name, field]) => [name, (record: T) => field(record.message)]),
  )
}

/**
 * Maximum share of the sandbox's memory for the message log. Dead letters and deduplication each have the same share.
 */
export const messagesShare: number = 1 / 16

/** Log of all messages, newest last, within its retention. */
export class MessageLog {
  readonly #records = new Records<LogEntry>({ ...fieldsThrough<LogEntry>(), state: (entry) => entry.state })
  readonly #retention: number
  readonly #onForgotten: (message: Message) => void
  readonly #kept: Account
  #sequence = 0
  #prunedAt = -1

  /**
   * @param onForgotten called when the last entry about a message leaves the log
   * @param kept account with the memory limit; above the limit, the oldest entries are deleted before their retention
   * ends
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

  write(message: Message, state: LoggedState, now: number, detail?: LogDetail): LogEntry {
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

  /** Deletes entries that are older than the retention. */
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

  /** Returns the entries about one message, oldest first, without using an index. */
  about(message: Message): readonly LogEntry[] {
    const entries: LogEntry[] = []
    for (let entry = message.lastLog; entry !== undefined && !entry.gone; entry = entry.previous) entries.unshift(entry)
    return entries
  }
}

/** Estimated size of a log entry with its index records, in bytes. */
const entryBytes = 100
/**
 * Estimated size of a message without its content, in bytes. It is added to the size of the first log entry about the
 * message.
 */
const messageBytes = 400

function weightOf({ previous, message, detail }: LogEntry): number {
  const weight = entryBytes + (detail?.response?.body.length ?? 0)
  return previous === undefined ? weight + weightOfMessage(message) : weight
}

export function weightOfMessage({ url, body, settings }: Message): number {
  return messageBytes + url.length + body.length + weightOfHeaders(settings.headers)
}

/** The part of a response to a delivery that a workflow run reads. */
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
   * Fact for the traffic log that the queue cannot see. For example, the handler ran although its response was lost.
   */
  readonly note?: string
  /** Whether no response will arrive, so that the attempt ends by its timeout. */
  readonly never?: true
  /** Whether the response was registered as data, so that no handler ran. */
  readonly isGiven?: true
}

/** Delivery to the endpoint of a workflow run, whose step a stub may replace. */
export interface StubbableDelivery {
  readonly message: Message
  /** `seq` of the attempt's traffic entry. */
  readonly seq: number
  /** Sends another body to the endpoint. This adds no log entries, is not recorded, and takes no virtual time. */
  probe(body: Bytes): RawOutcome | Promise<RawOutcome>
  /** Delivers the attempt normally. */
  send(): RawOutcome | Promise<RawOutcome>
}

/** Role of a message in its workflow run. The queue calls these members, and the workflow engine implements them. */
export interface RunMessage {
  readonly runId: string
  /** Creation time of the run in virtual milliseconds. */
  readonly runCreatedAt: number
  readonly runUrl: string
  /** Fields that the trigger of the run asked to redact. */
  readonly redact: FieldRedaction | undefined
  /** Whether the run has ended. Then the message gets no further attempts. */
  readonly isOver: boolean
  /**
   * Whether the message is a workflow call. Only its last attempt sends a callback, and its failure is the result of
   * the step instead of a dead letter. [workflow.md 0, 1]
   */
  readonly isCall: boolean
  /**
   * Returns the step that the message submits, or for which it makes a call or carries a response; `undefined` if there
   * is none.
   */
  step(message: Message): { readonly stepName: string; readonly stepType: string } | undefined
  /** Returns the headers that deliveries of the message have in addition to those of every message, in its dialect. */
  headers(message: Message): HeaderList
  /** Returns the body that deliveries of the message have. */
  body(message: Message): Bytes
  /** Returns the SHA-256 of the body, if it is known without reading the whole body. */
  bodyHash(message: Message): Bytes | undefined
  /**
   * Returns why the message fails although the response was successful; `undefined` if the response is valid.
   * [workflow.md 2.5]
   */
  wrongWith(message: Message, reply: RunReply): string | undefined
  /** Returns the role that a callback about this message has in the run; `undefined` if it has none. */
  reporter(kind: 'callback' | 'failure-callback'): RunMessage | undefined
  /** Adds the fields of the workflow to the body of a callback. */
  reported(body: Record<string, unknown>): Record<string, unknown>
  /** Returns the fields that the workflow run adds to the dead letter of the message. */
  deadLetter(): Record<string, unknown>
  /** State of the run's failure function. */
  readonly failureFunctionState: string | undefined
  accepted(message: Message): void
  /** Responds with the stub of the step that this delivery would run. Returns `undefined` if no stub applies. */
  stage?(delivery: StubbableDelivery): Promise<RawOutcome> | undefined
  begins(message: Message): void
  /**
   * Handles the end of an attempt. The message may have ended with it. Callbacks about the attempt were accepted
   * before.
   */
  ends(message: Message, reply: RunReply, error: string | undefined): void
  /** Handles a message that ended without another attempt, because it was canceled or a fault dropped it. */
  left(message: Message): void
  /** Handles a message that became a dead letter, before its failure callback is accepted. */
  failed(message: Message, reply: RunReply, dlqId: string): void
}
