import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { type Arg, bytes, key, named, oneOrMore, toInt, word, zeroOrMore } from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { bitopNeedsTwo, replyError } from '../command/errors.js'
import type { Reply } from '../command/reply.js'
import { parseInt64 } from '../command/text.js'
import { RawString } from '../values/raw-string.js'
import { bitfieldCommands } from './bitfield.js'
import { maxStringLength } from './string.js'

/** Parser for a bit position. Position 0 is the most significant bit of the first byte. */
export const bitOffset: Arg<number> = word('offset', (text) => {
  const offset = parseInt64(text)
  if (offset === undefined || offset < 0 || offset >= 8 * maxStringLength) throw replyError('bitOffset')
  return Number(offset)
})

function bitAt(array: Uint8Array, offset: number): 0 | 1 {
  const byte = array[offset >>> 3] ?? 0
  return ((byte >> (7 - (offset & 7))) & 1) as 0 | 1
}

/** Bits of a bitmap from `from` to `to`, both included; empty if `from > to`. */
interface BitRange {
  readonly from: number
  readonly to: number
}

const rangeWords = named('[start [end [BYTE|BIT]]]', zeroOrMore(bytes))

/** Converts indexes of bytes or bits to a range of bits; negative indexes count from the end. */
function bitRange(start: number, end: number, unit: Bytes | undefined, length: number): BitRange {
  const inBits = isBitUnit(unit)
  const size = inBits ? 8 * length : length
  let from = start < 0 ? Math.max(start + size, 0) : start
  let to = Math.min(end < 0 ? Math.max(end + size, 0) : end, size - 1)
  if (from > to) return { from: 0, to: -1 }
  if (!inBits) {
    from *= 8
    to = 8 * to + 7
  }
  return { from, to }
}

function isBitUnit(unit: Bytes | undefined): boolean {
  const word = unit?.toUpperCase() ?? 'BYTE'
  if (word !== 'BIT' && word !== 'BYTE') throw replyError('syntax')
  return word === 'BIT'
}

const onesOf = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length)

function countOnes(array: Uint8Array, { from, to }: BitRange): number {
  if (from > to) return 0
  const first = from >>> 3
  const last = to >>> 3
  let count = 0
  for (let at = first; at <= last; at++) count += onesOf[array[at]!]!
  // The first and last byte were counted completely, so the bits of these two bytes that are outside the range are
  // subtracted.
  count -= onesOf[array[first]! & ~(0xff >> (from & 7)) & 0xff]!
  count -= onesOf[array[last]! & (0x7f >> (to & 7))]!
  return count
}

function findBit(array: Uint8Array, bit: 0 | 1, { from, to }: BitRange): number {
  const dull = bit === 1 ? 0 : 0xff
  let at = from
  while (at <= to) {
    if ((at & 7) === 0 && array[at >>> 3] === dull) at += 8
    else if (bitAt(array, at) === bit) return at
    else at++
  }
  return -1
}

// ---- BITOP ------------------------------------------------------------------------------------------------------

/** Adds the next source to `all`, which begins as a copy of the first source. */
type Fold = (all: Uint8Array, source: Uint8Array) => void

const and: Fold = (all, source) => {
  for (let at = 0; at < all.length; at++) all[at]! &= source[at] ?? 0
}

const or: Fold = (all, source) => {
  for (let at = 0; at < source.length; at++) all[at]! |= source[at]!
}

const xor: Fold = (all, source) => {
  for (let at = 0; at < source.length; at++) all[at]! ^= source[at]!
}

const andNot: Fold = (all, source) => {
  for (let at = 0; at < source.length; at++) all[at]! &= ~source[at]!
}

function folded(sources: readonly Uint8Array[], length: number, fold: Fold): Uint8Array {
  const all = new Uint8Array(length)
  if (sources[0] !== undefined) all.set(sources[0])
  for (let index = 1; index < sources.length; index++) fold(all, sources[index]!)
  return all
}

type Combine = (sources: readonly Uint8Array[], length: number) => Uint8Array

/**
 * Operations of BITOP by name. The operations of newer versions combine the first source with the union of all other
 * sources.
 */
const operations: Readonly<Record<string, Combine>> = {
  AND: (sources, length) => folded(sources, length, and),
  OR: (sources, length) => folded(sources, length, or),
  XOR: (sources, length) => folded(sources, length, xor),
  NOT: ([source]) => source!.map((byte) => ~byte),
  DIFF: (sources, length) => folded(sources, length, andNot),
  DIFF1([first, ...others], length) {
    const all = folded(others, length, or)
    andNot(all, first!)
    return all
  },
  ANDOR([first, ...others], length) {
    const all = folded(others, length, or)
    and(all, first!)
    return all
  },
  ONE(sources, length) {
    const once = new Uint8Array(length)
    const more = new Uint8Array(length)
    for (const source of sources) {
      for (let at = 0; at < source.length; at++) more[at]! |= once[at]! & source[at]!
      or(once, source)
    }
    andNot(once, more)
    return once
  },
}

