import { endOfTime, iso } from './instant.js'
import { checkOptionNames } from './nearest-name.js'
import type { Timer } from './time.js'

/** Names of the methods that move time. */
export type ClockMove = 'advance' | 'advanceTo' | 'drain'

/** Options of the methods that move time. */
export interface AdvanceOptions {
  /**
   * Signal that stops the move when it is aborted. All timers that were due until then have run. Afterwards, the clock
   * can be moved again.
   */
  readonly signal?: AbortSignal
  /**
   * Maximum number of timers that may fire at one instant. It is also the maximum for a whole `drain()`, without the
   * timers of schedules. Beyond it, the call throws an error that names the timer that fired most often. Default:
   * 20,000, plus 20 for each timer and message that waits when the move starts.
   */
  readonly maxTimers?: number
  /** Function that is called each time that no work runs. If it returns true, the move ends at that instant. */
  readonly until?: () => boolean
}

const optionNames: Readonly<Record<keyof AdvanceOptions, true>> = { signal: true, maxTimers: true, until: true }

/**
 * Checks the options of a clock move.
 * @throws TypeError when an option is unknown or when a time is passed instead of options
 */
export function checkMove(call: ClockMove, options: AdvanceOptions): void {
  const byTime = "To move time, use clock.advance('30s') or clock.advanceTo('2030-01-02T00:00:00Z')."
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(
      `clock.${call}(): options must be an object such as { maxTimers: 50_000 } (got ${JSON.stringify(options)}). ${byTime}`,
    )
  }
  if (Object.keys(options).length > 0) checkOptionNames(`clock.${call}()`, options, Object.keys(optionNames))
  if (options.until !== undefined && typeof options.until !== 'function') {
    throw new TypeError(
      `clock.${call}(): until must be a function that returns whether to stop (got ${JSON.stringify(options.until)}). ${byTime}`,
    )
  }
}

/**
 * Default maximum of timers that may fire at one instant, or in one `drain()`. More timers probably mean an endless
 * loop.
 */
const leastBudget = 20_000
/**
 * Additional timers that a move allows for each timer or message that waits at its start. Such a message may have
 * retries and callbacks, and callbacks have retries too.
 */
const budgetPerWaiting = 20
/** Number of recent timers whose labels are counted, for a message that names the label that occurred most often. */
const countedAtLast = 1_000
/** Number of timers that a move fires before it lets other code of the host run. */
const timersPerPause = 100

/** One clock move, with its limits and the reason for an early end. */
export class Move {
  /** Reason why the move must end early. `undefined` if there is no such reason. */
  interruption: { readonly reason: unknown } | undefined
  readonly #budget: number
  #left: number
  readonly #budgetAtInstant: number
  #leftAtInstant: number
  #untilPause = timersPerPause
  readonly #fired = new Map<string, number>()

  /** @param waiting number of timers and messages that wait at the start of the move */
  constructor(
    readonly call: ClockMove,
    budget: number | undefined,
    waiting: number,
    readonly until?: () => boolean,
  ) {
    if (budget !== undefined && !(budget >= 0)) {
      throw new RangeError(`clock.${call}(): maxTimers must be a number of timers (got ${String(budget)}).`)
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

  /** Counts a timer. Returns whether it may fire. */
  mayFire({ label, background }: Timer): boolean {
    // Background timers are not counted, because a drain ends when only they are left.
    if (!background) this.#left--
    if (this.#left < 0 || --this.#leftAtInstant < 0) return false
    if (this.#left < countedAtLast || this.#leftAtInstant < countedAtLast) {
      this.#fired.set(label, (this.#fired.get(label) ?? 0) + 1)
    }
    return true
  }

  /** Whether the move must now yield to the host. */
  get isPauseDue(): boolean {
    if (--this.#untilPause > 0) return false
    this.#untilPause = timersPerPause
    return true
  }

  endOfTime(next: Timer): Error {
    return new Error(
      `clock.${this.call}() stopped: "${next.label}" is due at ${iso(next.at)}, after the last instant of a clock, ${iso(endOfTime)}. Stop the code that schedules it.`,
    )
  }

  /** Returns the error of a move that reached its limit before `next` fired. @param pending number of waiting timers */
  gaveUp(next: Timer, pending: number): Error {
    const [label, times] = [...this.#fired].sort((a, b) => b[1] - a[1])[0] ?? [next.label, 0]
    const last = [...this.#fired.values()].reduce((sum, count) => sum + count, 0)
    const most =
      this.#left < 0 ? `${this.#budget} timers fired` : `${this.#budgetAtInstant} timers fired at one instant`
    const allowing = this.call === 'drain' ? 'clock.drain({ maxTimers })' : `clock.${this.call}(…, { maxTimers })`
    return new Error(
      `clock.${this.call}() stopped: ${most}, the limit maxTimers. Most often: "${label}" (${times} of the last ${last}); next: "${next.label}" at ${iso(next.at)}; ` +
        `${pending} pending. If they never end, stop the code that schedules them. Otherwise, raise the limit with ${allowing}.`,
    )
  }
}
