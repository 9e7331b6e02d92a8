import type { ClockCore } from './clock-core.js'
import { hostPause, hostTurn } from './host.js'
import type { Move } from './move.js'
import type { Timer } from './time.js'

/**
 * Number of consecutive host pauses without any effect, after which the code that a follower's timer started is assumed
 * to have ended or to wait for time.
 */
const quietPauses = 10

/**
 * Waits for code that the followers started. Then fires the next timer of a follower, if it is due at or before
 * `until`.
 * A follower's timer fires before this clock's timers of the same instant.
 * @param isLast whether this clock has no timers left in this move
 * @returns whether something happened, so that there may be more
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
  // Host timers run one after the other: code that awaits the first timer continues before the second timer fires.
  await hostTurn()
  return true
}

/**
 * Waits until two kinds of code have no more effects: untracked code of followers, and code that awaits its responses.
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
