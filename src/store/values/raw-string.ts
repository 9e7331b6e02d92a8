import { type Bytes, fromArray, latin1 } from '../../kernel/bytes.js'
import type { Container } from './value.js'

/**
 * String that is changed in place by APPEND, SETRANGE, SETBIT, BITFIELD and HyperLogLogs. The first such write converts
 * the value of a key to a RawString, so that later writes to a large bitmap do not copy it. `OBJECT ENCODING` returns
 * `raw`.
 */
export class RawString implements Container {
  readonly type = 'string'
  /** An empty string is a valid value: the key is not deleted. */
  readonly isEmpty = false
  #room: Uint8Array
  #length: number
  /** Byte string with the same content. The next write drops it. */
  #text: Bytes | undefined

  constructor(text: Bytes = latin1('')) {
    this.#room = new Uint8Array(text.length)
    this.#length = text.length
    for (let index = 0; index < text.length; index++) this.#room[index] = text.charCodeAt(index)
    this.#text = text
  }

  get length(): number {
    return this.#length
  }

  /** Whether the byte string already exists. */
  get hasText(): boolean {
    return this.#text !== undefined
  }

  get text(): Bytes {
    this.#text ??= fromArray(this.array)
    return this.#text
  }

  /** The bytes, for reading. */
  get array(): Uint8Array {
    return this.#room.subarray(0, this.#length)
  }

  /** Returns at least `length` bytes for writing; new ones are zero. */
  open(length: number): Uint8Array {
    this.#text = undefined
    if (length > this.#length) this.#grow(length)
    return this.array
  }

  /**
   * Returns the units of work of `open(length)`, for allocated memory and copied bytes. Copying a byte is eight times
   * as fast as allocating one.
   */
  growth(length: number): number {
    const size = this.#sizeFor(length)
    return size > this.#room.length ? ((size - this.#length) >>> 5) + (this.#length >>> 8) : 0
  }

  /** Returns the bytes from `from` up to, not including, `to`, shared with this string, for reading. */
  part(from: number, to: number): RawString {
    const part = new RawString()
    part.replace(this.array.subarray(from, Math.max(from, to)))
    return part
  }

  append(text: Bytes): void {
    this.write(this.#length, text)
  }

  /** Overwrites bytes from `offset` on and fills a gap with zero bytes. */
  write(offset: number, text: Bytes): void {
    const array = this.open(offset + text.length)
    for (let index = 0; index < text.length; index++) array[offset + index] = text.charCodeAt(index)
  }

  /** Sets the array as the new content, for example one that was changed in place. */
  replace(array: Uint8Array): void {
    this.#room = array
    this.#length = array.length
    this.#text = undefined
  }

  copy(): RawString {
    const copy = new RawString()
    copy.replace(this.array.slice())
    return copy
  }

  #grow(length: number): void {
    const size = this.#sizeFor(length)
    if (size > this.#room.length) {
      const room = new Uint8Array(size)
      room.set(this.array)
      this.#room = room
    }
    this.#length = length
  }

  /** Returns the bytes to allocate for a string of this length. */
  #sizeFor(length: number): number {
    const { length: room } = this.#room
    return length <= room ? room : Math.max(length, Math.min(2 * room, room + 1_048_576))
  }
}
