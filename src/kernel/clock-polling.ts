import type { RunningWork } from './clock-work.js'
import type { Gate } from './gate.js'
import { iso } from './instant.js'

/**
 * Maximum number of responses to untracked code for which one clock move waits. Code that polls without a pause would
 * otherwise block time forever.
 */
export const maxResponses = 20_000

/** Detects untracked code that sends one request after another while nothing else is waiting. */
export class Polling {
  readonly #gate: Gate
  readonly #work: RunningWork
  readonly #warn: (text: string) => void
  /** The clock stops waiting for untracked code when `#gate.responses` has this value. */
  #patientUntil = 0
  #hasWarned = false

  constructor(gate: Gate, work: RunningWork, warn: (text: string) => void) {
    this.#gate = gate
    this.#work = work
    this.#warn = warn
  }

  /** Starts to count responses, at the beginning of a clock move. */
  restart(): void {
    this.#patientUntil = this.#gate.responses + maxResponses
  }

  get isEndless(): boolean {
    return this.#gate.responses > this.#patientUntil && !this.#work.isBusyInside
  }

  /**
   * Warns once that a clock call stopped waiting.
   * @param call name of that call, such as `drain`
   * @param now virtual time in milliseconds
   */
  warn(call: string, now: number): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#warn(
      `stuntdouble: clock.${call}() has waited for ${maxResponses.toLocaleString('en-US')} responses at ${iso(now)}, and the app is still sending requests, so time moves on. ` +
        'Add a wait between the requests of the polling loop.',
    )
  }
}
