import { type Duration, milliseconds } from './duration.js'
import { instant } from './instant.js'
import type { Task, Timer, TimerOptions, TimerRun, TimerTarget } from './time.js'

/** What a task needs of its clock. */
export interface TaskClock {
  now(): number
  schedule(at: number, label: string, run: TimerRun | TimerTarget, options?: TimerOptions): Timer
  trackFor<T>(caller: RunningTask | undefined, label: string, work: (task: Task) => Promise<T>): Promise<T>
  fellAsleep(task: RunningTask): void
  woke(task: RunningTask): void
  /** Numbers tasks in the order in which they begin. */
  nextTask(): number
  /** The host's clock decides what a task counts as. */
  rests(task: RunningTask, as: 'given up' | 'dozing' | 'roused'): void
}

/** Why a request that slept is not served: its world was reset, loaded or disposed of. */
export class SandboxDisposed extends Error {
  constructor() {
    super('The world of this request was reset, loaded or dropped while it waited. Send it again.')
  }
}

const notAwaited = { awaited: false } as const

/** Work that the clock waits for, unless it sleeps. */
export class RunningTask implements Task {
  ended = false
  readonly number: number
  /** Sleeps of its own, and callees that sleep. */
  #sleeping = 0
  #whenAsleep: (() => void) | undefined
  #whenStuck: (() => string) | undefined
  #patience: (() => number | undefined) | undefined

  constructor(
    readonly label: string,
    readonly clock: TaskClock,
    /** False when a schedule started it while time was draining: then its sleeps do not keep time moving. */
    readonly awaited: boolean,
    /** The task that waits for this one. While a part of this one sleeps, the caller sleeps, too. */
    private caller: RunningTask | undefined,
  ) {
    this.number = clock.nextTask()
  }

  /** A task of which any part sleeps does not hold up time, or two parallel sleeps would wait for each other. */
  get awake(): boolean {
    return this.#sleeping === 0
  }

  get isTracked(): boolean {
    return this.label.startsWith('request ')
  }

  /** What a client sent, whose work this is: a request, or a command over a connection. */
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

  /** Real milliseconds that the clock waits for it; `undefined` for ever. */
  get patience(): number | undefined {
    return this.#patience?.()
  }

  /** From here on it counts as asleep, whatever it does. @returns what to warn of */
  giveUp(): string {
    this.clock.rests(this, 'given up')
    this.#patience = undefined
    const sentence = this.#whenStuck?.() ?? ''
    this.#rest(1)
    this.clock.fellAsleep(this)
    return sentence
  }

  /** It waits for a timer of the host, and counts as asleep until `rouse()`. */
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
        new Error(
          `task.sleep() was called after "${this.label}" had ended. Await the sleep inside the work it belongs to.`,
        ),
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
        // A client outside waits for a request; a left-over delivery must not affect the next world.
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
