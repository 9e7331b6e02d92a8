import { once } from './once.js'

/*
 * Functions of `Math` whose results ECMAScript leaves to the engine. V8 and JavaScriptCore differ in the last digit for
 * a tenth of all arguments, and a trace must not. Here they consist of `+ - * /`, `Math.sqrt` and integers, which are
 * exact in every engine. See docs/decisions/portable-math.md.
 *
 * A number of twice the precision is a pair: the nearest double, which functions return, and the remainder, which they
 * leave in `rest[0]`. Its relative error is about 2^-104, and that of a result before it is rounded about 2^-74. So the
 * result is the double that is nearest to the true value, except for about one argument in a million.
 */

const rest = new Float64Array(1)
// An entry of a table overwrites it when it is computed, so functions ask for their entries first.

/** Returns the sum of two pairs. */
function add(a: number, aRest: number, b: number, bRest: number): number {
  const sum = a + b
  const ofB = sum - a
  const error = a - (sum - ofB) + (b - ofB) + (aRest + bRest)
  const result = sum + error
  rest[0] = error - (result - sum)
  return result
}

/** Returns the product of two pairs. None may be beyond 2^996, and the product must not be below 2^-960. */
function multiply(a: number, aRest: number, b: number, bRest: number): number {
  const product = a * b
  // Halves of 26 bits have exact products.
  const splitA = a * 134217729
  const upperA = splitA - (splitA - a)
  const lowerA = a - upperA
  const splitB = b * 134217729
  const upperB = splitB - (splitB - b)
  const lowerB = b - upperB
  const exact = upperA * upperB - product + upperA * lowerB + lowerA * upperB + lowerA * lowerB
  const error = exact + (a * bRest + aRest * b)
  const result = product + error
  rest[0] = error - (result - product)
  return result
}

/** Returns the quotient of two pairs. */
function divide(a: number, aRest: number, b: number, bRest: number): number {
  const quotient = a / b
  const product = multiply(quotient, 0, b, bRest)
  const error = (a - product - rest[0]! + aRest) / b
  const result = quotient + error
  rest[0] = error - (result - quotient)
  return result
}

/** Returns the square root of a pair. */
function root(a: number, aRest: number): number {
  if (a === 0) {
    rest[0] = 0
    return 0
  }
  const value = Math.sqrt(a)
  const square = multiply(value, 0, value, 0)
  const error = (a - square - rest[0]! + aRest) / (2 * value)
  const result = value + error
  rest[0] = error - (result - value)
  return result
}

// ---- constants --------------------------------------------------------------------------------------------------

// Constants are computed when they are first needed: as integers in units of 2^-192, of which a pair has the first 106
// bits.

const bits = 192n
const one = 1n << bits

/** Returns value ± value³/3 + value⁵/5 ± …: the arctangent with the sign −1, the inverse hyperbolic tangent with 1. */
function oddPowers(value: bigint, sign: bigint, unitBits: bigint = bits): bigint {
  const square = (sign * value * value) >> unitBits
  let power = value
  let sum = 0n
  // Shifted to the right, a negative number becomes −1 at last.
  for (let divisor = 1n; power > 0n || power < -1n; divisor += 2n) {
    sum += power / divisor
    power = (power * square) >> unitBits
  }
  return sum
}

function piOf(unitBits: bigint): bigint {
  const unit = 1n << unitBits
  return 16n * oddPowers(unit / 5n, -1n, unitBits) - 4n * oddPowers(unit / 239n, -1n, unitBits)
}

const ln2Of = (): bigint => 2n * oddPowers(one / 3n, 1n)

function pairOf(value: bigint): readonly [number, number] {
  const upper = Number(value)
  return [upper * 2 ** -192, Number(value - BigInt(upper)) * 2 ** -192]
}

const pi = once(() => pairOf(piOf(bits)))
const ln2 = once(() => pairOf(ln2Of()))
const log2OfE = once(() => pairOf((one * one) / ln2Of()))
/** The logarithm of 10 is 3 ln 2 + ln 1.25. */
const log10OfE = once(() => pairOf((one * one) / (3n * ln2Of() + 2n * oddPowers(one / 9n, 1n))))

