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
  /** With calls that are not seen, those of messages from before the log or a load, a period may lie across two. */
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
  }

  #forget({ entry }: KeyStep): void {
    this.#allowed = Number.POSITIVE_INFINITY
    this.#start = Number.NEGATIVE_INFINITY
    this.#calls = []
    if (entry?.type === 'setting' && entry.change !== 'reset') this.#isAligned = false
  }

  #take(step: KeyStep): void {
    const { key } = this.course
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