function combine(operation: Bytes, sources: readonly Bytes[], { db }: CommandContext): Uint8Array {
  const name = operation.toUpperCase()
  const operate = operations[name]
  if (operate === undefined) throw replyError('syntax')
  if (name === 'NOT' && sources.length !== 1) throw replyError('bitopNot')
  if (/^(DIFF1?|ANDOR)$/.test(name) && sources.length < 2) throw bitopNeedsTwo(name)
  let length = 0
  for (const source of sources) length = Math.max(length, db.stringLength(source))
  // AND processes every byte of the result for each source, even if the source is short.
  db.work.charge(2 * sources.length * (length >>> 5))
  const arrays = sources.map((source) => db.array(source) ?? new Uint8Array())
  return operate(arrays, length)
}

export const bitmapCommands: readonly Command[] = [
  command('SETBIT', {
    flags: ['write', 'slow'],
    since: '2.2.0',
    args: [key('RW'), bitOffset, bytes],
    run({ db }, key, offset, value) {
      if (value !== '0' && value !== '1') throw replyError('bitValue')
      const byte = offset >>> 3
      const string = db.rawString(key, 'create', byte + 1)
      const grows = byte >= string.length
      const array = string.open(byte + 1)
      const before = bitAt(array, offset)
      const mask = 0x80 >> (offset & 7)
      array[byte] = value === '1' ? array[byte]! | mask : array[byte]! & ~mask
      if (grows || before !== Number(value)) db.notify('$', 'setbit', key)
      return before
    },
  }),

  command('GETBIT', {
    flags: ['read', 'fast'],
    since: '2.2.0',
    args: [key('R'), bitOffset],
    run({ db }, key, offset) {
      const value = db.use(key)
      if (value instanceof RawString) return bitAt(value.array, offset)
      const byte = (db.string(key) ?? latin1('')).charCodeAt(offset >>> 3)
      return (byte >> (7 - (offset & 7))) & 1
    },
  }),

  command('BITCOUNT', {
    flags: ['read', 'slow'],
    since: '2.6.0',
    args: [key('R'), rangeWords],
    work: (db, key) => db.sizeOf(key),
    run({ db }, key, range) {
      const array = db.array(key)
      if (array === undefined) return 0
      if (range.length === 1 || range.length > 3) throw replyError('syntax')
      const [start = latin1('0'), end = latin1('-1'), unit] = range
      const [first, last] = [toInt(start), toInt(end)]
      if (first < 0 && last < 0 && first > last) return 0
      return countOnes(array, bitRange(first, last, unit, array.length))
    },
  }),

  command('BITPOS', {
    flags: ['read', 'slow'],
    since: '2.8.7',
    args: [key('R'), named('bit', bytes), rangeWords],
    work: (db, key) => db.sizeOf(key),
    run({ db }, key, wanted, range) {
      const bit = toInt(wanted)
      if (bit !== 0 && bit !== 1) throw replyError('bitArgument')
      const array = db.array(key)
      if (array === undefined) return bit === 1 ? -1 : 0
      if (range.length > 3) throw replyError('syntax')
      const [start = latin1('0'), end, unit] = range
      const first = toInt(start)
      if (unit !== undefined) isBitUnit(unit)
      const searched = bitRange(first, toInt(end ?? latin1('-1')), unit, array.length)
      const found = searched.from > searched.to ? -1 : findBit(array, bit, searched)
      // If no end is given, redis assumes that zeros follow the string, so a search for 0 always finds one.
      const reachesEnd = end === undefined && searched.from <= searched.to
      return found === -1 && bit === 0 && reachesEnd ? 8 * array.length : found
    },
  }),

  command('BITOP', {
    flags: ['write', 'slow'],
    since: '2.6.0',
    args: [named('operation', bytes), named('destkey', key('W')), oneOrMore(key('R'))],
    run(context, operation, target, sources): Reply {
      const { db } = context
      const result = combine(operation, sources, context)
      if (result.length === 0) {
        if (db.delete(target)) db.notify('g', 'del', target)
        return 0
      }
      const stored = new RawString()
      stored.replace(result)
      db.set(target, stored)
      db.notify('$', 'set', target)
      return result.length
    },
  }),

  ...bitfieldCommands,
]
