import { bindMethods } from './bind-methods.js'
import { AutoMode } from './clock-auto.js'
import { type AttachedFollowers, ClockCore } from './clock-core.js'
import { ManualMode } from './clock-manual.js'
import { type ClockMode, clockModes, type Mode, type WaitingCommand } from './clock-mode.js'
import { ClockMoves } from './clock-moves.js'
import { HeldMode, RealMode } from './clock-real.js'
import { Rewind } from './clock-replayed.js'
import { type Duration, milliseconds } from './duration.js'
import type { ClockFollower } from './followers.js'
import { Gate } from './gate.js'
import { type Hints, inProcess } from './hints.js'
import { hostTime } from './host.js'
import type { ClockPosition } from './input-journal.js'
import { type Instant, instant } from './instant.js'
import { type Internals, internals } from './internals.js'
import type { AdvanceOptions, ClockMove } from './move.js'
import type { PendingTimer, Task, Timer, TimerOptions, TimerRun, TimerTarget } from './time.js'

export type { ClockMode } from './clock-mode.js'
export type { Rewind } from './clock-replayed.js'
export type { ClockFollower } from './followers.js'
export type { AdvanceOptions, ClockMove } from './move.js'

/** What services see of time. Milliseconds since the Unix epoch throughout. */
export interface ServiceClock {
  readonly mode: ClockMode
  now(): number
  schedule(at: number, label: string, run: TimerRun | TimerTarget, options?: TimerOptions): Timer
  /** Time stands still while the work runs, unless the work sleeps through its task. */
  track<T>(label: string, work: (task: Task) => Promise<T>): Promise<T>
  /**
   * Time moves until nothing is left, by `drain()` or in mode `auto`. What a schedule starts then is not waited
   * for, or a schedule whose work outlasts its interval would keep time moving for ever.
   */
  readonly isDraining: boolean
}

export interface ClockOptions {
  /** In mode `real` only of a world that is being loaded: time stands there until `goOn()`. */
  readonly startAt?: number
  readonly mode?: ClockMode
  /** Receives the warnings, `console.warn` by default. */
  readonly warn?: (text: string) => void
  /** What whoever waits in vain can do. */
  readonly hints?: Hints
  /** Of the sandbox, whose clocks follow one another. */
  readonly gate?: Gate | undefined
}

interface ClockInternals {
  readonly core: ClockCore
  readonly hints: Hints
}

const clockInternals: Internals<Clock, ClockInternals> = internals('clock')

/** Tells the clock who goes along with it. */
export function accompany(clock: Clock, company: AttachedFollowers): void {
  const { core } = clockInternals.of(clock)
  const waiting = { ...core.company.waiting, ...company.waiting }
  core.company = { ...core.company, ...company, waiting }
}

/**
 * The world of a dump is whole, and goes on: at a later instant, or in mode `real` now. What fell due in between is due,
 * in the order of its times.
 */
export function goOn(clock: Clock, at?: number): void {
  const { core } = clockInternals.of(clock)
  core.mode.resume(at ?? core.time)
}

/** What everything that is awaited of the clock's sandbox passes, so that the host's timers run. */
export function gateOf(clock: Clock): Gate {
  return clockInternals.of(clock).core.gate
}

/** Tells the clock that an answer left for code it does not track, such as the client of a request. */
export function letOutsideContinue(clock: Clock): void {
  clockInternals.of(clock).core.outsideMayContinue = true
}

/**
 * Warns when a real second passes, and whoever waits in virtual time is left waiting.
 * @param what such as `a request`
 * @param isWaiting whether that has not ended
 */
export function mindForgottenAdvance(clock: Clock, what: string, isWaiting: () => boolean): void {
  clockInternals.of(clock).core.mode.waits?.(what, isWaiting)
}

/** A sentence that names who waits in virtual time now while nothing moves it, and what is pending. */
export function forgottenAdvance(clock: Clock, commands: readonly WaitingCommand[]): string | undefined {
  return clockInternals.of(clock).core.mode.forgottenAdvance?.(commands)
}

