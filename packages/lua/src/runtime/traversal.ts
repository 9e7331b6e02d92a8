import { hostErrorValue } from './activation.js'
import { checkInt, checkTable } from './library-arguments.js'
import type { LuaFunction, LuaValue, Result } from './lua-value.js'
import { oneNil } from './lua-value.js'

/** The iterators of `pairs` and `ipairs`. A `for` loop recognizes them, and visits the table without calling them. */

export const next: LuaFunction = (...args: LuaValue[]): Result => {
  const table = checkTable(args, 0)
  const key = table.nextKey(args[1])
  if (key === null) throw hostErrorValue("invalid key to 'next'")
  return key === undefined ? oneNil : [key, table.get(key)]
}

/** Iterator of `ipairs`. */
export const nextIndex: LuaFunction = (...args: LuaValue[]): Result => {
  const at = checkInt(args, 1) + 1
  const value = checkTable(args, 0).getNumber(at)
  return value === undefined ? [] : [at, value]
}
