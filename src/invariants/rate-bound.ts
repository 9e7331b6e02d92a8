import { type KeyCourse, type KeyStep, keyCourses, limitOf } from './flow-control.js'
import type { Findings, Invariant } from './invariant.js'

export const rateBound: Invariant = {
  name: 'rate-bound',
  promise:
    'No more calls start in a period of a flow-control key than its rate; a period begins with the first call after the one before.',
  suspendedBy: { duplicate: 'for the message it struck', restart: 'for messages whose attempt it cut off' },
  examine(history, findings) {
    for (const course of keyCourses(history, (id) => history.struck(id, this.suspendedBy))) {
      new RateWalk(course, history.isWhole, findings).walk()
    }
  },
}

class RateWalk {
  #allowed = Number.POSITIVE_INFINITY
  #period = 1000
  #start = Number.NEGATIVE_INFINITY
  /** Where earlier calls are not known, a period that is seen here may lie across two real ones. */
  #isAligned: boolean
  #calls: KeyStep[] = []

  constructor(
    readonly course: KeyCourse,
    isWhole: boolean,
    readonly findings: Findings,
  ) {
    this.#isAligned = isWhole
  }

  walk(): void {
    for (const step of this.course.steps) {
      if (step.is === 'limits') this.#limit(step)
      else if (step.is === 'rate-reset') this.#begin(step.at)
      else if (step.is === 'service') this.#forget(step)
      else if (step.is === 'take' || step.is === 'vain') this.#take(step)
    }
  }

  #limit({ entry, at }: KeyStep): void {
    // A period that is over is not revived by a longer one.
    if (at >= this.#start + this.#period) this.#start = Number.NEGATIVE_INFINITY
    this.#allowed = limitOf(entry, 'rate')
    const seconds = limitOf(entry, 'period')
    this.#period = Number.isFinite(seconds) ? seconds * 1000 : 1000
  }

  #begin(at: number): void {
    this.#start = at
    this.#calls = []
    this.#isAligned = true
  }

  #forget({ entry }: KeyStep): void {
    this.#allowed = Number.POSITIVE_INFINITY
    this.#start = Number.NEGATIVE_INFINITY
    this.#calls = []
    this.#isAligned = entry?.type === 'setting' && entry.change === 'reset'
  }

  #take(step: KeyStep): void {
    const { key } = this.course
    if (step.at >= this.#start + this.#period) {
      // A pause as long as a period: whatever had begun before has ended.
      const hadPause = this.#calls.length > 0 && step.at >= this.#calls.at(-1)!.at + this.#period
      this.#isAligned ||= hadPause
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
