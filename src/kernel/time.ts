import type { Duration } from './duration.js'

// Time and timers as services see them.

export type TimerRun = (task: Task) => Promise<unknown> | void

/** A timer callback as a method of an existing object, so that a million timers need no million closures. */
export interface TimerTarget {
  fire(task: Task): Promise<unknown> | void
  /** Called when the clock stops before the timer fires. */
  stopped?(): void
}

/** Options of `clock.schedule()`. */
export interface TimerOptions {
  /** Whether the timer is recurring, such as a schedule or a keep-alive. `drain()` does not wait for it. */
  readonly background?: boolean
  /** `false`: the present drain does not wait for it, but the next one does. */
  readonly awaited?: boolean
}

/** A timer of the virtual clock. */
export interface Timer {
  readonly at: number
  readonly label: string
  readonly background: boolean
  /**
   * Removes the timer, so that it never fires.
   * @example
   * const timer = sandbox.clock.schedule(sandbox.clock.now() + 60_000, 'refresh', () => {})
   * timer.cancel()
   * expect(sandbox.clock.pending).toEqual([])
   */
  cancel(): void
}

/** A timer as `clock.pending` shows it. */
export type PendingTimer = Pick<Timer, 'at' | 'label' | 'background'>

/** Work that the clock waits for. */
export interface Task {
  readonly label: string
  /**
   * Waits in virtual time, or until the signal is aborted. The clock may move while any part of a task sleeps.
   * @example
   * sandbox.destinations.on('https://shop.test/orders', async (request, task) => {
   *   await task.sleep('2s')
   *   return new Response()
   * })
   */
  sleep(wait: Duration, signal?: AbortSignal): Promise<void>
  /** Calls back whenever the task falls asleep, because of its own sleep or of a request that it made. @internal */
  whenAsleep?(run: () => void): void
  /**
   * Makes the task count as asleep until it calls the returned function, because it waits for something in the sandbox.
   * @internal
   */
  fallAsleep?(): () => void
  /**
   * Sets what happens when the clock has waited this many host milliseconds and the work has neither ended nor slept.
   * The work then counts as asleep, and time moves on. The returned text becomes a warning. `undefined` means no limit.
   * @internal
   */
  whenStuck?(patience: () => number | undefined, run: () => string): void
  /** Runs more work for the same caller, which continues after this task has ended, such as a slow body. @internal */
  beside?<T>(label: string, work: (task: Task) => Promise<T>): Promise<T>
}
