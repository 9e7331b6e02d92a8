import type { Bytes } from '../../kernel/bytes.js'
import { OrderedTable } from './ordered-table.js'
import type { Container } from './value.js'

/** Fields with their values; each field can have its own expiration, in milliseconds since the Unix epoch. */
export class HashValue extends OrderedTable<Bytes> implements Container {
  readonly type = 'hash'
  #deadlines: Map<Bytes, number> | undefined = undefined
  /**
   * Instant at or before the earliest expiration of a field. The instant may belong to a field that no longer expires
   * or was deleted.
   */
  partsExpireAt: number | undefined = undefined

  get isEmpty(): boolean {
    return this.size === 0
  }

  /** Sets a field and removes its expiration, which `set` would keep. Returns whether the field is new. */
  write(field: Bytes, value: Bytes): boolean {
    this.#deadlines?.delete(field)
    return this.put(field, value)
  }

  override delete(field: Bytes): boolean {
    this.#deadlines?.delete(field)
    return super.delete(field)
  }

  deadline(field: Bytes): number | undefined {
    return this.#deadlines?.get(field)
  }

  /** Sets the expiration of a field. The caller must then call `watchParts()` of the database. */
  setDeadline(field: Bytes, at: number): void {
    this.#deadlines ??= new Map()
    this.#deadlines.set(field, at)
    this.partsExpireAt = Math.min(this.partsExpireAt ?? at, at)
  }

  /** Removes the expiration of a field; returns whether it had one. */
  dropDeadline(field: Bytes): boolean {
    return this.#deadlines?.delete(field) ?? false
  }

  expireParts(now: number): number {
    const before = this.size
    let earliest: number | undefined
    for (const [field, at] of this.#deadlines ?? []) {
      if (at <= now) this.delete(field)
      else earliest = Math.min(earliest ?? at, at)
    }
    this.partsExpireAt = earliest
    return before - this.size
  }

  override copy(): HashValue {
    const copy = new HashValue()
    for (const [field, value] of this) copy.put(field, value)
    for (const [field, at] of this.#deadlines ?? []) copy.setDeadline(field, at)
    return copy
  }
}
