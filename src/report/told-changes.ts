import { history } from '../store/history/inside.js'
import type { StoredChange } from '../store/history/stored-change.js'
import { hidden, type Redaction } from './redaction.js'

/**
 * What commands left at keys, as it may be shown: secrets are hidden as in a trace, by their texts, and by the names of
 * keys, fields and members of JSON. Nothing where the bodies of all requests are hidden.
 */
export function toldChanges(store: object, redaction: Redaction, after = 0): readonly StoredChange[] {
  if (redaction.hidesBodies) return []
  const changes = history.find(store)?.changes(after) ?? []
  return changes.map((change) => shown(change, redaction))
}

function shown(change: StoredChange, redaction: Redaction): StoredChange {
  const { now, splice } = change
  const named = typeof change.key === 'string' && redaction.isSecretName(change.key)
  const told = {
    ...change,
    ...(now?.type === 'hash' && { now: { ...now, fields: pairs(now.fields, redaction) } }),
    ...(named && now !== undefined && 'value' in now && { now: { ...now, value: hidden } }),
    ...(splice?.of === 'fields' && { splice: { ...splice, insert: pairs(splice.insert, redaction) } }),
  }
  return texts(told, redaction) as StoredChange
}

/** Names and values of a hash: what a secret name has is a secret. */
function pairs(rows: readonly unknown[], redaction: Redaction): readonly unknown[] {
  return rows.map((row) => {
    const [name, , ...rest] = row as readonly unknown[]
    return typeof name === 'string' && redaction.isSecretName(name) ? [name, hidden, ...rest] : row
  })
}

function texts(value: unknown, redaction: Redaction): unknown {
  if (typeof value === 'string') return redaction.text(value)
  if (Array.isArray(value)) return value.map((item) => texts(item, redaction))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, texts(field, redaction)]))
}
