/**
 * The small languages inside arguments and replies: numbers, range bounds and index ranges.
 * All rules are those of redis 7.0.15 unless a line says otherwise.
 */
import type { Bytes } from '../../kernel/bytes.js'

// ---- reading numbers --------------------------------------------------------------------------------------------

const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n
const decimalDigits = /^-?[1-9][0-9]{15,18}$/

/**
 * A signed 64-bit integer written the only way redis accepts: no sign but `-`, no leading zeros, no blanks.
 * A number when it is exact as one, else a bigint; `undefined` when the text is not such an integer.
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
  // Also catches the lone "-", whose next char code is NaN.
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
/** Only zeros before the exponent: the number is 0, not just too small for a double. */
const nothing = /^[+-]?(?:0[xX][0.]*(?:[pP]|$)|[0.]*(?:[eE]|$))/

/**
 * A double as C's `strtod` reads it, hexadecimal and `inf` included. `undefined` for NaN, blanks, the empty text, and
 * numbers too large or too small for a double.
 */
export function parseDouble(bytes: Bytes): number | undefined {
  const value = readDouble(bytes)
  if (value === 0) return nothing.test(bytes) ? 0 : undefined
  if (Number.isFinite(value) || infinity.test(bytes)) return value
  return undefined
}

/** NaN when the text is no number; infinite when it is one that a double cannot hold. */
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

// ---- writing numbers --------------------------------------------------------------------------------------------

/** A score as replies show it: the shortest text that reads back as the same double. [store.md 3.4] */
export function formatScore(score: number): Bytes {
  if (score === Infinity) return 'inf' as Bytes
  if (score === -Infinity) return '-inf' as Bytes
  return String(score) as Bytes
}

/** Decimals that INCRBYFLOAT, HINCRBYFLOAT and coordinates are cut to. */
const longDecimals = 17

/**
 * A double without exponent and without trailing zeros, as INCRBYFLOAT and HINCRBYFLOAT answer. Shortest digits like
 * a score, but never more than 17 decimals, where redis stops too. [store.md 3.4]
 */
export function formatDecimal(value: number): Bytes {
  const shortest = String(value)
  if (!shortest.includes('e') && decimalsOf(shortest) <= longDecimals) return shortest as Bytes
  const plain = withoutExponent(shortest)
  if (decimalsOf(plain) <= longDecimals) return plain as Bytes
  return withoutTrailingZeros(formatFixed(value, longDecimals)) as Bytes
}

/** A longitude or latitude: its exact value, rounded to 17 decimals, without trailing zeros. [store.md 3.4] */
export function formatCoordinate(degrees: number): Bytes {
  return withoutTrailingZeros(formatFixed(degrees, longDecimals)) as Bytes
}

/** A distance: always 4 decimals. [store.md 3.4] */
export function formatDistance(distance: number): Bytes {
  return formatFixed(distance, 4) as Bytes
}

/** C's `%.*f`. It differs from `toFixed` in one point: an exact half goes to the even digit. */
function formatFixed(value: number, decimals: number): string {
  const rounded = value.toFixed(decimals)
  // Only odd multiples of 2^-(decimals+1) lie exactly between two texts.
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

/** Scores from `min` to `max`, either end possibly left out. */
export interface ScoreRange {
  readonly min: number
  readonly minExclusive: boolean
  readonly max: number
  readonly maxExclusive: boolean
}

/** `(1.5`, `-inf`, `+inf`, `3`; `undefined` when either bound is not a float. */
export function parseScoreRange(min: Bytes, max: Bytes): ScoreRange | undefined {
  const low = parseScoreBound(min)
  const high = parseScoreBound(max)
  if (Number.isNaN(low) || Number.isNaN(high)) return undefined
  return { min: low, minExclusive: min[0] === '(', max: high, maxExclusive: max[0] === '(' }
}

/** NaN when it is no bound. Bounds are laxer than scores: leading blanks, nothing at all (0), and overflow pass. */
function parseScoreBound(bytes: Bytes): number {
  // Redis reads the bound as C text, which ends at a zero byte.
  const end = bytes.indexOf('\0')
  const text = (end < 0 ? bytes : bytes.slice(0, end)).slice(bytes[0] === '(' ? 1 : 0)
  return text === '' ? 0 : readDouble(text.replace(/^[ \t-\r]+/, ''))
}

/** One end of a lexicographic range: before everything, after everything, or at a member. */
export type LexBound = '-' | '+' | { readonly member: Bytes; readonly exclusive: boolean }

export interface LexRange {
  readonly min: LexBound
  readonly max: LexBound
}

/** `[a`, `(a`, `-`, `+`; `undefined` when either bound is none of these. */
export function parseLexRange(min: Bytes, max: Bytes): LexRange | undefined {
  const low = parseLexBound(min)
  const high = parseLexBound(max)
  return low === undefined || high === undefined ? undefined : { min: low, max: high }
}

function parseLexBound(bytes: Bytes): LexBound | undefined {
  const kind = bytes[0]
  if (kind === '[' || kind === '(') return { member: bytes.slice(1) as Bytes, exclusive: kind === '(' }
  // Redis looks at the first two bytes as C text, so what follows a zero byte is not seen.
  if ((kind === '-' || kind === '+') && (bytes.length === 1 || bytes[1] === '\0')) return kind
  return undefined
}

/** The half-open index interval that inclusive, possibly negative indexes select; empty when `from >= to`. */
export interface IndexRange {
  readonly from: number
  readonly to: number
}

/** Negative indexes count from the end; what lies outside the sequence is cut off. */
export function clampRange(start: number | bigint, stop: number | bigint, length: number): IndexRange {
  let from = Number(start)
  let last = Number(stop)
  if (from < 0) from = Math.max(from + length, 0)
  if (last < 0) last += length
  const to = Math.min(last + 1, length)
  return from < to ? { from, to } : { from: 0, to: 0 }
}
