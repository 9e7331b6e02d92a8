import { type Bytes, latin1, partOf } from '../../kernel/bytes.js'
import {
  type Arg,
  type ArgReader,
  bytes,
  deadline,
  deadlineOf,
  deadlineOptions,
  type ExpirationOptions,
  flag,
  float,
  int,
  int64,
  key,
  named,
  noOptions,
  oneDeadline,
  oneOrMore,
  options,
  readingAndWriting,
  toFloat,
  toInt64,
  tuple,
} from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import { workOfMembers } from '../command/memory.js'
import { ok, type Reply } from '../command/reply.js'
import { formatDecimal } from '../command/text.js'
import type { Database } from '../keyspace/database.js'
import { RawString } from '../values/raw-string.js'
import { xxh3Hex } from '../values/xxh3.js'

const empty = latin1('')
/** Maximum bytes of a string: the default of `proto-max-bulk-len` in redis-server. */
export const maxStringLength = 536_870_912

// ---- conditions -------------------------------------------------------------------------------------------------

const conditionOptions = {
  ifeq: named('value', bytes),
  ifne: named('value', bytes),
  ifdeq: named('digest', bytes),
  ifdne: named('digest', bytes),
}

interface ConditionWords {
  readonly ifeq?: Bytes
  readonly ifne?: Bytes
  readonly ifdeq?: Bytes
  readonly ifdne?: Bytes
}

/** Returns whether the value satisfies IFEQ, IFNE, IFDEQ or IFDNE. `undefined` means that the key does not exist. */
function satisfies({ ifeq, ifne, ifdeq, ifdne }: ConditionWords, value: Bytes | undefined): boolean {
  if (ifeq !== undefined) return value === ifeq
  if (ifne !== undefined) return value !== ifne
  if (ifdeq !== undefined) return value !== undefined && xxh3Hex(value) === ifdeq.toLowerCase()
  return value === undefined || xxh3Hex(value) !== ifdne!.toLowerCase()
}

function conditionsIn({ ifeq, ifne, ifdeq, ifdne }: ConditionWords): number {
  return [ifeq, ifne, ifdeq, ifdne].filter((option) => option !== undefined).length
}

// ---- SET --------------------------------------------------------------------------------------------------------

const setOptions = options({
  nx: flag,
  xx: flag,
  ...conditionOptions,
  get: flag,
  ...deadlineOptions,
  keepttl: flag,
})

type SetOptions = ReturnType<typeof setOptions.read>

function setWithOptions(key: Bytes, value: Bytes, options: SetOptions, { db, now }: CommandContext): Reply {
  const { nx, xx, get, keepttl } = options
  const conditions = conditionsIn(options)
  if (conditions + (nx ? 1 : 0) + (xx ? 1 : 0) > 1) throw replyError('syntax')
  oneDeadline(options, keepttl)
  const at = deadlineOf(options, now, 'set')
  // Only GET and the conditions read the old value. Without GET and conditions, the old value may have any type.
  const old = get || conditions > 0 ? db.string(key) : undefined
  const reply = get ? (old ?? null) : null
  if (conditions > 0 && !satisfies(options, old)) return reply
  if (nx || xx) if ((db.use(key) !== undefined) !== (xx === true)) return reply
  setString(db, key, value, at, keepttl ? 'keep' : 'drop')
  return get ? reply : ok
}

function setString(db: Database, key: Bytes, value: Bytes, at?: number, ttl: 'keep' | 'drop' = 'drop'): void {
  db.set(key, value, ttl)
  db.notify('$', 'set', key)
  if (at === undefined) return
  db.setDeadline(key, at)
  db.notify('g', 'expire', key)
}

/** Declares a command that sets a string with an expiration in units of `unit` milliseconds. */
function setFor(name: string, unit: 1 | 1000, since: string): Command {
  return command(name, {
    flags: ['write', 'slow'],
    since,
    args: [key('W'), named(unit === 1 ? 'milliseconds' : 'seconds', bytes), bytes],
    run({ db, now }, key, time, value) {
      setString(db, key, value, deadline(time, unit, now, name))
      return ok
    },
  })
}

// ---- numbers ----------------------------------------------------------------------------------------------------

const maxInt = 0x7fff_ffff_ffff_ffffn

function increase(db: Database, key: Bytes, by: number | bigint): number | bigint {
  const text = db.string(key)
  const current = text === undefined ? 0 : toInt64(text)
  const next = sumInt64(current, by)
  db.set(key, latin1(String(next)), 'keep')
  db.notify('$', 'incrby', key)
  return next
}

/**
 * Adds integers.
 * @throws ReplyError when the sum exceeds 64 bits
 */
export function sumInt64(a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === 'number' && typeof b === 'number') {
    const quick = a + b
    if (Number.isSafeInteger(quick)) return quick
  }
  const exact = BigInt(a) + BigInt(b)
  if (exact > maxInt || exact < -maxInt - 1n) throw replyError('overflow')
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact
}

