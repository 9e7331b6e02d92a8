import type { RunningWork } from './clock-work.js'
import type { Followers } from './followers.js'
import { hostClearTimeout, hostPause, hostSetTimeout } from './host.js'
import type { RunningTask } from './running-task.js'

/** Real milliseconds of work after which it may be that it waits for a timer of the host: what is in memory takes less. */
const untilDozing = 20
/** Pauses of the host before a look at its timers: a process that was busy for long has more to do first. */
const pausesBeforeLook = 10
/** Work of more patience than this is that of another process, where our timers are unknown. */
const ownPatience = 60_000

/**
 * A handler that awaits a timer of a follower would wait for ever: that timer follows this clock, and this clock waits for
 * the handler. So the handler counts as asleep until the timer has fired.
 */
export class Dozing {
  readonly #work: RunningWork
  readonly #followers: Followers
  #dozing: { readonly task: RunningTask; readonly hasFired: () => boolean }[] = []

  constructor(work: RunningWork, followers: Followers) {
    this.#work = work
    this.#followers = followers
  }

  /** The clock begins to wait for its work. @returns what ends the watch */
  watch(): () => void {
    let isOver = false
    const look = async (): Promise<void> => {
      for (let pause = 0; pause < pausesBeforeLook && !isOver; pause++) await hostPause()
      if (isOver) return
      const hasFired = this.#followers.setJustNow()
      if (hasFired === undefined) timer = hostSetTimeout(look, untilDozing)
      else this.#begin(hasFired)
    }
    let timer = hostSetTimeout(look, untilDozing)
    return () => {
      isOver = true
      hostClearTimeout(timer)
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
