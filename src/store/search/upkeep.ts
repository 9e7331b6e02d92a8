import type { CommandContext } from '../command/command.js'

import type { SearchIndex } from '../values/search-index.js'
import { Content } from './content.js'
import { stemOf } from './stems.js'

type Store = CommandContext['store']

// Indexes follow writes: what was written is known, and read before somebody searches. What was written before a request
// is taken in before it runs, in slices between which others have their turns. What the request itself has written is
// charged to it. docs/decisions/search.md

/** What an index finds now: all writes, or those that are old enough where `policy.searchIndexingDelay` says so. */
export function currentContent(index: SearchIndex, context: CommandContext): Content {
  return takenIn(index, context, dueUntil(context.store))
}

/** Takes in all that was written so far. */
export function complete(index: SearchIndex, context: CommandContext): void {
  takenIn(index, context, Number.POSITIVE_INFINITY)
}

/** Forgets everything and looks at all keys. */
export function rebuild(index: SearchIndex, { db, store }: CommandContext): void {
  db.sweep()
  index.content = undefined
  index.pending.clear()
  // Whoever rebuilds and searches in one request pays for it.
  index.earlier = 0
  contentOf(index, store)
}

/** A new index that has seen nothing. */
export function emptyContent({ definition }: SearchIndex, { options }: Store): Content {
  return new Content(definition, stemOf(definition.language), options.policy.maxSearchDocument)
}

/** Marks all keys that a new index covers as written now. */
export function noteAll(index: SearchIndex, { db }: Store, now: number): void {
  db.forEach((_value, key) => {
    if (index.covers(key)) index.note(key, now)
  })
}

/** Units of work that are done for all indexes of a store before others have their turn: some 25 ms. */
const slice = 1_000_000

/** Takes in a slice of what is due in a store. Returns whether that was all. */
export function catchUp(store: Store): boolean {
  let left = slice
  const mayGoOn = (units: number): boolean => {
    left -= units
    return left > 0
  }
  for (const index of store.db.search.all.values())
    if (!takeIn(index, contentOf(index, store), store, dueUntil(store), mayGoOn)) return false
  return true
}

function dueUntil({ options }: Store): number {
  const { searchIndexingDelay } = options.policy
  return searchIndexingDelay === 0 ? Number.POSITIVE_INFINITY : options.clock.now() - searchIndexingDelay
}

/** Keys that were pending when the request began, and are due, cost nothing: where others wait they were taken in before. */
function takenIn(index: SearchIndex, { db, store }: CommandContext, until: number): Content {
  // What has expired unseen is a change, too.
  db.sweep()
  const content = contentOf(index, store)
  const due = dueUntil(store)
  const { work } = db
  const isDone = takeIn(index, content, store, until, (units, isEarlier, at) => {
    if (isEarlier && at <= due) return true
    const isEnough = units <= work.left
    work.left = isEnough ? work.left - units : 0
    return isEnough
  })
  // Refuses, as nothing is left. What was taken in stays so.
  if (!isDone) work.charge(1)
  return content
}

/** Content that has to be made anew begins with all keys, behind which what was written since waits as it did. */
function contentOf(index: SearchIndex, store: Store): Content {
  if (index.content instanceof Content) return index.content
  const content = emptyContent(index, store)
  const written = [...index.pending]
  const known = new Set(index.pending.keys())
  index.pending.clear()
  store.db.forEach((_value, key) => {
    if (index.covers(key) && !known.has(key)) index.note(key, Number.NEGATIVE_INFINITY)
  })
  for (const [key, at] of written) index.note(key, at)
  index.content = content
  return content
}

/** Returns whether nothing is left to take in; `mayGoOn` hears of the work of each key. */
function takeIn(
  index: SearchIndex,
  content: Content,
  { db }: Store,
  until: number,
  mayGoOn: (units: number, isEarlier: boolean, at: number) => boolean,
): boolean {
  const { pending } = index
  let taken = 0
  let isDone = true
  const completes = (goesOn: (units: number) => boolean): boolean => {
    while (!content.isComplete) if (!goesOn(content.goOn())) return false
    return true
  }
  // Of a long document that was begun before.
  if (!completes((units) => mayGoOn(units, true, Number.NEGATIVE_INFINITY))) return false
  for (const [key, at] of pending) {
    if (at > until) break
    taken++
    const isEarlier = taken <= index.earlier
    const goesOn = (units: number): boolean => mayGoOn(units, isEarlier, at)
    if (goesOn(content.put(key, db.value(key))) && completes(goesOn)) continue
    isDone = taken === pending.size && content.isComplete
    break
  }
  index.taken(taken)
  return isDone
}
