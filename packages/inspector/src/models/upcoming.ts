import type { TraceEntry } from '../../../../src/report/trace.js'
import { isLive, type QueueAt } from './queue-model.js'
import { triggers } from './queue-settings.js'
import type { StoreInstant } from './store-model.js'

/** A timer. */
export interface ComingAt {
  readonly id: string
  /** Virtual time. */
  readonly at: number
  readonly what: string
}

/**
 * Returns the pending timers at an earlier instant: messages that had a due time, and the next fire time of each
 * schedule.
 * @param entries the whole log, because later entries contain the fire times
 */
export function comingOf(queue: QueueAt, entries: readonly TraceEntry[], point: StoreInstant): readonly ComingAt[] {
  const coming: ComingAt[] = []
  for (const message of queue.messages) {
    const { id, due, state, retried, story } = message
    if (due === undefined || !isLive(message)) continue
    const which = state === 'RETRY' ? `retry ${retried} of` : 'delivery of'
    coming.push({ id, at: due, what: `${which} ${id} to ${story.said.url ?? 'an unknown URL'}` })
  }
  const schedules = new Map(queue.schedules.map((schedule) => [`${schedule.region ?? ''} ${schedule.id}`, schedule]))
  for (const { seq, at, type, resource, name, region, change } of entries as readonly (TraceEntry & Setting)[]) {
    if (type !== 'setting' || resource !== 'schedule' || (at <= point.at && seq <= point.seq)) continue
    const key = `${region ?? ''} ${name}`
    const schedule = schedules.get(key)
    if (schedule === undefined) continue
    // A schedule that a user fires by hand fires without a timer.
    if (change === 'fired-by-hand') continue
    schedules.delete(key)
    if (triggers.has(change)) coming.push({ id: key, at, what: `schedule ${name} to ${schedule.to}` })
  }
  return coming.sort((one, other) => one.at - other.at)
}

interface Setting {
  readonly resource: string
  readonly name: string
  readonly region?: string
  readonly change: string
}
