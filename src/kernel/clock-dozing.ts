import type { RunningWork } from './clock-work.js'
import type { Followers } from './followers.js'
import type { Gate } from './gate.js'
import { hostClearTimeout, hostPause, hostSetTimeout } from './host.js'
import type { RunningTask } from './running-task.js'

/**
 * Number of consecutive host pauses without a response after which a working handler counts as asleep.
 * In-memory work takes fewer pauses. The limit is a count, not a duration, so that a slow host does not change the
 * result.
 */
const quietPauses = 1_000
/**
 * Interval, in milliseconds of host time, at which to check again while no handler can be waiting for a timer of a
 * follower.
 */
const betweenLooks = 20
/**
 * Stall timeout, in milliseconds of host time, above which work runs in another process, whose timers do not follow
 * this clock.
 */
const ownPatience = 60_000

/**
 * Detects handlers that await a timer of a follower.
 * Such a handler would never end: its timer follows this clock, and this clock waits for the handler. The handler
 * therefore counts as asleep until the timer has fired.
 */
export class Dozing {
  readonly #work: RunningWork
  readonly #followers: Followers
  readonly #gate: Gate
  #dozing: { readonly task: RunningTask; readonly hasFired: () => boolean }[] = []

  constructor(work: RunningWork, followers: Followers, gate: Gate) {
    this.#work = work
    this.#followers = followers
    this.#gate = gate
  }

  /** Starts watching while the clock waits for its work. @returns a function that ends the watch */
  watch(): () => void {
    let isOver = false
    let timer: ReturnType<typeof hostSetTimeout> | undefined
    const look = async (): Promise<void> => {
      let { responses } = this.#gate
      for (let quiet = 0; quiet < quietPauses; quiet++) {
        await hostPause()
        if (isOver) return
        if (this.#followers.setJustNow() === undefined) {
          timer = hostSetTimeout(look, betweenLooks)
          return
        }
        if (this.#gate.responses === responses) continue
        responses = this.#gate.responses
        quiet = -1
      }
      const hasFired = this.#followers.setJustNow()
      if (hasFired !== undefined) this.#begin(hasFired)
    }
    void look()
    return () => {
      isOver = true
      if (timer !== undefined) hostClearTimeout(timer)
    }
  }

  #begin(hasFired: () => boolean): void {
    for (const task of [...this.#work.tasks]) {
      if (!task.awake || (task.patience ?? Number.POSITIVE_INFINITY) > ownPatience) continue
      this.#dozing.push({ task, hasFired })
      task.doze()
    }
  }

  /** Wakes the handlers whose timers have fired, before any of their code continues. */
  rouse(): void {
    if (this.#dozing.length === 0) return
    const woken = this.#dozing.filter(({ hasFired }) => hasFired())
    this.#dozing = this.#dozing.filter((one) => !woken.includes(one) && !one.task.ended)
    for (const { task } of woken) task.rouse()
  }
}
