import { argumentError, chargeBytes, checkLength, hostError } from '../runtime/activation.js'
import { checkInt, checkString, library, optionalInt } from '../runtime/library-arguments.js'
import type { LuaTable, LuaValue, Result } from '../runtime/lua-value.js'
import { LuaTable as Table } from '../runtime/lua-value.js'
import { charge } from '../runtime/steps.js'

/**
 * Library `cmsgpack`: MessagePack as in redis-server. This version has the old string types and no binary type, and
 * cuts tables at 16 levels.
 */

const deepestTable = 16

function pack(...args: LuaValue[]): Result {
  if (args.length === 0) throw argumentError(0, 'MessagePack pack needs input.')
  const out = new Packer()
  for (const value of args) out.value(value, 0)
  chargeBytes(out.bytes.length)
  return out.bytes
}

class Packer {
  bytes = ''

  value(value: LuaValue, level: number): void {
    if (typeof value === 'string') this.#string(value)
    else if (typeof value === 'boolean') this.bytes += value ? '\xc3' : '\xc2'
    else if (typeof value === 'number') this.#number(value)
    else if (value instanceof Table && level < deepestTable) this.#table(value, level)
    else this.bytes += '\xc0'
    checkLength(this.bytes.length)
  }

  #big(value: number, size: number): void {
    for (let shift = size - 1; shift >= 0; shift--) {
      this.bytes += String.fromCharCode(Math.floor(value / 2 ** (8 * shift)) % 256)
    }
  }

  #header(code: string, value: number, size: number): void {
    this.bytes += code
    this.#big(value, size)
  }

  #string(text: string): void {
    const { length } = text
    if (length < 32) this.bytes += String.fromCharCode(0xa0 | length)
    else if (length < 0x100) this.#header('\xd9', length, 1)
    else if (length < 0x1_0000) this.#header('\xda', length, 2)
    else this.#header('\xdb', length, 4)
    this.bytes += text
  }

  #number(value: number): void {
    if (Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63) {
      if (value >= 0) this.#positive(value)
      else this.#negative(value)
    } else {
      this.#float(value)
    }
  }

  #positive(value: number): void {
    if (value < 0x80) this.bytes += String.fromCharCode(value)
    else if (value < 0x100) this.#header('\xcc', value, 1)
    else if (value < 0x1_0000) this.#header('\xcd', value, 2)
    else if (value < 0x1_0000_0000) this.#header('\xce', value, 4)
    else this.#header('\xcf', value, 8)
  }

  #negative(value: number): void {
    if (value >= -32) this.bytes += String.fromCharCode(0x100 + value)
    else if (value >= -0x80) this.#header('\xd0', 0x100 + value, 1)
    else if (value >= -0x8000) this.#header('\xd1', 0x1_0000 + value, 2)
    else if (value >= -0x8000_0000) this.#header('\xd2', 0x1_0000_0000 + value, 4)
    else this.#wide(BigInt.asUintN(64, BigInt(value)))
  }

  /** Writes a 64-bit integer. The parameter is a bigint, because a double has too few digits. */
  #wide(bits: bigint): void {
    this.bytes += '\xd3'
    for (let shift = 56n; shift >= 0n; shift -= 8n) this.bytes += String.fromCharCode(Number((bits >> shift) & 0xffn))
  }

  #float(value: number): void {
    const view = new DataView(new ArrayBuffer(8))
    const isSingle = Math.fround(value) === value
    if (isSingle) view.setFloat32(0, value)
    else view.setFloat64(0, value)
    this.bytes += isSingle ? '\xca' : '\xcb'
    for (let at = 0; at < (isSingle ? 4 : 8); at++) this.bytes += String.fromCharCode(view.getUint8(at))
  }

  #table(table: LuaTable, level: number): void {
    charge(16 + 8 * table.length())
    if (isArray(table)) {
      const length = table.length()
      if (length < 16) this.bytes += String.fromCharCode(0x90 | length)
      else if (length < 0x1_0000) this.#header('\xdc', length, 2)
      else this.#header('\xdd', length, 4)
      for (let at = 1; at <= length; at++) this.value(table.getNumber(at), level + 1)
      return
    }
    let count = 0
    for (const cursor = table.cursor(); cursor.advance(); ) count++
    if (count < 16) this.bytes += String.fromCharCode(0x80 | count)
    else if (count < 0x1_0000) this.#header('\xde', count, 2)
    else this.#header('\xdf', count, 4)
    for (const cursor = table.cursor(); cursor.advance(); ) {
      this.value(cursor.key, level + 1)
      this.value(cursor.value, level + 1)
    }
  }
}

/** Returns whether the keys of a table are exactly 1…n. An empty table is an array too. */
function isArray(table: LuaTable): boolean {
  let count = 0
  let largest = 0
  for (const cursor = table.cursor(); cursor.advance(); count++) {
    const { key } = cursor
    if (typeof key !== 'number' || key <= 0 || !Number.isInteger(key)) return false
    largest = Math.max(largest, key)
  }
  return largest === count
}

// Unpacking.

