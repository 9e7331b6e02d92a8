import { formatDuration } from '../kernel/duration.js'
import { iso } from '../kernel/instant.js'

/** `2030-01-01`. */
export function dateOf(at: number): string {
  return iso(at).slice(0, -14)
}

/** `09:00:12.000`. */
export function timeOf(at: number): string {
  return iso(at).slice(-13, -1)
}

/** A time as seen from another: the date is only shown when it is another day. */
export function timeSeenFrom(at: number, from: number): string {
  return dateOf(at) === dateOf(from) ? timeOf(at) : `${dateOf(at)} ${timeOf(at)}`
}

/** `+12s`. */
export function since(before: number, at: number): string {
  return `+${formatDuration(at - before)}`
}
