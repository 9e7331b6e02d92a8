import { historyInternals } from '../store/history/history-internals.js'
import type { KeyChange } from '../store/history/key-change.js'
import { hidden as mark, type Redaction } from './redaction.js'
import type { TrafficContext } from './traffic-context.js'

/**
 * Returns the changes of a store with secrets hidden, as in a trace. A secret is recognized by its format, or by the
 * name of its key or field. If the bodies of all requests are hidden, the list is empty.
 */
export function redactedChanges(store: object, redaction: Redaction, after = 0): readonly KeyChange[] {
  return changesSince(store, redaction, after).map((change) => redactedChange(change, redaction))
}

/** Returns the changes of a store, not redacted yet. If the bodies of all requests are hidden, the list is empty. */
export function changesSince(store: object, redaction: Redaction, after = 0): readonly KeyChange[] {
  return redaction.hidesBodies ? [] : (historyInternals.find(store)?.changes(after) ?? [])
}

/**
 * Returns the changes of all databases, ordered by `seq`, not redacted yet. Changes of an added database contain its
 * name.
 */
export function changesOfAll(context: TrafficContext, redaction: Redaction, after = 0): readonly KeyChange[] {
  const views = context.databases?.() ?? []
  if (views.length > 0) {
    return views.flatMap((view) => changesOfAll(view.context, redaction, after)).sort((a, b) => a.seq - b.seq)
  }
  const { store, database } = context
  const changes = store === undefined ? [] : changesSince(store, redaction, after)
  return database === undefined ? changes : changes.map((change) => ({ ...change, database }))
}

export function redactedChange(change: KeyChange, redaction: Redaction): KeyChange {
  return hidden(unnamed(change, redaction), redaction) as KeyChange
}

/** Hides the value of a key whose name indicates a secret. */
function unnamed(change: KeyChange, redaction: Redaction): KeyChange {
  const { key, now } = change
  const isSecret = typeof key === 'string' && redaction.isSecretName(key)
  return isSecret && now !== undefined && 'value' in now ? { ...change, now: { ...now, value: mark } } : change
}

/**
 * Returns a value with secrets hidden.
 * @param part name of the list that contains the value, as in a dump or in `splice.of`
 */
function hidden(value: unknown, redaction: Redaction, part?: unknown): unknown {
  if (typeof value === 'string') return redaction.text(value)
  if (Array.isArray(value)) {
    if (part === 'fields') return value.map((pair) => hiddenPairs(pair, redaction, 0))
    if (part === 'entries') return value.map((entry) => hiddenPairs(entry, redaction, 1))
    return value.map((item) => hidden(item, redaction))
  }
  if (typeof value !== 'object' || value === null) return value
  const { of } = value as { of?: unknown }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, hidden(item, redaction, name === 'insert' ? of : name)]),
  )
}

/**
 * Hides secret values in a list such as `["user", "Ada", "password", "x"]`, in which names and values alternate.
 * @param from position of the first name: 0 in a hash, after the ID in a stream entry
 */
function hiddenPairs(row: unknown, redaction: Redaction, from: number): unknown {
  if (!Array.isArray(row)) return hidden(row, redaction)
  return row.map((item, at) => {
    const name = row[at - 1]
    const isValue = at > from && (at - from) % 2 === 1 && typeof item !== 'number'
    return isValue && typeof name === 'string' && redaction.isSecretName(name) ? mark : hidden(item, redaction)
  })
}
