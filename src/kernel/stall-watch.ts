import { hostClearTimeout, hostSetTimeout, unref } from './host.js'
import type { RunningTask } from './running-task.js'

/** Real milliseconds after which a warning says what the clock waits for. */
const untilTold = 1_000

/**
 * Watches the real time of work for which virtual time stands still: after a second a warning names the work, and when its patience
 * has ended it is given up, or time would stand still for ever.
 */
export class StallWatch {
  readonly #waited = new Map<RunningTask, number>()
  #total = 0
  #isTold = false
  #timer: ReturnType<typeof hostSetTimeout> | undefined

  constructor(
    private readonly running: ReadonlySet<RunningTask>,
    private readonly warn: (text: string) => void,
    /** The call that moves time; a clock that moves by itself waits without a warning. */
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
    // Keeps the process alive for the caller who awaits the move.
    if (!isWorthWaiting || this.driving() === undefined) unref(this.#timer)
  }

  #tell(): void {
    const call = this.driving()
    if (this.#isTold || call === undefined) return
    this.#isTold = true
    const names = [...this.running].filter(({ awake }) => awake).map(({ label }) => label)
    this.warn(
      `stuntdouble: clock.${call}() has waited a real second for work that has not ended: ${names.join(', ')}. ` +
        'Time stands still while it runs; let it finish, or let it wait with task.sleep().',
    )
  }
}
