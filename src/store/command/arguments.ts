import type { Bytes } from '../../kernel/bytes.js'
import { invalidExpire, replyError, wrongArity } from './errors.js'
import { parseDouble, parseInt64 } from './text.js'

/** Use of a key by a command: `R` returns its content, `W` changes it, `''` reveals only whether the key exists. */
export type KeyUse = '' | 'R' | 'W' | 'RW'

/** Keys and channels in the arguments of one command. Access control, scripts and faults need them. */
export interface Names {
  readonly keys: { readonly name: Bytes; use: KeyUse }[]
  readonly channels: Bytes[]
}

/** Reads the arguments of one command from left to right. */
export class ArgReader {
  readonly #command: string
  readonly #argv: readonly Bytes[]
  #at: number
  /**
   * Receives the keys and channels of the command. Absent while the command runs, because only checks before the run
   * need the keys and channels.
   */
  readonly names: Names | undefined

  constructor(command: string, argv: readonly Bytes[], start: number, names?: Names) {
    this.#command = command
    this.#argv = argv
    this.#at = start
    this.names = names
  }

  get left(): number {
    return this.#argv.length - this.#at
  }

  /** Name of the command as it was sent. */
  get name(): Bytes {
    return this.#argv[0]!
  }

  /** Returns the next argument. The arity was already checked, so a missing argument is a syntax error. */
  next(): Bytes {
    const word = this.#argv[this.#at++]
    if (word === undefined) throw replyError('syntax')
    return word
  }

  /** Returns all remaining arguments in an array of exactly that length. */
  rest(): Bytes[] {
    const argv = this.#argv
    const at = this.#at
    this.#at = argv.length
    // Two arguments, as in most HSET, are copied without the call of `slice()`, which takes as long as a short command.
    return argv.length - at === 2 ? [argv[at]!, argv[at + 1]!] : argv.slice(at)
  }

  key(use: KeyUse): Bytes {
    const name = this.next()
    this.names?.keys.push({ name, use })
    return name
  }

  peek(): Bytes | undefined {
    return this.#argv[this.#at]
  }

  /** Consumes the next argument if it is this keyword, in any case. Returns whether it consumed one. */
  takes(keyword: string): boolean {
    const word = this.#argv[this.#at]
    if (word === undefined || word.length !== keyword.length || word.toUpperCase() !== keyword) return false
    this.#at++
    return true
  }

  /** Returns whether one of these keywords is among the remaining arguments, in any case. */
  mentions(keywords: readonly string[]): boolean {
    return this.#argv.slice(this.#at).some((word) => keywords.includes(word.toUpperCase()))
  }

