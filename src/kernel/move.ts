import type { Timer } from './time.js'

/** The calls that move time. */
export type DriveCall = 'advance' | 'advanceTo' | 'drain'

/** What calls that move time take. */
export interface MoveOptions {
  /** Ends the move where it is: what fell due until then has run, and the clock can be moved on from there. */
  readonly signal?: AbortSignal
}

/** Timers that may fire at one instant, or in one `drain()`, before the clock calls it an endless loop … */
const leastBudget = 20_000
/** … and more of them for each timer and message that waits when the move begins: its retries, callbacks and theirs. */
const budgetPerWaiting = 20
/** Labels are counted for the last of a budget: they name what would not stop. */
const countedAtLast = 1_000
/** Timers after which the host gets its turn, so that a long move keeps nobody waiting. Counted, never timed. */
const timersPerPause = 100

/** One call that moves time: how far it may go, and whether it shall end before. */
export class Move {
  /** Why it ends before it is done. */
  interruption: { readonly reason: unknown } | undefined
  #left: number
  readonly #budgetAtInstant: number
  #leftAtInstant: number
  #untilPause = timersPerPause
  readonly #fired = new Map<string, number>()

  /**
   * @param budget of `drain()`; by default it depends on what waits
   * @param waiting how many timers and messages wait
   */
  constructor(
    readonly call: DriveCall,
    budget: number | undefined,
    waiting: number,
  ) {
    const usual = leastBudget + budgetPerWaiting * waiting
    this.#left = call === 'drain' ? (budget ?? usual) : Number.POSITIVE_INFINITY
    this.#budgetAtInstant = Math.max(usual, budget ?? 0)
    this.#leftAtInstant = this.#budgetAtInstant
  }

  newInstant(): void {
    this.#leftAtInstant = this.#budgetAtInstant
  }

  /** Whether one more timer may fire. */
  mayFire({ label, background }: Timer): boolean {
    // A drain ends as soon as only background timers are left: those keep nobody from ending.
    if (!background) this.#left--
    if (this.#left < 0 || --this.#leftAtInstant < 0) return false
    if (this.#left < countedAtLast || this.#leftAtInstant < countedAtLast) {
      this.#fired.set(label, (this.#fired.get(label) ?? 0) + 1)
    }
    return true
  }

  /** Whether the host shall have its turn now. */
  get isPauseDue(): boolean {
    if (--this.#untilPause > 0) return false
    this.#untilPause = timersPerPause
    return true
  }

  /** What would not stop, as a part of a sentence. */
  culprit(next: Timer): string {
    const [label, times] = [...this.#fired].sort((a, b) => b[1] - a[1])[0] ?? [next.label, 0]
    const all = [...this.#fired.values()].reduce((sum, count) => sum + count, 0)
    return `Most often fired: "${label}" (${times} of the last ${all})`
  }
}
