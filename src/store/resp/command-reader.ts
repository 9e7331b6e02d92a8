import { type Bytes, latin1 } from '../../kernel/bytes.js'

// Reads commands of the Redis protocol: arrays of bulk strings, or inline lines as people type them. [redis 7.0]

/** Error for bytes that are not the Redis protocol. The client gets the error, and the connection closes. */
export class ProtocolError extends Error {
  constructor(what: string) {
    super(`ERR Protocol error: ${what}`)
  }
}

/**
 * Error for a TLS handshake instead of a command. Such a client gets no reply, because it cannot read one and might
 * never send a complete line.
 */
export class TlsHandshake extends Error {}

/** Command that exceeded the maximum request size. Its bytes were read and discarded. */
export class OversizedCommand {
  constructor(readonly size: number) {}
}

export interface ReaderLimits {
  /** Maximum bytes of all arguments of a command. */
  readonly command: number
  /** Maximum number of arguments. */
  readonly words: number
  /** Maximum bytes of one argument; a longer one is a protocol error. */
  readonly word: number
  /** Maximum bytes of an incomplete line. */
  readonly line: number
}

/**
 * Limits for clients that have not signed in. The limits for arguments are those of redis-server, which would allow 160
 * KB per command. Signing in needs less, so a longer command or line is rejected and not kept in memory.
 */
export const strangersLimits: ReaderLimits = { command: 16_384, words: 10, word: 16_384, line: 16_384 }

/** Limits for clients that have signed in, as in redis-server. [redis 7.0] */
export const maxLine = 65_536
export const maxWords = 1_048_576
export const maxWord = 536_870_912
const maxNumber = 32
const CR = 13
const LF = 10
const ASTERISK = 42
const DOLLAR = 36
const MINUS = 45
/** Record type of a ClientHello. [RFC 8446, 5.1] */
const HANDSHAKE = 0x16

/** Bytes of memory for each piece of a command, in addition to its content. */
const perPiece = 32

const nothing = new Uint8Array(0)

/** Parses commands from chunks that may be cut anywhere. */
export class CommandReader {
  readonly #textOf: (bytes: Uint8Array, from: number, to: number) => Bytes
  #buffer: Uint8Array = nothing
  #at = 0
  /** Number of missing arguments of the current command; 0 between commands. */
  #missing = 0
  #words: Bytes[] = []
  #size = 0
  /** Number of bytes that are missing of the current argument, including its line end. -1 until the length was read. */
  #left = -1
  #parts: Bytes[] = []
  /** Bytes that were read of the current command: complete arguments and parts of the current one. */
  #kept = 0

  /**
   * @param textOf converts a range of a chunk to a byte string. Hosts have faster functions for this than JavaScript
   * itself.
   */
  constructor(textOf: (bytes: Uint8Array, from: number, to: number) => Bytes) {
    this.#textOf = textOf
  }

  /** Bytes that are kept in memory until a command is complete. Bytes that were not read yet are included. */
  get held(): number {
    return this.#buffer.length + this.#kept + perPiece * (this.#words.length + this.#parts.length)
  }

  /** Bytes that were received but not read. */
  get pending(): number {
    return this.#buffer.length - this.#at
  }

