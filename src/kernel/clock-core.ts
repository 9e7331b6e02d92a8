import { Dozing } from './clock-dozing.js'
import type { Mode } from './clock-mode.js'
import { Polling } from './clock-polling.js'
import { type ScheduledTimer, Timers } from './clock-timers.js'
import { RunningWork } from './clock-work.js'
import { Followers } from './followers.js'
import type { Gate } from './gate.js'
import { hostTurn } from './host.js'
import type { InputJournal } from './input-journal.js'
import { iso } from './instant.js'
import type { ClockMove, Move } from './move.js'
import { RunningTask, type TaskClock } from './running-task.js'
import { StallWatch } from './stall-watch.js'
import type { Task, TimerOptions, TimerRun, TimerTarget } from './time.js'

/** Objects that other modules attach to a clock. */
export interface AttachedFollowers {
  readonly log?: {
    /** Called when a clock move begins. The returned function is called when the move has ended. */
    moves(call: ClockMove): () => void
  }
  /**
   * Collections of items that wait without a timer, such as messages in a FIFO queue, by owner. A clock move may fire
   * more timers for each of these items.
   */
  readonly waiting?: Readonly<Record<string, { readonly size: number }>>
  /** Records clock moves, so that they can be replayed. */
  readonly journal?: Pick<InputJournal, 'note'>
}

/** Number of microtasks that work may take before the clock begins to watch for a stall. */
const quickTurns = 16

/**
 * State that all clock modes share: the timers in order, the present instant and the running work. A mode decides when
 * time moves.
 */
export class ClockCore implements TaskClock {
  mode: Mode
  /** Present instant, in modes that do not use host time. */
  time: number
  readonly timers: Timers = new Timers()
  readonly work: RunningWork = new RunningWork()
  readonly followers: Followers = new Followers()
  readonly dozing: Dozing
  readonly polling: Polling
  readonly gate: Gate
  readonly warn: (text: string) => void
  company: AttachedFollowers = {}
  move: Move | undefined
  isStopped = false
  /**
   * Whether code that the clock does not track got a response. The clock then waits for a turn of the event loop, so
   * that this code can continue before time moves.
   */
  outsideMayContinue = false
  /**
   * Starts the work that was in flight at the start of a fork. Called when code first waits for the clock of the fork.
   */
  resume: (() => void) | undefined
  /** Errors of work. The running clock move throws them. */
  failures: unknown[] = []
  readonly #listeners = new Set<(from: number, to: number) => void>()
  #tasks = 0

  constructor(time: number, gate: Gate, warn: (text: string) => void, mode: (core: ClockCore) => Mode) {
    this.time = time
    this.gate = gate
    this.warn = warn
    this.dozing = new Dozing(this.work, this.followers, gate)
    this.polling = new Polling(gate, this.work, warn)
    this.mode = mode(this)
  }

  now(): number {
    return this.mode.now()
  }

  get isDraining(): boolean {
    return this.move?.call === 'drain' || this.mode.isDraining === true
  }

  onMove(listener: (from: number, to: number) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  schedule(at: number, label: string, run: TimerRun | TimerTarget, options?: TimerOptions): ScheduledTimer {
    if (!Number.isFinite(at))
      throw new RangeError(`schedule(): at must be a finite number of milliseconds (got ${at} for "${label}").`)
    const timer = this.timers.add(this.mode.timerAt(at), label, run, options)
    this.wake()
    return timer
  }

  /**
   * Runs work that blocks virtual time.
   * @param caller task that waits for this work, if there is one
   */
  async trackFor<T>(caller: RunningTask | undefined, label: string, work: (task: Task) => Promise<T>): Promise<T> {
    const task = new RunningTask(label, this, caller?.awaited ?? true, caller)
    this.work.tasks.add(task)
    try {
      return await work(task)
    } finally {
      this.#ended(task)
    }
  }

  fire(timer: ScheduledTimer): void {
    this.timers.take(timer)
    this.followers.mayBeStirred = true
    this.company.journal?.note(this.isDraining ? 'drained' : 'fired', timer.sequence)
    const task = new RunningTask(timer.label, this, timer.awaited || !timer.background, undefined)
    this.work.latest = task
    try {
      const { run } = timer
      const outcome = typeof run === 'function' ? run(task) : run.fire(task)
      if (outcome === undefined) task.end()
      else {
        this.work.tasks.add(task)
        void this.#finish(task, outcome)
      }
    } catch (error) {
      task.end()
      this.#failed(task, error)
    }
  }

  async #finish(task: RunningTask, outcome: Promise<unknown>): Promise<void> {
    try {
      await outcome
    } catch (error) {
      this.#failed(task, error)
    } finally {
      this.#ended(task)
    }
  }

