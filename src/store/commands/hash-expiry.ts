/**
 * Expiration of single hash fields, which is newer than redis 7.0. [store.md 7.2] Where the specification is silent,
 * the rules and the order of checks are those of redis 7.4 and 8.0.
 */
import type { Bytes } from '../../kernel/bytes.js'
import { bytes, deadlineIn, key, named, toInt64 } from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { type ErrorName, replyError } from '../command/errors.js'
import type { Reply } from '../command/reply.js'
import { HashValue } from '../values/hash-value.js'
import { intFrom, words } from './collection-arguments.js'

/**
 * Difference from redis-server: the service has no maximum time. Some clients pass milliseconds as seconds, and the
 * service accepts them. [store.md 7.2]
 */
const asLateAsKeys = 'Accepts the same times as for keys. redis-server accepts at most 2^46 milliseconds.'

const fieldsUsage = 'FIELDS numfields field [field …]'

const noField = -2
const noDeadline = -1
const conditionNotMet = 0
const deadlineSet = 1
const fieldDeleted = 2

type Unit = 1 | 1000
type From = 'now' | 'epoch'

const times: Readonly<Record<string, readonly [unit: Unit, from: From]>> = {
  EX: [1000, 'now'],
  PX: [1, 'now'],
  EXAT: [1000, 'epoch'],
  PXAT: [1, 'epoch'],
}

export const hashExpiryCommands: readonly Command[] = [
  expire('HEXPIRE', 1000, 'now'),
  expire('HPEXPIRE', 1, 'now'),
  expire('HEXPIREAT', 1000, 'epoch'),
  expire('HPEXPIREAT', 1, 'epoch'),

  timeOf('HTTL', (at, now) => Math.ceil((at - now) / 1000)),
  timeOf('HPTTL', (at, now) => at - now),
  // [store.md 7.2]
  timeOf('HEXPIRETIME', (at) => Math.floor(at / 1000), 'Rounded down; redis-server rounds up.'),
  timeOf('HPEXPIRETIME', (at) => at),

  command('HPERSIST', {
    flags: ['write', 'fast'],
    since: '7.4.0',
    args: [key('W'), words(fieldsUsage, 3)],
    run({ db }, key, given) {
      const hash = db.container(key, HashValue)
      const fields = fieldsAt(given, 0, 'fieldsCount')
      const replies = fields.map((field) => {
        if (!hash?.has(field)) return noField
        return hash.dropDeadline(field) ? deadlineSet : noDeadline
      })
      if (replies.includes(deadlineSet)) db.notify('h', 'hpersist', key)
      return replies
    },
  }),

  command('HGETDEL', {
    flags: ['write', 'fast'],
    since: '8.0.0',
    args: [key('RW'), words(fieldsUsage, 3)],
    run({ db }, key, given) {
      const hash = db.container(key, HashValue)
      const fields = fieldsAt(given, 0, 'fieldsCount')
      if (hash === undefined) return fields.map(() => null)
      const before = hash.size
      const values = fields.map((field) => {
        const value = hash.get(field) ?? null
        hash.delete(field)
        return value
      })
      if (hash.size < before) db.notify('h', 'hdel', key)
      return values
    },
  }),

  command('HGETEX', {
    flags: ['write', 'fast'],
    since: '8.0.0',
    deviations: asLateAsKeys,
    args: [key('RW'), words(`[EX seconds | PX ms | EXAT unix-s | PXAT unix-ms | PERSIST] ${fieldsUsage}`, 3)],
    run: (context, key, given) => getAndExpire(key, given, context),
  }),

  command('HSETEX', {
    flags: ['write', 'fast'],
    since: '8.0.0',
    deviations: asLateAsKeys,
    args: [
      key('W'),
      words(
        '[FNX | FXX] [EX seconds | PX ms | EXAT unix-s | PXAT unix-ms | KEEPTTL] FIELDS numfields field value [field value …]',
        4,
      ),
    ],
    run: (context, key, given) => setAndExpire(key, given, context),
  }),
]

// ---- parsing ----------------------------------------------------------------------------------------------------

/** Parses `FIELDS numfields field [field …]` from this position to the end. */
function fieldsAt(given: readonly Bytes[], at: number, countError: ErrorName, wordsEach = 1): Bytes[] {
  if (given[at]?.toUpperCase() !== 'FIELDS') throw replyError('fieldsMissing')
  if (given[at + 1] === undefined) throw replyError('fieldsMismatch')
  const count = intFrom(1, given[at + 1]!, countError)
  const rest = given.slice(at + 2)
  if (rest.length !== count * wordsEach) throw replyError('fieldsMismatch')
  return rest
}

/**
 * Converts a time argument to an expiration in milliseconds since the Unix epoch. The expiration can be in the past.
 */
function toDeadline(word: Bytes, unit: Unit, from: number, command: string): number {
  const time = toInt64(word)
  if (time < 0) throw replyError('negativeExpire')
  return deadlineIn(time, unit, from, command)
}

