import { iso } from '../kernel/instant.js'
import type { Entry, EntryOf } from '../kernel/traffic-log.js'
import type { Findings, Invariant } from './invariant.js'
import type { InvariantIndex } from './invariant-index.js'

export const scheduleOnTime: Invariant = {
  name: 'schedule-on-time',
  guarantee:
    'A schedule fires exactly once at each time of its cron expression, at no other time, and not while it is paused.',
  suspendedBy: {
    drop: 'for the affected schedule',
    delay: 'for the affected schedule',
    duplicate: 'for the affected schedule',
    latency: 'for the affected schedule',
    restart: 'for all schedules: nothing fires while the service is down',
  },
  examine(history, findings) {
    const { world } = history
    if (world.isRealTime) return findings.unknown('the fire times of schedules, because the clock follows host time')
    if (history.restartedAt <= world.now) {
      return findings.unknown('the fire times of schedules, because the service was down')
    }
    // A fault at `schedule.fire` has as its cause the log entry that created the schedule. That entry contains the
    // schedule ID.
    const struck = new Set(
      history.of('fault').flatMap(({ point, cause }) => {
        const creation = point === 'schedule.fire' ? history.find(cause) : undefined
        return creation?.type === 'setting' ? creation.name : []
      }),
    )
    const published = yields(history)
    for (const [id, events] of eventsBySchedule(history)) {
      if (!struck.has(id)) new ScheduleWalk(id, history, published, findings).walk(events)
    }
  },
}

type Event = EntryOf<'setting'>

function eventsBySchedule({ world }: InvariantIndex): ReadonlyMap<string, Event[]> {
  const events = new Map<string, Event[]>()
  for (const entry of world.entries) {
    if (entry.type !== 'setting') continue
    if (entry.resource === 'service') for (const list of events.values()) list.push(entry)
    if (entry.resource !== 'schedule') continue
    const list = events.get(entry.name)
    if (list === undefined) events.set(entry.name, [entry])
    else list.push(entry)
  }
  return events
}

/** Returns the messages that each firing published, by the `seq` of the firing's log entry. */
function yields(history: InvariantIndex): ReadonlyMap<number, EntryOf<'published'>[]> {
  const published = new Map<number, EntryOf<'published'>[]>()
  for (const { published: entry } of history.stories.values()) {
    if (entry.scheduleId === undefined || entry.cause === undefined) continue
    const list = published.get(entry.cause)
    if (list === undefined) published.set(entry.cause, [entry])
    else list.push(entry)
  }
  return published
}

class ScheduleWalk {
  /** Current cron expression. `undefined` if the schedule was deleted, or if its creation is not in the log. */
  #cron: string | undefined
  #wasDeleted = false
  #isPaused = false
  /**
   * Log entry at which the schedule began to fire at the times of `#cron`: its creation, a change of its cron
   * expression, its resumption or a late firing. `undefined` while it does not fire.
   */
  #since: Event | undefined
  #firings = new Map<number, Event>()

  constructor(
    readonly id: string,
    readonly history: InvariantIndex,
    readonly published: ReadonlyMap<number, EntryOf<'published'>[]>,
    readonly findings: Findings,
  ) {}

  walk(events: readonly Event[]): void {
    for (const [index, event] of events.entries()) {
      if (event.change === 'fired') this.#fired(event)
      else if (event.change === 'fired-late') this.#caughtUp(event)
      if (event.change.startsWith('fired')) this.#checkYield(event, events[index + 1])
      else if (event.change !== 'refused' && event.change !== 'skipped') this.#changed(event)
    }
    this.#close(this.history.world.now)
  }

  #fired(event: Event): void {
    if (this.#since !== undefined) {
      const before = this.#firings.get(event.at)
      if (before !== undefined) this.#broken(`fired twice at ${iso(event.at)}`, before, event)
      this.#firings.set(event.at, event)
    } else if (this.#isPaused || this.#wasDeleted) {
      this.#broken(`fired at ${iso(event.at)} although it was ${this.#isPaused ? 'paused' : 'deleted'}`, event)
    }
  }

  /**
   * Checks a late firing. If a dump is loaded after fire times have passed, the schedule fires only once for all of
   * them.
   */
  #caughtUp(event: Event): void {
    const since = this.#since
    const isMissed = since !== undefined && this.#namesOne(since.at, event.at)
    if (isMissed && this.#firings.size === 0) this.#since = event
    else this.#fired(event)
  }

  #namesOne(from: number, to: number): boolean {
    for (const _ of this.history.world.slots(this.#cron!, from, to)) return true
    return false
  }

  /**
   * Checks that a firing published exactly one message per destination, at the time of the firing. A firing without a
   * message is correct if the queue rejected the publish.
   */
  #checkYield(firing: Event, after: Event | undefined): void {
    const published = this.published.get(firing.seq) ?? []
    const places = new Set(published.map(({ url, endpointName }) => JSON.stringify([url, endpointName])))
    if (places.size < published.length)
      this.#broken('published two messages to the same destination in one firing', firing, ...published)
    if (published.some(({ at }) => at !== firing.at))
      this.#broken('published a message, but not at the time of the firing', firing, ...published)
    if (published.length === 0 && after?.change !== 'refused') this.#broken('fired, but published no message', firing)
  }

  #changed(event: Event): void {
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

  /**
   * Ends a period in which the schedule had one cron expression. Compares the firings in the period with the times of
   * the cron expression.
   */
  #close(until: number): void {
    const since = this.#since
    if (since === undefined) return
    const missed: number[] = []
    for (const slot of this.history.world.slots(this.#cron!, since.at, until)) {
      const isFired = this.#firings.delete(slot)
      // Do not report a fire time that equals the end of the period. The schedule may still fire at this time, or was
      // stopped just before.
      if (!isFired && slot < until) missed.push(slot)
    }
    if (missed.length > 0) this.#broken(`did not fire at ${listed(missed)}`, since)
    if (this.#firings.size > 0) {
      this.#broken(
        `fired at ${listed([...this.#firings.keys()])}, which its cron expression does not contain`,
        since,
        ...this.#firings.values(),
      )
    }
    this.#firings = new Map()
    this.#since = undefined
  }

  #broken(what: string, ...entries: readonly Entry[]): void {
    const cron = this.#cron === undefined ? '' : ` (${this.#cron})`
    this.findings.broken(`schedule ${this.id}${cron} ${what}`, ...entries.slice(0, 6))
  }
}

function listed(times: readonly number[]): string {
  const shown = times.slice(0, 3).map(iso).join(', ')
  return times.length > 3 ? `${shown} and ${times.length - 3} more times` : shown
}
