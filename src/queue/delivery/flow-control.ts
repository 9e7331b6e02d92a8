import type { ServiceClock } from '../../kernel/clock.js'
import { formatDuration } from '../../kernel/duration.js'
import type { Random } from '../../kernel/random.js'
import type { Timer } from '../../kernel/time.js'
import type { FlowControlEntry } from '../../kernel/traffic-log.js'
import type { Message } from '../message/message.js'
import { next } from '../message/state.js'
import type { NoteSetting } from '../settings/settings-log.js'
import { type FlowCaller, FlowKey, type PinnedLimits, WaitList } from './flow-key.js'

/** Why a message is held. `reason` is text for the traffic log. */
export interface Holding {
  readonly by: 'key' | 'plan'
  readonly reason: string
}

/**
 * State of flow control: the limits and counters of each flow-control key, and the total number of deliveries in
 * flight.
 */
export class FlowControl<C extends FlowCaller = Message> {
  readonly keys: Map<string, FlowKey<C>> = new Map()
  /** Number of deliveries in flight, including those without a flow-control key. */
  inFlight = 0
  /** The plan's maximum number of deliveries in flight. `undefined` if this limit is not enforced. */
  readonly globalMax: number | undefined
  /** Messages that are held because the number of deliveries in flight has reached the limit of the plan. */
  readonly heldByPlan: WaitList<C> = new WaitList()

  constructor(globalMax: number | undefined) {
    this.globalMax = globalMax
  }

  keyOf(name: string): FlowKey<C> {
    let key = this.keys.get(name)
    if (key === undefined) {
      key = new FlowKey(name)
      this.keys.set(name, key)
    }
    return key
  }

  keyOfCaller({ settings: { flowControl } }: C): FlowKey<C> | undefined {
    return flowControl && this.keyOf(flowControl.key)
  }

  /**
   * Asks whether a due message may start. If the limits allow it, the message gets its slots. Otherwise it enters a
   * wait list, and the result says why.
   * @param isInOrder `true` if messages leave a wait list in the order of arrival; `false` if the order is random
   */
  ask(caller: C, now: number, isInOrder: boolean): Holding | undefined {
    const key = this.keyOfCaller(caller)
    if (key === undefined || key.ask(caller, now)) return this.askPlan(caller)
    const reason = key.blockedBy(now, isInOrder)
    key.held.enter(caller)
    return { by: 'key', reason }
  }

  /**
   * Counts a delivery as in flight if the limit of the plan allows another one. Otherwise the message enters the wait
   * list of the plan.
   */
  askPlan(caller: C): Holding | undefined {
    if (this.globalMax !== undefined && this.inFlight >= this.globalMax) {
      this.heldByPlan.enter(caller)
      return { by: 'plan', reason: `${this.inFlight} of ${this.globalMax} deliveries in flight` }
    }
    this.inFlight++
    return undefined
  }

  /**
   * Admits the first message in the wait list of the plan, if the limit of the plan allows another delivery in flight.
   */
  admitByPlan(): C | undefined {
    const { heldByPlan, globalMax } = this
    if (globalMax === undefined) return undefined
    while (this.inFlight < globalMax && heldByPlan.places > 0) {
      const caller = heldByPlan.shift()
      if (caller === undefined) continue
      this.inFlight++
      return caller
    }
    return undefined
  }

  *held(): Iterable<C> {
    for (const { held } of this.keys.values()) yield* held.all()
    yield* this.heldByPlan.all()
  }

  /**
   * Frees the slots of a delivery that has ended.
   * @returns the flow-control key that now has a free slot; `undefined` without a key
   */
  release(caller: C): FlowKey<C> | undefined {
    this.inFlight--
    const key = this.keyOfCaller(caller)
    key?.running.delete(caller)
    return key
  }

  /**
   * Removes a held message that ends without a delivery.
   * @returns the flow-control key that now has a free slot; `undefined` if the message had no slot
   */
  leave(caller: C, by: Holding['by']): FlowKey<C> | undefined {
    const key = this.keyOfCaller(caller)
    if (by === 'plan') this.heldByPlan.leave(caller)
    else key?.held.leave(caller)
    // A message that the plan's limit holds already has a slot of its key. Free that slot.
    return key?.running.delete(caller) === true ? key : undefined
  }

