import type { JsonSettings, LuaError } from '../runtime/activation.js'
import { hostError } from '../runtime/activation.js'
import type { LuaValue, Userdata } from '../runtime/lua-value.js'
import { LuaTable } from '../runtime/lua-value.js'
import { parseNumber } from '../runtime/number-text.js'
import { charge } from '../runtime/steps.js'

/**
 * Maximum nesting of decoded values. It applies even if the settings allow more, because the JavaScript stack is
 * limited.
 */
export const deepestDecoded = 1000

export function decodeJson(source: string, settings: JsonSettings, jsonNull: Userdata): LuaValue {
  // In JSON text, one of the first two bytes is zero only in UTF-16 or UTF-32.
  if (source.length >= 2 && (source[0] === '\0' || source[1] === '\0')) {
    throw hostError('JSON parser does not support UTF-16 or UTF-32')
  }
  return new Decoder(source, settings, jsonNull).decode()
}

type Kind =
  | 'T_OBJ_BEGIN'
  | 'T_OBJ_END'
  | 'T_ARR_BEGIN'
  | 'T_ARR_END'
  | 'T_STRING'
  | 'T_NUMBER'
  | 'T_BOOLEAN'
  | 'T_NULL'
  | 'T_COLON'
  | 'T_COMMA'
  | 'T_END'
  | 'T_ERROR'

const symbols: Readonly<Record<string, Kind>> = {
  '{': 'T_OBJ_BEGIN',
  '}': 'T_OBJ_END',
  '[': 'T_ARR_BEGIN',
  ']': 'T_ARR_END',
  ':': 'T_COLON',
  ',': 'T_COMMA',
}

class Decoder {
  readonly #source: string
  readonly #settings: JsonSettings
  readonly #null: Userdata
  #at = 0
  #kind: Kind = 'T_END'
  /** Position of the start of the current token, or of an error in this token. */
  #start = 0
  /** Value of the current token, or the text of its error. */
  #value: LuaValue = undefined
  #depth = 0

  constructor(source: string, settings: JsonSettings, jsonNull: Userdata) {
    this.#source = source
    this.#settings = settings
    this.#null = jsonNull
  }

  decode(): LuaValue {
    this.#next()
    const value = this.#parse()
    this.#next()
    if (!this.#is('T_END')) throw this.#unexpected('the end')
    return value
  }

  #unexpected(expected: string): LuaError {
    const found = this.#kind === 'T_ERROR' ? this.#value : this.#kind
    const text = `Expected ${expected} but found ${found} at character ${this.#start + 1}`
    return hostError(text)
  }

