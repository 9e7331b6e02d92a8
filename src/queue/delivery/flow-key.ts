import { formatDuration } from '../../kernel/duration.js'
import { FifoList } from '../message/fifo-list.js'
import type { Message } from '../message/message.js'
import type { FlowControlLimits, PublishSettings } from '../settings/message-settings.js'

// Flow control as plain values: no function here reads a clock, writes a log, draws or calls back.

/** Message as flow control sees it. */
export interface FlowCaller {
  /** Sequence number; later messages have a higher one. */
  readonly seq: number
  readonly nextAttemptAt: number
  /** Whether a drain waits for it. */
  readonly awaited: boolean
  readonly settings: Pick<PublishSettings, 'flowControl'>
}

/** Callers that are held, in the order of arrival. */
export class WaitList<C extends FlowCaller> {
  readonly #line = new FifoList<C | undefined>()
  /** Callers that left early; `shift()` skips their places. */
  readonly #left = new Set<C>()
  /** Callers for which no drain waits. */
  readonly #unawaited = new Set<C>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Number of places, including those of callers that have left. */
  get places(): number {
    return this.#line.length
  }

  /** Whether a drain waits for any of the callers. */
  get awaited(): boolean {
    return this.#size > this.#unawaited.size
  }

  enter(caller: C): void {
    this.#line.push(caller)
    this.#size++
    if (!caller.awaited) this.#unawaited.add(caller)
  }

  /** Removes a caller that will not be admitted; its place is skipped later. */
  leave(caller: C): void {
    this.#left.add(caller)
    this.#forget(caller)
  }

  /** Moves the caller in this place to the front, for a random order. */
  promote(place: number): void {
    this.#line.promote(place)
  }

  /**
   * Removes the first place.
   * @returns its caller, unless the caller has left
   */
  shift(): C | undefined {
    const caller = this.#line.shift()
    if (caller === undefined || (this.#left.size > 0 && this.#left.delete(caller))) return undefined
    this.#forget(caller)
    return caller
  }

  #forget(caller: C): void {
    this.#size--
    if (this.#unawaited.size > 0) this.#unawaited.delete(caller)
  }

  all(): readonly C[] {
    return this.#line.all().filter((caller) => caller !== undefined && !this.#left.has(caller)) as C[]
  }

  /**
   * Copies the places to another, empty list.
   * @param of maps a caller; `undefined` leaves its place empty
   */
  copyTo<D extends FlowCaller>(list: WaitList<D>, of: (caller: C) => D | undefined): void {
    for (const caller of this.#line.all()) {
      const other = caller === undefined || this.#left.has(caller) ? undefined : of(caller)
      if (other === undefined) list.#line.push(undefined)
      else list.enter(other)
    }
  }
}

/** Limits and counters of one flow-control key, with the callers that wait for it. [queue.md 6.2] */
export class FlowKey<C extends FlowCaller = Message> {
  parallelismMax: number | undefined
  rateMax: number | undefined
  /** Rate period in seconds. */
  ratePeriod = 1
  rateCount = 0
  /** Start of the rate period in milliseconds; `undefined` before the first delivery. */
  ratePeriodStart: number | undefined
  pinnedParallelism = false
  pinnedRate = false
  paused = false
  /** `seq` of the latest message. */
  latestSeq = 0
  /** Deliveries left for messages that were due before a manual restart of the period; they count in the previous one. */
  overdue: { readonly upTo: number; readonly at: number; readonly room: number } | undefined
  readonly running: Set<C> = new Set()
  readonly held: WaitList<C> = new WaitList()

  constructor(readonly key: string) {}

  get parallelismCount(): number {
    return this.running.size
  }

  get waitListSize(): number {
    return this.held.size
  }

  periodEnd(): number {
    return (this.ratePeriodStart ?? Number.NEGATIVE_INFINITY) + this.ratePeriod * 1000
  }

  /** Returns the start of the current period in milliseconds. A period without deliveries follows the previous one. */
  presentPeriodStart(now: number): number {
    const { ratePeriodStart: start = now } = this
    const length = this.ratePeriod * 1000
    return start + Math.floor(Math.max(0, now - start) / length) * length
  }

  /** Resets the count when the period has ended. */
  refresh(now: number): void {
    if (now >= this.periodEnd()) this.rateCount = 0
  }

  hasRoom(now: number): boolean {
    this.refresh(now)
    return this.hasSlot() && this.hasRate(now)
  }

  /** Whether the parallelism limit allows another delivery. */
  hasSlot(): boolean {
    return !this.paused && (this.parallelismMax === undefined || this.parallelismCount < this.parallelismMax)
  }

  /** Whether the rate limit allows another delivery. */
  hasRate(now: number): boolean {
    return this.rateMax === undefined || now >= this.periodEnd() || this.rateCount < this.rateMax
  }

  /** Whether a held message may be admitted. */
  mayAdmit(now: number): boolean {
    return this.held.size > 0 && this.hasRoom(now)
  }

  /** Admits the first caller, which then has its slot; returns `undefined` if that caller has left. */
  admit(now: number): C | undefined {
    const caller = this.held.shift()
    if (caller !== undefined) this.take(caller, now)
    return caller
  }

  /**
   * Whether a due message may start, and then it has its slot. Otherwise the caller of this method adds it to `held`.
   */
  ask(caller: C, now: number): boolean {
    if (this.takeOverdue(caller)) return true
    if (this.held.size > 0 || !this.hasRoom(now)) return false
    this.take(caller, now)
    return true
  }

  /** Whether a message uses a delivery that the previous period had left, and takes it. */
  takeOverdue(caller: C): boolean {
    const { overdue } = this
    if (overdue === undefined || this.held.size > 0 || overdue.room <= 0) return false
    if (caller.seq > overdue.upTo || caller.nextAttemptAt > overdue.at || !this.hasSlot()) return false
    this.overdue = { ...overdue, room: overdue.room - 1 }
    this.running.add(caller)
    return true
  }

  /** Takes a slot and one delivery of the period. */
  take(caller: C, now: number): void {
    if (now >= this.periodEnd()) {
      this.ratePeriodStart = now
      this.rateCount = 0
    }
    this.rateCount++
    this.running.add(caller)
  }

  /** Returns when held messages must be checked again, if only the passage of time can admit one. */
  wakeAt(now: number): number | undefined {
    const rateLimits =
      !this.paused && this.held.size > 0 && this.rateMax !== undefined && this.rateCount >= this.rateMax
    return rateLimits ? Math.max(now, this.periodEnd()) : undefined
  }

  /** Returns how many deliveries the rate still allows. */
  rateLeft(now: number): number {
    this.refresh(now)
    return this.rateMax === undefined ? Number.POSITIVE_INFINITY : Math.max(0, this.rateMax - this.rateCount)
  }

  /**
   * Returns why no message may start now, as a clause.
   * @param isInOrder whether waiting messages are admitted in the order of arrival
   */
  blockedBy(now: number, isInOrder: boolean): string {
    if (this.paused) return 'paused'
    if (this.parallelismMax !== undefined && this.parallelismCount >= this.parallelismMax)
      return `parallelism ${this.parallelismCount} of ${this.parallelismMax}${this.#before()}`
    if (this.rateMax !== undefined && this.rateCount >= this.rateMax) {
      // Other messages may use up the next period, too, so its end is reported only to the messages that it admits.
      const left = isInOrder && this.held.size < this.#roomAfterPeriod() ? this.periodEnd() - now : undefined
      const until = left === undefined ? '' : `, for ${formatDuration(Math.max(0, left))} more`
      return `rate ${this.rateCount} of ${this.rateMax}${until}${this.#before()}`
    }
    return `${this.waitListSize} before it in the wait list`
  }

  /** Returns how many messages can start when the period ends, while the deliveries in flight continue. */
  #roomAfterPeriod(): number {
    const { rateMax = Number.POSITIVE_INFINITY, parallelismMax = Number.POSITIVE_INFINITY } = this
    return Math.min(rateMax, parallelismMax - this.parallelismCount)
  }

  #before(): string {
    return this.held.size === 0 ? '' : `, ${this.held.size} before it`
  }

