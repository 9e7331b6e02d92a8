import type { Strike } from '../../faults/fault.js'
import type { Bytes } from '../../kernel/bytes.js'
import type { HeaderList } from '../../kernel/http.js'
import type { Filed } from '../../kernel/records.js'
import type { Task, Timer, TimerTarget } from '../../kernel/time.js'
import type { MessageKind } from '../../kernel/traffic.js'
import { loggedAsJson } from '../../kernel/views.js'
import type { PublishSettings } from '../settings/settings.js'
import type { Lane } from './lane.js'
import type { LogEntry } from './log.js'
import type { RunPart } from './run-part.js'

/** States of the log. [queue.md 4.1] */
export type MessageState =
  | 'CREATED'
  | 'ACTIVE'
  | 'ERROR'
  | 'RETRY'
  | 'DELIVERED'
  | 'FAILED'
  | 'CANCEL_REQUESTED'
  | 'CANCELLED'

/** Where a message came from; shared by all messages of one publish to one place. */
export interface Origin {
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
  readonly origin: Origin
  /** For callbacks: the message whose delivery is reported. */
  readonly source?: Message | undefined
  /** `false`: published by a schedule while time was draining. */
  readonly awaited?: boolean
  /** For messages of a workflow run. */
  readonly part?: RunPart | undefined
  /** Not delivered before `Courier.letGo()`. */
  readonly held?: boolean
}

/** How long to wait before the next attempt, and by which rule: a sentence part for timelines. */
export interface RetryWait {
  /** Milliseconds. */
  readonly delay: number
  readonly reason: string
}

/** A place in a wait list. A message that leaves early is skipped when its turn comes. */
export interface WaitTicket {
  readonly message: Message
  readonly since: number
  /** A drain waits for it. */
  readonly awaited: boolean
  live: boolean
}

/** Who delivers a message when it is due. */
export interface Carrier {
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
  | 'time'
  | 'notBefore'
  | 'due'
  | 'retried'
  | 'maxRetries'
  | 'ended'
>

/** One message to one url, from its acceptance to its end. */
export class Message implements Filed, TimerTarget {
  static {
    loggedAsJson(Message)
  }

  state: MessageState = 'CREATED'
  gone = false
  /** Retries made so far: the number of the running or the next attempt, counted from 0. */
  retried = 0
  /** Attempts made so far, those of duplicates and of runs by hand too. */
  attempts = 0
  /** When the next delivery is due, or was. */
  due: number
  /** Why the next attempt has to wait. */
  wait: RetryWait | undefined
  /** Its place in a wait list of flow control; kept until its attempt starts. */
  ticket: WaitTicket | undefined
  /** An attempt runs. */
  running = false
  /** Flow control has a slot for it and its attempt is about to start. */
  admitted = false
  timer: Timer | undefined
  /** The queue it stands in. */
  lane: Lane | undefined
  /** A drain waits for it; not for what a schedule published while time was draining. */
  awaited: boolean
  /** Callbacks that have not ended: a queue waits for them. */
  openCallbacks = 0
  cancelRequested = false
  /** Faults that the next attempt meets; empty when rules were asked and none struck. */
  declare strikes?: readonly Strike[] | undefined
  /** A fault made it vanish: nothing will be heard of it again. */
  declare vanished?: true
  /** What it has to do with a workflow run; most messages belong to none. */
  declare part?: RunPart
  /** It waits for the answer of the call that submitted it. [workflow.md 0, 11] */
  declare held?: boolean
  /** Released by hand: the next attempt happens now although it was not due. */
  releasedByHand = false
  lastLog: LogEntry | undefined
  /** `seq` of the traffic entry about it that the next one follows from. */
  trail = 0
  readonly kind: MessageKind
  readonly url: string
  readonly body: Bytes
  readonly settings: PublishSettings
  readonly origin: Origin
  readonly source: Message | undefined

  constructor(
    readonly id: string,
    readonly seq: number,
    /** Creation, in virtual milliseconds. */
    readonly time: number,
    readonly notBefore: number,
    draft: Draft,
    private readonly carrier: Carrier,
  ) {
    this.kind = draft.kind
    this.url = draft.url
    this.body = draft.body
    this.settings = draft.settings
    this.origin = draft.origin
    this.source = draft.source
    this.awaited = draft.awaited ?? draft.source?.awaited ?? true
    this.due = notBefore
    if (draft.part !== undefined) this.part = draft.part
    if (draft.held === true) this.held = true
  }

  /** It is due: what its timer calls. */
  fire(task: Task): Promise<void> | void {
    return this.carrier.due(this, task)
  }

  get maxRetries(): number {
    return this.settings.retries
  }

  get method(): string {
    return this.settings.method
  }

  /** What the destination gets by configuration: Content-Type and forwarded headers, in canonical spelling. */
  get headers(): HeaderList {
    return this.settings.headers
  }

  get ended(): boolean {
    const { state } = this
    return state === 'DELIVERED' || state === 'FAILED' || state === 'CANCELLED' || this.vanished === true
  }

  /** Whether the API still shows it: a message with a pending cancel is gone. [queue.md 4.2, choice] */
  get visible(): boolean {
    return !this.ended && !this.cancelRequested
  }

  toJSON(): MessageView {
    const { id, kind, url, method, body, state, time, notBefore, due, retried, maxRetries, ended } = this
    return { id, kind, url, method, body, state, time, notBefore, due, retried, maxRetries, ended }
  }
}
