import { formatDuration } from '../../kernel/duration.js'
import { FifoList } from '../message/fifo-list.js'
import type { Message } from '../message/message.js'
import type { FlowControlLimits, PublishSettings } from '../settings/message-settings.js'

// Who may call now, as values: nothing here reads a clock, writes a log, draws or calls back.

/** What flow control knows of a message. */
export interface FlowCaller {
  /** Messages that came later have a higher one. */
  readonly seq: number
  readonly nextAttemptAt: number
  /** A drain waits for it. */
  readonly awaited: boolean
  readonly settings: Pick<PublishSettings, 'flowControl'>
}

/** Callers that are held, first come first. */
export class WaitList<C extends FlowCaller> {
  readonly #line = new FifoList<C | undefined>()
  /** Those who left early: their places are skipped later. */
  readonly #left = new Set<C>()
  /** Those whom no drain waits for. */
  readonly #unawaited = new Set<C>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Places in it, those of callers who have left included. */
  get places(): number {
    return this.#line.length
  }

  /** Whether a drain waits for any of them. */
  get awaited(): boolean {
    return this.#size > this.#unawaited.size
  }

  enter(caller: C): void {
    this.#line.push(caller)
    this.#size++
    if (!caller.awaited) this.#unawaited.add(caller)
  }

  /** It will not be admitted: its place is skipped later. */
  leave(caller: C): void {
    this.#left.add(caller)
    this.#forget(caller)
  }

  /** Puts the caller in this place first, where chance decides who goes. */
  promote(place: number): void {
    this.#line.promote(place)
  }

  /** Takes the first place away. @returns who stood there, if it has not left */
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

  /** Gives another, empty list the same places. @param of `undefined` leaves a place empty */
  copyTo<D extends FlowCaller>(list: WaitList<D>, of: (caller: C) => D | undefined): void {
    for (const caller of this.#line.all()) {
      const other = caller === undefined || this.#left.has(caller) ? undefined : of(caller)
      if (other === undefined) list.#line.push(undefined)
      else list.enter(other)
    }
  }
}

/** The limits and counters of one flow-control key, and who waits for it. [queue.md 6.2] */
export class FlowKey<C extends FlowCaller = Message> {
  parallelismMax: number | undefined
  rateMax: number | undefined
  /** Seconds. */
  ratePeriod = 1
  rateCount = 0
  /** Milliseconds, `undefined` before the first call. */
  ratePeriodStart: number | undefined
  pinnedParallelism = false
  pinnedRate = false
  paused = false
  /** `seq` of the message that came last. */
  latestSeq = 0
  /** What was due before the present period was begun by hand, and has yet to start: it counts in the one before. */
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

  /** When the present period began, in milliseconds: one without calls as well, which follows the one before. */
  presentPeriodStart(now: number): number {
    const { ratePeriodStart: start = now } = this
    const length = this.ratePeriod * 1000
    return start + Math.floor(Math.max(0, now - start) / length) * length
  }

  /** The period that has ended counts no more. */
  refresh(now: number): void {
    if (now >= this.periodEnd()) this.rateCount = 0
  }

  hasRoom(now: number): boolean {
    this.refresh(now)
    return this.hasSlot() && this.hasRate(now)
  }

  /** Whether the parallelism allows another call. */
  hasSlot(): boolean {
    return !this.paused && (this.parallelismMax === undefined || this.parallelismCount < this.parallelismMax)
  }

  /** Whether the rate allows another call. */
  hasRate(now: number): boolean {
    return this.rateMax === undefined || now >= this.periodEnd() || this.rateCount < this.rateMax
  }

  /** Whether a held message may be admitted. */
  mayAdmit(now: number): boolean {
    return this.held.size > 0 && this.hasRoom(now)
  }

  /** Admits the first in line, which has its slot then; `undefined` where that one has left. */
  admit(now: number): C | undefined {
    const caller = this.held.shift()
    if (caller !== undefined) this.take(caller, now)
    return caller
  }

  /** Whether a due message may start: it has its slot then. Otherwise the caller puts it into `held`. */
  ask(caller: C, now: number): boolean {
    if (this.takeOverdue(caller)) return true
    if (this.held.size > 0 || !this.hasRoom(now)) return false
    this.take(caller, now)
    return true
  }

