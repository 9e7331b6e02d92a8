import type { Duration } from './duration.js'

// What services see of time and of work in time.

export type TimerRun = (task: Task) => Promise<unknown> | void

/** What a timer does, as a method of an existing object: a million timers then need no million closures. */
export interface TimerTarget {
  fire(task: Task): Promise<unknown> | void
  /** The clock was stopped before. */
  stopped?(): void
}

/** Options of `clock.schedule()`. */
export interface TimerOptions {
  /** A timer that renews itself for ever (a schedule, a keep-alive): `drain()` does not wait for it. */
  readonly background?: boolean
  /** `false`: the present drain does not wait for it, the next one will. */
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

/** A timer as `clock.pending` tells of it. */
export type PendingTimer = Pick<Timer, 'at' | 'label' | 'background'>

/** A piece of work that the clock waits for. */
export interface Task {
  readonly label: string
  /**
   * Waits in virtual time, or until the signal is aborted. While any part of a task sleeps, the clock may move.
   * @example
   * sandbox.destinations.on('https://shop.test/orders', async (request, task) => {
   *   await task.sleep('2s')
   *   return new Response()
   * })
   */
  sleep(wait: Duration, signal?: AbortSignal): Promise<void>
  /** Calls back whenever the task falls asleep, by its own sleep or because a request that it made sleeps. @internal */
  whenAsleep?(run: () => void): void
  /** It waits for something that happens in the world itself, asleep until it calls what is returned. @internal */
  fallAsleep?(): () => void
  /**
   * What to do when the clock has waited this many real milliseconds for this work and it has neither ended nor slept:
   * afterwards it counts as asleep, and time moves on. The returned text becomes a warning. `undefined`: waits for ever.
   * @internal
   */
  whenStuck?(patience: () => number | undefined, run: () => string): void
  /** More work for the same caller, which continues after this task has ended, such as a body that trickles. @internal */
  beside?<T>(label: string, work: (task: Task) => Promise<T>): Promise<T>
}
