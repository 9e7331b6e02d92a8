import type { Bytes } from '../../kernel/bytes.js'
import { bytes, key, named, oneOrMore, optional } from '../command/arguments.js'
import { type Command, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import { workOfMembers } from '../command/memory.js'
import type { Reply } from '../command/reply.js'
import type { Database } from '../keyspace/database.js'
import { integersInOrder, isIntegerSet } from '../values/compact.js'
import type { OrderedTable } from '../values/ordered-table.js'
import { SetValue } from '../values/set-value.js'
import {
  cursorArg,
  emptyScan,
  intFrom,
  numberedKeys,
  pageSize,
  pickNames,
  scanReply,
  signedCount,
  toScanOptions,
  wholePage,
  wholePages,
  words,
} from './collection-arguments.js'
import { lengthOf, removal } from './collection-commands.js'

type Members = OrderedTable<true>
type WorkOf = (db: Database, keys: readonly Bytes[]) => number
type Combine = (sets: readonly (Members | undefined)[], limit?: number) => Bytes[]

const member = named('member', bytes)

export const setCommands: readonly Command[] = [
  command('SADD', {
    flags: ['write', 'fast'],
    args: [key('W'), oneOrMore(member)],
    work: (_db, _key, added) => workOfMembers(added.length),
    run({ db }, key, added) {
      const { members } = db.container(key, SetValue, 'create')
      const before = members.size
      for (const member of added) members.put(member, true)
      if (members.size > before) db.notify('s', 'sadd', key)
      return members.size - before
    },
  }),

  removal('SREM', {
    names: oneOrMore(member),
    type: SetValue,
    eventClass: 's',
    remove: ({ members }, member) => members.delete(member),
  }),

  lengthOf('SCARD', SetValue, ({ members }) => members.size),

  command('SISMEMBER', {
    flags: ['read', 'fast'],
    args: [key(''), member],
    run: ({ db }, key, member) => (db.container(key, SetValue)?.members.has(member) ? 1 : 0),
  }),

  command('SMISMEMBER', {
    flags: ['read', 'fast'],
    since: '6.2.0',
    args: [key('R'), oneOrMore(member)],
    run({ db }, key, asked) {
      const members = db.container(key, SetValue)?.members
      return asked.map((member) => (members?.has(member) ? 1 : 0))
    },
  }),

  command('SMEMBERS', {
    flags: ['read', 'slow'],
    args: [key('R')],
    work: (db, key) => db.sizeOf(key),
    run: ({ db }, key) => [...(db.container(key, SetValue)?.members.keys() ?? [])],
  }),

  command('SMOVE', {
    flags: ['write', 'fast'],
    args: [key('RW'), key('W'), member],
    run({ db }, source, destination, member) {
      const from = db.container(source, SetValue)
      if (from === undefined) return 0
      // A wrong type of the destination is an error even if there is nothing to move.
      const to = db.container(destination, SetValue)
      if (!from.members.has(member)) return 0
      if (from === to) return 1
      from.members.delete(member)
      db.notify('s', 'srem', source)
      // Redis sends the event for the emptied source before the event for the destination, not at the end of the
      // command.
      if (from.isEmpty && db.delete(source)) db.notify('g', 'del', source)
      const isNew = (to ?? db.container(destination, SetValue, 'create')).members.put(member, true)
      if (isNew) db.notify('s', 'sadd', destination)
      return 1
    },
  }),

  command('SPOP', {
    flags: ['write', 'fast'],
    args: [key('RW'), optional(named('count', bytes))],
    run({ db, random }, key, word) {
      const count = word === undefined ? undefined : intFrom(0, word, 'negativeNotAllowed')
      const members = db.container(key, SetValue)?.members
      if (members === undefined) return count === undefined ? null : []
      if (count === 0) return []
      const popped = pickNames(
        count ?? 1,
        members.size,
        (chance) => members.random(chance),
        () => members.keys(),
        { random, db },
      )
      for (const member of popped) members.delete(member)
      db.notify('s', 'spop', key)
      return count === undefined ? popped[0]! : popped
    },
  }),

  command('SRANDMEMBER', {
    flags: ['read', 'slow'],
    args: [key('R'), optional(named('count', bytes))],
    run({ db, random }, key, word) {
      const count = word === undefined ? undefined : signedCount(word)
      const members = db.container(key, SetValue)?.members
      if (members === undefined) return count === undefined ? null : []
      if (count === undefined) return members.random(random)
      return pickNames(
        count,
        members.size,
        (chance) => members.random(chance),
        () => members.keys(),
        { random, db },
      )
    },
  }),

  command('SSCAN', {
    flags: ['read', 'slow'],
    since: '2.8.0',
    deviations: wholePages,
    args: [key('R'), cursorArg, words('[MATCH pattern] [COUNT count]')],
    run({ db, store }, key, cursor, given) {
      const set = db.container(key, SetValue)
      if (set === undefined) return emptyScan
      const options = toScanOptions(given, store.options.policy.scanPageSize, db.work)
      const isWhole = cursor === 0 && isIntegerSet(set)
      const page = isWhole
        ? wholePage(integersInOrder(set))
        : set.members.scan(cursor, pageSize(options, set.members.size, db))
      return scanReply(page, options, (member, into) => into.push(member))
    },
  }),

  ...combination('SINTER', intersection, intersectionWork),
  ...combination('SUNION', union, unionWork),
  ...combination('SDIFF', difference, differenceWork),
  cardinality('SINTERCARD', intersection, intersectionWork, '7.0.0'),
  cardinality('SUNIONCARD', union, unionWork, 'service'),
  cardinality('SDIFFCARD', difference, differenceWork, 'service'),
]

function setsOf(db: Database, keys: readonly Bytes[]): (Members | undefined)[] {
  return keys.map((key) => db.container(key, SetValue)?.members)
}

/** Declares two commands: one returns a combination of sets, the other one stores it. */
function combination(name: string, combine: Combine, work: WorkOf): Command[] {
  const event = `${name.toLowerCase()}store`
  return [
    command(name, {
      flags: ['read', 'slow'],
      args: [oneOrMore(key('R'))],
      work,
      run: ({ db }, keys) => combine(setsOf(db, keys)),
    }),
    command(`${name}STORE`, {
      flags: ['write', 'slow'],
      args: [key('W'), oneOrMore(key('R'))],
      work: (db, _destination, keys) => 2 * work(db, keys),
      run({ db }, destination, keys): Reply {
        const found = combine(setsOf(db, keys))
        if (found.length > 0) {
          db.set(destination, SetValue.from(found))
          db.notify('s', event, destination)
        } else if (db.delete(destination)) {
          db.notify('g', 'del', destination)
        }
        return found.length
      },
    }),
  ]
}

/**
 * Declares a command that counts the members of a union, intersection or difference. `LIMIT 0` means no limit.
 * `SUNIONCARD` accepts `APPROX`, but its count is exact nevertheless.
 */
function cardinality(name: string, combine: Combine, work: WorkOf, since: string): Command {
  const takesApprox = name === 'SUNIONCARD'
  return command(name, {
    flags: ['read', 'slow'],
    since,
    args: [numberedKeys('R', 'tooManyKeys'), words(takesApprox ? '[APPROX] [LIMIT limit]' : '[LIMIT limit]')],
    work,
    run({ db }, keys, options) {
      let limit = 0
      for (let at = 0; at < options.length; at++) {
        const option = options[at]!.toUpperCase()
        const value = options[at + 1]
        if (option === 'LIMIT' && value !== undefined) {
          limit = intFrom(0, value, 'negativeLimit')
          at++
        } else if (!(takesApprox && option === 'APPROX')) {
          throw replyError('syntax')
        }
      }
      const size = combine(setsOf(db, keys), limit || undefined).length
      return limit > 0 ? Math.min(size, limit) : size
    },
  })
}

function intersectionWork(db: Database, keys: readonly Bytes[]): number {
  return 2 * db.sizeOfSmallest(keys) * keys.length
}

function unionWork(db: Database, keys: readonly Bytes[]): number {
  return 6 * db.sizeOfAll(keys)
}

function differenceWork(db: Database, keys: readonly Bytes[]): number {
  return 2 * db.sizeOf(keys[0]!) * keys.length
}

/** Returns the intersection. Walks the smallest set and stops after `limit` members. */
function intersection(sets: readonly (Members | undefined)[], limit = Number.POSITIVE_INFINITY): Bytes[] {
  const present = sets.filter((set) => set !== undefined)
  if (present.length < sets.length) return []
  const [smallest, ...others] = present.sort((a, b) => a.size - b.size)
  const found: Bytes[] = []
  for (const member of smallest!.keys()) {
    if (!others.every((set) => set.has(member))) continue
    found.push(member)
    if (found.length >= limit) break
  }
  return found
}

function union(sets: readonly (Members | undefined)[]): Bytes[] {
  const found = new Set<Bytes>()
  for (const set of sets) for (const member of set?.keys() ?? []) found.add(member)
  return [...found]
}

function difference([first, ...others]: readonly (Members | undefined)[]): Bytes[] {
  const found: Bytes[] = []
  for (const member of first?.keys() ?? []) if (!others.some((set) => set?.has(member))) found.push(member)
  return found
}
