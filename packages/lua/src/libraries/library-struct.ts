import { argumentError, chargeBytes, chargeReading, checkLength, hostError } from '../runtime/activation.js'
import { checkNumber, checkString, library, optionalInteger } from '../runtime/library-arguments.js'
import type { LuaTable, LuaValue, Result } from '../runtime/lua-value.js'
import { parseNumber, toInt64 } from '../runtime/number-text.js'

/**
 * Library `struct`: converts values to and from C structures. Formats: `<` `>` byte order, `!n` alignment, `b B h H l L
 * T i[n] I[n]` integers, `f d` floats, `cn` chars, `s` zero-terminated string, `x` padding, blanks.
 */

const maxIntegerSize = 32
const maxAlignment = 8

interface Option {
  readonly letter: string
  readonly size: number
}

/**
 * Reads the options of a format one by one. Control options, such as `<` and `!4`, change the settings for the
 * following options.
 */
class Format {
  readonly #text: string
  #at = 0
  isLittle = true
  #alignment = 1

  constructor(text: string) {
    this.#text = text.split('\0', 1)[0]!
  }

  next(): Option | undefined {
    if (this.#at >= this.#text.length) return undefined
    const letter = this.#text[this.#at++]!
    return { letter, size: this.#size(letter) }
  }

  #size(letter: string): number {
    switch (letter) {
      case 'b':
      case 'B':
      case 'x':
        return 1
      case 'h':
      case 'H':
        return 2
      case 'f':
        return 4
      case 'l':
      case 'L':
      case 'T':
      case 'd':
        return 8
      case 'c':
        return this.#number(1)
      case 'i':
      case 'I': {
        const size = this.#number(4)
        if (size > maxIntegerSize) {
          throw hostError(`integral size ${size} is larger than limit of ${maxIntegerSize}`)
        }
        return size
      }
      default:
        return 0
    }
  }

  #number(fallback: number): number {
    const digits = /^[0-9]+/.exec(this.#text.slice(this.#at))
    if (digits === null) return fallback
    this.#at += digits[0].length
    const value = Number(digits[0])
    if (value > 0x7fff_ffff) throw hostError('integral size overflow')
    return value
  }

  /** Returns the number of padding bytes before an option of this size. */
  padding(at: number, { letter, size }: Option): number {
    if (size === 0 || letter === 'c') return 0
    const unit = Math.min(size, this.#alignment)
    return (unit - (at & (unit - 1))) & (unit - 1)
  }

  control(letter: string): void {
    switch (letter) {
      case ' ':
        return
      case '<':
        this.isLittle = true
        return
      case '>':
        this.isLittle = false
        return
      case '!': {
        const alignment = this.#number(maxAlignment)
        if (alignment === 0 || (alignment & (alignment - 1)) !== 0) {
          throw hostError(`alignment ${alignment} is not a power of 2`)
        }
        this.#alignment = alignment
        return
      }
      default:
        throw argumentError(1, `invalid format option '${letter}'`)
    }
  }
}

function pack(...given: LuaValue[]): Result {
  const format = new Format(checkString(given, 0))
  // In the reference implementation, a nil follows the last argument. A missing argument is therefore nil.
  const args = [...given, undefined]
  let at = 1
  let data = ''
  for (let option = format.next(); option !== undefined; option = format.next()) {
    data += '\0'.repeat(format.padding(data.length, option))
    switch (option.letter) {
      case 'x':
        data += '\0'
        break
      case 'f':
      case 'd':
        data += packFloat(checkNumber(args, at++), option.size, format.isLittle)
        break
      case 'c':
      case 's': {
        const text = checkString(args, at++)
        const size = option.size === 0 ? text.length : option.size
        if (text.length < size) throw argumentError(at + 1, 'string too short')
        data += text.slice(0, size)
        if (option.letter === 's') data += '\0'
        break
      }
      default:
        if (isInteger(option.letter)) data += packInteger(checkNumber(args, at++), option.size, format.isLittle)
        else format.control(option.letter)
    }
    checkLength(data.length)
  }
  chargeBytes(data.length)
  return data
}

function isInteger(letter: string): boolean {
  return 'bBhHlLTiI'.includes(letter)
}

function packInteger(value: number, size: number, isLittle: boolean): string {
  let bits = BigInt.asUintN(64, value >= 0 && value < 2 ** 64 ? BigInt(Math.trunc(value)) : toInt64(value))
  let data = ''
  for (let count = 0; count < size; count++) {
    const byte = String.fromCharCode(Number(bits & 0xffn))
    bits >>= 8n
    data = isLittle ? data + byte : byte + data
  }
  return data
}

function packFloat(value: number, size: number, isLittle: boolean): string {
  const view = new DataView(new ArrayBuffer(8))
  if (size === 4) view.setFloat32(0, value, isLittle)
  else view.setFloat64(0, value, isLittle)
  let data = ''
  for (let at = 0; at < size; at++) data += String.fromCharCode(view.getUint8(at))
  return data
}

function unpack(...args: LuaValue[]): Result {
  const format = new Format(checkString(args, 0))
  const data = checkString(args, 1)
  let at = optionalInteger(args, 2, 1) - 1
  if (at === -1) throw argumentError(3, 'offset must be 1 or greater')
  // The reference implementation reads the offset as an unsigned number. A negative offset is therefore after the end
  // of the data.
  if (at < 0) at = Number.MAX_SAFE_INTEGER
  const values: LuaValue[] = []
  for (let option = format.next(); option !== undefined; option = format.next()) {
    const { letter } = option
    let { size } = option
    at += format.padding(at, option)
    if (size > data.length || at > data.length - size) throw argumentError(2, 'data string too short')
    if (values.length > 7990) throw hostError('stack overflow (too many results)')
    if (isInteger(letter)) {
      values.push(unpackInteger(data, at, size, letter >= 'a', format.isLittle))
    } else if (letter === 'f' || letter === 'd') {
      values.push(unpackFloat(data, at, size, format.isLittle))
    } else if (letter === 'c') {
      if (size === 0) size = previousSize(values, data.length - at)
      values.push(data.slice(at, at + size))
    } else if (letter === 's') {
      const end = data.indexOf('\0', at)
      chargeReading(end < 0 ? data.length - at : 2 * (end - at))
      if (end < 0) throw hostError('unfinished string in data')
      values.push(data.slice(at, end))
      size = end - at + 1
    } else if (letter !== 'x') {
      format.control(letter)
    }
    at += size
  }
  values.push(at + 1)
  return values
}

/**
 * Returns the size for the format `c0`. The size is the value that was read before, which is removed from the results.
 */
function previousSize(values: LuaValue[], available: number): number {
  const last = values[values.length - 1]
  const size = typeof last === 'string' ? parseNumber(last) : last
  if (typeof size !== 'number') throw hostError("format 'c0' needs a previous size")
  values.pop()
  const whole = Math.trunc(size)
  if (!(whole >= 0 && whole <= available)) throw argumentError(2, 'data string too short')
  return whole
}

function unpackInteger(data: string, at: number, size: number, isSigned: boolean, isLittle: boolean): number {
  let bits = 0n
  for (let count = 0; count < size; count++) {
    const byte = data.charCodeAt(isLittle ? at + size - 1 - count : at + count)
    bits = BigInt.asUintN(64, (bits << 8n) | BigInt(byte))
  }
  if (!isSigned) return Number(bits)
  // An integer of more than 64 bits is cut to 64 bits. The sign is read after that.
  return Number(BigInt.asIntN(Math.min(size * 8, 64), bits))
}

function unpackFloat(data: string, at: number, size: number, isLittle: boolean): number {
  const view = new DataView(new ArrayBuffer(8))
  for (let index = 0; index < size; index++) view.setUint8(index, data.charCodeAt(at + index))
  return size === 4 ? view.getFloat32(0, isLittle) : view.getFloat64(0, isLittle)
}

function size(...args: LuaValue[]): Result {
  const format = new Format(checkString(args, 0))
  let total = 0
  for (let option = format.next(); option !== undefined; option = format.next()) {
    total += format.padding(total, option)
    if (option.letter === 's') throw argumentError(1, "option 's' has no fixed size")
    if (option.letter === 'c' && option.size === 0) throw argumentError(1, "option 'c0' has no fixed size")
    if (!/[A-Za-z0-9]/.test(option.letter)) format.control(option.letter)
    total += option.size
  }
  return total
}

export const structLibrary: LuaTable = library({ pack, unpack, size })
