import {
  acos,
  asin,
  atan,
  atan2,
  cos,
  cosh,
  exp,
  exponentOf,
  log,
  log10,
  pow,
  sin,
  sinh,
  tan,
  tanh,
} from '../../../../src/kernel/portable-math.js'
import type { RandomState } from '../runtime/activation.js'
import { argumentError, hostError, vm } from '../runtime/activation.js'
import { checkInt, checkNumber, library } from '../runtime/library-arguments.js'
import type { LuaFunction, LuaTable, LuaValue, Result } from '../runtime/lua-value.js'
import { scale2 } from '../runtime/number-text.js'

function unary(compute: (value: number) => number): LuaFunction {
  return (...args: LuaValue[]) => compute(checkNumber(args, 0))
}

/**
 * Returns a library function with two number arguments. The compiled reference implementation checks the second
 * argument first.
 */
function binary(compute: (one: number, two: number) => number): LuaFunction {
  return (...args: LuaValue[]) => {
    const two = checkNumber(args, 1)
    return compute(checkNumber(args, 0), two)
  }
}

const remainder = binary((one, two) => one % two)

function max(...args: LuaValue[]): Result {
  let result = checkNumber(args, 0)
  for (let at = 1; at < args.length; at++) {
    const value = checkNumber(args, at)
    if (value > result) result = value
  }
  return result
}

function min(...args: LuaValue[]): Result {
  let result = checkNumber(args, 0)
  for (let at = 1; at < args.length; at++) {
    const value = checkNumber(args, at)
    if (value < result) result = value
  }
  return result
}

function modf(...args: LuaValue[]): Result {
  const value = checkNumber(args, 0)
  const whole = Math.trunc(value)
  const fraction = Number.isFinite(value) ? value - whole : 0
  // If the fraction is zero, it has the sign of the value.
  return [whole, Number.isNaN(value) ? value : fraction === 0 && value < 0 ? -0 : fraction]
}

/** Implements `math.frexp`: value = fraction × 2^exponent, with a fraction from 0.5 to less than 1. */
function frexp(...args: LuaValue[]): Result {
  const value = checkNumber(args, 0)
  if (value === 0 || !Number.isFinite(value)) return [value, 0]
  const exponent = exponentOf(Math.abs(value)) + 1
  return [scale2(value, -exponent), exponent]
}

// Random numbers. `math.random` uses the 48-bit generator of `drand48`, as in redis-server, and not the generator of
// the C library.

const maxRandom = 0x7fff_ffff

/** Computes x = x × 0x5DEECE66D + 11 modulo 2^48 and returns the upper 31 bits. */
function draw(): number {
  const { random } = vm.state
  const [low, middle, high] = random
  const product = low * 0xe66d + 0xb
  const second = low * 0xdeec + middle * 0xe66d + Math.floor(product / 0x1_0000)
  const third = low * 0x5 + middle * 0xdeec + high * 0xe66d + Math.floor(second / 0x1_0000)
  random[0] = product & 0xffff
  random[1] = second % 0x1_0000
  random[2] = third % 0x1_0000
  return random[2] * 0x8000 + (random[1] >> 1)
}

function random(...args: LuaValue[]): Result {
  const chance = (draw() % maxRandom) / maxRandom
  if (args.length === 0) return chance
  if (args.length > 2) throw hostError('wrong number of arguments')
  const from = args.length === 1 ? 1 : checkInt(args, 0)
  const to = checkInt(args, args.length - 1)
  if (from > to) throw argumentError(args.length, 'interval is empty')
  return Math.floor(chance * (to - from + 1)) + from
}

/** Implements `math.randomseed`. The lowest 16 bits of the state do not depend on the seed. */
function randomseed(...args: LuaValue[]): Result {
  const seed = checkInt(args, 0)
  vm.state.random[0] = 0x330e
  vm.state.random[1] = seed & 0xffff
  vm.state.random[2] = (seed >>> 16) & 0xffff
  return []
}

/** Returns the state of the random generator when a server starts. Scripts do not reset it. */
export function initialRandom(): RandomState {
  return [0x330e, 0xabcd, 0x1234]
}

export const mathLibrary: LuaTable = library({
  abs: unary(Math.abs),
  acos: unary(acos),
  asin: unary(asin),
  atan: unary(atan),
  atan2: binary(atan2),
  ceil: unary(Math.ceil),
  cos: unary(cos),
  cosh: unary(cosh),
  deg: unary((value) => value / (Math.PI / 180)),
  exp: unary(exp),
  floor: unary(Math.floor),
  fmod: remainder,
  frexp,
  huge: Number.POSITIVE_INFINITY,
  ldexp: (...args: LuaValue[]) => {
    const power = checkInt(args, 1)
    return scale2(checkNumber(args, 0), power)
  },
  log: unary(log),
  log10: unary(log10),
  max,
  min,
  mod: remainder,
  modf,
  pi: Math.PI,
  pow: binary(pow),
  rad: unary((value) => value * (Math.PI / 180)),
  random,
  randomseed,
  sin: unary(sin),
  sinh: unary(sinh),
  sqrt: unary(Math.sqrt),
  tan: unary(tan),
  tanh: unary(tanh),
})
