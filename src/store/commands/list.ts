import type { Bytes } from '../../kernel/bytes.js'
import { bytes, int, key, named, oneOrMore, optional, toInt } from '../command/arguments.js'
import { type Command, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import { nilArray, ok, type Reply } from '../command/reply.js'
import { clampRange, type IndexRange } from '../command/text.js'
import type { Database } from '../keyspace/database.js'
import { Deque } from '../values/deque.js'
import { intFrom, numberedKeys, signedCount, words } from './collection-arguments.js'
import { lengthOf } from './collection-commands.js'

type End = 'left' | 'right'

const element = named('element', bytes)

export const listCommands: readonly Command[] = [
  push('LPUSH', 'left', 'create'),
  push('RPUSH', 'right', 'create'),
  push('LPUSHX', 'left', 'existing'),
  push('RPUSHX', 'right', 'existing'),
  pop('LPOP', 'left'),
  pop('RPOP', 'right'),

  lengthOf('LLEN', Deque, (list) => list.length),

  command('LINDEX', {
    flags: ['read', 'slow'],
    args: [key('R'), named('index', bytes)],
    run({ db }, key, index) {
      const list = db.container(key, Deque)
      if (list === undefined) return null
      return list.at(placeOf(toInt(index), list)) ?? null
    },
  }),

  command('LSET', {
    flags: ['write', 'slow'],
    args: [key('W'), named('index', bytes), element],
    run({ db }, key, index, element) {
      const list = db.container(key, Deque)
      if (list === undefined) throw replyError('noSuchKey')
      const place = placeOf(toInt(index), list)
      if (list.at(place) === undefined) throw replyError('outOfRange')
      list.set(place, element)
      db.notify('l', 'lset', key)
      return ok
    },
  }),

  command('LINSERT', {
    flags: ['write', 'slow'],
    since: '2.2.0',
    args: [key('W'), named('BEFORE | AFTER', bytes), named('pivot', bytes), element],
    work: (db, key) => db.sizeOf(key),
    run({ db }, key, where, pivot, element) {
      const side = where.toUpperCase()
      if (side !== 'BEFORE' && side !== 'AFTER') throw replyError('syntax')
      const list = db.container(key, Deque)
      if (list === undefined) return 0
      for (let index = 0; index < list.length; index++) {
        if (list.at(index) !== pivot) continue
        list.insert(side === 'BEFORE' ? index : index + 1, element)
        db.notify('l', 'linsert', key)
        return list.length
      }
      return -1
    },
  }),

  command('LRANGE', {
    flags: ['read', 'slow'],
    args: [key('R'), named('start', int), named('stop', int)],
    work: (db, key, start, stop) => between(clampRange(start, stop, db.sizeOf(key))),
    run({ db }, key, start, stop) {
      const list = db.container(key, Deque)
      if (list === undefined) return []
      const { from, to } = clampRange(start, stop, list.length)
      return list.slice(from, to)
    },
  }),

  command('LTRIM', {
    flags: ['write', 'slow'],
    args: [key('W'), named('start', int), named('stop', int)],
    work: (db, key, start, stop) => db.sizeOf(key) - between(clampRange(start, stop, db.sizeOf(key))),
    run({ db }, key, start, stop) {
      const list = db.container(key, Deque)
      if (list === undefined) return ok
      const { from, to } = clampRange(start, stop, list.length)
      list.trim(from, to)
      db.notify('l', 'ltrim', key)
      return ok
    },
  }),

  command('LREM', {
    flags: ['write', 'slow'],
    args: [key('W'), named('count', int), element],
    work: (db, key) => 4 * db.sizeOf(key),
    run({ db }, key, count, element) {
      const list = db.container(key, Deque)
      if (list === undefined) return 0
      const removed = list.remove(element, count === 0 ? Number.POSITIVE_INFINITY : Math.abs(count), count < 0)
      if (removed > 0) db.notify('l', 'lrem', key)
      return removed
    },
  }),

  command('LPOS', {
    flags: ['read', 'slow'],
    since: '6.0.6',
    args: [key('R'), element, words('[RANK rank] [COUNT num-matches] [MAXLEN len]')],
    work: (db, key) => db.sizeOf(key),
    run({ db }, key, element, options) {
      const { rank, count, maxlen } = positionOptions(options)
      const list = db.container(key, Deque)
      const found = list === undefined ? [] : positionsOf(list, element, rank, count ?? 1, maxlen)
      return count === undefined ? (found[0] ?? null) : found
    },
  }),

  command('LMOVE', {
    flags: ['write', 'slow'],
    since: '6.2.0',
    args: [key('RW'), key('W'), named('LEFT | RIGHT', bytes), named('LEFT | RIGHT', bytes)],
    run: ({ db }, source, destination, from, to) => move(db, source, destination, toEnd(from), toEnd(to)),
  }),

  command('RPOPLPUSH', {
    flags: ['write', 'slow'],
    since: '1.2.0',
    args: [key('RW'), key('W')],
    run: ({ db }, source, destination) => move(db, source, destination, 'right', 'left'),
  }),

  command('LMPOP', {
    flags: ['write', 'slow'],
    since: '7.0.0',
    args: [numberedKeys('RW', 'syntax'), words('LEFT | RIGHT [COUNT count]', 1)],
    run({ db }, keys, where) {
      const [side, ...options] = where
      if (side === undefined) throw replyError('syntax')
      const end = toEnd(side)
      const count = popCount(options)
      for (const key of keys) {
        const list = db.container(key, Deque)
        if (list === undefined) continue
        db.work.charge(Math.min(count, list.length))
        db.notify('l', popEvents[end], key)
        return [key, take(list, end, count)]
      }
      return nilArray
    },
  }),
]

function push(name: string, end: End, missing: 'create' | 'existing'): Command {
  return command(name, {
    flags: ['write', 'fast'],
    since: missing === 'create' ? '1.0.0' : '2.2.0',
    args: [key('W'), oneOrMore(element)],
    run({ db }, key, elements) {
      const list = missing === 'create' ? db.container(key, Deque, 'create') : db.container(key, Deque)
      if (list === undefined) return 0
      for (const element of elements) add(list, end, element)
      db.notify('l', pushEvents[end], key)
      return list.length
    },
  })
}

function pop(name: string, end: End): Command {
  return command(name, {
    flags: ['write', 'fast'],
    args: [key('RW'), optional(named('count', bytes))],
    surplus: 'arity',
    run({ db }, key, word) {
      const count = word === undefined ? undefined : intFrom(0, word, 'negativeNotAllowed')
      const list = db.container(key, Deque)
      if (list === undefined) return count === undefined ? null : nilArray
      if (count === 0) return []
      if (count !== undefined) db.work.charge(Math.min(count, list.length))
      const taken = take(list, end, count ?? 1)
      db.notify('l', popEvents[end], key)
      return count === undefined ? taken[0]! : taken
    },
  })
}

const pushEvents = { left: 'lpush', right: 'rpush' } as const
const popEvents = { left: 'lpop', right: 'rpop' } as const

function take(list: Deque, end: End, count: number): Bytes[] {
  const taken: Bytes[] = []
  for (let left = Math.min(count, list.length); left > 0; left--) {
    taken.push((end === 'left' ? list.shift() : list.pop())!)
  }
  return taken
}

function add(list: Deque, end: End, element: Bytes): void {
  if (end === 'left') list.unshift(element)
  else list.push(element)
}

function move(db: Database, source: Bytes, destination: Bytes, from: End, to: End): Reply {
  const list = db.container(source, Deque)
  if (list === undefined) return null
  // The types of both keys are checked before an element is taken.
  const target = db.container(destination, Deque, 'create')
  const [element] = take(list, from, 1)
  add(target, to, element!)
  db.notify('l', pushEvents[to], destination)
  db.notify('l', popEvents[from], source)
  return element!
}

function toEnd(word: Bytes): End {
  const end = word.toUpperCase()
  if (end === 'LEFT') return 'left'
  if (end === 'RIGHT') return 'right'
  throw replyError('syntax')
}

/** Parses `[COUNT count]` of LMPOP and ZMPOP. */
export function popCount(options: readonly Bytes[]): number {
  const [keyword, value, ...surplus] = options
  if (keyword === undefined) return 1
  if (keyword.toUpperCase() !== 'COUNT' || value === undefined) throw replyError('syntax')
  const count = intFrom(1, value, 'countPositive')
  if (surplus.length > 0) throw replyError('syntax')
  return count
}

function between({ from, to }: IndexRange): number {
  return Math.max(to - from, 0)
}

function placeOf(index: number, list: Deque): number {
  return index < 0 ? index + list.length : index
}

function positionOptions(options: readonly Bytes[]): { rank: number; count: number | undefined; maxlen: number } {
  let rank = 1
  let count: number | undefined
  let maxlen = 0
  for (let at = 0; at < options.length; at += 2) {
    const value = options[at + 1]
    if (value === undefined) throw replyError('syntax')
    const option = options[at]!.toUpperCase()
    if (option === 'RANK') rank = toRank(value)
    else if (option === 'COUNT') count = intFrom(0, value, 'negativeCount')
    else if (option === 'MAXLEN') maxlen = intFrom(0, value, 'negativeMaxlen')
    else throw replyError('syntax')
  }
  return { rank, count, maxlen }
}

function toRank(word: Bytes): number {
  const rank = signedCount(word)
  if (rank === 0) throw replyError('rankZero')
  return rank
}

/** Returns the indexes of matches in the order of the search. A `count` or `maxlen` of 0 means no limit. */
function positionsOf(list: Deque, element: Bytes, rank: number, count: number, maxlen: number): number[] {
  const found: number[] = []
  const steps = maxlen === 0 ? list.length : Math.min(maxlen, list.length)
  let skip = Math.abs(rank) - 1
  for (let step = 0; step < steps; step++) {
    const index = rank > 0 ? step : list.length - 1 - step
    if (list.at(index) !== element) continue
    if (skip-- > 0) continue
    found.push(index)
    if (found.length === count) break
  }
  return found
}
