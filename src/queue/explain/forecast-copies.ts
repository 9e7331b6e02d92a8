import type { HeapItem } from '../../kernel/heap.js'
import { type FlowCaller, FlowKey } from '../delivery/flow-key.js'
import { FifoQueue } from '../message/fifo-queue.js'
import type { Message } from '../message/message.js'
import { type MessageEvent, type MessageState, next } from '../message/state.js'
import type { FlowControlLimits, PublishSettings } from '../settings/message-settings.js'

// State of a forecast: copies of messages, keys and queues. Changing them does not affect the engine.

/** Reason why the start time of an attempt is unknown: a missing response, or a pause without a known end. */
export type Cause =
  | {
      readonly kind: 'answer'
      /** Messages on whose responses the start depends. */
      readonly of: readonly ForecastMessage[]
      /**
       * Whether the attempt can start only after one of the responses. If `false`, the responses only affect its start.
       */
      readonly first: boolean
    }
  | { readonly kind: 'pause'; readonly of: 'queue' | 'flowControlKey'; readonly name: string }

/** Message of a forecast: a copy of a message of the engine, or one that a schedule will publish. */
export class ForecastMessage implements FlowCaller {
  state: MessageState
  /** Start time of its next attempt in milliseconds. If `cause` is set, it is the earliest possible start time. */
  start: number | undefined
  cause: Cause | undefined
  lane: FifoQueueCopy | undefined
  key: KeyCopy | undefined
  /** Message that this callback reports. */
  source: ForecastMessage | undefined
  /** Callbacks about this message that have not ended. */
  readonly reports: ForecastMessage[] = []
  /**
   * Number of callbacks about this message that have not ended. `unmadeReports` counts those whose response cannot have
   * arrived yet.
   */
  openCallbacks = 0
  unmadeReports = 0
  /** In a forecast, nothing drains time, so whether a drain waits for a message does not matter. */
  readonly awaited = true
  readonly seq: number

  constructor(
    readonly message: Message | undefined,
    readonly settings: PublishSettings,
    readonly notBefore: number,
    state: MessageState,
    readonly scheduleId?: string,
  ) {
    this.state = state
    this.seq = message?.seq ?? Number.POSITIVE_INFINITY
  }

  /**
   * Applies an event.
   * @returns whether the state changed
   */
  happens(event: MessageEvent): boolean {
    const before = this.state
    this.state = next(before, event)
    return this.state !== before
  }

  get nextAttemptAt(): number {
    return this.state.due
  }

  get isEnded(): boolean {
    return this.state.is === 'ended'
  }

  get visible(): boolean {
    return !this.isEnded && this.state.asked !== 'end'
  }

  get isAdmitted(): boolean {
    return this.state.is === 'planned' && this.state.heldSince !== undefined
  }

  /** Number of attempts that may follow the next or current one. */
  get retriesLeft(): number {
    return Math.max(0, this.settings.retries - this.state.retried)
  }
}

/** Facts about a flow-control key at the time (`since`) from which its deliveries are unknown. */
interface UnknownAfter {
  readonly since: number
  /**
   * Number of deliveries that the rate still allowed in the period at that time, and the end of that period in
   * milliseconds.
   */
  readonly left: number
  readonly end: number
  readonly cause: Cause
  /** Whether the start times of items that were held at that time are unknown, too. */
  readonly isHard: boolean
  /** Whether the limits of the key are unknown, too. */
  hasUnknownLimits: boolean
  /** Number of messages that certainly start before the next item. */
  ahead: number
}

/**
 * Flow-control key of a forecast. The times of its deliveries are known until a delivery depends on an unknown
 * response.
 */
