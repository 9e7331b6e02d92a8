import type { Bytes } from '../../kernel/bytes.js'
import { parseNumber } from '../../lua/runtime/number-text.js'
import type { Value } from '../../lua/runtime/value.js'
import { LuaTable } from '../../lua/runtime/value.js'
import type { Command } from '../command/command.js'
import type { Reply } from '../command/reply.js'
import { luaOfReply, tableWith } from './conversion.js'

// What a script sees after `redis.setresp(3)`: our replies are those of RESP2, so the types of RESP3 come from the
// command. [redis 7.0]

const maps = new Set(['HGETALL', 'CONFIG GET', 'XINFO STREAM', 'FUNCTION STATS'])
const sets = new Set(['SMEMBERS', 'SINTER', 'SUNION', 'SDIFF', 'SPOP'])
const doubles = new Set(['ZSCORE', 'ZINCRBY', 'ZADD'])
const doubleLists = new Set(['ZMSCORE'])

export function typedReply(command: Command, argv: readonly Bytes[], reply: Reply): Value {
  const { name } = command
  if (Array.isArray(reply)) {
    if (maps.has(name)) return tableWith('map', pairs(reply))
    if (sets.has(name)) return tableWith('set', members(reply))
    if (doubleLists.has(name)) return list(reply.map(double))
    if (hasScores(argv)) return list(scored(reply))
  } else if (doubles.has(name) && typeof reply === 'string') {
    return double(reply)
  }
  return luaOfReply(reply, true)
}

function list(values: Value[]): LuaTable {
  const table = new LuaTable()
  table.adoptList(values)
  return table
}

function double(reply: Reply): Value {
  return typeof reply === 'string' ? tableWith('double', parseNumber(reply)) : luaOfReply(reply, true)
}

function pairs(reply: readonly Reply[]): LuaTable {
  const table = new LuaTable()
  for (let at = 0; at + 1 < reply.length; at += 2)
    table.set(luaOfReply(reply[at]!, true), luaOfReply(reply[at + 1]!, true))
  return table
}

function members(reply: readonly Reply[]): LuaTable {
  const table = new LuaTable()
  for (const item of reply) table.set(luaOfReply(item, true), true)
  return table
}

/** ZRANGE and the like answer with pairs of member and score. */
function hasScores(argv: readonly Bytes[]): boolean {
  return argv[0]!.charAt(0).toUpperCase() === 'Z' && argv.some((word) => word.toUpperCase() === 'WITHSCORES')
}

function scored(reply: readonly Reply[]): Value[] {
  const items: Value[] = []
  for (let at = 0; at + 1 < reply.length; at += 2) {
    items.push(list([luaOfReply(reply[at]!, true), double(reply[at + 1]!)]))
  }
  return items
}
