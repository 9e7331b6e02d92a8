import { detachable } from './detachable.js'
import { type Duration, formatDuration, milliseconds } from './duration.js'
import { type Follower, Followers } from './followers.js'
import { Gate } from './gate.js'
import { Heap, type Ranked } from './heap.js'
import { type Hints, inProcess } from './hints.js'
import { hostClearTimeout, hostPause, hostSetTimeout, hostTime, hostTurn, unref } from './host.js'
import type { InputJournal } from './input-journal.js'
import { endOfTime, type Instant, instant, iso } from './instant.js'
import { checkMove, type DriveCall, Move, type MoveOptions } from './move.js'
import { PatienceWatch } from './patience-watch.js'
import { RunningTask, type TaskClock } from './running-task.js'
import type { PendingTimer, Task, Timer, TimerOptions, TimerRun, TimerTarget } from './time.js'

/** What services see of time. Milliseconds since the Unix epoch throughout. */
export interface Clock {
  readonly mode: ClockMode
  now(): number
  schedule(at: number, label: string, run: TimerRun | TimerTarget, options?: TimerOptions): Timer
  /** Time stands still while the work runs, unless the work sleeps through its task. */
  track<T>(label: string, work: (task: Task) => Promise<T>): Promise<T>
  /**
   * Time moves until nothing is left, by `drain()` or in mode `auto`. What a schedule starts then is not waited
   * for, or a schedule whose work outlasts its interval would keep time moving for ever.
   */
  readonly draining: boolean
}

/**
 * `manual`: time moves by `advance`, `advanceTo` and `drain` only. `auto`: when nothing runs, time skips to the next
 * timer. `real`: time is the host's, and nobody moves it.
 */
export type ClockMode = (typeof clockModes)[number]
export const clockModes = ['manual', 'auto', 'real'] as const

/** What goes along with a clock. */
export interface Company {
  readonly log?: {
    /** Hears of a call that moves time; what it returns is called when the move has ended. */
    moves(call: DriveCall): () => void
  }
  /** What may wait without a timer of its own, by whose it is, such as messages in a line: a move may take the longer for it. */
  readonly waiting?: Readonly<Record<string, { readonly size: number }>>
  /** Is told what moves time, so that it can be played again. */
  readonly journal?: Pick<InputJournal, 'note'>
}

/** Plays what a journal tells of time, in place of whoever moved it. */
export interface Rewind {
  /** A call that moves time begins, or ends. */
  begin(call: DriveCall): void
  end(): void
  moveTo(at: number): void
  /** Fires the next timer. @throws Error when that is another one */
  fire(timer: number, draining: boolean): void
  /** The host's clock had its say about a task. */
  rest(task: number, as: 'given up' | 'dozing' | 'roused'): void
  /** Here a fork began: the move that led here is none of its own, and it is moved by hand. */
  fork(): void
  /**
   * The past is over: time stands until it is moved.
   * @param goOn called when somebody first waits for what is under way
   */
  finish(goOn: () => void): void
}

export type { Follower } from './followers.js'
export type { DriveCall, MoveOptions } from './move.js'

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

const patienceMilliseconds = 1_000
/**
 * Longest that a timer of the host is set for. Hosts fire at once when asked to wait for longer than 2^31-1 ms, and many
 * do not count the time that the machine sleeps.
 */
const longestWait = 60_000
/** Turns of a clock that moves by itself after which everybody else gets one. */
const turnsPerPause = 100
/** Microtasks that work may take before somebody watches whether it ends at all. */
const quickTurns = 16
/** Real milliseconds of work after which it may be that it waits for a timer of the host: what is in memory takes less. */
const untilDozing = 20
/** Work of more patience than this is that of another process, where our timers are unknown. */
const ownPatience = 60_000
/** Pauses in a row in which nothing came of what timers of the host started: then it waits for time, or has ended. */
const quietPauses = 10
/** Responses to code outside for which time stands still, in one move: code that polls without a pause never stops by itself. */
export const mostResponses = 20_000

interface TimerOwner {
  forget(timer: ScheduledTimer): void
}

const nothing: TimerRun = () => {}

class ScheduledTimer implements Timer, Ranked {
  cancelled = false
  constructor(
    readonly at: number,
    readonly sequence: number,
    readonly label: string,
    public background: boolean,
    readonly awaited: boolean,
    public run: TimerRun | TimerTarget,
    readonly owner: TimerOwner,
  ) {}

  cancel(): void {
    if (this.cancelled) return
    this.cancelled = true
    // It stays in line for a while, and what it would have worked on may be large.
    this.run = nothing
    this.owner.forget(this)
  }
}

