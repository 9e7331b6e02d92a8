import type { Bytes } from '../../kernel/bytes.js'
import { bytes, float, inTurn, int64, key, named, oneOrMore } from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import { workOfMembers } from '../command/memory.js'
import { ok, type Reply } from '../command/reply.js'
import { formatDecimal, parseDouble, parseInt64 } from '../command/text.js'
import { isCompactHash } from '../values/compact.js'
import { HashValue } from '../values/hash-value.js'
import {
  cursorArg,
  emptyScan,
  pageSize,
  pickNames,
  randomOptions,
  scanReply,
  toScanOptions,
  wholePage,
  wholePages,
  words,
} from './collection-arguments.js'
import { lengthOf, removal } from './collection-commands.js'
import { hashExpiryCommands } from './hash-expiry.js'
import { sumInt64 } from './string.js'

const field = named('field', bytes)
const fieldsArg = oneOrMore(field)
const pairsArg = inTurn(field, named('value', bytes))

export const hashCommands: readonly Command[] = [
  command('HSET', {
    flags: ['write', 'fast'],
    since: '2.0.0',
    args: [key('W'), pairsArg],
    work: (_db, _key, pairs) => workOfMembers(pairs.length / 2),
    run: (context, key, pairs) => setPairs(key, pairs, context),
  }),

  command('HMSET', {
    flags: ['write', 'fast'],
    since: '2.0.0',
    args: [key('W'), pairsArg],
    work: (_db, _key, pairs) => workOfMembers(pairs.length / 2),
    run(context, key, pairs) {
      setPairs(key, pairs, context)
      return ok
    },
  }),

  command('HSETNX', {
    flags: ['write', 'fast'],
    since: '2.0.0',
    args: [key('W'), field, named('value', bytes)],
    run({ db }, key, field, value) {
      const hash = db.container(key, HashValue, 'create')
      if (hash.has(field)) return 0
      hash.write(field, value)
      db.notify('h', 'hset', key)
      return 1
    },
  }),

  command('HGET', {
    flags: ['read', 'fast'],
    since: '2.0.0',
    args: [key('R'), field],
    run: ({ db }, key, field) => db.container(key, HashValue)?.get(field) ?? null,
  }),

  command('HMGET', {
    flags: ['read', 'fast'],
    since: '2.0.0',
    args: [key('R'), fieldsArg],
    run({ db }, key, asked) {
      const fields = db.container(key, HashValue)
      return asked.map((field) => fields?.get(field) ?? null)
    },
  }),

  removal('HDEL', {
    since: '2.0.0',
    names: fieldsArg,
    type: HashValue,
    eventClass: 'h',
    remove: (hash, field) => hash.delete(field),
  }),

  command('HEXISTS', {
    flags: ['read', 'fast'],
    since: '2.0.0',
    args: [key(''), field],
    run: ({ db }, key, field) => (db.container(key, HashValue)?.has(field) ? 1 : 0),
  }),

  lengthOf('HLEN', HashValue, (hash) => hash.size, '2.0.0'),

  command('HSTRLEN', {
    flags: ['read', 'fast'],
    since: '3.2.0',
    args: [key(''), field],
    run: ({ db }, key, field) => db.container(key, HashValue)?.get(field)?.length ?? 0,
  }),

  listing('HGETALL', (field, value, into) => into.push(field, value)),
  listing('HKEYS', (field, _, into) => into.push(field)),
  listing('HVALS', (_, value, into) => into.push(value)),

  command('HINCRBY', {
    flags: ['write', 'fast'],
    since: '2.0.0',
    args: [key('RW'), field, named('increment', int64)],
    run({ db }, key, field, increment) {
      const hash = db.container(key, HashValue, 'create')
      const current = parseInt64(hash.get(field) ?? ('0' as Bytes))
      if (current === undefined) throw replyError('hashNotInteger')
      const sum = sumInt64(current, increment)
      // Unlike HSET, an increment keeps the expiration of the field.
      hash.set(field, String(sum) as Bytes)
      db.notify('h', 'hincrby', key)
      return sum
    },
  }),

  command('HINCRBYFLOAT', {
    flags: ['write', 'fast'],
    since: '2.6.0',
    args: [key('RW'), field, named('increment', float)],
    run({ db }, key, field, increment) {
      if (!Number.isFinite(increment)) throw replyError('nanOrInfinity')
      const hash = db.container(key, HashValue, 'create')
      const current = parseDouble(hash.get(field) ?? ('0' as Bytes))
      if (current === undefined) throw replyError('hashNotFloat')
      const sum = current + increment
      if (!Number.isFinite(sum)) throw replyError('notFinite')
      const text = formatDecimal(sum)
      hash.set(field, text)
      db.notify('h', 'hincrbyfloat', key)
      return text
    },
  }),

  command('HRANDFIELD', {
    flags: ['read', 'slow'],
    since: '6.2.0',
    args: [key('R'), words('[count [WITHVALUES]]')],
    run({ db, random }, key, options) {
      const { count, withValues } = randomOptions(options, 'WITHVALUES')
      const fields = db.container(key, HashValue)
      if (fields === undefined) return count === undefined ? null : []
      if (count === undefined) return fields.random(random)
      const picked = pickNames(
        count,
        fields.size,
        (chance) => fields.random(chance),
        () => fields.keys(),
        { random, db },
        withValues ? 24 : 0,
      )
      return withValues ? picked.flatMap((field) => [field, fields.get(field)!]) : picked
    },
  }),

  command('HSCAN', {
    flags: ['read', 'slow'],
    since: '2.8.0',
    deviations: `NOVALUES is new in redis 7.4. ${wholePages}`,
    args: [key('R'), cursorArg, words('[MATCH pattern] [COUNT count] [NOVALUES]')],
    run({ db, store }, key, cursor, given) {
      const hash = db.container(key, HashValue)
      if (hash === undefined) return emptyScan
      const options = toScanOptions(given, store.options.policy.scanPageSize, db.work, true)
      const page =
        cursor === 0 && isCompactHash(hash)
          ? wholePage(hash.keys())
          : hash.scan(cursor, pageSize(options, hash.size, db))
      return scanReply(page, options, (field, into) => {
        into.push(field)
        if (!options.noValues) into.push(hash.get(field)!)
      })
    },
  }),

  ...hashExpiryCommands,
]

/** Sets alternating fields and values; returns the number of new fields. */
function setPairs(key: Bytes, pairs: readonly Bytes[], { db }: CommandContext): number {
  const hash = db.container(key, HashValue, 'create')
  let added = 0
  for (let at = 0; at < pairs.length; at += 2) if (hash.write(pairs[at]!, pairs[at + 1]!)) added++
  db.notify('h', 'hset', key)
  return added
}

function listing(name: string, show: (field: Bytes, value: Bytes, into: Bytes[]) => void): Command {
  return command(name, {
    flags: ['read', 'slow'],
    since: '2.0.0',
    args: [key('R')],
    work: (db, key) => 2 * db.sizeOf(key),
    run({ db }, key): Reply {
      const items: Bytes[] = []
      db.container(key, HashValue)?.forEach((value, field) => {
        show(field, value, items)
      })
      return items
    },
  })
}
