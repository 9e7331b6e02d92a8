import { firstDue } from '../delivery/retry.js'
import { concludedWith, isConcluded } from '../message/state.js'
import type { PublishSettings } from '../settings/message-settings.js'
import { Admission } from './admission.js'
import { Slots } from './fire-times.js'
import { blockerOf, decidedBy, reportsOf, responsesOf } from './forecast-causes.js'
import type { Cause, FifoQueueCopy, ForecastMessage } from './forecast-copies.js'
import type { ForecastModel } from './forecast-model.js'
import { ForecastTimeline } from './forecast-timeline.js'

/**
 * Simulates the future of a model without knowing any response. An event that depends on no response happens at its
 * known time. An event that depends on a response is assumed at the earliest possible time. From then on, everything
 * that this event affects is unknown.
 */
export class ForecastRun {
  readonly #world: ForecastModel
  readonly #agenda: ForecastTimeline
  readonly #keys: Admission
  readonly #awaited: Set<ForecastMessage>

  constructor(world: ForecastModel, awaited: Iterable<ForecastMessage>) {
    this.#world = world
    this.#agenda = new ForecastTimeline(world.now)
    this.#awaited = new Set(awaited)
    this.#keys = new Admission(world, this.#agenda, {
      start: (item, at) => this.#start(item, at),
      due: (item, at) => this.#due(item, at),
      block: (item, cause, at) => this.#block(item, cause, at),
    })
  }

  /** Runs the simulation until each requested item has an exact or an earliest possible start time. */
  run(): void {
    this.#begin()
    this.#agenda.run(() => this.#awaited.size === 0)
    for (const item of this.#awaited) this.#stopped(item)
  }

  #begin(): void {
    const { items, timers, keys, lanes, running, loose } = this.#world
    for (const item of items) {
      const timer = timers.get(item)
      if (timer !== undefined) this.#agenda.at(timer.at, (at) => this.#due(item, at), timer.sequence)
    }
    this.#findChanges()
    for (const { item, cause } of loose) this.#keys.loosen(item, cause, Math.max(this.#agenda.now, item.notBefore))
    new Slots(this.#world, this.#agenda, {
      publish: (item, at) => this.#publish(item, at),
      lose: (lost, at) => this.#lose(lost, at),
    }).begin()
    for (const key of keys) this.#keys.admit(key, this.#agenda.now)
    for (const item of running) {
      this.#awaited.delete(item)
      item.start = this.#agenda.now
      item.cause = { kind: 'answer', of: [item], first: true }
      this.#unleash(item, this.#agenda.now)
    }
    for (const lane of lanes) {
      for (const holder of lane.holding) if (isConcluded(holder)) lane.release(holder)
      this.#admitToLane(lane, this.#agenda.now)
    }
  }

  /** Finds the keys whose limits a callback or a message of a schedule may change. */
  #findChanges(): void {
    const { items, schedules } = this.#world
    const look = (settings: PublishSettings): void => {
      const limits = settings.flowControl?.limits
      const key = limits && this.#world.keyOf(settings)
      if (key?.differs(limits!)) key.mayChange = true
    }
    for (const { settings } of items) for (const [report] of reportsOf(settings, 1)) look(report)
    for (const { publishes } of schedules)
      for (const settings of publishes) {
        look(settings)
        for (const [report] of reportsOf(settings, 1)) look(report)
      }
  }

  /** Handles an item that is due. If the item has a cause, this is only the earliest time at which it can be due. */
  #due(item: ForecastMessage, at: number): void {
    const { lane, isAdmitted } = item
    const isPaused = lane?.paused === true
    if (!item.happens({ is: 'due', isPaused, downtime: { now: at, until: this.#world.downUntil } })) {
      if (isAdmitted) this.#start(item, at)
      else this.#keys.ask(item, at)
      return
    }
    if (item.state.is === 'planned') {
      this.#agenda.at(item.nextAttemptAt, (later) => this.#due(item, later))
      return
    }
    if (isAdmitted) this.#keys.release(item, at)
    if (item.isEnded) {
      this.#awaited.delete(item)
      this.#conclude(item, at)
    } else this.#block(item, { kind: 'pause', of: 'queue', name: lane!.name }, at)
  }

  #block(item: ForecastMessage, cause: Cause, at: number): void {
    item.cause = cause
    this.#know(item, Math.max(at, item.notBefore))
  }

  #know(item: ForecastMessage, start: number): void {
    item.start = start
    this.#awaited.delete(item)
  }

  #start(item: ForecastMessage, at: number): void {
    if (item.start !== undefined) return
    item.key?.unknown.delete(item)
    if (!item.isAdmitted) this.#world.plan?.call(item)
    this.#know(item, at)
    this.#unleash(item, at)
  }

  /**
   * Handles an item whose response may arrive from now on. Everything that follows from this response happens at
   * unknown times.
   */
  #unleash(item: ForecastMessage, at: number): void {
    const { key, lane, settings, source } = item
    const cause = decidedBy(item)
    this.#world.plan?.mayCall(item, cause)
    if (item.state.asked !== 'end') {
      if (key !== undefined && item.retriesLeft > 0)
        this.#agenda.at(at, (then) => this.#keys.disturb(key, then, cause, item.retriesLeft))
      for (const [report, times] of reportsOf(settings, item.retriesLeft + 1)) this.#mayReport(report, times, at, cause)
    }
    if (lane !== undefined) this.#mayLeave(item, lane, at)
    if (source === undefined) return
    source.unmadeReports--
    this.#mayHaveConcluded(source, at)
  }

  /** Handles a callback that may be published at any time from now on. */
  #mayReport(settings: PublishSettings, times: number, at: number, cause: Cause): void {
    const key = this.#world.keyOf(settings)
    if (key === undefined) return
    const { limits } = settings.flowControl!
    if (limits !== undefined) this.#keys.mayLimit(key, limits, cause, at)
    this.#agenda.at(firstDue(settings, at), (then) =>
      this.#keys.disturb(key, then, cause, times * (settings.retries + 1)),
    )
  }

  /** Handles an item that may have ended. The next item of its FIFO queue may then have a slot. */
  #mayLeave(item: ForecastMessage, lane: FifoQueueCopy, at: number): void {
    if (!lane.holding.has(item)) return
    lane.cause ??= responsesOf(lane)
    lane.release(item)
    this.#admitToLane(lane, at)
  }

  #admitToLane(lane: FifoQueueCopy, at: number): void {
    for (let item = lane.admit(); item !== undefined; item = lane.admit()) {
      const one = item
      if (one.cause === undefined) one.cause = lane.cause
      one.happens({ is: 'freed', now: at, notBefore: one.notBefore, queue: lane.name })
      this.#agenda.at(one.nextAttemptAt, (then) => this.#due(one, then))
    }
  }

  #conclude(item: ForecastMessage, at: number): void {
    let one: ForecastMessage | undefined = isConcluded(item) ? item : undefined
    while (one !== undefined) {
      const { lane, source }: ForecastMessage = one
      if (lane?.release(one)) this.#admitToLane(lane, at)
      one = concludedWith(one)
      if (source === undefined) return
      source.unmadeReports--
      if (one === undefined) this.#mayHaveConcluded(source, at)
    }
  }

  /**
   * Handles an item that has ended. Its slot may be free from now on, because all its callbacks may have ended, too.
   */
  #mayHaveConcluded(item: ForecastMessage, at: number): void {
    if (item.isEnded && item.unmadeReports === 0 && item.lane !== undefined) this.#mayLeave(item, item.lane, at)
  }

  #publish(item: ForecastMessage, at: number): void {
    const { key, lane, settings } = item
    const limits = settings.flowControl?.limits
    if (key !== undefined && limits !== undefined) this.#keys.configure(key, limits, at)
    if (lane === undefined) this.#agenda.at(item.nextAttemptAt, (then) => this.#due(item, then))
    else {
      lane.enter(item)
      this.#admitToLane(lane, at)
    }
  }

  /** Handles a schedule that is no longer simulated. From now on, it may publish any number of messages. */
  #lose(items: readonly ForecastMessage[], at: number): void {
    const cause: Cause = { kind: 'answer', of: items, first: false }
    this.#world.plan?.lose(cause)
    for (const { key, settings } of items) {
      if (key === undefined) continue
      const { limits } = settings.flowControl!
      if (limits !== undefined) this.#keys.mayLimit(key, limits, cause, at)
      this.#keys.disturb(key, at, cause, Number.POSITIVE_INFINITY)
    }
  }

  /**
   * Handles an item that no event of the simulation starts. Its FIFO queue is paused, or an item that holds a slot is
   * blocked by a pause.
   */
  #stopped(item: ForecastMessage): void {
    const cause = blockerOf(item)
    if (cause !== undefined) this.#block(item, cause, this.#world.now)
  }
}
