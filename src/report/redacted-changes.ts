import { historyInternals } from '../store/history/history-internals.js'
import type { KeyChange } from '../store/history/key-change.js'
import { hidden as mark, type Redaction } from './redaction.js'

/**
 * What commands left at keys, as it may be shown: secrets are hidden as in a trace, by their texts and by the names of
 * keys and fields. Nothing where the bodies of all requests are hidden.
 */
export function redactedChanges(store: object, redaction: Redaction, after = 0): readonly KeyChange[] {
  return changesSince(store, redaction, after).map((change) => redactedChange(change, redaction))
}

/** Those changes before anything is hidden in them. */
export function changesSince(store: object, redaction: Redaction, after = 0): readonly KeyChange[] {
  return redaction.hidesBodies ? [] : (historyInternals.find(store)?.changes(after) ?? [])
}

export function redactedChange(change: KeyChange, redaction: Redaction): KeyChange {
  return hidden(unnamed(change, redaction), redaction) as KeyChange
}

/** Without the text at a key whose name says that it is a secret. */
function unnamed(change: KeyChange, redaction: Redaction): KeyChange {
  const { key, now } = change
  const isSecret = typeof key === 'string' && redaction.isSecretName(key)
  return isSecret && now !== undefined && 'value' in now ? { ...change, now: { ...now, value: mark } } : change
}

/** @param part the name of the list that the value is, as a dump or `splice.of` names it */
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

/** Names and values one after the other: of a field of a hash from the start, of an entry of a stream behind its id. */
function hiddenPairs(row: unknown, redaction: Redaction, from: number): unknown {
  if (!Array.isArray(row)) return hidden(row, redaction)
  return row.map((item, at) => {
    const name = row[at - 1]
    const isValue = at > from && (at - from) % 2 === 1 && typeof item !== 'number'
    return isValue && typeof name === 'string' && redaction.isSecretName(name) ? mark : hidden(item, redaction)
  })
}
