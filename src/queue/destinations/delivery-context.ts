import type { Task } from '../../kernel/time.js'

/** What an attempt tells its destination. */
export interface DeliveryContext {
  readonly task: Task
  /** Milliseconds until the attempt is given up. */
  readonly timeout: number
  /** Bytes of an answer's body that are kept. */
  readonly longestBody: number
  /** Calls back when the attempt is given up. */
  onTimeout(run: () => void): void
  /** It waits for its turn, which takes nothing of its time, until what is returned is called. */
  waits(): () => void
  now(): number
  /** A whole number below a bound, for faults of scripts that leave something to chance. */
  draw(below: number): number
  /** Delivers once more, as work of its own: after this many milliseconds, or alongside what runs. */
  again(afterMs: number, run: (context: DeliveryContext) => Promise<void>, when?: 'now'): void
}
