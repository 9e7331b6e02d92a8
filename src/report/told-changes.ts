import { history } from '../store/history/inside.js'
import type { StoredChange } from '../store/history/stored-change.js'
import type { Redaction } from './redaction.js'

/** What commands left at keys, as it may be shown: secrets are hidden as in a trace. */
export function toldChanges(store: object, redaction: Redaction, after = 0): readonly StoredChange[] {
  const changes = history.find(store)?.changes(after) ?? []
  return changes.map((change) => hidden(change, redaction) as StoredChange)
}

function hidden(value: unknown, redaction: Redaction): unknown {
  if (typeof value === 'string') return redaction.text(value)
  if (Array.isArray(value)) return value.map((item) => hidden(item, redaction))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, hidden(field, redaction)]))
}