  #is(kind: Kind): boolean {
    return this.#kind === kind
  }

  #parse(): LuaValue {
    switch (this.#kind) {
      case 'T_STRING':
      case 'T_NUMBER':
      case 'T_BOOLEAN':
        return this.#value
      case 'T_NULL':
        return this.#null
      case 'T_OBJ_BEGIN':
        return this.#object()
      case 'T_ARR_BEGIN':
        return this.#array()
      default:
        throw this.#unexpected('value')
    }
  }

  #descend(): void {
    charge(8)
    const depth = ++this.#depth
    if (depth > this.#settings.decodeMaxDepth || depth > deepestDecoded) {
      throw hostError(`Found too many nested data structures (${depth}) at character ${this.#at}`)
    }
  }

  #object(): LuaTable {
    this.#descend()
    const table = new LuaTable()
    this.#next()
    if (!this.#is('T_OBJ_END')) {
      for (;;) {
        if (!this.#is('T_STRING')) throw this.#unexpected('object key string')
        charge(13)
        const key = this.#value
        this.#next()
        if (!this.#is('T_COLON')) throw this.#unexpected('colon')
        this.#next()
        table.set(key, this.#parse())
        this.#next()
        if (this.#is('T_OBJ_END')) break
        if (!this.#is('T_COMMA')) throw this.#unexpected('comma or object end')
        this.#next()
      }
    }
    this.#depth--
    return table
  }

  #array(): LuaTable {
    this.#descend()
    const table = new LuaTable()
    this.#next()
    if (!this.#is('T_ARR_END')) {
      for (;;) {
        table.list.push(this.#parse())
        this.#next()
        if (this.#is('T_ARR_END')) break
        if (!this.#is('T_COMMA')) throw this.#unexpected('comma or array end')
        this.#next()
      }
    }
    charge(8 * table.list.length)
    this.#depth--
    return table
  }

  #fail(text: string, at: number): false {
    this.#kind = 'T_ERROR'
    this.#value = text
    this.#start = at
    return false
  }

  #next(): void {
    const source = this.#source
    while (isBlank(source.charCodeAt(this.#at))) this.#at++
    const at = this.#at
    this.#start = at
    const char = source[at]
    if (char === undefined || char === '\0') {
      this.#kind = 'T_END'
      return
    }
    const symbol = symbols[char]
    if (symbol !== undefined) {
      this.#kind = symbol
      this.#at++
    } else if (char === '"') {
      this.#string()
    } else if (char === '-' || (char >= '0' && char <= '9')) {
      if (!this.#settings.decodeInvalidNumbers && isUnusualNumber(source, at)) this.#fail('invalid number', at)
      else this.#number()
    } else if (!this.#word()) {
      // Forms such as hexadecimal numbers and infinities are only accepted if the settings allow invalid numbers.
      const mayBeNumber = 'fiInNt+'.includes(char) && isUnusualNumber(source, at)
      if (this.#settings.decodeInvalidNumbers && mayBeNumber) this.#number()
      else this.#fail('invalid token', at)
    }
  }

  #word(): boolean {
    for (const [word, kind, value] of words) {
      if (!this.#source.startsWith(word, this.#at)) continue
      this.#at += word.length
      this.#kind = kind
      this.#value = value
      return true
    }
    return false
  }

  #number(): void {
    numberForm.lastIndex = this.#at
    const text = numberForm.exec(this.#source)?.[0]
    const value = text === undefined ? undefined : parseNumber(text)
    if (value === undefined) {
      this.#fail('invalid number', this.#at)
      return
    }
    this.#kind = 'T_NUMBER'
    this.#value = value
    this.#at += text!.length
  }

  /** Reads a string. Returns false if it is invalid. */
  #string(): boolean {
    const source = this.#source
    let at = this.#at + 1
    let from = at
    let text = ''
    for (;;) {
      const code = source.charCodeAt(at)
      if (code === 34) break
      if (at >= source.length || code === 0) return this.#fail('unexpected end of string', at)
      if (code !== 92) {
        at++
        continue
      }
      text += source.slice(from, at)
      const escaped = source[at + 1] ?? '\0'
      if (escaped === 'u') {
        const sequence = unicodeEscape(source, at)
        if (sequence === undefined) return this.#fail('invalid unicode escape code', at)
        text += sequence.bytes
        at += sequence.length
      } else {
        const plain = escapes[escaped]
        if (plain === undefined) return this.#fail('invalid escape code', at)
        text += plain
        at += 2
      }
      from = at
    }
    this.#kind = 'T_STRING'
    this.#value = text + source.slice(from, at)
    this.#at = at + 1
    return true
  }
}

const words: readonly (readonly [string, Kind, LuaValue])[] = [
  ['true', 'T_BOOLEAN', true],
  ['false', 'T_BOOLEAN', false],
  ['null', 'T_NULL', undefined],
]

/** Pattern of the numbers that C's `strtod` accepts. */
const numberForm =
  /[+-]?(?:0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN](?:\([0-9A-Za-z_]*\))?)/y

function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13
}

/** Returns whether C's `strtod` accepts this number although it is not JSON. */
function isUnusualNumber(source: string, start: number): boolean {
  if (source[start] === '+') return true
  const at = source[start] === '-' ? start + 1 : start
  const char = source[at] ?? '\0'
  if (char === '0') return /[xX0-9]/.test(source[at + 1] ?? '')
  if (char <= '9') return false
  return /^(?:inf|nan)/i.test(source.slice(at, at + 3))
}

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
}

/** Decodes an escape such as `\u0041`, or a pair of surrogates, to UTF-8. Returns `undefined` if it is malformed. */
function unicodeEscape(source: string, at: number): { bytes: string; length: number } | undefined {
  const unit = hex4(source, at + 2)
  if (unit === undefined) return undefined
  if ((unit & 0xf800) !== 0xd800) return { bytes: utf8Bytes(unit), length: 6 }
  if ((unit & 0x400) !== 0 || source.slice(at + 6, at + 8) !== '\\u') return undefined
  const low = hex4(source, at + 8)
  if (low === undefined || (low & 0xfc00) !== 0xdc00) return undefined
  return { bytes: utf8Bytes(0x1_0000 + ((unit & 0x3ff) << 10) + (low & 0x3ff)), length: 12 }
}

function hex4(source: string, at: number): number | undefined {
  const digits = source.slice(at, at + 4)
  return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : undefined
}

function utf8Bytes(point: number): string {
  if (point < 0x80) return String.fromCharCode(point)
  if (point < 0x800) return String.fromCharCode(0xc0 | (point >> 6), 0x80 | (point & 63))
  if (point < 0x1_0000) {
    return String.fromCharCode(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63))
  }
  return String.fromCharCode(
    0xf0 | (point >> 18),
    0x80 | ((point >> 12) & 63),
    0x80 | ((point >> 6) & 63),
    0x80 | (point & 63),
  )
}
