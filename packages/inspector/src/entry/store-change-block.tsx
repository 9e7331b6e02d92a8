import type { JSX } from 'preact'
import { excerpt } from '../../../../src/report/safe-text.js'
import { wordOf } from '../readable-bytes.js'

interface Change {
  readonly added?: readonly Key[]
  readonly removed?: readonly Key[]
  readonly changed?: readonly { readonly before: Key; readonly after: Key }[]
}

interface Key {
  readonly database?: unknown
  readonly key?: unknown
  readonly type?: unknown
  readonly value?: unknown
}

const most = 50

/** Shows the changes that a delivery made in the data store, if `recordStoreChanges()` was active. */
export function StoreChangeBlock({ change }: { readonly change: unknown }): JSX.Element | null {
  if (typeof change !== 'object' || change === null) return null
  const { added = [], removed = [], changed = [] } = change as Change
  const lines = [
    ...added.map((key) => `+ ${nameOf(key)} ${shownValue(key)}`),
    ...removed.map((key) => `- ${nameOf(key)} ${shownValue(key)}`),
    ...changed.map(({ before, after }) => `~ ${nameOf(after)} ${shownValue(before)} → ${shownValue(after)}`),
  ]
  return (
    <section>
      <h4>Changes of the store</h4>
      {lines.length === 0 ? (
        <p class="quiet">Nothing.</p>
      ) : (
        <pre tabIndex={0} role="region" aria-label="Changes of the store">
          {lines.slice(0, most).join('\n')}
          {lines.length > most && `\n… and ${lines.length - most} more keys`}
        </pre>
      )}
    </section>
  )
}

function nameOf({ key, database }: Key): string {
  return excerpt(wordOf(key), 100) + (database === undefined ? '' : ` (${excerpt(String(database), 100)})`)
}

function shownValue({ type, value, database: _, ...rest }: Key): string {
  return `${excerpt(String(type), 20)} ${excerpt(wordOf(value ?? rest), 200)}`
}
