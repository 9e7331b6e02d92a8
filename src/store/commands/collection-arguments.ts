/** Arguments that commands of several collection types share, with the errors of redis. */
import type { Bytes } from '../../kernel/bytes.js'
import { globMatcher } from '../../kernel/glob.js'
import type { Random } from '../../kernel/random.js'
import type { Work } from '../../kernel/work.js'
import { type Arg, int, type KeyUse, named, toInt } from '../command/arguments.js'
import type { CommandContext } from '../command/command.js'
import { type ErrorName, replyError } from '../command/errors.js'
import type { Reply } from '../command/reply.js'
import { parseInt64 } from '../command/text.js'
import type { Database } from '../keyspace/database.js'
import type { ScanPage } from '../values/ordered-table.js'

/**
 * Returns a parser that returns all remaining arguments unparsed. Commands need this if their options depend on each
 * other or on the key.
 */
export function words(usage: string, min = 0): Arg<Bytes[]> {
  return {
    usage,
    min,
    max: Number.POSITIVE_INFINITY,
    read(from) {
      const all: Bytes[] = []
      while (from.left > 0) all.push(from.next())
      return all
    },
  }
}

/**
 * Parses an integer that must be `least` or more. Throws the given error for a smaller integer and for any other text.
 */
export function intFrom(least: number, word: Bytes, error: ErrorName): number {
  const value = parseInt64(word)
  if (value === undefined || value < least) throw replyError(error)
  return Number(value)
}

/**
 * Returns a parser for an integer between two bounds. The parser rejects an invalid integer before later arguments are
 * read.
 */
export function within(usage: string, least: number, most: number, error: ErrorName): Arg<number> {
  return {
    ...named(usage, int),
    read(from) {
      const value = int.read(from)
      if (value < least || value > most) throw replyError(error)
      return value
    },
  }
}

/**
 * Parses a count that may be negative, as in `SRANDMEMBER key -5`. Rejects the smallest 64-bit integer, because it has
 * no positive counterpart.
 */
export function signedCount(word: Bytes): number {
  const value = parseInt64(word)
  if (value === -(2n ** 63n)) throw replyError('signedRange')
  return toInt(word)
}

function positive(word: Bytes): number {
  return intFrom(1, word, 'numkeysPositive')
}

/**
 * Returns a parser for `numkeys key [key …]`.
 * @param tooMany the name of the error if `numkeys` is larger than the number of remaining arguments
 * @param readCount parses `numkeys`, and throws the command's own error if it is invalid
 */
export function numberedKeys(
  use: KeyUse,
  tooMany: ErrorName,
  readCount: (word: Bytes) => number = positive,
): Arg<Bytes[]> {
  return {
    usage: 'numkeys key [key …]',
    min: 2,
    max: Number.POSITIVE_INFINITY,
    read(from) {
      const count = readCount(from.next())
      if (count > from.left) throw replyError(tooMany)
      const keys: Bytes[] = []
      while (keys.length < count) keys.push(from.key(use))
      return keys
    },
  }
}

/** Options `[MATCH pattern] [COUNT count]` of HSCAN, SSCAN and ZSCAN. */
export interface ScanOptions {
  readonly matches: (name: Bytes) => boolean
  readonly count: number
  readonly noValues: boolean
}

/**
 * Parser for a cursor. Like C's `strtoul`, it accepts a sign and reads an empty argument as 0. The cursor is checked
 * before any option.
 */
export const wideCursorArg: Arg<bigint> = { usage: 'cursor', min: 1, max: 1, read: (from) => toCursor(from.next()) }

/** Parser for the cursor of HSCAN, SSCAN and ZSCAN, which is a small number. */
export const cursorArg: Arg<number> = { ...wideCursorArg, read: (from) => Number(toCursor(from.next())) }

function toCursor(word: Bytes): bigint {
  const digits = /^([+-]?)([0-9]*)$/.exec(word)
  if (!digits || (digits[1] !== '' && digits[2] === '')) throw replyError('invalidCursor')
  const value = BigInt(digits[2] || 0)
  if (value >= 2n ** 64n) throw replyError('invalidCursor')
  return digits[1] === '-' ? BigInt.asUintN(64, -value) : value
}

/** Text for the field `deviations` of all scan commands. It describes a difference from redis-server. */
export const wholePages = 'Without COUNT one call visits `policy.scanPageSize` (1000) keys, not 10.'