/**
 * Drops every timer, stops host timers and ends the move that is under way. Requests that sleep are told; whatever else
 * sleeps stays asleep.
 */
export function stop(clock: Clock): void {
  clockInternals.of(clock).core.stop()
}

/** As `clock.pending`, the timers themselves. */
export function waitingTimers(clock: Clock): readonly Timer[] {
  return clockInternals.of(clock).core.timers.waiting()
}

/** Where a clock stands, whenever it is read. */
export function positionOf(clock: Clock): ClockPosition {
  const { core } = clockInternals.of(clock)
  return {
    now: () => core.now(),
    standStill: () => core.mode.standStill?.() ?? core.now(),
    timers: () => core.timers.count,
  }
}

/** A clock of a world that is to be made as another one was: nothing moves it any more but what is returned. */
export function rewind(clock: Clock): Rewind {
  const { core, hints } = clockInternals.of(clock)
  const { mode } = core
  const byHand = mode.name === 'manual' ? mode : new ManualMode(core, hints)
  return new Rewind(core, mode.name === 'real' ? new HeldMode(core) : mode, byHand)
}

/**
 * The one clock of a sandbox. `advance` repeats: wait until no task runs, take the earliest timer (ties in the order
 * of scheduling), move followers and time to it, run it.
 */
export class Clock implements ServiceClock {
  static {
    bindMethods(Clock)
  }

  /** Whether a foreign clock follows this one, or has. */
  isFollowed = false
  readonly #core: ClockCore
  readonly #moves: ClockMoves

