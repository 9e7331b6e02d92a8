import type { Entry, EntryOf, EntryType } from '../src/kernel/traffic.js'
import { shortNames } from '../src/report/names.js'
import { type TrafficContext, TrafficView } from '../src/report/traffic-view.js'
import { literal } from './literal.js'

/** What a matcher looks at: the entries of a log, and what is known about the world they come from. */
export interface Evidence {
  /** How the test calls it: `sandbox`, `store`, `queue`, `traffic`. */
  readonly role: Role
  readonly entries: readonly Entry[]
  readonly context: TrafficContext
  readonly received: unknown
  /** Short names of the messages, as the timeline uses them. */
  name(messageId: string): string
}

export type Role = 'sandbox' | 'store' | 'queue' | 'traffic'

type Loose = Record<string, unknown>

/**
 * The evidence in what was given to `expect()`: a sandbox, one of its views, a traffic log or a list of entries.
 * Anything else is a mistake in the test and told as a sentence.
 */
export function evidenceOf(matcher: string, received: unknown, wanted: 'store' | 'queue' | 'sandbox'): Evidence {
  const role = roleOf(received)
  const view = wanted === 'sandbox' ? 'sandbox' : `sandbox.${wanted}`
  if (role === undefined) {
    throw new TypeError(
      `${matcher}() cannot look into ${shown(received)}. Write expect(${view}).${matcher}(…)${wanted === 'sandbox' ? '' : ' or expect(sandbox)'}${isThenable(received) ? '; await it first' : ''}.`,
    )
  }
  if ((role === 'store' || role === 'queue') && wanted !== role && wanted !== 'sandbox') {
    throw new TypeError(
      `${matcher}() looks at the ${wanted}, and this is a ${role}. Write expect(${view}).${matcher}(…) or expect(sandbox).`,
    )
  }
  return evidence(role, received)
}

function evidence(role: Role, received: unknown): Evidence {
  const { entries, context } = logOf(received)
  let names: ((messageId: string) => string) | undefined
  return {
    role,
    received,
    entries,
    context,
    name: (messageId) => {
      names ??= shortNames(entries)
      return names(messageId)
    },
  }
}

export function entriesOf<T extends EntryType>(evidence: Evidence, type: T): EntryOf<T>[] {
  return evidence.entries.filter((entry): entry is Entry & EntryOf<T> => entry.type === type)
}

function roleOf(received: unknown): Role | undefined {
  if (Array.isArray(received)) return received.every(isEntry) ? 'traffic' : undefined
  if (typeof received !== 'object' || received === null) return undefined
  const given = received as Loose
  if (given.entries !== undefined && Array.isArray(given.entries)) return 'traffic'
  if (typeof given.traffic !== 'object' || given.traffic === null) return undefined
  if ('clock' in given && 'store' in given) return 'sandbox'
  return 'engine' in given && typeof given.run === 'function' ? 'store' : 'queue'
}

function isEntry(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'seq' in value && 'type' in value
}

function logOf(received: unknown): { entries: readonly Entry[]; context: TrafficContext } {
  if (Array.isArray(received)) return { entries: received as Entry[], context: {} }
  const given = received as { entries?: readonly Entry[]; traffic?: { entries: readonly Entry[] } | readonly Entry[] }
  const log = given.traffic ?? (given as { entries: readonly Entry[] })
  if (Array.isArray(log)) return { entries: log as Entry[], context: {} }
  const { entries } = log as { entries: readonly Entry[] }
  return { entries, context: TrafficView.of(log)?.context ?? {} }
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

function shown(received: unknown): string {
  if (isThenable(received)) return 'a promise'
  if (Array.isArray(received)) return 'this list'
  return typeof received === 'object' && received !== null ? 'this object' : literal(received)
}
