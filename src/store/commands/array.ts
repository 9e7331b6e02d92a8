import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { type Arg, bytes, flag, inTurn, key, named, oneOrMore, options, word } from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { replyError, wrongArity } from '../command/errors.js'
import type { Reply } from '../command/reply.js'
import { formatScore, parseDouble, parseInt64 } from '../command/text.js'
import type { Database } from '../keyspace/database.js'
import {
  type ArrayIndex,
  type ArraySlot,
  ArrayValue,
  lastIndex,
  noIndex,
  parseIndex,
  shifted,
  spanOf,
} from '../values/array-value.js'
import { figuresOf } from './array-figures.js'
import { predicatesOf } from './array-predicates.js'
import { addToRing, newestIndex } from './array-ring.js'
import { within, words } from './collection-arguments.js'
import { lengthOf } from './collection-commands.js'

const since = '8.8.0'

/** Maximum number of positions in one reply of ARGETRANGE and ARLASTITEMS. [array.md 6] */
export const maxPositions = 1_000_000

/** Units of work to visit a filled slot, and to list a slot with its index. [measured] */
const unitsPerVisit = 3
const unitsPerListed = 10
/** Units of work to fill or empty consecutive slots, and slots in any order. [measured] */
const unitsPerWrite = 12
const unitsPerInsertion = 32

const index: Arg<ArrayIndex> = word('index', toIndex)
const start = named('start', index)
const end = named('end', index)
const value = named('value', bytes)
const values = oneOrMore(value)
/** Indexes that the command parses itself: all of them before it changes anything, or after it looked up the key. */
const rawIndex = named('index', bytes)

function toIndex(text: Bytes): ArrayIndex {
  const index = parseIndex(text)
  if (index === undefined) throw replyError('arrayIndex')
  return index
}

const limit = within('count', 1, Number.POSITIVE_INFINITY, 'arrayLimit')

const int64Max = 2n ** 63n - 1n

/** Returns the reply for an index. Beyond the range of an integer reply, it is a string. [array.md 2] */
function indexReply(index: ArrayIndex): Reply {
  return index > int64Max ? latin1(String(index)) : index
}

/** Returns the work to write several slots. One slot per command is free. */
function workOfWrites(count: number, units: number = unitsPerWrite): number {
  return units * (count - 1)
}

