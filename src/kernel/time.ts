import type { Duration } from './duration.js'

// Types for time and timers, as services use them.

export type TimerRun = (task: Task) => Promise<unknown> | void

/** Timer callback as a method of an existing object, so that a million timers do not need a million closures. */
export interface TimerTarget {
  fire(task: Task): Promise<unknown> | void
  /** Called when the clock stops before the timer fires. */
  stopped?(): void
}

/** Options of `clock.schedule()`. */
export interface TimerOptions {
  /** Whether the timer is recurring, such as a schedule or a keep-alive. `drain()` does not wait for it. */
  readonly background?: boolean
  /** `false`: a drain that is running does not wait for this timer, but the next one does. */
  readonly awaited?: boolean
}

/** A timer of the virtual clock. */
export interface Timer {
  /** Virtual time at which the timer fires, in milliseconds since the epoch. */
  readonly at: number
  /** Description of the work, such as `delivery to https://shop.test/orders`. */
  readonly label: string
  /** Whether `drain()` does not wait for the timer, for example because it is recurring. */
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
  /** Description of the work, such as `delivery to https://shop.test/orders`. */
  readonly label: string
  /**
   * Waits for a duration of virtual time, or until the signal is aborted. While any part of a task sleeps, the clock
   * may move.
   * @example
   * sandbox.destinations.on('https://shop.test/orders', async (request, task) => {
   *   await task.sleep('2s')
   *   return new Response()
   * })
   */
  sleep(wait: Duration, signal?: AbortSignal): Promise<void>
  /**
   * Registers a callback for each time when the task falls asleep, by its own sleep or by a request that it sent.
   * @internal
   */
  whenAsleep?(run: () => void): void
  /**
   * Makes the task count as asleep, because it waits for something in the sandbox. The returned function ends this.
   * @internal
   */
  fallAsleep?(): () => void
  /**
   * Sets a stall timeout: host milliseconds for which the clock waits while the work neither ends nor sleeps.
   * After the timeout, `run` is called, the work counts as asleep, and time moves on. The text that `run` returns is
   * printed as a warning. If `patience` returns `undefined`, there is no limit.
   * @internal
   */
  whenStuck?(patience: () => number | undefined, run: () => string): void
  /**
   * Runs more work, such as sending a slow body, that may outlast this task. The task's caller also waits for it.
   * @internal
   */
  beside?<T>(label: string, work: (task: Task) => Promise<T>): Promise<T>
}
