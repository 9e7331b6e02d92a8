import type { Duration } from './duration.js'

export type TimerRun = (task: Task) => Promise<unknown> | void

/**
 * Callback of a timer, as an object with a method `fire()`. A service can pass an object that it already has, so a
 * million timers need no closures.
 */
export interface TimerTarget {
  fire(task: Task): Promise<unknown> | void
  /** Called when the clock stops before the timer fires. */
  stopped?(): void
}

/** Options of `clock.schedule()`. */
export interface TimerOptions {
  /** Whether the timer is recurring, such as a schedule or a keep-alive. `drain()` does not wait for it. */
  readonly background?: boolean
  /** If false, a drain that is already running does not wait for this timer. Later drains wait for it. */
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
   * Registers a callback that is called each time the task falls asleep. A task also falls asleep while a request that
   * it sent sleeps.
   * @internal
   */
  whenAsleep?(run: () => void): void
  /**
   * Makes the task count as asleep, because it waits for something in the sandbox. Returns a function that wakes the
   * task again.
   * @internal
   */
  fallAsleep?(): () => void
  /**
   * Sets a stall timeout. `patience` returns the timeout in milliseconds of host time, or `undefined` for no limit. If
   * the work neither ends nor sleeps for that time, `run` is called, the work counts as asleep, and time moves on. The
   * text that `run` returns is printed as a warning.
   * @internal
   */
  whenStuck?(patience: () => number | undefined, run: () => string): void
  /**
   * Runs additional work that may end after this task, such as sending a slow body. The task that waits for this task
   * also waits for the additional work.
   * @internal
   */
  beside?<T>(label: string, work: (task: Task) => Promise<T>): Promise<T>
}
