import { day, dayOf, minute, monthOf } from './usage-calendar.js'

/** Name of the period that a report covers. */
export type StatsPeriod = '1h' | '3h' | '12h' | '1d' | '3d' | '7d' | '30d'

/** Number of points in each period, and the interval between two points in milliseconds. [statistics.md 3.2] */
const periods: Readonly<Record<StatsPeriod, { readonly points: number; readonly interval: number }>> = {
  '1h': { points: 60, interval: minute },
  '3h': { points: 60, interval: 3 * minute },
  '12h': { points: 60, interval: 12 * minute },
  '1d': { points: 60, interval: 24 * minute },
  '3d': { points: 60, interval: 72 * minute },
  '7d': { points: 60, interval: 168 * minute },
  '30d': { points: 240, interval: 180 * minute },
}

/** Period of a report if the request names no period. [statistics.md 1] */
export const defaultPeriod: StatsPeriod = '1h'

export const periodNames: readonly StatsPeriod[] = Object.keys(periods) as StatsPeriod[]

export function isPeriod(name: string): name is StatsPeriod {
  return Object.hasOwn(periods, name)
}

/** Consecutive intervals of equal length. A series has one point for each interval. */
export interface Grid {
  readonly from: number
  readonly interval: number
  readonly points: number
}

/**
 * Returns the intervals of a period whose last interval contains `now`. The start of each interval is a multiple of its
 * length, counted from the epoch. This package chose this; public sources leave it open. [statistics.md 3.2]
 */
export function gridOf(period: StatsPeriod, now: number): Grid {
  const { points, interval } = periods[period]
  const last = Math.floor(now / interval) * interval
  return { from: last - (points - 1) * interval, interval, points }
}

/** Returns the days of the month that contains an instant. [statistics.md 3.1] */
export function monthGrid(now: number): Grid {
  const days = monthOf(now)
  return { from: days[0]! * day, interval: day, points: days.length }
}

/** Returns the last five days, ending today. [statistics.md 3.1] */
export function fiveDayGrid(now: number): Grid {
  return { from: (dayOf(now) - 4) * day, interval: day, points: 5 }
}

/**
 * For each interval length in milliseconds, the maximum number of points in a report. For days it is 31, because a
 * month has at most 31 days.
 */
export const grids: ReadonlyMap<number, number> = new Map([
  ...Object.values(periods).map(({ interval, points }): [number, number] => [interval, points]),
  [day, 31],
])
