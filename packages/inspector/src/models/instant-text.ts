import { parseDuration } from '../../../../src/kernel/duration.js'
import { iso } from '../../../../src/kernel/instant.js'

/**
 * Parses a typed instant: a date with a time (in UTC by default), milliseconds, or a duration before now.
 * @returns milliseconds since the Unix epoch, or `undefined` if the text is invalid
 * @example instantOf('-5m', now), instantOf('2030-01-01 09:00', now)
 */
export function instantOf(typed: string, now: number): number | undefined {
  const text = typed.trim()
  if (/^\d{1,16}$/.test(text)) return Number(text)
  const [, back] = /^[-−]\s*(\S+)$/.exec(text) ?? []
  if (back !== undefined) {
    const span = parseDuration(back)
    return span === undefined ? undefined : now - span
  }
  const found = parts.exec(text)
  if (found === null || (found[1] ?? found[2]) === undefined) return undefined
  const [, date = iso(now).slice(0, 10), time = '00:00', zone = 'Z'] = found
  const at = Date.parse(`${date}T${time}${zone}`)
  return Number.isNaN(at) ? undefined : at
}

const parts = /^(\d{4}-\d\d-\d\d)?[T ]*(\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?\s*(Z|[+-]\d\d:\d\d)?$/
