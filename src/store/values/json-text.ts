import { type Bytes, isUtf8, latin1, utf8 } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import { Float, isContainer, type Json, type JsonArray, type JsonObject, maxDepth } from './json-value.js'

/** Error for a text that is not JSON or nests too deeply. `at` is the offset in bytes. */
export class JsonTextError extends Error {
  readonly at: number
  readonly reason: 'syntax' | 'depth'

  constructor(message: string, at: number, reason: 'syntax' | 'depth' = 'syntax') {
    super(`${message} at byte ${at}`)
    this.name = 'JsonTextError'
    this.at = at
    this.reason = reason
  }
}

/** Texts for indentation, line breaks and spaces; all empty for the compact form. */
export interface Layout {
  readonly indent: Bytes
  readonly newline: Bytes
  readonly space: Bytes
}

/**
 * Parses one JSON value (strictly RFC 8259) that is the whole text.
 * @throws JsonTextError when it is invalid
 */
export function parseJson(source: Bytes): Json {
  if (!isUtf8(source)) throw new JsonTextError('invalid UTF-8', 0)
  return new Reader(source).document()
}

/**
 * Formats a value as JSON, compact unless a layout is given.
 * @param work the work budget, to which the formatting is charged
 * @throws JsonSizeError when the text is too long
 */
export function formatJson(value: Json, layout?: Layout, work?: Work): Bytes {
  const writer = new Writer(layout && (layout.indent || layout.newline || layout.space) ? layout : undefined, work)
  writer.write(value)
  return latin1(writer.text)
}

/**
 * Maximum bytes of a JSON text. It is larger than the largest request of the service, and small enough for the memory.
 */
export const maxTextLength = 67_108_864

/** Error when the JSON text would exceed {@link maxTextLength}: a path may match the same values many times. */
export class JsonSizeError extends Error {
  readonly length: number

  constructor(length: number) {
    super(`JSON text longer than ${maxTextLength} bytes`)
    this.length = length
  }
}

const quote = 0x22
const backslash = 0x5c
const minus = 0x2d
const maxUnsigned = 2n ** 64n - 1n
const minSigned = -(2n ** 63n)

/** Every integer with at most this many digits is a safe integer of JavaScript. */
const safeDigits = 15

const simpleEscapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

class Reader {
  readonly #source: Bytes
  #at = 0
  #depth = 0

  constructor(source: Bytes) {
    this.#source = source
  }

  document(): Json {
    const value = this.#value()
    this.#skipSpace()
    if (this.#at < this.#source.length) throw this.#unexpected()
    return value
  }

  #value(): Json {
    this.#skipSpace()
    const code = this.#source.charCodeAt(this.#at)
    if (code === quote) return this.#string()
    if (code === minus || isDigit(code)) return this.#number()
    if (code === 0x7b) return this.#object()
    if (code === 0x5b) return this.#array()
    if (code === 0x74) return this.#word('true', true)
    if (code === 0x66) return this.#word('false', false)
    if (code === 0x6e) return this.#word('null', null)
    throw this.#unexpected()
  }

