import { iso } from '../kernel/instant.js'

export const minute = 60_000
export const day = 86_400_000

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/**
 * Returns the number of the day that contains an instant, counted from the epoch. Days and months begin at midnight
 * UTC. This package chose the time zone; public sources leave it open. [statistics.md 3.1]
 */
export function dayOf(at: number): number {
  return Math.floor(at / day)
}

/** Returns the English name of a day. The first day of the epoch was a Thursday. [statistics.md 3.1] */
export function weekday(dayNumber: number): string {
  return weekdays[(((dayNumber + 4) % 7) + 7) % 7]!
}

/** Returns the numbers, counted from the epoch, of all days of the month that contains an instant. */
export function monthOf(at: number): readonly number[] {
  const [year, month, date] = dateOf(at).split('-').slice(-3).map(Number) as [number, number, number]
  const first = dayOf(at) - (date - 1)
  return Array.from({ length: monthLength(year, month) }, (_, index) => first + index)
}

function monthLength(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

function dateOf(at: number): string {
  return iso(at).slice(0, -14)
}

/**
 * Returns a time such as `2025-10-01 11:33:05.585000000 +0000 UTC`, the format of daily series. The milliseconds are
 * padded to nanoseconds.
 */
export function dailyStamp(at: number): string {
  return `${dateOf(at)} ${iso(at).slice(-13, -1)}000000 +0000 UTC`
}

/** Returns a time such as `2025-10-23 17:34:00.000 +0000 UTC`, the format of series over a period. */
export function periodStamp(at: number): string {
  return `${dateOf(at)} ${iso(at).slice(-13, -1)} +0000 UTC`
}
