/**
 * Formats and parses numbers as C does. If a number is exactly halfway between two results, JavaScript rounds up and C
 * rounds to even. This module detects such ties.
 */

/** Formats a number with `%.14g`. Lua converts numbers to strings in this way. */
export function numberText(value: number): string {
  if (Number.isInteger(value) && value < 1e14 && value > -1e14) {
    return value === 0 && Object.is(value, -0) ? '-0' : `${value}`
  }
  return generalText(value, 14)
}

/** Formats with `%.<precision>g` without flags. */
export function generalText(value: number, precision: number): string {
  return infiniteText(value) ?? trimmedGeneral(value, precision || 1, false)
}

/**
 * Formats infinities and NaN. JavaScript does not know the sign of NaN. On x86-64, `0/0` gives a negative NaN, which is
 * the usual case.
 */
function infiniteText(value: number): string | undefined {
  if (value === Number.POSITIVE_INFINITY) return 'inf'
  if (value === Number.NEGATIVE_INFINITY) return '-inf'
  return !Number.isNaN(value) ? undefined : '-nan'
}

/** Formats with `%e`, `%f` or `%g` and a precision. `keepZeros` is the flag `#`. */
export function floatText(value: number, letter: string, precision: number, keepZeros: boolean): string {
  const special = infiniteText(value)
  if (special !== undefined) return special
  if (letter === 'f') return fixedText(value, precision) + (keepZeros && precision === 0 ? '.' : '')
  if (letter === 'e') return exponentText(value, precision, keepZeros)
  return trimmedGeneral(value, precision || 1, keepZeros)
}

function sign(value: number): string {
  return value < 0 || Object.is(value, -0) ? '-' : ''
}

function trimmedGeneral(value: number, precision: number, keepZeros: boolean): string {
  if (value === 0) return `${sign(value)}0${keepZeros && precision > 1 ? `.${'0'.repeat(precision - 1)}` : ''}`
  const { digits, exponent } = roundedDigits(Math.abs(value), precision)
  return sign(value) + (keepZeros ? layOut(digits, exponent, precision) : general(digits, exponent, precision))
}

/** Formats with `%g` without trailing zeros. */
function general(digits: string, exponent: number, precision: number): string {
  const short = withoutZeros(digits)
  const isWhole = exponent >= 0 && exponent < precision && short.length <= exponent + 1
  return isWhole ? short.padEnd(exponent + 1, '0') : layOut(short, exponent, precision)
}

function layOut(digits: string, exponent: number, precision: number): string {
  if (exponent < -4 || exponent >= precision) return withExponent(digits, exponent)
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`
  return `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`
}

function withoutZeros(digits: string): string {
  let end = digits.length
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end--
  return digits.slice(0, end)
}

function withExponent(digits: string, exponent: number): string {
  const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits
  const size = Math.abs(exponent)
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${size < 10 ? '0' : ''}${size}`
}

function exponentText(value: number, precision: number, keepZeros: boolean): string {
  if (value === 0) {
    const zeros = precision > 0 ? `.${'0'.repeat(precision)}` : keepZeros ? '.' : ''
    return `${sign(value)}0${zeros}e+00`
  }
  const { digits, exponent } = roundedDigits(Math.abs(value), precision + 1)
  const text = sign(value) + withExponent(digits, exponent)
  return keepZeros && precision === 0 ? text.replace('e', '.e') : text
}

function fixedText(value: number, precision: number): string {
  const size = Math.abs(value)
  if (size === 0) return `${sign(value)}0${precision > 0 ? `.${'0'.repeat(precision)}` : ''}`
  const { digits, scale } = exactDigits(size)
  const rounded = roundAt(digits, digits.length - scale + precision)
  const padded = rounded.padStart(precision + 1, '0')
  const whole = padded.slice(0, padded.length - precision)
  return `${sign(value)}${whole}${precision > 0 ? `.${padded.slice(padded.length - precision)}` : ''}`
}

/** Rounds a positive number to `precision` digits. The result is d.ddd × 10^exponent. */
function roundedDigits(value: number, precision: number): { digits: string; exponent: number } {
  if (precision <= 17) {
    const short = value.toExponential(precision - 1)
    const mark = short.indexOf('e')
    // A number is a tie only if its decimal expansion has exactly `precision + 1` digits. In that case, a text with
    // this many digits is exact.
    if (Number(value.toExponential(precision)) !== value) {
      return { digits: short.slice(0, 1) + short.slice(2, mark), exponent: Number(short.slice(mark + 1)) }
    }
  }
  const exact = exactDigits(value)
  const rounded = roundAt(exact.digits, precision)
  const grown = rounded.length - precision
  return {
    digits: rounded.slice(0, precision),
    exponent: exact.digits.length - exact.scale - 1 + Math.max(grown, 0),
  }
}

