import type { ClockCore } from './clock-core.js'
import type { Mode } from './clock-mode.js'
import { hostClearTimeout, hostPause, hostSetTimeout, hostTime, unref } from './host.js'
import type { ClockMove } from './move.js'

/**
 * Longest that a timer of the host is set for. Hosts fire at once when asked to wait for longer than 2^31-1 ms, and many
 * do not count the time that the machine sleeps.
 */
const maxWait = 60_000
/** Of many timers that are due the others follow with the next timer of the host: a loaded state may have thousands. */
const timersInARow = 100

/** Time is the host's. */
export class RealMode implements Mode {
  readonly name = 'real'
  readonly #core: ClockCore
  /** How far time is ahead of the host's, which was behind when this clock took over: time does not go back. */
  #ahead = 0
  /** The time as it was when the host's present turn began to matter. */
  #stands: number | undefined
  #hostTimer: ReturnType<typeof hostSetTimeout> | undefined

  constructor(core: ClockCore) {
    this.#core = core
  }

  now(): number {
    return this.#stands ?? hostTime() + this.#ahead
  }

  standStill(): number {
    if (this.#stands === undefined) {
      this.#stands = this.now()
      void hostPause().then(() => {
        this.#stands = undefined
      })
    }
    return this.#stands
  }

  /** A timer may be late, and keeps its place in the order of what is due. */
  timerAt(at: number): number {
    return at
  }

  wake(): void {
    this.end()
    const timer = this.#core.timers.next()
    if (timer === undefined) return
    const wait = Math.min(Math.max(0, timer.at - this.now()), maxWait)
    this.#hostTimer = hostSetTimeout(() => this.#fireDue(), wait)
    unref(this.#hostTimer)
  }

  #fireDue(): void {
    this.#hostTimer = undefined
    const core = this.#core
    for (let left = timersInARow; left > 0; left--) {
      const due = core.timers.next()
      if (due === undefined || due.at > this.now()) break
      core.fire(due)
    }
    this.wake()
  }

  drive(call: ClockMove): never {
    return refuse(call)
  }

  resume(at: number): void {
    const core = this.#core
    core.time = Math.max(core.time, at)
    this.#ahead = Math.max(0, core.time - hostTime())
    core.wake()
  }

  end(): void {
    if (this.#hostTimer !== undefined) hostClearTimeout(this.#hostTimer)
    this.#hostTimer = undefined
  }
}

/** Of a clock that will be real once its world is loaded: time stands until it goes on. */
export class HeldMode implements Mode {
  readonly name = 'real'
  readonly #core: ClockCore

  constructor(core: ClockCore) {
    this.#core = core
  }

  now(): number {
    return this.#core.time
  }

  timerAt(at: number): number {
    return at
  }

  drive(call: ClockMove): never {
    return refuse(call)
  }

  resume(at: number): void {
    const mode = new RealMode(this.#core)
    this.#core.enter(mode)
    mode.resume(at)
  }
}

function refuse(call: ClockMove): never {
  throw new Error(
    `clock.${call}() moves time, and with clock: 'real' time is the host's. Use clock: 'manual' or 'auto'; for a server: serve --clock manual.`,
  )
}
