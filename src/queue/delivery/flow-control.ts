import type { Clock } from '../../kernel/clock.js'
import { formatDuration } from '../../kernel/duration.js'
import type { Random } from '../../kernel/random.js'
import type { Timer } from '../../kernel/time.js'
import type { FlowControlEntry } from '../../kernel/traffic.js'
import { Line } from '../message/line.js'
import type { Message, WaitTicket } from '../message/message.js'
import type { FlowControlLimits } from '../settings/settings.js'

import type { NoteSetting } from '../settings/settings-log.js'

/** The limits and counters of one flow-control key. [queue.md 6.2] */
export class FlowKey {
  parallelismMax: number | undefined
  rateMax: number | undefined
  /** Seconds. */
  ratePeriod = 1
  rateCount = 0
  /** Milliseconds, `undefined` before the first call. */
  ratePeriodStart: number | undefined
  pinnedParallelism = false
  pinnedRate = false
  paused = false
  timer: Timer | undefined
  /** `seq` of the message that came last. */
  latestSeq = 0
  /** What was due before the present period was begun by hand, and has yet to start: it counts in the one before. */
  overdue: { readonly upTo: number; readonly at: number; room: number } | undefined
  readonly running: Set<Message> = new Set()
  readonly #line = new Line<WaitTicket>()
  #size = 0
  /** Waiting messages that a drain waits for. */
  #awaited = 0

  constructor(readonly key: string) {}

  get parallelismCount(): number {
    return this.running.size
  }

  get awaited(): boolean {
    return this.#awaited > 0
  }

  get waitListSize(): number {
    return this.#size
  }

  periodEnd(): number {
    return (this.ratePeriodStart ?? Number.NEGATIVE_INFINITY) + this.ratePeriod * 1000
  }

  /** When the present period began, in milliseconds: one without calls as well, which follows the one before. */
  presentPeriodStart(now: number): number {
    const { ratePeriodStart: start = now } = this
    const length = this.ratePeriod * 1000
    return start + Math.floor(Math.max(0, now - start) / length) * length
  }

  /** The period that has ended counts no more. */
  refresh(now: number): void {
    if (now >= this.periodEnd()) this.rateCount = 0
  }

  hasRoom(now: number): boolean {
    this.refresh(now)
    return this.#hasSlot() && (this.rateMax === undefined || this.rateCount < this.rateMax)
  }

  /** Whether a message takes up what the period before the present one had left. */
  hasRoomOverdue({ seq, due }: Message): boolean {
    const { overdue } = this
    return overdue !== undefined && overdue.room > 0 && seq <= overdue.upTo && due <= overdue.at && this.#hasSlot()
  }

