import type { Grid } from './periods.js'
import { day, dayOf, minute } from './usage-calendar.js'

/**
 * Names of the counters of the data store. Each command is one of `reads`, `writes`, `scripts` and `others`, by its
 * access-control category. `hits` and `misses` are keys of read commands. [developer-api.md 3]
 */
export const storeTallies = ['reads', 'writes', 'scripts', 'others', 'hits', 'misses', 'bytes'] as const

export type StoreTally = (typeof storeTallies)[number]

/** The counters that add up to the number of commands. */
export const commandTallies = ['reads', 'writes', 'scripts', 'others'] as const

/** A current amount, of which the reports have the value at the end of each minute. */
export type StoreLevel = 'keys' | 'bytes' | 'connections'

/** Number of points of each series that is not daily. This package chose that of the period `1h`. [developer-api.md] */
export const storePoints = 60

/** For each interval length in milliseconds, the number of intervals that reports need. A month has up to 31 days. */
export const storeGrids: ReadonlyMap<number, number> = new Map([
  [minute, storePoints],
  [day, 31],
])

/**
 * Returns the intervals of `command_counts`: the day that contains an instant, in 60 intervals. So the sums over these
 * series equal the number of commands of the day. This package chose it; public sources leave it open.
 */
export function commandGrid(now: number): Grid {
  return { from: dayOf(now) * day, interval: day / storePoints, points: storePoints }
}

/** Source of the numbers in the report of the data store: the ledger, which counts commands, or a script. */
export interface StoreCounter {
  /** Number of open MONITOR streams. */
  readonly monitors: number
  /** Returns the value of one counter in each interval of a grid. */
  series(tally: StoreTally, grid: Grid): number[]
  /** Returns a level at the end of each interval of a grid of minutes, and the present level for the last one. */
  levels(level: StoreLevel, grid: Grid): number[]
  /** Returns the number of commands of each name in each interval of `commandGrid()`. */
  commands(grid: Grid): ReadonlyMap<string, readonly number[]>
}