  pause(name: string): FlowKey<C> {
    return Object.assign(this.keyOf(name), { paused: true })
  }

  resume(name: string): FlowKey<C> {
    return Object.assign(this.keyOf(name), { paused: false })
  }

  /**
   * Returns a copy for a forecast, with other objects in place of the messages.
   * @param of returns the object that replaces a message; `undefined` omits the message
   */
  copy<D extends FlowCaller>(of: (caller: C) => D | undefined): FlowControl<D> {
    const copy = new FlowControl<D>(this.globalMax)
    for (const [name, key] of this.keys) copy.keys.set(name, key.copy(of))
    this.heldByPlan.copyTo(copy.heldByPlan, of)
    copy.inFlight = this.inFlight
    return copy
  }
}

export type NoteDecision = (
  message: Message,
  decision: FlowControlEntry['decision'],
  reason: string,
  key?: string,
) => void

export interface AdmissionsOptions {
  readonly clock: ServiceClock
  readonly globalMax: number | undefined
  /** Begins the attempt of a message that was held and is now admitted. */
  readonly start: (message: Message) => void
  readonly note: NoteSetting
  readonly decide: NoteDecision
  /** Random stream that selects which message leaves a wait list. If absent, messages leave in the order of arrival. */
  readonly draws?: Random | undefined
}

/**
 * Connects flow control with the queue: provides time and random draws, logs decisions, and sets the timers of rate
 * periods.
 */
export class Admissions {
  readonly control: FlowControl
  readonly #options: AdmissionsOptions
  /** Timer of each key that has held messages. It fires when the rate period ends. */
  readonly #wakes = new Map<FlowKey, Timer>()

  constructor(options: AdmissionsOptions) {
    this.#options = options
    this.control = new FlowControl(options.globalMax)
  }

  get keys(): ReadonlyMap<string, FlowKey> {
    return this.control.keys
  }

  get inFlight(): number {
    return this.control.inFlight
  }

  keyOf(name: string): FlowKey {
    return this.control.keyOf(name)
  }

  /**
   * Copy of the random stream that orders the wait lists. A forecast draws from the copy, so the stream itself does not
   * advance. `undefined` if messages leave in the order of arrival.
   */
  get comingDraws(): Random | undefined {
    return this.#options.draws?.copy()
  }

  /** Returns the timer that fires at the end of a key's rate period, to admit its held messages. */
  wakeOf(key: FlowKey): Timer | undefined {
    return this.#wakes.get(key)
  }

  /**
   * Applies the limits that a new message sets for its flow-control key. The new limits replace the present limits,
   * unless the present limits are pinned.
   */
  arrive(message: Message): void {
    const flow = message.settings.flowControl
    if (flow === undefined) return
    const key = this.keyOf(flow.key)
    key.latestSeq = message.seq
    if (flow.limits === undefined) return
    const changes = key.differs(flow.limits)
    key.limit(flow.limits, this.#now())
    if (changes) this.#noteLimits(key, 'limited')
    this.#admitWaiting(key)
  }

  #noteLimits(key: FlowKey, change: string): void {
    const { parallelismMax: parallelism, rateMax: rate, ratePeriod: period } = key
    // Omit the period if there is no rate and the period is the default of 1 second.
    const told = rate === undefined && period === 1 ? undefined : period
    this.#options.note('flow-control', key.key, change, { parallelism, rate, period: told })
  }

  /**
   * Asks whether a due message may start. If the result is `false`, flow control holds the message and starts it later.
   */
  ask(message: Message): boolean {
    const { draws } = this.#options
    const now = this.#now()
    const holding = this.control.ask(message, now, draws === undefined)
    if (holding === undefined) return true
    this.#hold(message, holding, now)
    if (holding.by === 'key') this.#admitWaiting(this.control.keyOfCaller(message)!)
    return false
  }

