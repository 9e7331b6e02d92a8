import type { TraceEntry } from '../../../../src/report/trace.js'
import { isLive, type QueueAt } from './queue-model.js'
import { triggers } from './queue-settings.js'
import type { StoreInstant } from './store-model.js'

/** Something that waits for its time. */
export interface ComingAt {
  readonly id: string
  /** Virtual time. */
  readonly at: number
  readonly what: string
}

/**
 * What waited for its time at an instant: messages by when they were due then, and schedules by when the log says that
 * they fired next.
 * @param entries the whole log, also what came later
 */
export function comingOf(queue: QueueAt, entries: readonly TraceEntry[], point: StoreInstant): readonly ComingAt[] {
  const coming: ComingAt[] = []
  for (const message of queue.messages) {
    const { id, due, state, retried, story } = message
    if (due === undefined || !isLive(message)) continue
    const which = state === 'RETRY' ? `retry ${retried} of` : 'delivery of'
    coming.push({ id, at: due, what: `${which} ${id} to ${story.said.url ?? 'a forgotten address'}` })
  }
  const schedules = new Map(queue.schedules.map((schedule) => [`${schedule.region ?? ''} ${schedule.id}`, schedule]))
  for (const { seq, at, type, resource, name, region, change } of entries as readonly (TraceEntry & Setting)[]) {
    if (type !== 'setting' || resource !== 'schedule' || (at <= point.at && seq <= point.seq)) continue
    const key = `${region ?? ''} ${name}`
    const schedule = schedules.get(key)
    if (schedule === undefined) continue
    // What a person did then nobody waited for.
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
