import type { TraceEntry } from '../../../../src/report/trace.js'
import type { KeyChange } from '../../../../src/store/history/key-change.js'
import { StoreModel } from './store-model.js'

/** Means the first database of the data store, which has no name. It is not a valid name of a database. */
export const firstDatabase = '/'

/** Returns the names of the added databases of a sandbox. Without added databases, the list is empty. */
export function databaseNames(addresses: Readonly<Record<string, unknown>> | undefined): readonly string[] {
  return Object.keys(Object(addresses?.databases))
}

/**
 * Returns whether an entry is about a database.
 * @param database name of an added database, or `firstDatabase`
 */
export function isOfDatabase(entry: TraceEntry, database: string): boolean {
  if (entry.database !== undefined || database !== firstDatabase) return entry.database === database
  const { type, service, resource, point } = entry
  if (type === 'request') return service === 'store'
  if (type === 'setting') return resource === 'store'
  if (type === 'fault') return String(point).startsWith('store.')
  return type === 'command' || type === 'keyspace'
}

/** A model of each database. */
export class DatabaseModels {
  readonly #models = new Map<string | undefined, StoreModel>()

  /** Adds changes. The changes of each database must be in the order of `seq`. */
  add(changes: readonly KeyChange[]): void {
    const lists = new Map<string | undefined, KeyChange[]>()
    for (const change of changes) {
      const list = lists.get(change.database)
      if (list === undefined) lists.set(change.database, [change])
      else list.push(change)
    }
    for (const [database, list] of lists) this.of(database).add(list)
  }

  /** Returns the model of an added database, or without a name that of the first one. */
  of(database: string | undefined): StoreModel {
    const known = this.#models.get(database)
    if (known !== undefined) return known
    const model = new StoreModel()
    this.#models.set(database, model)
    return model
  }
}