  /** Returns the error for an incomplete group of arguments, such as a field without its value. */
  uneven(): Error {
    return wrongArity(this.#command)
  }
}

/**
 * Parser for one or more arguments. The parser need not report missing or surplus arguments, because `command()`
 * reports both for all commands.
 */
export interface Arg<T> {
  /** Usage in the reference, such as `key [key …]`. The model tests generate random commands from this text. */
  readonly usage: string
  readonly min: number
  readonly max: number
  read(from: ArgReader): T
}

export type Values<A extends readonly Arg<unknown>[]> = {
  -readonly [K in keyof A]: A[K] extends Arg<infer T> ? T : never
}

export const bytes: Arg<Bytes> = {
  usage: 'value',
  min: 1,
  max: 1,
  read: (from) => from.next(),
}

/** Parser that consumes no argument and returns the command's name as it was sent, for errors that repeat the name. */
export const nameAsSent: Arg<Bytes> = { usage: '', min: 0, max: 0, read: (from) => from.name }

/** Returns a parser for one argument with a converted value. */
export function word<T>(usage: string, meaning: (word: Bytes) => T): Arg<T> {
  return { usage, min: 1, max: 1, read: (from) => meaning(from.next()) }
}

/** Returns a parser for a key. Access control needs only the key and its use. [redis 7.0: key specifications] */
export function key(use: KeyUse): Arg<Bytes> {
  return { usage: 'key', min: 1, max: 1, read: (from) => from.key(use) }
}

/** Returns a parser for arguments after a key. If one of the keywords occurs, the key counts as read and written. */
export function readingAndWriting<T>(keywords: readonly string[], arg: Arg<T>): Arg<T> {
  return {
    ...arg,
    read(from) {
      const key = from.names?.keys.at(-1)
      if (key !== undefined && from.mentions(keywords)) key.use = 'RW'
      return arg.read(from)
    },
  }
}

/** Parser for a channel to publish to, which access control checks. */
export const channel: Arg<Bytes> = {
  usage: 'channel',
  min: 1,
  max: 1,
  read(from) {
    const name = from.next()
    from.names?.channels.push(name)
    return name
  },
}

/** Parser for a signed 64-bit integer as a number; beyond 2^53 it is rounded. For indexes, counts and times. */
export const int: Arg<number> = word('integer', toInt)

/** Parser for a signed 64-bit integer. Beyond 2^53, the value is a bigint, so that it stays exact. */
export const int64: Arg<number | bigint> = word('integer', toInt64)

export const float: Arg<number> = word('float', toFloat)

export function toInt64(word: Bytes): number | bigint {
  const value = parseInt64(word)
  if (value === undefined) throw replyError('notInteger')
  return value
}

export function toInt(word: Bytes): number {
  return Number(toInt64(word))
}

/** Parses milliseconds to wait, 0 for unlimited. As in redis 7.0.15, the only limit is the range of the integer. */
export function toWaitTime(word: Bytes): number {
  const time = parseInt64(word)
  if (time === undefined) throw replyError('timeoutNotInteger')
  if (time < 0) throw replyError('timeoutNegative')
  return Number(time)
}

export function toFloat(word: Bytes): number {
  const value = parseDouble(word)
  if (value === undefined) throw replyError('notFloat')
  return value
}

/** Returns a copy of the parser that has another name on the page `docs/reference/commands.md`. */
export function named<T>(usage: string, arg: Arg<T>): Arg<T> {
  return { ...arg, usage }
}

export function optional<T>(arg: Arg<T>): Arg<T | undefined> {
  return {
    usage: `[${arg.usage}]`,
    min: 0,
    max: arg.max,
    read: (from) => (from.left > 0 ? arg.read(from) : undefined),
  }
}

export function tuple<T extends readonly Arg<unknown>[]>(
  ...args: T
): Arg<{ -readonly [K in keyof T]: T[K] extends Arg<infer V> ? V : never }> {
  return {
    usage: args.map((arg) => arg.usage).join(' '),
    min: sum(args, 'min'),
    max: sum(args, 'max'),
    read: (from) => args.map((arg) => arg.read(from)) as never,
  }
}

/**
 * Returns a parser that repeats `arg` to the end of the arguments, at least once. An incomplete last repetition causes
 * the error for a wrong number of arguments.
 */
export function oneOrMore<T>(arg: Arg<T>): Arg<T[]> {
  return {
    usage: `${arg.usage} [${arg.usage} …]`,
    min: arg.min,
    max: Number.POSITIVE_INFINITY,
    read: manyReader(arg),
  }
}

/**
 * Returns a parser for one or more repetitions of these arguments, such as `field value [field value …]`. The result is
 * one flat array with all arguments.
 */
export function inTurn(...args: readonly Arg<Bytes>[]): Arg<readonly Bytes[]> {
  const one = args.map((arg) => arg.usage).join(' ')
  return {
    usage: `${one} [${one} …]`,
    min: args.length,
    max: Number.POSITIVE_INFINITY,
    read(from) {
      if (from.left % args.length !== 0) throw from.uneven()
      return from.rest()
    },
  }
}

export function zeroOrMore<T>(arg: Arg<T>): Arg<T[]> {
  return {
    usage: `[${arg.usage} …]`,
    min: 0,
    max: Number.POSITIVE_INFINITY,
    read: manyReader(arg),
  }
}

function manyReader<T>(arg: Arg<T>): (from: ArgReader) => T[] {
  return (from) => {
    if (from.left % arg.min !== 0) throw from.uneven()
    // An array that grows from nothing has room for 17 values, and most commands have one.
    const values = new Array<T>(from.left / arg.min)
    for (let at = 0; at < values.length; at++) values[at] = arg.read(from)
    return values
  }
}

/** Returns a parser for a count and this many repetitions of `arg`, such as `numkeys key [key …]`. */
export function counted<T>(arg: Arg<T>, count: Arg<number>): Arg<T[]> {
  return {
    usage: `${count.usage} ${arg.usage} [${arg.usage} …]`,
    min: 1 + arg.min,
    max: Number.POSITIVE_INFINITY,
    read(from) {
      const values: T[] = []
      for (let left = count.read(from); left > 0; left--) values.push(arg.read(from))
      return values
    },
  }
}

/** Parser for a keyword without a value, for use in `options()`. */
export const flag: Arg<true> = { usage: '', min: 0, max: 0, read: () => true }

/**
 * Returns a parser for keywords in any order and case, each followed by its value: `options({ ex: int, nx: flag })`. An
 * unknown keyword, and a keyword without its value, is a syntax error. A repeated keyword keeps its last value.
 */
export function options<T extends Record<string, Arg<unknown>>>(
  table: T,
): Arg<{ [K in keyof T]?: T[K] extends Arg<infer V> ? V : never }> {
  const keywords = new Map(Object.entries(table).map(([name, arg]) => [name.toUpperCase(), [name, arg] as const]))
  return {
    usage: [...keywords].map(([keyword, [, arg]]) => `[${`${keyword} ${arg.usage}`.trim()}]`).join(' '),
    min: 0,
    max: Number.POSITIVE_INFINITY,
    read(from) {
      if (from.left === 0) return noOptions as never
      const found: Record<string, unknown> = {}
      while (from.left > 0) {
        const option = keywords.get(from.next().toUpperCase())
        if (option === undefined) throw replyError('syntax')
        found[option[0]] = option[1].read(from)
      }
      return found as never
    },
  }
}

/**
 * Result of `options()` if the client sent no option. This is always the same object, so commands can compare with it
 * and take a fast path.
 */
export const noOptions: Readonly<Record<string, never>> = Object.freeze({})

const seconds = named('seconds', bytes)
const milliseconds = named('milliseconds', bytes)

/**
 * Options that set an expiration. A command accepts only one of them. Their times are parsed after all options, because
 * errors in times are reported last.
 */
export const deadlineOptions: {
  readonly ex: Arg<Bytes>
  readonly px: Arg<Bytes>
  readonly exat: Arg<Bytes>
  readonly pxat: Arg<Bytes>
} = {
  ex: seconds,
  px: milliseconds,
  exat: named('unix-time-seconds', bytes),
  pxat: named('unix-time-milliseconds', bytes),
}

export interface ExpirationOptions {
  readonly ex?: Bytes
  readonly px?: Bytes
  readonly exat?: Bytes
  readonly pxat?: Bytes
}

/**
 * Throws a syntax error if more than one of these options is given: an expiration, or a flag that excludes expirations,
 * such as KEEPTTL.
 */
export function oneDeadline({ ex, px, exat, pxat }: ExpirationOptions, ...others: (true | undefined)[]): void {
  const given = [ex, px, exat, pxat, ...others].filter((option) => option !== undefined)
  if (given.length > 1) throw replyError('syntax')
}

/** Returns the expiration in milliseconds since the Unix epoch, or `undefined` if no option was given. */
export function deadlineOf(words: ExpirationOptions, now: number, command: string): number | undefined {
  const { ex, px, exat, pxat } = words
  if (ex !== undefined) return deadline(ex, 1000, now, command)
  if (px !== undefined) return deadline(px, 1, now, command)
  if (exat !== undefined) return deadline(exat, 1000, 0, command)
  if (pxat !== undefined) return deadline(pxat, 1, 0, command)
  return undefined
}

/**
 * Returns the instant `from` + number × `unit` in milliseconds. `word` contains the number, which must be positive. The
 * instant must fit into 64 bits.
 */
export function deadline(word: Bytes, unit: 1 | 1000, from: number, command: string): number {
  const time = toInt64(word)
  if (time <= 0) throw invalidExpire(command)
  return deadlineIn(time, unit, from, command)
}

const maxTime = 0x7fff_ffff_ffff_ffffn

/** Returns the same instant as `deadline()`, but for a parsed number, which may be 0 or less. */
export function deadlineIn(time: number | bigint, unit: 1 | 1000, from: number, command: string): number {
  if (typeof time === 'number' && Math.abs(time) < 1e12) return time * unit + from
  const length = BigInt(time) * BigInt(unit)
  const at = length + BigInt(from)
  if (length < -maxTime - 1n || length > maxTime || at < -maxTime - 1n || at > maxTime) throw invalidExpire(command)
  return Number(at)
}

function sum(args: readonly Arg<unknown>[], side: 'min' | 'max'): number {
  return args.reduce((total, arg) => total + arg[side], 0)
}