  /** Whether a message takes up what the period before the present one had left. */
  takeOverdue(caller: C): boolean {
    const { overdue } = this
    if (overdue === undefined || this.held.size > 0 || overdue.room <= 0) return false
    if (caller.seq > overdue.upTo || caller.nextAttemptAt > overdue.at || !this.hasSlot()) return false
    this.overdue = { ...overdue, room: overdue.room - 1 }
    this.running.add(caller)
    return true
  }

  /** Takes a slot and one of the calls of the period. */
  take(caller: C, now: number): void {
    if (now >= this.periodEnd()) {
      this.ratePeriodStart = now
      this.rateCount = 0
    }
    this.rateCount++
    this.running.add(caller)
  }

  /** When those who are held have to be looked at again, if only time can admit one. */
  wakeAt(now: number): number | undefined {
    const rateLimits =
      !this.paused && this.held.size > 0 && this.rateMax !== undefined && this.rateCount >= this.rateMax
    return rateLimits ? Math.max(now, this.periodEnd()) : undefined
  }

  /** Calls that the rate still allows. */
  rateLeft(now: number): number {
    this.refresh(now)
    return this.rateMax === undefined ? Number.POSITIVE_INFINITY : Math.max(0, this.rateMax - this.rateCount)
  }

  /**
   * Why no message may start now, as part of a sentence.
   * @param isInOrder whether those who wait are admitted in the order in which they came
   */
  blockedBy(now: number, isInOrder: boolean): string {
    if (this.paused) return 'paused'
    if (this.parallelismMax !== undefined && this.parallelismCount >= this.parallelismMax)
      return `parallelism ${this.parallelismCount} of ${this.parallelismMax}${this.#before()}`
    if (this.rateMax !== undefined && this.rateCount >= this.rateMax) {
      // Others may use up the next period, too: its end says something only about those whom it admits.
      const left = isInOrder && this.held.size < this.#roomAfterPeriod() ? this.periodEnd() - now : undefined
      const until = left === undefined ? '' : `, for ${formatDuration(Math.max(0, left))} more`
      return `rate ${this.rateCount} of ${this.rateMax}${until}${this.#before()}`
    }
    return `${this.waitListSize} before it in the wait list`
  }

  /** How many can start when the present period ends, while the calls that are in flight go on. */
  #roomAfterPeriod(): number {
    const { rateMax = Number.POSITIVE_INFINITY, parallelismMax = Number.POSITIVE_INFINITY } = this
    return Math.min(rateMax, parallelismMax - this.parallelismCount)
  }

  #before(): string {
    return this.held.size === 0 ? '' : `, ${this.held.size} before it`
  }

  /** Whether limits that a message brings are others than those in force. */
  differs({ parallelism, rate, period }: FlowControlLimits): boolean {
    if (!this.pinnedParallelism && this.parallelismMax !== parallelism) return true
    return !this.pinnedRate && (this.rateMax !== rate || this.ratePeriod !== period)
  }

  /** Takes the limits that a message brings, unless they are pinned. */
  limit(limits: FlowControlLimits, now: number): void {
    if (!this.pinnedParallelism) this.parallelismMax = limits.parallelism
    if (this.pinnedRate) return
    // A period that is over is not revived by a longer one.
    if (now >= this.periodEnd()) this.ratePeriodStart = undefined
    this.rateMax = limits.rate
    this.ratePeriod = limits.period
  }

  /** Fixes limits against those that messages bring. */
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
   * Begins a period. On the service, what was published just before has mostly started by then; here its timer may not
   * have fired yet. [queue.md 6.2]
   * @param left calls that the period before would have allowed
   */
  restartPeriod(now: number, left: number): void {
    this.overdue = { upTo: this.latestSeq, at: now, room: left }
    this.rateCount = 0
    this.ratePeriodStart = now
  }

  waiting(): readonly C[] {
    return this.held.all()
  }

  /** The same with other callers, for forecasts. @param of `undefined` leaves a caller out */
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

/** Limits that are fixed by hand. `period`: seconds. */
export interface PinnedLimits {
  readonly parallelism?: number | undefined
  readonly rate?: number | undefined
  readonly period?: number | undefined
}
