import type { Grid } from './periods.js'
import { Ring, type RingRow } from './rings.js'
import { minute } from './usage-calendar.js'

/** Dump of all counts as JSON. */
export interface LedgerDump {
  /** Names of the tallies. Each row has one sum per tally, in this order. */
  readonly tallies: readonly string[]
  /** Rows of the latest intervals, for each length of an interval in milliseconds. */
  readonly rings: readonly (readonly [interval: number, rows: readonly RingRow[]])[]
}

/**
 * Counters with a name, in rings: one ring per interval length, in which a new interval overwrites the oldest one. The
 * counts of the current minute are added to all rings when the minute is over or a report is requested. So counting
 * takes constant time, and reading a series takes time in proportion to its points.
 */
export class TallyBook<Name extends string> {
  readonly #names: readonly Name[]
  /** Positions of the counters in the list of names. */
  readonly columns: Readonly<Record<Name, number>>
  /** For each interval length in milliseconds, the number of intervals that are kept. */
  readonly #grids: ReadonlyMap<number, number>
  readonly #row: Float64Array
  #minute = Number.NEGATIVE_INFINITY
  #isEmpty = true
  /**
   * Rings by the length of their intervals in milliseconds. They are created at the first count, because most sandboxes
   * never count anything.
   */
  #rings: ReadonlyMap<number, Ring> | undefined

  constructor(names: readonly Name[], grids: ReadonlyMap<number, number>) {
    this.#names = names
    this.#grids = grids
    this.columns = Object.fromEntries(names.map((name, index) => [name, index])) as Record<Name, number>
    this.#row = new Float64Array(names.length)
  }

  count(at: number, name: Name, amount = 1): void {
    this.reach(at)
    this.add(this.columns[name], amount)
  }

  /** Begins the minute that contains an instant, unless it has begun. */
  reach(at: number): void {
    const number = Math.floor(at / minute)
    if (number === this.#minute) return
    this.#close()
    this.#minute = number
  }

  /** Adds to a counter in the current minute, which `reach()` began. @param column position from `columns` */
  add(column: number, amount: number): void {
    this.#row[column]! += amount
    this.#isEmpty = false
  }

  series(name: Name, grid: Grid): number[] {
    this.#close()
    const ring = this.#rings?.get(grid.interval)
    return ring === undefined ? new Array<number>(grid.points).fill(0) : ring.read(this.columns[name], grid)
  }

  dump(): LedgerDump {
    this.#close()
    return {
      tallies: [...this.#names],
      rings: [...(this.#rings ?? [])].map(([interval, ring]) => [interval, ring.dump()] as const),
    }
  }

  /** Adds the counts of a dump. If the dump has other counters than this version, its counts are dropped. */
  load({ tallies, rings }: LedgerDump): void {
    if (tallies.join() !== this.#names.join() || rings.length === 0) return
    this.#close()
    const own = this.#open()
    for (const [interval, rows] of rings) own.get(interval)?.load(rows)
  }

  #open(): ReadonlyMap<number, Ring> {
    this.#rings ??= new Map(
      [...this.#grids].map(([interval, points]) => [interval, new Ring(interval, points, this.#names.length)]),
    )
    return this.#rings
  }

  /**
   * Adds the counts of the current minute to the rings. No count gets into a wrong interval, because every interval
   * begins and ends at a full minute.
   */
  #close(): void {
    if (this.#isEmpty) return
    for (const ring of this.#open().values()) ring.add(this.#minute * minute, this.#row)
    this.#row.fill(0)
    this.#isEmpty = true
  }
}
