import type { ClockMove } from './move.js'

/**
 * How time moves. `manual`: only by `advance`, `advanceTo` and `drain`. `auto`: it skips to the next timer when nothing
 * runs. `real`: it is system time.
 */
export type ClockMode = (typeof clockModes)[number]
const clockModes = ['manual', 'auto', 'real'] as const

/** @throws TypeError when there is no such mode */
export function checkClockMode(mode: ClockMode): void {
  if (clockModes.includes(mode)) return
  throw new TypeError(
    `clock must be one of ${clockModes.map((name) => `'${name}'`).join(', ')} (got ${JSON.stringify(mode)}).`,
  )
}

/** A command of a connection that blocks. */
export interface WaitingCommand {
  /** The command with its arguments, such as `BLPOP jobs`. */
  readonly name: string
  /** Whether a timer can end the wait. If not, only another command can. */
  readonly hasTimer: boolean
}

/** Decides when time moves. A clock has one mode at a time. */
export interface Mode {
  readonly name: ClockMode
  now(): number
  /** Returns the time. All calls within one turn of the host's event loop return the same time. Default: `now()`. */
  standStill?(): number
  /** Returns the instant at which a new timer is due. The caller asked for `at`, which may be in the past. */
  timerAt(at: number): number
  /** Whether the mode moves time until no timer is left, without a call of `drain()`. */
  readonly isDraining?: boolean
  /** Called when time may move: a timer was added, no work runs anymore, or a clock move has ended. */
  wake?(): void
  /** Runs a clock move immediately or after earlier moves, or rejects it. */
  drive(call: ClockMove, run: () => Promise<void>): Promise<void>
  /** Lets time continue from this instant, after a dump was loaded or a journal was replayed. */
  resume(at: number): void
  /**
   * Called when a request or a command waits in virtual time.
   * @param what noun for the message, such as `a request`
   */
  waits?(what: string, isWaiting: () => boolean): void
  /**
   * Returns a message that names the pending timers, and the requests and commands that wait in virtual time. Returns
   * `undefined` if no request or command waits.
   */
  forgottenAdvance?(commands: readonly WaitingCommand[]): string | undefined
  /** Called when the clock has stopped or has switched to another mode. */
  end?(): void
}
