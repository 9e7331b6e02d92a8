/** An instant: milliseconds since the epoch, an ISO text, or a `Date`. */
export type Instant = number | string | Date

/**
 * The last instant of a clock, in milliseconds after 1970: the year 128,725. The first instant is as far before 1970.
 * A `Date` supports more than twice this range. The remaining range is for timers that are scheduled near the end, so
 * that a dump with such timers can be loaded.
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