// ---- ranges -----------------------------------------------------------------------------------------------------

/**
 * Converts indexes to a range of bytes. An end before the first byte counts as the first byte, unlike in `clampRange`.
 */
function byteRange(length: number, start: number, end: number): { readonly from: number; readonly to: number } {
  if (start < 0 && end < 0 && start > end) return { from: 0, to: 0 }
  const from = Math.max(start < 0 ? start + length : start, 0)
  const last = Math.max(end < 0 ? end + length : end, 0)
  return { from, to: Math.min(last, length - 1) + 1 }
}

function slice(value: Bytes, start: number, end: number): Bytes {
  const { from, to } = byteRange(value.length, start, end)
  return partOf(value, from, to)
}

/** Returns a part of a string. Of a string that was changed in place, only the requested part is converted to text. */
function sliceOf(db: Database, key: Bytes, start: number, end: number): Bytes {
  const value = db.use(key)
  if (!(value instanceof RawString) || value.hasText) return slice(db.string(key) ?? empty, start, end)
  const { from, to } = byteRange(value.length, start, end)
  return db.textOf(value.part(from, to))
}

const range = {
  flags: ['read', 'slow'],
  args: [key('R'), named('start', int), named('end', int)],
  run: ({ db }: CommandContext, key: Bytes, start: number, end: number): Reply => sliceOf(db, key, start, end),
} as const

// ---- MSETEX -----------------------------------------------------------------------------------------------------

const pair = tuple(key('W'), bytes)

/** Parser for `numkeys key value [key value …]`; the options follow. */
const countedPairs: Arg<[Bytes, Bytes][]> = {
  usage: 'numkeys key value [key value …]',
  min: 3,
  max: Number.POSITIVE_INFINITY,
  read(from: ArgReader) {
    const count = int.read(from)
    if (count <= 0) throw replyError('numkeysPositive')
    if (count * 2 > from.left) throw replyError('tooManyKeys')
    return Array.from({ length: count }, () => pair.read(from))
  },
}

