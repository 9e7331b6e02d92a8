import type { CommandContext } from '../command/command.js'
import type { Database } from '../keyspace/database.js'
import type { SearchIndex } from '../values/search-index.js'
import { Content } from './content.js'
import { documentOf } from './document.js'
import { stemOf } from './loading.js'

// Indexes follow writes: what was written is known, and read when somebody searches. Nobody pays for it in units of work,
// as nobody does on the service: the writes have paid. docs/decisions/search.md

/** What an index finds now: all writes, or those that are old enough where `policy.searchLag` says so. */
export function currentContent(index: SearchIndex, { db, now, store }: CommandContext): Content {
  // What has expired unseen is a change, too.
  db.sweep()
  const content = contentOf(index, db)
  const { searchLag } = store.options.policy
  takeIn(index, content, db, searchLag === 0 ? Number.POSITIVE_INFINITY : now - searchLag)
  return content
}

/** Takes in all that was written so far. */
export function complete(index: SearchIndex, db: Database): void {
  db.sweep()
  takeIn(index, contentOf(index, db), db, Number.POSITIVE_INFINITY)
}

/** Forgets everything and looks at all keys. */
export function rebuild(index: SearchIndex, db: Database): void {
  db.sweep()
  index.content = undefined
  index.pending.clear()
  contentOf(index, db)
}

/** A new index that has seen nothing. */
export function emptyContent({ definition }: SearchIndex): Content {
  return new Content(definition, stemOf(definition.language))
}

/** Marks all keys that a new index covers as written now. */
export function noteAll(index: SearchIndex, db: Database, now: number): void {
  db.forEach((_value, key) => {
    if (index.covers(key)) index.note(key, now)
  })
}

function contentOf(index: SearchIndex, db: Database): Content {
  if (index.content instanceof Content) return index.content
  const content = emptyContent(index)
  const { dataType } = index.definition
  db.forEach((value, key) => {
    if (index.covers(key) && !index.pending.has(key)) content.put(key, documentOf(dataType, value))
  })
  index.content = content
  return content
}

function takeIn(index: SearchIndex, content: Content, db: Database, until: number): void {
  const { pending, definition } = index
  let isAll = true
  for (const [key, at] of pending) {
    if (at > until) {
      isAll = false
      break
    }
    content.put(key, documentOf(definition.dataType, db.value(key)))
    if (until !== Number.POSITIVE_INFINITY) pending.delete(key)
  }
  // At once is faster than one by one.
  if (isAll) pending.clear()
}