/** Returns all digits of a positive finite number: digits × 10^-scale. There are no leading zeros. */
function exactDigits(value: number): { digits: string; scale: number } {
  let scale = 0
  let size = value
  // A multiplication by two is exact. After enough of them, any double is an integer.
  while (!Number.isInteger(size)) {
    size *= 2
    scale++
  }
  return { digits: (BigInt(size) * 5n ** BigInt(scale)).toString(), scale }
}

/** Rounds to the first `count` digits, ties to even. The result can have one digit more, such as `100` for `99.5`. */
function roundAt(digits: string, count: number): string {
  if (count >= digits.length) return digits.padEnd(count, '0')
  if (count < 0) return '0'
  const head = count === 0 ? '0' : digits.slice(0, count)
  const next = digits.charCodeAt(count) - 48
  const isTie = next === 5 && /^0*$/.test(digits.slice(count + 1))
  const isOdd = (head.charCodeAt(head.length - 1) & 1) === 1
  if (next < 5 || (isTie && !isOdd)) return head
  return (BigInt(head) + 1n).toString().padStart(head.length, '0')
}

const decimal = /^[ \t-\r]*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[ \t-\r]*$/
const hexadecimal = /^[ \t-\r]*([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?(?:[pP]([+-]?[0-9]+))?[ \t-\r]*$/
const named = /^[ \t-\r]*([+-]?)(?:(inf(?:inity)?)|nan(?:\([0-9A-Za-z_]*\))?)[ \t-\r]*$/i

/** Returns whether a text consists only of digits, at most 15. Most numbers in a store do. */
function isShortInteger(source: string): boolean {
  const { length } = source
  if (length === 0 || length > 15) return false
  for (let at = 0; at < length; at++) {
    const code = source.charCodeAt(at)
    if (code < 48 || code > 57) return false
  }
  return true
}

/**
 * Parses a number as C's `strtod` does. White space around it is ignored. Returns `undefined` if the text is not a
 * number.
 */
export function parseNumber(source: string): number | undefined {
  if (isShortInteger(source)) return +source
  const zero = source.indexOf('\0')
  const text = zero < 0 ? source : source.slice(0, zero)
  const plain = decimal.exec(text)
  if (plain !== null) return Number(plain[1])
  const hex = hexadecimal.exec(text)
  if (hex !== null) return hexNumber(hex[1]!, hex[2]!, hex[3] ?? '', hex[4])
  const word = named.exec(text)
  if (word === null) return undefined
  const size = word[2] === undefined ? Number.NaN : Number.POSITIVE_INFINITY
  return word[1] === '-' ? -size : size
}

function hexNumber(sign: string, whole: string, fraction: string, exponent: string | undefined): number | undefined {
  if (whole === '' && fraction === '') return undefined
  const digits = BigInt(`0x${whole}${fraction}`)
  // `Number(bigint)` rounds correctly. The multiplication by a power of two is then exact, except if the result is
  // subnormal.
  const power = Math.max(-5000, Math.min(5000, Number(exponent ?? 0))) - 4 * fraction.length
  const value = scale2(Number(digits), power)
  return sign === '-' ? -value : value
}

/** Returns value × 2^power. Intermediate results do not overflow. */
export function scale2(value: number, power: number): number {
  let result = value
  let left = power
  while (left > 1000 && Number.isFinite(result) && result !== 0) {
    result *= 2 ** 1000
    left -= 1000
  }
  while (left < -1000 && result !== 0) {
    result *= 2 ** -1000
    left += 1000
  }
  return result * 2 ** left
}

/** Converts a number to a 64-bit integer as C does on x86-64. A number out of range becomes the lowest integer. */
export function toInt64(value: number): bigint {
  if (!(value > -(2 ** 63) && value < 2 ** 63)) return -0x8000000000000000n
  return BigInt(Math.trunc(value))
}

/**
 * Formats a number in the layout of `%.17g`, but with as few digits as possible. redis-server prints all 17 digits, but
 * the service does not. [store.md 9.3]
 */
export function preciseText(value: number): string {
  const special = infiniteText(value)
  if (special !== undefined) return special
  if (value === 0) return `${sign(value)}0`
  const short = Math.abs(value).toExponential()
  const mark = short.indexOf('e')
  const digits = short.slice(0, 1) + short.slice(2, mark)
  return sign(value) + general(digits, Number(short.slice(mark + 1)), 17)
}
