import type { ClockCore } from './clock-core.js'
import { lookAtFollowers } from './clock-following.js'
import type { Mode } from './clock-mode.js'
import { hostPause, hostTurn } from './host.js'
import { endOfTime } from './instant.js'
import type { ClockMove } from './move.js'

/** Number of timers that an automatic clock fires before it pauses, so that the host can read its sockets. */
const turnsPerPause = 100

/** Skips time to the next timer when nothing runs. */
export class AutoMode implements Mode {
  readonly name = 'auto'
  readonly #core: ClockCore
  #isPumping = false
  /** The latest call that moves time. Each call starts when the previous call has ended. */
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

  /** The control API can send several calls that move time. They must not run at the same time. */
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
        // After one turn of the event loop, the caller can continue. The host reads its sockets only during a longer
        // pause.
        await (++fired % turnsPerPause === 0 ? hostPause() : hostTurn())
        await core.settle()
        if (!timers.hasForeground || core.move !== undefined) break
        const timer = timers.next()
        if (timer === undefined || timer.at > endOfTime) break
        if (followers.tellTimes && (await lookAtFollowers(core, timer.at, false))) continue
        if (timer.at > core.time) {
          await core.moveTo(timer.at)
          // A follower may have canceled or added timers.
          continue
        }
        core.fire(timer)
      }
    } finally {
      this.#isPumping = false
    }
  }
}
