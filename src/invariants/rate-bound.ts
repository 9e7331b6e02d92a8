import type { Findings, Invariant } from './invariant.js'
import { type KeyStep, type KeyTimeline, keyTimelines, limitOf } from './key-timeline.js'

export const rateBound: Invariant = {
  name: 'rate-bound',
  guarantee:
    'The number of deliveries that start in one period of a flow-control key never exceeds its rate. A period begins with the first delivery after the end of the previous period, or when the rate is reset. Messages that were due before a reset count in the period that the reset ended.',
  suspendedBy: {
    duplicate: 'for the affected message',
    restart: 'for messages with an attempt that the restart cut off',
  },
  examine(history, findings) {
    for (const course of keyTimelines(history, (id) => history.struck(id, this.suspendedBy))) {
      new RateWalk(course, history.isWhole, findings).walk()
    }
  },
}

/** Number of further deliveries that the rate allowed at a log position. */
interface Left {
  readonly place: number
  readonly at: number
  calls: number
}

class RateWalk {
  #allowed = Number.POSITIVE_INFINITY
  #period = 1000
  #start = Number.NEGATIVE_INFINITY
  /**
   * Whether the log contains every delivery of the key, so that the start of each period is known. If not, a period
   * that this check assumes may overlap two periods of the queue, so twice the rate is allowed.
   */
  #isAligned: boolean
  #calls: KeyStep[] = []
  /**
   * Number of further deliveries that the rate allowed: `#leftAtLimit` at the latest change of the limits,
   * `#leftAtReset` at the latest reset of the period.
   */
  #leftAtLimit: Left | undefined
  #leftAtReset: Left | undefined

  constructor(
    readonly course: KeyTimeline,
    isWhole: boolean,
    readonly findings: Findings,
  ) {
    this.#isAligned = isWhole
  }

  walk(): void {
    for (const step of this.course.steps) {
      if (step.is === 'limits') this.#limit(step)
      else if (step.is === 'rate-reset') this.#begin(step)
      else if (step.is === 'service') this.#forget(step)
      else if (step.is === 'take' || step.is === 'vain') this.#take(step)
    }
  }

  #limit(step: KeyStep): void {
    const { entry, at } = step
    this.#leftAtLimit = this.#left(step)
    // A period that has ended must stay ended, even if the new period is longer.
    if (at >= this.#start + this.#period) this.#start = Number.NEGATIVE_INFINITY
    this.#allowed = limitOf(entry, 'rate')
    const seconds = limitOf(entry, 'period')
    this.#period = Number.isFinite(seconds) ? seconds * 1000 : 1000
  }

  /**
   * Begins a period. A pin has two steps at one log position: the first sets new limits, the second resets the period.
   * Only at the first step is it known how many deliveries the old limits still allowed.
   */
  #begin(step: KeyStep): void {
    this.#leftAtReset = this.#leftAtLimit?.place === step.place ? this.#leftAtLimit : this.#left(step)
    this.#start = step.at
    this.#calls = []
  }

  #left({ place, at }: KeyStep): Left {
    const isOver = at >= this.#start + this.#period
    return { place, at, calls: this.#allowed - (isOver ? 0 : this.#calls.length) }
  }

  /**
   * Whether a delivery counts in the period before the reset. The delivery counts if it was due before the reset and
   * the rate of the period before the reset still allowed it.
   */
  #countsBefore({ story, entry, at }: KeyStep): boolean {
    const left = this.#leftAtReset
    if (left === undefined || story === undefined || entry?.type !== 'attempt') return false
    const { seq, notBefore } = story.published
    const wasDue = at === left.at || (entry.retried === 0 && notBefore <= left.at)
    if (!(left.calls > 0 && seq < left.place && wasDue)) return false
    left.calls--
    return true
  }

  #forget({ entry }: KeyStep): void {
    this.#allowed = Number.POSITIVE_INFINITY
    this.#start = Number.NEGATIVE_INFINITY
    this.#calls = []
    if (entry?.type === 'setting' && entry.change !== 'reset') this.#isAligned = false
  }

  #take(step: KeyStep): void {
    const { key } = this.course
    if (this.#countsBefore(step)) return
    if (step.at >= this.#start + this.#period) {
      this.#start = step.at
      this.#calls = []
    }
    this.#calls.push(step)
    const allowed = this.#isAligned ? this.#allowed : 2 * this.#allowed
    if (this.#calls.length <= allowed) return
    this.findings.broken(
      `${this.#calls.length} deliveries of flow-control key ${key} started within ${this.#period / 1000} s, but the rate of the key is ${this.#allowed}`,
      ...this.#calls.slice(-6).map(({ entry }) => entry),
    )
  }
}
