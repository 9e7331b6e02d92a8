import type { HeapItem } from '../../kernel/heap.js'
import { firstDue } from '../delivery/retry.js'
import { accepted } from '../message/state.js'
import type { PublishSettings } from '../settings/message-settings.js'
import { ForecastMessage, type ScheduleCopy } from './forecast-copies.js'
import type { ForecastModel } from './forecast-model.js'
import type { ForecastTimeline } from './forecast-timeline.js'

/**
 * Maximum numbers of fire times that a forecast simulates. They exist because finding a fire time requires a slow
 * calendar search. `enoughSlots` is used if the messages of a schedule affect only flow-control keys that are already
 * unknown.
 */
const maxSlots = 1000
const enoughSlots = 100

/** Actions on the messages of schedules that `Slots` asks the forecast to perform. */
interface Publishing {
  publish(item: ForecastMessage, at: number): void
  /**
   * Called when a schedule is no longer simulated. From then on, the effects of its messages on other messages are
   * unknown.
   */
  lose(items: readonly ForecastMessage[], at: number): void
}

/** Simulates the next fire times of schedules. */
export class Slots {
  #count = 0

  constructor(
    private readonly world: ForecastModel,
    private readonly agenda: ForecastTimeline,
    private readonly publishing: Publishing,
  ) {}

  begin(): void {
    for (const schedule of this.world.schedules)
      if (!schedule.isPaused && schedule.next !== undefined) this.#plan(schedule, schedule.next)
  }

  #plan(schedule: ScheduleCopy, { at, sequence }: Partial<HeapItem> & { readonly at: number }): void {
    this.agenda.atSlot(at, (now) => this.#slot(schedule, at, now), sequence)
  }

  #slot(schedule: ScheduleCopy, slot: number, now: number): void {
    const { downUntil } = this.world
    if (now < downUntil) this.agenda.at(downUntil, (then) => this.#publish(schedule, then))
    else this.#publish(schedule, now)
    const next = schedule.slotAfter(Math.max(slot, now))
    if (this.#isEnough(schedule)) this.publishing.lose(this.#items(schedule, now), now)
    else if (next !== undefined) this.#plan(schedule, { at: next })
  }

  #isEnough({ publishes }: ScheduleCopy): boolean {
    this.#count++
    if (this.#count < enoughSlots) return false
    return this.#count >= maxSlots || publishes.every((settings) => this.world.keyOf(settings)?.loose !== undefined)
  }

  #publish(schedule: ScheduleCopy, at: number): void {
    for (const item of this.#items(schedule, at)) this.publishing.publish(item, at)
  }

  #items({ id, publishes }: ScheduleCopy, at: number): ForecastMessage[] {
    return publishes.map((settings: PublishSettings) => {
      const notBefore = firstDue(settings, at)
      const state = accepted(notBefore, settings.queue === undefined ? undefined : 'turn')
      const item = new ForecastMessage(undefined, settings, notBefore, state, id)
      item.key = this.world.keyOf(settings)
      item.lane = this.world.fifoQueueOf(settings)
      return item
    })
  }
}
