/** An instant: milliseconds since the epoch, an ISO text, or a `Date`. */
export type Instant = number | string | Date

/**
 * The last instant of a clock, in milliseconds after 1970: the year 128,725. The first instant is equally far before
 * 1970. A `Date` supports more than twice this range. So a timer that is scheduled near the end also has a valid date,
 * and a dump with this timer can be loaded.
 */
export const endOfTime = 4e15

/**
 * Returns the milliseconds of an instant.
 * @throws RangeError when it is invalid or beyond the year 128,725
 */
export function instant(at: Instant): number {
  const time = typeof at === 'string' ? Date.parse(at) : Number(at ?? Number.NaN)
  if (Math.abs(time) <= endOfTime) return time
  throw new RangeError(
    `${typeof at === 'string' ? JSON.stringify(at) : String(at)} is not a time. Use milliseconds, a Date or a text such as '2030-01-01T09:00:00Z', at latest in the year 128725.`,
  )
}

/** Returns the ISO text of an instant: `2030-01-01T09:00:00.000Z`. */
export function iso(at: number): string {
  return new Date(at).toISOString()
}

export function dateOf(at: number): Date {
  return new Date(at)
}

/**
 * Returns the days since 1970-01-01 in the Gregorian calendar. The calculation counts years from March, so that a leap
 * day is the last day of its year.
 */
export function daysSinceEpoch(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}
