/** A point in time: milliseconds since the Unix epoch, an ISO text, or a `Date`. */
export type Instant = number | string | Date

/**
 * Where clocks end, in milliseconds around 1970: the year 128,725. A `Date` can tell more than twice as much; the rest
 * is room for what a world plans there, so that a dump of it can be loaded.
 */
export const endOfTime = 4e15

/** Milliseconds of an instant given as milliseconds, ISO text or `Date`; misuse throws a sentence with the next step. */
export function instant(at: Instant): number {
  const time = typeof at === 'string' ? Date.parse(at) : Number(at ?? Number.NaN)
  if (Math.abs(time) <= endOfTime) return time
  throw new RangeError(
    `${typeof at === 'string' ? JSON.stringify(at) : String(at)} is not a time: give milliseconds, a Date or a text like '2030-01-01T09:00:00Z', until the year 128725.`,
  )
}

/** `2030-01-01T09:00:00.000Z`. */
export function iso(at: number): string {
  return new Date(at).toISOString()
}

/** The instant as an object, for libraries that ask for one. */
export function dateOf(at: number): Date {
  return new Date(at)
}
