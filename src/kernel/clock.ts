import { bindMethods } from './bind-methods.js'
import { AutoMode } from './clock-auto.js'
import { type AttachedFollowers, ClockCore } from './clock-core.js'
import { ManualMode } from './clock-manual.js'
import { type ClockMode, checkClockMode, type Mode, type WaitingCommand } from './clock-mode.js'
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

/** The clock, with the members that services need. All times are milliseconds since the epoch. */
export interface ServiceClock {
  /** Mode of the clock, which decides when time moves: `manual`, `auto` or `real`. */
  readonly mode: ClockMode
  now(): number
  schedule(at: number, label: string, run: TimerRun | TimerTarget, options?: TimerOptions): Timer
  /** Runs work and blocks time until the work ends. Time can move while the work waits in `task.sleep()`. */
  track<T>(label: string, work: (task: Task) => Promise<T>): Promise<T>
  /**
   * Whether time moves until no timer is left: during `drain()`, or in mode `auto`.
   * A drain does not wait for work that a schedule starts during the drain. If such work took longer than the interval
   * of its schedule, the drain would never end.
   */
  readonly isDraining: boolean
}

export interface ClockOptions {
  /**
   * Virtual time at the start, in milliseconds. In mode `real`, only a sandbox that is being loaded has this option.
   * Its time does not move until `goOn()` is called.
   */
  readonly startAt?: number
  readonly mode?: ClockMode
  /** Receives warnings. Default `console.warn`. */
  readonly warn?: (text: string) => void
  readonly hints?: Hints
  /**
   * Gate of the sandbox, which delays responses so that timers of the host can run. A sandbox that gets a new clock
   * keeps its gate.
   */
  readonly gate?: Gate | undefined
}

interface ClockInternals {
  readonly core: ClockCore
  readonly hints: Hints
}

const clockInternals: Internals<Clock, ClockInternals> = internals('clock')

export function accompany(clock: Clock, company: AttachedFollowers): void {
  const { core } = clockInternals.of(clock)
  const waiting = { ...core.company.waiting, ...company.waiting }
  core.company = { ...core.company, ...company, waiting }
}

/**
 * Lets time continue after a load: from `at`, or from now in mode `real`. If timers are already due, they fire in the
 * order of their instants.
 */
export function goOn(clock: Clock, at?: number): void {
  const { core } = clockInternals.of(clock)
  core.mode.resume(at ?? core.time)
}

/**
 * Returns the gate of the sandbox. Each awaited result passes the gate, which sometimes closes so that timers of the
 * host can run.
 */
export function gateOf(clock: Clock): Gate {
  return clockInternals.of(clock).core.gate
}

/** Records that code outside the sandbox received a response and may continue, such as the client of a request. */
export function letOutsideContinue(clock: Clock): void {
  clockInternals.of(clock).core.outsideMayContinue = true
}

/**
 * Warns if a request or command waits in virtual time for more than one second of host time.
 * @param what noun for the message, such as `a request`
 * @param isWaiting returns whether the request or command still waits
 */
export function mindForgottenAdvance(clock: Clock, what: string, isWaiting: () => boolean): void {
  clockInternals.of(clock).core.mode.waits?.(what, isWaiting)
}

/**
 * Returns a message that names the pending timers, and the requests and commands that wait in virtual time. Returns
 * `undefined` if no request or command waits.
 */
export function forgottenAdvance(clock: Clock, commands: readonly WaitingCommand[]): string | undefined {
  return clockInternals.of(clock).core.mode.forgottenAdvance?.(commands)
}

/**
 * Removes every timer, stops host timers and ends the running clock move. Requests that sleep in virtual time are
 * rejected. Other work that sleeps never continues.
 */
export function stop(clock: Clock): void {
  clockInternals.of(clock).core.stop()
}

export function waitingTimers(clock: Clock): readonly Timer[] {
  return clockInternals.of(clock).core.timers.waiting()
}

/**
 * Returns an object that reads the time and the number of timers of a clock. The journal stores both as a part of the
 * position of each input.
 */
export function positionOf(clock: Clock): ClockPosition {
  const { core } = clockInternals.of(clock)
  return {
    now: () => core.now(),
    standStill: () => core.mode.standStill?.() ?? core.now(),
    timers: () => core.timers.count,
  }
}

