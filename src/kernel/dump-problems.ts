import { fromBase64 } from './bytes.js'
import { endOfTime } from './instant.js'
import type { PortableString } from './portable.js'

/**
 * Farthest time that a dump may contain, in milliseconds before or after 1970. This is the last instant of a clock,
 * plus the duration of a timer that starts at that instant.
 */
export const farthest: number = endOfTime + 2e15

export function isPortable(given: unknown): given is PortableString {
  if (typeof given === 'string') return true
  if (typeof given !== 'object' || given === null) return false
  const { base64 } = given as { base64?: unknown }
  return typeof base64 === 'string' && fromBase64(base64) !== undefined
}

/** Reason why a dump is invalid, with the path of the invalid value. */
export interface DumpProblem {
  readonly place: string | null
  readonly reason: string
}

/** Returns the error for an invalid dump. @param of noun for what was dumped, such as `a sandbox` or `a queue` */
export function invalidDump(of: string, { place, reason }: DumpProblem): TypeError {
  const where = place === null ? '' : `${shortened(place)}: `
  return new TypeError(
    `This is not a dump of ${of}: load() accepts only results of dump(). ${where}${shortened(reason)}`,
  )
}

const most = 300

/** Shortens a text from user input for an error message, because it may be long or have several lines. */
export function shortened(text: string): string {
  const line = text.slice(0, most).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
  return text.length <= most ? line : `${line} … (${text.length} characters)`
}
