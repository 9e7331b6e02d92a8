import { load as compileSource } from '../compiler/chunk.js'
import {
  argumentError,
  call,
  enterProtected,
  hostError,
  hostErrorValue,
  LuaError,
  where,
} from '../runtime/activation.js'
import type { Arguments } from '../runtime/library-arguments.js'
import {
  checkAny,
  checkFunction,
  checkInt,
  checkString,
  checkTable,
  checkWritable,
  optionalInt,
  optionalString,
} from '../runtime/library-arguments.js'
import type { LuaFunction, LuaValue, Result } from '../runtime/lua-value.js'
import { first, isMany, LuaTable, nothing, typeName } from '../runtime/lua-value.js'
import { callValue, metamethod, metatable, plainText, toNumber } from '../runtime/operations.js'
import { charge } from '../runtime/steps.js'
import { next, nextIndex } from '../runtime/traversal.js'
import { LuaSyntaxError } from '../syntax/lexer.js'

/** Global functions. `pcall` is that of redis-server, which returns the message of an error table. */
export const base: Readonly<Record<string, LuaFunction>> = {
  assert,
  collectgarbage,
  error,
  gcinfo: () => collected,
  getmetatable,
  ipairs: (...args: LuaValue[]) => [nextIndex, checkTable(args, 0), 0],
  load,
  loadstring,
  next,
  pairs: (...args: LuaValue[]) => [next, checkTable(args, 0), undefined],
  pcall,
  rawequal: (...args: LuaValue[]) => checkAny(args, 0) === checkAny(args, 1),
  rawget,
  rawset,
  select,
  setmetatable,
  tonumber,
  tostring,
  type: (...args: LuaValue[]) => typeName(checkAny(args, 0)),
  unpack,
  xpcall,
}

/**
 * Result of `gcinfo()` and `collectgarbage('count')`, in kilobytes. The machine does not measure its memory, so the
 * number is fixed.
 */
const collected = 64

function assert(...args: LuaValue[]): Result {
  const value = checkAny(args, 0)
  if (value !== undefined && value !== false) return args.length === 1 ? value : args
  throw hostError(args[1] === undefined ? 'assertion failed!' : checkString(args, 1))
}

const collectorOptions: Readonly<Record<string, LuaValue>> = {
  stop: 0,
  restart: 0,
  collect: 0,
  count: collected,
  step: false,
  setpause: 200,
  setstepmul: 200,
}

function collectgarbage(...args: LuaValue[]): Result {
  const option = optionalString(args, 0, 'collect')
  if (!Object.hasOwn(collectorOptions, option)) throw argumentError(1, `invalid option '${option}'`)
  return collectorOptions[option]
}

function error(...args: LuaValue[]): Result {
  const level = optionalInt(args, 1, 1)
  const value = args[0]
  if ((typeof value === 'string' || typeof value === 'number') && level > 0) {
    throw hostErrorValue(where(level) + plainText(value))
  }
  throw hostErrorValue(value)
}

function tostring(...args: LuaValue[]): Result {
  const value = checkAny(args, 0)
  const handler = metamethod(value, '__tostring')
  if (handler === undefined || typeof value === 'string') return plainText(value)
  return first(typeof handler === 'function' ? call(handler, value) : callAny(handler, [value]))
}

/** Calls a function, or a value with the metamethod `__call`. */
function callAny(target: LuaValue, args: Arguments): Result {
  if (typeof target === 'function') return call(target, ...args)
  const handler = metamethod(target, '__call')
  // This value cannot be called. `callValue` throws the error for it.
  if (typeof handler !== 'function') return callValue(unknown, target, args)
  return call(handler, target, ...args)
}

const unknown = {
  site: { chunk: '', line: 0, name: undefined, isMethod: false, isTail: false },
  left: undefined,
  right: undefined,
}

function tonumber(...args: LuaValue[]): Result {
  const radix = optionalInt(args, 1, 10)
  if (radix === 10) {
    const value = checkAny(args, 0)
    return typeof value === 'number' ? value : toNumber(value)
  }
  const text = checkString(args, 0)
  if (radix < 2 || radix > 36) throw argumentError(2, 'base out of range')
  return unsigned(text, radix)
}

/**
 * Parses an unsigned number as C's `strtoul` does. A negative number wraps around, and a number that is too large
 * becomes the largest one.
 */
function unsigned(source: string, radix: number): number | undefined {
  charge(3 * source.length)
  const text = withoutSpace(source.split('\0', 1)[0]!)
  const sign = text.startsWith('-') || text.startsWith('+') ? text.charAt(0) : ''
  const unsignedText = text.slice(sign.length)
  const digits = radix === 16 ? unsignedText.replace(/^0[xX](?=[0-9a-fA-F])/, '') : unsignedText
  if (digits === '') return undefined
  let value = 0n
  for (const digit of digits) {
    const weight = Number.parseInt(digit, 36)
    if (!(weight < radix)) return undefined
    if (value <= largest) value = value * BigInt(radix) + BigInt(weight)
  }
  if (value > largest) return Number(largest)
  return Number(sign === '-' ? BigInt.asUintN(64, -value) : value)
}

