/** ZUNION, ZINTER and ZDIFF of sorted sets and plain sets. Members of a plain set have the score 1. */
import type { Bytes } from '../../kernel/bytes.js'
import { type Arg, toInt } from '../command/arguments.js'
import { inputKeyNeeded, replyError } from '../command/errors.js'
import { parseDouble } from '../command/text.js'
import type { Database } from '../keyspace/database.js'
import { SetValue } from '../values/set-value.js'
import { SortedSet } from '../values/sorted-set-value.js'
import { intFrom, numberedKeys } from './collection-arguments.js'

export type SetOperation = 'union' | 'inter' | 'diff'

export interface CombinationOptions {
  readonly weights: readonly number[] | undefined
  readonly aggregate: (one: number, other: number) => number
  readonly withScores: boolean
  readonly limit: number
}

interface Source {
  readonly size: number
  readonly weight: number
  score(member: Bytes): number | undefined
  forEach(visit: (member: Bytes, score: number) => void): void
}

/** Returns a parser for `numkeys key [key …]` with the errors of these commands. */
export function inputKeys(command: string): Arg<Bytes[]> {
  return numberedKeys('R', 'syntax', (word) => {
    const count = toInt(word)
    if (count < 1) throw inputKeyNeeded(command)
    return count
  })
}

/** Operation and kind of result of a command. Both determine which options may follow the keys. */
export interface CombinationForm {
  readonly operation: SetOperation
  readonly result: 'members' | 'stored' | 'count'
}

/** Checks the types of the keys before the options are parsed, as redis does. */
export function checkInputs(db: Database, keys: readonly Bytes[]): void {
  for (const key of keys) inputAt(db, key)
}

function inputAt(db: Database, key: Bytes): SortedSet | SetValue | undefined {
  const value = db.use(key)
  if (value === undefined || value instanceof SortedSet || value instanceof SetValue) return value
  throw replyError('wrongType')
}

export function toCombinationOptions(
  words: readonly Bytes[],
  keyCount: number,
  { operation, result }: CombinationForm,
): CombinationOptions {
  const combinesScores = operation !== 'diff' && result !== 'count'
  let weights: number[] | undefined
  let aggregate = sum
  let withScores = false
  let limit = Number.POSITIVE_INFINITY
  for (let at = 0; at < words.length; at++) {
    const option = words[at]!.toUpperCase()
    if (option === 'WEIGHTS' && combinesScores && at + keyCount < words.length) {
      weights = words.slice(at + 1, at + 1 + keyCount).map(toWeight)
      at += keyCount
    } else if (option === 'AGGREGATE' && combinesScores && at + 1 < words.length) {
      aggregate = toAggregate(words[++at]!)
    } else if (option === 'WITHSCORES' && result === 'members') {
      withScores = true
    } else if (option === 'LIMIT' && result === 'count' && at + 1 < words.length) {
      limit = intFrom(0, words[++at]!, 'negativeLimit') || Number.POSITIVE_INFINITY
    } else {
      throw replyError('syntax')
    }
  }
  return { weights, aggregate, withScores, limit }
}

function toWeight(word: Bytes): number {
  const weight = parseDouble(word)
  if (weight === undefined) throw replyError('weightNotFloat')
  return weight
}

/** Adds scores. Infinities of both signs add up to 0. */
function sum(one: number, other: number): number {
  const total = one + other
  return Number.isNaN(total) ? 0 : total
}

function toAggregate(word: Bytes): (one: number, other: number) => number {
  switch (word.toUpperCase()) {
    case 'SUM':
      return sum
    case 'MIN':
      return Math.min
    case 'MAX':
      return Math.max
    default:
      throw replyError('syntax')
  }
}

export function combine(
  db: Database,
  keys: readonly Bytes[],
  operation: SetOperation,
  options: CombinationOptions,
): SortedSet {
  const sources = keys.map((key, at) => sourceOf(inputAt(db, key), options.weights?.[at] ?? 1))
  if (operation === 'diff') return difference(sources)
  // Redis adds the smallest set first. Sums of floats depend on the order, so this order is necessary for equal
  // results.
  const ascending = sources.toSorted((a, b) => a.size - b.size)
  return operation === 'union' ? union(ascending, options) : intersection(ascending, options)
}

function sourceOf(value: SortedSet | SetValue | undefined, weight: number): Source {
  if (value instanceof SortedSet) {
    return {
      size: value.size,
      weight,
      score: (member) => value.score(member),
      forEach: (visit) => value.forEach(visit),
    }
  }
  const members = value?.members
  return {
    size: members?.size ?? 0,
    weight,
    score: (member) => (members?.has(member) ? 1 : undefined),
    forEach(visit) {
      members?.forEach((_, member) => {
        visit(member, 1)
      })
    },
  }
}

/** Multiplies a score by a weight. Zero times infinity is 0. */
function weighted(source: Source, score: number): number {
  const value = source.weight * score
  return Number.isNaN(value) ? 0 : value
}

function union(sources: readonly Source[], { aggregate }: CombinationOptions): SortedSet {
  const scores = new Map<Bytes, number>()
  for (const source of sources) {
    source.forEach((member, score) => {
      const before = scores.get(member)
      const value = weighted(source, score)
      scores.set(member, before === undefined ? value : aggregate(before, value))
    })
  }
  const result = new SortedSet()
  for (const [member, score] of scores) result.set(member, score)
  return result
}

function intersection([smallest, ...others]: readonly Source[], { aggregate, limit }: CombinationOptions): SortedSet {
  const result = new SortedSet()
  smallest?.forEach((member, score) => {
    if (result.size >= limit) return
    let total = weighted(smallest, score)
    for (const other of others) {
      const found = other.score(member)
      if (found === undefined) return
      total = aggregate(total, weighted(other, found))
    }
    result.set(member, total)
  })
  return result
}

function difference([first, ...others]: readonly Source[]): SortedSet {
  const result = new SortedSet()
  first?.forEach((member, score) => {
    if (others.every((other) => other.score(member) === undefined)) result.set(member, score)
  })
  return result
}