/** Returns a number in four parts. The first three have 33 bits, so their products with 20 bits are exact. */
function partsOf(value: bigint): readonly number[] {
  const parts: number[] = []
  let left = value
  for (let at = 0; at < 3; at++) {
    const shift = BigInt(left.toString(2).length - 33)
    const part = (left >> shift) << shift
    parts.push(Number(part) * 2 ** -192)
    left -= part
  }
  return [...parts, Number(left) * 2 ** -192]
}

// ---- tables -----------------------------------------------------------------------------------------------------

// Each function needs few terms between two entries of its table. Entries are pairs: a double at an even place, its rest
// behind it. An entry is computed when it is first needed, because most programs need few of them.

/** Numbers of steps: between 1 and 2, in a right angle, and between 0 and 1. */
const octave = 256
const quarter = 1024
const steps = 128

/** A step of `powers` and a step of `sines`, in parts. */
const octaveStep = once(() => partsOf(ln2Of() / BigInt(octave)))
const quarterStep = once(() => partsOf(piOf(bits) / BigInt(2 * quarter)))

/** 2^(at / octave) */
const powers = new Float64Array(2 * octave)

function needPower(at: number): void {
  if (powers[2 * at] !== 0) return
  const [ln2Value, ln2Rest] = ln2()
  const value = multiply(ln2Value, ln2Rest, at / octave, 0)
  sumPowers(value, rest[0]!, 1)
  powers[2 * at] = add(sums[0]!, sums[1]!, sums[2]!, sums[3]!)
  powers[2 * at + 1] = rest[0]!
}

/** sin(at / quarter × π/2) */
const sines = new Float64Array(2 * quarter + 2)

/** Computes the sine of an angle, and with it the sine of the angle that completes it to a right angle. */
function needSine(at: number): void {
  if (sines[2 * (quarter - at)] !== 0) return
  const [piValue, piRest] = pi()
  const value = multiply(piValue, piRest, at / quarter / 2, 0)
  sumPowers(value, rest[0]!, -1)
  sines.set(sums.subarray(0, 2), 2 * (quarter - at))
  sines.set(sums.subarray(2), 2 * at)
}

/** The sums of the even and of the odd powers of `sumPowers`, as pairs. */
const sums = new Float64Array(4)

/** Sums 1 ± x²/2! + x⁴/4! ± … and x ± x³/3! + x⁵/5! ± …: hyperbolic functions with the sign 1, sine and cosine with −1. */
function sumPowers(x: number, xRest: number, sign: 1 | -1): void {
  sums.set([1, 0, 0, 0])
  let term = 1
  let termRest = 0
  for (let at = 1; Math.abs(term) > 2 ** -120; at++) {
    term = multiply(term, termRest, x, xRest)
    term = divide(term, rest[0]!, at % 2 === 0 ? sign * at : at, 0)
    termRest = rest[0]!
    addTo(sums, at % 2, term, termRest)
  }
}

/** ln(at / steps), from half of the steps to one and a half */
const logarithms = new Float64Array(3 * steps + 2)

function needLogarithm(at: number): void {
  if (logarithms[2 * at] !== 0 || at === steps) return
  // ln x = 2 artanh((x − 1) / (x + 1))
  const quotient = divide(at - steps, 0, at + steps, 0)
  sumOddPowers(logarithms, at, quotient, rest[0]!, 1)
}

/** arctan(at / steps) */
const arctangents = new Float64Array(2 * steps + 2)

function needArctangent(at: number): void {
  if (arctangents[2 * at] !== 0 || at === 0) return
  // arctan x = 2 arctan(x / (1 + √(1 + x²)))
  const side = root(steps * steps + at * at, 0)
  const under = add(side, rest[0]!, steps, 0)
  const tangent = divide(at, 0, under, rest[0]!)
  sumOddPowers(arctangents, at, tangent, rest[0]!, -1)
}

/** Stores 2 (x ± x³/3 + x⁵/5 ± …) as an entry. */
function sumOddPowers(table: Float64Array, entry: number, x: number, xRest: number, sign: 1 | -1): void {
  const square = sign * multiply(x, xRest, x, xRest)
  const squareRest = sign * rest[0]!
  let power = 2 * x
  let powerRest = 2 * xRest
  for (let at = 1; Math.abs(power) > 2 ** -120; at += 2) {
    const term = divide(power, powerRest, at, 0)
    addTo(table, entry, term, rest[0]!)
    power = multiply(power, powerRest, square, squareRest)
    powerRest = rest[0]!
  }
}