export const arrayCommands: readonly Command[] = [
  command('ARSET', {
    flags: ['write', 'fast'],
    since,
    args: [key('W'), index, values],
    work: (_db, _key, _first, values) => workOfWrites(values.length),
    run({ db }, key, first, values) {
      if (shifted(first, values.length - 1) > lastIndex) throw replyError('arrayIndex')
      const array = db.container(key, ArrayValue, 'create')
      let added = 0
      for (const [at, value] of values.entries()) if (array.set(shifted(first, at), value)) added++
      db.notify('a', 'arset', key)
      return added
    },
  }),

  command('ARMSET', {
    flags: ['write', 'fast'],
    since,
    args: [key('W'), inTurn(rawIndex, value)],
    work: (_db, _key, pairs) => workOfWrites(pairs.length / 2, unitsPerInsertion),
    run({ db }, key, pairs) {
      const slots: ArraySlot[] = []
      for (let at = 0; at < pairs.length; at += 2) slots.push({ index: toIndex(pairs[at]!), value: pairs[at + 1]! })
      const array = db.container(key, ArrayValue, 'create')
      let added = 0
      for (const { index, value } of slots) if (array.set(index, value)) added++
      db.notify('a', 'armset', key)
      return added
    },
  }),

  command('ARGET', {
    flags: ['read', 'fast'],
    since,
    args: [key('R'), rawIndex],
    run({ db }, key, text) {
      const array = db.container(key, ArrayValue)
      // The index of a missing key is checked, too.
      const index = toIndex(text)
      return array?.get(index) ?? null
    },
  }),

  command('ARMGET', {
    flags: ['read', 'fast'],
    since,
    args: [key('R'), oneOrMore(rawIndex)],
    run({ db }, key, indexes) {
      const array = db.container(key, ArrayValue)
      return indexes.map(toIndex).map((index) => array?.get(index) ?? null)
    },
  }),

  command('ARGETRANGE', {
    flags: ['read', 'slow'],
    since,
    args: [key('R'), start, end],
    work: (_db, _key, start, end) => Math.min(Number(positionsOf(rangeOf(start, end))), maxPositions),
    run({ db }, key, start, end) {
      const range = rangeOf(start, end)
      if (positionsOf(range) > maxPositions) throw replyError('arrayRange')
      const items = itemsIn(db.container(key, ArrayValue), range)
      return range.isReversed ? items.reverse() : items
    },
  }),

  command('ARSCAN', {
    flags: ['read', 'slow'],
    since,
    deviations:
      'With `start` above `end`, the reply is empty (`policy.arrayScanReverse`); redis-server scans backwards.',
    args: [key('R'), start, end, options({ limit })],
    run({ db, store }, key, start, end, { limit = Number.POSITIVE_INFINITY }) {
      const array = db.container(key, ArrayValue)
      const range = rangeOf(start, end)
      const { arrayScanReverse } = store.options.policy
      if (range.isReversed && arrayScanReverse === 'error') throw replyError('arrayScanReverse')
      if (array === undefined || (range.isReversed && arrayScanReverse === 'empty')) return []
      const found: Reply[] = []
      for (const { index, value } of slotsIn(array, range)) {
        db.work.charge(unitsPerListed)
        found.push([indexReply(index), value])
        if (found.length >= limit) break
      }
      return found
    },
  }),

  command('ARGREP', {
    flags: ['read', 'slow'],
    since,
    deviations:
      'Regular expressions are matched byte by byte in linear time. Their work counts, and they have no back-references.',
    args: [
      key('R'),
      named('start', bytes),
      named('end', bytes),
      words(
        '<EXACT value | MATCH value | GLOB pattern | RE regex> [EXACT value | MATCH value | GLOB pattern | RE regex …] [AND | OR] [NOCASE] [WITHVALUES] [LIMIT count]',
      ),
    ],
    run({ db }, key, first, last, given) {
      const bounds = [first, last].map(toBound)
      const { matches, withValues, limit } = predicatesOf(given, db.work)
      const array = db.container(key, ArrayValue)
      if (array === undefined) return []
      const [from, to] = bounds.map((bound) => bound ?? shifted(array.length, -1))
      const found: Reply[] = []
      for (const { index, value } of slotsIn(array, rangeOf(from!, to!))) {
        db.work.charge(unitsPerVisit)
        if (!matches(value)) continue
        db.work.charge(unitsPerListed)
        found.push(withValues ? [indexReply(index), value] : indexReply(index))
        if (found.length >= limit) break
      }
      return found
    },
  }),

  command('ARDEL', {
    flags: ['write', 'fast'],
    since,
    args: [key('W'), oneOrMore(index)],
    work: (_db, _key, indexes) => workOfWrites(indexes.length),
    run({ db }, key, indexes) {
      const array = db.container(key, ArrayValue)
      let removed = 0
      for (const index of indexes) if (array?.delete(index)) removed++
      if (removed > 0) db.notify('a', 'ardel', key)
      return removed
    },
  }),

  command('ARDELRANGE', {
    flags: ['write', 'slow'],
    since,
    args: [key('W'), inTurn(named('start', bytes), named('end', bytes))],
    run({ db }, key, bounds) {
      const ranges: Range[] = []
      for (let at = 0; at < bounds.length; at += 2) ranges.push(rangeOf(toIndex(bounds[at]!), toIndex(bounds[at + 1]!)))
      const array = db.container(key, ArrayValue)
      if (array === undefined) return 0
      // Deletes whole blocks of slots, so the work is far less than one unit for each slot.
      for (const { low, high } of ranges) db.work.charge(8 + (array.countBetween(low, high) >>> 2))
      let removed = 0
      for (const { low, high } of ranges) removed += array.deleteBetween(low, high)
      if (removed > 0) db.notify('a', 'ardelrange', key)
      return removed
    },
  }),

  lengthOf('ARCOUNT', ArrayValue, (array) => array.count, since),

  command('ARLEN', {
    flags: ['read', 'fast'],
    since,
    args: [key('')],
    run: ({ db }, key) => indexReply(db.container(key, ArrayValue)?.length ?? 0),
  }),

  command('ARINSERT', {
    flags: ['write', 'fast'],
    since,
    args: [key('W'), values],
    work: (_db, _key, values) => workOfWrites(values.length),
    run({ db }, key, values) {
      const array = db.container(key, ArrayValue, 'create')
      const first = array.next
      const last = shifted(first, values.length - 1)
      if (last > lastIndex) throw replyError('arrayInsertOverflow')
      for (const [at, value] of values.entries()) array.set(shifted(first, at), value)
      array.next = shifted(last, 1)
      db.notify('a', 'arinsert', key)
      return indexReply(last)
    },
  }),

  command('ARRING', {
    flags: ['write', 'slow'],
    since,
    deviations:
      'Whether the size has changed is inferred from the length, as in redis-server. The policy `arrayRing` can store the size instead.',
    args: [key('W'), named('size', bytes), values],
    work: (_db, _key, _size, values) => workOfWrites(values.length),
    run({ db, store }, key, text, values) {
      const size = toSize(text)
      const array = db.container(key, ArrayValue, 'create')
      const last = addToRing(array, { size, values, isStored: store.options.policy.arrayRing === 'stored' }, db.work)
      db.notify('a', 'arring', key)
      return indexReply(last)
    },
  }),

  command('ARLASTITEMS', {
    flags: ['read', 'slow'],
    since,
    args: [key('R'), named('count', bytes), options({ rev: flag })],
    run(context, key, text, { rev }) {
      const count = parseInt64(text)
      if (count === undefined) throw replyError('arrayCount')
      if (count > maxPositions) throw replyError('arrayCountRange')
      const items = lastItems(key, Number(count), context)
      return rev ? items : items.reverse()
    },
  }),

  command('ARNEXT', {
    flags: ['read', 'fast'],
    since,
    args: [key('')],
    run({ db }, key) {
      const next = db.container(key, ArrayValue)?.next ?? 0
      return next === noIndex ? null : indexReply(next)
    },
  }),

  command('ARSEEK', {
    flags: ['write', 'fast'],
    since,
    args: [key('W'), named('index', bytes)],
    run({ db }, key, text) {
      const next = parseIndex(text, noIndex)
      if (next === undefined) throw replyError('arrayIndex')
      const array = db.container(key, ArrayValue)
      if (array === undefined) return 0
      array.next = next
      db.notify('a', 'arseek', key)
      return 1
    },
  }),

  command('AROP', {
    flags: ['read', 'slow'],
    since,
    args: [key('R'), start, end, named('<SUM | MIN | MAX | AND | OR | XOR | USED | MATCH>', bytes), words('[value]')],
    run({ db }, key, start, end, name, [wanted, ...more]) {
      const operation = name.toUpperCase()
      if (!isOperation(operation)) throw replyError('arrayOperation')
      if (operation === 'MATCH' && wanted === undefined) throw replyError('arrayMatchValue')
      if (more.length > 0 || (operation !== 'MATCH' && wanted !== undefined)) throw wrongArity('AROP')
      return operate(operation, { array: db.container(key, ArrayValue), range: rangeOf(start, end), wanted, db })
    },
  }),

  command('ARINFO', {
    flags: ['read', 'slow'],
    since,
    deviations: 'The numbers of slices are estimates, because the double does not store an array in slices.',
    args: [key(''), options({ full: flag })],
    work: (db, key) => db.sizeOf(key),
    run({ db }, key, { full }) {
      const array = db.container(key, ArrayValue)
      if (array === undefined) throw replyError('noSuchKey')
      const head = { count: array.count, len: indexReply(array.length), 'next-insert-index': indexReply(array.next) }
      return Object.entries({ ...head, ...figuresOf(array, full === true) }).flatMap(([name, value]) => [
        latin1(name),
        value,
      ])
    },
  }),
]

