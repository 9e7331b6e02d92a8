import { formatDuration } from '../kernel/duration.js'
import { iso } from '../kernel/instant.js'

/** Returns a date such as `2030-01-01`. */
export function dateOf(at: number): string {
  return iso(at).slice(0, -14)
}

/** Returns a time such as `09:00:12.000`. */
export function timeOf(at: number): string {
  return iso(at).slice(-13, -1)
}

/** Formats a time relative to another time. The date is included only if the two times are on different days. */
export function timeSeenFrom(at: number, from: number): string {
  return dateOf(at) === dateOf(from) ? timeOf(at) : `${dateOf(at)} ${timeOf(at)}`
}

/** Returns the duration between two times, such as `+12s`. */
export function since(before: number, at: number): string {
  return `+${formatDuration(at - before)}`
}
