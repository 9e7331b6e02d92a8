/*
 * Functions of `Math` with some hundred binary digits, rounded once: what a correct result is, by slow series that share
 * nothing with src/kernel/portable-math.ts. Numbers are integers in units of 2^-digits. A function returns `undefined`
 * where it has too few digits, or where the result is none of a series.
 */

const digits = 400
/** For results as small as the smallest double, and for angles as large as the largest. */
const manyDigits = 1600

/** Returns a double as an integer times a power of 2. */
function partsOf(value: number): { readonly integer: bigint; readonly exponent: number } {
  let integer = value
  let exponent = 0
  while (!Number.isInteger(integer)) {
    integer *= 2
    exponent--
  }
  return { integer: BigInt(integer), exponent }
}

function shifted(value: bigint, by: number): bigint {
  return by < 0 ? value >> BigInt(-by) : value << BigInt(by)
}

function fixed(value: number, unit = digits): bigint {
  const { integer, exponent } = partsOf(value)
  return shifted(integer, unit + exponent)
}

/** Returns the double that is nearest to value × 2^exponent. Of two that are equally near, it is the even one. */
function rounded(value: bigint, exponent: number): number {
  if (value < 0n) return -rounded(-value, exponent)
  const dropped = Math.max(value.toString(2).length - 53, -1074 - exponent)
  let kept = shifted(value, -dropped)
  const rest = value - shifted(kept, dropped)
  if (dropped > 0) {
    const half = 1n << BigInt(dropped - 1)
    if (rest > half || (rest === half && kept % 2n === 1n)) kept += 1n
  }
  let result = Number(kept)
  for (let at = exponent + dropped; at > 0; at--) result *= 2
  for (let at = exponent + dropped; at < 0; at++) result /= 2
  return result
}

function root(value: bigint): bigint {
  if (value < 2n) return value
  let guess = 1n << BigInt((value.toString(2).length + 1) >> 1)
  for (;;) {
    const next = (guess + value / guess) >> 1n
    if (next >= guess) return guess
    guess = next
  }
}

function exp(value: bigint, unit: number): bigint {
  const [u, halvings, more] = [BigInt(unit), 32n, 128n]
  const small = value << (more - halvings)
  let sum = 0n
  let term = 1n << (u + more)
  for (let at = 1n; term !== 0n && term !== -1n; at++) {
    sum += term
    term = ((term * small) >> (u + more)) / at
  }
  for (let at = 0n; at < halvings; at++) sum = (sum * sum) >> (u + more)
  return sum >> more
}

/** By Newton's method, as the inverse of `exp`. */
function log(value: number, unit = digits): bigint {
  let binary = 0
  let near = value
  for (; near >= 2; near /= 2) binary++
  for (; near < 1; near *= 2) binary--
  const whole = fixed(near, unit)
  let result = fixed(Math.log(near), unit)
  for (let at = 0; at < 4; at++) {
    const power = exp(result, unit)
    result += ((whole - power) << BigInt(unit + 1)) / (whole + power)
  }
  return result + BigInt(binary) * ln2(unit)
}

const cached = new Map<string, bigint>()

function once(name: string, unit: number, make: () => bigint): bigint {
  const known = cached.get(name + unit) ?? make()
  cached.set(name + unit, known)
  return known
}

function ln2(unit: number): bigint {
  return once('ln2', unit, () => {
    let sum = 0n
    for (let at = 1; at <= unit + 8; at++) sum += (1n << BigInt(unit + 16)) / (BigInt(at) << BigInt(at))
    return sum >> 16n
  })
}

/** By the arithmetic-geometric mean of Gauss and Legendre. */
function pi(unit: number): bigint {
  return once('pi', unit, () => {
    const u = BigInt(unit + 64)
    const one = 1n << u
    let [a, b, t, p] = [one, root(one << (u - 1n)), one >> 2n, 1n]
    while (a - b > 1n || b - a > 1n) {
      const next = (a + b) >> 1n
      b = root(a * b)
      t -= (p * (a - next) * (a - next)) >> u
      a = next
      p *= 2n
    }
    return (((a + b) * (a + b)) / (4n * t)) >> 64n
  })
}

/** Returns the sine of an angle that was turned by a number of right angles. */
function sine(value: number, rightAngles: bigint): bigint {
  const unit = Math.abs(value) > 2 ** 30 ? manyDigits : digits
  const turn = 2n * pi(unit)
  const reduced = (fixed(value, unit) + (rightAngles * turn) / 4n) % turn
  const angle = reduced >> BigInt(unit - digits)
  const square = (angle * angle) >> BigInt(digits)
  let sum = 0n
  let term = angle
  for (let at = 2n; term !== 0n && term !== -1n; at += 2n) {
    sum += term
    term = -((term * square) >> BigInt(digits)) / (at * (at + 1n))
  }
  return sum
}

