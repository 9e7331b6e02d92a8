import { fromBase64 } from './bytes.js'
import { endOfTime } from './instant.js'
import type { PortableString } from './portable.js'

// What every part of a dump has in common.

/** The farthest a time of a dump may lie from 1970, in milliseconds: the end of clocks, and what was planned there. */
export const farthest: number = endOfTime + 2e15

/** Whether bytes as JSON can be read again. */
export function isPortable(given: unknown): given is PortableString {
  if (typeof given === 'string') return true
  if (typeof given !== 'object' || given === null) return false
  const { base64 } = given as { base64?: unknown }
  return typeof base64 === 'string' && fromBase64(base64) !== undefined
}

/** Why a value was refused, and where it is in the dump. */
export interface DumpProblem {
  readonly place: string | null
  readonly reason: string
}

/** The sentence for an invalid dump. @param of `a sandbox`, `a queue` */
export function invalidDump(of: string, { place, reason }: DumpProblem): TypeError {
  const where = place === null ? '' : `${shortened(place)}: `
  return new TypeError(`This is not a dump of ${of}: load() takes what dump() returned. ${where}${shortened(reason)}`)
}

const most = 300

/** User input may be long or have several lines, and goes into a sentence. */
export function shortened(text: string): string {
  const line = text.slice(0, most).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
  return text.length <= most ? line : `${line} … (${text.length} characters)`
}
