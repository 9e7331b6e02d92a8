import type { FlowControlLimits } from '../settings/message-settings.js'
import { decidedBy } from './forecast-causes.js'
import type { Cause, ForecastMessage, KeyCopy } from './forecast-copies.js'
import type { ForecastModel } from './forecast-model.js'
import type { ForecastTimeline } from './forecast-timeline.js'

/** Actions on a message that `Admission` asks the forecast to perform. The forecast calls a message an item. */
export interface ForecastMoves {
  start(item: ForecastMessage, at: number): void
  due(item: ForecastMessage, at: number): void
  /** Marks the item as blocked by a pause. No known event ends the pause. */
  block(item: ForecastMessage, cause: Cause, at: number): void
}

/**
 * Simulates flow-control keys: finds the time at which each key admits its held items, or the time from which this
 * becomes unknown.
 */
export class Admission {
  readonly #world: ForecastModel
  readonly #agenda: ForecastTimeline
  readonly #moves: ForecastMoves
  /** Cause that makes the further random draws of wait lists unknown. `undefined` while they are known. */
  #unknownDraws: Cause | undefined

  constructor(world: ForecastModel, agenda: ForecastTimeline, moves: ForecastMoves) {
    this.#world = world
    this.#agenda = agenda
    this.#moves = moves
  }

  ask(item: ForecastMessage, at: number): void {
    const { key } = item
    if (key === undefined) this.#moves.start(item, at)
    else if (key.paused) this.#moves.block(item, { kind: 'pause', of: 'flowControlKey', name: key.key }, at)
    else if (item.cause !== undefined) this.#mayAsk(item, key, at)
    else if (key.fits(at)) {
      key.take(item, at)
      this.#moves.start(item, at)
    } else if (key.loose !== undefined) {
      const ahead = this.#world.draws === undefined ? key.loose.ahead++ : 0
      key.disturb(at, key.loose.cause, 1)
      item.cause = key.loose.cause
      this.#nowOrLater(item, at, key.earliest(ahead))
    } else if (key.ask(item, at)) this.#moves.start(item, at)
    else {
      key.held.enter(item)
      item.happens({ is: 'held', now: at, by: 'key' })
      this.admit(key, at)
    }
  }

  /**
   * Handles an item that arrives at an unknown time. The forecast assumes that it starts after all items that certainly
   * arrive earlier.
   */
  #mayAsk(item: ForecastMessage, key: KeyCopy, at: number): void {
    this.disturb(key, at, decidedBy(item), 1 + item.retriesLeft)
    const { lane } = item
    const passed = lane?.passed.get(key) ?? 0
    lane?.passed.set(key, passed + 1)
    // Earlier items of the same FIFO queue start before this item. The last `parallelism - 1` of them need not have
    // started yet, because they can run in the other slots of the FIFO queue.
    const before = Math.max(0, passed - ((lane?.parallelism ?? 1) - 1))
    const ahead = this.#world.draws === undefined ? key.loose!.ahead + before : 0
    this.#nowOrLater(item, at, key.earliest(ahead))
  }

  /** Starts an item at the time `earliest`, or immediately if that time has passed. */
  #nowOrLater(item: ForecastMessage, at: number, earliest: number): void {
    if (earliest > at) this.#later(item, earliest)
    else this.#moves.start(item, at)
  }

  #later(item: ForecastMessage, at: number): void {
    item.key?.unknown.add(item)
    this.#agenda.at(at, (then) => this.#moves.start(item, then))
  }

  admit(key: KeyCopy, at: number): void {
    if (key.paused) {
      const cause: Cause = { kind: 'pause', of: 'flowControlKey', name: key.key }
      for (const item of key.leaving()) this.#moves.block(item, cause, at)
      return
    }
    while (key.held.size > 0 && key.hasRate(at)) {
      if (!key.hasSlot()) {
        this.#harden(key, at, { kind: 'answer', of: [...key.running], first: !key.mayChange })
        return
      }
      const { draws } = this.#world
      if (draws !== undefined && this.#unknownDraws !== undefined && (key.held.places > 1 || key.loose !== undefined)) {
        this.#harden(key, at, this.#unknownDraws)
        return
      }
      if (draws !== undefined && key.held.places > 1) key.held.promote(draws.int(key.held.places))
      const item = key.admit(at)
      if (item === undefined) continue
      this.#world.plan?.call(item)
      item.happens({ is: 'admitted', now: at })
      this.#agenda.at(at, (then) => this.#moves.due(item, then))
    }
    this.#watchPeriod(key, at)
  }

  #watchPeriod(key: KeyCopy, at: number): void {
    const end = key.wakeAt(at)
    if (end !== undefined && key.wake?.at === end) return
    const wake = end === undefined ? undefined : { at: end }
    key.wake = wake
    if (wake === undefined) return
    const place = key.timer?.at === wake.at ? key.timer.sequence : undefined
    const admit = (then: number): void => {
      if (key.wake !== wake) return
      key.wake = undefined
      this.admit(key, then)
    }
    this.#agenda.at(wake.at, admit, place)
    key.timer = undefined
  }

  /**
   * From the time `at`, the start times of all held items of a key are unknown. Moves each start to the earliest
   * possible time.
   */
  #harden(key: KeyCopy, at: number, cause: Cause, hasUnknownLimits = false): void {
    key.harden(at, cause, hasUnknownLimits)
    if (hasUnknownLimits) {
      // The unknown limits may allow each item to start now, so do not assume that it waits for a slot or for the next
      // period.
      for (const item of key.unknown) this.#later(item, at)
    }
    if (this.#world.draws !== undefined) this.#unknownDraws ??= cause
    for (const item of key.leaving()) {
      const ahead = this.#world.draws === undefined ? key.loose!.ahead++ : 0
      this.loosen(item, cause, Math.max(at, key.earliest(ahead)))
    }
  }

  disturb(key: KeyCopy, at: number, cause: Cause, calls: number): void {
    key.disturb(at, cause, calls)
    if (this.#world.draws !== undefined) this.#unknownDraws ??= cause
  }

  /** Plans the start of an item whose start time depends on `cause`. The earliest possible time is assumed. */
  loosen(item: ForecastMessage, cause: Cause, at: number): void {
    item.cause = cause
    this.#later(item, Math.max(at, this.#world.downUntil))
  }

  /** Frees a slot of a key at a known time. */
  release(item: ForecastMessage, at: number): void {
    if (item.key?.running.delete(item) === true) this.admit(item.key, at)
  }

  /** Applies the limits that a published message sets for its flow-control key. */
  configure(key: KeyCopy, limits: FlowControlLimits, at: number): void {
    const changes = key.differs(limits)
    key.limit(limits, at)
    const strange = key.strangeLimits.find((other) => key.differs(other.limits))
    if (strange !== undefined) this.#harden(key, at, strange.cause, true)
    else if (changes && key.loose !== undefined) this.#harden(key, at, key.loose.cause, true)
    else this.admit(key, at)
  }

  /**
   * Handles a message that may be published at an unknown time and then changes the limits of a key. If its limits
   * differ from the current ones, start times become unknown.
   */
  mayLimit(key: KeyCopy, limits: FlowControlLimits, cause: Cause, at: number): void {
    key.strangeLimits.push({ limits, cause })
    if (key.differs(limits)) this.#harden(key, at, cause, true)
  }
}
