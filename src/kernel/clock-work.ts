import type { RunningTask } from './running-task.js'

/** The work that a clock waits for. */
export class RunningWork {
  readonly tasks: Set<RunningTask> = new Set()
  /** What the last timer started or woke: the code that runs is its, until the clock has waited for it. */
  latest: RunningTask | undefined
  #idleWaiters: (() => void)[] = []

  /** Whether time stands still for any of it. */
  get isBusy(): boolean {
    for (const task of this.tasks) if (task.awake) return true
    return false
  }

  /** Whether time stands still for other work than requests. */
  get isBusyInside(): boolean {
    for (const task of this.tasks) if (task.awake && !task.isTracked) return true
    return false
  }

  /**
   * The task whose code calls us, as far as can be known: what the last timer started or woke, until it was waited
   * for; later the only one that is awake. Timers run one after the other, so there is hardly ever a second one.
   */
  get caller(): RunningTask | undefined {
    if (this.latest !== undefined && !this.latest.ended) return this.latest
    let only: RunningTask | undefined
    for (const task of this.tasks) {
      if (!task.awake || task.isTracked) continue
      if (only !== undefined) return undefined
      only = task
    }
    return only
  }

  /** Resolves with the next `wakeWaiters()`. */
  idle(): Promise<void> {
    return new Promise((resolve) => this.#idleWaiters.push(resolve))
  }

  /** Nothing runs any more, or whoever waits for that has to look again. */
  wakeWaiters(): void {
    const waiters = this.#idleWaiters
    this.#idleWaiters = []
    for (const waiter of waiters) waiter()
  }
}
