import type { RunningTask } from './running-task.js'

/** The work that a clock waits for. */
export class RunningWork {
  readonly tasks: Set<RunningTask> = new Set()
  /** Task that the last timer started or woke. The code that runs belongs to it, until the clock has waited for it. */
  latest: RunningTask | undefined
  #idleWaiters: (() => void)[] = []

  /** Whether any work blocks time. */
  get isBusy(): boolean {
    for (const task of this.tasks) if (task.awake) return true
    return false
  }

  /** Whether work other than requests blocks time. */
  get isBusyInside(): boolean {
    for (const task of this.tasks) if (task.awake && !task.isTracked) return true
    return false
  }

  /**
   * The task whose code is running, as far as known.
   * It is the one that the last timer started or woke; after the clock has waited for it, the only one that is awake.
   * Timers run one after the other, so there is rarely a second one.
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

  /** Called when nothing runs any more, or when callers that wait for that must check again. */
  wakeWaiters(): void {
    const waiters = this.#idleWaiters
    this.#idleWaiters = []
    for (const waiter of waiters) waiter()
  }
}
