import type { RunningWork } from './clock-work.js'
import type { Gate } from './gate.js'
import { iso } from './instant.js'

/**
 * Maximum number of responses to untracked code that block time in one move. Code that polls without a pause never
 * stops on its own.
 */
export const maxResponses = 20_000

/** Detects untracked code that sends one request after another while nothing else is waiting. */
export class Polling {
  readonly #gate: Gate
  readonly #work: RunningWork
  readonly #warn: (text: string) => void
  /** Value of `#gate.responses` at which the clock stops waiting for untracked code. */
  #patientUntil = 0
  #hasWarned = false

  constructor(gate: Gate, work: RunningWork, warn: (text: string) => void) {
    this.#gate = gate
    this.#work = work
    this.#warn = warn
  }

  /** Counts responses from now on, at the start of a move. */
  restart(): void {
    this.#patientUntil = this.#gate.responses + maxResponses
  }

  get isEndless(): boolean {
    return this.#gate.responses > this.#patientUntil && !this.#work.isBusyInside
  }

  /** @param call the clock call that has waited: `drain` */
  warn(call: string, now: number): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#warn(
      `stuntdouble: clock.${call}() has waited for ${maxResponses.toLocaleString('en-US')} responses at ${iso(now)}, and the app is still sending requests, so time moves on. ` +
        'Add a wait between the requests of the polling loop.',
    )
  }
}
