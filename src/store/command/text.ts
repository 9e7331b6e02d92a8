/**
 * Parsing and formatting of numbers, range bounds and index ranges in arguments and replies. All rules are those of
 * redis 7.0.15 unless a comment states another version.
 */
import type { Bytes } from '../../kernel/bytes.js'

const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n
const decimalDigits = /^-?[1-9][0-9]{15,18}$/

/**
 * Parses a signed 64-bit integer in the only form that redis accepts: no sign but `-`, no leading zeros, no blanks.
 * Returns a number if it is exact, otherwise a bigint; `undefined` for other texts.
 */
export function parseInt64(bytes: Bytes): number | bigint | undefined {
  const length = bytes.length
  if (length === 0 || length > 20) return undefined
  let at = 0
  const negative = bytes.charCodeAt(0) === 45
  if (negative) at = 1
  if (length - at > 15) return parseLongInt64(bytes)
  const lead = bytes.charCodeAt(at) - 48
  if (lead === 0) return length === 1 ? 0 : undefined
  // A lone "-" has no next character. `lead` is then NaN, so this check rejects the text, too.
  if (!(lead >= 1 && lead <= 9)) return undefined
  let value = lead
  for (at++; at < length; at++) {
    const digit = bytes.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) return undefined
    value = value * 10 + digit
  }
  return negative ? -value : value
}

