import { iso } from '../../../../src/kernel/instant.js'

const day = 86_400_000

export interface CalendarDay {
  /** Instant at which the day begins, in UTC. */
  readonly at: number
  /** Day of the month, from 1. */
  readonly number: number
}

/** Returns the instant at which the month of `at` begins. */
export function monthOf(at: number): number {
  const midnight = at - modulo(at, day)
  return midnight - (numberOf(midnight) - 1) * day
}

/** Returns the beginning of a later month, or of an earlier one if `count` is negative. */
export function monthAfter(month: number, count: number): number {
  let at = month
  for (let step = 0; step < Math.abs(count); step++) at = monthOf(count > 0 ? at + 32 * day : at - day)
  return at
}

/** Returns the weeks of a month, each from Monday to Sunday. A day of another month is `undefined`. */
export function weeksOf(month: number): readonly (readonly (CalendarDay | undefined)[])[] {
  const next = monthAfter(month, 1)
  const days: (CalendarDay | undefined)[] = Array.from({ length: weekdayOf(month) })
  for (let at = month; at < next; at += day) days.push({ at, number: numberOf(at) })
  while (days.length % 7 > 0) days.push(undefined)
  return Array.from({ length: days.length / 7 }, (_, week) => days.slice(week * 7, week * 7 + 7))
}

/** Formats a month: `2030-01`. */
export function monthName(month: number): string {
  return iso(month).slice(0, -17)
}

function numberOf(midnight: number): number {
  return Number(iso(midnight).slice(-16, -14))
}

/** Returns the number of days since Monday. The first of January 1970 was a Thursday. */
function weekdayOf(midnight: number): number {
  return modulo(midnight / day + 3, 7)
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}
