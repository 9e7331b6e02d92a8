import type { Random } from '../kernel/random.js'
import { minute } from './usage-calendar.js'

/** Rate of an event in the time between two changes of the rate. */
export interface RateSegment {
  /** Events per minute. */
  readonly rate: number
  readonly jitter: number
}

/** Number that is added before rounding down. A sum of decimals such as 0.1 may be slightly below a whole number. */
const slack = 1e-6

/** Maximum number of cached totals. One report needs fewer. */
const remembered = 1000

/**
 * An event whose rate is known at all times and changes at known times. The number of events in an interval is the
 * difference of two running totals. So counting takes the same time for short and long intervals, and the counts of
 * neighboring intervals add up exactly.
 */
export class RateCurve {
  readonly #changes: readonly number[]
  readonly #before: RateSegment
  readonly #stretches: readonly RateSegment[]
  /**
   * Running total at each change of the rate. It is 0 at `origin`. The unit is events per minute, multiplied by
   * milliseconds. Whole rates then give exact totals.
   */
  readonly #totals: readonly number[]
  readonly #random: Random
  readonly #isJittered: boolean
  /** Cache of the running totals at full minutes. All series of a report need the totals of the same minutes. */
  readonly #atMinutes = new Map<number, number>()

  /**
   * @param changes times in milliseconds at which the rate changes, in ascending order; `origin` must be one of them
   * @param origin time at which the running total is 0, in milliseconds
   * @param stretchAt returns the rate at an instant
   */
  constructor(changes: readonly number[], origin: number, stretchAt: (at: number) => RateSegment, random: Random) {
    this.#changes = changes
    this.#before = stretchAt(changes[0]! - 1)
    this.#stretches = changes.map(stretchAt)
    this.#random = random
    this.#isJittered = [this.#before, ...this.#stretches].some(({ jitter }) => jitter > 0)
    this.#totals = totals(changes, this.#stretches, changes.indexOf(origin))
  }

  /** Returns how many events happened between two instants: a whole number, never negative. */
  count(from: number, until: number): number {
    return from >= until ? 0 : this.#whole(until) - this.#whole(from)
  }

  /** Returns the number of events in each interval between two consecutive edges. */
  counts(edges: readonly number[]): number[] {
    const totals = edges.map((at, index) => (index > 0 && at === edges[index - 1] ? undefined : this.#whole(at)))
    for (let index = 1; index < totals.length; index++) totals[index] ??= totals[index - 1]
    return totals.slice(1).map((total, index) => total! - totals[index]!)
  }

  /** Returns how many events happened between two instants, not rounded. */
  amount(from: number, until: number): number {
    return from >= until ? 0 : this.#jittered(until) - this.#jittered(from)
  }

  /**
   * Returns the number of events between two instants, without rounding and without jitter. The result is negative if
   * `until` is before `from`.
   */
  exact(from: number, until: number): number {
    return (this.#total(until) - this.#total(from)) / minute
  }

  /** Yields the parts of a period in which the rate is constant, with their start and length in milliseconds. */
  *stretches(from: number, until: number): IterableIterator<{ rate: number; at: number; length: number }> {
    for (let index = this.#indexAt(from), at = from; at < until; index++) {
      const end = Math.min(this.#changes[index + 1] ?? until, until)
      yield { rate: this.#stretch(index).rate, at, length: end - at }
      at = end
    }
  }

  #whole(at: number): number {
    return Math.floor(this.#jittered(at) + slack)
  }

  #jittered(at: number): number {
    if (!this.#isJittered) return this.#total(at) / minute
    const number = Math.floor(at / minute)
    const part = at / minute - number
    const start = this.#atMinute(number)
    return part === 0 ? start : start + (this.#atMinute(number + 1) - start) * part
  }

  #atMinute(number: number): number {
    let total = this.#atMinutes.get(number)
    if (total === undefined) {
      if (this.#atMinutes.size >= remembered) this.#atMinutes.clear()
      total = this.#shaken(number)
      this.#atMinutes.set(number, total)
    }
    return total
  }

  /**
   * Returns the running total at a full minute, changed by jitter. The change is at most half of the smaller count of
   * the minutes before and after. So no count becomes negative, and the total over many minutes stays correct.
   */
  #shaken(number: number): number {
    const at = number * minute
    const total = this.#total(at)
    const { jitter } = this.#stretch(this.#indexAt(at))
    if (jitter === 0) return total / minute
    const quieter = Math.min(total - this.#total(at - minute), this.#total(at + minute) - total)
    return (total + jitter * quieter * (this.#random.fork(String(number)).float() - 0.5)) / minute
  }

  #total(at: number): number {
    const index = this.#indexAt(at)
    const start = Math.max(index, 0)
    return this.#totals[start]! + (at - this.#changes[start]!) * this.#stretch(index).rate
  }

  #stretch(index: number): RateSegment {
    return index < 0 ? this.#before : this.#stretches[index]!
  }

  /** Returns the index of the last change at or before an instant; -1 if there is none. */
  #indexAt(at: number): number {
    let [low, high] = [0, this.#changes.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#changes[middle]! <= at) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

/**
 * Returns the running total at each change of the rate. The totals are computed from the origin in both directions. A
 * later change of the rate then has no effect on earlier totals.
 */
function totals(changes: readonly number[], stretches: readonly RateSegment[], origin: number): number[] {
  const sums = new Array<number>(changes.length).fill(0)
  for (let index = origin + 1; index < changes.length; index++) {
    sums[index] = sums[index - 1]! + (changes[index]! - changes[index - 1]!) * stretches[index - 1]!.rate
  }
  for (let index = origin - 1; index >= 0; index--) {
    sums[index] = sums[index + 1]! - (changes[index + 1]! - changes[index]!) * stretches[index]!.rate
  }
  return sums
}
