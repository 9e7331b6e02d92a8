import { fromBase64 } from './bytes.js'
import { endOfTime } from './instant.js'
import type { PortableString } from './portable.js'

// Functions that the checks of all dumps share.

/**
 * Maximum distance of a time in a dump from 1970, in milliseconds: the last instant of a clock, plus the duration of a
 * timer that is scheduled there.
 */
export const farthest: number = endOfTime + 2e15

/** Returns whether a value is a valid portable string. */
export function isPortable(given: unknown): given is PortableString {
  if (typeof given === 'string') return true
  if (typeof given !== 'object' || given === null) return false
  const { base64 } = given as { base64?: unknown }
  return typeof base64 === 'string' && fromBase64(base64) !== undefined
}

/** Reason why a dump is invalid, with the path of the value. */
export interface DumpProblem {
  readonly place: string | null
  readonly reason: string
}

/** Returns the error for an invalid dump. @param of `a sandbox`, `a queue` */
export function invalidDump(of: string, { place, reason }: DumpProblem): TypeError {
  const where = place === null ? '' : `${shortened(place)}: `
  return new TypeError(`This is not a dump of ${of}: load() takes what dump() returned. ${where}${shortened(reason)}`)
}

const most = 300

/** Shortens a text from user input for an error message, because it may be long or have several lines. */
export function shortened(text: string): string {
  const line = text.slice(0, most).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
  return text.length <= most ? line : `${line} … (${text.length} characters)`
}
