import type { Task } from '../../kernel/time.js'

/** Context of one attempt for the code that responds: timeout, clock and random draws. */
export interface DeliveryContext {
  readonly task: Task
  /** Timeout of the attempt in milliseconds. */
  readonly timeout: number
  /** Number of bytes of a response body that are kept. Further bytes are dropped. */
  readonly longestBody: number
  /** Signal that is aborted if the attempt ends before the handler does. A duplicate delivery has none. */
  readonly signal: AbortSignal | undefined
  /** Registers a function that runs when the attempt times out. */
  onTimeout(run: () => void): void
  /**
   * Pauses the timeout of the attempt, because the delivery over the network may not start yet. Call the returned
   * function when the delivery starts.
   */
  waits(): () => void
  now(): number
  /** Returns a random whole number that is at least 0 and less than `below`, for faults of scripts. */
  draw(below: number): number
  /**
   * Makes a duplicate delivery without an effect on the attempt. It starts `afterMs` milliseconds later. With `now`, it
   * starts immediately and runs in parallel.
   */
  again(afterMs: number, run: (context: DeliveryContext) => Promise<void>, when?: 'now'): void
}
