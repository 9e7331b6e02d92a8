/** An instant: milliseconds since the epoch, an ISO text, or a `Date`. */
export type Instant = number | string | Date

/**
 * End of clocks, in milliseconds after and before 1970: the year 128,725.
 * A `Date` supports more than twice as much. The rest is for timers that are scheduled there, so that a dump with them
 * can be loaded.
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
    `${typeof at === 'string' ? JSON.stringify(at) : String(at)} is not a time. Use milliseconds, a Date or a text such as '2030-01-01T09:00:00Z', until the year 128725.`,
  )
}

/** Returns the ISO text of an instant: `2030-01-01T09:00:00.000Z`. */
export function iso(at: number): string {
  return new Date(at).toISOString()
}

/** Returns an instant as a `Date`, for libraries that need one. */
export function dateOf(at: number): Date {
  return new Date(at)
}