export const stringCommands: readonly Command[] = [
  command('GET', {
    flags: ['read', 'fast'],
    args: [key('R')],
    run: ({ db }, key) => db.string(key) ?? null,
  }),

  command('SET', {
    flags: ['write', 'slow'],
    args: [key('W'), bytes, readingAndWriting(['GET'], setOptions)],
    run(context, key, value, options) {
      if (options !== noOptions) return setWithOptions(key, value, options, context)
      setString(context.db, key, value)
      return ok
    },
  }),

  command('SETNX', {
    flags: ['write', 'fast'],
    args: [key('W'), bytes],
    run({ db }, key, value) {
      if (db.use(key) !== undefined) return 0
      setString(db, key, value)
      return 1
    },
  }),

  setFor('SETEX', 1000, '2.0.0'),
  setFor('PSETEX', 1, '2.6.0'),

  command('GETSET', {
    flags: ['write', 'fast'],
    args: [key('RW'), bytes],
    run({ db }, key, value) {
      const old = db.string(key)
      setString(db, key, value)
      return old ?? null
    },
  }),

  command('GETDEL', {
    flags: ['write', 'fast'],
    since: '6.2.0',
    args: [key('RW')],
    run({ db }, key) {
      const old = db.string(key)
      if (old === undefined) return null
      db.delete(key)
      db.notify('g', 'del', key)
      return old
    },
  }),

  command('GETEX', {
    flags: ['write', 'fast'],
    since: '6.2.0',
    args: [key('RW'), options({ ...deadlineOptions, persist: flag })],
    run({ db, now }, key, options) {
      oneDeadline(options, options.persist)
      const value = db.string(key)
      if (value === undefined) return null
      changeDeadline(db, key, options, options.persist === true, now)
      return value
    },
  }),

  command('MGET', {
    flags: ['read', 'fast'],
    args: [oneOrMore(key('R'))],
    run: ({ db }, keys) =>
      keys.map((key) => {
        const value = db.use(key)
        return value instanceof RawString ? db.textOf(value) : typeof value === 'string' ? value : null
      }),
  }),

  command('MSET', {
    flags: ['write', 'slow'],
    since: '1.0.1',
    args: [oneOrMore(pair)],
    work: (_db, pairs) => workOfMembers(pairs.length),
    run({ db }, pairs) {
      for (const [key, value] of pairs) setString(db, key, value)
      return ok
    },
  }),

  command('MSETNX', {
    flags: ['write', 'slow'],
    since: '1.0.1',
    args: [oneOrMore(pair)],
    work: (_db, pairs) => workOfMembers(pairs.length),
    run({ db }, pairs) {
      if (pairs.some(([key]) => db.use(key) !== undefined)) return 0
      for (const [key, value] of pairs) setString(db, key, value)
      return 1
    },
  }),

  command('MSETEX', {
    flags: ['write', 'slow'],
    since: '8.4.0',
    args: [countedPairs, options({ nx: flag, xx: flag, ...deadlineOptions, keepttl: flag })],
    run({ db, now }, pairs, options) {
      const { nx, xx, keepttl } = options
      if (nx && xx) throw replyError('syntax')
      oneDeadline(options, keepttl)
      const at = deadlineOf(options, now, 'msetex')
      if (nx && pairs.some(([key]) => db.use(key) !== undefined)) return 0
      if (xx && !pairs.every(([key]) => db.use(key) !== undefined)) return 0
      for (const [key, value] of pairs) setString(db, key, value, at, keepttl ? 'keep' : 'drop')
      return 1
    },
  }),

  command('DELEX', {
    flags: ['write', 'fast'],
    since: '8.4.0',
    args: [key('RW'), options(conditionOptions)],
    run({ db }, key, options) {
      const conditions = conditionsIn(options)
      if (conditions > 1) throw replyError('syntax')
      if (!db.has(key) || (conditions > 0 && !satisfies(options, db.string(key)))) return 0
      db.delete(key)
      db.notify('g', 'del', key)
      return 1
    },
  }),

  command('DIGEST', {
    flags: ['read', 'fast'],
    since: '8.4.0',
    args: [key('R')],
    run({ db }, key) {
      const value = db.string(key)
      return value === undefined ? null : xxh3Hex(value)
    },
  }),

  command('APPEND', {
    flags: ['write', 'fast'],
    since: '2.0.0',
    args: [key('W'), bytes],
    run({ db }, key, value) {
      if (db.has(key)) {
        const length = db.stringLength(key) + value.length
        if (length > maxStringLength) throw replyError('stringTooLong')
        db.rawString(key, 'create', length).append(value)
      } else db.set(key, value)
      db.notify('$', 'append', key)
      return db.stringLength(key)
    },
  }),

  command('STRLEN', {
    flags: ['read', 'fast'],
    since: '2.2.0',
    args: [key('')],
    run: ({ db }, key) => db.stringLength(key),
  }),

  command('GETRANGE', { ...range, since: '2.4.0' }),
  command('SUBSTR', { ...range, since: '1.0.0', status: 'redis' }),

  command('SETRANGE', {
    flags: ['write', 'slow'],
    since: '2.2.0',
    args: [key('W'), named('offset', int), bytes],
    run({ db }, key, offset, value) {
      if (offset < 0) throw replyError('offset')
      const length = db.stringLength(key)
      if (value === '') return length
      if (offset + value.length > maxStringLength) throw replyError('stringTooLong')
      const string = db.rawString(key, 'create', offset + value.length)
      string.write(offset, value)
      db.notify('$', 'setrange', key)
      return string.length
    },
  }),

  command('INCR', {
    flags: ['write', 'fast'],
    args: [key('RW')],
    run: ({ db }, key) => increase(db, key, 1),
  }),

  command('DECR', {
    flags: ['write', 'fast'],
    args: [key('RW')],
    run: ({ db }, key) => increase(db, key, -1),
  }),

  command('INCRBY', {
    flags: ['write', 'fast'],
    args: [key('RW'), named('increment', int64)],
    run: ({ db }, key, increment) => increase(db, key, increment),
  }),

  command('DECRBY', {
    flags: ['write', 'fast'],
    args: [key('RW'), named('decrement', int64)],
    run({ db }, key, decrement) {
      if (decrement === -maxInt - 1n) throw replyError('decrementOverflow')
      return increase(db, key, -decrement)
    },
  }),

  command('INCRBYFLOAT', {
    flags: ['write', 'fast'],
    since: '2.6.0',
    deviations: 'The sum is computed in double precision. redis-server uses extended precision.',
    args: [key('RW'), { ...float, usage: 'increment', read: bytes.read }],
    run({ db }, key, increment) {
      const next = toFloat(db.string(key) ?? latin1('0')) + toFloat(increment)
      if (!Number.isFinite(next)) throw replyError('notFinite')
      const text = formatDecimal(next)
      db.set(key, text, 'keep')
      db.notify('$', 'incrbyfloat', key)
      return text
    },
  }),
]

function changeDeadline(db: Database, key: Bytes, words: ExpirationOptions, persist: boolean, now: number): void {
  const at = deadlineOf(words, now, 'getex')
  if (at !== undefined && at <= now) {
    db.delete(key)
    db.notify('g', 'del', key)
  } else if (at !== undefined) {
    db.setDeadline(key, at)
    db.notify('g', 'expire', key)
  } else if (persist && db.find(key)!.expiresAt !== undefined) {
    db.setDeadline(key, undefined)
    db.notify('g', 'persist', key)
  }
}
