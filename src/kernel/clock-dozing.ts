import type { RunningWork } from './clock-work.js'
import type { Followers } from './followers.js'
import type { Gate } from './gate.js'
import { hostClearTimeout, hostPause, hostSetTimeout } from './host.js'
import type { RunningTask } from './running-task.js'

/**
 * Number of consecutive host pauses without a response after which a working handler counts as asleep. Work in memory
 * needs fewer pauses. A duration would depend on the speed of the host, so pauses are counted.
 */
const quietPauses = 1_000
/**
 * Interval in milliseconds of host time. After it, the watch checks again whether a handler may be waiting for a timer
 * of a follower.
 */
const betweenLooks = 20
/**
 * A stall timeout above this limit, in milliseconds of host time, means that the work runs in another process. The
 * timers of that process do not follow this clock.
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

  /**
   * Starts the watch, which runs while the clock waits for work.
   * @returns a function that ends the watch
   */
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

  /** Ends the sleep of each handler whose timer has fired. Called before code of these handlers continues. */
  rouse(): void {
    if (this.#dozing.length === 0) return
    const woken = this.#dozing.filter(({ hasFired }) => hasFired())
    this.#dozing = this.#dozing.filter((one) => !woken.includes(one) && !one.task.ended)
    for (const { task } of woken) task.rouse()
  }
}
