import type { Grid } from './periods.js'
import { Ring } from './rings.js'
import {
  commandGrid,
  type StoreCounter,
  type StoreLevel,
  type StoreTally,
  storeGrids,
  storePoints,
  storeTallies,
} from './store-tallies.js'
import type { LedgerDump } from './tally-book.js'
import { TallyBook } from './tally-book.js'
import { minute } from './usage-calendar.js'

/** Sizes of the data store at several instants: one number for each. */
export interface StoreSizes {
  readonly keys: readonly number[]
  readonly bytes: readonly number[]
}

/** The data store, as its statistics see it. */
export interface ObservedStore {
  /** Returns the sizes at `count` instants from `from` on, `step` milliseconds apart, if only expirations change it. */
  sizes(instants: { readonly from: number; readonly step: number; readonly count: number }): StoreSizes
  /** Returns the number of open connections over the Redis protocol. */
  connections(): number
  /** Returns the number of open MONITOR streams. */
  monitors(): number
}

/** Dump of the counts of the data store as JSON. */
export interface StoreLedgerDump extends LedgerDump {
  /** Number of commands of each name on the latest day, by the number of an interval of 24 minutes since the epoch. */
  readonly commands: readonly (readonly [interval: number, name: string, count: number])[]
  /** Number of keys and bytes at the end of each of the last minutes, by the number of the minute since the epoch. */
  readonly sizes: readonly (readonly [minute: number, keys: number, bytes: number])[]
}

const emptyStore: ObservedStore = {
  sizes: ({ count }) => ({ keys: new Array(count).fill(0), bytes: new Array(count).fill(0) }),
  connections: () => 0,
  monitors: () => 0,
}

const levelColumns: Readonly<Record<StoreLevel, number>> = { keys: 0, bytes: 1, connections: 2 }

/** Commands of one name. */
interface CountedName {
  /** Position of the counter of their kind in `storeTallies`; -1 before the first command after a load. */
  column: number
  /** Number of commands in each interval of the day. */
  readonly counts: Float64Array
}

const [hitsColumn, missesColumn, bytesColumn] = (['hits', 'misses', 'bytes'] as const).map((name) =>
  storeTallies.indexOf(name),
) as [number, number, number]

/**
 * Counts the commands of the data store as they run. [developer-api.md 3] Counting a command takes constant time.
 * Levels, such as the number of keys, are read once per minute: at the first change in a later minute, before it is
 * made. So the state is still that of the end of the minute, except for what has expired since.
 */
export class StoreLedger implements StoreCounter {
  readonly #observed: ObservedStore
  readonly #now: () => number
  readonly #book = new TallyBook(storeTallies, storeGrids)
  /** Commands of each name on the current day. */
  readonly #commands = new Map<string, CountedName>()
  /** Start of the day of `#commands`. */
  #day = Number.NEGATIVE_INFINITY
  /** Number of the current interval of the day. */
  #slot = 0
  readonly #levels = new Ring(minute, storePoints, Object.keys(levelColumns).length)
  /** Present sizes for one report, which reads several levels with the same grid. Reading them visits all keys. */
  #present: { readonly grid: Grid; readonly sizes: StoreSizes } | undefined
  /** Number of the first minute whose levels are not yet kept. `undefined` before the first change. */
  #openMinute: number | undefined

  constructor(now: () => number, observed: ObservedStore = emptyStore) {
    this.#now = now
    this.#observed = observed
  }

  ran(name: string, kind: StoreTally): void {
    const own = this.#named(name)
    if (own.column < 0) own.column = storeTallies.indexOf(kind)
    this.#book.add(own.column, 1)
    own.counts[this.#slot]!++
  }

  #named(name: string): CountedName {
    let own = this.#commands.get(name)
    if (own === undefined) {
      own = { column: -1, counts: new Float64Array(storePoints) }
      this.#commands.set(name, own)
    }
    return own
  }

  lookedUp(hits: number, misses: number): void {
    this.#book.add(hitsColumn, hits)
    this.#book.add(missesColumn, misses)
  }

  transferred(bytes: number): void {
    this.#book.add(bytesColumn, bytes)
  }

  /** Begins a minute: keeps the levels of all minutes that have ended. */
  reach(now: number): void {
    this.#book.reach(now)
    const { from: day, interval } = commandGrid(now)
    if (day !== this.#day) this.#commands.clear()
    this.#day = day
    this.#slot = Math.floor((now - day) / interval)
    const current = Math.floor(now / minute)
    const first = this.#openMinute
    this.#openMinute = current
    if (first === undefined || first >= current) return
    const from = Math.max(first, current - storePoints)
    const { keys, bytes } = this.#observed.sizes({
      from: (from + 1) * minute - 1,
      step: minute,
      count: current - from,
    })
    const connections = this.#observed.connections()
    for (let index = 0; index < keys.length; index++)
      this.#levels.add((from + index) * minute, Float64Array.of(keys[index]!, bytes[index]!, connections))
  }

  get monitors(): number {
    return this.#observed.monitors()
  }

  series(tally: StoreTally, grid: Grid): number[] {
    return this.#book.series(tally, grid)
  }

  levels(level: StoreLevel, grid: Grid): number[] {
    const now = this.#now()
    this.reach(now)
    const values = this.#levels.read(levelColumns[level], grid)
    values[values.length - 1] =
      level === 'connections' ? this.#observed.connections() : this.#sizesIn(grid, now)[level][0]!
    return values
  }

  #sizesIn(grid: Grid, now: number): StoreSizes {
    if (this.#present?.grid !== grid)
      this.#present = { grid, sizes: this.#observed.sizes({ from: now, step: minute, count: 1 }) }
    return this.#present.sizes
  }

  commands(grid: Grid): ReadonlyMap<string, readonly number[]> {
    if (grid.from !== this.#day) return new Map()
    return new Map([...this.#commands].map(([name, { counts }]) => [name, [...counts]]))
  }

  /** Returns the dump, or `undefined` if nothing was counted. */
  dump(): StoreLedgerDump | undefined {
    const now = this.#now()
    this.reach(now)
    const oldest = Math.floor(now / minute) - storePoints
    const sizes = this.#levels
      .dump()
      // A minute without keys needs no row.
      .filter(([number, [keys]]) => number > oldest && keys! > 0)
      .sort(([a], [b]) => a - b)
      .map(([number, [keys, bytes]]) => [number, keys!, bytes!] as const)
    const grid = commandGrid(now)
    const commands = [...this.commands(grid)].flatMap(([name, counts]) =>
      counts.flatMap((count, index) =>
        count === 0 ? [] : [[grid.from / grid.interval + index, name, count] as const],
      ),
    )
    const book = this.#book.dump()
    if (book.rings.length + sizes.length === 0) return undefined
    return { ...book, commands, sizes }
  }

  load(dump: StoreLedgerDump): void {
    const now = this.#now()
    this.#book.load(dump)
    this.reach(now)
    const { from, interval, points } = commandGrid(now)
    for (const [number, name, count] of dump.commands) {
      const index = number - from / interval
      if (index >= 0 && index < points) this.#named(name).counts[index]! += count
    }
    for (const [number, keys, bytes] of dump.sizes) this.#levels.add(number * minute, Float64Array.of(keys, bytes, 0))
    this.reach(now)
  }
}