/** What the rest of the house does with a clock, and nobody who has one. */
interface Inside {
  accompany(clock: VirtualClock, company: Company): void
  gateOf(clock: VirtualClock): Gate
  goOn(clock: VirtualClock, at?: number): void
  letOutsideContinue(clock: VirtualClock): void
  mindForgottenAdvance(clock: VirtualClock, what: string, isWaiting: () => boolean): void
  forgottenAdvance(clock: VirtualClock, commands: readonly WaitingCommand[]): string | undefined
  stop(clock: VirtualClock): void
  rewind(clock: VirtualClock): Rewind
  timersOf(clock: VirtualClock): number
  waitingTimers(clock: VirtualClock): readonly Timer[]
  standStill(clock: VirtualClock): number
}
let inside: Inside

/** Tells the clock who goes along with it. */
export function accompany(clock: VirtualClock, company: Company): void {
  inside.accompany(clock, company)
}

/**
 * The world of a dump is whole, and goes on: at a later instant, or in mode `real` now. What fell due in between is due,
 * in the order of its times.
 */
export function goOn(clock: VirtualClock, at?: number): void {
  inside.goOn(clock, at)
}

/** What everything that is awaited of the clock's sandbox passes, so that the host's timers run. */
export function gateOf(clock: VirtualClock): Gate {
  return inside.gateOf(clock)
}

/** Tells the clock that an answer left for code it does not track, such as the client of a request. */
export function letOutsideContinue(clock: VirtualClock): void {
  inside.letOutsideContinue(clock)
}

/**
 * Warns when a real second passes, and whoever waits in virtual time is left waiting.
 * @param what such as `a request`
 * @param isWaiting whether that has not ended
 */
export function mindForgottenAdvance(clock: VirtualClock, what: string, isWaiting: () => boolean): void {
  inside.mindForgottenAdvance(clock, what, isWaiting)
}

/** A command of a connection that waits. */
export interface WaitingCommand {
  /** `BLPOP jobs` */
  readonly name: string
  /** A timer ends the wait; otherwise only another command does. */
  readonly hasTimer: boolean
}

/** A sentence that names who waits in virtual time now while nothing moves it, and what is pending. */
export function forgottenAdvance(clock: VirtualClock, commands: readonly WaitingCommand[]): string | undefined {
  return inside.forgottenAdvance(clock, commands)
}

/**
 * Drops every timer, stops host timers and ends the move that is under way. Requests that sleep are told; whatever else
 * sleeps stays asleep.
 */
export function stop(clock: VirtualClock): void {
  inside.stop(clock)
}

/** How many timers have been set so far. */
export function timersOf(clock: VirtualClock): number {
  return inside.timersOf(clock)
}

/** As `clock.pending()`, the timers themselves. */
export function waitingTimers(clock: VirtualClock): readonly Timer[] {
  return inside.waitingTimers(clock)
}

/**
 * The time, which is the same for all that follows from what happens now: time of the host stands still until its turn
 * is over, so that it can be told again.
 */
export function standStill(clock: VirtualClock): number {
  return inside.standStill(clock)
}

/** A clock of a world that is to be made as another one was: nothing moves it any more but what is returned. */
export function rewind(clock: VirtualClock): Rewind {
  return inside.rewind(clock)
}

/**
 * The one clock of a sandbox. `advance` repeats: wait until no task runs, take the earliest timer (ties in the order
 * of scheduling), move followers and time to it, run it.
 */
export class VirtualClock implements Clock {
  static {
    detachable(VirtualClock)
  }