  #hasSlot(): boolean {
    return !this.paused && (this.parallelismMax === undefined || this.parallelismCount < this.parallelismMax)
  }

  /** Calls that the rate still allows. */
  rateLeft(now: number): number {
    this.refresh(now)
    return this.rateMax === undefined ? Number.POSITIVE_INFINITY : Math.max(0, this.rateMax - this.rateCount)
  }

  /**
   * Why nobody may start now, as part of a sentence.
   * @param isInOrder whether those who wait are admitted in the order in which they came
   */
  blockedBy(now: number, isInOrder: boolean): string {
    if (this.paused) return 'paused'
    if (this.parallelismMax !== undefined && this.parallelismCount >= this.parallelismMax)
      return `parallelism ${this.parallelismCount} of ${this.parallelismMax}${this.#before()}`
    if (this.rateMax !== undefined && this.rateCount >= this.rateMax) {
      // Others may use up the next period, too: its end says something only about those whom it admits.
      const left = isInOrder && this.#size < this.#roomAfterPeriod() ? this.periodEnd() - now : undefined
      const until = left === undefined ? '' : `, for ${formatDuration(Math.max(0, left))} more`
      return `rate ${this.rateCount} of ${this.rateMax}${until}${this.#before()}`
    }
    return `${this.waitListSize} before it in the wait list`
  }

  /** How many can start when the present period ends, while the calls that are in flight go on. */
  #roomAfterPeriod(): number {
    const { rateMax = Number.POSITIVE_INFINITY, parallelismMax = Number.POSITIVE_INFINITY } = this
    return Math.min(rateMax, parallelismMax - this.parallelismCount)
  }

  #before(): string {
    return this.#size === 0 ? '' : `, ${this.#size} before it`
  }

  wait(ticket: WaitTicket): void {
    this.#line.push(ticket)
    this.#size++
    if (ticket.awaited) this.#awaited++
  }

  /** The next in line, or anybody in it where chance decides; cancelled ones are skipped. */
  next(draws: Random | undefined): Message | undefined {
    let ticket = this.#shift(draws)
    while (ticket?.live === false) ticket = this.#shift(draws)
    if (ticket === undefined) return undefined
    ticket.live = false
    this.leave(ticket)
    return ticket.message
  }

  #shift(draws: Random | undefined): WaitTicket | undefined {
    if (draws !== undefined && this.#line.length > 1) this.#line.promote(draws.int(this.#line.length))
    return this.#line.shift()
  }

  /** A message left the wait list without being started; its place is skipped later. */
  leave(ticket: WaitTicket): void {
    this.#size--
    if (ticket.awaited) this.#awaited--
  }

  /** Everybody in line, with the places of those who have left. */
  tickets(): readonly WaitTicket[] {
    return this.#line.all()
  }

  waiting(): readonly Message[] {
    return this.#line
      .all()
      .filter((ticket) => ticket.live)
      .map((ticket) => ticket.message)
  }
}

/** Called when messages are held back and let go. */
export type NoteDecision = (
  message: Message,
  decision: FlowControlEntry['decision'],
  reason: string,
  key?: string,
) => void

/** Who may call now: parallelism and rate by key, and all calls in flight together. */
export class FlowControl {
  readonly keys: Map<string, FlowKey> = new Map()
  /** Calls in flight over all keys and none. */
  inFlight = 0
  readonly #clock: Clock
  /** Calls in flight that the plan allows, `undefined` when it is not enforced. */
  readonly globalMax: number | undefined
  readonly #start: (message: Message) => void
  readonly #note: NoteSetting
  readonly #decide: NoteDecision
  readonly #draws: Random | undefined
  readonly #globalLine = new Line<WaitTicket>()

  /**
   * @param globalMax calls in flight that the plan allows, `undefined` when it is not enforced
   * @param start begins the attempt of a message that was admitted from a wait list
   * @param draws picks who leaves a wait list; without it, who came first
   */
  constructor(
    clock: Clock,
    globalMax: number | undefined,
    start: (message: Message) => void,
    note: NoteSetting,
    decide: NoteDecision,
    draws?: Random | undefined,
  ) {
    this.#draws = draws
    this.#clock = clock
    this.globalMax = globalMax
    this.#start = start
    this.#note = note
    this.#decide = decide
  }

  /** What will be drawn for the wait lists, without drawing it; `undefined` where nothing is left to chance. */
  get comingDraws(): Random | undefined {
    return this.#draws?.copy()
  }

  /** Who waits for the limit of the plan, first in line first. */
  waitingForPlan(): readonly Message[] {
    return this.#globalLine.all().flatMap(({ live, message }) => (live ? [message] : []))
  }

  /** The key of a message that arrives, with the limits it brings: the latest message counts unless they are pinned. */
  arrive(message: Message): void {
    const flow = message.settings.flowControl
    if (flow === undefined) return
    const key = this.keyOf(flow.key)
    key.latestSeq = message.seq
    if (flow.limits !== undefined) this.#configure(key, flow.limits)
  }

