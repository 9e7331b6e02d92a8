import { argumentError, chargeBytes, checkLength, hostError } from '../runtime/activation.js'
import type { Arguments } from '../runtime/library-arguments.js'
import { checkInteger, checkNumber, checkString } from '../runtime/library-arguments.js'
import type { LuaValue, Result } from '../runtime/lua-value.js'
import { floatText, toInt64 } from '../runtime/number-text.js'
import { charge } from '../runtime/steps.js'

/** Implements `string.format`: C's printf, one conversion at a time. */
export function format(...args: LuaValue[]): Result {
  const template = checkString(args, 0)
  let text = ''
  let next = 0
  let at = 0
  while (at < template.length) {
    const mark = template.indexOf('%', at)
    if (mark < 0) break
    text += template.slice(at, mark)
    if (template[mark + 1] === '%') {
      text += '%'
      at = mark + 2
      continue
    }
    if (++next >= args.length) throw argumentError(next + 1, 'no value')
    const spec = readSpec(template, mark + 1)
    charge(stepsOfConversion(spec))
    text += convert(spec, args, next)
    at = spec.end
    checkLength(text.length)
  }
  text += template.slice(at)
  chargeBytes(text.length)
  return text
}

/**
 * Returns the steps that a conversion costs. Conversions of floats use exact arithmetic, so each digit costs additional
 * steps.
 */
function stepsOfConversion({ letter, precision = 6, width }: Spec): number {
  return 'eEfgG'.includes(letter) ? 100 + 4 * precision : 16 + (width >> 2)
}

interface Spec {
  readonly flags: string
  readonly width: number
  readonly precision: number | undefined
  readonly letter: string
  readonly end: number
}

function readSpec(template: string, start: number): Spec {
  let at = start
  while ('-+ #0'.includes(template[at] ?? 'x')) at++
  if (at - start >= 6) throw hostError('invalid format (repeated flags)')
  const flags = template.slice(start, at)
  const widthEnd = digits(template, at)
  const width = Number(template.slice(at, widthEnd))
  at = widthEnd
  let precision: number | undefined
  if (template[at] === '.') {
    const end = digits(template, at + 1)
    precision = Number(template.slice(at + 1, end))
    at = end
  }
  if (isDigit(template[at])) throw hostError('invalid format (width or precision too long)')
  // If the template ends after `%`, the reference implementation reads the zero byte after the end as the letter.
  return { flags, width, precision, letter: template[at] ?? '\0', end: at + 1 }
}

function digits(template: string, start: number): number {
  let end = start
  while (end < start + 2 && isDigit(template[end])) end++
  return end
}

function isDigit(char: string | undefined): boolean {
  return char !== undefined && char >= '0' && char <= '9'
}

function convert(spec: Spec, args: Arguments, at: number): string {
  switch (spec.letter) {
    case 'c':
      return character(spec, checkInteger(args, at) & 255)
    case 'd':
    case 'i':
      return signed(spec, toInt64(checkNumber(args, at)))
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      return unsigned(spec, BigInt.asUintN(64, toUnsigned(checkNumber(args, at))))
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
      return float(spec, checkNumber(args, at))
    case 'q':
      return quoted(checkString(args, at))
    case 's':
      return stringArgument(spec, checkString(args, at))
    default:
      throw hostError(`invalid option '%${spec.letter === '\0' ? '' : spec.letter}' to 'format'`)
  }
}

/** Converts a number to an unsigned integer. Numbers from 2^63 to 2^64 keep their value, as in C. */
function toUnsigned(value: number): bigint {
  if (value >= 0x8000_0000_0000_0000 && value < 0x1_0000_0000_0000_0000) return BigInt(Math.trunc(value))
  return value >= 0x1_0000_0000_0000_0000 ? 0n : toInt64(value)
}

function pad({ flags, width }: Spec, text: string): string {
  return flags.includes('-') ? text.padEnd(width) : text.padStart(width)
}

/** Adds the sign or the prefix to the digits, and pads with zeros or blanks. */
function padNumber(spec: Spec, prefix: string, digits: string, mayZero: boolean): string {
  const { flags, width } = spec
  if (mayZero && flags.includes('0') && !flags.includes('-')) {
    return prefix + digits.padStart(width - prefix.length, '0')
  }
  return pad(spec, prefix + digits)
}

function signOf({ flags }: Spec, isNegative: boolean): string {
  if (isNegative) return '-'
  return flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : ''
}

/**
 * Adds leading zeros, because the precision is the minimum number of digits. With precision 0, the number 0 has no
 * digits.
 */
function withPrecision({ precision }: Spec, value: bigint, digits: string): string {
  if (precision === 0 && value === 0n) return ''
  return precision === undefined ? digits : digits.padStart(precision, '0')
}

function signed(spec: Spec, value: bigint): string {
  const size = value < 0n ? -value : value
  const digits = withPrecision(spec, value, size.toString())
  return padNumber(spec, signOf(spec, value < 0n), digits, spec.precision === undefined)
}

function unsigned(spec: Spec, value: bigint): string {
  const { letter, flags } = spec
  let digits = withPrecision(spec, value, value.toString(letter === 'o' ? 8 : letter === 'u' ? 10 : 16))
  let prefix = ''
  if (flags.includes('#')) {
    if (letter === 'o' && !digits.startsWith('0')) digits = `0${digits}`
    if ((letter === 'x' || letter === 'X') && value !== 0n) prefix = '0x'
  }
  const text = padNumber(spec, prefix, digits, spec.precision === undefined)
  return letter === 'X' ? text.toUpperCase() : text
}

function float(spec: Spec, value: number): string {
  const { letter, flags, precision } = spec
  const text = floatText(value, letter.toLowerCase(), precision ?? 6, flags.includes('#'))
  const isNegative = text.startsWith('-')
  const digits = isNegative ? text.slice(1) : text
  const padded = padNumber(spec, signOf(spec, isNegative), digits, Number.isFinite(value))
  return letter === 'E' || letter === 'G' ? padded.toUpperCase() : padded
}

function quoted(text: string): string {
  chargeBytes(text.length * 2)
  let result = '"'
  for (const char of text) {
    if (char === '"' || char === '\\' || char === '\n') result += `\\${char}`
    else if (char === '\r') result += '\\r'
    else if (char === '\0') result += '\\000'
    else result += char
  }
  return `${result}"`
}

/** Formats a character. As in C, the text ends before the first zero byte. The character itself may be that byte. */
function character(spec: Spec, code: number): string {
  return pad(spec, String.fromCharCode(code)).split('\0', 1)[0]!
}

/**
 * Returns the text of a `%s` argument. C cuts the text at a zero byte, but Lua does not pass a long string without a
 * precision to C.
 */
function stringArgument(spec: Spec, text: string): string {
  if (spec.precision === undefined && text.length >= 100) return text
  const zero = text.indexOf('\0')
  const visible = zero < 0 ? text : text.slice(0, zero)
  return pad(spec, spec.precision === undefined ? visible : visible.slice(0, spec.precision))
}
