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

/** Where a message came from; shared by all messages of one publish to one place. */
export interface MessageOrigin {
  readonly callerIp: string
  readonly region: string
  readonly urlGroup?: string | undefined
  readonly endpointName?: string | undefined
  readonly scheduleId?: string | undefined
  /** `seq` of the traffic entry that led here. */
  readonly cause?: number | undefined
}

/** What is known of a message before it has an id. */
export interface Draft {
  readonly kind: MessageKind
  readonly url: string
  readonly body: Bytes
  readonly settings: PublishSettings
  readonly origin: MessageOrigin
  /** For callbacks: the message whose delivery is reported. */
  readonly source?: Message | undefined
  /** `false`: published by a schedule while time was draining. */
  readonly awaited?: boolean
  /** For messages of a workflow run. */
  readonly part?: RunMessage | undefined
  /** It waits for the answer of the call that submits it: `Courier.letGo()`. [workflow.md 0, 11] */
  readonly held?: boolean
}

/** Who delivers a message when it is due. */
export interface MessageCarrier {
  due(message: Message, task: Task): Promise<void> | void
}

/** What is said about a message, here and by a remote sandbox. Times are virtual milliseconds since the Unix epoch. */
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

/** One message to one url, from its acceptance to its end. */
export class Message {
  static {
    loggedAsJson(Message)
  }

  readonly id: string
  /** @internal */
  readonly seq: number
  /** Creation, in virtual milliseconds. */
  readonly createdAt: number
  readonly notBefore: number
  /** @internal */
  private readonly carrier: MessageCarrier
  /** The last line of the log about it; the service's own words for it. */
  state: LoggedState = 'CREATED'
  /** What moves it on. @internal */
  delivery: MessageState
  /** @internal */
  gone = false
  /** Attempts made so far, those of duplicates and of runs by hand too. @internal */
  attempts = 0
  /** Fires when it is due: the courier's, while it is planned. @internal */
  timer: Timer | undefined
  /** The queue it stands in. @internal */
  lane: FifoQueue<Message> | undefined
  /** A drain waits for it; not for what a schedule published while time was draining. @internal */
  awaited: boolean
  /** Callbacks that have not ended: a queue waits for them. @internal */
  openCallbacks = 0
  /** Faults that the next attempt meets; empty when rules were asked and none struck. @internal */
  declare injections?: readonly Injection[] | undefined
  /** What it has to do with a workflow run; most messages belong to none. @internal */
  declare part?: RunMessage
  /** @internal */
  lastLog: LogEntry | undefined
  /** `seq` of the traffic entry about it that the next one follows from. @internal */
  lastEntrySeq = 0
  readonly kind: MessageKind
  readonly url: string
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

  /** It is due: what its timer calls. @internal */
  fire(task: Task): Promise<void> | void {
    return this.carrier.due(this, task)
  }

  get maxRetries(): number {
    return this.settings.retries
  }

  get method(): string {
    return this.settings.method
  }

  /** What the destination gets by configuration: Content-Type and forwarded headers, in canonical spelling. @internal */
  get headers(): HeaderList {
    return this.settings.headers
  }

  /** When the next delivery is due, or was. */
  get nextAttemptAt(): number {
    return this.delivery.due
  }

  /** Retries made so far: the number of the running or the next attempt, counted from 0. */
  get retried(): number {
    return this.delivery.retried
  }

  /** An attempt runs. @internal */
  get running(): boolean {
    return this.delivery.is === 'running'
  }

  get isEnded(): boolean {
    return this.delivery.is === 'ended'
  }

  /** A cancel was requested, whether or not it has ended. @internal */
  get cancelRequested(): boolean {
    return this.delivery.asked === 'end'
  }

  /** Whether the API still shows it: a message with a pending cancel is gone. [queue.md 4.2, choice] @internal */
  get visible(): boolean {
    const { is, asked } = this.delivery
    return is !== 'ended' && asked !== 'end'
  }

  toJSON(): MessageView {
    const {
      id,
      kind,
      url,
      method,
      body,
      state,
      createdAt: time,
      notBefore,
      nextAttemptAt: due,
      retried,
      maxRetries,
      isEnded: ended,
    } = this
    return {
      id,
      kind,
      url,
      method,
      body,
      state,
      createdAt: time,
      notBefore,
      nextAttemptAt: due,
      retried,
      maxRetries,
      isEnded: ended,
    }
  }
}

/** What an entry says beyond its state. */
export interface LogDetail {
  readonly nextDeliveryTime?: number
  readonly error?: string
  readonly response?: { readonly status: number; readonly headers: HeaderList; readonly body: Bytes }
}

