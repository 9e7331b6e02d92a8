import type { ClockMove } from './move.js'

/**
 * How time moves. `manual`: only by `advance`, `advanceTo` and `drain`. `auto`: it skips to the next timer when nothing
 * runs. `real`: it is system time.
 */
export type ClockMode = (typeof clockModes)[number]
export const clockModes = ['manual', 'auto', 'real'] as const

/** A command of a connection that blocks. */
export interface WaitingCommand {
  /** The command with its arguments, such as `BLPOP jobs`. */
  readonly name: string
  /** Whether a timer ends the wait. Otherwise, only another command does. */
  readonly hasTimer: boolean
}

/** Decides when time moves. A clock has one mode at a time. */
export interface Mode {
  readonly name: ClockMode
  now(): number
  /** Returns the time, unchanged until the present turn of the host ends. Default: `now()`. */
  standStill?(): number
  /** Returns the instant of a timer that was requested for another instant. */
  timerAt(at: number): number
  /** Whether the mode moves time until no timer is left, without a call of `drain()`. */
  readonly isDraining?: boolean
  /** Called when there may be work: a timer was added, nothing runs any more, or a clock move has ended. */
  wake?(): void
  /** Runs a clock move: immediately, after others, or not at all. */
  drive(call: ClockMove, run: () => Promise<void>): Promise<void>
  /** Continues at this instant, after a dump was loaded or a journal replayed. */
  resume(at: number): void
  /** Called when a request or a command waits in virtual time. @param what such as `a request` */
  waits?(what: string, isWaiting: () => boolean): void
  /** Returns a message about what waits in virtual time while nothing moves it, and which timers are pending. */
  forgottenAdvance?(commands: readonly WaitingCommand[]): string | undefined
  /** Called when the clock has stopped or changes its mode. */
  end?(): void
}