function parseLongInt64(bytes: Bytes): number | bigint | undefined {
  if (!decimalDigits.test(bytes)) return undefined
  const value = BigInt(bytes)
  if (value < int64Min || value > int64Max) return undefined
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

const decimalFloat = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/
const hexFloat = /^([+-]?)0[xX](?=\.?[0-9a-fA-F])([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?(?:[pP]([+-]?[0-9]+))?$/
const infinity = /^([+-]?)inf(?:inity)?$/i
/**
 * Matches texts whose value is exactly 0: only zeros before the exponent. If any other text parses to 0, its value is
 * too small for a double.
 */
const nothing = /^[+-]?(?:0[xX][0.]*(?:[pP]|$)|[0.]*(?:[eE]|$))/

/**
 * Parses a double as C's `strtod` does, including hexadecimal and `inf`. Returns `undefined` for NaN, blanks, the empty
 * text, and numbers too large or too small for a double.
 */
export function parseDouble(bytes: Bytes): number | undefined {
  const value = readDouble(bytes)
  if (value === 0) return nothing.test(bytes) ? 0 : undefined
  if (Number.isFinite(value) || infinity.test(bytes)) return value
  return undefined
}

/** Returns NaN if the text is not a number, and an infinity if it is too large for a double. */
function readDouble(text: string): number {
  if (decimalFloat.test(text)) return +text
  const endless = infinity.exec(text)
  if (endless) return endless[1] === '-' ? -Infinity : Infinity
  const hex = hexFloat.exec(text)
  if (!hex) return Number.NaN
  const [, sign, whole = '', fraction = '', exponent = '0'] = hex
  let value = 0
  for (const digit of whole + fraction) value = value * 16 + Number.parseInt(digit, 16)
  value *= 2 ** (Number(exponent) - 4 * fraction.length)
  return sign === '-' ? -value : value
}

/** Formats a score as replies show it: the shortest text that parses to the same double. [store.md 3.4] */
export function formatScore(score: number): Bytes {
  if (score === Infinity) return 'inf' as Bytes
  if (score === -Infinity) return '-inf' as Bytes
  return String(score) as Bytes
}

/** Maximum decimals of INCRBYFLOAT, HINCRBYFLOAT and coordinates. */
const longDecimals = 17

/**
 * Formats a double like the replies of INCRBYFLOAT and HINCRBYFLOAT: without exponent and trailing zeros. The text has
 * as few digits as possible. As in redis, it has at most 17 decimals. [store.md 3.4]
 */
export function formatDecimal(value: number): Bytes {
  const shortest = String(value)
  if (!shortest.includes('e') && decimalsOf(shortest) <= longDecimals) return shortest as Bytes
  const plain = withoutExponent(shortest)
  if (decimalsOf(plain) <= longDecimals) return plain as Bytes
  return withoutTrailingZeros(formatFixed(value, longDecimals)) as Bytes
}

/** Formats a longitude or latitude: its exact value, rounded to 17 decimals, without trailing zeros. [store.md 3.4] */
export function formatCoordinate(degrees: number): Bytes {
  return withoutTrailingZeros(formatFixed(degrees, longDecimals)) as Bytes
}

/** Formats a distance, always with 4 decimals. [store.md 3.4] */
export function formatDistance(distance: number): Bytes {
  return formatFixed(distance, 4) as Bytes
}

/** Formats like C's `%.*f`. Unlike `toFixed`, an exact half is rounded to the even digit. */
function formatFixed(value: number, decimals: number): string {
  const rounded = value.toFixed(decimals)
  // Only an odd multiple of 2^-(decimals+1) is exactly between two texts. `toFixed` rounds all other values correctly.
  if (Math.abs((value * 2 ** (decimals + 1)) % 2) !== 1) return rounded
  const cut = value.toFixed(decimals + 1).slice(0, -1)
  return (cut.charCodeAt(cut.length - 1) & 1) === 0 ? cut : rounded
}

function decimalsOf(plain: string): number {
  const point = plain.indexOf('.')
  return point < 0 ? 0 : plain.length - point - 1
}

function withoutTrailingZeros(fixed: string): string {
  const bare = fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed
  return bare === '-0' ? '0' : bare
}

function withoutExponent(shortest: string): string {
  const [mantissa = '', exponent = '0'] = shortest.split('e')
  const negative = mantissa.startsWith('-')
  const [whole = '', fraction = ''] = (negative ? mantissa.slice(1) : mantissa).split('.')
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  const plain =
    point <= 0
      ? `0.${'0'.repeat(-point)}${digits}`
      : point >= digits.length
        ? digits.padEnd(point, '0')
        : `${digits.slice(0, point)}.${digits.slice(point)}`
  return negative ? `-${plain}` : plain
}

// ---- ranges -----------------------------------------------------------------------------------------------------

/** Range of scores from `min` to `max`; each end can be exclusive. */
export interface ScoreRange {
  readonly min: number
  readonly minExclusive: boolean
  readonly max: number
  readonly maxExclusive: boolean
}

/** Parses bounds such as `(1.5`, `-inf`, `+inf`, `3`; returns `undefined` if either is not a float. */
export function parseScoreRange(min: Bytes, max: Bytes): ScoreRange | undefined {
  const low = parseScoreBound(min)
  const high = parseScoreBound(max)
  if (Number.isNaN(low) || Number.isNaN(high)) return undefined
  return { min: low, minExclusive: min[0] === '(', max: high, maxExclusive: max[0] === '(' }
}

/** Returns NaN if the text is not a bound. Unlike scores, bounds may have leading blanks, be empty (0), or overflow. */
function parseScoreBound(bytes: Bytes): number {
  // Redis reads the bound as C text, which ends at a zero byte.
  const end = bytes.indexOf('\0')
  const text = (end < 0 ? bytes : bytes.slice(0, end)).slice(bytes[0] === '(' ? 1 : 0)
  return text === '' ? 0 : readDouble(text.replace(/^[ \t-\r]+/, ''))
}

/** One end of a lexicographic range: the beginning, the end, or a member. */
export type LexBound = '-' | '+' | { readonly member: Bytes; readonly exclusive: boolean }

export interface LexRange {
  readonly min: LexBound
  readonly max: LexBound
}

/** Parses bounds such as `[a`, `(a`, `-`, `+`; returns `undefined` if either is invalid. */
export function parseLexRange(min: Bytes, max: Bytes): LexRange | undefined {
  const low = parseLexBound(min)
  const high = parseLexBound(max)
  return low === undefined || high === undefined ? undefined : { min: low, max: high }
}

function parseLexBound(bytes: Bytes): LexBound | undefined {
  const kind = bytes[0]
  if (kind === '[' || kind === '(') return { member: bytes.slice(1) as Bytes, exclusive: kind === '(' }
  // Redis reads a bound as C text, so it ignores everything after a zero byte.
  if ((kind === '-' || kind === '+') && (bytes.length === 1 || bytes[1] === '\0')) return kind
  return undefined
}

/** Interval of indexes, including `from` and excluding `to`. Empty if `from >= to`. */
export interface IndexRange {
  readonly from: number
  readonly to: number
}

/**
 * Converts a first and a last index to an interval. Negative indexes count from the end. Indexes outside the sequence
 * are clamped.
 */
export function clampRange(start: number | bigint, stop: number | bigint, length: number): IndexRange {
  let from = Number(start)
  let last = Number(stop)
  if (from < 0) from = Math.max(from + length, 0)
  if (last < 0) last += length
  const to = Math.min(last + 1, length)
  return from < to ? { from, to } : { from: 0, to: 0 }
}
