import { DatabaseTraffic } from '../kernel/database-traffic.js'
import { shownValue } from '../kernel/shown-value.js'
import type { TrafficLog } from '../kernel/traffic-log.js'
import type { Service } from '../protocol/service.js'
import type { Tokens } from '../store/access/access-control.js'
import type { Store } from '../store/direct-store.js'
import type { StoreHistory } from '../store/history/store-history.js'
import type { LoggedStore } from '../store/logged-store.js'
import { isTenantName } from './tenant-name.js'

/** Maximum number of databases that the option `databases` can add. */
export const maxDatabases = 16

/** One database of the data store of a sandbox. */
export interface StoreDatabase {
  /** Name of an added database; `undefined` for the first one. */
  readonly name: string | undefined
  readonly store: Store
  readonly executions: LoggedStore
  readonly service: Service
  /** Earlier values of the database, with the times at which they changed. */
  readonly history: StoreHistory
}

export interface DatabasePlan {
  readonly name: string | undefined
  /**
   * Text that is added to the names of the random streams. It is empty for the first database, so that its draws do not
   * change when a database is added.
   */
  readonly stream: string
  readonly traffic: TrafficLog
  readonly tokens: Tokens
}

/** Returns the plans of all databases of a sandbox. The first one has no name. */
export function databasePlans(
  names: readonly string[],
  traffic: TrafficLog,
  tokensOf: (name: string | undefined) => Tokens,
): readonly [DatabasePlan, ...DatabasePlan[]] {
  const first = { name: undefined, stream: '', tokens: tokensOf(undefined) }
  return [
    { ...first, traffic: names.length === 0 ? traffic : new DatabaseTraffic(traffic, undefined) },
    ...names.map((name) => ({
      name,
      stream: `/${name}`,
      traffic: new DatabaseTraffic(traffic, name),
      tokens: tokensOf(name),
    })),
  ]
}

/** @throws TypeError when the option `databases` is not a list of different valid names */
export function checkDatabases(databases: unknown): void {
  if (databases === undefined) return
  if (!Array.isArray(databases)) {
    throw new TypeError(`databases must be a list of names such as ['eu', 'us'] (got ${shownValue(databases)}).`)
  }
  if (databases.length > maxDatabases) {
    throw new TypeError(`databases must have at most ${maxDatabases} names (got ${databases.length}).`)
  }
  const taken = new Set<string>()
  for (const name of databases as readonly unknown[]) {
    if (typeof name !== 'string' || !isTenantName(name)) {
      throw new TypeError(
        `databases: a name must have 1 to 100 letters, digits, hyphens, dots or underscores, and begin with a letter, digit or hyphen (got ${shownValue(name)}).`,
      )
    }
    // Host names ignore case, so names must differ in more than their case.
    if (taken.has(name.toLowerCase())) {
      throw new TypeError(`databases must have different names, regardless of case (got ${shownValue(name)} twice).`)
    }
    taken.add(name.toLowerCase())
  }
}