/**
 * Parses the options of a scan.
 * @param pageSize the number of names per page if COUNT is absent
 */
export function toScanOptions(
  words: readonly Bytes[],
  pageSize: number,
  work: Work,
  takesNoValues = false,
): ScanOptions {
  let matches = everything
  let count = pageSize
  let noValues = false
  for (let at = 0; at < words.length; at++) {
    const option = words[at]!.toUpperCase()
    const value = words[at + 1]
    if (option === 'COUNT' && value !== undefined) {
      count = toInt(value)
      if (count < 1) throw replyError('syntax')
      at++
    } else if (option === 'MATCH' && value !== undefined) {
      matches = globMatcher(value, work)
      at++
    } else if (option === 'NOVALUES' && takesNoValues) {
      noValues = true
    } else {
      throw replyError('syntax')
    }
  }
  return { matches, count, noValues }
}

const everything = (_name: Bytes): boolean => true

/** Returns all keys as one page, for a collection with a compact encoding. */
export function wholePage(keys: Iterable<Bytes>): ScanPage {
  return { keys: [...keys], cursor: 0 }
}

/** Returns the number of names on the next page. Charges a large page to the work budget. */
export function pageSize({ count }: ScanOptions, size: number, { work }: Database): number {
  if (count > 100) work.charge(4 * Math.min(count, size))
  return count
}

/** Returns a page as the reply of a scan. `show` appends the items for one name. Cursors are strings. [store.md 7.2] */
export function scanReply(page: ScanPage, options: ScanOptions, show: (name: Bytes, into: Bytes[]) => void): Reply {
  const items: Bytes[] = []
  for (const name of page.keys) if (options.matches(name)) show(name, items)
  return [String(page.cursor) as Bytes, items]
}

export const emptyScan: Reply = ['0' as Bytes, []]

/** Maximum number of names in a reply. redis-server has no such limit, and would run out of memory instead. */
export const maxRepeats: number = 2 ** 24

/** Units of work for picking one name at random and returning it. */
const unitsPerPick = 14

/**
 * Picks random names as HRANDFIELD, SRANDMEMBER and ZRANDMEMBER do. A positive `count` picks different names, at most
 * all `size` names. A negative `count` may repeat names: -5 always picks 5 names.
 * @param unitsMore the additional work for each name
 */
export function pickNames(
  count: number,
  size: number,
  pick: (random: Random) => Bytes,
  names: () => Iterable<Bytes>,
  { random, db }: Pick<CommandContext, 'random' | 'db'>,
  unitsMore = 0,
): Bytes[] {
  if (size === 0) return []
  if (count < -maxRepeats) throw replyError('valueRange')
  if (count !== 1) {
    const picked = count < 0 ? -count : Math.min(count, size)
    db.work.charge((unitsPerPick + unitsMore) * picked + (count > 0 && count * 3 >= size ? 4 * size : 0))
  }
  if (count < 0) return Array.from({ length: -count }, () => pick(random))
  if (count >= size) return [...names()]
  // If few of many names are requested, picks names until enough of them are different. Otherwise, shuffles the first
  // `count` positions.
  if (count * 3 < size) {
    const picked = new Set<Bytes>()
    while (picked.size < count) picked.add(pick(random))
    return [...picked]
  }
  const all = [...names()]
  for (let at = 0; at < count; at++) {
    const other = at + random.int(all.length - at)
    const name = all[at]!
    all[at] = all[other]!
    all[other] = name
  }
  return all.slice(0, count)
}

/**
 * Parses `[count [WITHVALUES]]` of HRANDFIELD and `[count [WITHSCORES]]` of ZRANDMEMBER. With values, the reply has
 * twice as many items, so twice the count must fit into a number.
 */
export function randomOptions(
  options: readonly Bytes[],
  keyword: 'WITHSCORES' | 'WITHVALUES',
): { count: number | undefined; withValues: boolean } {
  const [word, withWord, ...surplus] = options
  if (word === undefined) return { count: undefined, withValues: false }
  const count = signedCount(word)
  if (surplus.length > 0 || (withWord !== undefined && withWord.toUpperCase() !== keyword)) throw replyError('syntax')
  if (withWord !== undefined && Math.abs(count) > 2 ** 62) throw replyError('valueRange')
  return { count, withValues: withWord !== undefined }
}