function addTo(table: Float64Array, entry: number, value: number, valueRest: number): void {
  table[2 * entry] = add(table[2 * entry]!, table[2 * entry + 1]!, value, valueRest)
  table[2 * entry + 1] = rest[0]!
}

// ---- parts that functions share -----------------------------------------------------------------------------------

const bytes = new DataView(new ArrayBuffer(8))

/** Returns 2^exponent for an exponent from -1022 to 1023. */
function powerOf2(exponent: number): number {
  bytes.setInt32(0, (exponent + 1023) << 20)
  bytes.setInt32(4, 0)
  return bytes.getFloat64(0)
}

/** Returns the exponent of the largest power of 2 that is not larger than a positive, finite number. */
export function exponentOf(value: number): number {
  bytes.setFloat64(0, value)
  const exponent = bytes.getInt32(0) >>> 20
  return exponent === 0 ? exponentOf(value * 2 ** 54) - 54 : exponent - 1023
}

/** Returns value × 2^exponent. One power of 2 would overflow before the result does. */
function timesPowerOf2(value: number, exponent: number): number {
  const half = exponent >> 1
  return value * powerOf2(half) * powerOf2(exponent - half)
}

/** Returns a pair between 0.9 and 2.1, times 2^exponent, rounded once. */
function roundedTimesPowerOf2(value: number, valueRest: number, exponent: number): number {
  if (exponent > -1022 || (exponent === -1022 && value >= 1)) return timesPowerOf2(value, exponent)
  // A subnormal number has fewer digits: this addition rounds away those that it lacks.
  const large = powerOf2(-1022 - exponent)
  const sum = large + value
  return timesPowerOf2(sum + (value - (sum - large) + valueRest) - large, exponent)
}

/** Returns a pair without a number of steps. The argument has the parts of one step. */
function minusSteps(value: number, valueRest: number, count: number, parts: readonly number[]): number {
  const first = value - count * parts[0]!
  const second = add(first, valueRest, -count * parts[1]!, -count * parts[3]!)
  return add(second, rest[0]!, -count * parts[2]!, 0)
}

/** Returns value ± value³/3 + value⁵/5 ± … of a pair up to 2^-7. */
function shortOddPowers(value: number, valueRest: number, sign: 1 | -1): number {
  const square = sign * multiply(value, valueRest, value, valueRest)
  const third = multiply(square, sign * rest[0]!, 1 / 3, restOfThird)
  const tail = square * square * (1 / 5 + square * (1 / 7 + square * (1 / 9 + square / 11)))
  const factor = add(third, rest[0]!, tail, 0)
  const correction = multiply(factor, rest[0]!, value, valueRest)
  return add(value, valueRest, correction, rest[0]!)
}

/** A third minus the double that is nearest to it, which is exactly this much too small: 2^-54 / 3. */
const restOfThird = 2 ** -54 / 3

/** Exponent of the last power of e. */
let exponentOfPower = 0

/** Returns e^value / 2^exponentOfPower as a pair between 0.9 and 2.1. The value is a pair up to 750. */
function powerOfE(value: number, valueRest: number): number {
  const rise = riseOf(value, valueRest)
  return add(tablePower, tablePowerRest, rise, rest[0]!)
}

/** Returns e^value − 1 as a pair. The value is up to 100. */
function powerOfEMinus1(value: number): number {
  const rise = riseOf(value, 0)
  const riseRest = rest[0]!
  const scale = powerOf2(exponentOfPower)
  const base = add(tablePower * scale, tablePowerRest * scale, -1, 0)
  return add(base, rest[0]!, rise * scale, riseRest * scale)
}

/** The power of 2 below the last power of e, in the table. */
let tablePower = 1
let tablePowerRest = 0

/** Returns e^value / 2^exponentOfPower − tablePower as a pair. */
function riseOf(value: number, valueRest: number): number {
  const count = Math.round(value * (octave / Math.LN2))
  const x = minusSteps(value, valueRest, count, octaveStep())
  const xRest = rest[0]!
  const entry = count & (octave - 1)
  needPower(entry)
  const square = multiply(x, xRest, x / 2, xRest / 2)
  const cube = x * x * x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * (1 / 720 + x / 5040))))
  const curve = add(square, rest[0]!, cube, 0)
  const slope = add(x, xRest, curve, rest[0]!)
  exponentOfPower = count >> 8
  tablePower = powers[2 * entry]!
  tablePowerRest = powers[2 * entry + 1]!
  return multiply(tablePower, tablePowerRest, slope, rest[0]!)
}

