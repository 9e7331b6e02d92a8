import type { Bytes } from '../../kernel/bytes.js'
import { bytes, key, named, oneOrMore, optional, toFloat } from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import { workOfMembers } from '../command/memory.js'
import { nilArray, type Reply } from '../command/reply.js'
import { formatScore } from '../command/text.js'
import type { Database } from '../keyspace/database.js'
import { isCompactSortedSet } from '../values/compact.js'
import { SortedSet } from '../values/sorted-set-value.js'
import {
  cursorArg,
  emptyScan,
  intFrom,
  numberedKeys,
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
import { popCount } from './list.js'
import {
  type CombinationForm,
  checkInputs,
  combine,
  inputKeys,
  type SetOperation,
  toCombinationOptions,
} from './sorted-set-combinations.js'
import {
  limitsRanks,
  plainSelection,
  type RangeForm,
  type RangeKind,
  rangeReply,
  selection,
  toRangeRequest,
} from './sorted-set-ranges.js'

/**
 * Units of work to find the place of a member that is added to a sorted set. `unitsPerRemoval` is for a member that is
 * removed.
 */
const unitsPerInsertion = 24
const unitsPerRemoval = 12

const member = named('member', bytes)
const min = named('min', bytes)
const max = named('max', bytes)

export const sortedSetCommands: readonly Command[] = [
  command('ZADD', {
    flags: ['write', 'fast'],
    since: '1.2.0',
    args: [key('W'), words('[NX | XX] [GT | LT] [CH] [INCR] score member [score member …]', 2)],
    work: (_db, _key, given) => workOfMembers(given.length / 2),
    run({ db }, key, given) {
      const { condition, pairs } = addWords(given)
      return addPairs(db, key, pairs, condition)
    },
  }),

  command('ZINCRBY', {
    flags: ['write', 'fast'],
    since: '1.2.0',
    args: [key('RW'), named('increment', bytes), member],
    run({ db }, key, increment, member) {
      // Redis parses the arguments like those of ZADD, so a keyword in place of the increment is a syntax error.
      const { condition, pairs } = addWords([increment, member])
      return addPairs(db, key, pairs, { ...condition, incr: true })
    },
  }),

  removal('ZREM', {
    since: '1.2.0',
    names: oneOrMore(member),
    type: SortedSet,
    eventClass: 'z',
    remove: (set, member) => set.delete(member),
  }),

  lengthOf('ZCARD', SortedSet, (set) => set.size, '1.2.0'),

  command('ZSCORE', {
    flags: ['read', 'fast'],
    since: '1.2.0',
    args: [key('R'), member],
    run: ({ db }, key, member) => scoreReply(db.container(key, SortedSet)?.score(member)),
  }),

  command('ZMSCORE', {
    flags: ['read', 'fast'],
    since: '6.2.0',
    args: [key('R'), oneOrMore(member)],
    run({ db }, key, members) {
      const set = db.container(key, SortedSet)
      return members.map((member) => scoreReply(set?.score(member)))
    },
  }),

  rank('ZRANK', false),
  rank('ZREVRANK', true),
  count('ZCOUNT', 'score'),
  count('ZLEXCOUNT', 'lex'),

  range('ZRANGE', {}, '1.2.0'),
  range('ZREVRANGE', { by: 'rank', reverse: true }, '1.2.0'),
  range('ZRANGEBYSCORE', { by: 'score', reverse: false }, '1.0.5'),
  range('ZREVRANGEBYSCORE', { by: 'score', reverse: true }, '2.2.0'),
  range('ZRANGEBYLEX', { by: 'lex', reverse: false }, '2.8.9'),
  range('ZREVRANGEBYLEX', { by: 'lex', reverse: true }, '2.8.9'),

  command('ZRANGESTORE', {
    flags: ['write', 'slow'],
    since: '6.2.0',
    deviations: limitsRanks,
    args: [key('W'), key('R'), min, max, words('[BYSCORE | BYLEX] [REV] [LIMIT offset count]')],
    run({ db }, destination, source, min, max, options) {
      const request = toRangeRequest(min, max, options, { stores: true })
      const set = db.container(source, SortedSet)
      const result = new SortedSet()
      if (set !== undefined) {
        const { from, to } = request.ranksIn(set)
        db.work.charge(unitsPerInsertion * Math.max(to - from, 0))
        set.walk(from, to, request.reverse, (member, score) => {
          result.set(member, score)
        })
      }
      return storeSortedSet(db, destination, result, 'zrangestore')
    },
  }),

  removeRange('ZREMRANGEBYRANK', 'rank', '2.0.0'),
  removeRange('ZREMRANGEBYSCORE', 'score', '1.2.0'),
  removeRange('ZREMRANGEBYLEX', 'lex', '2.8.9'),

  pop('ZPOPMIN', 'min'),
  pop('ZPOPMAX', 'max'),

  command('ZMPOP', {
    flags: ['write', 'slow'],
    since: '7.0.0',
    args: [numberedKeys('RW', 'syntax'), words('MIN | MAX [COUNT count]', 1)],
    run({ db }, keys, where) {
      const [side, ...options] = where
      const end = side?.toUpperCase()
      if (end !== 'MIN' && end !== 'MAX') throw replyError('syntax')
      const count = popCount(options)
      for (const key of keys) {
        const set = db.container(key, SortedSet)
        if (set !== undefined) return [key, take(db, key, set, end === 'MIN' ? 'min' : 'max', count).map(pairReply)]
      }
      return nilArray
    },
  }),

  command('ZRANDMEMBER', {
    flags: ['read', 'slow'],
    since: '6.2.0',
    args: [key('R'), words('[count [WITHSCORES]]')],
    run: (context, key, options) => randomMembers(key, options, context),
  }),

  command('ZSCAN', {
    flags: ['read', 'slow'],
    since: '2.8.0',
    deviations: wholePages,
    args: [key('R'), cursorArg, words('[MATCH pattern] [COUNT count]')],
    run({ db, store }, key, cursor, given) {
      const set = db.container(key, SortedSet)
      if (set === undefined) return emptyScan
      const options = toScanOptions(given, store.options.policy.scanPageSize, db.work)
      const isWhole = cursor === 0 && isCompactSortedSet(set)
      const page = isWhole ? wholePage(set.members()) : set.scan(cursor, pageSize(options, set.size, db))
      return scanReply(page, options, (member, into) => {
        into.push(member, formatScore(set.score(member)!))
      })
    },
  }),

  ...combination('ZUNION', 'union'),
  ...combination('ZINTER', 'inter'),
  ...combination('ZDIFF', 'diff'),

  command('ZINTERCARD', {
    flags: ['read', 'slow'],
    since: '7.0.0',
    args: [inputKeys('zintercard'), words('[LIMIT limit]')],
    work: (db, keys) => combinationWork(db, keys, 'inter'),
    run: ({ db }, keys, options) => combined(db, keys, options, { operation: 'inter', result: 'count' }).set.size,
  }),
]

// ---- adding -----------------------------------------------------------------------------------------------------

export interface Pair {
  readonly score: number
  readonly member: Bytes
}

/** Options NX, XX, GT, LT, CH and INCR of an addition. */
export interface AddCondition {
  readonly nx: boolean
  readonly xx: boolean
  readonly gt: boolean
  readonly lt: boolean
  /** Whether members with a changed score also count in the reply. */
  readonly ch: boolean
  readonly incr: boolean
}

export const unconditional: AddCondition = { nx: false, xx: false, gt: false, lt: false, ch: false, incr: false }

function addWords(given: readonly Bytes[]): { condition: AddCondition; pairs: Pair[] } {
  const condition = { ...unconditional }
  let at = 0
  for (; at < given.length; at++) {
    const option = given[at]!.toLowerCase()
    if (!Object.hasOwn(condition, option)) break
    condition[option as keyof typeof condition] = true
  }
  const { nx, xx, gt, lt, incr } = condition
  const rest = given.length - at
  if (rest === 0 || rest % 2 === 1) throw replyError('syntax')
  if (nx && xx) throw replyError('xxAndNx')
  if ((gt && nx) || (lt && nx) || (gt && lt)) throw replyError('gtLtNx')
  if (incr && rest > 2) throw replyError('incrSinglePair')
  const pairs: Pair[] = []
  for (; at < given.length; at += 2) pairs.push({ score: toFloat(given[at]!), member: given[at + 1]! })
  return { condition, pairs }
}

export function addPairs(db: Database, key: Bytes, pairs: readonly Pair[], condition: AddCondition): Reply {
  const { xx, ch, incr } = condition
  const set = xx ? db.container(key, SortedSet) : db.container(key, SortedSet, 'create')
  if (set === undefined) return incr ? null : 0
  let added = 0
  let changed = 0
  let score: number | undefined
  for (const pair of pairs) {
    const before = set.score(pair.member)
    score = scoreAfter(before, pair.score, condition)
    if (score === undefined || score === before) continue
    set.set(pair.member, score)
    if (before === undefined) added++
    else changed++
  }
  if (added + changed > 0) db.notify('z', incr ? 'zincr' : 'zadd', key)
  if (incr) return scoreReply(score)
  return ch ? added + changed : added
}

/** Returns the new score of a member; `undefined` if a condition prevents the addition. */
function scoreAfter(
  before: number | undefined,
  given: number,
  { nx, xx, gt, lt, incr }: AddCondition,
): number | undefined {
  if (before === undefined) return xx ? undefined : given
  if (nx) return undefined
  const score = incr ? before + given : given
  if (Number.isNaN(score)) throw replyError('scoreNotNumber')
  if ((gt && score <= before) || (lt && score >= before)) return undefined
  return score
}

// ---- families ---------------------------------------------------------------------------------------------------

function rank(name: string, reverse: boolean): Command {
  return command(name, {
    flags: ['read', 'fast'],
    since: '2.0.0',
    deviations: 'WITHSCORE is new in redis 7.2.',
    args: [key('R'), member, optional(named('WITHSCORE', bytes))],
    surplus: 'arity',
    run({ db }, key, member, withScore) {
      if (withScore !== undefined && withScore.toUpperCase() !== 'WITHSCORE') throw replyError('syntax')
      const set = db.container(key, SortedSet)
      const rank = set?.rank(member)
      if (set === undefined || rank === undefined) return withScore === undefined ? null : nilArray
      const place = reverse ? set.size - 1 - rank : rank
      return withScore === undefined ? place : [place, formatScore(set.score(member)!)]
    },
  })
}

function count(name: string, by: 'score' | 'lex'): Command {
  return command(name, {
    flags: ['read', 'fast'],
    since: by === 'score' ? '2.0.0' : '2.8.9',
    args: [key('R'), min, max],
    run({ db }, key, min, max) {
      const select = selection(by, min, max)
      const set = db.container(key, SortedSet)
      if (set === undefined) return 0
      const { from, to } = select(set)
      return to - from
    },
  })
}

function range(name: string, form: RangeForm, since: string): Command {
  const usage = [
    form.by ? '' : '[BYSCORE | BYLEX] [REV]',
    form.by === 'lex' ? '' : '[WITHSCORES]',
    form.by === 'rank' ? '' : '[LIMIT offset count]',
  ]
  return command(name, {
    flags: ['read', 'slow'],
    since,
    deviations: form.by === undefined ? limitsRanks : '',
    args: [
      key('R'),
      named(form.reverse ? 'max' : 'min', bytes),
      named(form.reverse ? 'min' : 'max', bytes),
      words(usage.filter(Boolean).join(' ')),
    ],
    run({ db }, key, start, stop, options) {
      const request = toRangeRequest(start, stop, options, form)
      const set = db.container(key, SortedSet)
      if (set === undefined) return []
      const ranks = request.ranksIn(set)
      db.work.charge((request.withScores ? 8 : 2) * Math.max(ranks.to - ranks.from, 0))
      return rangeReply(set, ranks, request.reverse, request.withScores)
    },
  })
}

function removeRange(name: string, by: RangeKind, since: string): Command {
  return command(name, {
    flags: ['write', 'slow'],
    since,
    args: [key('W'), min, max],
    run({ db }, key, min, max) {
      const select = plainSelection(by, min, max)
      const set = db.container(key, SortedSet)
      if (set === undefined) return 0
      const { from, to } = select(set)
      db.work.charge(unitsPerRemoval * Math.max(to - from, 0))
      const removed = set.removeRanks(from, to)
      if (removed > 0) db.notify('z', name.toLowerCase(), key)
      return removed
    },
  })
}

function pop(name: string, end: 'min' | 'max'): Command {
  return command(name, {
    flags: ['write', 'fast'],
    since: '5.0.0',
    args: [key('RW'), optional(named('count', bytes))],
    run({ db }, key, word) {
      const count = word === undefined ? 1 : intFrom(0, word, 'negativeNotAllowed')
      const set = db.container(key, SortedSet)
      if (set === undefined || count === 0) return []
      return take(db, key, set, end, count).flatMap(pairReply)
    },
  })
}

function take(db: Database, key: Bytes, set: SortedSet, end: 'min' | 'max', count: number): Pair[] {
  const taken: Pair[] = []
  const { size } = set
  if (count > 1) db.work.charge(unitsPerRemoval * Math.min(count, size))
  const [from, to] = end === 'min' ? [0, Math.min(count, size)] : [Math.max(0, size - count), size]
  set.walk(from, to, end === 'max', (member, score) => taken.push({ member, score }))
  set.removeRanks(from, to)
  db.notify('z', end === 'min' ? 'zpopmin' : 'zpopmax', key)
  return taken
}

function pairReply({ member, score }: Pair): [Bytes, Bytes] {
  return [member, formatScore(score)]
}

function scoreReply(score: number | undefined): Bytes | null {
  return score === undefined ? null : formatScore(score)
}

/** Parses `[count [WITHSCORES]]` of ZRANDMEMBER and returns the members. */
function randomMembers(key: Bytes, options: readonly Bytes[], { db, random }: CommandContext): Reply {
  const { count, withValues } = randomOptions(options, 'WITHSCORES')
  const set = db.container(key, SortedSet)
  if (set === undefined) return count === undefined ? null : []
  if (count === undefined) return set.random(random)
  const picked = pickNames(
    count,
    set.size,
    (chance) => set.random(chance),
    () => set.members(),
    { random, db },
    withValues ? 24 : 0,
  )
  return withValues ? picked.flatMap((member) => [member, formatScore(set.score(member)!)]) : picked
}

// ---- combinations -----------------------------------------------------------------------------------------------

function combination(name: string, operation: SetOperation): Command[] {
  const options = operation === 'diff' ? '' : '[WEIGHTS weight [weight …]] [AGGREGATE SUM | MIN | MAX]'
  return [
    command(name, {
      flags: ['read', 'slow'],
      since: '6.2.0',
      args: [inputKeys(name), words(`${options} [WITHSCORES]`.trim())],
      work: (db, keys) => combinationWork(db, keys, operation),
      run({ db }, keys, options) {
        const { set, withScores } = combined(db, keys, options, { operation, result: 'members' })
        return rangeReply(set, { from: 0, to: set.size }, false, withScores)
      },
    }),
    command(`${name}STORE`, {
      flags: ['write', 'slow'],
      since: operation === 'diff' ? '6.2.0' : '2.0.0',
      args: [key('W'), inputKeys(`${name}STORE`), words(options)],
      work: (db, _destination, keys) => combinationWork(db, keys, operation),
      run({ db }, destination, keys, options) {
        const { set } = combined(db, keys, options, { operation, result: 'stored' })
        return storeSortedSet(db, destination, set, `${name.toLowerCase()}store`)
      },
    }),
  ]
}

function combined(
  db: Database,
  keys: readonly Bytes[],
  given: readonly Bytes[],
  form: CombinationForm,
): { set: SortedSet; withScores: boolean } {
  checkInputs(db, keys)
  const options = toCombinationOptions(given, keys.length, form)
  return { set: combine(db, keys, form.operation, options), withScores: options.withScores }
}

function combinationWork(db: Database, keys: readonly Bytes[], operation: SetOperation): number {
  if (operation === 'union') return (unitsPerInsertion + 6) * db.sizeOfAll(keys)
  const walked = operation === 'diff' ? db.sizeOf(keys[0]!) : db.sizeOfSmallest(keys)
  return walked * (unitsPerInsertion + 3 * keys.length)
}

/** Stores a result and returns its size. An empty result deletes the destination. */
export function storeSortedSet(db: Database, destination: Bytes, set: SortedSet, event: string): number {
  if (set.size > 0) {
    db.set(destination, set)
    db.notify('z', event, destination)
  } else if (db.delete(destination)) {
    db.notify('g', 'del', destination)
  }
  return set.size
}
