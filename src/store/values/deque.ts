import type { Bytes } from '../../kernel/bytes.js'
import type { Container } from './value.js'

const smallestRoom = 8

/**
 * List value: a ring of byte strings. Both ends and any index are reached in constant time. An insertion or removal in
 * the middle moves the shorter side. The ring grows by half, as JavaScript arrays do. If the size of the ring doubled,
 * the garbage collector would process memory that most lists never use.
 */
export class Deque implements Container {
  readonly type = 'list'
  #ring: (Bytes | undefined)[] = new Array(smallestRoom)
  #head = 0
  #length = 0

  static from(values: Iterable<Bytes>): Deque {
    const deque = new Deque()
    for (const value of values) deque.push(value)
    return deque
  }

  get length(): number {
    return this.#length
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  push(value: Bytes): void {
    if (this.#length === this.#ring.length) this.#grow()
    this.#ring[this.#place(this.#length)] = value
    this.#length++
  }

  unshift(value: Bytes): void {
    if (this.#length === this.#ring.length) this.#grow()
    this.#head = (this.#head === 0 ? this.#ring.length : this.#head) - 1
    this.#ring[this.#head] = value
    this.#length++
  }

  pop(): Bytes | undefined {
    if (this.#length === 0) return undefined
    this.#length--
    const place = this.#place(this.#length)
    const value = this.#ring[place]
    this.#ring[place] = undefined
    this.#shrink()
    return value
  }

  shift(): Bytes | undefined {
    if (this.#length === 0) return undefined
    const value = this.#ring[this.#head]
    this.#ring[this.#head] = undefined
    this.#head = this.#place(1)
    this.#length--
    this.#shrink()
    return value
  }

  at(index: number): Bytes | undefined {
    return index >= 0 && index < this.#length ? this.#ring[this.#place(index)] : undefined
  }

  set(index: number, value: Bytes): void {
    if (!(index >= 0 && index < this.#length)) throw new RangeError(`index ${index} is outside the list`)
    this.#ring[this.#place(index)] = value
  }

  /** Inserts a value before the one at the index; an index of `length` appends. */
  insert(index: number, value: Bytes): void {
    if (index * 2 < this.#length) {
      this.unshift(value)
      for (let at = 0; at < index; at++) this.set(at, this.at(at + 1)!)
    } else {
      this.push(value)
      for (let at = this.#length - 1; at > index; at--) this.set(at, this.at(at - 1)!)
    }
    this.set(index, value)
  }

  /** Returns the values from `from` up to, not including, `to`. */
  slice(from: number, to: number): Bytes[] {
    const values: Bytes[] = []
    for (let index = Math.max(from, 0); index < Math.min(to, this.#length); index++) values.push(this.at(index)!)
    return values
  }

  /** Keeps only the values from `from` up to, not including, `to`. */
  trim(from: number, to: number): void {
    for (let surplus = this.#length - Math.max(to, from); surplus > 0; surplus--) this.pop()
    for (let surplus = Math.min(from, this.#length); surplus > 0; surplus--) this.shift()
  }

  /** Removes up to `limit` occurrences of a value, beginning at the left or right; returns how many. */
  remove(value: Bytes, limit: number, fromRight: boolean): number {
    const gone = new Uint8Array(this.#length)
    let removed = 0
    for (let step = 0; step < this.#length && removed < limit; step++) {
      const index = fromRight ? this.#length - 1 - step : step
      if (this.at(index) !== value) continue
      gone[index] = 1
      removed++
    }
    if (removed === 0) return 0
    let kept = 0
    for (let index = 0; index < this.#length; index++) if (gone[index] === 0) this.set(kept++, this.at(index)!)
    this.trim(0, kept)
    return removed
  }

  copy(): Deque {
    return Deque.from(this)
  }

  *[Symbol.iterator](): Generator<Bytes> {
    for (let index = 0; index < this.#length; index++) yield this.at(index)!
  }

  /** Returns the position in the ring for an index up to the length. */
  #place(index: number): number {
    const place = this.#head + index
    return place < this.#ring.length ? place : place - this.#ring.length
  }

  #grow(): void {
    this.#resize(this.#length + (this.#length >> 1) + smallestRoom)
  }

  #shrink(): void {
    if (this.#ring.length > smallestRoom && this.#length * 4 < this.#ring.length) {
      this.#resize(Math.max(this.#length * 2, smallestRoom))
    }
  }

  #resize(room: number): void {
    const ring = new Array<Bytes | undefined>(room)
    for (let index = 0; index < this.#length; index++) ring[index] = this.at(index)
    this.#ring = ring
    this.#head = 0
  }
}
