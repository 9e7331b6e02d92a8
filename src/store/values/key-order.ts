import type { Bytes } from '../../kernel/bytes.js'
import type { Random } from '../../kernel/random.js'

/**
 * Maximum number of positions without compaction. For so few, compaction is not worthwhile, and a random pick is fast
 * in any case.
 */
const shortOrder = 8

/** Page of a scan. A cursor of 0 requests the first page and marks the last one. */
export interface ScanPage {
  readonly keys: Bytes[]
  readonly cursor: number
}

/**
 * Keys of a table in order of insertion. A random key is picked in constant time, and keys can be scanned page by page
 * while the table changes.
 *
 * Deleted positions stay as holes until they are the majority. Every position has a sequence number that only grows. A
 * scan cursor is the next number to visit, so keys that exist throughout a scan are returned exactly once, regardless
 * of other changes. For positions that were filled after the last compaction, the number is not stored, because it is
 * the position plus `#offset`.
 */
export class KeyOrder {
  readonly #order: (Bytes | undefined)[] = []
  readonly #places = new Map<Bytes, number>()
  /** Survivors: ascending sequence numbers of the positions that remained after the last compaction. */
  #survivors: number[] = []
  /** Sequence number minus position, for positions after the survivors. */
  #offset = 0

  constructor(keys: Iterable<Bytes>) {
    for (const key of keys) this.append(key)
  }

  /** Adds a key, which must be new. */
  append(key: Bytes): void {
    this.#places.set(key, this.#order.push(key) - 1)
  }

  /**
   * Deletes a key, which must exist. Leaves a hole in the order. If the position is the last one, the order becomes
   * shorter instead, and a later key may reuse the number.
   */
  delete(key: Bytes): void {
    const order = this.#order
    const place = this.#places.get(key)!
    this.#places.delete(key)
    if (place < order.length - 1) order[place] = undefined
    else this.#shorten()
    if (order.length > shortOrder && order.length > 2 * this.#places.size) this.#compact()
  }

  /** Deletes all keys; their numbers are not reused. */
  clear(): void {
    this.#offset = this.#sequence(this.#order.length)
    this.#order.length = 0
    this.#survivors = []
    this.#places.clear()
  }

  /** Returns a random key, each with the same probability. The order must not be empty. */
  random(random: Random): Bytes {
    for (;;) {
      const key = this.#order[random.int(this.#order.length)]
      if (key !== undefined) return key
    }
  }

  /** Returns the next `count` keys from the cursor on. Any number is valid as a cursor. */
  scan(cursor: number, count: number): ScanPage {
    const order = this.#order
    const keys: Bytes[] = []
    let place = this.#placeFrom(cursor)
    for (; place < order.length && keys.length < count; place++) {
      const key = order[place]
      if (key !== undefined) keys.push(key)
    }
    while (place < order.length && order[place] === undefined) place++
    return { keys, cursor: place < order.length ? this.#sequence(place) : 0 }
  }

  #shorten(): void {
    const order = this.#order
    do order.pop()
    while (order.length > 0 && order[order.length - 1] === undefined)
    if (order.length >= this.#survivors.length) return
    // If the order is shorter than its list of survivors, new positions must not reuse the numbers of the survivors.
    this.#offset = this.#sequence(order.length) - order.length
    this.#survivors.length = order.length
  }

  #compact(): void {
    const order = this.#order
    const survivors: number[] = []
    const end = this.#sequence(order.length)
    for (let place = 0; place < order.length; place++) {
      const key = order[place]
      if (key === undefined) continue
      const to = survivors.push(this.#sequence(place)) - 1
      if (to === place) continue
      order[to] = key
      this.#places.set(key, to)
    }
    order.length = survivors.length
    this.#survivors = survivors
    this.#offset = end - survivors.length
  }

  #sequence(place: number): number {
    return place < this.#survivors.length ? this.#survivors[place]! : place + this.#offset
  }

  /** Returns the first position whose number is the given one or higher. */
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
