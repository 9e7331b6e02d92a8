import type { Bytes } from '../kernel/bytes.js'
import { KeyOrder } from './values/key-order.js'
import type { Container } from './values/value.js'

/** A short string is a byte string; one that was written in place, and everything else, is a container. */
export type Value = Bytes | Container

/** What the database has to know of a value on the way to it, so that nobody looks into the value for that. */
export type ValueKind = 'text' | 'container' | 'expires in parts'

export class KeyEntry {
  #value: Value
  kind: ValueKind
  /** Milliseconds since the Unix epoch; gone when `expiresAt <= now`. */
  expiresAt: number | undefined = undefined
  /** Seconds since the Unix epoch, for `OBJECT IDLETIME`. */
  usedAt: number
  /** In the order of keys. */
  place: number

  constructor(value: Value, usedAt: number, place: number) {
    this.#value = value
    this.kind = typeof value === 'string' ? 'text' : 'container'
    this.usedAt = usedAt
    this.place = place
  }

  get value(): Value {
    return this.#value
  }

  replace(value: Value): void {
    this.#value = value
    this.kind = typeof value === 'string' ? 'text' : 'container'
  }
}

/**
 * The keys of the database. Unlike an `OrderedTable` it leads from a key straight to its entry, which knows its place
 * itself: with many keys the time goes into fetching memory, and this fetches least.
 */
export class KeyTable extends KeyOrder {
  readonly #entries = new Map<Bytes, KeyEntry>()

  get size(): number {
    return this.#entries.size
  }

  get(key: Bytes): KeyEntry | undefined {
    return this.#entries.get(key)
  }

  /** The key must be free. */
  insert(key: Bytes, value: Value, usedAt: number): KeyEntry {
    const entry = new KeyEntry(value, usedAt, this.append(key))
    this.#entries.set(key, entry)
    return entry
  }

  /** Returns whether the key was there. */
  delete(key: Bytes): boolean {
    const entry = this.#entries.get(key)
    if (entry === undefined) return false
    this.#entries.delete(key)
    this.vacate(entry.place)
    this.compactWhenSparse()
    return true
  }

  clear(): void {
    this.#entries.clear()
    this.empty()
  }

  /** In order of insertion. */
  keys(): MapIterator<Bytes> {
    return this.#entries.keys()
  }

  forEach(visit: (entry: KeyEntry, key: Bytes) => void): void {
    this.#entries.forEach(visit)
  }

  protected override moved(key: Bytes, _: number, to: number): void {
    this.#entries.get(key)!.place = to
  }

  protected override shortened(): void {
    // Entries know their places, so nothing else has to go.
  }
}
