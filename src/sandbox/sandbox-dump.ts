import * as v from 'valibot'
import { invalidDump, isPortable, shortened } from '../kernel/dump-problems.js'
import { endOfTime } from '../kernel/instant.js'
import { once } from '../kernel/once.js'
import { bytesOf, type PortableString, portableString } from '../kernel/portable.js'
import { type QueueRegion, queueRegions } from '../protocol/address.js'
import { dumpedQueueSchema } from '../queue/dump/load-queue.js'
import type { QueueDump } from '../queue/dump/queue-dump.js'
import { areOurs, ledgerSchema, storeLedgerSchema } from '../stats/ledger-schema.js'
import type { Stats } from '../stats/statistics.js'
import type { StoreLedger, StoreLedgerDump } from '../stats/store-ledger.js'
import { commandGrid } from '../stats/store-tallies.js'
import type { LedgerDump } from '../stats/tally-book.js'
import { minute } from '../stats/usage-calendar.js'
import type { AccessDump } from '../store/access/access-control.js'
import { ReplyError } from '../store/command/reply.js'
import { commandTable } from '../store/commands/index.js'
import { storeSchema } from '../store/dump/snapshot-schema.js'
import type { StoreDump } from '../store/dump/store-dump.js'
import type { StoreDatabase } from './databases.js'
import type { Regions } from './regions.js'

/**
 * The state of a sandbox as JSON.
 * It does not contain the traffic log or registered code and rules: handlers, scripts, faults, stubs, subscribers, and
 * overrides of statistics.
 */
export interface SandboxDump {
  /** Marker by which `load()` recognizes a dump of a sandbox. */
  readonly format: 'stuntdouble/sandbox'
  /** Format version: 3 if databases were added, otherwise 2 if the second region was used, otherwise 1. */
  readonly version: 1 | 2 | 3
  /**
   * Fingerprint of the initial tokens and keys, if the sandbox has a secret. It lets `load()` recognize dumps with the
   * same initial tokens and keys.
   */
  readonly seal?: string
  /** Virtual time in milliseconds since the epoch. */
  readonly now: number
  /**
   * Number of loads before the dump. After a load, the number is a part of the seed, so that new IDs differ from the
   * IDs in the dump.
   */
  readonly loads: number
  /** Keys of the data store with their values. */
  readonly store: StoreDump
  /** Users of the data store with their permissions, and its tokens. */
  readonly access: AccessDump
  /** Source code of Lua function libraries, in the order in which they were loaded. */
  readonly functions: readonly PortableString[]
  /** The queue of the home region. */
  readonly queue: QueueDump
  /** The queue of the other region. The key is the name of that region. */
  readonly regions?: Readonly<Partial<Record<QueueRegion, QueueDump>>>
  /** Counters of the statistics of the queue. */
  readonly counted: LedgerDump
  /** Counters of the statistics of the data store. Absent if nothing was counted. */
  readonly countedStore?: StoreLedgerDump
  /** The added databases of the data store, by name. Absent without the option `databases`. */
  readonly databases?: Readonly<Record<string, DatabaseDump>>
}

/** The state of one added database of the data store. */
export type DatabaseDump = Pick<SandboxDump, 'store' | 'access' | 'functions' | 'countedStore'>

const portable = v.custom<PortableString>(isPortable, 'must be a string or { base64: … }')
const token = v.pipe(v.string(), v.minLength(1))

/** Parts of a dump that each database has. */
const databaseEntries = {
  store: storeSchema(),
  access: v.object({
    tokens: v.object({ standard: token, readOnly: token }),
    key: portable,
    users: v.array(v.object({ name: portable, rules: v.array(portable) })),
  }),
  functions: v.array(portable),
  countedStore: v.exactOptional(storeLedgerSchema),
}

const shape = once((): v.GenericSchema<unknown, SandboxDump> => {
  const queueSchema = dumpedQueueSchema()
  return v.pipe(
    v.object({
      format: v.literal('stuntdouble/sandbox'),
      version: v.picklist([1, 2, 3]),
      seal: v.exactOptional(v.string()),
      now: v.pipe(v.number(), v.minValue(-endOfTime), v.maxValue(endOfTime)),
      loads: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(1e9)),
      ...databaseEntries,
      queue: queueSchema,
      regions: v.exactOptional(v.record(v.picklist(queueRegions), queueSchema)),
      counted: ledgerSchema,
      databases: v.exactOptional(v.record(v.string(), v.object(databaseEntries))),
    }),
    // Code that knows only version 1 ignores `regions` and `databases`. It would lose them, so a dump with one of them
    // must have a later version.
    v.forward(
      v.check(
        (dump) => dump.version === versionOf(dump),
        'version must be 3 if the dump has added databases, otherwise 2 if it has two regions, otherwise 1',
      ),
      ['version'],
    ),
  )
})

/** Returns the format version of a dump with these parts. */
export function versionOf({ regions, databases }: Pick<SandboxDump, 'regions' | 'databases'>): SandboxDump['version'] {
  if (databases !== undefined) return 3
  return regions === undefined ? 1 : 2
}

/** The sandbox that loads a dump. */
export interface Loader {
  readonly home: QueueRegion
  /** Names of its added databases. */
  readonly databases: readonly string[]
}

/**
 * Checks a whole dump before any state changes.
 * @throws TypeError when the dump is invalid, or has another home region or other databases than the loading sandbox
 */