  #ended(task: RunningTask): void {
    task.end()
    this.work.tasks.delete(task)
    if (!this.work.isBusy) this.#becameIdle()
  }

  /**
   * Reports an error of a timer. Timers handle expected failures, so an error that arrives here is a bug or a misuse
   * and must be visible.
   */
  #failed(task: Task, error: unknown): void {
    if (this.move !== undefined) this.failures.push(error)
    else
      this.warn(
        `stuntdouble: "${task.label}" failed: ${error instanceof Error ? (error.stack ?? error.message) : error}`,
      )
  }

  /**
   * Moves virtual time to an instant. Each follower moves by the same duration.
   * @returns a promise if a follower is asynchronous, otherwise `undefined`
   */
  moveTo(to: number): Promise<void> | undefined {
    const from = this.now()
    this.time = to
    if (to > from) for (const listener of this.#listeners) listener(from, to)
    return this.followers.count > 0 ? this.followers.advanceBy(to - from) : undefined
  }

  wake(): void {
    if (!this.isStopped) this.mode.wake?.()
  }

  #becameIdle(): void {
    this.work.wakeWaiters()
    this.wake()
  }

  fellAsleep(task: RunningTask): void {
    const { sentFromOutside } = task
    if (sentFromOutside !== undefined) this.mode.waits?.(sentFromOutside, () => !task.awake && !task.ended)
    if (!this.work.isBusy) this.#becameIdle()
  }

  woke(task: RunningTask): void {
    this.work.latest = task.root
    this.outsideMayContinue = true
  }

  nextTask(): number {
    return ++this.#tasks
  }

  rests(task: RunningTask, as: 'given up' | 'dozing' | 'roused'): void {
    this.company.journal?.note('rested', { task: task.number, as })
  }

  /**
   * Waits until no work runs. Untracked code that got a response also gets a turn to continue. Returns earlier if the
   * move is interrupted.
   */
  async settle(move?: Move): Promise<void> {
    const { resume, gate, work } = this
    this.resume = undefined
    resume?.()
    while (!this.isStopped && move?.interruption === undefined) {
      if (this.polling.isEndless) {
        await (gate.pause ?? hostTurn())
        this.polling.warn(move === undefined ? 'settled' : move.call, this.now())
        return
      }
      if (work.isBusy) await this.#untilIdle()
      work.latest = undefined
      if (work.isBusy) continue
      const { pause } = gate
      if (pause !== undefined) {
        await pause
        this.outsideMayContinue = true
      } else if (this.outsideMayContinue) {
        this.outsideMayContinue = false
        await hostTurn()
      } else return
    }
  }

  async #untilIdle(): Promise<void> {
    // Most work ends within a few microtasks, so the stall watch starts only after them.
    for (let turn = 0; turn < quickTurns; turn++) {
      await undefined
      if (!this.work.isBusy) return
    }
    const idle = this.work.idle()
    const watch = new StallWatch(this.work.tasks, this.warn, () => this.move?.call)
    const endDozing = this.followers.tellTimes ? this.dozing.watch() : undefined
    await idle
    endDozing?.()
    watch.end()
  }

  /** Ends a move early: its call rejects with the reason. */
  interrupt(move: Move, reason: unknown): void {
    move.interruption ??= { reason }
    this.work.wakeWaiters()
  }

  enter(mode: Mode): void {
    this.mode.end?.()
    this.mode = mode
  }

  stop(): void {
    this.isStopped = true
    this.timers.stop()
    const { move } = this
    if (move !== undefined) {
      const why = `clock.${move.call}() ended at ${iso(this.now())}: the sandbox was reset, loaded or disposed.`
      this.interrupt(move, new Error(why))
    } else this.work.wakeWaiters()
    this.mode.end?.()
  }
}
