import type { ClockCore } from './clock-core.js'
import { hostPause, hostTurn } from './host.js'
import type { Move } from './move.js'
import type { Timer } from './time.js'

/** Pauses in a row in which nothing came of what timers of followers started: then it waits for time, or has ended. */
const quietPauses = 10

/**
 * Before time moves on: waits for code that the followers started, then has their next timer fire if it is due until
 * an instant. Theirs come before ours of the same time.
 * @param isLast whether nothing of ours is left to do in this move
 * @returns whether something happened, and there may be more
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
  // Host timers run one after the other: what awaits the first one goes on before the second one fires.
  await hostTurn()
  return true
}

/** Waits until nothing comes any more of what nobody tracks: code of followers, and whatever waits for its answers. */
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
