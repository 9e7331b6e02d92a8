import { type Duration, milliseconds } from './duration.js'
import { instant } from './instant.js'
import type { Task, Timer, TimerOptions, TimerRun, TimerTarget } from './time.js'

export interface TaskClock {
  now(): number
  schedule(at: number, label: string, run: TimerRun | TimerTarget, options?: TimerOptions): Timer
  trackFor<T>(caller: RunningTask | undefined, label: string, work: (task: Task) => Promise<T>): Promise<T>
  fellAsleep(task: RunningTask): void
  woke(task: RunningTask): void
  /** Returns the number of a new task. Tasks are numbered in the order in which they begin. */
  nextTask(): number
  /** Records that a task counts as asleep or as awake from now on, because of host time. A replay must repeat this. */
  rests(task: RunningTask, as: 'given up' | 'dozing' | 'roused'): void
}

/** Error of a request that was waiting in virtual time when its sandbox was reset, loaded or disposed. */
export class SandboxDisposed extends Error {
  constructor() {
    super('The sandbox was reset, loaded or disposed while this request waited. Send it again.')
  }
}

const notAwaited = { awaited: false } as const

/** Work that blocks virtual time while it is not asleep. */
export class RunningTask implements Task {
  ended = false
  readonly number: number
  /**
   * Number of sleeps because of which this task counts as asleep: its own sleeps, and sleeps of tasks for which it
   * waits.
   */
  #sleeping = 0
  #whenAsleep: (() => void) | undefined
  #whenStuck: (() => string) | undefined
  #patience: (() => number | undefined) | undefined

  constructor(
    readonly label: string,
    readonly clock: TaskClock,
    /** False if a schedule started this task during a drain. That drain then does not wait for sleeps of this task. */
    readonly awaited: boolean,
    /** Task that waits for this task. While this task sleeps, the waiting task counts as asleep too. */
    private caller: RunningTask | undefined,
  ) {
    this.number = clock.nextTask()
  }

  /**
   * Whether the task blocks time. If several parts of a task run in parallel and one part sleeps, the task does not
   * block time. Otherwise, two parts that sleep would wait for each other forever.
   */
  get awake(): boolean {
    return this.#sleeping === 0
  }

  get isTracked(): boolean {
    return this.label.startsWith('request ')
  }

  /**
   * If this task processes a request or a command of a client: noun for messages, such as `a request`. Otherwise,
   * `undefined`.
   */
  get sentFromOutside(): string | undefined {
    if (this.isTracked) return 'a request'
    return this.label.startsWith('command ') ? `a command (${this.label.slice('command '.length)})` : undefined
  }

  get root(): RunningTask {
    return this.caller?.root ?? this
  }

  whenAsleep(run: () => void): void {
    this.#whenAsleep = run
    if (!this.awake) run()
  }

  whenStuck(patience: () => number | undefined, run: () => string): void {
    this.#patience = patience
    this.#whenStuck = run
  }

  /** Stall timeout of this task in milliseconds of host time; `undefined` for no limit. */
  get patience(): number | undefined {
    return this.#patience?.()
  }

  /**
   * Makes the task count as asleep from now on, because it ran longer than its stall timeout.
   * @returns the text of a warning
   */
  giveUp(): string {
    this.clock.rests(this, 'given up')
    this.#patience = undefined
    const sentence = this.#whenStuck?.() ?? ''
    this.#rest(1)
    this.clock.fellAsleep(this)
    return sentence
  }

  /** Makes the task count as asleep until `rouse()` is called, because it waits for a timer of a follower. */
  doze(): void {
    this.clock.rests(this, 'dozing')
    this.#rest(1)
    this.clock.fellAsleep(this)
  }

  rouse(): void {
    if (this.ended) return
    this.clock.rests(this, 'roused')
    this.#rest(-1)
    this.clock.woke(this)
  }

  beside<T>(label: string, work: (task: Task) => Promise<T>): Promise<T> {
    return this.clock.trackFor(this.caller, label, work)
  }

  sleep(wait: Duration, signal?: AbortSignal): Promise<void> {
    const at = instant(this.clock.now() + milliseconds(wait))
    if (this.ended) {
      return Promise.reject(
        new Error(`task.sleep() was called after "${this.label}" had ended. Await task.sleep() before the work ends.`),
      )
    }
    if (signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', abort)
        this.#rest(-1)
        this.clock.woke(this)
        resolve()
      }
      const timer = this.clock.schedule(
        at,
        `sleep in ${this.label}`,
        // The client of a request waits for the response, so the sleep of a request rejects. Other sleeps never end:
        // their code would otherwise continue and change the state after the reset.
        this.root.isTracked ? { fire: wake, stopped: () => reject(new SandboxDisposed()) } : wake,
        this.awaited ? undefined : notAwaited,
      )
      const abort = (): void => {
        timer.cancel()
        wake()
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#rest(1)
      this.clock.fellAsleep(this)
    })
  }

  fallAsleep(): () => void {
    let isAsleep = !this.ended
    if (isAsleep) {
      this.#rest(1)
      this.clock.fellAsleep(this)
    }
    return () => {
      if (!isAsleep) return
      isAsleep = false
      this.#rest(-1)
      this.clock.woke(this)
    }
  }

  end(): void {
    this.ended = true
    if (!this.awake && this.caller !== undefined) this.caller.#rest(-1)
    this.caller = undefined
  }

  #rest(change: 1 | -1): void {
    const was = this.awake
    this.#sleeping += change
    if (was === this.awake) return
    if (this.caller !== undefined) this.caller.#rest(change)
    if (was) this.#whenAsleep?.()
  }
}