/** One line of the log: a message entered a state. */
export class LogEntry implements IndexedRecord {
  gone = false
  /** The entry before it about the same message. */
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

/** What messages, log entries and dead letters are found by. [queue.md 1.5, 1.9, 1.10] */
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

/** The same fields of something that belongs to a message. */
export function fieldsThrough<T extends { readonly message: Message }>(): Record<string, RecordField<T>> {
  return Object.fromEntries(
    Object.entries(messageFields).map(([name, field]) => [name, (record: T) => field(record.message)]),
  )
}

/** Of what a sandbox keeps, the log of messages has at most so much; so have dead letters, and what is known for deduplication. */
export const messagesShare: number = 1 / 16

/** The log of all messages, newest last, within its retention. */
export class MessageLog {
  readonly #records = new Records<LogEntry>({ ...fieldsThrough<LogEntry>(), state: (entry) => entry.state })
  readonly #retention: number
  readonly #onForgotten: (message: Message) => void
  readonly #kept: Account
  #sequence = 0
  #prunedAt = -1

  /**
   * @param onForgotten called when the last entry about a message leaves the log
   * @param kept what it may hold: beyond it the oldest entries go before their time
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

  /** Drops what is older than the retention. */
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

  /** Entries about one message, oldest first, without asking an index. */
  about(message: Message): readonly LogEntry[] {
    const entries: LogEntry[] = []
    for (let entry = message.lastLog; entry !== undefined && !entry.gone; entry = entry.previous) entries.unshift(entry)
    return entries
  }
}

/** What an entry takes, and the indexes that find it. */
const entryBytes = 100
/** What a message takes beside what it brought, told by its first entry. */
const messageBytes = 400

function weightOf({ previous, message, detail }: LogEntry): number {
  const weight = entryBytes + (detail?.response?.body.length ?? 0)
  return previous === undefined ? weight + weightOfMessage(message) : weight
}

export function weightOfMessage({ url, body, settings }: Message): number {
  return messageBytes + url.length + body.length + weightOfHeaders(settings.headers)
}

/** An answer, as far as a run looks at it. */
export interface RunReply {
  /** 0 without an answer. */
  readonly status: number
  readonly headers: HeaderList
  readonly body: Bytes
  /** Why there is no answer. */
  readonly error?: string | undefined
}

/** What came back of a delivery: an answer, or why there is none. */
export interface RawOutcome extends RunReply {
  readonly error?: string
  /** What really happened where the queue saw less. */
  readonly note?: string
  /** Nothing will come: the attempt ends with its timeout. */
  readonly never?: true
  /** It was given as data, so that no code saw the delivery. */
  readonly isGiven?: true
}

/** A delivery on its way to the endpoint of a run. */
export interface StubbableDelivery {
  readonly message: Message
  /** Of the attempt's traffic entry. */
  readonly seq: number
  /** Asks the endpoint with another body: unseen by logs and recorders, and in no time. */
  probe(body: Bytes): RawOutcome | Promise<RawOutcome>
  /** Delivers as if nothing had been asked. */
  send(): RawOutcome | Promise<RawOutcome>
}

/** What a message has to do with the workflow run that it belongs to. The queue asks, the workflow room answers. */
export interface RunMessage {
  readonly runId: string
  /** Virtual milliseconds. */
  readonly runCreatedAt: number
  readonly runUrl: string
  /** What the trigger of the run hides. */
  readonly redact: FieldRedaction | undefined
  /** The run has ended: what is left of the message is dropped. */
  readonly isOver: boolean
  /** Whether only its last attempt is reported, and failing is a result instead of a dead letter. [workflow.md 0, 1] */
  readonly isCall: boolean
  /** The step that it carries or is made for; `undefined` where it speaks of none. */
  step(message: Message): { readonly stepName: string; readonly stepType: string } | undefined
  /** Headers of its deliveries beside those of every message, in the words of the message. */
  headers(message: Message): HeaderList
  /** What its deliveries carry. */
  body(message: Message): Bytes
  /** SHA-256 of that, where it is known without another look at all of it. */
  bodyHash(message: Message): Bytes | undefined
  /** Why a successful answer fails the message at once, if it does. [workflow.md 2.5] */
  wrongWith(message: Message, reply: RunReply): string | undefined
  /** What a message that reports on it is to the run. */
  reporter(kind: 'callback' | 'failure-callback'): RunMessage | undefined
  /** What a report says of it beyond what every report says. */
  reported(body: Record<string, unknown>): Record<string, unknown>
  /** What its dead letter tells of the run. */
  deadLetter(): Record<string, unknown>
  /** How the failure function of the run stands. */
  readonly failureFunctionState: string | undefined
  accepted(message: Message): void
  /** What a test has made of the step that this delivery would run; `undefined` for an ordinary delivery. */
  stage?(delivery: StubbableDelivery): Promise<RawOutcome> | undefined
  begins(message: Message): void
  /** An attempt has ended, the message perhaps too. Reports on it have been accepted. */
  ends(message: Message, reply: RunReply, error: string | undefined): void
  /** It ended without another attempt: it was cancelled, or a fault made it vanish. */
  left(message: Message): void
  /** It is a dead letter now; its failure callback has not been accepted yet. */
  failed(message: Message, reply: RunReply, dlqId: string): void
}
