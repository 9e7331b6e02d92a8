import { formatDuration } from '../../kernel/duration.js'
import { FifoList } from '../message/fifo-list.js'
import type { Message } from '../message/message.js'
import type { FlowControlLimits, PublishSettings } from '../settings/message-settings.js'

// Flow control as plain values: these functions read no clock, write no log, draw nothing and call nothing back.

/** Message as flow control sees it. */
export interface FlowCaller {
  /** Sequence number; later messages have a higher one. */
  readonly seq: number
  readonly nextAttemptAt: number
  /** Whether a drain waits for this message. */
  readonly awaited: boolean
  readonly settings: Pick<PublishSettings, 'flowControl'>
}

/**
 * Held messages in the order of arrival. A message that leaves early keeps an empty position, which is skipped later.
 */
export class WaitList<C extends FlowCaller> {
  readonly #line = new FifoList<C | undefined>()
  /** Messages that left early; `shift()` skips their positions. */
  readonly #left = new Set<C>()
  /** Messages for which no drain waits. */
  readonly #unawaited = new Set<C>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Number of positions, including the empty ones of messages that left early. */
  get places(): number {
    return this.#line.length
  }

  /** Whether a drain waits for any of the messages. */
  get awaited(): boolean {
    return this.#size > this.#unawaited.size
  }

  enter(caller: C): void {
    this.#line.push(caller)
    this.#size++
    if (!caller.awaited) this.#unawaited.add(caller)
  }

  /** Removes a message that will not be admitted. Its position stays and is skipped later. */
  leave(caller: C): void {
    this.#left.add(caller)
    this.#forget(caller)
  }

  /** Moves the message at this position to the front, for a random order. */
  promote(place: number): void {
    this.#line.promote(place)
  }

  /**
   * Removes the first position.
   * @returns the message at this position; `undefined` if the message left early
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
   * Copies the positions to another, empty list.
   * @param of returns the replacement of a message; `undefined` leaves its position empty
   */
  copyTo<D extends FlowCaller>(list: WaitList<D>, of: (caller: C) => D | undefined): void {
    for (const caller of this.#line.all()) {
      const other = caller === undefined || this.#left.has(caller) ? undefined : of(caller)
      if (other === undefined) list.#line.push(undefined)
      else list.enter(other)
    }
  }
}

/** Limits and counters of one flow-control key, with the messages that are running or held. [queue.md 6.2] */
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
   * After a manual restart of the period: the `room` deliveries that the previous period still allowed. Messages up to
   * sequence number `upTo` that were due by `at` use them, and do not count in the new period.
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
   * Returns the start of the current period in milliseconds. Periods without deliveries follow each other without gaps.
   */
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

  /** Admits the first held message, which takes a slot. Returns `undefined` if the message left early. */
  admit(now: number): C | undefined {
    const caller = this.held.shift()
    if (caller !== undefined) this.take(caller, now)
    return caller
  }

  /**
   * Requests the start of a due message. Returns `true` if the message took a slot and may start. If not, the calling
   * code must add it to `held`.
   */
  ask(caller: C, now: number): boolean {
    if (this.takeOverdue(caller)) return true
    if (this.held.size > 0 || !this.hasRoom(now)) return false
    this.take(caller, now)
    return true
  }

  /**
   * Returns whether a message may start with a delivery that the previous period still allowed, and then takes a slot.
   */
  takeOverdue(caller: C): boolean {
    const { overdue } = this
    if (overdue === undefined || this.held.size > 0 || overdue.room <= 0) return false
    if (caller.seq > overdue.upTo || caller.nextAttemptAt > overdue.at || !this.hasSlot()) return false
    this.overdue = { ...overdue, room: overdue.room - 1 }
    this.running.add(caller)
    return true
  }

  /** Takes a slot and counts a delivery in the rate period. */
  take(caller: C, now: number): void {
    if (now >= this.periodEnd()) {
      this.ratePeriodStart = now
      this.rateCount = 0
    }
    this.rateCount++
    this.running.add(caller)
  }

  /** Returns when held messages must be checked again; `undefined` if they do not wait for the end of a rate period. */
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
      // Report the end of the period only if this message can start then. If there are too many messages before it, its
      // start is unknown.
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
   * Starts a new period. Messages that were due before can still use the previous one: on the service they have usually
   * started by now, but in the sandbox their timers may not have fired yet. [queue.md 6.2]
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
   * Returns a copy in which each message is replaced, for forecasts.
   * @param of returns the replacement of a message; `undefined` omits the message
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

/** Limits that a request pins, so that messages cannot change them. `period` is in seconds. */
export interface PinnedLimits {
  readonly parallelism?: number | undefined
  readonly rate?: number | undefined
  readonly period?: number | undefined
}
