import { hostClearTimeout, hostSetTimeout, unref } from './host.js'
import type { RunningTask } from './running-task.js'

/** Milliseconds of host time after which a warning names the work that the clock waits for. */
const untilTold = 1_000

/**
 * Watches how long work blocks virtual time, in host time.
 * After one second, a warning names the work. When the stall timeout of the work has passed, the work counts as asleep.
 * Otherwise, time would stay blocked forever.
 */
export class StallWatch {
  readonly #waited = new Map<RunningTask, number>()
  #total = 0
  #isTold = false
  #timer: ReturnType<typeof hostSetTimeout> | undefined

  constructor(
    private readonly running: ReadonlySet<RunningTask>,
    private readonly warn: (text: string) => void,
    /**
     * Returns the name of the clock call that is moving time. Returns `undefined` for an automatic clock, which waits
     * without a warning.
     */
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
    // The timer keeps the process alive only if a caller awaits a clock move.
    if (!isWorthWaiting || this.driving() === undefined) unref(this.#timer)
  }

  #tell(): void {
    const call = this.driving()
    if (this.#isTold || call === undefined) return
    this.#isTold = true
    const names = [...this.running].filter(({ awake }) => awake).map(({ label }) => label)
    this.warn(
      `stuntdouble: clock.${call}() has waited 1 real second for running work, which blocks virtual time: ${names.join(', ')}. ` +
        'Let the work finish, or make the work wait with task.sleep().',
    )
  }
}