/** Returns a `Rewind`, which replays a journal in this clock. From now on, only the `Rewind` moves time. */
export function rewind(clock: Clock): Rewind {
  const { core, hints } = clockInternals.of(clock)
  const { mode } = core
  const byHand = mode.name === 'manual' ? mode : new ManualMode(core, hints)
  return new Rewind(core, mode.name === 'real' ? new HeldMode(core) : mode, byHand)
}

/**
 * The clock of a sandbox. `advance` repeats three steps. First, it waits until no task runs. Then it selects the
 * earliest timer. If several timers have the same instant, it selects the one that was added first. Finally, it moves
 * the time of this clock and of its followers to that instant, and runs the timer.
 */
export class Clock implements ServiceClock {
  static {
    bindMethods(Clock)
  }

  /** Whether another clock follows this one, or has followed it. */
  isFollowed = false
  readonly #core: ClockCore
  readonly #moves: ClockMoves

  /** @internal */
  constructor(options: ClockOptions) {
    const { mode = 'manual', hints = inProcess, gate = new Gate(), warn = (text) => console.warn(text) } = options
    checkClockMode(mode)
    const { startAt = mode === 'real' ? hostTime() : Number.NaN } = options
    if (!Number.isFinite(startAt)) {
      throw new RangeError(`startAt must be an ISO text, a Date or milliseconds (got ${startAt}).`)
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

  /** Mode of the clock, which decides when time moves: `manual`, `auto` or `real`. */
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
   * Registers a listener that is called on every move of virtual time. Returns a function that removes the listener.
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
   * Runs work that the clock waits for. Time moves only while the work sleeps.
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
   * Moves time forward by a duration and runs every timer that is due on the way. Resolves when all work has settled.
   * @throws Error when more than `maxTimers` timers fire, or when the sandbox is disposed or reset meanwhile
   * @example
   * sandbox.store.run('SET', 'profile:42', 'Ada', 'EX', 3600)
   * await sandbox.clock.advance('1h')
   * expect(sandbox.store.get('profile:42')).toBeNull()
   */
  advance(by: Duration, options: AdvanceOptions = {}): Promise<void> {
    return this.#core.gate.leaving(this.#moves.advance(milliseconds(by), options))
  }

  /**
   * Moves time to an instant (milliseconds, ISO text or `Date`) and runs every timer that is due on the way.
   * @throws RangeError when the instant is in the past
   * @example
   * await sandbox.clock.advanceTo('2030-01-02T03:00:00Z')
   * await sandbox.clock.advanceTo(new Date('2030-01-02T04:00:00Z'))
   */
  advanceTo(at: Instant, options: AdvanceOptions = {}): Promise<void> {
    return this.#core.gate.leaving(this.#moves.advanceTo(instant(at), options))
  }

  /**
   * Moves time until only recurring timers, such as schedules, are left.
   * @throws Error when more than `maxTimers` timers fire, or when the sandbox is disposed or reset meanwhile
   * @example
   * sandbox.queue.publish({ to: 'https://shop.test/orders', body: { id: 42 }, delay: '10m' })
   * await sandbox.clock.drain()
   * expect(sandbox.queue).toHaveDelivered({ to: 'https://shop.test/orders' })
   */
  drain(options: AdvanceOptions = {}): Promise<void> {
    return this.#core.gate.leaving(this.#moves.drain(options))
  }

  /**
   * Ends the clock move that is running. The promise of that move rejects. All timers that were due until now have run,
   * and later timers stay.
   * @returns the name of the interrupted call, or `undefined` if time was not moving
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

  /** The waiting timers, earliest first. */
  get pending(): readonly PendingTimer[] {
    return this.#core.timers.waiting().map(({ at, label, background }) => ({ at, label, background }))
  }

  /** Whether no work runs and only recurring timers wait. */
  get isDrained(): boolean {
    const { isStopped, work, timers } = this.#core
    return !isStopped && !work.isBusy && !timers.hasAwaited
  }

  /** Labels of the work that is running. */
  get running(): readonly string[] {
    return [...this.#core.work.tasks].filter((task) => task.awake).map((task) => task.label)
  }

  /**
   * Makes another clock, such as fake timers, follow this one. Returns a function that detaches it.
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
   * Waits until nothing runs, without moving time. Also resolves when the clock is stopped.
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