/** Returns the natural logarithm of a positive, finite number as a pair. */
function logarithm(value: number): number {
  let exponent = exponentOf(value)
  let digits = timesPowerOf2(value, -exponent)
  if (digits > Math.SQRT2) {
    digits /= 2
    exponent++
  }
  const at = Math.round(digits * steps)
  needLogarithm(at)
  const near = at / steps
  const sum = add(digits, 0, near, 0)
  const quotient = divide(digits - near, 0, sum, rest[0]!)
  const half = shortOddPowers(quotient, rest[0]!, 1)
  const ofDigits = add(logarithms[2 * at]!, logarithms[2 * at + 1]!, 2 * half, 2 * rest[0]!)
  const ofDigitsRest = rest[0]!
  const [ln2Value, ln2Rest] = ln2()
  const ofExponent = multiply(exponent, 0, ln2Value, ln2Rest)
  return add(ofExponent, rest[0]!, ofDigits, ofDigitsRest)
}

/** Returns the angle of a point in the first quadrant as a pair. The coordinates are pairs from 2^-60 to 2. */
function angle(y: number, yRest: number, x: number, xRest: number): number {
  if (y > x) {
    const other = angle(x, xRest, y, yRest)
    const [piValue, piRest] = pi()
    return add(piValue / 2, piRest / 2, -other, -rest[0]!)
  }
  const at = Math.round((y / x) * steps)
  needArctangent(at)
  const near = at / steps
  const ofX = multiply(x, xRest, near, 0)
  const over = add(y, yRest, -ofX, -rest[0]!)
  const overRest = rest[0]!
  const ofY = multiply(y, yRest, near, 0)
  const under = add(x, xRest, ofY, rest[0]!)
  const tangent = divide(over, overRest, under, rest[0]!)
  const turn = shortOddPowers(tangent, rest[0]!, -1)
  return add(arctangents[2 * at]!, arctangents[2 * at + 1]!, turn, rest[0]!)
}

/** Angles below this are so few steps of the table that their product with a part of a step is exact. */
const fewTurns = 1024

/** Number of steps in the last angle of `withoutSteps`. */
let stepsOfAngle = 0

/** Returns what is left of an angle as a pair after whole steps of the table of sines are subtracted. */
function withoutSteps(value: number): number {
  if (Math.abs(value) < fewTurns) {
    stepsOfAngle = Math.round(value * ((2 * quarter) / Math.PI))
    return minusSteps(value, 0, stepsOfAngle, quarterStep())
  }
  // For the largest angle, this needs the first 1200 binary digits of π.
  const exponent = exponentOf(Math.abs(value)) - 52
  const whole = BigInt(timesPowerOf2(value, -exponent)) << BigInt(1200 + exponent)
  const step = hugePi()[0]! / BigInt(2 * quarter)
  const count = (whole + (value < 0 ? -step : step) / 2n) / step
  stepsOfAngle = Number(BigInt.asIntN(32, count))
  const [left, leftRest] = pairOf((whole - count * step) >> 1008n)
  rest[0] = leftRest
  return left
}

const hugePi = once(() => [piOf(1200n)])

/** Returns the sine of an angle as a pair, after the angle was turned by a number of right angles. */
function sine(value: number, rightAngles: number): number {
  const x = withoutSteps(value)
  const xRest = rest[0]!
  const count = stepsOfAngle + rightAngles * quarter
  const entry = count & (quarter - 1)
  needSine(entry)
  const within = 2 * entry
  const across = 2 * quarter - within
  const quadrant = (count >> 10) & 3
  const isTurned = (quadrant & 1) === 1
  const sign = quadrant < 2 ? 1 : -1
  const start = sign * sines[isTurned ? across : within]!
  const startRest = sign * sines[isTurned ? across + 1 : within + 1]!
  const slopeSign = isTurned ? -sign : sign
  const slope = slopeSign * sines[isTurned ? within : across]!
  const slopeRest = slopeSign * sines[isTurned ? within + 1 : across + 1]!
  // sin(a + x) = sin a + x cos a − (x²/2 − …) sin a − (x³/6 − …) cos a
  const linear = multiply(slope, slopeRest, x, xRest)
  const square = x * x
  const curve = square * (1 / 2 - square * (1 / 24 - square / 720))
  const cube = square * x * (1 / 6 - square * (1 / 120 - square / 5040))
  const turned = add(linear, rest[0]!, -start * curve - slope * cube, 0)
  return add(start, startRest, turned, rest[0]!)
}

