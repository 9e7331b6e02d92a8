import type { Entry, TrafficLog } from './traffic-log.js'
import { TrafficPart } from './traffic-part.js'

/**
 * Returns whether an entry belongs to the log of a database of the data store.
 * @param database name of the added database; `undefined` for the first one
 */
export function isOfDatabase(entry: Entry, database: string | undefined): boolean {
  return entry.database === database || (entry.database === undefined && !isOfStore(entry))
}

/** Returns whether an entry is about one database of the data store, and not about the whole sandbox. */
function isOfStore(entry: Entry): boolean {
  switch (entry.type) {
    case 'command':
    case 'keyspace':
      return true
    case 'request':
      return entry.service === 'store'
    case 'setting':
      return entry.resource === 'store'
    case 'fault':
      return entry.point === 'store.request' || entry.point === 'store.command'
    default:
      return false
  }
}

/**
 * Returns the entries about each database separately, the first database first. Without added databases, returns one
 * list with all entries.
 */
export function byDatabase(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const names = new Set<string | undefined>()
  for (const { database } of entries) names.add(database)
  if (names.size <= 1) return [entries]
  return [undefined, ...[...names].filter((name) => name !== undefined)].map((name) =>
    entries.filter((entry) => isOfDatabase(entry, name)),
  )
}

/**
 * The traffic log of one database of the data store: entries of this database, and entries of the queue, the clock and
 * others that belong to no database. Entries of the first database have no `database`.
 */
export class DatabaseTraffic extends TrafficPart {
  readonly #database: string | undefined
  protected readonly stamp: Pick<Entry, 'database'>

  constructor(log: TrafficLog, database: string | undefined) {
    super(log)
    this.#database = database
    this.stamp = database === undefined ? {} : { database }
  }

  protected has(entry: Entry): boolean {
    return isOfDatabase(entry, this.#database)
  }
}
