/** A point in time: milliseconds since the Unix epoch, an ISO text, or a `Date`. */
export type Instant = number | string | Date

/** Milliseconds of an instant given as milliseconds, ISO text or `Date`; misuse throws a sentence with the next step. */
export function instant(at: Instant): number {
  const time = typeof at === 'string' ? Date.parse(at) : Number(at ?? Number.NaN)
  // What a Date can tell: 100 million days around 1970.
  if (Math.abs(time) <= 8.64e15) return time
  throw new RangeError(
    `${typeof at === 'string' ? JSON.stringify(at) : String(at)} is not a time: give milliseconds, a Date or a text like '2030-01-01T09:00:00Z'.`,
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
