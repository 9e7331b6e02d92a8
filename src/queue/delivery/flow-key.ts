import { formatDuration } from '../../kernel/duration.js'
import { FifoList } from '../message/fifo-list.js'
import type { Message } from '../message/message.js'
import type { FlowControlLimits, PublishSettings } from '../settings/message-settings.js'

// Rules of flow control without side effects: these functions read no clock, write no log, draw no random numbers and
// call no callbacks. The queue and forecasts share them.

/** Part of a message that flow control needs. Forecasts use other objects with the same fields. */
export interface FlowCaller {
  /** Sequence number; later messages have a higher one. */
  readonly seq: number
  readonly nextAttemptAt: number
  /** Whether a drain waits for this message. */
  readonly awaited: boolean
  readonly settings: Pick<PublishSettings, 'flowControl'>
}

/**
 * Wait list: held messages in the order of arrival. If a message leaves before it is admitted, its position stays in
 * the list and is skipped later.
 */
export class WaitList<C extends FlowCaller> {
  readonly #line = new FifoList<C | undefined>()
  /** Messages that left before they were admitted. `shift()` skips their positions. */
  readonly #left = new Set<C>()
  /** Messages in the list for which no drain waits. */
  readonly #unawaited = new Set<C>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Number of positions, including the positions of messages that left before they were admitted. */
  get places(): number {
    return this.#line.length
  }

  /** Whether the list contains a message for which a drain waits. */
  get awaited(): boolean {
    return this.#size > this.#unawaited.size
  }

  enter(caller: C): void {
    this.#line.push(caller)
    this.#size++
    if (!caller.awaited) this.#unawaited.add(caller)
  }

  /** Removes a message before it is admitted. Its position stays in the list and is skipped later. */
  leave(caller: C): void {
    this.#left.add(caller)
    this.#forget(caller)
  }

  /** Moves a position to the front, so that its message leaves next. A random order uses this. */
  promote(place: number): void {
    this.#line.promote(place)
  }

  /**
   * Removes the first position of the list.
   * @returns the message at this position; `undefined` if the message had left before
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
   * Copies the positions to an empty list, with other objects in place of the messages.
   * @param of returns the object that replaces a message; `undefined` leaves its position empty
   */
  copyTo<D extends FlowCaller>(list: WaitList<D>, of: (caller: C) => D | undefined): void {
    for (const caller of this.#line.all()) {
      const other = caller === undefined || this.#left.has(caller) ? undefined : of(caller)
      if (other === undefined) list.#line.push(undefined)
      else list.enter(other)
    }
  }
}