  /** Whether the limits of a message differ from those in force. */
  differs({ parallelism, rate, period }: FlowControlLimits): boolean {
    if (!this.pinnedParallelism && this.parallelismMax !== parallelism) return true
    return !this.pinnedRate && (this.rateMax !== rate || this.ratePeriod !== period)
  }

  /** Applies the limits of a message, unless they are pinned. */
  limit(limits: FlowControlLimits, now: number): void {
    if (!this.pinnedParallelism) this.parallelismMax = limits.parallelism
    if (this.pinnedRate) return
    // A longer period must not revive a period that has ended.
    if (now >= this.periodEnd()) this.ratePeriodStart = undefined
    this.rateMax = limits.rate
    this.ratePeriod = limits.period
  }

  /** Pins limits so that messages cannot change them. */
  pin({ parallelism, rate, period }: PinnedLimits): void {
    if (parallelism !== undefined) {
      this.parallelismMax = parallelism
      this.pinnedParallelism = true
    }
    if (rate === undefined && period === undefined) return
    if (rate !== undefined) this.rateMax = rate
    if (period !== undefined) this.ratePeriod = period
    this.pinnedRate = true
  }

  /**
   * Starts a new period. On the service, messages that were published just before have usually started by then; in the
   * sandbox their timers may not have fired yet. [queue.md 6.2]
   * @param left deliveries that the previous period would have allowed
   */
  restartPeriod(now: number, left: number): void {
    this.overdue = { upTo: this.latestSeq, at: now, room: left }
    this.rateCount = 0
    this.ratePeriodStart = now
  }

  waiting(): readonly C[] {
    return this.held.all()
  }

  /**
   * Returns a copy with other callers, for forecasts.
   * @param of maps a caller; `undefined` omits it
   */
  copy<D extends FlowCaller>(of: (caller: C) => D | undefined, copy: FlowKey<D> = new FlowKey(this.key)): FlowKey<D> {
    const { key: _key, running, held, ...plain } = this
    Object.assign(copy, plain)
    for (const caller of running) {
      const other = of(caller)
      if (other !== undefined) copy.running.add(other)
    }
    held.copyTo(copy.held, of)
    return copy
  }
}

/** Limits that are pinned by hand. `period` is in seconds. */
export interface PinnedLimits {
  readonly parallelism?: number | undefined
  readonly rate?: number | undefined
  readonly period?: number | undefined
}
