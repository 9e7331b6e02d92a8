import type { ClockCore } from './clock-core.js'
import type { Mode } from './clock-mode.js'
import { hostClearTimeout, hostPause, hostSetTimeout, hostTime, unref } from './host.js'
import type { ClockMove } from './move.js'

/**
 * Longest delay of a host timer, in milliseconds. Hosts fire immediately for delays above 2^31-1 ms, and many do not
 * count the time that the machine sleeps.
 */
const maxWait = 60_000
/**
 * Maximum number of due timers that one host timer fires. A loaded state may have thousands of due timers, which would
 * block the host.
 */
const timersInARow = 100

/** Clock mode in which time is system time. */
export class RealMode implements Mode {
  readonly name = 'real'
  readonly #core: ClockCore
  /**
   * Milliseconds by which this clock is ahead of system time. This clock is ahead if its time was later than system
   * time when this mode began or a dump was loaded, because time must not go back.
   */
  #ahead = 0
  /**
   * Time that was first read in this turn of the host's event loop. `undefined` if no code has read the time in this
   * turn.
   */
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

  /**
   * A timer may be due in the past. Such a timer keeps its instant, because due timers fire in the order of their
   * instants.
   */
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

/** Mode of a real clock while its sandbox is being loaded: time does not move until `resume()`. */
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
    `clock.${call}() can't move time with clock: 'real', which uses system time. Use clock: 'manual' or 'auto' (for a server: serve --clock manual).`,
  )
}