  #array(): JsonArray {
    this.#enter()
    const array: JsonArray = []
    if (!this.#closes(0x5d)) {
      do array.push(this.#value())
      while (this.#continues(0x5d))
    }
    this.#depth--
    return array
  }

  #object(): JsonObject {
    this.#enter()
    const object: JsonObject = new Map()
    if (!this.#closes(0x7d)) {
      do {
        this.#skipSpace()
        if (this.#source.charCodeAt(this.#at) !== quote) throw this.#unexpected()
        const key = this.#string()
        this.#skipSpace()
        if (this.#source.charCodeAt(this.#at) !== 0x3a) throw this.#unexpected()
        this.#at++
        object.set(key, this.#value())
      } while (this.#continues(0x7d))
    }
    this.#depth--
    return object
  }

  /** Moves past the opening bracket. */
  #enter(): void {
    if (++this.#depth > maxDepth) throw new JsonTextError(`nested deeper than ${maxDepth} levels`, this.#at, 'depth')
    this.#at++
  }

  #closes(bracket: number): boolean {
    this.#skipSpace()
    if (this.#source.charCodeAt(this.#at) !== bracket) return false
    this.#at++
    return true
  }

  /** Returns true after a comma, false after the closing bracket. */
  #continues(bracket: number): boolean {
    if (this.#closes(bracket)) return false
    if (this.#source.charCodeAt(this.#at) !== 0x2c) throw this.#unexpected()
    this.#at++
    return true
  }

  #word(word: string, value: boolean | null): boolean | null {
    if (!this.#source.startsWith(word, this.#at)) throw this.#unexpected()
    this.#at += word.length
    return value
  }

  #string(): Bytes {
    const source = this.#source
    const start = this.#at + 1
    for (let at = start; ; at++) {
      const code = source.charCodeAt(at)
      if (code === quote) {
        this.#at = at + 1
        return latin1(source.slice(start, at))
      }
      if (code === backslash) return this.#escapedString(start, at)
      if (!(code >= 0x20)) throw this.#unexpected(at)
    }
  }

  /** Reads a string whose first escape is at `at`. */
  #escapedString(start: number, at: number): Bytes {
    const source = this.#source
    let text = ''
    let from = start
    for (;;) {
      const code = source.charCodeAt(at)
      if (code === quote) {
        this.#at = at + 1
        return latin1(text + source.slice(from, at))
      }
      if (!(code >= 0x20)) throw this.#unexpected(at)
      if (code !== backslash) {
        at++
        continue
      }
      text += source.slice(from, at)
      const { text: char, end } = this.#escape(at)
      text += char
      at = from = end
    }
  }

  #escape(at: number): { text: string; end: number } {
    const letter = this.#source.charAt(at + 1)
    if (letter !== 'u') {
      const text = simpleEscapes.get(letter)
      if (text === undefined) throw this.#unexpected(at + 1)
      return { text, end: at + 2 }
    }
    const first = this.#hex(at + 2)
    if (first >= 0xd800 && first < 0xdc00 && this.#source.startsWith('\\u', at + 6)) {
      const second = this.#hex(at + 8)
      if (second >= 0xdc00 && second < 0xe000) return { text: utf8(String.fromCharCode(first, second)), end: at + 12 }
    }
    // An unpaired surrogate has no UTF-8 form and becomes U+FFFD, as in the Go library. This package chose U+FFFD,
    // because the behavior of the service is not public.
    return { text: utf8(String.fromCharCode(first)), end: at + 6 }
  }

  #hex(at: number): number {
    const digits = this.#source.slice(at, at + 4)
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.#unexpected(at)
    return Number.parseInt(digits, 16)
  }

  #number(): Json {
    const source = this.#source
    const start = this.#at
    let at = start
    if (source.charCodeAt(at) === minus) at++
    const firstDigit = at
    let size = 0
    while (isDigit(source.charCodeAt(at))) size = size * 10 + source.charCodeAt(at++) - 0x30
    const digits = at - firstDigit
    if (digits === 0 || (digits > 1 && source.charCodeAt(firstDigit) === 0x30)) throw this.#unexpected(firstDigit)
    const whole = at
    if (source.charCodeAt(at) === 0x2e) at = this.#digits(at + 1)
    if ((source.charCodeAt(at) | 0x20) === 0x65) {
      const sign = source.charCodeAt(at + 1)
      at = this.#digits(sign === minus || sign === 0x2b ? at + 2 : at + 1)
    }
    this.#at = at
    const negative = firstDigit > start
    if (at === whole && digits <= safeDigits && !(negative && size === 0)) return negative ? -size : size
    const number = numberFromText(latin1(source.slice(start, at)))
    if (number === undefined) throw new JsonTextError('number out of range', start)
    return number
  }

