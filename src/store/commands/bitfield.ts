import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { type Arg, type ArgReader, key, readingAndWriting, toInt64 } from '../command/arguments.js'
import { type Command, type CommandContext, command } from '../command/command.js'
import { replyError } from '../command/errors.js'
import type { Reply } from '../command/reply.js'
import { parseInt64 } from '../command/text.js'

type Overflow = 'WRAP' | 'SAT' | 'FAIL'

interface Operation {
  readonly kind: 'GET' | 'SET' | 'INCRBY'
  readonly field: Field
  /** Bit position from the start. */
  readonly offset: number
  readonly value: bigint
  readonly overflow: Overflow
}

/** Integer of 1 to 64 bits at any position of a string. */
class Field {
  readonly min: bigint
  readonly max: bigint

  constructor(
    readonly signed: boolean,
    readonly bits: number,
  ) {
    const all = 1n << BigInt(bits)
    this.min = signed ? -all / 2n : 0n
    this.max = signed ? all / 2n - 1n : all - 1n
  }

  /** Parses types such as `i8` and `u63`; a u64 would not fit into an integer reply. */
  static parse(word: Bytes): Field {
    const match = /^([iu])(\d+)$/.exec(word)
    const bits = parseInt64(latin1(match?.[2] ?? ''))
    const most = match?.[1] === 'i' ? 64 : 63
    if (typeof bits !== 'number' || bits < 1 || bits > most) throw replyError('bitfieldType')
    return new Field(match![1] === 'i', bits)
  }

  get(array: Uint8Array, offset: number): bigint {
    let value = 0n
    for (let at = offset; at < offset + this.bits; at++) {
      value = (value << 1n) | BigInt(((array[byteOf(at)] ?? 0) >> (7 - (at & 7))) & 1)
    }
    return this.wrap(value)
  }

  set(array: Uint8Array, offset: number, value: bigint): void {
    let rest = value
    for (let at = offset + this.bits - 1; at >= offset; at--, rest >>= 1n) {
      const mask = 0x80 >> (at & 7)
      if (rest & 1n) array[byteOf(at)]! |= mask
      else array[byteOf(at)]! &= ~mask
    }
  }

  wrap(value: bigint): bigint {
    return this.signed ? BigInt.asIntN(this.bits, value) : BigInt.asUintN(this.bits, value)
  }

  /**
   * Returns the value, adapted to the range of the type. Returns `undefined` if the value overflows in the mode FAIL.
   */
  fit(value: bigint, overflow: Overflow): bigint | undefined {
    if (value >= this.min && value <= this.max) return value
    if (overflow === 'FAIL') return undefined
    if (overflow === 'WRAP') return this.wrap(value)
    return value > this.max ? this.max : this.min
  }
}

/**
 * Returns the index of the byte that contains a bit. The function divides instead of shifting, because bit positions
 * exceed 2^32.
 */
function byteOf(bit: number): number {
  return Math.floor(bit / 8)
}

const maxBits = 8n * 536_870_912n

/** Parses an offset: a number of bits, or `#n` for the n-th field of this width. */
function fieldOffset(word: Bytes, field: Field): number {
  const inFields = word.startsWith('#')
  const count = parseInt64(latin1(inFields ? word.slice(1) : word))
  if (count === undefined) throw replyError('bitOffset')
  const offset = BigInt(count) * (inFields ? BigInt(field.bits) : 1n)
  if (offset < 0n || offset >= maxBits) throw replyError('bitOffset')
  return Number(offset)
}

function operations(only: 'GET' | undefined): Arg<Operation[]> {
  const change = only ? '' : ' [OVERFLOW WRAP|SAT|FAIL] [SET encoding offset value] [INCRBY encoding offset increment]'
  return {
    usage: `[GET encoding offset]${change} […]`,
    min: 0,
    max: Number.POSITIVE_INFINITY,
    read: (from) => readOperations(from, only),
  }
}

function readOperations(from: ArgReader, only: 'GET' | undefined): Operation[] {
  const list: Operation[] = []
  let overflow: Overflow = 'WRAP'
  while (from.left > 0) {
    const kind = from.next().toUpperCase()
    if (kind === 'OVERFLOW' && from.left >= 1) {
      overflow = readOverflow(from.next())
      continue
    }
    const known = (kind === 'GET' && from.left >= 2) || ((kind === 'SET' || kind === 'INCRBY') && from.left >= 3)
    if (!known) throw replyError('syntax')
    const field = Field.parse(from.next())
    const offset = fieldOffset(from.next(), field)
    const value = kind === 'GET' ? 0n : BigInt(toInt64(from.next()))
    list.push({ kind: kind as Operation['kind'], field, offset, value, overflow })
  }
  if (only && list.some(({ kind }) => kind !== only)) throw replyError('bitfieldReadOnly')
  return list
}

function readOverflow(word: Bytes): Overflow {
  const overflow = word.toUpperCase()
  if (overflow === 'WRAP' || overflow === 'SAT' || overflow === 'FAIL') return overflow
  throw replyError('bitfieldOverflow')
}

function run(key: Bytes, list: readonly Operation[], { db }: CommandContext): Reply {
  let end = 0
  for (const { kind, offset, field } of list) if (kind !== 'GET') end = Math.max(end, offset + field.bits)
  if (end === 0) {
    const array = db.array(key) ?? new Uint8Array()
    return list.map(({ field, offset }) => asReply(field.get(array, offset)))
  }
  // As in redis-server, the string first grows to the size that all writes need, including writes that then fail.
  const needed = Math.ceil(end / 8)
  const string = db.rawString(key, 'create', needed)
  const { length } = string
  const array = string.open(needed)
  const results = list.map((operation) => apply(operation, array))
  const wrote = ({ before, after }: Result) => after !== undefined && (array.length > length || before !== after)
  if (results.some(wrote)) db.notify('$', 'setbit', key)
  return results.map(({ reply }) => reply)
}

interface Result {
  readonly reply: Reply
  readonly before: bigint
  readonly after?: bigint
}

function apply({ kind, field, offset, value, overflow }: Operation, array: Uint8Array): Result {
  const before = field.get(array, offset)
  if (kind === 'GET') return { reply: asReply(before), before }
  // For an unsigned field, a negative value means the unsigned number with the same 64 bits.
  const given = field.signed ? value : BigInt.asUintN(64, value)
  const after = field.fit(kind === 'SET' ? given : before + value, overflow)
  if (after === undefined) return { reply: null, before }
  field.set(array, offset, after)
  return { reply: asReply(kind === 'SET' ? before : after), before, after }
}

function asReply(value: bigint): Reply {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

export const bitfieldCommands: readonly Command[] = [
  command('BITFIELD', {
    flags: ['write', 'slow'],
    since: '3.2.0',
    args: [key('R'), readingAndWriting(['SET', 'INCRBY'], operations(undefined))],
    run: (context, key, operations) => run(key, operations, context),
  }),

  command('BITFIELD_RO', {
    flags: ['read', 'fast'],
    since: '6.0.0',
    args: [key('R'), operations('GET')],
    run: (context, key, operations) => run(key, operations, context),
  }),
]
