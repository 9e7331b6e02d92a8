import type { RunningTask } from './running-task.js'

/** The work that a clock waits for. */
export class RunningWork {
  readonly tasks: Set<RunningTask> = new Set()
  /**
   * Task that the last timer started or woke. The clock assumes that running code belongs to this task, until it has
   * waited for it.
   */
  latest: RunningTask | undefined
  #idleWaiters: (() => void)[] = []

  /** Whether any work blocks time. */
  get isBusy(): boolean {
    for (const task of this.tasks) if (task.awake) return true
    return false
  }

  /** Whether any work other than a request blocks time. */
  get isBusyInside(): boolean {
    for (const task of this.tasks) if (task.awake && !task.isTracked) return true
    return false
  }

  /**
   * The task whose code is running, as far as it is known.
   * It is the task that the last timer started or woke. After the clock has waited for that task, it is the only awake
   * task, if there is exactly one.
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

  /** Returns a promise that resolves at the next `wakeWaiters()`. */
  idle(): Promise<void> {
    return new Promise((resolve) => this.#idleWaiters.push(resolve))
  }

  /**
   * Resolves the promises of `idle()`. Called when no work runs anymore, or when a waiting caller must check its
   * condition again.
   */
  wakeWaiters(): void {
    const waiters = this.#idleWaiters
    this.#idleWaiters = []
    for (const waiter of waiters) waiter()
  }
}
