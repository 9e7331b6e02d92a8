import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { type Reply, ReplyError } from './reply.js'

// Types that only RESP3 has. Commands return RESP2 replies, and this module converts them to RESP3. [redis 7.0]

/** Reply, possibly of a type that only RESP3 has. */
export type TypedReply =
  | Reply
  | MapReply
  | SetReply
  | DoubleReply
  | BigNumberReply
  | TextReply
  | PushReply
  | ReplyError
  | readonly TypedReply[]

/** Map as alternating keys and values. */
export class MapReply {
  constructor(readonly pairs: readonly TypedReply[]) {}
}

export class SetReply {
  constructor(readonly items: readonly Reply[]) {}
}

export class DoubleReply {
  constructor(readonly text: Bytes) {}
}

/** Integer that is too large for an integer reply. */
export class BigNumberReply {
  constructor(readonly digits: Bytes) {}
}

/** Text for people (verbatim string). */
export class TextReply {
  constructor(readonly text: Bytes) {}
}

/** Message that is not a reply to a command. */
export class PushReply {
  constructor(readonly items: readonly TypedReply[]) {}
}

type Shape = (reply: Reply, argv: readonly Bytes[]) => TypedReply

const map: Shape = (reply) => (isList(reply) ? new MapReply(reply) : reply)
const set: Shape = (reply) => (isList(reply) ? new SetReply(reply) : reply)
const text: Shape = (reply) => (typeof reply === 'string' ? new TextReply(reply) : reply)
const double: Shape = (reply) => (typeof reply === 'string' ? new DoubleReply(reply) : reply)
/** Converts an index of an array: an integer, or a string beyond the range of integers. */
const index: Shape = (reply) => (typeof reply === 'string' ? new BigNumberReply(reply) : reply)
const doubles: Shape = each(double)
const maps: Shape = each(map)

/**
 * Returns a shape that converts a list of names and values to a map. `fields` has the shapes of values that need one.
 */
function record(fields: Readonly<Record<string, Shape>>): Shape {
  return (reply, argv) => {
    if (!isList(reply)) return reply
    return new MapReply(
      reply.map((item, at) => (at % 2 === 0 ? item : (fields[reply[at - 1] as string]?.(item, argv) ?? item))),
    )
  }
}

function each(shape: Shape): Shape {
  return (reply, argv) => (isList(reply) ? reply.map((item) => shape(item, argv)) : reply)
}

/**
 * Returns a shape that splits a flat list into pairs.
 * @param second the shape of the second item of each pair
 */
function pairs(second: Shape): Shape {
  return (reply, argv) => {
    if (!isList(reply)) return reply
    const list: TypedReply[] = []
    for (let at = 0; at + 1 < reply.length; at += 2) list.push([reply[at]!, second(reply[at + 1]!, argv)])
    return list
  }
}

/**
 * Returns a shape that applies only if the command has this argument.
 * @param word the argument in upper case
 */
function having(word: string, shape: Shape): Shape {
  return (reply, argv) => (argv.some((given) => given.toUpperCase() === word) ? shape(reply, argv) : reply)
}

const scored = having('WITHSCORES', pairs(double))

/** Converts the reply of a pop: one `[member, score]`, or a list of such pairs if the command has a count. */
const popped: Shape = (reply, argv) => {
  if (argv.length > 2) return pairs(double)(reply, argv)
  return isList(reply) ? reply.map((item, at) => (at % 2 === 0 ? item : double(item, argv))) : reply
}

/** Converts a reply of the form `[key, [[member, score] …]]`. */
const poppedOf: Shape = (reply, argv) => {
  if (!isList(reply)) return reply
  const [key, members] = reply
  return [key!, each((pair) => (isList(pair) ? [pair[0]!, double(pair[1]!, argv)] : pair))(members!, argv)]
}

/** Converts a list of array slots: indexes, or pairs of index and value. */
const slots: Shape = each((slot, argv) => (isList(slot) ? [index(slot[0]!, argv), slot[1]!] : index(slot, argv)))

const lastIsDouble: Shape = (reply, argv) =>
  isList(reply) ? reply.map((item, at) => (at === reply.length - 1 ? double(item, argv) : item)) : reply

/** Converts the reply of a geo search with WITHCOORD: the last item of each member is a pair of coordinates. */
const placed = having(
  'WITHCOORD',
  each((place, argv) => (isList(place) ? [...place.slice(0, -1), doubles(place.at(-1)!, argv)] : place)),
)

const streams: Shape = (reply) => {
  if (!isList(reply)) return reply
  return new MapReply(reply.flatMap((stream) => stream as readonly Reply[]))
}

/**
 * Shape of a row of COMMAND INFO. Flags, categories, tips and key specifications become sets. Subcommands are rows of
 * the same shape.
 */
