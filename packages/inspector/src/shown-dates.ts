import { iso } from '../../../src/kernel/instant.js'

const furthest = 8.64e15
export const day = 86_400_000

/** Formats a date: `2030-01-01`. */
export function shownDate(at: number): string {
  return Math.abs(at) <= furthest ? iso(at).slice(0, -14) : 'an impossible time'
}

/** Formats a time: `09:00:12.000`. */
export function shownTime(at: number): string {
  return Math.abs(at) <= furthest ? iso(at).slice(-13, -1) : String(at)
}

/** Formats a time. If it is on another day than `from`, the result begins with the date. */
export function shownFrom(at: number, from: number): string {
  return Math.floor(at / day) === Math.floor(from / day) ? shownTime(at) : `${shownDate(at)} ${shownTime(at)}`
}

/** Shortens an ID. Its first characters are enough to distinguish it from other IDs. */
export function shortId(id: string): string {
  return id.length <= 12 ? id : `${id.slice(0, 11)}…`
}
