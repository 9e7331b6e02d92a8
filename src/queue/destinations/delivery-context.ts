import type { Task } from '../../kernel/time.js'

/** Timeout, clock and random draws of one attempt, for the code that responds to it. */
export interface DeliveryContext {
  readonly task: Task
  /** Timeout of the attempt in milliseconds. */
  readonly timeout: number
  /** Maximum size of a kept response body in bytes. */
  readonly longestBody: number
  /** Registers a function that runs when the attempt times out. */
  onTimeout(run: () => void): void
  /** Pauses the timeout while the attempt waits to be started, until the returned function is called. */
  waits(): () => void
  now(): number
  /** Draws a whole number below a bound, for faults of scripts that need a random decision. */
  draw(below: number): number
  /**
   * Makes a duplicate delivery, which does not affect the attempt: `afterMs` milliseconds later, or with `now`
   * immediately and in parallel.
   */
  again(afterMs: number, run: (context: DeliveryContext) => Promise<void>, when?: 'now'): void
}
