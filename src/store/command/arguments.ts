import type { Bytes } from '../../kernel/bytes.js'
import { replyError } from './errors.js'
import { parseDouble, parseInt64 } from './text.js'

/** Reads one command's words from left to right. */
export class ArgReader {
  #argv: readonly Bytes[] = []
  #at = 0
  /** Keys read so far; only collected when somebody asks, for access control and scripts. */
  keys: Bytes[] | undefined
  /** The same for channels. */
  channels: Bytes[] | undefined

  start(argv: readonly Bytes[], at: number): void {
    this.#argv = argv
    this.#at = at
  }

  get left(): number {
    return this.#argv.length - this.#at
  }

  /** The next word. Arity was checked before, so a missing one is a syntax error. */
  next(): Bytes {
    const word = this.#argv[this.#at++]
    if (word === undefined) throw replyError('syntax')
    return word
  }

  /** All words that are left, in an array of just their number. */
  rest(): Bytes[] {
    const words = this.#argv.slice(this.#at)
    this.#at = this.#argv.length
    return words
  }

  /** All words of the command, the rest taken. */
  row(): readonly Bytes[] {
    this.#at = this.#argv.length
    return this.#argv
  }

  /** All words that are left, two by two; their number is even. */
  pairs(): [Bytes, Bytes][] {
    const pairs: [Bytes, Bytes][] = []
    for (; this.#at < this.#argv.length; this.#at += 2) pairs.push([this.#argv[this.#at]!, this.#argv[this.#at + 1]!])
    return pairs
  }

  peek(): Bytes | undefined {
    return this.#argv[this.#at]
  }

  /** Takes the next word when it is this keyword, in any case. */
  takes(keyword: string): boolean {
    const word = this.#argv[this.#at]
    if (word === undefined || word.length !== keyword.length || word.toUpperCase() !== keyword) return false
    this.#at++
    return true
  }
}

/** A parser for some words. Running out of words, or leaving some over, is an error that `command` states once. */
export interface Arg<T> {
  /** As the reference shows it; the model tests write random commands after it. */
  readonly usage: string
  /** Words it takes at least. */
  readonly min: number
  /** Words it takes at most. */
  readonly max: number
  /** Set by `row`: so many words at a time. */
  readonly rowOf?: number
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

export const key: Arg<Bytes> = {
  usage: 'key',
  min: 1,
  max: 1,
  read(from) {
    const name = from.next()
    from.keys?.push(name)
    return name
  },
}

/** A channel to publish to: access control looks at it. */
export const channel: Arg<Bytes> = {
  usage: 'channel',
  min: 1,
  max: 1,
  read(from) {
    const name = from.next()
    from.channels?.push(name)
    return name
  },
}

/** A signed 64-bit integer, as a number; beyond 2^53 the nearest one. For indexes, counts and times. */
export const int: Arg<number> = {
  usage: 'integer',
  min: 1,
  max: 1,
  read: (from) => toInt(from.next()),
}

/** A signed 64-bit integer, exact: a bigint beyond 2^53. */
export const int64: Arg<number | bigint> = {
  usage: 'integer',
  min: 1,
  max: 1,
  read: (from) => toInt64(from.next()),
}

export const float: Arg<number> = {
  usage: 'float',
  min: 1,
  max: 1,
  read: (from) => toFloat(from.next()),
}

export function toInt64(word: Bytes): number | bigint {
  const value = parseInt64(word)
  if (value === undefined) throw replyError('notInteger')
  return value
}

export function toInt(word: Bytes): number {
  return Number(toInt64(word))
}

export function toFloat(word: Bytes): number {
  const value = parseDouble(word)
  if (value === undefined) throw replyError('notFloat')
  return value
}

/** The same parser under another name in the reference. */
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
    read: tupleReader(args) as never,
  }
}

function tupleReader(args: readonly Arg<unknown>[]): (from: ArgReader) => unknown[] {
  const [first, second] = args
  if (args.length !== 2 || second?.read !== bytes.read) return (from) => args.map((arg) => arg.read(from))
  if (first?.read === bytes.read) return readWords
  return first?.read === key.read ? readKeyAndWord : (from) => [first!.read(from), from.next()]
}

function readWords(from: ArgReader): [Bytes, Bytes] {
  return [from.next(), from.next()]
}

function readKeyAndWord(from: ArgReader): [Bytes, Bytes] {
  return [key.read(from), from.next()]
}

/** Whether an argument is one word as it is. */
export function isPlain(arg: Arg<unknown>): boolean {
  return arg.read === bytes.read || arg.read === key.read
}

/** One or more of the same, to the end. A rest that does not come out even is the arity error. */
export function oneOrMore<T>(arg: Arg<T>): Arg<T[]> {
  return {
    usage: `${arg.usage} [${arg.usage} …]`,
    min: arg.min,
    max: Number.POSITIVE_INFINITY,
    read: manyReader(arg),
  }
}

/**
 * One or more plain words, or tuples of them, to the end. The body is given the whole row of the command's words, and
 * begins after those it has been given before: a write of many words needs no array of its own for them.
 */
export function row(...args: readonly Arg<Bytes>[]): Arg<readonly Bytes[]> {
  const one = args.map((arg) => arg.usage).join(' ')
  return {
    usage: `${one} [${one} …]`,
    min: args.length,
    max: Number.POSITIVE_INFINITY,
    rowOf: args.length,
    read(from) {
      if (from.left % args.length !== 0) throw new UnevenArguments()
      return from.row()
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

/** Thrown by a parser whose words do not come out even; `execute` knows the command's name. */
export class UnevenArguments extends Error {}

/** Plain words and pairs of them are what long commands are made of: they are taken at once. */
function manyReader<T>(arg: Arg<T>): (from: ArgReader) => T[] {
  const read: unknown = arg.read
  if (read === bytes.read) return (from) => from.rest() as T[]
  const isPair = read === readWords || read === readKeyAndWord
  return (from) => {
    if (from.left % arg.min !== 0) throw new UnevenArguments()
    if (isPair && from.keys === undefined) return from.pairs() as T[]
    const values: T[] = []
    while (from.left > 0) values.push(arg.read(from))
    return values
  }
}

/** Exactly as many as the count before them says, such as `numkeys key [key …]`. */
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

/** A word without a value among `options`. */
export const flag: Arg<true> = { usage: '', min: 0, max: 0, read: () => true }

/**
 * Keywords in any order and any case, each followed by what its parser takes: `options({ ex: int, nx: flag })`.
 * Anything else, and a keyword without its value, is a syntax error. A keyword that comes twice keeps its last value.
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

/** What `options` reads when there are none: the same object each time, so that a command can take a short cut. */
export const noOptions: Readonly<Record<string, never>> = Object.freeze({})

function sum(args: readonly Arg<unknown>[], side: 'min' | 'max'): number {
  return args.reduce((total, arg) => total + arg[side], 0)
}
