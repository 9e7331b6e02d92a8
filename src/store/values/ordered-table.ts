import type { Bytes } from '../../kernel/bytes.js'
import type { Random } from '../../kernel/random.js'
import { KeyOrder, type ScanPage } from './key-order.js'

export type { ScanPage } from './key-order.js'

/**
 * A hash table that remembers the order of insertion, picks a random entry in constant time and can be scanned page
 * by page while it changes. It is the key space, the hash, the set (value `true`) and the member table of a sorted set.
 *
 * Keys lead straight to their values, as in any `Map`, which has their order, too. Only places in that order need a
 * table of their own: it is made when somebody first asks for a random key or a page, which most tables never see.
 */
export class OrderedTable<V> {
  readonly #values: Map<Bytes, V>
  #order: KeyOrder | undefined = undefined

  constructor(values: Map<Bytes, V> = new Map()) {
    this.#values = values
  }

  get size(): number {
    return this.#values.size
  }

  has(key: Bytes): boolean {
    return this.#values.has(key)
  }

  get(key: Bytes): V | undefined {
    return this.#values.get(key)
  }

  /** Returns whether the key is new. An existing key keeps its position. */
  set(key: Bytes, value: V): boolean {
    const values = this.#values
    const { size } = values
    values.set(key, value)
    if (values.size === size) return false
    this.#order?.append(key)
    return true
  }

  /** Returns whether the key was there. */
  delete(key: Bytes): boolean {
    if (!this.#values.delete(key)) return false
    this.#order?.delete(key)
    return true
  }

  clear(): void {
    this.#values.clear()
    this.#order?.clear()
  }

  /** Keys in order of insertion. */
  keys(): MapIterator<Bytes> {
    return this.#values.keys()
  }

  entries(): MapIterator<[Bytes, V]> {
    return this.#values.entries()
  }

  [Symbol.iterator](): MapIterator<[Bytes, V]> {
    return this.#values.entries()
  }

  forEach(visit: (value: V, key: Bytes) => void): void {
    this.#values.forEach(visit)
  }

  copy(): OrderedTable<V> {
    return new OrderedTable(new Map(this.#values))
  }

  /** A key, each with the same probability. The table must not be empty. */
  random(random: Random): Bytes {
    if (this.size === 0) throw new RangeError('an empty table has no random key')
    return this.#ordered().random(random)
  }

  /** The next `count` keys from the cursor on, in order of insertion. Any cursor is valid. */
  scan(cursor: number, count: number): ScanPage {
    return this.#ordered().scan(cursor, count)
  }

  #ordered(): KeyOrder {
    this.#order ??= new KeyOrder(this.#values.keys())
    return this.#order
  }
}
