import type { RunningTask } from './running-task.js'

export class RunningWork {
  readonly tasks: Set<RunningTask> = new Set()
  /**
   * Task that the last timer started or woke. Running code is assumed to belong to this task, until the clock has
   * waited for the task.
   */
  latest: RunningTask | undefined
  #idleWaiters: (() => void)[] = []

  get isBusy(): boolean {
    for (const task of this.tasks) if (task.awake) return true
    return false
  }

  /** Whether any task other than a request blocks time. */
  get isBusyInside(): boolean {
    for (const task of this.tasks) if (task.awake && !task.isTracked) return true
    return false
  }

  /**
   * The task whose code is probably running. This is the task that the last timer started or woke. After the clock has
   * waited for that task, this is the only task that is awake, or `undefined` if several tasks are awake.
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

  idle(): Promise<void> {
    return new Promise((resolve) => this.#idleWaiters.push(resolve))
  }

  /**
   * Resolves the promises that `idle()` returned. Called when the last work has ended, and when a waiting caller must
   * check its condition again.
   */
  wakeWaiters(): void {
    const waiters = this.#idleWaiters
    this.#idleWaiters = []
    for (const waiter of waiters) waiter()
  }
}
