import type { ServiceClock } from '../../kernel/clock.js'
import { formatDuration } from '../../kernel/duration.js'
import type { Random } from '../../kernel/random.js'
import type { Timer } from '../../kernel/time.js'
import type { FlowControlEntry } from '../../kernel/traffic-log.js'
import type { Message } from '../message/message.js'
import { next } from '../message/state.js'
import type { NoteSetting } from '../settings/settings-log.js'
import { FlowControl, type FlowKey, type Holding, type PinnedLimits } from './flow-control.js'

/** Called when messages are held back and let go. */
export type NoteDecision = (
  message: Message,
  decision: FlowControlEntry['decision'],
  reason: string,
  key?: string,
) => void

export interface AdmissionsOptions {
  readonly clock: ServiceClock
  /** Calls in flight that the plan allows, `undefined` when it is not enforced. */
  readonly globalMax: number | undefined
  /** Begins the attempt of a message that was held and is admitted. */
  readonly start: (message: Message) => void
  readonly note: NoteSetting
  readonly decide: NoteDecision
  /** Picks who leaves a wait list; without it, who came first. */
  readonly draws?: Random | undefined
}

/** Interprets flow control: it gives it the time and the draws, writes down what it decides, and wakes its keys. */
export class Admissions {
  readonly control: FlowControl
  readonly #options: AdmissionsOptions
  /** By key: the end of the rate period that somebody waits for. */
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

  /** What will be drawn for the wait lists, without drawing it; `undefined` where nothing is left to chance. */
  get comingDraws(): Random | undefined {
    return this.#options.draws?.copy()
  }

  /** When a key looks at its wait list again. */
  wakeOf(key: FlowKey): Timer | undefined {
    return this.#wakes.get(key)
  }

  /** The key of a message that arrives, with the limits it brings: the latest message counts unless they are pinned. */
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
    // A period is one second by default.
    const told = rate === undefined && period === 1 ? undefined : period
    this.#options.note('flow-control', key.key, change, { parallelism, rate, period: told })
  }

  /** Whether a due message may start now; if not, it is held and started later. */
  ask(message: Message): boolean {
    const { draws } = this.#options
    const now = this.#now()
    const holding = this.control.ask(message, now, draws === undefined)
    if (holding === undefined) return true
    this.#hold(message, holding, now)
    const key = this.control.keyOfCaller(message)
    if (holding.by === 'key') this.#admitWaiting(key!)
    return false
  }

  #hold(message: Message, { by, reason }: Holding, now: number): void {
    const key = by === 'key' ? message.settings.flowControl?.key : undefined
    this.#options.decide(message, 'held', reason, key)
    message.delivery = next(message.delivery, { is: 'held', now, by })
  }

  /** A call ended: its slots are free. */
  release(message: Message): void {
    this.control.release(message)
    const key = this.control.keyOfCaller(message)
    if (key !== undefined) this.#admitWaiting(key)
    for (let one = this.control.admitByPlan(); one !== undefined; one = this.control.admitByPlan())
      this.#admitted(one, this.#now())
  }

  /** A held message is about to end. */
  leave(message: Message): void {
    const { delivery } = message
    if (delivery.is !== 'held') return
    const key = this.control.leave(message, delivery.by)
    if (key !== undefined) this.#admitWaiting(key)
  }

  /** Starts as many waiting messages as there is room for, in order, and comes back when the period ends. */
  #admitWaiting(key: FlowKey): void {
    const { draws } = this.#options
    const now = this.#now()
    while (key.mayAdmit(now)) {
      if (draws !== undefined && key.held.places > 1) key.held.promote(draws.int(key.held.places))
      const admitted = this.control.admit(key, now)
      if (admitted === undefined) continue
      const { caller, held } = admitted
      if (held === undefined) this.#admitted(caller, now, key.key)
      else this.#hold(caller, held, now)
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
    if (at !== undefined && timer?.at === at && timer.background === !awaited) return
    timer?.cancel()
    this.#wakes.delete(key)
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

  /** Fixes limits against those that messages bring; resets the rate count and the period. */
  pin(name: string, limits: PinnedLimits): void {
    const key = this.keyOf(name)
    const left = key.rateLeft(this.#now())
    key.pin(limits)
    this.#noteLimits(key, 'pinned')
    this.#restartPeriod(key, left)
  }

  /** The values stay in force until a message brings others. */
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

  /** The older reset: parallelism and rate counters. */
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
