import type { ClockCore } from './clock-core.js'
import { lookAtFollowers } from './clock-following.js'
import { hostPause } from './host.js'
import { endOfTime, instant, iso } from './instant.js'
import { type AdvanceOptions, type ClockMove, checkMove, Move } from './move.js'

export class ClockMoves {
  readonly #core: ClockCore

  constructor(core: ClockCore) {
    this.#core = core
  }

  /** @param wait duration in milliseconds */
  advance(wait: number, options: AdvanceOptions): Promise<void> {
    return this.#drive('advance', options, (move) => this.#runUntil(move, instant(this.#core.now() + wait)))
  }

  advanceTo(target: number, options: AdvanceOptions): Promise<void> {
    return this.#drive('advanceTo', options, (move) => {
      const now = this.#core.now()
      if (target >= now) return this.#runUntil(move, target)
      throw new RangeError(
        `clock.advanceTo(): the instant must not be in the past (got ${iso(target)}, now is ${iso(now)}). Create a sandbox with an earlier startAt.`,
      )
    })
  }

  drain(options: AdvanceOptions): Promise<void> {
    return this.#drive('drain', options, (move) => {
      this.#core.timers.promoteAll()
      return this.#runUntil(move, Number.POSITIVE_INFINITY)
    })
  }

  /** @returns the name of the interrupted call, or `undefined` if time was not moving */
  interrupt(): ClockMove | undefined {
    const { move } = this.#core
    if (move === undefined) return undefined
    const why = `clock.${move.call}() was interrupted at ${iso(this.#core.now())}, after all timers that were due until then. Call it again to continue.`
    this.#core.interrupt(move, new Error(why))
    return move.call
  }

  async #drive(call: ClockMove, options: AdvanceOptions, run: (move: Move) => Promise<void>): Promise<void> {
    this.#refuseStopped(call)
    return this.#core.mode.drive(call, () => this.#begin(call, options, run))
  }

  #refuseStopped(call: ClockMove): void {
    if (!this.#core.isStopped) return
    throw new Error(
      `clock.${call}() was called on a disposed sandbox or on a clock from before a reset. Create a new sandbox, or read sandbox.clock again.`,
    )
  }

  async #begin(call: ClockMove, options: AdvanceOptions, run: (move: Move) => Promise<void>): Promise<void> {
    this.#refuseStopped(call)
    checkMove(call, options)
    const { signal, maxTimers: budget, until } = options
    signal?.throwIfAborted()
    const core = this.#core
    const { log, waiting = {}, journal } = core.company
    const inLine = Object.values(waiting).reduce((sum, { size }) => sum + size, 0)
    const move = new Move(call, budget, core.timers.size + inLine, until)
    const abort = (): void => core.interrupt(move, signal?.reason)
    core.move = move
    core.polling.restart()
    signal?.addEventListener('abort', abort, { once: true })
    journal?.note('moving', call)
    const ended = log?.moves(call)
    try {
      await run(move)
    } finally {
      signal?.removeEventListener('abort', abort)
      journal?.note('moved', undefined)
      core.move = undefined
      ended?.()
      core.wake()
    }
  }

  /** Fires every timer that is due at or before `target`. Then moves time to `target`, unless `target` is infinite. */
  async #runUntil(move: Move, target: number): Promise<void> {
    const core = this.#core
    const { timers, followers, work, gate } = core
    const isDrain = target === Number.POSITIVE_INFINITY
    followers.mayBeStirred = true
    for (;;) {
      if (work.tasks.size > 0 || core.outsideMayContinue || gate.pause !== undefined) await core.settle(move)
      if (core.failures.length > 0) throw core.failures.shift()
      if (move.interruption !== undefined) throw move.interruption.reason
      if (move.until?.() === true) return
      const timer = timers.next()
      const isLast = timer === undefined || timer.at > target || (isDrain && !timers.hasForeground)
      if (followers.tellTimes) {
        // A timer of the host may be recurring, and recurring timers must not prolong a drain. So a drain does not fire
        // host timers after the last timer of this clock.
        const until = !isLast ? timer.at : isDrain ? Number.NEGATIVE_INFINITY : target
        if (await lookAtFollowers(core, until, isLast, move)) continue
      }
      if (isLast) break
      if (timer.at > endOfTime) throw move.endOfTime(timer)
      if (timer.at > core.now()) {
        move.newInstant()
        const following = core.moveTo(timer.at)
        if (following !== undefined) {
          await following
          // A follower may have canceled or added timers, so look for the next timer again.
          continue
        }
      }
      if (!move.mayFire(timer)) throw move.gaveUp(timer, timers.size)
      core.fire(timer)
      if (move.isPauseDue) await hostPause()
    }
    if (!isDrain && target > core.now()) await core.moveTo(target)
  }
}
