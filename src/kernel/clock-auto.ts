import type { ClockCore } from './clock-core.js'
import { lookAtFollowers } from './clock-following.js'
import type { Mode } from './clock-mode.js'
import { hostPause, hostTurn } from './host.js'
import { endOfTime } from './instant.js'
import type { ClockMove } from './move.js'

/** Turns of a clock that moves by itself after which everybody else gets one. */
const turnsPerPause = 100

/** When nothing runs, time skips to the next timer. */
export class AutoMode implements Mode {
  readonly name = 'auto'
  readonly #core: ClockCore
  #isPumping = false
  /** The calls that move time, one after the other. */
  #calls: Promise<unknown> = Promise.resolve()

  constructor(core: ClockCore) {
    this.#core = core
  }

  get isDraining(): boolean {
    return this.#isPumping
  }

  now(): number {
    return this.#core.time
  }

  timerAt(at: number): number {
    return Math.max(at, this.#core.time)
  }

  wake(): void {
    if (!this.#isPumping) void this.#pump()
  }

  /** A person or a program at the control API may ask while a delivery runs: one after the other. */
  drive(_call: ClockMove, run: () => Promise<void>): Promise<void> {
    const turn = this.#calls.then(run)
    this.#calls = turn.catch(() => undefined)
    return turn
  }

  resume(at: number): void {
    this.#core.time = Math.max(this.#core.time, at)
    this.#core.wake()
  }

  async #pump(): Promise<void> {
    const core = this.#core
    const { timers, followers } = core
    this.#isPumping = true
    followers.mayBeStirred = true
    core.polling.restart()
    let fired = 0
    try {
      while (!core.isStopped && core.move === undefined && core.mode === this) {
        // A turn lets the caller go on, but no socket is looked at before a pause.
        await (++fired % turnsPerPause === 0 ? hostPause() : hostTurn())
        await core.settle()
        if (!timers.hasForeground || core.move !== undefined) break
        const timer = timers.next()
        if (timer === undefined || timer.at > endOfTime) break
        if (followers.tellTimes && (await lookAtFollowers(core, timer.at, false))) continue
        if (timer.at > core.time) {
          await core.moveTo(timer.at)
          // A follower may have cancelled or added timers.
          continue
        }
        core.fire(timer)
      }
    } finally {
      this.#isPumping = false
    }
  }
}
