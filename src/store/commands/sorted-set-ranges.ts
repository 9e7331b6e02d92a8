/** Range arguments of ZRANGE and the eleven related commands: by rank, by score or by bytes, in both directions. */
import type { Bytes } from '../../kernel/bytes.js'
import { toInt } from '../command/arguments.js'
import { replyError } from '../command/errors.js'
import { clampRange, formatScore, type IndexRange, parseLexRange, parseScoreRange } from '../command/text.js'
import type { SortedSet } from '../values/sorted-set-value.js'

export type RangeKind = 'rank' | 'score' | 'lex'

/**
 * Properties of a range request that follow from the name of the command, such as ZREVRANGE. The options determine all
 * others.
 */
export interface RangeForm {
  readonly by?: RangeKind
  readonly reverse?: boolean
  /** Whether the command stores the result, and therefore has no WITHSCORES. */
  readonly stores?: boolean
}

export interface RangeRequest {
  readonly reverse: boolean
  readonly withScores: boolean
  /** Returns the ranks that the request selects. LIMIT is already applied. */
  ranksIn(set: SortedSet): IndexRange
}

interface RangeWords {
  by: RangeKind
  reverse: boolean
  withScores: boolean
  offset: number
  limit: number
}

/** Text for `deviations` of ZRANGE and ZRANGESTORE: a difference between redis-server and this store. */
export const limitsRanks = 'LIMIT also works with ranks. redis-server rejects this combination.'

/** Parses options first, then conflicts, then bounds: the order in which redis reports errors. */
export function toRangeRequest(start: Bytes, stop: Bytes, options: readonly Bytes[], form: RangeForm): RangeRequest {
  const words = rangeWords(options, form)
  const { by, reverse, withScores, offset, limit } = words
  // LIMIT is rejected by commands that only accept ranks. ZRANGE and ZRANGESTORE accept LIMIT even with ranks.
  // [store.md 7.2]
  if (limit !== -1 && form.by === 'rank') throw replyError('limitWithoutBy')
  if (withScores && by === 'lex') throw replyError('withScoresByLex')
  if (by === 'rank') {
    const ranks = ranksBetween(toInt(start), toInt(stop), reverse)
    if (form.by === 'rank') return { reverse, withScores, ranksIn: ranks }
    return { reverse, withScores, ranksIn: (set) => limited(ranks(set), reverse, offset, limit) }
  }
  // In a reversed range, the first bound is the greater one.
  const select = reverse ? selection(by, stop, start) : selection(by, start, stop)
  return { reverse, withScores, ranksIn: (set) => limited(select(set), reverse, offset, limit) }
}

function rangeWords(options: readonly Bytes[], form: RangeForm): RangeWords {
  let by = form.by
  let reverse = form.reverse
  let withScores = false
  let offset = 0
  let limit = -1
  for (let at = 0; at < options.length; at++) {
    const option = options[at]!.toUpperCase()
    if (option === 'WITHSCORES' && !form.stores) {
      withScores = true
    } else if (option === 'LIMIT' && at + 2 < options.length) {
      offset = toInt(options[++at]!)
      limit = toInt(options[++at]!)
    } else if (option === 'REV' && reverse === undefined) {
      reverse = true
    } else if (option === 'BYSCORE' && by === undefined) {
      by = 'score'
    } else if (option === 'BYLEX' && by === undefined) {
      by = 'lex'
    } else {
      throw replyError('syntax')
    }
  }
  return { by: by ?? 'rank', reverse: reverse ?? false, withScores, offset, limit }
}

/**
 * Returns the ranks from `start` to `stop`, both included. If the range is reversed, ranks count from the end of the
 * set.
 */
function ranksBetween(start: number, stop: number, reverse: boolean): (set: SortedSet) => IndexRange {
  return ({ size }) => {
    const { from, to } = clampRange(start, stop, size)
    return reverse ? { from: size - to, to: size - from } : { from, to }
  }
}

/**
 * Returns a function that returns the ranks in a set between two bounds.
 * @throws ReplyError when `min` or `max` is not a valid bound
 */
export function selection(by: 'score' | 'lex', min: Bytes, max: Bytes): (set: SortedSet) => IndexRange {
  if (by === 'score') {
    const range = parseScoreRange(min, max)
    if (range === undefined) throw replyError('scoreRange')
    return (set) => set.scoreRanks(range)
  }
  const range = parseLexRange(min, max)
  if (range === undefined) throw replyError('lexRange')
  return (set) => set.lexRanks(range)
}

/** Returns the ranks for ZREMRANGEBY… commands, which have no options. */
export function plainSelection(by: RangeKind, min: Bytes, max: Bytes): (set: SortedSet) => IndexRange {
  return by === 'rank' ? ranksBetween(toInt(min), toInt(max), false) : selection(by, min, max)
}

/** Applies `LIMIT offset count`: a negative count is no limit, a negative offset selects nothing. */
function limited({ from, to }: IndexRange, reverse: boolean, offset: number, limit: number): IndexRange {
  if (offset < 0) return { from: 0, to: 0 }
  const count = limit < 0 ? to - from : limit
  return reverse
    ? { from: Math.max(from, to - offset - count), to: to - offset }
    : { from: from + offset, to: Math.min(to, from + offset + count) }
}

/** Returns the members of the ranks, each followed by its score if requested. */
export function rangeReply(set: SortedSet, { from, to }: IndexRange, reverse: boolean, withScores: boolean): Bytes[] {
  const reply: Bytes[] = []
  set.walk(from, to, reverse, (member, score) => {
    reply.push(member)
    if (withScores) reply.push(formatScore(score))
  })
  return reply
}