  push(chunk: Uint8Array): void {
    const rest = this.#buffer.length - this.#at
    if (rest === 0) this.#buffer = chunk
    else {
      const joined = new Uint8Array(rest + chunk.length)
      joined.set(this.#buffer.subarray(this.#at))
      joined.set(chunk, rest)
      this.#buffer = joined
    }
    this.#at = 0
  }

  /** Drops all buffered bytes, because no further command will be read. */
  forget(): void {
    this.#buffer = nothing
    this.#at = 0
    this.#words = []
    this.#parts = []
    this.#kept = 0
  }

  /** Releases the memory of a chunk if at most half of its bytes are unread. */
  compact(): void {
    if (this.#at === 0 || this.pending > this.#buffer.length >>> 1) return
    this.#buffer = this.pending === 0 ? nothing : this.#buffer.slice(this.#at)
    this.#at = 0
  }

  /**
   * Returns the next command, or `undefined` until more bytes arrive. An empty line has no arguments.
   * @throws ProtocolError, TlsHandshake when the bytes are not a command. Nothing after these bytes can be read.
   */
  next(limits: ReaderLimits): readonly Bytes[] | OversizedCommand | undefined {
    if (this.#missing === 0) {
      if (this.#at === this.#buffer.length) return undefined
      if (this.#buffer[this.#at] !== ASTERISK) return this.#inline(limits)
      const count = this.#number('multibulk', 'mbulk', limits)
      if (count === undefined) return undefined
      if (count > limits.words) {
        throw new ProtocolError(
          limits === strangersLimits ? 'unauthenticated multibulk length' : 'invalid multibulk length',
        )
      }
      // An empty array is not a command.
      if (count <= 0) return []
      this.#missing = count
    }
    while (this.#missing > 0) if (!this.#readWord(limits)) return undefined
    const [words, size] = [this.#words, this.#size]
    this.#words = []
    this.#size = 0
    this.#kept = 0
    return size > limits.command ? new OversizedCommand(size) : words
  }

  /**
   * Reads the current argument, or its available part.
   * @returns whether the argument is complete
   */
  #readWord(limits: ReaderLimits): boolean {
    if (this.#left < 0) {
      if (this.#at === this.#buffer.length) return false
      const sign = this.#buffer[this.#at]!
      if (sign !== DOLLAR) throw new ProtocolError(`expected '$', got '${printable(sign)}'`)
      const length = this.#number('bulk', 'bulk', limits)
      if (length === undefined) return false
      if (length < 0 || length > limits.word) {
        throw new ProtocolError(limits === strangersLimits ? 'unauthenticated bulk length' : 'invalid bulk length')
      }
      this.#left = length + 2
      this.#size += length
      if (this.#size > limits.command) {
        this.#words = []
        this.#parts = []
        this.#kept = 0
      }
    }
    const isKept = this.#size <= limits.command
    const there = this.#buffer.length - this.#at
    if (there < this.#left) {
      // The line end stays in the buffer until both of its bytes have arrived.
      const taken = Math.max(0, Math.min(there, this.#left - 2))
      if (taken > 0 && isKept) {
        this.#parts.push(this.#textOf(this.#buffer, this.#at, this.#at + taken))
        this.#kept += taken
      }
      this.#at += taken
      this.#left -= taken
      return false
    }
    const end = this.#at + this.#left - 2
    if (isKept) {
      const last = this.#textOf(this.#buffer, this.#at, end)
      this.#kept += last.length
      this.#words.push(this.#parts.length === 0 ? last : latin1(this.#parts.join('') + last))
    }
    if (this.#parts.length > 0) this.#parts = []
    this.#at = end + 2
    this.#left = -1
    this.#missing--
    return true
  }

  /**
   * Returns the number after the type character, such as 3 for `*3`. Returns `undefined` until the line is complete.
   */
  #number(name: string, short: string, { line }: ReaderLimits): number | undefined {
    const end = this.#buffer.indexOf(CR, this.#at)
    if (end === -1 || end + 1 >= this.#buffer.length) {
      if (this.#buffer.length - this.#at > line) throw new ProtocolError(`too big ${short} count string`)
      return undefined
    }
    let at = this.#at + 1
    const isNegative = this.#buffer[at] === MINUS
    if (isNegative) at++
    if (at >= end || end - at > maxNumber) throw new ProtocolError(`invalid ${name} length`)
    let value = 0
    for (; at < end; at++) {
      const digit = this.#buffer[at]! - 48
      if (digit < 0 || digit > 9) throw new ProtocolError(`invalid ${name} length`)
      value = value * 10 + digit
    }
    this.#at = end + 2
    return isNegative ? -value : value
  }

  #inline({ line: longest }: ReaderLimits): readonly Bytes[] | undefined {
    if (this.#buffer[this.#at] === HANDSHAKE) throw new TlsHandshake()
    const end = this.#buffer.indexOf(LF, this.#at)
    if ((end === -1 ? this.#buffer.length : end) - this.#at > longest) throw new ProtocolError('too big inline request')
    if (end === -1) return undefined
    const line = this.#textOf(this.#buffer, this.#at, end)
    this.#at = end + 1
    return wordsOf(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' }

/** Splits an inline line into arguments. Arguments with spaces are in quotes. */
function wordsOf(line: string): Bytes[] {
  const words: Bytes[] = []
  let at = 0
  for (;;) {
    while (isSpace(line[at])) at++
    if (at >= line.length) return words
    let word = ''
    while (at < line.length && !isSpace(line[at])) {
      const quote = line[at]!
      if (quote !== '"' && quote !== "'") {
        word += quote
        at++
        continue
      }
      for (at++; line[at] !== quote; at++) {
        if (at >= line.length) throw new ProtocolError('unbalanced quotes in request')
        if (line[at] !== '\\') word += line[at]
        else if (quote === "'") {
          if (line[at + 1] === "'") at++
          word += line[at]
        } else {
          const hex = /^x([0-9a-f]{2})/i.exec(line.slice(at + 1, at + 4))?.[1]
          if (hex !== undefined) {
            word += String.fromCharCode(Number.parseInt(hex, 16))
            at += 3
          } else if (at + 1 < line.length) {
            at++
            word += escapes[line[at]!] ?? line[at]
          }
        }
      }
      at++
      if (at < line.length && !isSpace(line[at])) throw new ProtocolError('unbalanced quotes in request')
    }
    words.push(latin1(word))
  }
}

function isSpace(char: string | undefined): boolean {
  return (
    char === ' ' || char === '\t' || char === '\n' || char === '\r' || char === '\v' || char === '\f' || char === '\0'
  )
}

function printable(code: number): string {
  return code >= 32 && code < 127 ? String.fromCharCode(code) : '?'
}
