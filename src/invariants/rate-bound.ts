import type { Findings, Invariant } from './invariant.js'
import { type KeyStep, type KeyTimeline, keyTimelines, limitOf } from './key-timeline.js'

export const rateBound: Invariant = {
  name: 'rate-bound',
  guarantee:
    'No more calls start in a period of a flow-control key than its rate; a period begins with the first call after the one before, or with a reset, and what was due before a reset counts before it.',
  suspendedBy: { duplicate: 'for the message it struck', restart: 'for messages whose attempt it cut off' },
  examine(history, findings) {
    for (const course of keyTimelines(history, (id) => history.struck(id, this.suspendedBy))) {
      new RateWalk(course, history.isWhole, findings).walk()
    }
  },
}

/** How many calls were allowed at a place of the story. */
interface Left {
  readonly place: number
  readonly at: number
  calls: number
}

class RateWalk {
  #allowed = Number.POSITIVE_INFINITY
  #period = 1000
  #start = Number.NEGATIVE_INFINITY
  /** With unseen calls, of messages from before the log or a load, a period may overlap two of the model's. */
  #isAligned: boolean
  #calls: KeyStep[] = []
  /** Calls that were still allowed when the limits were last changed, and when the period was last reset. */
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
    // A period that is over is not revived by a longer one.
    if (at >= this.#start + this.#period) this.#start = Number.NEGATIVE_INFINITY
    this.#allowed = limitOf(entry, 'rate')
    const seconds = limitOf(entry, 'period')
    this.#period = Number.isFinite(seconds) ? seconds * 1000 : 1000
  }

  /** A pin changes the limits and resets the period: what was allowed before is known from the first of the two. */
  #begin(step: KeyStep): void {
    this.#leftAtReset = this.#leftAtLimit?.place === step.place ? this.#leftAtLimit : this.#left(step)
    this.#start = step.at
    this.#calls = []
  }

  #left({ place, at }: KeyStep): Left {
    const isOver = at >= this.#start + this.#period
    return { place, at, calls: this.#allowed - (isOver ? 0 : this.#calls.length) }
  }

  /** Whether a call was due before the reset, and the period before it had room. */
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
      `${this.#calls.length} calls of flow-control key ${key} started within ${this.#period / 1000} s; its rate is ${this.#allowed}`,
      ...this.#calls.slice(-6).map(({ entry }) => entry),
    )
  }
}