  /** @internal */
  constructor(options: ClockOptions) {
    const { mode = 'manual', hints = inProcess, gate = new Gate(), warn = (text) => console.warn(text) } = options
    if (!clockModes.includes(mode)) {
      throw new TypeError(`There is no clock mode ${JSON.stringify(mode)}. Use ${clockModes.join(', ')}.`)
    }
    const { startAt = mode === 'real' ? hostTime() : Number.NaN } = options
    if (!Number.isFinite(startAt)) {
      throw new RangeError(`The clock needs a start time: an ISO text, a Date or milliseconds, got ${startAt}.`)
    }
    const modes: Readonly<Record<ClockMode, (core: ClockCore) => Mode>> = {
      manual: (core) => new ManualMode(core, hints),
      auto: (core) => new AutoMode(core),
      real: (core) => (options.startAt === undefined ? new RealMode(core) : new HeldMode(core)),
    }
    this.#core = new ClockCore(startAt, gate, warn, modes[mode])
    this.#moves = new ClockMoves(this.#core)
    clockInternals.attach(this, { core: this.#core, hints })
  }

  get mode(): ClockMode {
    return this.#core.mode.name
  }

  /**
   * Returns the virtual time in milliseconds since the Unix epoch.
   * @example new Date(sandbox.clock.now()).toISOString() // '2030-01-01T00:00:00.000Z'
   */
  now(): number {
    return this.#core.now()
  }

  /**
   * Calls back on every move of virtual time.
   * @example
   * const stop = sandbox.clock.onMove((from, to) => console.log(`${to - from} ms passed`))
   * await sandbox.clock.advance('1m')
   * stop()
   */
  onMove(listener: (from: number, to: number) => void): () => void {
    return this.#core.onMove(listener)
  }

  /**
   * Runs a function at an instant of virtual time, given in milliseconds since the Unix epoch.
   * @example
   * let fired = false
   * sandbox.clock.schedule(sandbox.clock.now() + 60_000, 'refresh', () => {
   *   fired = true
   * })
   * await sandbox.clock.advance('1m')
   * expect(fired).toBe(true)
   */
  schedule(at: number, label: string, run: TimerRun | TimerTarget, options?: TimerOptions): Timer {
    return this.#core.schedule(at, label, run, options)
  }

  /**
   * Runs work that the clock waits for: time moves only while it sleeps.
   * @example
   * const done = sandbox.clock.track('import', async (task) => {
   *   await task.sleep('1h')
   * })
   * await sandbox.clock.advance('1h')
   * await done
   */
  track<T>(label: string, work: (task: Task) => Promise<T>): Promise<T> {
    return this.#core.trackFor(this.#core.work.caller, label, work)
  }

  /**
   * Moves time forward and runs everything that falls due, in order. Resolves when all of it has settled.
   * @example
   * sandbox.store.run('SET', 'profile:42', 'Ada', 'EX', 3600)
   * await sandbox.clock.advance('1h')
   * expect(sandbox.store.get('profile:42')).toBeNull()
   */
  advance(by: Duration, options: AdvanceOptions = {}): Promise<void> {
    return this.#core.gate.leaving(this.#moves.advance(milliseconds(by), options))
  }

  /**
   * Moves time to an instant: milliseconds, an ISO text or a `Date`. Going back is refused.
   * @example
   * await sandbox.clock.advanceTo('2030-01-02T03:00:00Z')
   * await sandbox.clock.advanceTo(new Date('2030-01-02T04:00:00Z'))
   */
  advanceTo(at: Instant, options: AdvanceOptions = {}): Promise<void> {
    return this.#core.gate.leaving(this.#moves.advanceTo(instant(at), options))
  }

  /**
   * Runs until no timer is left but those that renew themselves for ever (schedules).
   * @example
   * sandbox.queue.publish({ to: 'https://shop.test/orders', body: { id: 42 }, delay: '10m' })
   * await sandbox.clock.drain()
   * expect(sandbox.queue).toHaveDelivered({ to: 'https://shop.test/orders' })
   */
  drain(options: AdvanceOptions = {}): Promise<void> {
    return this.#core.gate.leaving(this.#moves.drain(options))
  }

  /**
   * Ends the move of time that is under way; its call rejects. What fell due until now has run, the rest waits.
   * @returns which call it was, `undefined` when time was not moving
   * @example
   * sandbox.clock.schedule(sandbox.clock.now() + 60_000, 'stop', () => void sandbox.clock.interrupt())
   * await expect(sandbox.clock.advance('30d')).rejects.toThrow()
   */
  interrupt(): ClockMove | undefined {
    return this.#moves.interrupt()
  }

  get isDraining(): boolean {
    return this.#core.isDraining
  }

  /** The timers that wait, earliest first. */
  get pending(): readonly PendingTimer[] {
    return this.#core.timers.waiting().map(({ at, label, background }) => ({ at, label, background }))
  }

  /** Nothing runs, and no timer waits but those that renew themselves for ever. */
  get isDrained(): boolean {
    const { isStopped, work, timers } = this.#core
    return !isStopped && !work.isBusy && !timers.hasAwaited
  }

  /** Labels of the work that runs right now. */
  get running(): readonly string[] {
    return [...this.#core.work.tasks].filter((task) => task.awake).map((task) => task.label)
  }

  /**
   * Drives a foreign clock in step with this one, until the returned function is called.
   * @example
   * vi.useFakeTimers({ now: sandbox.clock.now() })
   * const stop = sandbox.clock.follow(fakeTimers(vi))
   * setTimeout(() => sandbox.store.run('SET', 'greeting', 'hello'), 60_000)
   * await sandbox.clock.advance('1m')
   * stop()
   * expect(sandbox.store).toHaveKey('greeting')
   */
  follow(follower: ClockFollower): () => void {
    this.isFollowed = true
    return this.#core.followers.add(follower)
  }

  /**
   * Resolves once nothing runs, or when the clock was stopped. Time does not move.
   * @example
   * await checkout()
   * await sandbox.clock.settle()
   * expect(sandbox.clock.running).toEqual([])
   */
  settle(): Promise<void> {
    this.#core.polling.restart()
    return this.#core.gate.leaving(this.#core.settle())
  }
}