function unpack(...args: LuaValue[]): Result {
  return unpackFull(checkString(args, 0), 0, 0)
}

function unpackOne(...args: LuaValue[]): Result {
  const offset = optionalInt(args, 1, 0)
  return unpackFull(checkString(args, 0), 1, offset)
}

function unpackLimit(...args: LuaValue[]): Result {
  const limit = checkInt(args, 1)
  const offset = optionalInt(args, 2, 0)
  return unpackFull(checkString(args, 0), limit, offset)
}

/**
 * Unpacks the values of `data`. If `limit` or `offset` is not 0, the first result is the next offset, or -1 at the end
 * of the data.
 */
function unpackFull(data: string, limit: number, offset: number): Result {
  const { length } = data
  if (offset < 0 || limit < 0) {
    throw hostError(`Invalid request to unpack with offset of ${offset} and limit of ${length}.`)
  }
  if (offset > length) throw hostError(`Start offset ${offset} greater than input length ${length}.`)
  const isWhole = limit === 0 && offset === 0
  const reader = new Unpacker(data, offset)
  const values: LuaValue[] = []
  while (reader.at < length && (isWhole || values.length < limit)) {
    if (values.length >= 7990)
      throw hostError('stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)')
    values.push(reader.value(0))
  }
  return isWhole ? values : [reader.at === length ? -1 : reader.at, ...values]
}

/** Maximum nesting of unpacked values. In the reference implementation, the C stack allows slightly more. */
export const deepestValue = 500

class Unpacker {
  readonly #data: string
  at: number

  constructor(data: string, at: number) {
    this.#data = data
    this.at = at
  }

  #take(size: number): string {
    const bytes = this.#data.slice(this.at, this.at + size)
    if (bytes.length < size) throw hostError('Missing bytes in input.')
    this.at += size
    return bytes
  }

  #unsigned(size: number): number {
    const bytes = this.#take(size)
    // The reference implementation converts an unsigned 64-bit integer to a signed one.
    if (size === 8) return Number(BigInt.asIntN(64, this.#wide(bytes)))
    let value = 0
    for (let at = 0; at < size; at++) value = value * 256 + bytes.charCodeAt(at)
    return value
  }

  #wide(bytes: string): bigint {
    let value = 0n
    for (let at = 0; at < 8; at++) value = (value << 8n) | BigInt(bytes.charCodeAt(at))
    return value
  }

  #signed(size: number): number {
    if (size === 8) return this.#unsigned(8)
    const value = this.#unsigned(size)
    return value >= 2 ** (size * 8 - 1) ? value - 2 ** (size * 8) : value
  }

  #float(size: number): number {
    const view = new DataView(new ArrayBuffer(8))
    const bytes = this.#take(size)
    for (let at = 0; at < size; at++) view.setUint8(at, bytes.charCodeAt(at))
    return size === 4 ? view.getFloat32(0) : view.getFloat64(0)
  }

  value(level: number): LuaValue {
    if (level > deepestValue) throw hostError('stack overflow (in function mp_decode_to_lua_array)')
    const code = this.#take(1).charCodeAt(0)
    if (code < 0x80) return code
    if (code < 0x90) return this.#map(code & 15, level)
    if (code < 0xa0) return this.#array(code & 15, level)
    if (code < 0xc0) return this.#take(code & 31)
    if (code >= 0xe0) return code - 0x100
    switch (code) {
      case 0xc0:
        return undefined
      case 0xc2:
        return false
      case 0xc3:
        return true
      case 0xca:
        return this.#float(4)
      case 0xcb:
        return this.#float(8)
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return this.#unsigned(1 << (code - 0xcc))
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3:
        return this.#signed(1 << (code - 0xd0))
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#take(this.#unsigned(1 << (code - 0xd9)))
      case 0xdc:
      case 0xdd:
        return this.#array(this.#unsigned(code === 0xdc ? 2 : 4), level)
      case 0xde:
      case 0xdf:
        return this.#map(this.#unsigned(code === 0xde ? 2 : 4), level)
      default:
        throw hostError('Bad data format in input.')
    }
  }

  #array(length: number, level: number): LuaTable {
    const table = new Table()
    for (let at = 1; at <= length; at++) {
      charge(7)
      table.setNumber(at, this.value(level + 1))
    }
    return table
  }

  #map(count: number, level: number): LuaTable {
    const table = new Table()
    for (let at = 0; at < count; at++) {
      charge(13)
      const key = this.value(level + 1)
      const value = this.value(level + 1)
      if (key === undefined) throw hostError('table index is nil')
      if (Number.isNaN(key)) throw hostError('table index is NaN')
      table.set(key, value)
    }
    return table
  }
}

export const cmsgpackLibrary: LuaTable = library({
  _COPYRIGHT: 'Copyright (C) 2012, Salvatore Sanfilippo',
  _DESCRIPTION: 'MessagePack C implementation for Lua',
  _NAME: 'cmsgpack',
  _VERSION: 'lua-cmsgpack 0.4.0',
  pack,
  unpack,
  unpack_limit: unpackLimit,
  unpack_one: unpackOne,
})
