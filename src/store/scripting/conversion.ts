import { LuaTable, type LuaValue, preciseText, toInt64 } from '@stuntdouble/lua'
import { type Bytes, latin1, text } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import { deepestReply, NilArray, type Reply, ReplyError, Status, tooDeep } from '../command/reply.js'

// Converts replies to Lua values, and Lua values to replies. [store.md 9.3]

/**
 * Converts a reply to the value that a script sees. With RESP3, a nil reply becomes nil instead of false.
 * `luaOfTypedReply` converts the other RESP3 types.
 */
export function luaOfReply(reply: Reply, isResp3: boolean): LuaValue {
  if (typeof reply === 'string' || typeof reply === 'number') return reply
  if (reply === null || reply instanceof NilArray) return isResp3 ? undefined : false
  if (typeof reply === 'bigint') return Number(reply)
  if (reply instanceof Status) return tableWith('ok', reply.text)
  const table = new LuaTable()
  const list: LuaValue[] = []
  for (const item of reply) list.push(luaOfReply(item, isResp3))
  table.adoptList(list)
  return table
}

export function tableWith(key: string, value: LuaValue): LuaTable {
  const table = new LuaTable()
  table.set(key, value)
  return table
}

/**
 * Creates a table that uses the array without copying it. Scripts may change their KEYS, so no other code may use the
 * array.
 */
export function listOf(values: readonly Bytes[]): LuaTable {
  const table = new LuaTable()
  table.list = values as Bytes[]
  return table
}

/**
 * Units of work for an item of a reply. If a table occurs several times, its items count each time, because the table
 * becomes several arrays.
 */
const unitsPerItem = 4

/**
 * Converts the result of a script to a reply. Inside an array, a table with `err` becomes the text of its error,
 * because the items of an array cannot be errors.
 * @throws ReplyError for a table with `err`, and when the remaining work is not enough for all items
 */
export function replyOfLua(value: LuaValue, work: Work): Reply {
  const error = errorText(value)
  if (error !== undefined) throw new ReplyError(text(latin1(error.replace(/[\r\n]/g, ' '))))
  return toReply(value, 0, work)
}

function errorText(value: LuaValue): string | undefined {
  const error = value instanceof LuaTable && value.hasEntries ? value.getString('err') : undefined
  return typeof error === 'string' ? error : undefined
}

function toReply(value: LuaValue, depth: number, work: Work): Reply {
  switch (typeof value) {
    case 'string':
      return latin1(value)
    case 'number':
      return integerReply(value)
    case 'boolean':
      return value ? 1 : null
  }
  if (!(value instanceof LuaTable)) return null
  if (depth > deepestReply) throw tooDeep()
  return tableReply(value, depth, work)
}

/**
 * Converts a number to an integer reply and drops its fraction. A value beyond 64 bits becomes the smallest 64-bit
 * integer.
 */
function integerReply(value: number): number | bigint {
  return Number.isSafeInteger(value) ? value + 0 : smallest(toInt64(value))
}

function smallest(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function tableReply(table: LuaTable, depth: number, work: Work): Reply {
  // A table without named entries can only be an array.
  if (!table.hasEntries) return listReply(table, depth, work)
  const error = errorText(table)
  if (error !== undefined) return latin1(error)
  const ok = table.getString('ok')
  if (typeof ok === 'string') return new Status(ok.replace(/[\r\n]/g, ' '))
  const double = table.getString('double')
  if (typeof double === 'number') return latin1(preciseText(double))
  const map = table.getString('map')
  if (map instanceof LuaTable) return pairsReply(map, depth, true, work)
  const set = table.getString('set')
  if (set instanceof LuaTable) return pairsReply(set, depth, false, work)
  const bigNumber = table.getString('big_number')
  if (typeof bigNumber === 'string') return latin1(bigNumber.replace(/[\r\n]/g, ' '))
  const verbatim = table.getString('verbatim_string')
  if (verbatim instanceof LuaTable && typeof verbatim.getString('string') === 'string') {
    return latin1(verbatim.getString('string') as string)
  }
  return listReply(table, depth, work)
}

function pairsReply(table: LuaTable, depth: number, withValues: boolean, work: Work): Reply {
  const items: Reply[] = []
  for (const cursor = table.cursor(); cursor.advance(); ) {
    work.charge(2 * unitsPerItem)
    items.push(toReply(cursor.key, depth + 1, work))
    if (withValues) items.push(toReply(cursor.value, depth + 1, work))
  }
  return items
}

/** Converts an array, which ends at its first nil. */
function listReply(table: LuaTable, depth: number, work: Work): Reply {
  const items: Reply[] = []
  for (let at = 1; ; at++) {
    const value = table.getNumber(at)
    if (value === undefined) return items
    work.charge(unitsPerItem)
    items.push(toReply(value, depth + 1, work))
  }
}

/** Formats a number as an argument of a command: the shortest text with that value. [store.md 9.3] */
export function wordOfNumber(value: number): Bytes {
  const isPlain = Number.isInteger(value) && value < 1e17 && value > -1e17 && !Object.is(value, -0)
  return latin1(isPlain ? `${value}` : preciseText(value))
}
