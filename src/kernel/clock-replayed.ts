import type { ClockCore } from './clock-core.js'
import type { Mode, WaitingCommand } from './clock-mode.js'
import { type ClockMove, Move } from './move.js'

/** A journal is played: time moves as its `Rewind` says, and in no other way. */
export class ReplayedMode implements Mode {
  readonly #core: ClockCore
  /** What moves time when the past is over. */
  after: Mode
  /** Whether time was draining when the timer fired that fires now. */
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

/** Plays what a journal tells of time, in place of whoever moved it. */
export class Rewind {
  readonly #core: ClockCore
  readonly #mode: ReplayedMode
  readonly #byHand: Mode
  #ended: (() => void) | undefined

  /**
   * @param after what moves time when the past is over …
   * @param byHand … and what moves that of a fork
   */
  constructor(core: ClockCore, after: Mode, byHand: Mode) {
    this.#core = core
    this.#mode = new ReplayedMode(core, after)
    this.#byHand = byHand
    core.time = core.now()
    core.enter(this.#mode)
  }

  /** A call that moves time begins. */
  begin(call: ClockMove): void {
    this.#core.move = new Move(call, undefined, 0)
    if (call === 'drain') this.#core.timers.promoteAll()
    this.#ended = this.#core.company.log?.moves(call)
  }

  /** The call that moves time ends. */
  end(): void {
    this.#core.move = undefined
    this.#ended?.()
    this.#ended = undefined
  }

  moveTo(at: number): void {
    if (at > this.#core.time) void this.#core.moveTo(at)
  }

  /** Fires the next timer. @throws Error when that is another one */
  fire(number: number, isDraining: boolean): void {
    const timer = this.#core.timers.next()
    if (timer?.sequence !== number) {
      throw new Error(`timer ${number} is next, not ${timer?.sequence} (${timer?.label})`)
    }
    this.#mode.isDraining = isDraining
    this.#core.fire(timer)
    this.#mode.isDraining = false
  }

  /** The host's clock had its say about a task. */
  rest(number: number, as: 'given up' | 'dozing' | 'roused'): void {
    const task = [...this.#core.work.tasks].find((one) => one.number === number)
    if (as === 'given up') task?.giveUp()
    else if (as === 'dozing') task?.doze()
    else task?.rouse()
  }

  /** Here a fork began: the move that led here is none of its own, and it is moved by hand. */
  fork(): void {
    this.#core.move = undefined
    this.#ended = undefined
    this.#core.work.latest = undefined
    this.#mode.after = this.#byHand
  }

  /**
   * The past is over: time stands until it is moved.
   * @param resume called when somebody first waits for what is under way
   */
  finish(resume: () => void): void {
    const core = this.#core
    core.enter(this.#mode.after)
    core.resume = resume
    core.outsideMayContinue = false
    core.failures = []
  }
}
