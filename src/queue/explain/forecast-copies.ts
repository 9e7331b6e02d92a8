import type { HeapItem } from '../../kernel/heap.js'
import { type FlowCaller, FlowKey } from '../delivery/flow-key.js'
import { FifoQueue } from '../message/fifo-queue.js'
import type { Message } from '../message/message.js'
import { type MessageEvent, type MessageState, next } from '../message/state.js'
import type { FlowControlLimits, PublishSettings } from '../settings/message-settings.js'

// State of a forecast: copies of messages, keys and queues, which no other code uses.

/** Condition for the start of an attempt. */
export type Cause =
  | {
      readonly kind: 'answer'
      /** Messages whose responses matter. */
      readonly of: readonly ForecastMessage[]
      /** Whether one of the responses must come first; otherwise they only influence the start. */
      readonly first: boolean
    }
  | { readonly kind: 'pause'; readonly of: 'queue' | 'flowControlKey'; readonly name: string }

/** Copy of a message, or a message that a schedule will publish. */
export class ForecastMessage implements FlowCaller {
  state: MessageState
  /** Start time of its next attempt; with a cause, the earliest possible start time. */
  start: number | undefined
  cause: Cause | undefined
  lane: FifoQueueCopy | undefined
  key: KeyCopy | undefined
  /** Message that this callback reports. */
  source: ForecastMessage | undefined
  /** Callbacks about it that have not ended. */
  readonly reports: ForecastMessage[] = []
  /** Number of callbacks about it that have not ended, and of those that cannot have ended yet. */
  openCallbacks = 0
  unmadeReports = 0
  /** Forecasts do not drain, so every item counts as awaited. */
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

/** Time from which the deliveries of a key are unknown, with the facts known at that time. */
interface UnknownAfter {
  readonly since: number
  /** Number of deliveries that fit into the period of that time, and the end of the period. */
  readonly left: number
  readonly end: number
  readonly cause: Cause
  /** Whether the items that waited at that time are affected, too. */
  readonly isHard: boolean
  /** Whether the limits are unknown as well. */
  hasUnknownLimits: boolean
  /** Number of messages that go before the next item. */
  ahead: number
}

/** Flow-control key whose deliveries are known until one of them depends on a response. */
export class KeyCopy extends FlowKey<ForecastMessage> {
  /** Time at which it checks its wait list again. */
  wake: { readonly at: number } | undefined
  /** Timer of the engine for this check; its sequence orders it among events of the same instant. */
  timer: HeapItem | undefined
  loose: UnknownAfter | undefined
  /** Items whose start is unknown and may not have happened yet. */
  readonly unknown: Set<ForecastMessage> = new Set()
  /** Whether a message may bring other limits, so that a wait may end without responses of the slot holders. */
  mayChange = false
  /** Limits that callbacks may bring at an unknown time. */
  readonly strangeLimits: { readonly limits: FlowControlLimits; readonly cause: Cause }[] = []
  /** Number of deliveries that may start at unknown times. */
  #possible = 0
  /** Deliveries of the first period, and of later ones that are known. */
  #initial = { calls: 0, until: Number.NEGATIVE_INFINITY }
  #recent: number[] = []

  /** Copies the state of the engine's key. */
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

  /** Registers deliveries that may start from now on at unknown times. */
  disturb(at: number, cause: Cause, calls: number): void {
    this.#possible += calls
    this.loose ??= this.#looseness(at, cause, false, this.held.size)
  }

  /** Marks the start of waiting items as unknown, too. */
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
   * Returns the earliest start of an item with this many deliveries before it since the key's deliveries are unknown.
   */
  earliest(ahead: number): number {
    const { since, left, end, hasUnknownLimits } = this.loose!
    if (this.rateMax === undefined || hasUnknownLimits || ahead < left) return since
    return end + Math.floor((ahead - left) / Math.max(1, this.rateMax)) * this.#period
  }

  /** Whether an item starts immediately, regardless of deliveries at unknown times. */
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

/** FIFO queue whose slots are known until a message that holds one may have received a response. */
export class FifoQueueCopy extends FifoQueue<ForecastMessage> {
  /** Responses of messages that may have left, so that the next message is unknown. */
  cause: Cause | undefined
  /**
   * Deliveries per key by messages that left earlier. Each has made one, except those that may run at the same time.
   */
  readonly passed: Map<KeyCopy, number> = new Map()
}

/** Schedule, as far as its messages affect waiting messages. */
export interface ScheduleCopy {
  readonly id: string
  readonly isPaused: boolean
  readonly next: HeapItem | undefined
  slotAfter(at: number): number | undefined
  /** Settings of the messages of each firing. */
  readonly publishes: readonly PublishSettings[]
}
