import type { Arguments } from '../runtime/library-arguments.js'
import { checkNumber, library } from '../runtime/library-arguments.js'
import type { LuaFunction, LuaTable, LuaValue, Result } from '../runtime/lua-value.js'

/**
 * Library `bit`: operations on 32-bit integers. Arguments are rounded to the nearest integer, ties to even, and reduced
 * modulo 2^32. Results are signed.
 */

const double = new Float64Array(1)
const words = new Int32Array(double.buffer)
const lowWord = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 0 : 1

/** Adding this number to a double moves the integer part into the low 32 bits of the mantissa. */
const shift = 6755399441055744

function bits(args: Arguments, at: number): number {
  double[0] = checkNumber(args, at) + shift
  return words[lowWord]!
}

function fold(combine: (one: number, two: number) => number): LuaFunction {
  return (...args: LuaValue[]) => {
    let result = bits(args, 0)
    // After the first argument, the other arguments are checked from the last to the second. If several arguments are
    // invalid, this order decides which argument the error names.
    for (let at = args.length - 1; at > 0; at--) result = combine(result, bits(args, at))
    return result
  }
}

function shifted(compute: (value: number, by: number) => number): LuaFunction {
  return (...args: LuaValue[]) => {
    const value = bits(args, 0)
    return compute(value, bits(args, 1) & 31) | 0
  }
}

function bswap(...args: LuaValue[]): Result {
  const value = bits(args, 0)
  return (value << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24)
}

/**
 * Implements `bit.tohex`. Returns eight digits, or the requested number of digits. A negative number of digits requests
 * upper case.
 */
function tohex(...args: LuaValue[]): Result {
  const value = bits(args, 0)
  const count = args[1] === undefined ? 8 : bits(args, 1)
  const digits = (value >>> 0).toString(16).padStart(8, '0')
  const length = Math.min(Math.abs(count), 8)
  const text = length === 0 ? '' : digits.slice(-length)
  return count < 0 ? text.toUpperCase() : text
}

export const bitLibrary: LuaTable = library({
  arshift: shifted((value, by) => value >> by),
  band: fold((one, two) => one & two),
  bnot: (...args: LuaValue[]) => ~bits(args, 0),
  bor: fold((one, two) => one | two),
  bswap,
  bxor: fold((one, two) => one ^ two),
  lshift: shifted((value, by) => value << by),
  rol: shifted((value, by) => (value << by) | (value >>> (32 - by))),
  ror: shifted((value, by) => (value >>> by) | (value << (32 - by))),
  rshift: shifted((value, by) => value >>> by),
  tobit: (...args: LuaValue[]) => bits(args, 0),
  tohex,
})
