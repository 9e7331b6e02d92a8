import type { HeapItem } from '../../kernel/heap.js'
import { type FlowCaller, FlowKey } from '../delivery/flow-key.js'
import { FifoQueue } from '../message/fifo-queue.js'
import type { Message } from '../message/message.js'
import { type MessageEvent, type MessageState, next } from '../message/state.js'
import type { FlowControlLimits, PublishSettings } from '../settings/message-settings.js'

// What a forecast plays with: copies of messages, keys and queues, which nobody else sees.

/** What the start of an attempt depends on. */
export type Cause =
  | {
      readonly kind: 'answer'
      /** Whose answers. */
      readonly of: readonly ForecastMessage[]
      /** One of them has to come first; else they only decide. */
      readonly first: boolean
    }
  | { readonly kind: 'pause'; readonly of: 'queue' | 'flowControlKey'; readonly name: string }

/** A message, or one that a schedule will publish. */
export class ForecastMessage implements FlowCaller {
  state: MessageState
  /** When its next attempt starts; where there is a cause, the earliest that this can be. */
  start: number | undefined
  cause: Cause | undefined
  lane: FifoQueueCopy | undefined
  key: KeyCopy | undefined
  /** The message that it reports on. */
  source: ForecastMessage | undefined
  /** Reports on it that have not ended. */
  readonly reports: ForecastMessage[] = []
  /** Reports on it that have not ended, and those of them that cannot have ended yet. */
  openCallbacks = 0
  unmadeReports = 0
  /** A forecast has no drains. */
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

  /** @returns whether that changed anything */
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

  /** Attempts that may follow the next one, or the one that runs. */
  get retriesLeft(): number {
    return Math.max(0, this.settings.retries - this.state.retried)
  }
}

/** From when on a key's calls are not known any more, and what was known then. */
interface UnknownAfter {
  readonly since: number
  /** Calls that fit into the period that ran then, and its end. */
  readonly left: number
  readonly end: number
  readonly cause: Cause
  /** Who was in line then is concerned, too. */
  readonly isHard: boolean
  /** Nothing is known of the limits either. */
  hasUnknownLimits: boolean
  /** Messages that go before whoever comes next. */
  ahead: number
}

/** A flow-control key, whose calls are known until something depends on an answer. */
export class KeyCopy extends FlowKey<ForecastMessage> {
  /** When it looks at its line again. */
  wake: { readonly at: number } | undefined
  /** The timer that does so in the engine: what is due at the same instant comes before it or after it. */
  timer: HeapItem | undefined
  loose: UnknownAfter | undefined
  /** Whose start is not known, and may not have been yet. */
  readonly unknown: Set<ForecastMessage> = new Set()
  /** Something may bring other limits: a wait may end without an answer of those who hold its slots. */
  mayChange = false
  /** Limits that reports may bring at an unknown time. */
  readonly strangeLimits: { readonly limits: FlowControlLimits; readonly cause: Cause }[] = []
  /** Calls that may come at unknown times. */
  #possible = 0
  /** Calls of the present period at first, and of later ones that are known. */
  #initial = { calls: 0, until: Number.NEGATIVE_INFINITY }
  #recent: number[] = []

  /** It is as in the engine now. */
  begin(timer: HeapItem | undefined): void {
    this.timer = timer
    this.#initial = { calls: this.rateCount, until: this.periodEnd() }
  }

  override take(item: ForecastMessage, at: number): void {
    super.take(item, at)
    this.#recent.push(at)
  }

  /** Those who are held, who are not any more. */
  *leaving(): Iterable<ForecastMessage> {
    while (this.held.size > 0) {
      const item = this.held.shift()
      if (item !== undefined) yield item
    }
  }

  get #period(): number {
    return this.ratePeriod * 1000
  }

  /** Calls may come from now on that nobody knows of. */
  disturb(at: number, cause: Cause, calls: number): void {
    this.#possible += calls
    this.loose ??= this.#looseness(at, cause, false, this.held.size)
  }

  /** Nothing is known any more of those in line either. */
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

  /** Before when nobody can start who has so many calls before him since the key's calls are unknown. */
  earliest(ahead: number): number {
    const { since, left, end, hasUnknownLimits } = this.loose!
    if (this.rateMax === undefined || hasUnknownLimits || ahead < left) return since
    return end + Math.floor((ahead - left) / Math.max(1, this.rateMax)) * this.#period
  }

  /** Whether a message starts at once, whatever comes at unknown times. */
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

/** A FIFO queue, whose slots are known until a message that holds one may have answered. */
export class FifoQueueCopy extends FifoQueue<ForecastMessage> {
  /** Who may have left, so that it is not known who comes next. */
  cause: Cause | undefined
  /** Calls of keys by those who left before: each of them made one, but for those beside whom one may stand. */
  readonly passed: Map<KeyCopy, number> = new Map()
}

/** A schedule, as far as messages that wait meet what it publishes. */
export interface ScheduleCopy {
  readonly id: string
  readonly isPaused: boolean
  readonly next: HeapItem | undefined
  slotAfter(at: number): number | undefined
  /** What each of its triggers publishes. */
  readonly publishes: readonly PublishSettings[]
}