export function checkDump(given: unknown, loader?: Loader): asserts given is SandboxDump {
  const parsed = v.safeParse(shape(), given)
  if (!parsed.success) {
    const [issue] = parsed.issues
    throw invalidDump('a sandbox', { place: v.getDotPath(issue), reason: issue.message })
  }
  const { now, regions } = parsed.output
  if (loader !== undefined) checkDumpDatabases(parsed.output, loader)
  const home = loader?.home
  if (home !== undefined && regions?.[home] !== undefined) {
    throw invalidDump('a sandbox', {
      place: `regions.${home}`,
      reason: `${home} is the home region of this sandbox, so regions must not contain it. Set policy.homeRegion to the home region of the dump.`,
    })
  }
  // A load skips counters of another version of this package, so only counters of this version are checked.
  for (const { place, interval, rows } of countersOf(parsed.output)) {
    const [ahead] = rows.find(([number]) => number > Math.floor(now / interval)) ?? []
    if (ahead === undefined) continue
    throw invalidDump('a sandbox', {
      place,
      reason: `interval number ${ahead}, with a length of ${interval} ms, is in the future.`,
    })
  }
}

function checkDumpDatabases(dump: SandboxDump, { databases }: Loader): void {
  const dumped = Object.keys(dump.databases ?? {})
  if (dumped.length === databases.length && dumped.every((name) => databases.includes(name))) return
  const listed = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '))
  throw invalidDump('a sandbox', {
    place: 'databases',
    reason: `the dump has other added databases (${listed(dumped)}) than this sandbox (${listed(databases)}). Create the sandbox with databases: ${JSON.stringify(dumped)}.`,
  })
}

interface Counters {
  readonly place: string
  /** Length of the intervals in milliseconds. */
  readonly interval: number
  readonly rows: readonly (readonly [number: number, ...unknown[]])[]
}

/** Returns all counters of a dump that a load uses, by the number of their interval. */
function countersOf({ counted, countedStore, databases, now }: SandboxDump): readonly Counters[] {
  const ringsOf = (place: string, { tallies, rings }: LedgerDump): Counters[] =>
    areOurs(tallies) ? rings.map(([interval, rows]) => ({ place: `${place}.rings`, interval, rows })) : []
  const storeCounters = (place: string, counted: StoreLedgerDump | undefined): Counters[] =>
    counted === undefined
      ? []
      : [
          ...ringsOf(place, counted),
          { place: `${place}.commands`, interval: commandGrid(now).interval, rows: counted.commands },
          { place: `${place}.sizes`, interval: minute, rows: counted.sizes },
        ]
  return [
    ...ringsOf('counted', counted),
    ...storeCounters('countedStore', countedStore),
    ...Object.entries(databases ?? {}).flatMap(([name, database]) =>
      storeCounters(`databases.${name}.countedStore`, database.countedStore),
    ),
  ]
}

interface Parts {
  readonly databases: readonly StoreDatabase[]
  readonly stats: Stats
  readonly regions: Regions
}

/** Returns the state of all databases. */
export function databasesOf({
  databases: [first, ...added],
  stats,
}: Omit<Parts, 'regions'>): DatabaseDump & Pick<SandboxDump, 'counted' | 'databases'> {
  const { store, access, functions, countedStore } = databaseDump(first!, stats)
  return {
    store,
    access,
    functions,
    counted: stats.queue.ledger.dump(),
    ...(countedStore !== undefined && { countedStore }),
    ...(added.length > 0 && {
      databases: Object.fromEntries(added.map((database) => [database.name, databaseDump(database, stats)])),
    }),
  }
}

function databaseDump({ name, store, executions }: StoreDatabase, stats: Stats): DatabaseDump {
  const { access, functions } = executions.store
  const countedStore = ledgerOf(stats, name).dump()
  return {
    store: store.dump(),
    access: access.dump(),
    functions: functions.map(portableString),
    ...(countedStore !== undefined && { countedStore }),
  }
}

function ledgerOf(stats: Stats, database: string | undefined): StoreLedger {
  return (database === undefined ? stats.store : stats.storeIn(database)).ledger
}

export function queuesOf({ home, used }: Regions): Pick<SandboxDump, 'queue' | 'regions'> {
  const queue = home.queue.dump()
  const others = used.filter((region) => region !== home).map(({ name, queue }) => [name, queue.dump()] as const)
  return others.length === 0 ? { queue } : { queue, regions: Object.fromEntries(others) }
}

export function loadInto({ databases, stats, regions }: Parts, dump: SandboxDump): void {
  for (const { name, store, executions } of databases) {
    const given = name === undefined ? dump : dump.databases![name]!
    const { store: engine } = executions
    store.load(given.store)
    within('users', () => engine.access.load(given.access, (command) => engine.knows(command, commandTable)))
    within('functions', () => engine.loadFunctions(given.functions.map(bytesOf)))
    if (given.countedStore !== undefined) ledgerOf(stats, name).load(given.countedStore)
  }
  stats.queue.ledger.load(dump.counted)
  regions.home.queue.load(dump.queue)
  for (const name of queueRegions) {
    const given = dump.regions?.[name]
    if (given !== undefined) regions.at(name).queue.load(given)
  }
}

/** A load ignores counters that another version of this package wrote. So check only counters of this version. */
function within(part: string, load: () => void): void {
  try {
    load()
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    throw new TypeError(`The ${part} of the dump cannot be loaded: ${shortened(error.message)}.`)
  }
}
