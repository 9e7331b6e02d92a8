import { endOfTime, iso } from './instant.js'
import { checkOptionNames } from './nearest-name.js'
import type { Timer } from './time.js'

/** The calls that move time. */
export type ClockMove = 'advance' | 'advanceTo' | 'drain'

/** What calls that move time take. */
export interface AdvanceOptions {
  /** Stops the move where it is: what fell due until then has run, and the clock can be moved on from there. */
  readonly signal?: AbortSignal
  /**
   * How many timers may fire at one instant, and in one `drain()` at all, those of schedules not counted, before the
   * clock gives up and names the one that fired most often. By default 20,000, and 20 more for each timer and message
   * that waits when the move begins.
   */
  readonly maxTimers?: number
  /** Asked whenever nothing runs: once it says so the move ends, and time stays where it is. */
  readonly until?: () => boolean
}

const optionNames: Readonly<Record<keyof AdvanceOptions, true>> = { signal: true, maxTimers: true, until: true }

/** @throws TypeError for what is no option of a move: most often a time, which has a call of its own */
export function checkMove(call: ClockMove, options: AdvanceOptions): void {
  const byTime =
    "To move time by a span call clock.advance('30s'), to an instant clock.advanceTo('2030-01-02T00:00:00Z')."
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(
      `clock.${call}() takes options such as { maxTimers: 50_000 }, got ${JSON.stringify(options)}. ${byTime}`,
    )
  }
  if (Object.keys(options).length > 0) checkOptionNames(`clock.${call}()`, options, Object.keys(optionNames))
  if (options.until !== undefined && typeof options.until !== 'function') {
    throw new TypeError(
      `until of clock.${call}() is a function that says whether to stop, got ${JSON.stringify(options.until)}. ${byTime}`,
    )
  }
}

/** Timers that may fire at one instant, or in one `drain()`, before the clock calls it an endless loop … */
const leastBudget = 20_000
/** … and more of them for each timer and message that waits when the move begins: its retries, callbacks and theirs. */
const budgetPerWaiting = 20
/** Labels are counted for the last of a budget: they name what would not stop. */
const countedAtLast = 1_000
/** Timers after which the move yields to the host, so that a long one keeps nobody waiting. Counted, never timed. */
const timersPerPause = 100

/** One call that moves time: how far it may go, and whether it is to stop early. */
export class Move {
  /** Why it ends before it is done. */
  interruption: { readonly reason: unknown } | undefined
  readonly #budget: number
  #left: number
  readonly #budgetAtInstant: number
  #leftAtInstant: number
  #untilPause = timersPerPause
  readonly #fired = new Map<string, number>()

  /** @param waiting how many timers and messages wait */
  constructor(
    readonly call: ClockMove,
    budget: number | undefined,
    waiting: number,
    readonly until?: () => boolean,
  ) {
    if (budget !== undefined && !(budget >= 0)) {
      throw new RangeError(`clock.${call}() takes a number of timers as maxTimers, got ${String(budget)}.`)
    }
    const usual = leastBudget + budgetPerWaiting * waiting
    this.#budget = call === 'drain' ? (budget ?? usual) : Number.POSITIVE_INFINITY
    this.#left = this.#budget
    this.#budgetAtInstant = Math.max(usual, budget ?? 0)
    this.#leftAtInstant = this.#budgetAtInstant
  }

  newInstant(): void {
    this.#leftAtInstant = this.#budgetAtInstant
  }

  /** Whether one more timer may fire. */
  mayFire({ label, background }: Timer): boolean {
    // A drain ends as soon as only background timers are left.
    if (!background) this.#left--
    if (this.#left < 0 || --this.#leftAtInstant < 0) return false
    if (this.#left < countedAtLast || this.#leftAtInstant < countedAtLast) {
      this.#fired.set(label, (this.#fired.get(label) ?? 0) + 1)
    }
    return true
  }

  /** Whether to yield to the host now. */
  get isPauseDue(): boolean {
    if (--this.#untilPause > 0) return false
    this.#untilPause = timersPerPause
    return true
  }

  endOfTime(next: Timer): Error {
    return new Error(
      `clock.${this.call}() stopped before the end of time: "${next.label}" is due at ${iso(next.at)}, and clocks go until ${iso(endOfTime)}. Stop what schedules it.`,
    )
  }

  /** Why it gave up before this timer. */
  gaveUp(next: Timer, pending: number): Error {
    const [label, times] = [...this.#fired].sort((a, b) => b[1] - a[1])[0] ?? [next.label, 0]
    const last = [...this.#fired.values()].reduce((sum, count) => sum + count, 0)
    const most =
      this.#left < 0 ? `${this.#budget} timers fired` : `${this.#budgetAtInstant} timers fired at one instant`
    const allowing = this.call === 'drain' ? 'clock.drain({ maxTimers })' : `clock.${this.call}(…, { maxTimers })`
    return new Error(
      `The clock gave up: ${most}. Most often: "${label}" (${times} of the last ${last}); next: "${next.label}" at ${iso(next.at)}; ` +
        `${pending} still pending. If they never end, stop what schedules them; if they are just many, allow more with ${allowing}.`,
    )
  }
}