  #hold(message: Message, { by, reason }: Holding, now: number): void {
    const key = by === 'key' ? message.settings.flowControl?.key : undefined
    this.#options.decide(message, 'held', reason, key)
    message.delivery = next(message.delivery, { is: 'held', now, by })
  }

  release(message: Message): void {
    const key = this.control.release(message)
    if (key !== undefined) this.#admitWaiting(key)
    for (let one = this.control.admitByPlan(); one !== undefined; one = this.control.admitByPlan())
      this.#admitted(one, this.#now())
  }

  /** Removes a held message from its wait list, because the message ends without a delivery. */
  leave(message: Message): void {
    const { delivery } = message
    if (delivery.is !== 'held') return
    const key = this.control.leave(message, delivery.by)
    if (key !== undefined) this.#admitWaiting(key)
  }

  /**
   * Starts held messages of a key until a limit is reached. If the rate limit is reached, sets a timer for the end of
   * the rate period.
   */
  #admitWaiting(key: FlowKey): void {
    const { draws } = this.#options
    const now = this.#now()
    while (key.mayAdmit(now)) {
      if (draws !== undefined && key.held.places > 1) key.held.promote(draws.int(key.held.places))
      const message = key.admit(now)
      if (message === undefined) continue
      const holding = this.control.askPlan(message)
      if (holding === undefined) this.#admitted(message, now, key.key)
      else this.#hold(message, holding, now)
    }
    this.#watchPeriod(key, now)
  }

  #admitted(message: Message, now: number, key?: string): void {
    const { delivery } = message
    const since = delivery.is === 'held' ? delivery.since : now
    this.#options.decide(message, 'admitted', `held for ${formatDuration(now - since)}`, key)
    message.delivery = next(delivery, { is: 'admitted', now })
    this.#options.start(message)
  }

  #watchPeriod(key: FlowKey, now: number): void {
    const timer = this.#wakes.get(key)
    const at = key.wakeAt(now)
    const { awaited } = key.held
    if (timer !== undefined) {
      if (timer.at === at && timer.background === !awaited) return
      timer.cancel()
      this.#wakes.delete(key)
    }
    if (at === undefined) return
    const wake = (): void => {
      this.#wakes.delete(key)
      this.#admitWaiting(key)
    }
    const options = awaited ? undefined : ({ awaited: false } as const)
    const label = `end of the rate period of flow-control key ${key.key}`
    this.#wakes.set(key, this.#options.clock.schedule(at, label, wake, options))
  }

  pause(name: string): void {
    const key = this.control.pause(name)
    this.#options.note('flow-control', name, 'paused')
    this.#watchPeriod(key, this.#now())
  }

  resume(name: string): void {
    const key = this.control.resume(name)
    this.#options.note('flow-control', name, 'resumed')
    this.#admitWaiting(key)
  }

  /** Pins limits of a key, so that messages cannot change them. Begins a new rate period with no counted deliveries. */
  pin(name: string, limits: PinnedLimits): void {
    const key = this.keyOf(name)
    const left = key.rateLeft(this.#now())
    key.pin(limits)
    this.#noteLimits(key, 'pinned')
    this.#restartPeriod(key, left)
  }

  /** Unpins limits of a key. The limits stay unchanged until a message sets other limits. */
  unpin(name: string, which: { parallelism: boolean; rate: boolean }): void {
    const key = this.keyOf(name)
    if (which.parallelism) key.pinnedParallelism = false
    if (which.rate) key.pinnedRate = false
    this.#options.note('flow-control', name, 'unpinned', which)
  }

  resetRate(name: string): void {
    this.#options.note('flow-control', name, 'rate-reset')
    const key = this.keyOf(name)
    this.#restartPeriod(key, key.rateLeft(this.#now()))
  }

  /** Resets the counters of the parallelism and the rate, as the older endpoint `reset` does. */
  reset(name: string): void {
    const key = this.keyOf(name)
    key.running.clear()
    this.#options.note('flow-control', name, 'reset')
    this.#restartPeriod(key, key.rateLeft(this.#now()))
  }

  #restartPeriod(key: FlowKey, left: number): void {
    key.restartPeriod(this.#now(), left)
    this.#admitWaiting(key)
  }

  stop(): void {
    for (const timer of this.#wakes.values()) timer.cancel()
  }

  #now(): number {
    return this.#options.clock.now()
  }
}
