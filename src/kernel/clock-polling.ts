import type { RunningWork } from './clock-work.js'
import type { Gate } from './gate.js'
import { iso } from './instant.js'

/** Responses to code outside for which time stands still, in one move: code that polls without a pause never stops by itself. */
export const maxResponses = 20_000

/** Notices code outside that sends one request after the other, for which nothing else waits. */
export class Polling {
  readonly #gate: Gate
  readonly #work: RunningWork
  readonly #warn: (text: string) => void
  /** Of `#gate.responses`, where the clock stops waiting for code outside. */
  #patientUntil = 0
  #hasWarned = false

  constructor(gate: Gate, work: RunningWork, warn: (text: string) => void) {
    this.#gate = gate
    this.#work = work
    this.#warn = warn
  }

  /** Counts responses from here on: a move begins. */
  restart(): void {
    this.#patientUntil = this.#gate.responses + maxResponses
  }

  get isEndless(): boolean {
    return this.#gate.responses > this.#patientUntil && !this.#work.isBusyInside
  }

  /** @param call of the clock that has waited: `drain` */
  warn(call: string, now: number): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#warn(
      `stuntdouble: clock.${call}() has waited for ${maxResponses.toLocaleString('en-US')} responses at ${iso(now)}, and the app goes on sending requests. ` +
        'Time moves on without it. Let the loop that polls wait between its requests.',
    )
  }
}
