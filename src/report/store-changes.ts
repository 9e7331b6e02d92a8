import { formatDuration } from '../kernel/duration.js'
import type { Entry, StoreDiff, TrafficLog } from '../kernel/traffic-log.js'
import { type Redaction, standardRedaction } from './redaction.js'
import { excerpt, quoted } from './safe-text.js'
import { dateOf, timeOf } from './shown-times.js'

/** A store that can be compared with an earlier dump, such as `sandbox.store`. */
export interface ComparableStore {
  dump(): unknown
  diff(before: never): StoreDiff
}

/**
 * Records in each attempt how the store changed between the attempt's start and end. Other deliveries may have made
 * some of the changes. Recording is off by default, because each attempt then copies all databases. Changed keys of an
 * added database contain its name.
 * @returns a function that stops recording
 */
export function watchStores(
  traffic: TrafficLog,
  databases: readonly { readonly store?: ComparableStore; readonly database?: string }[],
): () => void {
  const before = new Map<number, readonly unknown[]>()
  return traffic.subscribe((entry: Entry) => {
    if (entry.type !== 'attempt') return
    if (entry.outcome === undefined) {
      before.set(
        entry.seq,
        databases.map(({ store }) => store?.dump()),
      )
      return
    }
    const dumps = before.get(entry.seq)
    if (dumps === undefined) return
    before.delete(entry.seq)
    const diffs = databases.flatMap(({ store, database }, index) => {
      const diff = store?.diff(dumps[index] as never)
      return diff === undefined ? [] : database === undefined ? diff : inDatabase(diff, database)
    })
    entry.store = {
      added: diffs.flatMap(({ added }) => added),
      removed: diffs.flatMap(({ removed }) => removed),
      changed: diffs.flatMap(({ changed }) => changed),
    }
  })
}

function inDatabase({ added, removed, changed }: StoreDiff, database: string): StoreDiff {
  const named = <Key extends object>(key: Key): Key => ({ ...key, database })
  return {
    added: added.map(named),
    removed: removed.map(named),
    changed: changed.map(({ key, before, after }) => ({ key, before: named(before), after: named(after) })),
  }
}

interface Dumped {
  readonly key?: unknown
  /** Name of the added database that contains the key. */
  readonly database?: unknown
  readonly type?: unknown
  readonly value?: unknown
  readonly expiresAt?: unknown
}

const linesShown = 20

/** Returns one line per changed key. The key was added or removed, or its value or TTL is different. */
export function storeChangeLines(change: StoreDiff, redaction: Redaction = standardRedaction): string[] {
  const word = (given: unknown): string => quoted(asText(given), 60, (text) => redaction.text(text))
  const shown = ({ type, value, ...rest }: Dumped): string =>
    `${excerpt(String(type), 20)} ${word(value ?? Object.fromEntries(Object.entries(rest).filter(([name]) => name !== 'key' && name !== 'database' && name !== 'expiresAt')))}`
  const lines = [
    ...change.added.map((now: Dumped) => `${placeOf(now)}: + ${word(now.key)} ${shown(now)}${lifeOf(now)}`),
    ...change.removed.map((old: Dumped) => `${placeOf(old)}: - ${word(old.key)} ${shown(old)}`),
    ...change.changed.map(({ before, after }: { before: Dumped; after: Dumped }) => {
      const parts: string[] = []
      if (shown(before) !== shown(after)) parts.push(`${shown(before)} → ${shown(after)}`)
      if (before.expiresAt !== after.expiresAt) parts.push(deadlineChange(before.expiresAt, after.expiresAt))
      return `${placeOf(after)}: ~ ${word(after.key)} ${parts.join(', ') || 'inside'}`
    }),
  ]
  if (lines.length <= linesShown) return lines
  return [...lines.slice(0, linesShown), `store: … and ${lines.length - linesShown} more keys`]
}

function placeOf({ database }: Dumped): string {
  return database === undefined ? 'store' : `store ${excerpt(String(database), 100)}`
}

function lifeOf({ expiresAt }: Dumped): string {
  return typeof expiresAt === 'number' ? `, expires ${instant(expiresAt)}` : ''
}

function deadlineChange(before: unknown, after: unknown): string {
  if (typeof after !== 'number') return 'no longer expires'
  if (typeof before !== 'number') return `expires ${instant(after)}`
  const by = after - before
  return `expires ${formatDuration(Math.abs(by))} ${by < 0 ? 'earlier' : 'later'}, ${instant(after)}`
}

function instant(at: number): string {
  return `${dateOf(at)} ${timeOf(at)}`
}

function asText(given: unknown): string {
  return typeof given === 'string' ? given : (JSON.stringify(given) ?? '')
}
