import type { Bytes } from '../../kernel/bytes.js'
import type { Random } from '../../kernel/random.js'
import { KeyOrder, type ScanPage } from './key-order.js'

export type { ScanPage } from './key-order.js'

/**
 * Hash table that keeps the order of insertion, picks a random entry in constant time and can be scanned page by page
 * while it changes. The keyspace, hashes, sets (value `true`) and the members of sorted sets are such tables.
 *
 * The `Map` itself has the values by key and the order of insertion. A second table, for positions in that order, is
 * only created when a random key or a page is requested. Most tables never need the second table.
 */
export class OrderedTable<V> extends Map<Bytes, V> {
  #order: KeyOrder | undefined = undefined

  /** Sets a value and returns whether the key is new. An existing key keeps its position. */
  put(key: Bytes, value: V): boolean {
    const { size } = this
    super.set(key, value)
    if (this.size === size) return false
    this.#order?.append(key)
    return true
  }

  override set(key: Bytes, value: V): this {
    this.put(key, value)
    return this
  }

  override delete(key: Bytes): boolean {
    if (!super.delete(key)) return false
    this.#order?.delete(key)
    return true
  }

  override clear(): void {
    super.clear()
    this.#order?.clear()
  }

  copy(): OrderedTable<V> {
    const copy = new OrderedTable<V>()
    for (const [key, value] of this) copy.put(key, value)
    return copy
  }

  /** Returns a random key, each with the same probability. The table must not be empty. */
  random(random: Random): Bytes {
    if (this.size === 0) throw new RangeError('an empty table has no random key')
    return this.#ordered().random(random)
  }

  /** Returns the next `count` keys from the cursor on, in order of insertion. Any number is valid as a cursor. */
  scan(cursor: number, count: number): ScanPage {
    return this.#ordered().scan(cursor, count)
  }

  #ordered(): KeyOrder {
    this.#order ??= new KeyOrder(this.keys())
    return this.#order
  }
}
