import type { EntryOf, EntryType } from '../../../src/kernel/traffic-log.js'
import type { TraceEntry } from '../../../src/report/trace.js'

/** Groups of entries, by which the list can be filtered. */
export type EntryGroup = 'Requests' | 'Messages' | 'Workflows' | 'Commands' | 'Key events' | 'Faults' | 'Time'

/** The lanes of the time axis, from the top. */
export const axisRows = [
  { name: 'Requests and calls', rows: 3 },
  { name: 'Messages and runs', rows: 6 },
  { name: 'Store', rows: 2 },
  { name: 'Faults', rows: 1 },
] as const

interface Kind {
  readonly group: EntryGroup
  /** Index of the lane in `axisRows`. Absent if the axis does not show the entry. */
  readonly lane?: number
  readonly name: string
}

const kinds: Readonly<Record<string, Kind>> = {
  request: { group: 'Requests', lane: 0, name: 'Request' },
  outbound: { group: 'Requests', lane: 0, name: 'App request' },
  published: { group: 'Messages', lane: 1, name: 'Message published' },
  attempt: { group: 'Messages', lane: 1, name: 'Delivery attempt' },
  message: { group: 'Messages', lane: 1, name: 'Change of a message' },
  'dead-letter': { group: 'Messages', lane: 1, name: 'Dead letter' },
  'bulk-action': { group: 'Messages', lane: 1, name: 'Bulk action' },
  'flow-control': { group: 'Messages', lane: 1, name: 'Flow control' },
  setting: { group: 'Messages', lane: 1, name: 'Setting' },
  workflow: { group: 'Workflows', lane: 1, name: 'Workflow run' },
  step: { group: 'Workflows', lane: 1, name: 'Step of a run' },
  wait: { group: 'Workflows', lane: 1, name: 'Wait for an event' },
  notify: { group: 'Workflows', lane: 1, name: 'Event' },
  invoke: { group: 'Workflows', lane: 1, name: 'Run started by another run' },
  command: { group: 'Commands', lane: 2, name: 'Command' },
  keyspace: { group: 'Key events', lane: 2, name: 'Key event' },
  fault: { group: 'Faults', lane: 3, name: 'Fault' },
  clock: { group: 'Time', name: 'Time moved' },
  dropped: { group: 'Time', name: 'Dropped entries' },
}

/**
 * Index of the lane for faults. The lane also shows faults that a script injected. These have no entry of their own.
 */
export const faultRow = 3
export function isInjectedByScript({ type, fault }: TraceEntry): boolean {
  return (type === 'attempt' || type === 'outbound') && fault !== undefined
}

const unknown: Kind = { group: 'Messages', lane: 1, name: 'Entry' }

export function kindOf({ type }: { readonly type: string }): Kind {
  return Object.hasOwn(kinds, type) ? kinds[type]! : unknown
}

export const groups: readonly EntryGroup[] = [
  ...(['Requests', 'Messages', 'Workflows', 'Commands', 'Key events', 'Faults', 'Time'] as const),
]

/**
 * Returns whether a key event only repeats what the entry of its command shows. Such key events are hidden by default.
 */
export function isEcho({ type, event }: TraceEntry): boolean {
  return type === 'keyspace' && event !== 'expired' && event !== 'evicted'
}

/**
 * Tones of marks. Each tone has its own color, which shows the type or the result of an entry. If marks overlap, the
 * mark whose tone is later in this list is on top.
 */
export const tones = ['wait', 'soft', 'move', 'store', 'ok', 'call', 'bad', 'fault'] as const
export type Tone = (typeof tones)[number]

export function toneOf(entry: TraceEntry): Tone {
  const {
    response: answer,
    outcome,
    error,
    kind,
    type,
  } = entry as TraceEntry & {
    response?: { status: number }
    outcome?: { state: string }
  }
  switch (type) {
    case 'request':
    case 'outbound':
      return answer === undefined ? 'wait' : answer.status === 0 || answer.status >= 400 ? 'bad' : 'ok'
    case 'attempt':
      if (outcome === undefined) return 'wait'
      if (outcome.state !== 'DELIVERED') return 'bad'
      return kind === 'message' ? 'ok' : 'call'
    case 'published':
      return kind === 'message' ? 'move' : 'call'
    case 'command':
      return error === undefined ? 'store' : 'bad'
    case 'keyspace':
      return 'store'
    case 'dead-letter':
      return 'bad'
    case 'fault':
    case 'dropped':
      return 'fault'
    case 'message':
    case 'flow-control':
    case 'wait':
      return 'wait'
    default:
      return 'move'
  }
}

/**
 * When an entry began and ended, in milliseconds of virtual time. `until` is the end of the wait after it, such as the
 * instant of the retry after an attempt.
 */
export interface Span {
  readonly from: number
  readonly to: number
  readonly until?: number
}

export function spanOf(entry: TraceEntry): Span {
  const { at, type } = entry
  const {
    response: answer,
    outcome,
    notBefore,
    deduplicated,
    until,
    to,
  } = entry as TraceEntry & {
    response?: { at: number }
    outcome?: { at: number; next?: { at: number } }
    notBefore?: number
    deduplicated?: boolean
    until?: number
    to?: number
  }
  const end = (type === 'attempt' ? outcome?.at : type === 'clock' ? to : answer?.at) ?? at
  const waits =
    type === 'attempt'
      ? outcome?.next?.at
      : type === 'published' && !deduplicated
        ? notBefore
        : type === 'wait'
          ? until
          : undefined
  return waits !== undefined && waits > end ? { from: at, to: end, until: waits } : { from: at, to: end }
}

export function isOf<T extends EntryType>(entry: TraceEntry, type: T): entry is TraceEntry & EntryOf<T> {
  return entry.type === type
}
