import type { JsonSettings } from '../runtime/activation.js'
import { chargeBytes, hostError } from '../runtime/activation.js'
import type { LuaValue, Userdata } from '../runtime/lua-value.js'
import { LuaTable, typeName } from '../runtime/lua-value.js'
import { generalText } from '../runtime/number-text.js'
import { charge } from '../runtime/steps.js'

/**
 * Maximum nesting of encoded values. Deeper values could overflow the JavaScript stack, which the script also uses. In
 * redis-server only the settings limit the nesting.
 */
export const deepestEncoded = 1000

export function encodeJson(value: LuaValue, settings: JsonSettings, jsonNull: Userdata): string {
  return new Encoder(settings, jsonNull).encode(value)
}

class Encoder {
  readonly #settings: JsonSettings
  readonly #null: Userdata
  #text = ''

  constructor(settings: JsonSettings, jsonNull: Userdata) {
    this.#settings = settings
    this.#null = jsonNull
  }

  encode(value: LuaValue): string {
    this.#value(value, 0)
    chargeBytes(this.#text.length)
    return this.#text
  }

  #refuse(value: LuaValue, reason: string): never {
    throw hostError(`Cannot serialise ${typeName(value)}: ${reason}`)
  }

  #value(value: LuaValue, depth: number): void {
    charge(typeof value === 'number' ? stepsPerNumber : stepsPerValue)
    switch (typeof value) {
      case 'string':
        this.#text += quote(value)
        return
      case 'number':
        this.#text += this.#number(value)
        return
      case 'boolean':
        this.#text += value ? 'true' : 'false'
        return
      case 'undefined':
        this.#text += 'null'
        return
    }
    if (value instanceof LuaTable) this.#table(value, depth + 1)
    else if (value === this.#null) this.#text += 'null'
    else this.#refuse(value, 'type not supported')
  }

  #number(value: number): string {
    if (!Number.isFinite(value)) {
      const choice = this.#settings.encodeInvalidNumbers
      if (choice === 'error') this.#refuse(value, 'must not be NaN or Inf')
      if (choice === 'null') return 'null'
      if (Number.isNaN(value)) return 'nan'
    }
    return generalText(value, this.#settings.numberPrecision)
  }

  #table(table: LuaTable, depth: number): void {
    if (depth > this.#settings.encodeMaxDepth || depth > deepestEncoded) {
      throw hostError(`Cannot serialise, excessive nesting (${depth})`)
    }
    const length = this.#arrayLength(table)
    if (length > 0) this.#array(table, length, depth)
    else this.#object(table, depth)
  }

  /**
   * Returns the length of a table that is encoded as an array, or -1. The keys of an array are positive integers
   * without large gaps.
   */
  #arrayLength(table: LuaTable): number {
    let largest = 0
    let count = 0
    for (const cursor = table.cursor(); cursor.advance(); count++) {
      const { key } = cursor
      if (typeof key !== 'number' || key < 1 || !Number.isInteger(key)) return -1
      if (key > largest) largest = key
    }
    const { sparseRatio, sparseSafe, sparseConvert } = this.#settings
    if (sparseRatio > 0 && largest > count * sparseRatio && largest > sparseSafe) {
      if (!sparseConvert) this.#refuse(table, 'excessively sparse array')
      return -1
    }
    return largest
  }

  #array(table: LuaTable, length: number, depth: number): void {
    charge(length >> 3)
    this.#text += '['
    for (let at = 1; at <= length; at++) {
      if (at > 1) this.#text += ','
      this.#value(table.getNumber(at), depth)
    }
    this.#text += ']'
  }

  #object(table: LuaTable, depth: number): void {
    this.#text += '{'
    let isFirst = true
    for (const cursor = table.cursor(); cursor.advance(); ) {
      const { key, value } = cursor
      if (!isFirst) this.#text += ','
      isFirst = false
      if (typeof key === 'number') this.#text += `"${this.#number(key)}"`
      else if (typeof key === 'string') this.#text += quote(key)
      else this.#refuse(key, 'table key must be a number or string')
      this.#text += ':'
      this.#value(value, depth)
    }
    this.#text += '}'
  }
}

/** Steps for encoding one number. The settings limit the number of digits. */
const stepsPerNumber = 48
const stepsPerValue = 12

const needsEscape = /[\x00-\x1f"\\/\x7f]/

function quote(text: string): string {
  chargeBytes(text.length)
  if (!needsEscape.test(text)) return `"${text}"`
  return `"${text.replace(/[\x00-\x1f"\\/\x7f]/g, escapeOf)}"`
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
}

function escapeOf(char: string): string {
  return shortEscapes[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
