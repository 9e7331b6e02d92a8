import { type Bytes, fromArray, latin1, toArray } from '../../kernel/bytes.js'
import { ArgReader, bytes, flag, int64, key, named, options, zeroOrMore } from '../command/arguments.js'
import { type Command, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import type { Reply } from '../command/reply.js'
import type { Database } from '../keyspace/database.js'
import { commonRanges, lengthOfCommon, type MatchedRange } from '../values/common-subsequence.js'
import { RawString } from '../values/raw-string.js'
import { maxStringLength } from './string.js'

const wishes = options({ len: flag, idx: flag, minmatchlen: named('min-match-len', int64), withmatchlen: flag })

/** Returns a string; a missing key counts as empty. */
function stringAt(db: Database, key: Bytes): Bytes | RawString {
  const value = db.use(key) ?? latin1('')
  if (typeof value === 'string' || value instanceof RawString) return value
  throw replyError('lcsNotStrings')
}

function bytesOf(string: Bytes | RawString): Uint8Array {
  return typeof string === 'string' ? toArray(string) : string.array
}

function lengthAt(db: Database, key: Bytes): number {
  const value = db.value(key)
  return typeof value === 'string' || value instanceof RawString ? value.length : 0
}

/**
 * Returns whether redis-server would reject the strings as too long. redis-server allocates four bytes for each pair of
 * bytes, up to a limit.
 */
function isTooLarge(a: number, b: number): boolean {
  return 4 * (a + 1) * (b + 1) > maxStringLength
}

function shownRange({ a, b, length }: MatchedRange, withLength: boolean): Reply {
  return withLength ? [a, b, length] : [a, b]
}

export const lcsCommands: readonly Command[] = [
  command('LCS', {
    flags: ['read', 'slow'],
    since: '7.0.0',
    status: 'redis',
    // The options are parsed after the check of the keys, because redis reports errors in options last.
    args: [key('R'), key('R'), named(wishes.usage, zeroOrMore(bytes))],
    work(db, one, other) {
      const [a, b] = [lengthAt(db, one), lengthAt(db, other)]
      return isTooLarge(a, b) ? 0 : Math.ceil(2 * a + b / 2 + (a * b) / 120)
    },
    run({ db }, one, other, given) {
      const [first, second] = [stringAt(db, one), stringAt(db, other)]
      const { len, idx, minmatchlen = 0, withmatchlen = false } = wishes.read(new ArgReader('LCS', given, 0))
      if (len && idx) throw replyError('lcsBoth')
      if (isTooLarge(first.length, second.length)) throw replyError('lcsTooLarge')
      const [a, b] = [bytesOf(first), bytesOf(second)]
      if (len) return lengthOfCommon(a, b)
      const ranges = commonRanges(a, b)
      if (!idx) {
        const parts = ranges.toReversed().map(({ a: [start, end] }) => fromArray(a.subarray(start, end + 1)))
        return latin1(parts.join(''))
      }
      const shown = ranges.filter(({ length }) => length >= minmatchlen)
      const length = ranges.reduce((sum, range) => sum + range.length, 0)
      return [latin1('matches'), shown.map((range) => shownRange(range, withmatchlen)), latin1('len'), length]
    },
  }),
]