export class KeyCopy extends FlowKey<ForecastMessage> {
  /** Time in milliseconds at which the key checks its wait list again; `undefined` if no check is planned. */
  wake: { readonly at: number } | undefined
  /** Timer of the engine for this check. Its sequence number gives the order among events at the same instant. */
  timer: HeapItem | undefined
  loose: UnknownAfter | undefined
  /** Items whose start time is unknown and that have not started in the forecast yet. */
  readonly unknown: Set<ForecastMessage> = new Set()
  /**
   * Whether a message may change the limits. Then held messages may start although all messages with a slot still run.
   */
  mayChange = false
  /** Limits that messages, such as callbacks, may set at an unknown time. */
  readonly strangeLimits: { readonly limits: FlowControlLimits; readonly cause: Cause }[] = []
  /** Number of deliveries that may start at unknown times. */
  #possible = 0
  /** Number of deliveries in the period in which the forecast begins, and the end of that period. */
  #initial = { calls: 0, until: Number.NEGATIVE_INFINITY }
  #recent: number[] = []

  /** Completes the copy of a key with the engine's timer, and stores the state at the beginning of the forecast. */
  begin(timer: HeapItem | undefined): void {
    this.timer = timer
    this.#initial = { calls: this.rateCount, until: this.periodEnd() }
  }

  override take(item: ForecastMessage, at: number): void {
    super.take(item, at)
    this.#recent.push(at)
  }

  /** Removes and yields all held items. */
  *leaving(): Iterable<ForecastMessage> {
    while (this.held.size > 0) {
      const item = this.held.shift()
      if (item !== undefined) yield item
    }
  }

  get #period(): number {
    return this.ratePeriod * 1000
  }

  /** Adds a number of deliveries that may start at unknown times from now on. */
  disturb(at: number, cause: Cause, calls: number): void {
    this.#possible += calls
    this.loose ??= this.#looseness(at, cause, false, this.held.size)
  }

  /** Marks the start times of held items as unknown, too. */
  harden(at: number, cause: Cause, hasUnknownLimits = false): void {
    this.loose = { ...this.#looseness(at, cause, true, 0), hasUnknownLimits }
  }

  #looseness(since: number, cause: Cause, isHard: boolean, ahead: number): UnknownAfter {
    const most = Math.max(1, this.rateMax ?? 1)
    const isRunning = since < this.periodEnd()
    const left = (isRunning ? Math.max(0, most - this.rateCount) : most) + (this.overdue?.room ?? 0)
    const end = isRunning ? this.periodEnd() : since + this.#period
    return { since, left, end, cause, isHard, hasUnknownLimits: false, ahead }
  }

  /**
   * Returns the earliest start time of an item in milliseconds. `ahead` is the number of deliveries before it, counted
   * from the time at which they became unknown.
   */
  earliest(ahead: number): number {
    const { since, left, end, hasUnknownLimits } = this.loose!
    if (this.rateMax === undefined || hasUnknownLimits || ahead < left) return since
    return end + Math.floor((ahead - left) / Math.max(1, this.rateMax)) * this.#period
  }

  /**
   * Whether an item certainly starts immediately: the limits allow it even if all deliveries at unknown times happen
   * first.
   */
  fits(at: number): boolean {
    const { loose } = this
    if (loose === undefined || loose.isHard || this.held.size > 0) return false
    if (this.parallelismMax !== undefined && this.running.size + this.#possible >= this.parallelismMax) return false
    if (this.rateMax === undefined) return true
    if (this.#recent[0] !== undefined && this.#recent[0] <= at - this.#period)
      this.#recent = this.#recent.filter((call) => call > at - this.#period)
    const known = this.#recent.length + (at < this.#initial.until ? this.#initial.calls : 0)
    return known + this.#possible < this.rateMax
  }
}

/** FIFO queue of a forecast. Its free slots are known until a message with a slot may have received a response. */
export class FifoQueueCopy extends FifoQueue<ForecastMessage> {
  /** Responses on which it depends which messages have left; `undefined` while this is known. */
  cause: Cause | undefined
  /**
   * Number of messages of each key that arrived at unknown times. Each of them has made a delivery before the next one,
   * unless both have a slot at the same time.
   */
  readonly passed: Map<KeyCopy, number> = new Map()
}

/** Facts about a schedule that determine how its messages affect waiting messages. */
export interface ScheduleCopy {
  readonly id: string
  readonly isPaused: boolean
  readonly next: HeapItem | undefined
  slotAfter(at: number): number | undefined
  /** Settings of the messages of each firing. */
  readonly publishes: readonly PublishSettings[]
}
