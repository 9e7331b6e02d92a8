import { call, chargeBytes, hostError } from '../runtime/activation.js'
import {
  checkFunction,
  checkInt,
  checkTable,
  checkWritable,
  library,
  optionalInt,
  optionalString,
} from '../runtime/library-arguments.js'
import type { LuaFunction, LuaTable, LuaValue, Result } from '../runtime/lua-value.js'
import { first, nothing, typeName } from '../runtime/lua-value.js'
import { isTrue, lessThan, textOf } from '../runtime/operations.js'
import { charge } from '../runtime/steps.js'

function concat(...args: LuaValue[]): Result {
  const separator = optionalString(args, 1, '')
  const table = checkTable(args, 0)
  const from = optionalInt(args, 2, 1)
  const to = optionalInt(args, 3, table.length())
  const parts: string[] = []
  let length = 0
  for (let at = from; at <= to; at++) {
    const value = table.getNumber(at)
    if (typeof value === 'string') parts.push(value)
    else if (typeof value === 'number') parts.push(textOf(value))
    else throw hostError(`invalid value (${typeName(value)}) at index ${at} in table for 'concat'`)
    length += (parts[parts.length - 1] as string).length + separator.length
    charge(1)
  }
  chargeBytes(length)
  return parts.join(separator)
}

function insert(...args: LuaValue[]): Result {
  const table = checkTable(args, 0)
  const end = table.length() + 1
  if (args.length !== 2 && args.length !== 3) throw hostError("wrong number of arguments to 'insert'")
  const at = args.length === 2 ? end : checkInt(args, 1)
  const value = args[args.length - 1]
  checkWritable(table)
  if (at >= 1 && at < end && value !== undefined) {
    charge((end - at) >> 6)
    table.list.splice(at - 1, 0, value)
    table.continueList()
    return nothing
  }
  for (let to = Math.max(end, at); to > at; to--) {
    charge(1)
    table.setNumber(to, table.getNumber(to - 1))
  }
  table.setNumber(at, value)
  return nothing
}

function remove(...args: LuaValue[]): Result {
  const table = checkTable(args, 0)
  const end = table.length()
  const at = optionalInt(args, 1, end)
  if (at < 1 || at > end) return nothing
  checkWritable(table)
  const value = table.getNumber(at)
  if (at < end) {
    charge((end - at) >> 6)
    table.list.splice(at - 1, 1)
  } else {
    table.setNumber(end, undefined)
  }
  return value
}

function maxn(...args: LuaValue[]): Result {
  const table = checkTable(args, 0)
  let largest = table.length()
  const cursor = table.cursor()
  while (cursor.advance()) {
    charge(1)
    if (typeof cursor.key === 'number' && cursor.key > largest) largest = cursor.key
  }
  return largest
}

function foreach(...args: LuaValue[]): Result {
  const table = checkTable(args, 0)
  const visit = checkFunction(args, 1)
  const cursor = table.cursor()
  while (cursor.advance()) {
    const result = first(call(visit, cursor.key, cursor.value))
    if (result !== undefined) return result
  }
  return nothing
}

function foreachi(...args: LuaValue[]): Result {
  const table = checkTable(args, 0)
  const visit = checkFunction(args, 1)
  const length = table.length()
  for (let at = 1; at <= length; at++) {
    const result = first(call(visit, at, table.getNumber(at)))
    if (result !== undefined) return result
  }
  return nothing
}

// Sorting.

function sort(...args: LuaValue[]): Result {
  const table = checkTable(args, 0)
  const order = args[1] === undefined ? undefined : checkFunction(args, 1)
  new Sorter(table, order).sort(1, table.length())
  return nothing
}

const noSite = { chunk: '', line: 0, name: undefined, isMethod: false, isTail: false }

/**
 * Quicksort with the median of three as pivot. It takes exactly the steps of the reference implementation, because
 * scripts can observe the order of equal elements and of the calls to the comparison function.
 */
/** Steps for each call of a script's comparison function. The body of the function costs additional steps. */
const callUnits = 6

class Sorter {
  readonly #table: LuaTable
  readonly #order: LuaFunction | undefined

  constructor(table: LuaTable, order: LuaFunction | undefined) {
    this.#table = table
    this.#order = order
  }

  #less(left: LuaValue, right: LuaValue): boolean {
    const order = this.#order
    charge(order === undefined ? 2 : callUnits)
    if (order !== undefined) return isTrue(first(call(order, left, right)))
    return lessThan(left, right, noSite)
  }

  #swap(one: number, two: number): void {
    const table = this.#table
    checkWritable(table)
    const value = table.getNumber(one)
    table.setNumber(one, table.getNumber(two))
    table.setNumber(two, value)
  }

  sort(from: number, to: number): void {
    const table = this.#table
    let low = from
    let high = to
    while (low < high) {
      if (this.#less(table.getNumber(high), table.getNumber(low))) this.#swap(low, high)
      if (high - low === 1) return
      const middle = (low + high) >> 1
      if (this.#less(table.getNumber(middle), table.getNumber(low))) this.#swap(middle, low)
      else if (this.#less(table.getNumber(high), table.getNumber(middle))) this.#swap(middle, high)
      if (high - low === 2) return
      const pivot = table.getNumber(middle)
      this.#swap(middle, high - 1)
      const split = this.#partition(low, high, pivot)
      // Sort the smaller part by recursion. The next iteration sorts the larger part.
      if (split - low < high - split) {
        this.sort(low, split - 1)
        low = split + 1
      } else {
        this.sort(split + 1, high)
        high = split - 1
      }
    }
  }

  #partition(low: number, high: number, pivot: LuaValue): number {
    const table = this.#table
    let up = low
    let down = high - 1
    for (;;) {
      while (this.#less(table.getNumber(++up), pivot)) {
        if (up > high) throw hostError('invalid order function for sorting')
      }
      while (this.#less(pivot, table.getNumber(--down))) {
        if (down < low) throw hostError('invalid order function for sorting')
      }
      if (down < up) break
      this.#swap(up, down)
    }
    this.#swap(high - 1, up)
    return up
  }
}

export const tableLibrary: LuaTable = library({
  concat,
  foreach,
  foreachi,
  getn: (...args: LuaValue[]) => checkTable(args, 0).length(),
  insert,
  maxn,
  remove,
  setn: (...args: LuaValue[]) => {
    checkTable(args, 0)
    throw hostError("'setn' is obsolete")
  },
  sort,
})
