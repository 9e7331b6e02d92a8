import type { ClockMove } from './move.js'

/**
 * `manual`: time moves by `advance`, `advanceTo` and `drain` only. `auto`: when nothing runs, time skips to the next
 * timer. `real`: time is the host's, and nobody moves it.
 */
export type ClockMode = (typeof clockModes)[number]
export const clockModes = ['manual', 'auto', 'real'] as const

/** A command of a connection that waits. */
export interface WaitingCommand {
  /** `BLPOP jobs` */
  readonly name: string
  /** A timer ends the wait; otherwise only another command does. */
  readonly hasTimer: boolean
}

/** What moves time: a clock has one at a time. */
export interface Mode {
  readonly name: ClockMode
  now(): number
  /** The time, which is the same until the host's turn is over. Without it `now()` is. */
  standStill?(): number
  /** The instant for which a timer is set that was asked for at another one. */
  timerAt(at: number): number
  /** Whether it moves time until no timer is left, without a call of `drain()`. */
  readonly isDraining?: boolean
  /** There may be more to do: a timer was set, nothing runs any more, or a call that moved time has ended. */
  wake?(): void
  /** Runs a call that moves time: at once, in its turn, or not at all. */
  drive(call: ClockMove, run: () => Promise<void>): Promise<void>
  /** What a dump or a journal was made into is whole, and goes on at this instant. */
  resume(at: number): void
  /** A request or a command waits in virtual time. @param what such as `a request` */
  waits?(what: string, isWaiting: () => boolean): void
  /** A sentence that names who waits in virtual time now while nothing moves it, and what is pending. */
  forgottenAdvance?(commands: readonly WaitingCommand[]): string | undefined
  /** The clock was stopped, or has another mode from now on. */
  end?(): void
}