/** By halving the angle until the series is short. */
function arctangent(y: bigint, x: bigint): bigint {
  if (x < 0n) return (y < 0n ? -pi(digits) : pi(digits)) - arctangent(y, -x)
  if (y < 0n) return -arctangent(-y, x)
  if (y > x) return pi(digits) / 2n - arctangent(x, y)
  const one = 1n << BigInt(digits)
  let value = (y << BigInt(digits)) / x
  for (let at = 0; at < 12; at++) value = (value * one) / (one + root(one * one + value * value))
  const square = (value * value) >> BigInt(digits)
  let sum = 0n
  let power = value
  for (let at = 1n; power !== 0n && power !== -1n; at += 2n) {
    sum += power / at
    power = -((power * square) >> BigInt(digits))
  }
  return sum << 12n
}

const round = (value: bigint): number => rounded(value, -digits)
const one = 1n << BigInt(digits)
const isTiny = (value: number): boolean => Math.abs(value) < 2 ** -150

function odd(of: (value: number) => bigint): (value: number) => number | undefined {
  return (value) => (isTiny(value) ? undefined : round(of(value)))
}

function positive(of: (value: number) => bigint): (value: number) => number | undefined {
  return (value) => (value > 0 ? round(of(value)) : undefined)
}

/** Larger results are infinite, smaller ones are 0. */
const limited = (value: number): number => Math.max(-1000, Math.min(1000, value))

function power(natural: bigint, unit: number): number {
  const [more, most] = [manyDigits, 1000n << BigInt(unit)]
  const value = natural > most ? most : natural < -most ? -most : natural
  return rounded(exp(shifted(value, more - unit), more), -more)
}

function pow(base: number, exponent: number): number | undefined {
  if (base === 0 || exponent === 0 || (base < 0 && !Number.isInteger(exponent))) return undefined
  const sign = base < 0 && exponent % 2 !== 0 ? -1 : 1
  let { integer, exponent: binary } = partsOf(Math.abs(base))
  let times = exponent
  // An exact square root, as often as the exponent needs it.
  for (; !Number.isInteger(times); times *= 2) {
    if (binary % 2 !== 0) [integer, binary] = [integer * 2n, binary - 1]
    const side = root(integer)
    if (side * side !== integer) return power((fixed(exponent) * log(Math.abs(base))) >> BigInt(digits), digits)
    ;[integer, binary] = [side, binary / 2]
  }
  if (times > 0 && times < 200) return sign * rounded(integer ** BigInt(times), binary * times)
  return sign * power((fixed(exponent) * log(Math.abs(base))) >> BigInt(digits), digits)
}

const withinOne = (of: (value: number) => bigint) => (value: number) =>
  Math.abs(value) > 1 || isTiny(value) ? undefined : round(of(value))
const side = (value: number): bigint => root(one * one - fixed(value) ** 2n)
const bothPowers = (value: number): [bigint, bigint] => {
  const grown = exp(fixed(limited(value)), digits)
  return [grown, exp(fixed(limited(-value)), digits)]
}

export const exactly = {
  exp: (value: number) => power(fixed(limited(value)), digits),
  log: positive(log),
  log2: positive((value) => (log(value) << BigInt(digits)) / ln2(digits)),
  log10: positive((value) => (log(value) << BigInt(digits)) / log(10)),
  sin: odd((value) => sine(value, 0n)),
  cos: (value: number) => round(sine(value, 1n)),
  tan: odd((value) => (sine(value, 0n) << BigInt(digits)) / sine(value, 1n)),
  asin: withinOne((value) => arctangent(fixed(value), side(value))),
  acos: withinOne((value) => arctangent(side(value), fixed(value))),
  atan: odd((value) => arctangent(fixed(value), one)),
  atan2: (y: number, x: number) =>
    isTiny(y / x) || isTiny(y) || isTiny(x) ? undefined : round(arctangent(fixed(y), fixed(x))),
  sinh: odd((value) => {
    const [grown, shrunk] = bothPowers(value)
    return (grown - shrunk) / 2n
  }),
  cosh: (value: number) => {
    const [grown, shrunk] = bothPowers(value)
    return round((grown + shrunk) / 2n)
  },
  tanh: odd((value) => {
    const [grown, shrunk] = bothPowers(value)
    return ((grown - shrunk) << BigInt(digits)) / (grown + shrunk)
  }),
  pow,
}
