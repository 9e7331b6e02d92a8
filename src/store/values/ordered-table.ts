import type { Bytes } from '../../kernel/bytes.js'
import { KeyOrder } from './key-order.js'

export type { ScanPage } from './key-order.js'

/**
 * A hash table that remembers the order of insertion, picks a random entry in constant time and can be scanned page
 * by page while it changes. It is the hash, the set (value `true`) and the member table of a sorted set. Keys and
 * values live in parallel arrays.
 */
export class OrderedTable<V> extends KeyOrder {
  readonly #places = new Map<Bytes, number>()
  readonly #blank: V | undefined
  readonly #values: V[] = []

  /** `blank` fills holes: pass 0 for numbers, which keeps the values in an unboxed array. */
  constructor(blank?: V) {
    super()
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
    this.#places.set(key, this.append(key))
    this.#values.push(value)
    return true
  }

  /** Returns whether the key was there. */
  delete(key: Bytes): boolean {
    const place = this.#places.get(key)
    if (place === undefined) return false
    this.#remove(key, place)
    this.compactWhenSparse()
    return true
  }

  clear(): void {
    this.#places.clear()
    this.empty()
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
    const { order } = this
    const values = this.#values
    for (let place = 0; place < order.length; place++) {
      const key = order[place]
      if (key !== undefined) visit(values[place]!, key)
    }
  }

  /** Deletes every entry that satisfies the condition and returns how many did. */
  deleteWhere(condition: (value: V, key: Bytes) => boolean): number {
    const before = this.#places.size
    for (let place = this.order.length - 1; place >= 0; place--) {
      const key = this.order[place]
      if (key !== undefined && condition(this.#values[place]!, key)) this.#remove(key, place)
    }
    this.compactWhenSparse()
    return before - this.#places.size
  }

  copy(copyValue: (value: V) => V = (value) => value): OrderedTable<V> {
    const copy = new OrderedTable<V>(this.#blank)
    this.forEach((value, key) => {
      copy.set(key, copyValue(value))
    })
    return copy
  }

  #remove(key: Bytes, place: number): void {
    this.#places.delete(key)
    this.#values[place] = this.#blank as V
    this.vacate(place)
  }

  protected override moved(key: Bytes, from: number, to: number): void {
    this.#places.set(key, to)
    this.#values[to] = this.#values[from]!
  }

  protected override shortened(places: number): void {
    this.#values.length = places
  }
}
