import type { ClockCore } from './clock-core.js'
import type { Mode, WaitingCommand } from './clock-mode.js'
import { type ClockMove, Move } from './move.js'

/** Clock mode during the replay of a journal. Time moves only by calls of `Rewind`. */
export class ReplayedMode implements Mode {
  readonly #core: ClockCore
  after: Mode
  /** Whether time was draining when the timer that is being replayed fired. */
  isDraining = false

  constructor(core: ClockCore, after: Mode) {
    this.#core = core
    this.after = after
  }

  get name(): Mode['name'] {
    return this.after.name
  }

  now(): number {
    return this.#core.time
  }

  timerAt(at: number): number {
    return this.after.timerAt(at)
  }

  drive(call: ClockMove, run: () => Promise<void>): Promise<void> {
    return this.after.drive(call, run)
  }

  resume(at: number): void {
    this.#core.time = Math.max(this.#core.time, at)
  }

  waits(what: string, isWaiting: () => boolean): void {
    this.after.waits?.(what, isWaiting)
  }

  forgottenAdvance(commands: readonly WaitingCommand[]): string | undefined {
    return this.after.forgottenAdvance?.(commands)
  }
}

/** Replays the clock moves of a journal. */
export class Rewind {
  readonly #core: ClockCore
  readonly #mode: ReplayedMode
  readonly #byHand: Mode
  #ended: (() => void) | undefined

  /**
   * @param after mode that the clock gets after the replay
   * @param byHand manual mode, which the clock gets if the replay ends in a fork
   */
  constructor(core: ClockCore, after: Mode, byHand: Mode) {
    this.#core = core
    this.#mode = new ReplayedMode(core, after)
    this.#byHand = byHand
    core.time = core.now()
    core.enter(this.#mode)
  }

  begin(call: ClockMove): void {
    this.#core.move = new Move(call, undefined, 0)
    if (call === 'drain') this.#core.timers.promoteAll()
    this.#ended = this.#core.company.log?.moves(call)
  }

  end(): void {
    this.#core.move = undefined
    this.#ended?.()
    this.#ended = undefined
  }

  moveTo(at: number): void {
    if (at > this.#core.time) void this.#core.moveTo(at)
  }

  /**
   * Fires the next timer.
   * @param number sequence number that the timer must have
   * @param isDraining whether time was draining
   * @throws Error when another timer is next
   */
  fire(number: number, isDraining: boolean): void {
    const timer = this.#core.timers.next()
    if (timer?.sequence !== number) {
      throw new Error(
        `the recording fired timer ${number} next, the replay would fire ${timer?.sequence} (${timer?.label})`,
      )
    }
    this.#mode.isDraining = isDraining
    this.#core.fire(timer)
    this.#mode.isDraining = false
  }

  /**
   * Repeats a recorded change of a task. The change was recorded, because it depended on host time.
   * @param number number of the task
   */
  rest(number: number, as: 'given up' | 'dozing' | 'roused'): void {
    const task = [...this.#core.work.tasks].find((one) => one.number === number)
    if (as === 'given up') task?.giveUp()
    else if (as === 'dozing') task?.doze()
    else task?.rouse()
  }

  /** Begins a fork. The clock becomes manual, and the clock move that was running ends. */
  fork(): void {
    this.#core.move = undefined
    this.#ended = undefined
    this.#core.work.latest = undefined
    this.#mode.after = this.#byHand
  }

  /**
   * Ends the replay. Time then moves only by calls of the clock.
   * @param resume called when code first waits for the clock, to start the work that was in flight
   */
  finish(resume: () => void): void {
    const core = this.#core
    core.enter(this.#mode.after)
    core.resume = resume
    core.outsideMayContinue = false
    core.failures = []
  }
}
