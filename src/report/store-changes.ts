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
 * some of the changes. Recording is off by default, because each attempt then copies the whole store.
 * @returns a function that stops recording
 */
export function watchStore(traffic: TrafficLog, store: ComparableStore): () => void {
  const before = new Map<number, unknown>()
  return traffic.subscribe((entry: Entry) => {
    if (entry.type !== 'attempt') return
    if (entry.outcome === undefined) {
      before.set(entry.seq, store.dump())
      return
    }
    const dump = before.get(entry.seq)
    if (dump === undefined) return
    before.delete(entry.seq)
    entry.store = store.diff(dump as never)
  })
}

interface Dumped {
  readonly key?: unknown
  readonly type?: unknown
  readonly value?: unknown
  readonly expiresAt?: unknown
}

const linesShown = 20

/** Returns one line per changed key. The key was added or removed, or its value or TTL is different. */
export function storeChangeLines(change: StoreDiff, redaction: Redaction = standardRedaction): string[] {
  const word = (given: unknown): string => quoted(asText(given), 60, (text) => redaction.text(text))
  const shown = ({ type, value, ...rest }: Dumped): string =>
    `${excerpt(String(type), 20)} ${word(value ?? Object.fromEntries(Object.entries(rest).filter(([name]) => name !== 'key' && name !== 'expiresAt')))}`
  const lines = [
    ...change.added.map((now: Dumped) => `store: + ${word(now.key)} ${shown(now)}${lifeOf(now)}`),
    ...change.removed.map((old: Dumped) => `store: - ${word(old.key)} ${shown(old)}`),
    ...change.changed.map(({ before, after }: { before: Dumped; after: Dumped }) => {
      const parts: string[] = []
      if (shown(before) !== shown(after)) parts.push(`${shown(before)} → ${shown(after)}`)
      if (before.expiresAt !== after.expiresAt) parts.push(deadlineChange(before.expiresAt, after.expiresAt))
      return `store: ~ ${word(after.key)} ${parts.join(', ') || 'inside'}`
    }),
  ]
  if (lines.length <= linesShown) return lines
  return [...lines.slice(0, linesShown), `store: … and ${lines.length - linesShown} more keys`]
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
