import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { isWhole, wholeNumber } from './json-text.js'
import { Float } from './json-value.js'

export type JsonNumber = number | bigint | Float

/**
 * Adds numbers. The sum of two integers is an integer if it fits into 64 bits, signed or unsigned, like integers in
 * documents. Otherwise the sum is a float, or `undefined` if the sum is infinite. [store.md, facts found later]
 */
export function addNumbers(a: JsonNumber, b: JsonNumber): JsonNumber | undefined {
  return combine(
    a,
    b,
    (x, y) => x + y,
    (x, y) => x + y,
  )
}

/** Multiplies numbers by the rules of {@link addNumbers}. */
export function multiplyNumbers(a: JsonNumber, b: JsonNumber): JsonNumber | undefined {
  return combine(
    a,
    b,
    (x, y) => x * y,
    (x, y) => x * y,
  )
}

function combine(
  a: JsonNumber,
  b: JsonNumber,
  exact: (x: bigint, y: bigint) => bigint,
  rounded: (x: number, y: number) => number,
): JsonNumber | undefined {
  if (typeof a === 'number' && typeof b === 'number') {
    const result = rounded(a, b)
    // Adding 0 avoids a negative zero, which would be formatted as a float.
    if (Number.isSafeInteger(result)) return result + 0
  }
  if (!(a instanceof Float) && !(b instanceof Float)) {
    const result = exact(BigInt(a), BigInt(b))
    if (isWhole(result)) return wholeNumber(result)
  }
  return toFloat(rounded(toDouble(a), toDouble(b)))
}

function toDouble(value: JsonNumber): number {
  return value instanceof Float ? value.value : Number(value)
}

function toFloat(value: number): Float | undefined {
  return Number.isFinite(value) ? new Float(value, floatText(value)) : undefined
}

/**
 * Returns the shortest text that parses to the same double, in the format of serde_json: always with a point or an
 * exponent, and an exponent from 1e16 up and below 1e-5. [RedisJSON src]
 */
export function floatText(value: number): Bytes {
  if (value === 0) return latin1(Object.is(value, -0) ? '-0.0' : '0.0')
  const [, sign = '', first = '', rest = '', power = ''] =
    /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(value.toExponential()) ?? []
  const digits = first + rest
  const exponent = Number(power)
  if (exponent >= 16 || exponent < -5) return latin1(`${sign}${first}${rest && `.${rest}`}e${exponent}`)
  if (exponent < 0) return latin1(`${sign}0.${'0'.repeat(-exponent - 1)}${digits}`)
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return latin1(`${sign}${whole}.${digits.slice(exponent + 1) || '0'}`)
}