const largest = 0xffff_ffff_ffff_ffffn

/** Removes white space at both ends, as C defines it. */
function withoutSpace(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && isSpace(text.charCodeAt(from))) from++
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

function isSpace(char: number): boolean {
  return char === 32 || (char >= 9 && char <= 13)
}

// Tables.

function getmetatable(...args: LuaValue[]): Result {
  const meta = metatable(checkAny(args, 0))
  return meta?.getString('__metatable') ?? meta
}

function setmetatable(...args: LuaValue[]): Result {
  const table = checkTable(args, 0)
  const meta = args[1]
  if (!(meta instanceof LuaTable) && !(meta === undefined && args.length > 1)) {
    throw argumentError(2, 'nil or table expected')
  }
  if (table.meta?.getString('__metatable') !== undefined) throw hostError('cannot change a protected metatable')
  checkWritable(table)
  table.meta = meta
  return table
}

function rawget(...args: LuaValue[]): Result {
  const table = checkTable(args, 0)
  return table.get(checkAny(args, 1))
}

function rawset(...args: LuaValue[]): Result {
  const table = checkTable(args, 0)
  const key = checkAny(args, 1)
  const value = checkAny(args, 2)
  checkWritable(table)
  if (key === undefined) throw hostErrorValue('table index is nil')
  if (Number.isNaN(key)) throw hostErrorValue('table index is NaN')
  table.set(key, value)
  return table
}

// Values.

function select(...args: LuaValue[]): Result {
  if (typeof args[0] === 'string' && args[0].startsWith('#')) return args.length - 1
  let from = checkInt(args, 0)
  if (from < 0) from = args.length + from
  else if (from > args.length) from = args.length
  if (from < 1) throw argumentError(1, 'index out of range')
  return args.slice(from)
}

/**
 * Maximum number of arguments and results of `unpack` together. The C stack of the reference implementation has this
 * limit.
 */
const stackForHost = 8000

function unpack(...args: LuaValue[]): Result {
  const table = checkTable(args, 0)
  const from = optionalInt(args, 1, 1)
  const to = args[2] === undefined ? table.length() : checkInt(args, 2)
  if (from > to) return nothing
  const count = to - from + 1
  if (count + args.length > stackForHost) throw hostError('too many results to unpack')
  if (count > 8) charge(count >> 3)
  const { list } = table
  if (from === 1 && to === list.length) return list.slice()
  const values: LuaValue[] = []
  for (let at = from; at <= to; at++) values.push(table.getNumber(at))
  return values
}

// Errors.

function pcall(...args: LuaValue[]): Result {
  const outcome = enterProtected(() => (args.length === 0 ? callAny(true, []) : callAny(args[0], args.slice(1))))
  if (!(outcome instanceof LuaError)) return succeed(outcome)
  const { value } = outcome
  if (!(value instanceof LuaTable)) return [false, value]
  const inner = value.getString('err')
  return typeof inner === 'string' || typeof inner === 'number' ? [false, inner] : [false, value, inner]
}

function xpcall(...args: LuaValue[]): Result {
  const handler = checkAny(args, 1)
  const outcome = enterProtected(() => callAny(args[0], []))
  if (!(outcome instanceof LuaError)) return succeed(outcome)
  const handled = enterProtected(() => callAny(handler, [outcome.value]))
  return handled instanceof LuaError ? [false, handled.value] : [false, first(handled)]
}

function succeed(result: Result): Result {
  return isMany(result) ? [true, ...result] : [true, result as LuaValue]
}

// Sources.

function loadstring(...args: LuaValue[]): Result {
  const source = checkString(args, 0)
  return compiled(source, optionalString(args, 1, source))
}

function load(...args: LuaValue[]): Result {
  const name = optionalString(args, 1, '=(load)')
  const reader = checkFunction(args, 0)
  let source = ''
  const outcome = enterProtected(() => {
    for (;;) {
      const piece = first(call(reader))
      if (piece === undefined || piece === '') return undefined
      if (typeof piece !== 'string' && typeof piece !== 'number') {
        throw hostError('reader function must return a string')
      }
      source += plainText(piece)
    }
  })
  return outcome instanceof LuaError ? [undefined, outcome.value] : compiled(source, name)
}

function compiled(source: string, name: string): Result {
  charge(4 * source.length)
  try {
    return compileSource(source, name)()
  } catch (problem) {
    if (problem instanceof LuaSyntaxError) return [undefined, problem.message]
    throw problem
  }
}
