import { hostClearTimeout, hostSetTimeout, unref } from './host.js'
import type { RunningTask } from './running-task.js'

/** Host milliseconds after which a warning names the work that the clock waits for. */
const untilTold = 1_000

/**
 * Watches the host time of work that blocks virtual time.
 * After one second, a warning names the work. After its stall timeout, the work counts as asleep, because time would
 * otherwise stay blocked forever.
 */
export class StallWatch {
  readonly #waited = new Map<RunningTask, number>()
  #total = 0
  #isTold = false
  #timer: ReturnType<typeof hostSetTimeout> | undefined

  constructor(
    private readonly running: ReadonlySet<RunningTask>,
    private readonly warn: (text: string) => void,
    /** Returns the clock call that is moving time. An automatic clock waits without a warning. */
    private readonly driving: () => string | undefined,
  ) {
    this.#look(0)
  }

  end(): void {
    if (this.#timer !== undefined) hostClearTimeout(this.#timer)
  }

  #look(elapsed: number): void {
    this.#total += elapsed
    if (this.#total >= untilTold) this.#tell()
    let next = this.#isTold ? untilTold : Math.max(1, untilTold - this.#total)
    let isWorthWaiting = false
    for (const task of this.running) {
      const { patience } = task
      if (!task.awake || patience === undefined) continue
      const waited = this.#waited.has(task) ? this.#waited.get(task)! + elapsed : 0
      this.#waited.set(task, waited)
      if (waited < patience) {
        next = Math.min(next, patience - waited)
        isWorthWaiting = true
      } else this.warn(`stuntdouble: ${task.giveUp()}`)
    }
    this.#timer = hostSetTimeout(() => this.#look(next), next)
    // The process stays alive for a caller that awaits a clock move.
    if (!isWorthWaiting || this.driving() === undefined) unref(this.#timer)
  }

  #tell(): void {
    const call = this.driving()
    if (this.#isTold || call === undefined) return
    this.#isTold = true
    const names = [...this.running].filter(({ awake }) => awake).map(({ label }) => label)
    this.warn(
      `stuntdouble: clock.${call}() has waited 1 real second for running work, which blocks virtual time: ${names.join(', ')}. ` +
        'Let it finish, or make it wait with task.sleep().',
    )
  }
}