// ---- ranges -----------------------------------------------------------------------------------------------------

/** Indexes from `low` to `high`, both included. `isReversed`: the client gave the higher bound first. */
interface Range {
  readonly low: ArrayIndex
  readonly high: ArrayIndex
  readonly isReversed: boolean
}

function rangeOf(start: ArrayIndex, end: ArrayIndex): Range {
  return start > end ? { low: end, high: start, isReversed: true } : { low: start, high: end, isReversed: false }
}

function positionsOf({ low, high }: Range): ArrayIndex {
  return spanOf(low, high)
}

/** Parses a bound of ARGREP. Returns `undefined` for `+`, the highest filled slot. */
function toBound(text: Bytes): ArrayIndex | undefined {
  if (text === '+') return undefined
  return text === '-' ? 0 : toIndex(text)
}

function slotsIn(array: ArrayValue, { low, high, isReversed }: Range): Iterable<ArraySlot> {
  return isReversed ? array.descending(low, high) : array.ascending(low, high)
}

/** Returns the values in a range, with `null` for empty slots. The range must have at most `maxPositions`. */
function itemsIn(array: ArrayValue | undefined, range: Omit<Range, 'isReversed'>): (Bytes | null)[] {
  const items: (Bytes | null)[] = new Array(Number(spanOf(range.low, range.high))).fill(null)
  array?.walk(
    (value, index) => {
      items[Number(spanOf(range.low, index)) - 1] = value
    },
    range.low,
    range.high,
  )
  return items
}

