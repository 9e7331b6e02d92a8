import { argumentError, chargeParts, hostErrorValue, longJoin } from './activation.js'
import type { LuaFunction, LuaValue } from './lua-value.js'
import { LuaTable, typeName } from './lua-value.js'
import { readonlyText, textOf, toNumber } from './operations.js'

/**
 * Arguments of a library function. The functions in this file read and check these arguments. Positions count from 0,
 * but from 1 in error messages.
 */
export type Arguments = readonly LuaValue[]

function typeMismatch(args: Arguments, at: number, expected: string): never {
  const actual = at < args.length ? typeName(args[at]) : 'no value'
  throw argumentError(at + 1, `${expected} expected, got ${actual}`)
}

export function checkAny(args: Arguments, at: number): LuaValue {
  if (at >= args.length) throw argumentError(at + 1, 'value expected')
  return args[at]
}

export function checkTable(args: Arguments, at: number): LuaTable {
  const value = args[at]
  return value instanceof LuaTable ? value : typeMismatch(args, at, 'table')
}

export function checkFunction(args: Arguments, at: number): LuaFunction {
  const value = args[at]
  return typeof value === 'function' ? value : typeMismatch(args, at, 'function')
}

/** Returns a string argument. A number is accepted and formatted as `tostring` does. */
export function checkString(args: Arguments, at: number): string {
  const value = args[at]
  if (typeof value === 'string') {
    if (value.length >= longJoin) chargeParts(value)
    return value
  }
  return typeof value === 'number' ? textOf(value) : typeMismatch(args, at, 'string')
}

export function optionalString(args: Arguments, at: number, fallback: string): string {
  return args[at] === undefined ? fallback : checkString(args, at)
}

export function checkNumber(args: Arguments, at: number): number {
  const value = args[at]
  if (typeof value === 'number') return value
  return toNumber(value) ?? typeMismatch(args, at, 'number')
}

/** Returns a number argument as a 64-bit integer. The fraction of the number is removed. */
export function checkInteger(args: Arguments, at: number): number {
  return integer(checkNumber(args, at))
}

export function optionalInteger(args: Arguments, at: number, fallback: number): number {
  return args[at] === undefined ? fallback : checkInteger(args, at)
}

/** Returns a number argument as a 32-bit integer, for functions whose C implementation uses `int`. */
export function checkInt(args: Arguments, at: number): number {
  return toInt(checkNumber(args, at))
}

export function optionalInt(args: Arguments, at: number, fallback: number): number {
  return args[at] === undefined ? fallback : checkInt(args, at)
}

function integer(value: number): number {
  const whole = Math.trunc(value)
  return whole >= -0x8000_0000_0000_0000 && whole < 0x8000_0000_0000_0000 ? whole + 0 : -0x8000_0000_0000_0000
}

function toInt(value: number): number {
  return Number(BigInt.asIntN(32, BigInt(integer(value))))
}

/** Rejects a change of a protected table by a library function such as `rawset`. The error contains no position. */
export function checkWritable(table: LuaTable): void {
  if (table.isReadonly) throw hostErrorValue(readonlyText)
}

/** Creates the table of a library. All machines share the table, so it is read-only. */
export function library(functions: Readonly<Record<string, LuaValue>>): LuaTable {
  const table = new LuaTable()
  for (const [name, value] of Object.entries(functions)) table.set(name, value)
  table.isReadonly = true
  return table
}
