import { LuaTable, type LuaValue, parseNumber } from '@stuntdouble/lua'
import type { Bytes } from '../../kernel/bytes.js'
import type { CommandDescription } from '../command/command-description.js'
import type { Reply } from '../command/reply.js'
import {
  BigNumberReply,
  DoubleReply,
  MapReply,
  PushReply,
  SetReply,
  TextReply,
  type TypedReply,
  typedReply,
} from '../command/typed-reply.js'
import { luaOfReply, tableWith } from './conversion.js'

// Converts a reply to what a script sees after `redis.setresp(3)`. [redis 7.0]

export function luaOfTypedReply({ name }: CommandDescription, argv: readonly Bytes[], reply: Reply): LuaValue {
  return luaOf(typedReply(name, argv, reply))
}

function luaOf(reply: TypedReply): LuaValue {
  if (reply instanceof MapReply) return tableWith('map', pairs(reply.pairs))
  if (reply instanceof SetReply) return tableWith('set', members(reply.items))
  if (reply instanceof DoubleReply) return tableWith('double', parseNumber(reply.text))
  if (reply instanceof BigNumberReply) return tableWith('big_number', reply.digits)
  if (reply instanceof TextReply) return reply.text
  if (reply instanceof PushReply) return list(reply.items)
  return Array.isArray(reply) ? list(reply) : luaOfReply(reply as Reply, true)
}

function list(items: readonly TypedReply[]): LuaTable {
  const table = new LuaTable()
  table.adoptList(items.map(luaOf))
  return table
}

function pairs(reply: readonly TypedReply[]): LuaTable {
  const table = new LuaTable()
  for (let at = 0; at + 1 < reply.length; at += 2) table.set(luaOf(reply[at]!), luaOf(reply[at + 1]!))
  return table
}

function members(reply: readonly Reply[]): LuaTable {
  const table = new LuaTable()
  for (const item of reply) table.set(luaOfReply(item, true), true)
  return table
}
