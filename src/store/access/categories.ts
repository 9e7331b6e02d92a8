import type { Bytes } from '../../kernel/bytes.js'
import type { Command, CommandFlag } from '../command/command.js'

// What access control knows about commands: their categories, and how they use their keys.

/** As much of a command as permission depends on. */
export type Permissible = Pick<Command, 'name' | 'group' | 'flags'>

/** Every category, in the order in which ACL CAT lists them. `json` is the service's own. [store.md 6.3, redis 7.0] */
export const categories = [
  'keyspace',
  'read',
  'write',
  'set',
  'sortedset',
  'list',
  'hash',
  'string',
  'bitmap',
  'hyperloglog',
  'geo',
  'stream',
  'json',
  'pubsub',
  'admin',
  'fast',
  'slow',
  'blocking',
  'dangerous',
  'connection',
  'transaction',
  'scripting',
] as const

export type Category = (typeof categories)[number]

const known: ReadonlySet<string> = new Set(categories)

export function isCategory(name: string): name is Category {
  return known.has(name)
}

/** Groups of the documentation whose category has another name. */
const categoryOfGroup: Readonly<Record<string, Category>> = {
  'sorted-set': 'sortedset',
  functions: 'scripting',
}

/** Commands that work on values of several types. */
const furtherCategories: Readonly<Record<string, readonly Category[]>> = {
  SORT: ['set', 'sortedset', 'list'],
  SORT_RO: ['set', 'sortedset', 'list'],
}

/** The categories of a command follow from its group and its flags. */
export function categoriesOf({ name, group, flags }: Permissible): ReadonlySet<Category> {
  const found = new Set<Category>(furtherCategories[name])
  const own = categoryOfGroup[group] ?? group
  if (isCategory(own)) found.add(own)
  for (const flag of flags) if (isCategory(flag)) found.add(flag)
  // Scripts that only read are not part of `read`: nobody can tell before they run.
  if (found.has('scripting')) found.delete('read')
  return found
}

function bound(name: string, group: string, ...flags: CommandFlag[]): readonly [string, Permissible] {
  return [name, { name, group, flags }]
}

/**
 * Commands that need a connection, or have an endpoint of their own: nobody can send them, but users may have, or lack,
 * the permission for their endpoints. [store.md 7.4]
 */
export const connectionBound: ReadonlyMap<string, Permissible> = new Map([
  bound('AUTH', 'connection', 'fast'),
  bound('MULTI', 'transaction', 'fast'),
  bound('EXEC', 'transaction', 'slow'),
  bound('DISCARD', 'transaction', 'fast'),
  bound('WATCH', 'transaction', 'fast'),
  bound('UNWATCH', 'transaction', 'fast'),
  bound('HELLO', 'connection', 'fast'),
  bound('RESET', 'connection', 'fast'),
  bound('SUBSCRIBE', 'pubsub', 'slow'),
  bound('UNSUBSCRIBE', 'pubsub', 'slow'),
  bound('PSUBSCRIBE', 'pubsub', 'slow'),
  bound('PUNSUBSCRIBE', 'pubsub', 'slow'),
  bound('CLIENT', 'connection', 'slow'),
  bound('MONITOR', 'server', 'slow', 'admin', 'dangerous'),
])

/** What a command does to a key: `R` hands its content on, `W` changes it, `''` tells no more than that it is there. */
export type KeyUse = '' | 'R' | 'W' | 'RW'

/** Reading commands that tell nothing of what a key holds. */
const looking = words(
  'HEXISTS SCARD TYPE LLEN OBJECT TOUCH STRLEN SISMEMBER XLEN ZCARD HSTRLEN EXISTS HLEN MEMORY JSON.TYPE JSON.ARRLEN JSON.OBJLEN JSON.STRLEN',
)

/** Commands that change keys, or may, and also hand on what was there. */
const readingWriters = words(
  'LMPOP GETDEL ZMPOP INCRBYFLOAT SETBIT SET HINCRBY ZINCRBY LPOP GETSET ZPOPMAX DECRBY BITFIELD HINCRBYFLOAT SPOP ' +
    'INCRBY ZPOPMIN GETEX INCR DECR RPOP DELEX HGETDEL HGETEX EVAL EVALSHA FCALL JSON.ARRPOP JSON.NUMINCRBY JSON.NUMMULTBY ' +
    'JSON.TOGGLE JSON.SET',
)

/** Commands whose first key is used otherwise than the others. */
const mixed: Readonly<Record<string, readonly [first: KeyUse, others: KeyUse]>> = {
  ...each('LMOVE RENAME RENAMENX RPOPLPUSH SMOVE', ['RW', 'W']),
  ...each('SINTERSTORE SDIFFSTORE SUNIONSTORE ZRANGESTORE GEOSEARCHSTORE BITOP ZUNIONSTORE ZINTERSTORE ZDIFFSTORE', [
    'W',
    'R',
  ]),
  PFMERGE: ['RW', 'R'],
  ...each('GEORADIUS GEORADIUSBYMEMBER COPY SORT', ['R', 'W']),
  XREADGROUP: ['R', 'R'],
}

/** Commands whose words decide how they use their key. */
const variable: Readonly<Record<string, (options: readonly string[]) => KeyUse>> = {
  SET: (options) => (options.includes('GET') ? 'RW' : 'W'),
  BITFIELD: (options) => (options.includes('SET') || options.includes('INCRBY') ? 'RW' : 'R'),
}

/** How a command uses the key at this place among its keys. [redis 7.0: key specifications] */
export function keyUse({ name, flags }: Permissible, index: number, argv?: readonly Bytes[]): KeyUse {
  const single = name.split(' ', 1)[0]!
  const decide = variable[single]
  if (argv && decide) return decide(argv.slice(2).map((word) => word.toUpperCase()))
  const uses = mixed[single]
  if (uses !== undefined) return uses[index === 0 ? 0 : 1]
  if (readingWriters.has(single)) return 'RW'
  if (flags.includes('write')) return 'W'
  return looking.has(single) ? '' : 'R'
}

function words(names: string): ReadonlySet<string> {
  return new Set(names.split(' '))
}

function each<T>(names: string, value: T): Record<string, T> {
  return Object.fromEntries(names.split(' ').map((name) => [name, value]))
}
