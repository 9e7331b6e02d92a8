import type { EntryOf } from '../../../../src/kernel/traffic-log.js'
import type { MessageAt } from './message-states.js'

// Computes settings of the queue from the log: FIFO queues, flow-control keys, schedules and URL groups. A setting
// applies until an entry changes it.

type Setting = EntryOf<'setting'>
type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** A FIFO queue. */
export interface FifoQueueAt {
  readonly name: string
  readonly region?: string | undefined
  readonly parallelism: number
  readonly paused: boolean
  /** Messages of the FIFO queue that have not ended. */
  readonly messages: readonly MessageAt[]
}

/** A flow-control key, with its limits at this instant. */
export interface FlowKeyAt {
  readonly name: string
  readonly region?: string | undefined
  readonly parallelism?: number
  readonly rate?: number
  /** Seconds. */
  readonly period?: number
  readonly pinned: boolean
  readonly paused: boolean
  readonly running: readonly MessageAt[]
  readonly held: readonly MessageAt[]
}

export interface ScheduleAt {
  readonly id: string
  readonly region?: string | undefined
  readonly cron: string
  readonly to: string
  readonly paused: boolean
  /** Whether the schedule came from a loaded state. The log then does not contain its earlier history. */
  readonly imported?: true
  /** Instants at which the schedule fired, oldest first. */
  readonly fired: readonly number[]
  /** Reason why nothing was published at the last fire time. */
  readonly error?: string
}

/** A URL group. It contains only the endpoints to which messages in the log were sent. */
export interface GroupAt {
  readonly name: string
  readonly endpoints: readonly string[]
  readonly messages: number
}

export function fifoQueuesOf(
  settings: readonly Setting[],
  messages: readonly MessageAt[],
  live: readonly MessageAt[],
): readonly FifoQueueAt[] {
  const lanes = new Map<string, Writable<FifoQueueAt>>()
  const opened = (name: string, region: string | undefined) => {
    const key = `${region ?? ''} ${name}`
    const lane = lanes.get(key) ?? { name, region, parallelism: 1, paused: false, messages: [] }
    lanes.set(key, lane)
    return lane
  }
  const deleted = new Map<string, number>()
  for (const { resource: of, name, region, change, value = {}, seq } of settings) {
    if (of !== 'queue') continue
    if (change === 'deleted') {
      const key = `${region ?? ''} ${name}`
      lanes.delete(key)
      deleted.set(key, seq)
    } else if (change === 'set') {
      const { parallelism = 1, paused = false } = value as { parallelism?: number; paused?: boolean }
      Object.assign(opened(name, region), { parallelism, paused })
    } else opened(name, region).paused = change === 'paused'
  }
  // A message with a queue name creates a FIFO queue of that name.
  for (const { story } of messages) {
    const { queue } = story.said
    if (queue !== undefined && story.first.seq > (deleted.get(`${story.region ?? ''} ${queue}`) ?? 0))
      opened(queue, story.region)
  }
  const standing = groupedBy(live, ({ story: { said, region } }) => said.queue && `${region ?? ''} ${said.queue}`)
  for (const [key, lane] of lanes) lane.messages = standing.get(key) ?? []
  return [...lanes.values()]
}

export function flowKeysOf(
  settings: readonly Setting[],
  messages: readonly MessageAt[],
  live: readonly MessageAt[],
): readonly FlowKeyAt[] {
  const keys = new Map<string, Writable<FlowKeyAt>>()
  const opened = (name: string, region: string | undefined) => {
    const id = `${region ?? ''} ${name}`
    const key = keys.get(id) ?? { name, region, pinned: false, paused: false, running: [], held: [] }
    keys.set(id, key)
    return key
  }
  for (const { resource: of, name, region, change, value } of settings) {
    if (of !== 'flow-control') continue
    const key = opened(name, region)
    if (change === 'limited' || change === 'pinned') {
      const { parallelism, rate, period } = (value ?? {}) as Partial<FlowKeyAt>
      Object.assign(key, { parallelism, rate, period, pinned: change === 'pinned' || key.pinned })
    } else if (change === 'paused' || change === 'resumed') key.paused = change === 'paused'
    else if (change === 'unpinned') key.pinned = false
  }
  for (const { story } of messages) {
    const { flowControlKey } = story.said
    if (flowControlKey !== undefined) opened(flowControlKey, story.region)
  }
  const standing = groupedBy(
    live,
    ({ story: { said, region } }) => said.flowControlKey && `${region ?? ''} ${said.flowControlKey}`,
  )
  for (const [id, key] of keys) {
    const here = standing.get(id) ?? []
    key.running = here.filter(({ state }) => state === 'ACTIVE')
    key.held = here.filter(({ heldBy }) => heldBy === key.name)
  }
  return [...keys.values()]
}

/** Values of `change` for which a schedule has fired. */
export const triggers: ReadonlySet<string> = new Set(['fired', 'fired-late', 'fired-by-hand'])

/** Returns the schedules. @param log all settings, including those before the last reset or load */
export function schedulesOf(settings: readonly Setting[], log: readonly Setting[]): readonly ScheduleAt[] {
  const schedules = new Map<string, Writable<ScheduleAt> & { readonly fired: number[] }>()
  const imports = importsIn(log)
  for (const { resource: of, name: id, region, change, value, at, seq } of settings) {
    if (of !== 'schedule') continue
    const key = `${region ?? ''} ${id}`
    if (change === 'created' || change === 'replaced') {
      const { cron, to, paused } = value as { cron: string; to: string; paused: boolean }
      schedules.set(key, { id, region, cron, to, paused, fired: [], ...(imports.has(seq) && { imported: true }) })
      continue
    }
    const known = schedules.get(key)
    if (change === 'deleted') schedules.delete(key)
    else if (known === undefined) continue
    else if (change === 'paused' || change === 'resumed') known.paused = change === 'paused'
    else if (change === 'refused') known.error = String(value?.reason)
    else if (triggers.has(change)) {
      known.fired.push(at)
      delete known.error
    }
  }
  return [...schedules.values()]
}

/**
 * Returns the settings that a load wrote. They directly follow the entry of the load, and no request is their cause.
 */
function importsIn(settings: readonly Setting[]): ReadonlySet<number> {
  const found = new Set<number>()
  let last: Setting | undefined
  for (const setting of settings) {
    const { resource: of, change, seq, at, cause } = setting
    if (of === 'service') last = change === 'loaded' ? setting : undefined
    else if (last !== undefined && seq === last.seq + 1 && at === last.at && cause === undefined) {
      found.add(seq)
      last = setting
    } else last = undefined
  }
  return found
}

export function groupsOf(messages: readonly MessageAt[]): readonly GroupAt[] {
  const groups = groupedBy(messages, ({ story }) => story.said.urlGroup)
  return [...groups].map(([name, members]) => ({
    name,
    endpoints: [...new Set(members.map(({ story }) => story.said.url))],
    messages: members.length,
  }))
}

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string | undefined): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    if (key === undefined) continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