  #digits(at: number): number {
    if (!isDigit(this.#source.charCodeAt(at))) throw this.#unexpected(at)
    while (isDigit(this.#source.charCodeAt(at))) at++
    return at
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#source.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }

  #unexpected(at: number = this.#at): JsonTextError {
    if (at >= this.#source.length) return new JsonTextError('unexpected end of JSON text', this.#source.length)
    return new JsonTextError(`unexpected ${JSON.stringify(this.#source.charAt(at))}`, at)
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Returns the value of a valid JSON number; `undefined` beyond the range of double precision. */
function numberFromText(text: Bytes): number | bigint | Float | undefined {
  if (/^-?\d+$/.test(text) && text.length <= 20 && text !== '-0') {
    const integer = BigInt(text)
    if (isWhole(integer)) return wholeNumber(integer)
  }
  const value = Number(text)
  // The spelling is kept except for the exponent: `1.6e308`, never `1.6E+308`. [store.md, facts found later]
  return Number.isFinite(value) ? new Float(value, latin1(text.replace(/e\+?/i, 'e'))) : undefined
}

/** Returns whether documents keep the integer exactly: between -2^63 and 2^64-1. Other integers become floats. */
export function isWhole(integer: bigint): boolean {
  return integer >= minSigned && integer <= maxUnsigned
}

/** Converts an integer to the representation of {@link Json}; see {@link isWhole}. */
export function wholeNumber(integer: bigint): number | bigint {
  const small = Number(integer)
  return Number.isSafeInteger(small) ? small : integer
}

const mustEscape = /["\\\x00-\x1f]/

/**
 * Quotes a string with the shortest escapes; everything above U+001F is unescaped. `JSON.stringify` does that for byte
 * strings, because characters up to U+00FF are neither surrogates nor line separators.
 */
export function quoteJson(string: Bytes): string {
  return mustEscape.test(string) ? JSON.stringify(string) : `"${string}"`
}

function scalar(value: Exclude<Json, JsonArray | JsonObject>): string {
  if (typeof value === 'string') return quoteJson(value)
  return value instanceof Float ? value.text : String(value)
}

/** Units of work for one value that is written. */
const unitsPerValue = 3

/** Appends to one text, which is faster in JavaScript engines than joining parts. */
class Writer {
  text = ''
  readonly #layout: Layout | undefined
  readonly #work: Work | undefined
  /** Length of the text that was already charged to the work budget. */
  #paid = 0

  constructor(layout: Layout | undefined, work: Work | undefined) {
    this.#layout = layout
    this.#work = work
  }

  write(value: Json, level = 0): void {
    if (this.#work !== undefined) this.#pay(this.#work)
    if (!isContainer(value)) this.text += scalar(value)
    else if (this.#layout) this.#laidOut(value, this.#layout, level)
    else this.#compact(value)
    if (this.text.length > maxTextLength) throw new JsonSizeError(this.text.length)
  }

  #pay(work: Work): void {
    const { length } = this.text
    work.charge(unitsPerValue + ((length - this.#paid) >>> 5))
    this.#paid = length
  }

  #compact(value: JsonArray | JsonObject): void {
    let comma = ''
    if (Array.isArray(value)) {
      this.text += '['
      for (const member of value) {
        this.text += comma
        this.write(member)
        comma = ','
      }
      this.text += ']'
      return
    }
    this.text += '{'
    for (const [key, member] of value) {
      this.text += `${comma}${quoteJson(key)}:`
      this.write(member)
      comma = ','
    }
    this.text += '}'
  }

  #laidOut(value: JsonArray | JsonObject, layout: Layout, level: number): void {
    const [opening, closing] = Array.isArray(value) ? '[]' : '{}'
    // The layout arguments may be long. Repeating them could exceed the longest string of the engine.
    const lineLength = layout.newline.length + layout.indent.length * (level + 1) + layout.space.length
    if (lineLength > maxTextLength) throw new JsonSizeError(lineLength)
    const outer = layout.newline + layout.indent.repeat(level)
    this.text += opening
    let comma = ''
    for (const [key, member] of value.entries()) {
      this.text += comma + outer + layout.indent
      if (this.text.length > maxTextLength) throw new JsonSizeError(this.text.length)
      if (typeof key === 'string') this.text += `${quoteJson(key)}:${layout.space}`
      this.write(member, level + 1)
      comma = ','
    }
    this.text += (comma && outer) + closing
  }
}