function expire(name: string, unit: Unit, from: From): Command {
  const seconds = unit === 1000 ? 'seconds' : 'milliseconds'
  return command(name, {
    flags: ['write', 'fast'],
    since: '7.4.0',
    deviations: asLateAsKeys,
    args: [
      key('W'),
      named(from === 'epoch' ? `unix-time-${seconds}` : seconds, bytes),
      words('[NX | XX | GT | LT] FIELDS numfields field [field …]', 3),
    ],
    run({ db, now }, key, time, given) {
      const hash = db.container(key, HashValue)
      const at = toDeadline(time, unit, from === 'now' ? now : 0, name)
      const condition = /^(NX|XX|GT|LT)$/i.test(given[0]!) ? given[0]!.toUpperCase() : undefined
      const fields = fieldsAt(given, condition === undefined ? 0 : 1, 'fieldsCountExpire')
      if (hash === undefined) return fields.map(() => noField)
      const replies = fields.map((field) => expireField(hash, field, at, condition, now))
      if (replies.includes(fieldDeleted)) db.notify('h', 'hdel', key)
      else if (replies.includes(deadlineSet)) db.notify('h', 'hexpire', key)
      db.watchParts(key)
      return replies
    },
  })
}

function expireField(hash: HashValue, field: Bytes, at: number, condition: string | undefined, now: number): number {
  if (!hash.has(field)) return noField
  if (condition !== undefined && !mayReplace(hash.deadline(field), at, condition)) return conditionNotMet
  if (at <= now) {
    hash.delete(field)
    return fieldDeleted
  }
  hash.setDeadline(field, at)
  return deadlineSet
}

/** Returns whether a new expiration may replace the old one. A missing expiration counts as later than any other. */
function mayReplace(old: number | undefined, at: number, condition: string): boolean {
  if (condition === 'NX') return old === undefined
  if (condition === 'XX') return old !== undefined
  if (condition === 'GT') return old !== undefined && at > old
  return old === undefined || at < old
}

function timeOf(name: string, show: (at: number, now: number) => number, deviations = ''): Command {
  return command(name, {
    flags: ['read', 'fast'],
    since: '7.4.0',
    deviations,
    args: [key('R'), words(fieldsUsage, 3)],
    run({ db, now }, key, given) {
      const hash = db.container(key, HashValue)
      return fieldsAt(given, 0, 'fieldsCount').map((field) => {
        if (!hash?.has(field)) return noField
        const at = hash.deadline(field)
        return at === undefined ? noDeadline : show(at, now)
      })
    },
  })
}

function getAndExpire(key: Bytes, given: readonly Bytes[], { db, now }: CommandContext): Reply {
  const hash = db.container(key, HashValue)
  const option = given[0]!.toUpperCase()
  const time = times[option]
  const at = time && toDeadline(given[1]!, time[0], time[1] === 'now' ? now : 0, 'hgetex')
  const fields = fieldsAt(given, time ? 2 : option === 'PERSIST' ? 1 : 0, 'fieldsCount')
  if (hash === undefined) return fields.map(() => null)
  const replies = fields.map((field) => hash.get(field) ?? null)
  if (at !== undefined) expireAll(key, hash, fields, at, { db, now })
  if (option === 'PERSIST' && fields.filter((field) => hash.dropDeadline(field)).length > 0) {
    db.notify('h', 'hpersist', key)
  }
  return replies
}

function expireAll(
  key: Bytes,
  hash: HashValue,
  fields: readonly Bytes[],
  at: number,
  { db, now }: Pick<CommandContext, 'db' | 'now'>,
): void {
  const outcomes = fields.map((field) => expireField(hash, field, at, undefined, now))
  if (outcomes.includes(fieldDeleted)) db.notify('h', 'hdel', key)
  else if (outcomes.includes(deadlineSet)) db.notify('h', 'hexpire', key)
  db.watchParts(key)
}

interface SetOptions {
  readonly condition: 'FNX' | 'FXX' | undefined
  readonly at: number | undefined
  readonly keepsDeadlines: boolean
  readonly pairs: readonly Bytes[]
}

function setAndExpire(key: Bytes, given: readonly Bytes[], context: CommandContext): Reply {
  const { db } = context
  const existing = db.container(key, HashValue)
  const { condition, at, keepsDeadlines, pairs } = setOptions(given, context.now)
  const fields = pairs.filter((_, place) => place % 2 === 0)
  const present = fields.filter((field) => existing?.has(field)).length
  if (condition === 'FNX' ? present > 0 : condition === 'FXX' && present < fields.length) return 0
  const hash = existing ?? db.container(key, HashValue, 'create')
  for (let place = 0; place < pairs.length; place += 2) {
    const [field, value] = [pairs[place]!, pairs[place + 1]!]
    if (keepsDeadlines) hash.set(field, value)
    else hash.write(field, value)
  }
  db.notify('h', 'hset', key)
  if (at !== undefined) expireAll(key, hash, fields, at, context)
  return 1
}

function setOptions(given: readonly Bytes[], now: number): SetOptions {
  let condition: SetOptions['condition']
  let at: number | undefined
  let keepsDeadlines = false
  for (let place = 0; ; place++) {
    const option = given[place]?.toUpperCase() ?? ''
    const time = times[option]
    if (option === 'FNX' || option === 'FXX') {
      if (condition !== undefined) throw replyError('onlyOneFieldCondition')
      condition = option
    } else if (time !== undefined || option === 'KEEPTTL') {
      if (at !== undefined || keepsDeadlines) throw replyError('onlyOneTime')
      if (time === undefined) keepsDeadlines = true
      else at = toDeadline(given[++place] ?? ('' as Bytes), time[0], time[1] === 'now' ? now : 0, 'hsetex')
    } else {
      return { condition, at, keepsDeadlines, pairs: fieldsAt(given, place, 'fieldsCount', 2) }
    }
  }
}
