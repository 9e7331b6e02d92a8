import type { Bytes } from '../../kernel/bytes.js'
import type { Random } from '../../kernel/random.js'
import { JsonDocument } from '../values/json-value.js'
import { OrderedTable } from '../values/ordered-table.js'
import type { Database } from './database.js'
import { measure } from './measure.js'

/** Number of changed keys above which they are measured without being asked for, so that their names need no memory. */
const maxChanged = 10_000

/** A key that can be evicted. */
export interface Victim {
  readonly key: Bytes
  readonly expires: boolean
}

/**
 * Counts the bytes of all keys and values. After a change, it measures only the keys that changed. It also picks the
 * keys that are evicted when the storage is full. [store.md 10]
 */
export class StorageMeter {
  readonly #db: Database
  readonly #random: Random
  readonly #sizes = new Map<Bytes, number>()
  readonly #expiring = new OrderedTable<true>()
  readonly #lasting = new OrderedTable<true>()
  readonly #changed = new Set<Bytes>()
  #bytes = 0

  constructor(db: Database, random: Random) {
    this.#db = db
    this.#random = random
  }

  /** Records that a key may have changed. */
  record(key: Bytes): void {
    this.#changed.add(key)
  }

  cleared(): void {
    for (const memory of [this.#sizes, this.#expiring, this.#lasting, this.#changed]) memory.clear()
    this.#bytes = 0
  }

  /** Ends a command. */
  settle(): void {
    if (this.#changed.size > maxChanged) this.#catchUp()
  }

  /** Returns the bytes of all keys and values. Removes expired keys. */
  bytes(): number {
    this.#db.sweep()
    this.#catchUp()
    return this.#bytes
  }

  /** Returns the bytes of a key and its value, as they were at the latest call of `bytes()`. */
  bytesOf(key: Bytes): number {
    return this.#sizes.get(key) ?? 0
  }

  /** Picks a random key with an expiration, or else any random key. */
  pick(): Victim | undefined {
    if (this.#expiring.size > 0) return { key: this.#expiring.random(this.#random), expires: true }
    if (this.#lasting.size > 0) return { key: this.#lasting.random(this.#random), expires: false }
    return undefined
  }

  /** Runs a function during which `pick()` does not pick these keys. */
  sparing<T>(keys: ReadonlySet<Bytes>, run: () => T): T {
    const spared = [this.#expiring, this.#lasting].map((table) => ({
      table,
      keys: [...keys].filter((key) => table.delete(key)),
    }))
    try {
      return run()
    } finally {
      for (const { table, keys } of spared) for (const key of keys) table.put(key, true)
    }
  }

  #catchUp(): void {
    const { work } = this.#db
    for (const key of this.#changed) {
      this.#changed.delete(key)
      const entry = this.#db.find(key)
      this.#bytes -= this.bytesOf(key)
      if (entry === undefined) {
        for (const memory of [this.#sizes, this.#expiring, this.#lasting]) memory.delete(key)
        continue
      }
      const { value, expiresAt } = entry
      const { elements, bytes } = measure(value)
      // The elements of a JSON document are not counted, so the work of visiting them is derived from their bytes.
      work.spend(1 + 2 * elements + (value instanceof JsonDocument ? bytes >>> 3 : 0))
      this.#bytes += key.length + bytes
      this.#sizes.set(key, key.length + bytes)
      const [into, outOf] = expiresAt === undefined ? [this.#lasting, this.#expiring] : [this.#expiring, this.#lasting]
      into.put(key, true)
      outOf.delete(key)
    }
  }
}
