import type { RunningWork } from './clock-work.js'
import type { Followers } from './followers.js'
import type { Gate } from './gate.js'
import { hostClearTimeout, hostPause, hostSetTimeout } from './host.js'
import type { RunningTask } from './running-task.js'

/**
 * Pauses of the host in a row in which nothing happens but work of a handler, before it counts as asleep: what is in
 * memory takes fewer. Counted, not timed, so that a slow host changes nothing.
 */
const quietPauses = 1_000
/** Real milliseconds between two looks while the handler cannot be waiting for a timer of a follower. */
const betweenLooks = 20
/** Work of more patience than this is that of another process, where our timers are unknown. */
const ownPatience = 60_000

/**
 * A handler that awaits a timer of a follower would wait for ever: that timer follows this clock, and this clock waits for
 * the handler. So the handler counts as asleep until the timer has fired.
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

  /** The clock begins to wait for its work. @returns what ends the watch */
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

  /** Before any of its code goes on: what a timer of a follower has just woken is awake. */
  rouse(): void {
    if (this.#dozing.length === 0) return
    const woken = this.#dozing.filter(({ hasFired }) => hasFired())
    this.#dozing = this.#dozing.filter((one) => !woken.includes(one) && !one.task.ended)
    for (const { task } of woken) task.rouse()
  }
}
