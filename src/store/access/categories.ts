import type { CommandDescription, CommandFlag } from '../command/command-description.js'

export type Permissible = Pick<CommandDescription, 'name' | 'group' | 'flags'>

/** All categories, in the order of ACL CAT. redis-server 7.0 has no `array`, `json` and `vector`. [store.md 6.3, redis 7.0] */
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
  'array',
  'json',
  'vector',
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

/** Documentation groups whose category has another name: `sorted-set` → `sortedset`. */
const categoryOfGroup: Readonly<Record<string, Category>> = {
  'sorted-set': 'sortedset',
  functions: 'scripting',
}

/**
 * Categories of commands that work on several types. The commands have these in addition to the category of their
 * group.
 */
const furtherCategories: Readonly<Record<string, readonly Category[]>> = {
  SORT: ['set', 'sortedset', 'list'],
  SORT_RO: ['set', 'sortedset', 'list'],
}

export function categoriesOf({ name, group, flags }: Permissible): ReadonlySet<Category> {
  const found = new Set<Category>(furtherCategories[name])
  const own = categoryOfGroup[group] ?? group
  // As in redis-server, PUBSUB HELP does not have the category `pubsub`, although it is in the group `pubsub`.
  if (isCategory(own) && name !== 'PUBSUB HELP') found.add(own)
  for (const flag of flags) if (isCategory(flag)) found.add(flag)
  // Commands such as EVAL_RO do not belong to `read`: a script is not known to be read-only before it runs.
  if (found.has('scripting')) found.delete('read')
  return found
}

function bound(name: string, group: string, ...flags: CommandFlag[]): readonly [string, Permissible] {
  return [name, { name, group, flags }]
}

/**
 * Commands that need a connection, such as AUTH, or that have their own REST endpoint, such as MULTI. REST does not
 * accept them as ordinary commands. A user's permissions for such a command apply to its endpoint. [store.md 7.4]
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

/** Subcommands of CLIENT that user rules may name. They are implemented in store/resp. */
export const clientSubcommands: ReadonlySet<string> = new Set(
  'ID SETNAME GETNAME SETINFO INFO LIST UNBLOCK KILL NO-EVICT GETREDIR REPLY'.split(' '),
)