function toSize(text: Bytes): ArrayIndex {
  const size = parseIndex(text, noIndex) ?? parseInt64(text)
  if (size === undefined) throw replyError('arraySize')
  if (size <= 0) throw replyError('arraySizePositive')
  return size
}

/** Returns the values before the append cursor, newest first. After the first slot, the walk continues at the end. */
function lastItems(key: Bytes, count: number, { db, store }: CommandContext): (Bytes | null)[] {
  const array = db.container(key, ArrayValue)
  if (array === undefined || count <= 0) return []
  const { length } = array
  const most = store.options.policy.arrayLastItems === 'values' ? array.count : length
  const positions = count < most ? count : Number(most)
  db.work.charge(positions)
  const newest = newestIndex(array, length)
  const upToNewest = spanOf(0, newest)
  const low = upToNewest > positions ? shifted(newest, 1 - positions) : 0
  const items = itemsIn(array, { low, high: newest }).reverse()
  const left = positions - items.length
  if (left === 0) return items
  const wrapped = itemsIn(array, { low: shifted(length, -left), high: shifted(length, -1) })
  return items.concat(wrapped.reverse())
}

// ---- AROP -------------------------------------------------------------------------------------------------------

const operations = ['SUM', 'MIN', 'MAX', 'AND', 'OR', 'XOR', 'USED', 'MATCH'] as const
type Operation = (typeof operations)[number]

function isOperation(name: string): name is Operation {
  return (operations as readonly string[]).includes(name)
}

interface Operands {
  readonly array: ArrayValue | undefined
  readonly range: Range
  readonly wanted: Bytes | undefined
  readonly db: Database
}

function operate(operation: Operation, operands: Operands): Reply {
  switch (operation) {
    case 'USED':
      return operands.array?.countBetween(operands.range.low, operands.range.high) ?? 0
    case 'MATCH':
      return countEqual(operands)
    case 'SUM':
      return combineNumbers(operands, (sum, number) => sum + number)
    case 'MIN':
      return combineNumbers(operands, (least, number) => Math.min(least, number))
    case 'MAX':
      return combineNumbers(operands, (most, number) => Math.max(most, number))
    case 'AND':
      return combineBits(operands, (bits, number) => bits & number)
    case 'OR':
      return combineBits(operands, (bits, number) => bits | number)
    case 'XOR':
      return combineBits(operands, (bits, number) => bits ^ number)
  }
}

function visitValues({ array, range, db }: Operands, visit: (value: Bytes) => void): void {
  array?.walk(
    (value) => {
      db.work.charge(unitsPerVisit + (value.length >>> 5))
      visit(value)
    },
    range.low,
    range.high,
  )
}

function countEqual(operands: Operands): number {
  let count = 0
  visitValues(operands, (value) => {
    if (value === operands.wanted) count++
  })
  return count
}

/**
 * Maximum length of a text that is read as a number. Longer texts count as no number, so that a text of many megabytes
 * is not parsed.
 */
export const maxNumberLength = 1024

function numberOf(value: Bytes): number | undefined {
  const number = value.length > maxNumberLength ? undefined : parseDouble(value)
  return number !== undefined && Number.isFinite(number) ? number : undefined
}

function combineNumbers(operands: Operands, combine: (so: number, far: number) => number): Reply {
  let result: number | undefined
  visitValues(operands, (value) => {
    const number = numberOf(value)
    if (number !== undefined) result = result === undefined ? number : combine(result, number)
  })
  return result === undefined ? null : formatScore(result)
}

function combineBits(operands: Operands, combine: (bits: bigint, number: bigint) => bigint): Reply {
  let result: bigint | undefined
  visitValues(operands, (value) => {
    const number = bitsOf(value)
    if (number !== undefined) result = result === undefined ? number : combine(result, number)
  })
  if (result === undefined) return null
  const number = Number(result)
  return Number.isSafeInteger(number) ? number : result
}

/** Returns a number without its fraction. Numbers beyond 64 bits become the nearest 64-bit integer. */
function bitsOf(value: Bytes): bigint | undefined {
  const whole = parseInt64(value)
  if (whole !== undefined) return BigInt(whole)
  const number = numberOf(value)
  if (number === undefined) return undefined
  const cut = BigInt(Math.trunc(number))
  return cut > int64Max ? int64Max : cut < -int64Max - 1n ? -int64Max - 1n : cut
}
