import type { Bytes } from '../../kernel/bytes.js'
import type { CommandContext } from '../command/command.js'
import type { Database } from '../keyspace/database.js'
import { type SearchIndex, wholeStream } from '../values/search-index.js'
import { formatId, parseId } from '../values/stream-id.js'
import { Stream } from '../values/stream-value.js'
import { Content } from './content.js'
import type { DocumentSource } from './search-document.js'
import { stemOf } from './stems.js'

type Store = CommandContext['store']

// Keeps indexes up to date. Each write is recorded, and indexed before the next search. Writes of earlier requests are
// indexed before a request runs, in slices, so that other work can run in between. The writes of the request itself are
// charged to this request. docs/decisions/search.md

/**
 * Returns the content that a search sees. The content includes all writes, or only the writes that are older than
 * `policy.searchIndexingDelay`.
 */
export function currentContent(index: SearchIndex, context: CommandContext): Content {
  return takenIn(index, context, dueUntil(context.store))
}

/** Indexes all writes so far. */
export function complete(index: SearchIndex, context: CommandContext): void {
  takenIn(index, context, Number.POSITIVE_INFINITY)
}

/** Clears an index and marks all keys as written. */
export function rebuild(index: SearchIndex, { db, store }: CommandContext): void {
  db.sweep()
  index.content = undefined
  index.pending.clear()
  // If the same request rebuilds the index and searches, the indexing is charged to it.
  index.earlier = 0
  contentOf(index, store)
}

export function emptyContent({ definition }: SearchIndex, { options }: Store): Content {
  return new Content(definition, stemOf(definition.language), options.policy)
}

/** Marks all keys that a new index covers as written now. */
export function noteAll(index: SearchIndex, { db }: Store, now: number): void {
  forEachCovered(index, db, (key) => index.note(key, now))
}

/** Visits all keys that an index covers, or the IDs of all entries of its stream. */
function forEachCovered(index: SearchIndex, db: Database, visit: (key: Bytes) => void): void {
  if (index.streamKey === undefined) {
    db.forEach((_value, key) => {
      if (index.covers(key)) visit(key)
    })
    return
  }
  const stream = db.peek(index.streamKey)
  if (stream instanceof Stream) for (const { id } of stream.entries) visit(formatId(id))
}

/** Returns the current value of a key, or the fields of an entry if the index is over a stream. */
export function currentSource(index: SearchIndex, key: Bytes, db: Database): DocumentSource | undefined {
  if (index.streamKey === undefined) return db.value(key)
  // `value()` could remove the expired stream, which changes the pending entries that the caller visits.
  const stream = db.peek(index.streamKey)
  const id = parseId(key)
  return stream instanceof Stream && id !== undefined ? stream.entries.get(id) : undefined
}

/** Units of work in one slice, for all indexes of a store together. A slice takes about 25 ms. */
const slice = 1_000_000

/** Indexes one slice of due writes in a store. Returns whether all are indexed. */
export function catchUp(store: Store): boolean {
  let left = slice
  const mayGoOn = (units: number): boolean => {
    left -= units
    return left > 0
  }
  for (const index of store.db.search.all.values()) if (!takeIn(index, store, dueUntil(store), mayGoOn)) return false
  return true
}

function dueUntil({ options }: Store): number {
  const { searchIndexingDelay } = options.policy
  return searchIndexingDelay === 0 ? Number.POSITIVE_INFINITY : options.clock.now() - searchIndexingDelay
}

/** Indexes due writes. Keys that were already pending before the request are not charged to the request. */
function takenIn(index: SearchIndex, { db, store }: CommandContext, until: number): Content {
  // Removes expired keys first, because an expiration is also a change.
  db.sweep()
  const due = dueUntil(store)
  const { work } = db
  const isDone = takeIn(index, store, until, (units, isEarlier, at) => {
    if (isEarlier && at <= due) return true
    const isEnough = units <= work.left
    work.left = isEnough ? work.left - units : 0
    return isEnough
  })
  // `charge()` throws, because no work is left. Documents that were already indexed stay indexed.
  if (!isDone) work.charge(1)
  return contentOf(index, store)
}

/**
 * Returns the content of an index. If the content must be built, all covered keys become pending, and the keys that
 * were already pending come last.
 */
function contentOf(index: SearchIndex, store: Store): Content {
  if (index.content instanceof Content) return index.content
  const content = emptyContent(index, store)
  const written = [...index.pending]
  const known = new Set(index.pending.keys())
  index.pending.clear()
  forEachCovered(index, store.db, (key) => {
    if (!known.has(key)) index.note(key, Number.NEGATIVE_INFINITY)
  })
  for (const [key, at] of written) index.note(key, at)
  index.content = content
  return content
}

/**
 * Forgets all documents of an earlier stream, and marks the entries of the present one as written.
 * @param isEarlier whether the stream was replaced before the current request, which then is not charged
 * @returns units of work that were done
 */
function beginAgain(index: SearchIndex, isEarlier: boolean, store: Store): number {
  const written = index.pending.size
  index.content = undefined
  contentOf(index, store)
  const again = index.pending.size - written
  index.earlier = isEarlier ? index.earlier + again : 0
  return again
}

/**
 * Indexes pending keys and returns whether none remains.
 * @param mayGoOn receives the units of work for each key, and returns whether indexing may continue
 */
function takeIn(
  index: SearchIndex,
  store: Store,
  until: number,
  mayGoOn: (units: number, isEarlier: boolean, at: number) => boolean,
): boolean {
  const content = contentOf(index, store)
  const { pending } = index
  let taken = 0
  let isDone = true
  const completes = (goesOn: (units: number) => boolean): boolean => {
    while (!content.isComplete) if (!goesOn(content.goOn())) return false
    return true
  }
  // Finishes a long document that was started earlier.
  if (!completes((units) => mayGoOn(units, true, Number.NEGATIVE_INFINITY))) return false
  for (const [key, at] of pending) {
    if (at > until) break
    taken++
    const isEarlier = taken <= index.earlier
    const goesOn = (units: number): boolean => mayGoOn(units, isEarlier, at)
    if (key === wholeStream && index.streamKey !== undefined) {
      index.taken(taken)
      return goesOn(beginAgain(index, isEarlier, store)) && takeIn(index, store, until, mayGoOn)
    }
    if (goesOn(content.put(key, currentSource(index, key, store.db))) && completes(goesOn)) continue
    isDone = taken === pending.size && content.isComplete
    break
  }
  index.taken(taken)
  return isDone
}
