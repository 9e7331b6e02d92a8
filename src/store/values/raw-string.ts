import { type Bytes, fromArray, latin1 } from '../../kernel/bytes.js'
import type { Container } from './value.js'

/**
 * A string that is written in place: what APPEND, SETRANGE, SETBIT, BITFIELD and HyperLogLogs work on. A key becomes one
 * with its first such write, so a bit of a large bitmap is set without copying the bitmap. `OBJECT ENCODING` says `raw`.
 */
export class RawString implements Container {
  readonly type = 'string'
  /** An empty string is a value like any other: the key stays. */
  readonly isEmpty = false
  #room: Uint8Array
  #length: number
  /** The same as a byte string, until the next write. */
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

  /** Whether the byte string is there already. */
  get hasText(): boolean {
    return this.#text !== undefined
  }

  get text(): Bytes {
    this.#text ??= fromArray(this.array)
    return this.#text
  }

  /** The bytes themselves, for reading. */
  get array(): Uint8Array {
    return this.#room.subarray(0, this.#length)
  }

  /** The bytes themselves, for writing, at least `length` of them; new ones are zero. */
  open(length: number): Uint8Array {
    this.#text = undefined
    if (length > this.#length) this.#grow(length)
    return this.array
  }

  /** Units of work that `open(length)` takes: room that is made, and what is copied into it, eight times as fast. */
  growth(length: number): number {
    const size = this.#sizeFor(length)
    return size > this.#room.length ? ((size - this.#length) >>> 5) + (this.#length >>> 8) : 0
  }

  /** The bytes from `from` up to, not including, `to`, shared with this string: for reading. */
  part(from: number, to: number): RawString {
    const part = new RawString()
    part.replace(this.array.subarray(from, Math.max(from, to)))
    return part
  }

  append(text: Bytes): void {
    this.write(this.#length, text)
  }

  /** Overwrites from `offset` on, filling a gap with zero bytes. */
  write(offset: number, text: Bytes): void {
    const array = this.open(offset + text.length)
    for (let index = 0; index < text.length; index++) array[offset + index] = text.charCodeAt(index)
  }

  /** Takes the array as the new content, such as one whose bytes were changed in place. */
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

  /** Bytes of the room for a string of this length. */
  #sizeFor(length: number): number {
    const { length: room } = this.#room
    return length <= room ? room : Math.max(length, Math.min(2 * room, room + 1_048_576))
  }
}