// ---- functions --------------------------------------------------------------------------------------------------

/** Below this, an odd function of a number rounds to the number. */
const tiny = 2 ** -27

export function exp(value: number): number {
  if (value > 710) return Number.POSITIVE_INFINITY
  if (value < -746) return 0
  if (!(Math.abs(value) > 2 ** -54)) return 1 + value
  const power = powerOfE(value, 0)
  return roundedTimesPowerOf2(power, rest[0]!, exponentOfPower)
}

export function log(value: number): number {
  return hasLogarithm(value) ? logarithm(value) : otherLogarithm(value)
}

export function log2(value: number): number {
  return hasLogarithm(value) ? logarithmTimes(log2OfE(), value) : otherLogarithm(value)
}

export function log10(value: number): number {
  return hasLogarithm(value) ? logarithmTimes(log10OfE(), value) : otherLogarithm(value)
}

function hasLogarithm(value: number): boolean {
  return value > 0 && value < Number.POSITIVE_INFINITY
}

function logarithmTimes([factor, factorRest]: readonly [number, number], value: number): number {
  const natural = logarithm(value)
  return multiply(natural, rest[0]!, factor, factorRest)
}

function otherLogarithm(value: number): number {
  return value === 0 ? Number.NEGATIVE_INFINITY : value > 0 ? value : Number.NaN
}

export function sin(value: number): number {
  if (Math.abs(value) < tiny) return value
  return Number.isFinite(value) ? sine(value, 0) : Number.NaN
}

export function cos(value: number): number {
  return Number.isFinite(value) ? sine(value, 1) : Number.NaN
}

export function tan(value: number): number {
  if (Math.abs(value) < tiny) return value
  if (!Number.isFinite(value)) return Number.NaN
  const cosine = sine(value, 1)
  const cosineRest = rest[0]!
  const over = sine(value, 0)
  return divide(over, rest[0]!, cosine, cosineRest)
}

export function asin(value: number): number {
  const size = Math.abs(value)
  if (size < tiny) return value
  if (!(size <= 1)) return Number.NaN
  const side = otherSide(size)
  return withSignOf(value, angle(size, 0, side, rest[0]!))
}

export function acos(value: number): number {
  const size = Math.abs(value)
  if (!(size <= 1)) return Number.NaN
  const side = otherSide(size)
  const acute = angle(side, rest[0]!, size, 0)
  return value < 0 ? minusFromPi(acute, rest[0]!) : acute
}

/** Returns √(1 − value²) as a pair. */
function otherSide(value: number): number {
  const less = add(1, 0, -value, 0)
  const lessRest = rest[0]!
  const more = add(1, 0, value, 0)
  const square = multiply(less, lessRest, more, rest[0]!)
  return root(square, rest[0]!)
}

export function atan(value: number): number {
  return Math.abs(value) < tiny ? value : atan2(value, 1)
}

export function atan2(y: number, x: number): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN
  return withSignOf(y, upperAngle(Math.abs(y), Math.abs(x), x < 0 || Object.is(x, -0)))
}

/** Returns the angle of a point in the first quadrant, or of its mirror image in the second. */
function upperAngle(y: number, x: number, isMirrored: boolean): number {
  if (y === x && (y === 0 || y === Number.POSITIVE_INFINITY)) return upperAngle(Math.min(y, 1), 1, isMirrored)
  const slope = y / x
  if (slope < 2 ** -54) return isMirrored ? pi()[0] : slope
  if (slope > 2 ** 60) return pi()[0] / 2
  const exponent = exponentOf(Math.max(x, y))
  const acute = angle(timesPowerOf2(y, -exponent), 0, timesPowerOf2(x, -exponent), 0)
  return isMirrored ? minusFromPi(acute, rest[0]!) : acute
}

function minusFromPi(value: number, valueRest: number): number {
  const [piValue, piRest] = pi()
  return add(piValue, piRest, -value, -valueRest)
}

