import type { Bytes } from '../../kernel/bytes.js'
import type { Random } from '../../kernel/random.js'

/** Tables this small are not worth compacting; a random pick among so few places costs nothing either. */
const smallTable = 8

/** One page of a scan. A cursor of 0 asks for the first page and announces the last. */
export interface ScanPage {
  readonly keys: Bytes[]
  readonly cursor: number
}

/**
 * A hash table that remembers the order of insertion, picks a random entry in constant time and can be scanned page
 * by page while it changes. It is the key space, the hash, the set (value `true`) and the member table of a sorted set.
 *
 * Keys and values live in parallel arrays, deleted places stay as holes until they are the majority. Every place has
 * a sequence number that only grows. A scan cursor is the next number to visit, so entries that are there throughout
 * a scan are seen exactly once, whatever happens around them. Numbers are implicit (place plus offset) for all places
 * filled after the last compaction.
 */
export class OrderedTable<V> {
  readonly #places = new Map<Bytes, number>()
  readonly #blank: V | undefined
  #keys: (Bytes | undefined)[] = []
  #values: V[] = []
  /** Sequence numbers of the places that survived the last compaction, ascending. */
  #survivors: number[] = []
  /** Sequence number minus place, for places behind the survivors. */
  #offset = 0

  /** `blank` fills holes: pass 0 for numbers, which keeps the values in an unboxed array. */
  constructor(blank?: V) {
    this.#blank = blank
  }

  get size(): number {
    return this.#places.size
  }

  has(key: Bytes): boolean {
    return this.#places.has(key)
  }

  get(key: Bytes): V | undefined {
    const place = this.#places.get(key)
    return place === undefined ? undefined : this.#values[place]
  }

  /** Returns whether the key is new. An existing key keeps its position. */
  set(key: Bytes, value: V): boolean {
    const place = this.#places.get(key)
    if (place !== undefined) {
      this.#values[place] = value
      return false
    }
    this.#places.set(key, this.#keys.length)
    this.#keys.push(key)
    this.#values.push(value)
    return true
  }

  /** Returns whether the key was there. */
  delete(key: Bytes): boolean {
    const place = this.#places.get(key)
    if (place === undefined) return false
    this.#places.delete(key)
    this.#vacate(place)
    if (this.#keys.length > smallTable && this.#keys.length > 2 * this.#places.size) this.#compact()
    return true
  }

  clear(): void {
    this.#offset = this.#sequence(this.#keys.length)
    this.#places.clear()
    this.#keys = []
    this.#values = []
    this.#survivors = []
  }

  /** A key, each with the same probability. The table must not be empty. */
  random(random: Random): Bytes {
    if (this.#places.size === 0) throw new RangeError('an empty table has no random key')
    for (;;) {
      const key = this.#keys[random.int(this.#keys.length)]
      if (key !== undefined) return key
    }
  }

  /** The next `count` keys from the cursor on, in order of insertion. Any cursor is valid. */
  scan(cursor: number, count: number): ScanPage {
    const keys: Bytes[] = []
    let place = this.#placeFrom(cursor)
    for (; place < this.#keys.length && keys.length < count; place++) {
      const key = this.#keys[place]
      if (key !== undefined) keys.push(key)
    }
    while (place < this.#keys.length && this.#keys[place] === undefined) place++
    return { keys, cursor: place < this.#keys.length ? this.#sequence(place) : 0 }
  }

  /** Keys in order of insertion. Do not delete while iterating; `deleteWhere` does that. */
  keys(): MapIterator<Bytes> {
    return this.#places.keys()
  }

  *entries(): Generator<[Bytes, V]> {
    for (const [key, place] of this.#places) yield [key, this.#values[place]!]
  }

  [Symbol.iterator](): Generator<[Bytes, V]> {
    return this.entries()
  }

  forEach(visit: (value: V, key: Bytes) => void): void {
    const keys = this.#keys
    const values = this.#values
    for (let place = 0; place < keys.length; place++) {
      const key = keys[place]
      if (key !== undefined) visit(values[place]!, key)
    }
  }

  /** Deletes every entry that satisfies the condition and returns how many did. */
  deleteWhere(condition: (value: V, key: Bytes) => boolean): number {
    const before = this.#places.size
    for (let place = this.#keys.length - 1; place >= 0; place--) {
      const key = this.#keys[place]
      if (key === undefined || !condition(this.#values[place]!, key)) continue
      this.#places.delete(key)
      this.#vacate(place)
    }
    if (this.#keys.length > smallTable && this.#keys.length > 2 * this.#places.size) this.#compact()
    return before - this.#places.size
  }

  copy(copyValue: (value: V) => V = (value) => value): OrderedTable<V> {
    const copy = new OrderedTable<V>(this.#blank)
    this.forEach((value, key) => {
      copy.set(key, copyValue(value))
    })
    return copy
  }

  /** Leaves a hole, or shortens the table when the place is the last: a later entry may then reuse its number. */
  #vacate(place: number): void {
    if (place < this.#keys.length - 1) {
      this.#keys[place] = undefined
      this.#values[place] = this.#blank as V
      return
    }
    do {
      this.#keys.pop()
      this.#values.pop()
    } while (this.#keys.length > 0 && this.#keys[this.#keys.length - 1] === undefined)
    if (this.#keys.length < this.#survivors.length) this.#dropSurvivors()
  }

  /** Once shorter than its survivors, the table must not hand their numbers out anew by place plus offset. */
  #dropSurvivors(): void {
    this.#offset = this.#sequence(this.#keys.length) - this.#keys.length
    this.#survivors.length = this.#keys.length
  }

  #compact(): void {
    const keys: Bytes[] = []
    const values: V[] = []
    const survivors: number[] = []
    const end = this.#sequence(this.#keys.length)
    for (let place = 0; place < this.#keys.length; place++) {
      const key = this.#keys[place]
      if (key === undefined) continue
      this.#places.set(key, keys.length)
      survivors.push(this.#sequence(place))
      keys.push(key)
      values.push(this.#values[place]!)
    }
    this.#keys = keys
    this.#values = values
    this.#survivors = survivors
    this.#offset = end - keys.length
  }

  #sequence(place: number): number {
    return place < this.#survivors.length ? this.#survivors[place]! : place + this.#offset
  }

  /** The first place whose number is the given one or higher. */
  #placeFrom(sequence: number): number {
    const survivors = this.#survivors
    if (survivors.length === 0 || sequence > survivors[survivors.length - 1]!) {
      return Math.max(sequence - this.#offset, survivors.length)
    }
    let low = 0
    let high = survivors.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (survivors[middle]! < sequence) low = middle + 1
      else high = middle
    }
    return low
  }
}
