import * as v from 'valibot'
import { invalidDump, isPortable, shortened } from '../kernel/dump-problems.js'
import { endOfTime } from '../kernel/instant.js'
import { bytesOf, type PortableString, portableString } from '../kernel/portable.js'
import { type QueueRegion, queueRegions } from '../protocol/address.js'
import { queueSchema } from '../queue/dump/load-queue.js'
import type { QueueDump } from '../queue/dump/queue-dump.js'
import { areOurs, ledgerSchema, storeLedgerSchema } from '../stats/ledger-schema.js'
import type { Stats } from '../stats/statistics.js'
import type { StoreLedgerDump } from '../stats/store-ledger.js'
import { commandGrid } from '../stats/store-tallies.js'
import type { LedgerDump } from '../stats/tally-book.js'
import { minute } from '../stats/usage-calendar.js'
import type { AccessDump } from '../store/access/access-control.js'
import { ReplyError } from '../store/command/reply.js'
import { commandTable } from '../store/commands/index.js'
import type { Store } from '../store/direct-store.js'
import { storeSchema } from '../store/dump/snapshot-schema.js'
import type { StoreDump } from '../store/dump/store-dump.js'
import { storeInternals } from '../store/store-internals.js'
import type { Regions } from './regions.js'

/**
 * The state of a sandbox as JSON.
 * It does not contain the traffic log or registered code and rules: handlers, scripts, faults, stubs, subscribers, and
 * overrides of statistics.
 */
export interface SandboxDump {
  /** Marker by which `load()` recognizes a dump of a sandbox. */
  readonly format: 'stuntdouble/sandbox'
  /** Format version: 1, or 2 if the second region was used. */
  readonly version: 1 | 2
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
}

const portable = v.custom<PortableString>(isPortable, 'must be a string or { base64: … }')
const token = v.pipe(v.string(), v.minLength(1))

const shape: v.GenericSchema<unknown, SandboxDump> = v.pipe(
  v.object({
    format: v.literal('stuntdouble/sandbox'),
    version: v.picklist([1, 2]),
    seal: v.exactOptional(v.string()),
    now: v.pipe(v.number(), v.minValue(-endOfTime), v.maxValue(endOfTime)),
    loads: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(1e9)),
    store: storeSchema,
    access: v.object({
      tokens: v.object({ standard: token, readOnly: token }),
      key: portable,
      users: v.array(v.object({ name: portable, rules: v.array(portable) })),
    }),
    functions: v.array(portable),
    queue: queueSchema,
    regions: v.exactOptional(v.record(v.picklist(queueRegions), queueSchema)),
    counted: ledgerSchema,
    countedStore: v.exactOptional(storeLedgerSchema),
  }),
  // Code that knows only version 1 ignores `regions`. It would lose the queue of the other region, so a dump with two
  // regions must have version 2.
  v.forward(
    v.check(
      ({ version, regions }) => (version === 2) === (regions !== undefined),
      'version must be 2 if the dump has two regions, otherwise 1',
    ),
    ['version'],
  ),
)

/**
 * Checks a whole dump before any state changes.
 * @param home home region of the loading sandbox
 * @throws TypeError when the dump is invalid
 */
export function checkDump(given: unknown, home?: QueueRegion): asserts given is SandboxDump {
  const parsed = v.safeParse(shape, given)
  if (!parsed.success) {
    const [issue] = parsed.issues
    throw invalidDump('a sandbox', { place: v.getDotPath(issue), reason: issue.message })
  }
  const { now, regions } = parsed.output
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

interface Counters {
  readonly place: string
  /** Length of the intervals in milliseconds. */
  readonly interval: number
  readonly rows: readonly (readonly [number: number, ...unknown[]])[]
}

/** Returns all counters of a dump that a load uses, by the number of their interval. */
function countersOf({ counted, countedStore, now }: SandboxDump): readonly Counters[] {
  const ringsOf = (place: string, { tallies, rings }: LedgerDump): Counters[] =>
    areOurs(tallies) ? rings.map(([interval, rows]) => ({ place: `${place}.rings`, interval, rows })) : []
  if (countedStore === undefined) return ringsOf('counted', counted)
  const { commands, sizes } = countedStore
  return [
    ...ringsOf('counted', counted),
    ...ringsOf('countedStore', countedStore),
    { place: 'countedStore.commands', interval: commandGrid(now).interval, rows: commands },
    { place: 'countedStore.sizes', interval: minute, rows: sizes },
  ]
}

interface Parts {
  readonly store: Store
  readonly stats: Stats
  readonly regions: Regions
}

export function dumpOf({
  store,
  stats,
}: Omit<Parts, 'regions'>): Pick<SandboxDump, 'store' | 'access' | 'functions' | 'counted' | 'countedStore'> {
  const { engine } = storeInternals.of(store)
  const countedStore = stats.store.ledger.dump()
  return {
    store: store.dump(),
    access: engine.access.dump(),
    functions: engine.scripts.libraries.all.map(({ code }) => portableString(code)),
    counted: stats.queue.ledger.dump(),
    ...(countedStore !== undefined && { countedStore }),
  }
}

export function queuesOf({ home, used }: Regions): Pick<SandboxDump, 'queue' | 'regions'> {
  const queue = home.queue.dump()
  const others = used.filter((region) => region !== home).map(({ name, queue }) => [name, queue.dump()] as const)
  return others.length === 0 ? { queue } : { queue, regions: Object.fromEntries(others) }
}

export function loadInto({ store, stats, regions }: Parts, dump: SandboxDump): void {
  const { engine } = storeInternals.of(store)
  store.load(dump.store)
  within('users', () => engine.access.load(dump.access, (name) => engine.knows(name, commandTable)))
  within('functions', () => engine.scripts.libraries.restore(dump.functions.map(bytesOf), 'flush'))
  stats.queue.ledger.load(dump.counted)
  if (dump.countedStore !== undefined) stats.store.ledger.load(dump.countedStore)
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
