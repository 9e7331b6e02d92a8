import type { Bytes } from '../../kernel/bytes.js'
import { OrderedTable } from './ordered-table.js'
import type { Container } from './value.js'

/** Fields with their values; a field may have a deadline of its own, in milliseconds since the Unix epoch. */
export class HashValue extends OrderedTable<Bytes> implements Container {
  readonly type = 'hash'
  #deadlines: Map<Bytes, number> | undefined = undefined
  /** Never later than the earliest deadline; it may belong to a field that has since lost its deadline or been removed. */
  partsExpireAt: number | undefined = undefined

  get isEmpty(): boolean {
    return this.size === 0
  }

  /** Sets a field, which loses its deadline; returns whether it is new. With `set` it would keep it. */
  write(field: Bytes, value: Bytes): boolean {
    this.#deadlines?.delete(field)
    return this.put(field, value)
  }

  /** Returns whether the field was there. */
  override delete(field: Bytes): boolean {
    this.#deadlines?.delete(field)
    return super.delete(field)
  }

  deadline(field: Bytes): number | undefined {
    return this.#deadlines?.get(field)
  }

  /** The key must be watched by the database afterwards. */
  setDeadline(field: Bytes, at: number): void {
    this.#deadlines ??= new Map()
    this.#deadlines.set(field, at)
    this.partsExpireAt = Math.min(this.partsExpireAt ?? at, at)
  }

  /** Returns whether the field had a deadline. */
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
