import type { HeapItem } from '../../kernel/heap.js'
import { type FlowCaller, FlowKey } from '../delivery/flow-key.js'
import { FifoQueue } from '../message/fifo-queue.js'
import type { Message } from '../message/message.js'
import { type MessageEvent, type MessageState, next } from '../message/state.js'
import type { FlowControlLimits, PublishSettings } from '../settings/message-settings.js'

// State of a forecast: copies of messages, keys and queues. A forecast changes only these copies and never the queue
// itself.

/** Reason why the start time of an attempt is unknown: a missing response, or a pause without a known end. */
export type Cause =
  | {
      readonly kind: 'answer'
      /** Messages whose responses decide the start. */
      readonly of: readonly ForecastMessage[]
      /**
       * `true`: the attempt cannot start before one of these responses. `false`: the attempt can start earlier, but a
       * response may change its start.
       */
      readonly first: boolean
    }
  | { readonly kind: 'pause'; readonly of: 'queue' | 'flowControlKey'; readonly name: string }

/**
 * Message of a forecast, called an item: a copy of a message in the queue, or a message that a schedule will publish.
 */
export class ForecastMessage implements FlowCaller {
  state: MessageState
  /** Start time of the item's next attempt in milliseconds. If `cause` is set, the earliest possible start time. */
  start: number | undefined
  cause: Cause | undefined
  lane: FifoQueueCopy | undefined
  key: KeyCopy | undefined
  /** If this item is a callback: the message that it reports. */
  source: ForecastMessage | undefined
  /** Callbacks that report attempts of this message and have not ended. */
  readonly reports: ForecastMessage[] = []
  /**
   * `openCallbacks` is the number of callbacks of this message that have not ended. `unmadeReports` counts those of
   * them that cannot have a response yet.
   */
  openCallbacks = 0
  unmadeReports = 0
  /** Always `true`: a forecast never drains time, so this field of `FlowCaller` has no effect. */
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

  /** Number of retries that may follow the current or next attempt. */
  get retriesLeft(): number {
    return Math.max(0, this.settings.retries - this.state.retried)
  }
}

/** State of a flow-control key at the time `since`. From this time on, the times of its deliveries are unknown. */
interface UnknownAfter {
  readonly since: number
  /**
   * `left`: number of deliveries that the rate still allowed in the period at the time `since`. `end`: end of that
   * period in milliseconds.
   */
  readonly left: number
  readonly end: number
  readonly cause: Cause
  /** Whether the start times of the items that were held at the time `since` are unknown, too. */
  readonly isHard: boolean
  /** Whether the limits of the key are unknown, too. */
  hasUnknownLimits: boolean
  /** Number of items that certainly start before the next item that arrives. */
  ahead: number
}

/**
 * Flow-control key of a forecast. The times of its deliveries are known, until one of them depends on an unknown
 * response.
 */
export class KeyCopy extends FlowKey<ForecastMessage> {
  /** Time in milliseconds of the next check of the wait list. `undefined` if no check is planned. */
  wake: { readonly at: number } | undefined
  /** Timer of the real queue for this check. Its sequence number orders the check among events of the same instant. */
  timer: HeapItem | undefined
  loose: UnknownAfter | undefined
  /** Items that have not started yet and whose start time is unknown. */
  readonly unknown: Set<ForecastMessage> = new Set()
  /** Whether a message may change the limits. If so, held messages may start before any message frees its slot. */
  mayChange = false
  /** Limits that a message may set at an unknown time, for example a callback. */
  readonly strangeLimits: { readonly limits: FlowControlLimits; readonly cause: Cause }[] = []
  /** Number of deliveries that may happen at unknown times. */
  #possible = 0
  /**
   * `until`: end of the rate period that is current when the forecast begins. `calls`: number of deliveries in it
   * before the forecast.
   */
  #initial = { calls: 0, until: Number.NEGATIVE_INFINITY }
  #recent: number[] = []

  /** Stores the timer of the real queue, and the state of the rate period when the forecast begins. */
  begin(timer: HeapItem | undefined): void {
    this.timer = timer
    this.#initial = { calls: this.rateCount, until: this.periodEnd() }
  }

  override take(item: ForecastMessage, at: number): void {
    super.take(item, at)
    this.#recent.push(at)
  }

  *leaving(): Iterable<ForecastMessage> {
    while (this.held.size > 0) {
      const item = this.held.shift()
      if (item !== undefined) yield item
    }
  }

  get #period(): number {
    return this.ratePeriod * 1000
  }

  /** Notes that `calls` further deliveries may happen at unknown times, from the time `at` on. */
  disturb(at: number, cause: Cause, calls: number): void {
    this.#possible += calls
    this.loose ??= this.#looseness(at, cause, false, this.held.size)
  }

  /** Notes that the start times of the held items are unknown, from the time `since` on. */
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
   * Returns the earliest possible start time of an item in milliseconds. `ahead` is the number of deliveries that come
   * before it, counted from the time `since`.
   */
  earliest(ahead: number): number {
    const { since, left, end, hasUnknownLimits } = this.loose!
    if (this.rateMax === undefined || hasUnknownLimits || ahead < left) return since
    return end + Math.floor((ahead - left) / Math.max(1, this.rateMax)) * this.#period
  }

  /**
   * Whether an item certainly starts now. It starts if the limits allow its delivery even after all deliveries that may
   * happen at unknown times.
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

/** FIFO queue of a forecast. Its free slots are known as long as no message with a slot can have its response. */
export class FifoQueueCopy extends FifoQueue<ForecastMessage> {
  /** Responses that decide which slots are free. `undefined` while the free slots are known. */
  cause: Cause | undefined
  /**
   * Number of messages of this queue that arrived at each flow-control key at an unknown time. Messages arrive one
   * after another as slots become free. So a later message comes after the deliveries of the earlier messages, except
   * for messages that may hold the other slots.
   */
  readonly passed: Map<KeyCopy, number> = new Map()
}

/** Facts about a schedule that decide how its messages affect waiting messages. */
export interface ScheduleCopy {
  readonly id: string
  readonly isPaused: boolean
  readonly next: HeapItem | undefined
  slotAfter(at: number): number | undefined
  /** Settings of the messages that each firing publishes. */
  readonly publishes: readonly PublishSettings[]
}
