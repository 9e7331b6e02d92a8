import type { ClockCore } from './clock-core.js'
import type { Mode, WaitingCommand } from './clock-mode.js'
import { formatDuration } from './duration.js'
import type { Hints } from './hints.js'
import { hostSetTimeout, unref } from './host.js'
import type { ClockMove } from './move.js'

/** Milliseconds of host time after which a warning reports that a request or command waits in virtual time. */
const patienceMilliseconds = 1_000

/**
 * Clock mode in which time moves only by `advance`, `advanceTo` and `drain`. Prints a warning if a request waits in
 * virtual time for long, because the test may have forgotten to move time.
 */
export class ManualMode implements Mode {
  readonly name = 'manual'
  readonly #core: ClockCore
  readonly #hints: Hints
  #hasWarned = false

  constructor(core: ClockCore, hints: Hints) {
    this.#core = core
    this.#hints = hints
  }

  now(): number {
    return this.#core.time
  }

  timerAt(at: number): number {
    return Math.max(at, this.#core.time)
  }

  drive(call: ClockMove, run: () => Promise<void>): Promise<void> {
    const { move } = this.#core
    if (move === undefined) return run()
    throw new Error(
      `clock.${call}() was called while clock.${move.call}() was still running. Await the first call, or use task.sleep() inside a handler.`,
    )
  }

  resume(at: number): void {
    this.#core.time = Math.max(this.#core.time, at)
  }

  waits(what: string, isWaiting: () => boolean): void {
    if (this.#hasWarned) return
    const core = this.#core
    const before = core.time
    const look = (): void => {
      if (this.#hasWarned || core.isStopped || core.time !== before || core.move !== undefined) return
      const pending = isWaiting() ? this.#pendingText() : undefined
      if (pending === undefined) return
      this.#hasWarned = true
      core.warn(`stuntdouble: ${what} waits in virtual time, and the clock has not moved for 1 real second. ${pending}`)
    }
    unref(hostSetTimeout(look, patienceMilliseconds))
  }

  forgottenAdvance(commands: readonly WaitingCommand[]): string | undefined {
    const { work, isStopped, move } = this.#core
    if (isStopped || move !== undefined) return undefined
    const asleep = [...work.tasks].filter((task) => !task.awake).map((task) => task.sentFromOutside)
    const timed = commands.filter(({ hasTimer }) => hasTimer)
    const what = asleep.find((each) => each !== undefined) ?? (timed[0] && `a command (${timed[0].name})`)
    const endless = commands.filter((command) => !command.hasTimer).slice(0, 5)
    const sentences = endless.map(({ name }) => `Pending: ${name}, which waits for another command.`)
    const pending = what && this.#pendingText()
    if (pending) sentences.unshift(`${what} waits in virtual time. ${pending}`)
    return sentences.length === 0 ? undefined : sentences.join(' ')
  }

  /**
   * Returns a text that lists the next timers and the call that advances to the first, or `undefined` if no timer
   * waits.
   */
  #pendingText(): string | undefined {
    const { timers, time } = this.#core
    const next = timers.waiting().slice(0, 5)
    if (next.length === 0) return undefined
    const list = next.map((timer) => `${timer.label} (due in ${formatDuration(timer.at - time)})`).join(', ')
    return `Pending: ${list}. ${this.#hints.advance(formatDuration(next[0]!.at - time))}`
  }
}