  keyOf(name: string): FlowKey {
    let key = this.keys.get(name)
    if (key === undefined) {
      key = new FlowKey(name)
      this.keys.set(name, key)
    }
    return key
  }

  #configure(key: FlowKey, limits: FlowControlLimits): void {
    const { parallelismMax, rateMax, ratePeriod } = key
    if (!key.pinnedParallelism) key.parallelismMax = limits.parallelism
    if (!key.pinnedRate) {
      // A period that is over is not revived by a longer one.
      if (this.#clock.now() >= key.periodEnd()) key.ratePeriodStart = undefined
      key.rateMax = limits.rate
      key.ratePeriod = limits.period
    }
    const changed = parallelismMax !== key.parallelismMax || rateMax !== key.rateMax || ratePeriod !== key.ratePeriod
    if (changed) this.#noteLimits(key, 'limited')
    this.admitWaiting(key)
  }

  #noteLimits(key: FlowKey, change: string): void {
    const { parallelismMax: parallelism, rateMax: rate, ratePeriod: period } = key
    // A period is one second by default.
    const told = rate === undefined && period === 1 ? undefined : period
    this.#note('flow-control', key.key, change, { parallelism, rate, period: told })
  }

  /** Whether a due message may start now; if not, it stands in the wait list and is started later. */
  ask(message: Message): boolean {
    const now = this.#clock.now()
    const flow = message.settings.flowControl
    if (flow !== undefined) {
      const key = this.keyOf(flow.key)
      if (key.waitListSize === 0 && key.hasRoomOverdue(message)) {
        key.overdue!.room--
        key.running.add(message)
        return this.#askGlobal(message, now)
      }
      if (key.waitListSize > 0 || !key.hasRoom(now)) {
        this.#decide(message, 'held', key.blockedBy(now, this.#draws === undefined), key.key)
        message.ticket = { message, since: now, live: true, awaited: message.awaited }
        key.wait(message.ticket)
        this.admitWaiting(key)
        return false
      }
      this.#take(key, message, now)
    }
    return this.#askGlobal(message, now)
  }

  #askGlobal(message: Message, now: number): boolean {
    if (this.globalMax !== undefined && this.inFlight >= this.globalMax) {
      this.#decide(message, 'held', `${this.inFlight} of ${this.globalMax} calls in flight`)
      message.ticket = { message, since: message.ticket?.since ?? now, live: true, awaited: message.awaited }
      this.#globalLine.push(message.ticket)
      return false
    }
    this.inFlight++
    return true
  }

  /** A call ended: its slots are free. */
  release(message: Message): void {
    this.inFlight--
    const flow = message.settings.flowControl
    if (flow !== undefined) {
      const key = this.keyOf(flow.key)
      key.running.delete(message)
      this.admitWaiting(key)
    }
    this.#admitGlobal()
  }

  /** A waiting message was cancelled. */
  leave(message: Message): void {
    const { ticket } = message
    if (ticket?.live !== true) return
    ticket.live = false
    message.ticket = undefined
    const flow = message.settings.flowControl
    if (flow === undefined) return
    const key = this.keyOf(flow.key)
    // One that waits for the global limit already holds its slot of the key.
    if (key.running.delete(message)) this.admitWaiting(key)
    else key.leave(ticket)
  }

  /** Starts as many waiting messages as there is room for, in order, and comes back when the period ends. */
  admitWaiting(key: FlowKey): void {
    const now = this.#clock.now()
    while (key.waitListSize > 0 && key.hasRoom(now)) {
      const message = key.next(this.#draws)
      if (message === undefined) break
      this.#take(key, message, now)
      if (!this.#askGlobal(message, now)) continue
      this.#admitted(message, now, key.key)
      this.#start(message)
    }
    this.#watchPeriod(key, now)
  }

  #watchPeriod(key: FlowKey, now: number): void {
    const rateLimits = !key.paused && key.waitListSize > 0 && key.rateMax !== undefined && key.rateCount >= key.rateMax
    if (!rateLimits) {
      key.timer?.cancel()
      key.timer = undefined
      return
    }
    const end = Math.max(now, key.periodEnd())
    if (key.timer?.at === end && key.timer.background === !key.awaited) return
    key.timer?.cancel()
    const admit = (): void => {
      key.timer = undefined
      this.admitWaiting(key)
    }
    const options = key.awaited ? undefined : ({ awaited: false } as const)
    key.timer = this.#clock.schedule(end, `end of the rate period of flow-control key ${key.key}`, admit, options)
  }

  #take(key: FlowKey, message: Message, now: number): void {
    if (now >= key.periodEnd()) {
      key.ratePeriodStart = now
      key.rateCount = 0
    }
    key.rateCount++
    key.running.add(message)
  }

  #admitGlobal(): void {
    const max = this.globalMax
    if (max === undefined) return
    while (this.inFlight < max) {
      const ticket = this.#globalLine.shift()
      if (ticket === undefined) return
      if (!ticket.live) continue
      ticket.live = false
      this.inFlight++
      this.#admitted(ticket.message, this.#clock.now())
      this.#start(ticket.message)
    }
  }

  #admitted(message: Message, now: number, key?: string): void {
    const since = message.ticket?.since ?? now
    this.#decide(message, 'admitted', `held for ${formatDuration(now - since)}`, key)
  }

  pause(name: string): void {
    const key = this.keyOf(name)
    key.paused = true
    this.#note('flow-control', name, 'paused')
    this.#watchPeriod(key, this.#clock.now())
  }

  resume(name: string): void {
    const key = this.keyOf(name)
    key.paused = false
    this.#note('flow-control', name, 'resumed')
    this.admitWaiting(key)
  }

  /** Fixes limits against those that messages bring; resets the rate count and the period. */
  pin(
    name: string,
    limits: { parallelism?: number | undefined; rate?: number | undefined; period?: number | undefined },
  ): void {
    const key = this.keyOf(name)
    const left = key.rateLeft(this.#clock.now())
    if (limits.parallelism !== undefined) {
      key.parallelismMax = limits.parallelism
      key.pinnedParallelism = true
    }
    if (limits.rate !== undefined || limits.period !== undefined) {
      if (limits.rate !== undefined) key.rateMax = limits.rate
      if (limits.period !== undefined) key.ratePeriod = limits.period
      key.pinnedRate = true
    }
    this.#noteLimits(key, 'pinned')
    this.#restartPeriod(key, left)
  }

  /** The values stay in force until a message brings others. */
  unpin(name: string, which: { parallelism: boolean; rate: boolean }): void {
    const key = this.keyOf(name)
    if (which.parallelism) key.pinnedParallelism = false
    if (which.rate) key.pinnedRate = false
    this.#note('flow-control', name, 'unpinned', which)
  }

  resetRate(name: string): void {
    this.#note('flow-control', name, 'rate-reset')
    const key = this.keyOf(name)
    this.#restartPeriod(key, key.rateLeft(this.#clock.now()))
  }

  /** The older reset: parallelism and rate counters. */
  reset(name: string): void {
    const key = this.keyOf(name)
    key.running.clear()
    this.#note('flow-control', name, 'reset')
    this.#restartPeriod(key, key.rateLeft(this.#clock.now()))
  }

  stop(): void {
    for (const key of this.keys.values()) key.timer?.cancel()
  }

  /**
   * On the service, what was published just before has mostly started by then; here its timer may not have fired yet.
   * [queue.md 6.2]
   * @param left calls that the period before would have allowed
   */
  #restartPeriod(key: FlowKey, left: number): void {
    const now = this.#clock.now()
    key.overdue = { upTo: key.latestSeq, at: now, room: left }
    key.rateCount = 0
    key.ratePeriodStart = now
    this.admitWaiting(key)
  }
}