/** Limits and counters of one flow-control key, and the messages that have a slot or are held. [queue.md 6.2] */
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
  /** Sequence number of the latest message with this key. */
  latestSeq = 0
  /**
   * Set when the rate period is restarted by hand: `room` is the number of deliveries that the previous period still
   * allowed. Messages up to sequence number `upTo` that were due at or before `at` use these deliveries. They do not
   * count in the new period.
   */
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

  /**
   * Returns the start of the current rate period in milliseconds. If periods passed without deliveries, each began when
   * the previous one ended.
   */
  presentPeriodStart(now: number): number {
    const { ratePeriodStart: start = now } = this
    const length = this.ratePeriod * 1000
    return start + Math.floor(Math.max(0, now - start) / length) * length
  }

  /** Sets the number of counted deliveries to 0 if the rate period has ended. */
  refresh(now: number): void {
    if (now >= this.periodEnd()) this.rateCount = 0
  }

  hasRoom(now: number): boolean {
    this.refresh(now)
    return this.hasSlot() && this.hasRate(now)
  }

  hasSlot(): boolean {
    return !this.paused && (this.parallelismMax === undefined || this.parallelismCount < this.parallelismMax)
  }

  hasRate(now: number): boolean {
    return this.rateMax === undefined || now >= this.periodEnd() || this.rateCount < this.rateMax
  }

  mayAdmit(now: number): boolean {
    return this.held.size > 0 && this.hasRoom(now)
  }

  /**
   * Admits the message at the first position, which takes a slot. Returns `undefined` if the message had left before.
   */
  admit(now: number): C | undefined {
    const caller = this.held.shift()
    if (caller !== undefined) this.take(caller, now)
    return caller
  }

  /**
   * Asks whether a due message may start. `true`: the message took a slot. `false`: the calling code must add the
   * message to `held`.
   */
  ask(caller: C, now: number): boolean {
    if (this.takeOverdue(caller)) return true
    if (this.held.size > 0 || !this.hasRoom(now)) return false
    this.take(caller, now)
    return true
  }

  /**
   * Takes a slot for a message that was due before a manual restart of the period. The previous period must still allow
   * a delivery. Returns whether the message may start.
   */
  takeOverdue(caller: C): boolean {
    const { overdue } = this
    if (overdue === undefined || this.held.size > 0 || overdue.room <= 0) return false
    if (caller.seq > overdue.upTo || caller.nextAttemptAt > overdue.at || !this.hasSlot()) return false
    this.overdue = { ...overdue, room: overdue.room - 1 }
    this.running.add(caller)
    return true
  }

  /** Takes a slot, and counts the delivery in the current rate period. */
  take(caller: C, now: number): void {
    if (now >= this.periodEnd()) {
      this.ratePeriodStart = now
      this.rateCount = 0
    }
    this.rateCount++
    this.running.add(caller)
  }

  /**
   * Returns when held messages must be checked again: at the end of the rate period, if the rate limit holds them.
   * Otherwise returns `undefined`.
   */
  wakeAt(now: number): number | undefined {
    const rateLimits =
      !this.paused && this.held.size > 0 && this.rateMax !== undefined && this.rateCount >= this.rateMax
    return rateLimits ? Math.max(now, this.periodEnd()) : undefined
  }

  rateLeft(now: number): number {
    this.refresh(now)
    return this.rateMax === undefined ? Number.POSITIVE_INFINITY : Math.max(0, this.rateMax - this.rateCount)
  }

  /**
   * Returns text that says why no message may start now: `parallelism 2 of 2, 3 before it`.
   * @param isInOrder `true` if messages leave the wait list in the order of arrival; `false` if the order is random
   */
  blockedBy(now: number, isInOrder: boolean): string {
    if (this.paused) return 'paused'
    if (this.parallelismMax !== undefined && this.parallelismCount >= this.parallelismMax)
      return `parallelism ${this.parallelismCount} of ${this.parallelismMax}${this.#before()}`
    if (this.rateMax !== undefined && this.rateCount >= this.rateMax) {
      // Add the remaining time of the period only if this message can start when the period ends. If the messages
      // before it use up the next period, its start is unknown.
      const left = isInOrder && this.held.size < this.#roomAfterPeriod() ? this.periodEnd() - now : undefined
      const until = left === undefined ? '' : `, until the period ends in ${formatDuration(Math.max(0, left))}`
      return `rate ${this.rateCount} of ${this.rateMax}${until}${this.#before()}`
    }
    return `${this.waitListSize} before it in the wait list`
  }

  /** Returns how many messages can start at the end of the rate period, if no delivery in flight ends before. */
  #roomAfterPeriod(): number {
    const { rateMax = Number.POSITIVE_INFINITY, parallelismMax = Number.POSITIVE_INFINITY } = this
    return Math.min(rateMax, parallelismMax - this.parallelismCount)
  }

  #before(): string {
    return this.held.size === 0 ? '' : `, ${this.held.size} before it`
  }

  differs({ parallelism, rate, period }: FlowControlLimits): boolean {
    if (!this.pinnedParallelism && this.parallelismMax !== parallelism) return true
    return !this.pinnedRate && (this.rateMax !== rate || this.ratePeriod !== period)
  }

  /** Applies the limits of a message, unless they are pinned. */
  limit(limits: FlowControlLimits, now: number): void {
    if (!this.pinnedParallelism) this.parallelismMax = limits.parallelism
    if (this.pinnedRate) return
    // A period that has ended must stay ended, even if the new period is longer.
    if (now >= this.periodEnd()) this.ratePeriodStart = undefined
    this.rateMax = limits.rate
    this.ratePeriod = limits.period
  }

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
   * Starts a new rate period. Messages that were already due may still use the deliveries that the previous period
   * allowed. On the service they have usually started by now, but in the sandbox their timers may not have fired yet.
   * [queue.md 6.2]
   * @param left number of deliveries that the previous period still allowed
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
   * Returns a copy for a forecast, with other objects in place of the messages.
   * @param of returns the object that replaces a message; `undefined` omits the message
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

/** Limits that a request pins for a flow-control key. `period` is in seconds. */
export interface PinnedLimits {
  readonly parallelism?: number | undefined
  readonly rate?: number | undefined
  readonly period?: number | undefined
}
