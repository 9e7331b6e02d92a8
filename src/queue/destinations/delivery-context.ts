import type { Task } from '../../kernel/time.js'

/** Environment of an attempt at its destination. */
export interface DeliveryContext {
  readonly task: Task
  /** Timeout of the attempt in milliseconds. */
  readonly timeout: number
  /** Maximum size of a kept response body in bytes. */
  readonly longestBody: number
  /** Registers a function that runs when the attempt times out. */
  onTimeout(run: () => void): void
  /** Pauses the timeout while the attempt waits for its turn, until the returned function is called. */
  waits(): () => void
  now(): number
  /** Draws a whole number below a bound, for faults of scripts that need a random decision. */
  draw(below: number): number
  /** Delivers once more, as separate work: after this many milliseconds, or immediately and in parallel. */
  again(afterMs: number, run: (context: DeliveryContext) => Promise<void>, when?: 'now'): void
}