const commandRow: Shape = (row, argv) => {
  if (!isList(row)) return row
  const [flags, categories, tips, keys, subcommands] = [2, 6, 7, 8, 9].map((at) => row[at]!)
  const sets = [categories!, tips!, keys!].map((one) => set(one, argv))
  const below = isList(subcommands) && subcommands.length === 0 ? set : each(commandRow)
  return [row[0]!, row[1]!, set(flags!, argv), ...row.slice(3, 6), ...sets, below(subcommands!, argv)]
}

const commandDocs: Shape = (reply, argv) => {
  if (!isList(reply)) return reply
  const doc = record({ subcommands: commandDocs })
  return new MapReply(reply.map((item, at) => (at % 2 === 0 ? item : doc(item, argv))))
}

const functions = each(record({ functions: each(record({ flags: set })) }))

const shapes: Readonly<Record<string, Shape>> = {
  HGETALL: map,
  HRANDFIELD: having(
    'WITHVALUES',
    pairs((value) => value),
  ),
  SMEMBERS: set,
  SINTER: set,
  SUNION: set,
  SDIFF: set,
  SPOP: set,
  ZSCORE: double,
  ZINCRBY: double,
  ZADD: double,
  ZMSCORE: doubles,
  ZRANGE: scored,
  ZREVRANGE: scored,
  ZRANGEBYSCORE: scored,
  ZREVRANGEBYSCORE: scored,
  ZRANDMEMBER: scored,
  ZDIFF: scored,
  ZINTER: scored,
  ZUNION: scored,
  ZRANK: lastIsDouble,
  ZREVRANK: lastIsDouble,
  ZPOPMIN: popped,
  ZPOPMAX: popped,
  BZPOPMIN: lastIsDouble,
  BZPOPMAX: lastIsDouble,
  ZMPOP: poppedOf,
  BZMPOP: poppedOf,
  GEOPOS: each(doubles),
  GEOSEARCH: placed,
  GEORADIUS: placed,
  GEORADIUS_RO: placed,
  GEORADIUSBYMEMBER: placed,
  GEORADIUSBYMEMBER_RO: placed,
  XREAD: streams,
  XREADGROUP: streams,
  'XINFO STREAM': (reply, argv) => record({ groups: each(record({ consumers: maps })) })(reply, argv),
  'XINFO GROUPS': maps,
  'XINFO CONSUMERS': maps,
  'FUNCTION STATS': record({ running_script: map, engines: record({ LUA: map }) }),
  'FUNCTION LIST': functions,
  ARSCAN: slots,
  ARGREP: slots,
  ARLEN: index,
  ARINSERT: index,
  ARRING: index,
  ARNEXT: index,
  ARINFO: record({
    len: index,
    'next-insert-index': index,
    'avg-dense-size': double,
    'avg-dense-fill': double,
    'avg-sparse-size': double,
  }),
  LCS: having('IDX', map),
  'ACL GETUSER': record({ flags: set, selectors: maps }),
  'ACL LOG': maps,
  'MEMORY STATS': map,
  'COMMAND INFO': each(commandRow),
  'COMMAND DOCS': commandDocs,
  'COMMAND GETKEYSANDFLAGS': each((key, argv) => (isList(key) ? [key[0]!, set(key[1]!, argv)] : key)),
  'LATENCY HISTOGRAM': map,
  'LATENCY DOCTOR': text,
  'MEMORY DOCTOR': text,
  'MEMORY MALLOC-STATS': text,
  LOLWUT: text,
  'SEARCH.LISTINDEXES': maps,
  'VECTOR.GET': doubles,
  'VECTOR.QUERY': each(lastIsDouble),
  'VECTOR.INFO': map,
  INFO: text,
  'CLIENT LIST': text,
  'CLIENT INFO': text,
}

/** Converts a reply to RESP3. @param name name of the command in upper case */
export function typedReply(name: string, argv: readonly Bytes[], reply: Reply): TypedReply {
  const shape = shapes[name]
  return shape === undefined ? reply : shape(reply, argv)
}

function isList(reply: unknown): reply is readonly Reply[] {
  return Array.isArray(reply)
}

/** Converts a RESP3 reply to RESP2. The traffic log keeps replies in this form. */
export function plainOf(reply: TypedReply): Reply {
  if (reply instanceof ReplyError) return latin1(reply.message)
  if (reply instanceof DoubleReply || reply instanceof TextReply) return reply.text
  if (reply instanceof BigNumberReply) return reply.digits
  if (reply instanceof MapReply) return reply.pairs.map(plainOf)
  if (reply instanceof SetReply || reply instanceof PushReply) return reply.items.map(plainOf)
  return Array.isArray(reply) ? reply.map(plainOf) : (reply as Reply)
}