export function sinh(value: number): number {
  const size = Math.abs(value)
  if (!(size >= tiny)) return value
  if (size > 40) return withSignOf(value, halfPowerOfE(size))
  // (e^x − e^−x) / 2 with u = e^x − 1, which is precise for small x.
  const u = powerOfEMinus1(size)
  const uRest = rest[0]!
  const power = add(u, uRest, 1, 0)
  const part = divide(u, uRest, power, rest[0]!)
  return withSignOf(value, add(u, uRest, part, rest[0]!) / 2)
}

export function cosh(value: number): number {
  const size = Math.abs(value)
  if (Number.isNaN(size)) return size
  if (size > 40) return halfPowerOfE(size)
  const u = powerOfEMinus1(size)
  const power = add(u, rest[0]!, 1, 0)
  const powerRest = rest[0]!
  const inverse = divide(1, 0, power, powerRest)
  return add(power, powerRest, inverse, rest[0]!) / 2
}

/** Returns e^value / 2 of a large number, for which e^−value is too small to matter. */
function halfPowerOfE(value: number): number {
  if (value > 711) return Number.POSITIVE_INFINITY
  return timesPowerOf2(powerOfE(value, 0), exponentOfPower - 1)
}

export function tanh(value: number): number {
  const size = Math.abs(value)
  if (!(size >= tiny)) return value
  if (size > 20) return withSignOf(value, 1)
  const u = powerOfEMinus1(2 * size)
  const uRest = rest[0]!
  const sum = add(u, uRest, 2, 0)
  return withSignOf(value, divide(u, uRest, sum, rest[0]!))
}

function withSignOf(value: number, size: number): number {
  return value < 0 || Object.is(value, -0) ? -size : size
}

/** Returns a power as C's `pow` does: unlike in JavaScript, 1 to any power is 1, and −1 to an infinite power is 1. */
export function pow(base: number, exponent: number): number {
  if (exponent === 0 || base === 1) return 1
  if (exponent === 2) return base * base
  if (Number.isNaN(base) || Number.isNaN(exponent)) return Number.NaN
  const size = Math.abs(base)
  const isOdd = Math.abs(exponent % 2) === 1
  if (base < 0 && Number.isFinite(base) && Number.isFinite(exponent) && !Number.isInteger(exponent)) return Number.NaN
  const result = powerOfSize(size, exponent)
  return isOdd && (base < 0 || Object.is(base, -0)) ? -result : result
}

function powerOfSize(size: number, exponent: number): number {
  if (size === 1) return 1
  const isGrowing = size > 1 === exponent > 0
  if (size === 0 || size === Number.POSITIVE_INFINITY || !Number.isFinite(exponent)) {
    return isGrowing ? Number.POSITIVE_INFINITY : 0
  }
  const natural = logarithm(size)
  const naturalRest = rest[0]!
  const about = natural * exponent
  if (Math.abs(about) < 2 ** -54) return 1
  if (about > 710) return Number.POSITIVE_INFINITY
  if (about < -746) return 0
  const product = multiply(natural, naturalRest, exponent, 0)
  const power = powerOfE(product, rest[0]!)
  const powerRest = rest[0]!
  const isBetween = power + powerRest * (1 + 2 ** -16) !== power || exponentOfPower < -1020
  const exact = isBetween ? exactPower(size, exponent) : undefined
  return exact ?? roundedTimesPowerOf2(power, powerRest, exponentOfPower)
}

/**
 * Returns a power that may be exactly between two doubles. Its pair does not say to which of them it rounds. Returns
 * `undefined` if the power has too many digits for that.
 */
function exactPower(size: number, exponent: number): number | undefined {
  let binary = exponentOf(size) - 52
  let digits = timesPowerOf2(size, -binary)
  while (digits % 2 === 0) {
    digits /= 2
    binary++
  }
  let times = exponent
  while (!Number.isInteger(times)) {
    const side = Math.sqrt(digits)
    if (binary % 2 !== 0 || !Number.isInteger(side)) return undefined
    digits = side
    binary /= 2
    times *= 2
  }
  const shift = binary * times
  if (Math.abs(shift) > 2000 || (digits > 1 && (times < 0 || times > 34))) return undefined
  let power = 1
  for (let at = 0; at < times && digits > 1; at++) {
    // Only the last product may be inexact, because it is then rounded once.
    if (power > 2 ** 53) return undefined
    power *= digits
  }
  return timesPowerOf2(power, shift)
}