  #mode: ClockMode
  /** Whether a foreign clock follows this one, or has. */
  isFollowed = false
  #now: number
  #sequence = 0
  #heap = new Heap<ScheduledTimer>()
  #cancelled = 0
  #foreground = 0
  #running = new Set<RunningTask>()
  /** What the last timer started or woke: the code that runs is its, until the clock has waited for it. */
  #latest: RunningTask | undefined
  #idleWaiters: (() => void)[] = []
  /** Something outside was answered: it gets a turn of the event loop before time moves on. */
  #outsideMayContinue = false
  readonly #gate: Gate
  /** Of `#gate.responses`, where the move that is under way stops waiting for code outside. */
  #patientUntil = 0
  #warnedPolling = false
  #driving: Move | undefined
  #queue: Promise<unknown> = Promise.resolve()
  readonly #followers = new Followers()
  /** Something ran since followers' code, which nobody tracks, was last waited for. */
  #stirred = false
  #warn: (text: string) => void
  readonly #hints: Hints
  #warnedForgotten = false
  /** In mode `real`: whether time stands still yet. */
  #isHeld: boolean
  /** How far time is ahead of the host's, which was behind when this clock took over: time does not go back. */
  #ahead = 0
  /** The host's time as it was when its present turn began to matter. */
  #stands: number | undefined
  #hostTimer: ReturnType<typeof hostSetTimeout> | undefined
  #pumping = false
  #stopped = false
  #company: Company = {}
  /** A journal is played: time moves as it says, and in no other way. */
  #played: { isDraining: boolean } | undefined
  /** What was under way where a fork began stands still until somebody waits for it. */
  #goOn: (() => void) | undefined
  #tasks = 0
  /** Calls from timers and tasks. */
  readonly #inner: TaskClock & TimerOwner = {
    now: () => this.now(),
    schedule: (at, label, run, options) => this.schedule(at, label, run, options),
    trackFor: (caller, label, work) => this.#trackFor(caller, label, work),
    fellAsleep: (task) => this.#fellAsleep(task),
    woke: (task) => this.#woke(task),
    forget: (timer) => this.#forget(timer),
    nextTask: () => ++this.#tasks,
    rests: (task, as) => this.#company.journal?.note('rested', { task: task.number, as }),
  }
  /** Work that waits for timers of the host. */
  #dozing: { readonly task: RunningTask; readonly hasFired: () => boolean }[] = []
  #listeners = new Set<(from: number, to: number) => void>()
  #failures: unknown[] = []

  constructor(options: ClockOptions) {
    this.#mode = options.mode ?? 'manual'
    if (!clockModes.includes(this.mode)) {
      throw new TypeError(`There is no clock mode ${JSON.stringify(this.mode)}. Use ${clockModes.join(', ')}.`)
    }
    const { startAt = this.mode === 'real' ? hostTime() : Number.NaN } = options
    if (!Number.isFinite(startAt)) {
      throw new RangeError(`The clock needs a start time: an ISO text, a Date or milliseconds, got ${startAt}.`)
    }
    this.#now = startAt
    this.#isHeld = this.mode === 'real' && options.startAt !== undefined
    this.#warn = options.warn ?? ((text) => console.warn(text))
    this.#hints = options.hints ?? inProcess
    this.#gate = options.gate ?? new Gate()
  }

  get mode(): ClockMode {
    return this.#mode
  }

  now(): number {
    return this.#mode === 'real' && !this.#isHeld ? (this.#stands ?? hostTime() + this.#ahead) : this.#now
  }

  #standStill(): number {
    if (this.#mode !== 'real' || this.#isHeld) return this.#now
    if (this.#stands === undefined) {
      this.#stands = hostTime() + this.#ahead
      const goesOn = (): void => {
        this.#stands = undefined
      }
      void hostPause().then(goesOn)
    }
    return this.#stands
  }

  static {
    inside = {
      accompany: (clock, company) => {
        const waiting = { ...clock.#company.waiting, ...company.waiting }
        clock.#company = { ...clock.#company, ...company, waiting }
      },
      gateOf: (clock) => clock.#gate,
      goOn: (clock, at = clock.#now) => {
        clock.#isHeld = false
        clock.#now = Math.max(clock.#now, at)
        if (clock.mode === 'real') clock.#ahead = Math.max(0, clock.#now - hostTime())
        clock.#wake()
      },
      letOutsideContinue: (clock) => {
        clock.#outsideMayContinue = true
      },
      mindForgottenAdvance: (clock, what, isWaiting) => clock.#watchForForgottenAdvance(what, isWaiting),
      forgottenAdvance: (clock, commands) => clock.#forgottenAdvance(commands),
      stop: (clock) => clock.#stop(),
      rewind: (clock) => clock.#rewind(),
      timersOf: (clock) => clock.#sequence,
      waitingTimers: (clock) => clock.#waiting(),
      standStill: (clock) => clock.#standStill(),
    }
  }

  #rewind(): Rewind {
    const played = { isDraining: false }
    this.#played = played
    this.#now = this.now()
    this.#isHeld = true
    if (this.#hostTimer !== undefined) hostClearTimeout(this.#hostTimer)
    let ended: (() => void) | undefined
    return {
      begin: (call) => {
        this.#driving = new Move(call, undefined, 0)
        if (call === 'drain') this.#promoteAll()
        ended = this.#company.log?.moves(call)
      },
      end: () => {
        this.#driving = undefined
        ended?.()
        ended = undefined
      },
      moveTo: (at) => {
        if (at > this.#now) void this.#move(at)
      },
      fire: (number, isDraining) => {
        const timer = this.#next()
        if (timer?.sequence !== number) {
          throw new Error(`timer ${number} is next, not ${timer?.sequence} (${timer?.label})`)
        }
        played.isDraining = isDraining
        this.#latest = undefined
        this.#take(timer)
        this.#start(timer)
        played.isDraining = false
      },
      rest: (number, as) => {
        const task = [...this.#running].find((one) => one.number === number)
        if (as === 'given up') task?.giveUp()
        else if (as === 'dozing') task?.doze()
        else task?.rouse()
      },
      fork: () => {
        this.#driving = undefined
        ended = undefined
        this.#mode = 'manual'
        this.#latest = undefined
      },
      finish: (goOn) => {
        this.#played = undefined
        this.#goOn = goOn
        this.#outsideMayContinue = false
        this.#failures = []
      },
    }
  }

  /** Calls back on every move of virtual time. */
  onMove(listener: (from: number, to: number) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  schedule(at: number, label: string, run: TimerRun | TimerTarget, options?: TimerOptions): Timer {
    if (!Number.isFinite(at)) throw new RangeError(`schedule() needs a time in milliseconds, got ${at} for "${label}".`)
    const timer = new ScheduledTimer(
      // Where time runs by itself a timer may be late, and keeps its place in the order of what is due.
      this.mode === 'real' ? at : Math.max(at, this.#now),
      this.#sequence++,
      label,
      options?.background === true || options?.awaited === false,
      options?.awaited !== false,
      run,
      this.#inner,
    )
    this.#heap.push(timer)
    if (!timer.background) this.#foreground++
    this.#wake()
    return timer
  }

  track<T>(label: string, work: (task: Task) => Promise<T>): Promise<T> {
    return this.#trackFor(this.#caller(), label, work)
  }

  /** The same for a caller that is known. */
  async #trackFor<T>(caller: RunningTask | undefined, label: string, work: (task: Task) => Promise<T>): Promise<T> {
    const task = new RunningTask(label, this.#inner, caller?.awaited ?? true, caller)
    this.#running.add(task)
    try {
      return await work(task)
    } finally {
      task.end()
      this.#stopRunning(task)
    }
  }

  /**
   * The task whose code calls us, as far as can be known: what the last timer started or woke, until it was waited
   * for; later the only one that is awake. Timers run one after the other, so there is hardly ever a second one.
   */
  #caller(): RunningTask | undefined {
    if (this.#latest !== undefined && !this.#latest.ended) return this.#latest
    let only: RunningTask | undefined
    for (const task of this.#running) {
      if (!task.awake || task.isTracked) continue
      if (only !== undefined) return undefined
      only = task
    }
    return only
  }

  /** A sleeper of this task woke. */
  #woke(task: RunningTask): void {
    this.#latest = task.root
    this.#outsideMayContinue = true
  }

  /** Moves time forward and runs everything that falls due, in order. Resolves when all of it has settled. */
  advance(by: Duration, options: MoveOptions = {}): Promise<void> {
    const wait = milliseconds(by)
    const work = this.#drive('advance', options, (move) => this.#runUntil(move, instant(this.now() + wait)))
    return this.#gate.leaving(work)
  }

  /** Moves time to an instant: milliseconds, an ISO text or a `Date`. Going back is refused. */
  advanceTo(at: Instant, options: MoveOptions = {}): Promise<void> {
    const target = instant(at)
    const work = this.#drive('advanceTo', options, (move) => {
      if (target >= this.now()) return this.#runUntil(move, target)
      throw new RangeError(
        `The clock cannot go back: it is ${iso(this.now())}, asked for ${iso(target)}. Create a sandbox with an earlier startAt.`,
      )
    })
    return this.#gate.leaving(work)
  }

  /** Runs until no timer is left but those that renew themselves for ever (schedules). */
  drain(options: MoveOptions = {}): Promise<void> {
    const work = this.#drive('drain', options, (move) => {
      this.#promoteAll()
      return this.#runUntil(move, Number.POSITIVE_INFINITY)
    })
    return this.#gate.leaving(work)
  }

  /**
   * Ends the move of time that is under way; its call rejects. What fell due until now has run, the rest waits.
   * @returns which call it was, `undefined` when time was not moving
   */
  interrupt(): DriveCall | undefined {
    const move = this.#driving
    if (move === undefined) return undefined
    this.#interrupt(
      move,
      new Error(
        `clock.${move.call}() was interrupted at ${iso(this.now())}. What fell due until then has run; call it again to continue.`,
      ),
    )
    return move.call
  }

  #interrupt(move: Move, reason: unknown): void {
    move.interruption ??= { reason }
    this.#wakeWaiters()
  }

  get draining(): boolean {
    if (this.#played !== undefined) return this.#played.isDraining || this.#driving?.call === 'drain'
    return this.#driving?.call === 'drain' || this.#pumping
  }

  #promoteAll(): void {
    for (const timer of this.#heap.values()) if (!timer.awaited) this.#promote(timer)
  }

  #promote(timer: ScheduledTimer): void {
    if (timer.background && !timer.cancelled) this.#foreground++
    timer.background = false
  }

  /** The timers that wait, earliest first. */
  pending(): readonly PendingTimer[] {
    return this.#waiting().map(({ at, label, background }) => ({ at, label, background }))
  }

  #waiting(): readonly Timer[] {
    return this.#heap
      .values()
      .filter((timer) => !timer.cancelled)
      .sort((a, b) => a.at - b.at || a.sequence - b.sequence)
  }

  /** Nothing runs, and no timer waits but those that renew themselves for ever. */
  get isDrained(): boolean {
    if (this.#stopped || this.#foreground > 0 || this.#busy()) return false
    for (const timer of this.#heap.values()) if (!timer.awaited && !timer.cancelled) return false
    return true
  }

  /** Labels of the work that runs right now. */
  running(): readonly string[] {
    return [...this.#running].filter((task) => task.awake).map((task) => task.label)
  }

  /** Drives a foreign clock in step with this one, until the returned function is called. */
  follow(follower: Follower): () => void {
    this.isFollowed = true
    return this.#followers.add(follower)
  }

  /** Resolves once nothing runs, or when the clock was stopped. Time does not move. */
  settled(): Promise<void> {
    this.#patientUntil = this.#gate.responses + mostResponses
    return this.#gate.leaving(this.#settle())
  }

  async #settle(move?: Move): Promise<void> {
    const goOn = this.#goOn
    this.#goOn = undefined
    goOn?.()
    while (!this.#stopped && move?.interruption === undefined) {
      if (this.#isPolled) {
        await (this.#gate.pause ?? hostTurn())
        this.#tellOfPolling(move)
        return
      }
      if (this.#busy()) await this.#untilIdle()
      this.#latest = undefined
      if (this.#busy()) continue
      const { pause } = this.#gate
      if (pause !== undefined) {
        await pause
        this.#outsideMayContinue = true
      } else if (this.#outsideMayContinue) {
        this.#outsideMayContinue = false
        await hostTurn()
      } else return
    }
  }

  /** Code outside sends one request after the other, for which nothing else waits. */
  get #isPolled(): boolean {
    if (this.#gate.responses <= this.#patientUntil) return false
    for (const task of this.#running) if (task.awake && !task.isTracked) return false
    return true
  }

  #tellOfPolling(move: Move | undefined): void {
    if (this.#warnedPolling) return
    this.#warnedPolling = true
    const call = move === undefined ? 'settled' : move.call
    this.#warn(
      `stuntdouble: clock.${call}() has waited for ${mostResponses.toLocaleString('en-US')} responses at ${iso(this.now())}, and the app goes on sending requests. ` +
        'Time moves on without it. Let the loop that polls wait between its requests.',
    )
  }

  #stop(): void {
    this.#stopped = true
    for (const { run, cancelled } of this.#heap.values()) {
      if (!cancelled && typeof run !== 'function') run.stopped?.()
    }
    const move = this.#driving
    if (move !== undefined) {
      const why = `clock.${move.call}() ended at ${iso(this.now())}: the sandbox was reset, loaded or disposed of.`
      this.#interrupt(move, new Error(why))
    } else this.#wakeWaiters()
    this.#heap = new Heap()
    this.#foreground = 0
    this.#cancelled = 0
    if (this.#hostTimer !== undefined) hostClearTimeout(this.#hostTimer)
    this.#hostTimer = undefined
  }

  #forget(timer: ScheduledTimer): void {
    if (!timer.background) this.#foreground--
    // Cancelled timers leave with their turn; a heap that holds mostly such ones is rebuilt.
    if (++this.#cancelled > 64 && this.#cancelled * 2 > this.#heap.size) {
      this.#heap.keep((item) => !item.cancelled)
      this.#cancelled = 0
    }
  }

  #fellAsleep(task: RunningTask): void {
    const what = sentFromOutside(task)
    if (what !== undefined) this.#watchForForgottenAdvance(what, () => !task.awake && !task.ended)
    if (!this.#busy()) this.#becameIdle()
  }

  #stopRunning(task: RunningTask): void {
    this.#running.delete(task)
    if (!this.#busy()) this.#becameIdle()
  }

  #busy(): boolean {
    for (const task of this.#running) if (task.awake) return true
    return false
  }

  #becameIdle(): void {
    this.#wakeWaiters()
    this.#wake()
  }

  #wakeWaiters(): void {
    const waiters = this.#idleWaiters
    this.#idleWaiters = []
    for (const waiter of waiters) waiter()
  }

  async #untilIdle(): Promise<void> {
    // Most work ends within a few microtasks: no alarm for those.
    for (let turn = 0; turn < quickTurns; turn++) {
      await undefined
      if (!this.#busy()) return
    }
    const idle = new Promise<void>((resolve) => this.#idleWaiters.push(resolve))
    const watch = new PatienceWatch(
      this.#running,
      (sentence) => this.#warn(sentence),
      () => this.#driving?.call,
    )
    const endDozing = this.#followers.tellTimes ? this.#letDoze() : undefined
    await idle
    endDozing?.()
    watch.end()
  }

  /**
   * A handler that awaits a timer of the host would wait for ever: that timer follows this clock, and this clock waits for
   * the handler. So it counts as asleep until the timer has fired. @returns what ends the watch
   */
  #letDoze(): () => void {
    let isOver = false
    const look = async (): Promise<void> => {
      // A process that was busy for long has more to do first than to look at its timers.
      for (let pause = 0; pause < quietPauses && !isOver; pause++) await hostPause()
      if (isOver) return
      const hasFired = this.#followers.setJustNow()
      if (hasFired === undefined) {
        timer = hostSetTimeout(look, untilDozing)
        return
      }
      for (const task of [...this.#running]) {
        if (!task.awake || (task.patience ?? Number.POSITIVE_INFINITY) > ownPatience) continue
        this.#dozing.push({ task, hasFired })
        task.doze()
      }
    }
    let timer = hostSetTimeout(look, untilDozing)
    return () => {
      isOver = true
      hostClearTimeout(timer)
    }
  }

  /** Before any of its code goes on: what a timer of the host has just woken is awake. */
  #rouse(): void {
    const woken = this.#dozing.filter(({ hasFired }) => hasFired())
    this.#dozing = this.#dozing.filter((one) => !woken.includes(one) && !one.task.ended)
    for (const { task } of woken) task.rouse()
  }

  async #drive(name: DriveCall, options: MoveOptions, run: (move: Move) => Promise<void>): Promise<void> {
    this.#refuseStopped(name)
    if (this.mode === 'real') {
      throw new Error(
        `clock.${name}() moves time, and with clock: 'real' time is the host's. Use clock: 'manual' or 'auto'; for a server: serve --clock manual.`,
      )
    }
    if (this.mode !== 'manual') {
      // A person or a program at the control API may ask while a delivery runs: one after the other.
      const turn = this.#queue.then(() => this.#driveNow(name, options, run))
      this.#queue = turn.catch(() => undefined)
      return turn
    }
    if (this.#driving !== undefined) {
      throw new Error(
        `clock.${name}() was called while clock.${this.#driving.call}() was still running. Await the first call; inside a handler wait with task.sleep().`,
      )
    }
    return this.#driveNow(name, options, run)
  }

  #refuseStopped(name: DriveCall): void {
    if (!this.#stopped) return
    throw new Error(
      `clock.${name}() was called on a disposed sandbox, or on the clock that it had before a reset. Create a new sandbox, or read sandbox.clock again.`,
    )
  }

  async #driveNow(name: DriveCall, options: MoveOptions, run: (move: Move) => Promise<void>): Promise<void> {
    this.#refuseStopped(name)
    checkMove(name, options)
    const { signal, budget, until } = options
    signal?.throwIfAborted()
    const { log, waiting = {}, journal } = this.#company
    const inLine = Object.values(waiting).reduce((sum, { size }) => sum + size, 0)
    const move = new Move(name, budget, this.#heap.size + inLine, until)
    const abort = (): void => this.#interrupt(move, signal?.reason)
    this.#driving = move
    this.#patientUntil = this.#gate.responses + mostResponses
    signal?.addEventListener('abort', abort, { once: true })
    journal?.note('moving', name)
    const ended = log?.moves(name)
    try {
      await run(move)
    } finally {
      signal?.removeEventListener('abort', abort)
      journal?.note('moved', undefined)
      this.#driving = undefined
      ended?.()
      this.#wake()
    }
  }

  /** Runs what falls due; a target that is an instant is where time stands in the end. */
  async #runUntil(move: Move, target: number): Promise<void> {
    const isDrain = target === Number.POSITIVE_INFINITY
    this.#stirred = true
    for (;;) {
      if (this.#running.size > 0 || this.#outsideMayContinue || this.#gate.pause !== undefined) await this.#settle(move)
      if (this.#failures.length > 0) throw this.#failures.shift()
      if (move.interruption !== undefined) throw move.interruption.reason
      if (move.until?.() === true) return
      const timer = this.#next()
      const isLast = timer === undefined || timer.at > target || (isDrain && this.#foreground === 0)
      if (this.#followers.tellTimes) {
        // What renews itself keeps no drain going, and timers of the host may.
        const until = !isLast ? timer.at : isDrain ? Number.NEGATIVE_INFINITY : target
        if (await this.#lookAtFollowers(until, isLast, move)) continue
      }
      if (isLast) break
      if (timer.at > endOfTime) throw move.endOfTime(timer)
      if (timer.at > this.now()) {
        move.newInstant()
        const following = this.#move(timer.at)
        if (following !== undefined) {
          await following
          // A follower may have cancelled or added timers.
          continue
        }
      }
      if (!move.mayFire(timer)) throw move.gaveUp(timer, this.#heap.size)
      this.#take(timer)
      this.#start(timer)
      if (move.isPauseDue) await hostPause()
    }
    if (!isDrain && target > this.now()) await this.#move(target)
  }

  /**
   * Before time moves on: waits for code that the followers started, then has their next timer fire if it is due until
   * an instant. Theirs come before ours of the same time.
   * @param isLast whether nothing of ours is left to do in this move
   * @returns whether something happened, and there may be more
   */
  async #lookAtFollowers(until: number, isLast: boolean, move?: Move): Promise<boolean> {
    const due = this.now() + this.#followers.nextIn()
    if (this.#stirred && (isLast || Math.min(due, until) > this.now())) {
      await this.#calm(move)
      return true
    }
    if (due > until) return false
    if (due > this.now()) move?.newInstant()
    const timer: Timer = { at: due, label: 'a timer of the host', background: true, cancel() {} }
    if (move?.mayFire(timer) === false) throw move.gaveUp(timer, this.#heap.size)
    this.#stirred = true
    const moved = this.#move(due)
    if (this.#dozing.length > 0) this.#rouse()
    await moved
    // Host timers run one after the other: what awaits the first one goes on before the second one fires.
    await hostTurn()
    return true
  }

  /** Waits until nothing comes any more of what nobody tracks: code of followers, and whatever waits for its answers. */
  async #calm(move?: Move): Promise<void> {
    this.#stirred = false
    this.#latest = undefined
    for (let quiet = 0; quiet < quietPauses; quiet++) {
      if (this.#stopped || move?.interruption !== undefined || this.#isPolled) return
      await hostPause()
      if (!this.#busy() && !this.#outsideMayContinue && this.#gate.pause === undefined) continue
      await this.#settle(move)
      quiet = -1
    }
  }

  #next(): ScheduledTimer | undefined {
    for (;;) {
      const timer = this.#heap.peek()
      if (timer?.cancelled !== true) return timer
      this.#heap.pop()
      this.#cancelled--
    }
  }

  #take(timer: ScheduledTimer): void {
    this.#heap.pop()
    if (!timer.background) this.#foreground--
    // From here on cancel() has nothing left to do.
    timer.cancelled = true
  }

  #start(timer: ScheduledTimer): void {
    this.#stirred = true
    this.#company.journal?.note(this.draining ? 'drained' : 'fired', timer.sequence)
    const task = new RunningTask(timer.label, this.#inner, timer.awaited || !timer.background, undefined)
    this.#latest = task
    try {
      const { run } = timer
      const outcome = typeof run === 'function' ? run(task) : run.fire(task)
      if (outcome === undefined) task.end()
      else {
        this.#running.add(task)
        void this.#finish(task, outcome)
      }
    } catch (error) {
      task.end()
      this.#failed(task, error)
    }
  }

  async #finish(task: RunningTask, outcome: Promise<unknown>): Promise<void> {
    try {
      await outcome
    } catch (error) {
      this.#failed(task, error)
    } finally {
      task.end()
      this.#stopRunning(task)
    }
  }

  /** A timer's work reports its own failures; what arrives here is a bug or a misuse and must be seen. */
  #failed(task: Task, error: unknown): void {
    if (this.#driving !== undefined) this.#failures.push(error)
    else
      this.#warn(
        `stuntdouble: "${task.label}" failed: ${error instanceof Error ? (error.stack ?? error.message) : error}`,
      )
  }

  /** A promise only where a follower has to be waited for. */
  #move(to: number): Promise<void> | undefined {
    const from = this.now()
    this.#now = to
    if (to > from) for (const listener of this.#listeners) listener(from, to)
    return this.#followers.count > 0 ? this.#followers.advanceBy(to - from) : undefined
  }

  /** In the modes that move by themselves: sees to it that the next timer gets its turn. */
  #wake(): void {
    if (this.mode === 'manual' || this.#stopped || this.#played !== undefined) return
    if (this.mode === 'real') this.#armHostTimer()
    else if (!this.#pumping) void this.#pump()
  }

  #armHostTimer(): void {
    if (this.#hostTimer !== undefined) hostClearTimeout(this.#hostTimer)
    this.#hostTimer = undefined
    const timer = this.#next()
    if (timer === undefined) return
    const wait = Math.min(Math.max(0, timer.at - this.now()), longestWait)
    this.#hostTimer = hostSetTimeout(() => {
      this.#hostTimer = undefined
      // Of many that are due the others follow with the next timer of the host: a loaded state may have thousands.
      for (let left = turnsPerPause; left > 0; left--) {
        const due = this.#next()
        if (due === undefined || due.at > this.now()) break
        this.#take(due)
        this.#start(due)
      }
      this.#armHostTimer()
    }, wait)
    unref(this.#hostTimer)
  }

  async #pump(): Promise<void> {
    this.#pumping = true
    this.#stirred = true
    this.#patientUntil = this.#gate.responses + mostResponses
    let fired = 0
    try {
      while (!this.#stopped && this.#driving === undefined && this.#played === undefined) {
        // A turn lets the caller go on, but no socket is looked at before a pause.
        await (++fired % turnsPerPause === 0 ? hostPause() : hostTurn())
        await this.#settle()
        if (this.#foreground === 0 || this.#driving !== undefined) break
        const timer = this.#next()
        if (timer === undefined || timer.at > endOfTime) break
        if (this.#followers.tellTimes && (await this.#lookAtFollowers(timer.at, false))) continue
        if (timer.at > this.#now) {
          await this.#move(timer.at)
          // A follower may have cancelled or added timers.
          continue
        }
        this.#take(timer)
        this.#start(timer)
      }
    } finally {
      this.#pumping = false
    }
  }

  #watchForForgottenAdvance(what: string, isWaiting: () => boolean): void {
    if (this.mode !== 'manual' || this.#warnedForgotten) return
    const before = this.#now
    unref(
      hostSetTimeout(() => {
        if (this.#warnedForgotten || this.#stopped || this.#now !== before || this.#driving !== undefined) return
        const pending = isWaiting() ? this.#pendingText() : undefined
        if (pending === undefined) return
        this.#warnedForgotten = true
        this.#warn(
          `stuntdouble: ${what} waits in virtual time and a real second has passed without the clock moving. ${pending}`,
        )
      }, patienceMilliseconds),
    )
  }

  #forgottenAdvance(commands: readonly WaitingCommand[]): string | undefined {
    if (this.mode !== 'manual' || this.#stopped || this.#driving !== undefined) return undefined
    const asleep = [...this.#running].filter((task) => !task.awake).map(sentFromOutside)
    const timed = commands.filter(({ hasTimer }) => hasTimer)
    const what = asleep.find((each) => each !== undefined) ?? (timed[0] && `a command (${timed[0].name})`)
    const endless = commands.filter((command) => !command.hasTimer).slice(0, 5)
    const sentences = endless.map(({ name }) => `Pending: ${name}, until another command ends the wait.`)
    const pending = what && this.#pendingText()
    if (pending) sentences.unshift(`${what} waits in virtual time. ${pending}`)
    return sentences.length === 0 ? undefined : sentences.join(' ')
  }

  /** The next timers, and how to get to the first; `undefined` where none waits. */
  #pendingText(): string | undefined {
    const timers = this.pending().slice(0, 5)
    if (timers.length === 0) return undefined
    const list = timers.map((timer) => `${timer.label} (due in ${formatDuration(timer.at - this.#now)})`).join(', ')
    return `Pending: ${list}. ${this.#hints.advance(formatDuration(timers[0]!.at - this.#now))}`
  }
}

/** What a client sent, whose work this is: a request, or a command over a connection. */
function sentFromOutside({ label }: RunningTask): string | undefined {
  if (label.startsWith('request ')) return 'a request'
  return label.startsWith('command ') ? `a command (${label.slice('command '.length)})` : undefined
}
