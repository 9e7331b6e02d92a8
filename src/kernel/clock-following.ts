import type { ClockCore } from './clock-core.js'
import { hostPause, hostTurn } from './host.js'
import type { Move } from './move.js'
import type { Timer } from './time.js'

/**
 * Number of consecutive host pauses in which nothing happens. After them, the clock assumes that the code that a
 * follower's timer started has ended or waits for virtual time.
 */
const quietPauses = 10

/**
 * Waits for code that the followers started. Then fires the next timer of a follower, if this timer is due at or before
 * `until`. If a follower's timer and a timer of this clock are due at the same instant, the follower's timer fires
 * first.
 * @param isLast whether this clock has no timers left in this move
 * @returns true if it waited or fired a timer, so that the caller must check again
 */
export async function lookAtFollowers(core: ClockCore, until: number, isLast: boolean, move?: Move): Promise<boolean> {
  const { followers, timers } = core
  const due = core.now() + followers.nextIn()
  if (followers.mayBeStirred && (isLast || Math.min(due, until) > core.now())) {
    await calm(core, move)
    return true
  }
  if (due > until) return false
  if (due > core.now()) move?.newInstant()
  const timer: Timer = { at: due, label: 'a timer of the host', background: true, cancel() {} }
  if (move?.mayFire(timer) === false) throw move.gaveUp(timer, timers.size)
  followers.mayBeStirred = true
  const moved = core.moveTo(due)
  core.dozing.rouse()
  await moved
  // Fire host timers one by one. Code that awaits the first timer must continue before the second timer fires.
  await hostTurn()
  return true
}

/**
 * Waits until untracked code that the followers started has no more effects, and until code that got responses of the
 * sandbox has no more effects.
 */
async function calm(core: ClockCore, move?: Move): Promise<void> {
  core.followers.mayBeStirred = false
  core.work.latest = undefined
  for (let quiet = 0; quiet < quietPauses; quiet++) {
    if (core.isStopped || move?.interruption !== undefined || core.polling.isEndless) return
    await hostPause()
    if (!core.work.isBusy && !core.outsideMayContinue && core.gate.pause === undefined) continue
    await core.settle(move)
    quiet = -1
  }
}
