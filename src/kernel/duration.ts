/** A duration: milliseconds as a number, or a text such as `'90s'`, `'500ms'`, `'1d10h30m'` or `'2w'`. */
export type Duration = number | DurationText
/** A duration with its unit: `'90s'`, `'500ms'`, `'1d10h30m'`. */
export type DurationText = `${number}${DurationUnit}` | `${number}${DurationUnit}${number}${string}`
export type DurationUnit = 'ms' | 's' | 'm' | 'h' | 'd' | 'w' | 'mo' | 'y'

const shownUnits: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }
/**
 * Milliseconds per unit. A month has 30 days and a year 365. This package chose this; public sources leave it open.
 * [queue.md, last section]
 */
const unitMilliseconds: Readonly<Record<string, number>> = {
  ...shownUnits,
  w: 604_800_000,
  mo: 2_592_000_000,
  y: 31_536_000_000,
}
const part = /(\d+(?:\.\d+)?)(ms|mo|[smhdwy])/y

/**
 * Returns the milliseconds of a duration text, or `undefined` if it is invalid. Units can have any order, and decimals
 * are allowed.
 */
export function parseDuration(text: string): number | undefined {
  part.lastIndex = 0
  let sum = 0
  while (part.lastIndex < text.length) {
    const match = part.exec(text)
    if (!match) return undefined
    sum += Number(match[1]) * unitMilliseconds[match[2]!]!
  }
  return text === '' ? undefined : sum
}

/**
 * Returns the milliseconds of a duration.
 * @throws RangeError when the duration is invalid; the message suggests a valid text
 */
export function milliseconds(duration: Duration): number {
  const parsed: unknown = typeof duration === 'string' ? parseDuration(duration) : duration
  if (typeof parsed === 'number' && Number.isFinite(parsed) && parsed >= 0) return parsed
  const given = typeof duration === 'number' ? String(duration) : (JSON.stringify(duration) ?? String(duration))
  throw new RangeError(
    `${given} is not a duration. Use ${meant(given) ?? "milliseconds or a text such as '90s', '5m' or '1d10h30m'"}.`,
  )
}

/** Matches units that are written in full: `5 minutes`, `10 Secs`. */
const writtenOut = /^"\s*([\d.]+)\s*(milli|ms|mo|[smhdwy])[a-z]*\s*"$/i

function meant(given: string): string | undefined {
  const [, amount = '', unit = ''] = writtenOut.exec(given) ?? []
  const text = amount + unit.toLowerCase().replace('milli', 'ms')
  return parseDuration(text) === undefined ? undefined : `'${text}'`
}

/** Returns the shortest exact text: `90_000` → `'1m30s'`, `0` → `'0s'`. */
export function formatDuration(total: number): string {
  if (total < 0) return `-${formatDuration(-total)}`
  let rest = total
  let out = ''
  for (const [unit, size] of Object.entries(shownUnits)) {
    const count = unit === 'ms' ? Math.round(rest * 1000) / 1000 : Math.floor(rest / size)
    if (count > 0) out += `${count}${unit}`
    rest -= count * size
  }
  return out || '0s'
}

const goUnits: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/** Returns the milliseconds of a duration in Go's format, such as `6m5s` or `1.5h`, or `undefined`. */
export function goDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|s|m|h))+$/.test(text)) return undefined
  let sum = 0
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|μs|ms|s|m|h)/g)) {
    sum += Number(count) * goUnits[unit!]!
  }
  return sum
}
