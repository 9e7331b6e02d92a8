import type { Bytes } from '../../kernel/bytes.js'
import { bytes, deadlineIn, key, named, toInt64, zeroOrMore } from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { replyError, unsupportedOption } from '../command/errors.js'
import type { Reply } from '../command/reply.js'

type Condition = 'NX' | 'XX' | 'GT' | 'LT'

function conditionsOf(words: readonly Bytes[]): ReadonlySet<Condition> {
  const conditions = new Set<Condition>()
  for (const word of words) {
    const condition = word.toUpperCase()
    if (!/^(NX|XX|GT|LT)$/.test(condition)) throw unsupportedOption(word)
    conditions.add(condition as Condition)
  }
  if (conditions.has('NX') && conditions.size > 1) throw replyError('nxWithOthers')
  if (conditions.has('GT') && conditions.has('LT')) throw replyError('gtAndLt')
  return conditions
}

/** Returns whether a new expiration may replace the old one. A missing expiration counts as later than any other. */
function mayReplace(old: number | undefined, at: number, conditions: ReadonlySet<Condition>): boolean {
  for (const condition of conditions) {
    if (condition === 'NX' && old !== undefined) return false
    if (condition === 'XX' && old === undefined) return false
    if (condition === 'GT' && (old === undefined || at <= old)) return false
    if (condition === 'LT' && old !== undefined && at >= old) return false
  }
  return true
}

function expire(name: string, since: string, unit: 1 | 1000, from: 'now' | 'epoch'): Command {
  const seconds = unit === 1000 ? 'seconds' : 'milliseconds'
  return command(name, {
    flags: ['write', 'fast', 'keyspace'],
    since,
    args: [
      key('W'),
      named(from === 'epoch' ? `unix-time-${seconds}` : seconds, bytes),
      named('[NX|XX|GT|LT …]', zeroOrMore(bytes)),
    ],
    run({ db, now }: CommandContext, key, time, conditions): Reply {
      const wanted = conditionsOf(conditions)
      const at = deadlineIn(toInt64(time), unit, from === 'now' ? now : 0, name)
      db.use(key)
      const entry = db.find(key)
      if (entry === undefined || !mayReplace(entry.expiresAt, at, wanted)) return 0
      if (at <= now) {
        db.delete(key)
        db.notify('g', 'del', key)
      } else {
        db.setDeadline(key, at)
        db.notify('g', 'expire', key)
      }
      return 1
    },
  })
}

/**
 * Declares a command that replies -2 for a missing key, -1 for a key without expiration, and otherwise the result of
 * `show`.
 */
function deadlineReader(name: string, since: string, show: (deadline: number, now: number) => number): Command {
  return command(name, {
    flags: ['read', 'fast', 'keyspace'],
    since,
    args: [key('R')],
    run({ db, now }, key) {
      const entry = db.find(key)
      if (entry === undefined) return -2
      return entry.expiresAt === undefined ? -1 : show(entry.expiresAt, now)
    },
  })
}

/** Converts milliseconds to seconds, rounded to the nearest integer. Half a second is rounded up. */
function inSeconds(milliseconds: number): number {
  return Math.floor((milliseconds + 500) / 1000)
}

export const expiryCommands: readonly Command[] = [
  expire('EXPIRE', '1.0.0', 1000, 'now'),
  expire('PEXPIRE', '2.6.0', 1, 'now'),
  expire('EXPIREAT', '1.2.0', 1000, 'epoch'),
  expire('PEXPIREAT', '2.6.0', 1, 'epoch'),
  deadlineReader('TTL', '1.0.0', (deadline, now) => inSeconds(deadline - now)),
  deadlineReader('PTTL', '2.6.0', (deadline, now) => deadline - now),
  deadlineReader('EXPIRETIME', '7.0.0', (deadline) => inSeconds(deadline)),
  deadlineReader('PEXPIRETIME', '7.0.0', (deadline) => deadline),

  command('PERSIST', {
    flags: ['write', 'fast', 'keyspace'],
    since: '2.2.0',
    args: [key('W')],
    run({ db }, key) {
      db.use(key)
      if (db.find(key)?.expiresAt === undefined) return 0
      db.setDeadline(key, undefined)
      db.notify('g', 'persist', key)
      return 1
    },
  }),
]
