import { iso } from '../kernel/clock.js'
import type { Entry, EntryOf } from '../kernel/traffic.js'
import type { History } from './history.js'
import type { Findings, Invariant } from './invariant.js'

export const scheduleOnTime: Invariant = {
  name: 'schedule-on-time',
  promise:
    'A schedule fires at the times its expression names and at no others, once each, and not while it is paused.',
  suspendedBy: {
    drop: 'for the schedule it struck',
    delay: 'for the schedule it struck',
    duplicate: 'for the schedule it struck',
    restart: 'for the schedule it struck',
    outage: 'for the schedule it struck',
  },
  examine(history, findings) {
    const { world } = history
    if (world.isRealTime) return findings.unknown('firings of schedules, because time runs with the host')
    const struck = new Set(
      history.of('fault').flatMap(({ point, target }) => (point === 'schedule.fire' ? target : [])),
    )
    for (const [id, events] of eventsBySchedule(history)) {
      if (!struck.has(id)) new ScheduleWalk(id, history, findings).walk(events)
    }
  },
}

type Event = EntryOf<'setting'> | EntryOf<'published'>

function eventsBySchedule({ world }: History): ReadonlyMap<string, Event[]> {
  const events = new Map<string, Event[]>()
  for (const entry of world.entries) {
    if (entry.type === 'setting' && entry.of === 'service') for (const list of events.values()) list.push(entry)
    const id = scheduleOf(entry)
    if (id === undefined) continue
    const list = events.get(id)
    if (list === undefined) events.set(id, [entry as Event])
    else list.push(entry as Event)
  }
  return events
}

function scheduleOf(entry: Entry): string | undefined {
  if (entry.type === 'published') return entry.kind === 'message' ? entry.scheduleId : undefined
  return entry.type === 'setting' && entry.of === 'schedule' ? entry.name : undefined
}

class ScheduleWalk {
  /** The expression in force; unknown before the schedule's creation was seen, and after its deletion. */
  #cron: string | undefined
  #wasDeleted = false
  #isPaused = false
  /** Since when the expression has been in force without a pause. */
  #since: EntryOf<'setting'> | undefined
  #firings = new Map<number, Event[]>()
  /** Instants at which a test fired it. */
  readonly #byHand = new Set<number>()

  constructor(
    readonly id: string,
    readonly history: History,
    readonly findings: Findings,
  ) {}

  walk(events: readonly Event[]): void {
    for (const event of events) {
      if (event.type === 'published' || event.change === 'refused') this.#fired(event)
      else if (event.change === 'fired-by-hand') this.#byHand.add(event.at)
      else this.#changed(event)
    }
    this.#close(this.history.world.now)
  }

  #fired(event: Event): void {
    if (this.#since !== undefined) {
      const firing = this.#firings.get(event.at)
      if (firing === undefined) this.#firings.set(event.at, [event])
      else firing.push(event)
    } else if ((this.#isPaused || this.#wasDeleted) && !this.#byHand.has(event.at)) {
      const state = this.#isPaused ? 'paused' : 'deleted'
      this.findings.broken(`schedule ${this.id} fired at ${iso(event.at)} although it was ${state}`, event)
    }
  }

  #changed(event: EntryOf<'setting'>): void {
    this.#close(event.at)
    const { change, value } = event
    if (change === 'created' || change === 'replaced') {
      this.#cron = String(value?.cron)
      this.#isPaused = value?.paused === true
    } else if (change === 'paused' || change === 'resumed') this.#isPaused = change === 'paused'
    else this.#cron = undefined
    this.#wasDeleted = change === 'deleted'
    if (this.#cron !== undefined && !this.#isPaused) this.#since = event
  }

  /** Compares the firings of a stretch of time with what its expression names. */
  #close(until: number): void {
    const since = this.#since
    if (since === undefined) return
    const missed: number[] = []
    for (const slot of this.history.world.slots(this.#cron!, since.at, until)) {
      const firing = this.#firings.get(slot)
      this.#firings.delete(slot)
      if (firing !== undefined) this.#checkOnce(slot, firing)
      // At the last instant it may be about to fire, or have been stopped just before.
      else if (slot < until) missed.push(slot)
    }
    if (missed.length > 0) this.#broken(`did not fire at ${listed(missed)}`, since)
    const others = [...this.#firings].filter(([at]) => !this.#byHand.has(at))
    if (others.length > 0) {
      this.#broken(`fired at ${listed(others.map(([at]) => at))}`, since, ...others.flatMap(([, events]) => events))
    }
    this.#firings = new Map()
    this.#since = undefined
  }

  #checkOnce(slot: number, firing: readonly Event[]): void {
    if (firing.length === 1 || this.#byHand.has(slot)) return
    const places = firing.map((event) =>
      event.type === 'published' ? `${event.url} ${event.endpointName ?? ''}` : event.change,
    )
    if (new Set(places).size < places.length) this.#broken(`fired twice at ${iso(slot)}`, ...firing)
  }

  #broken(what: string, ...entries: readonly Event[]): void {
    this.findings.broken(`schedule ${this.id} (${this.#cron}) ${what}`, ...entries.slice(0, 6))
  }
}

function listed(times: readonly number[]): string {
  const shown = times.slice(0, 3).map(iso).join(', ')
  return times.length > 3 ? `${shown} and ${times.length - 3} times more` : shown
}
