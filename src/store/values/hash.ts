import type { Bytes } from '../../kernel/bytes.js'
import { OrderedTable } from './ordered-table.js'
import type { Container } from './value.js'

/** Fields with their values; a field may have a deadline of its own, in milliseconds since the Unix epoch. */
export class HashValue implements Container {
  readonly type = 'hash'
  readonly fields: OrderedTable<Bytes>
  #deadlines: Map<Bytes, number> | undefined
  /** Not after the earliest deadline: it may be that of a field that has gone or lost its deadline since. */
  partsExpireAt: number | undefined = undefined

  constructor(fields: OrderedTable<Bytes> = new OrderedTable()) {
    this.fields = fields
  }

  get isEmpty(): boolean {
    return this.fields.size === 0
  }

  /** Sets a field, which loses its deadline; returns whether it is new. */
  set(field: Bytes, value: Bytes): boolean {
    this.#deadlines?.delete(field)
    return this.fields.set(field, value)
  }

  /** Returns whether the field was there. */
  delete(field: Bytes): boolean {
    this.#deadlines?.delete(field)
    return this.fields.delete(field)
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
    const before = this.fields.size
    let earliest: number | undefined
    for (const [field, at] of this.#deadlines ?? []) {
      if (at <= now) this.delete(field)
      else earliest = Math.min(earliest ?? at, at)
    }
    this.partsExpireAt = earliest
    return before - this.fields.size
  }

  copy(): HashValue {
    const copy = new HashValue(this.fields.copy())
    for (const [field, at] of this.#deadlines ?? []) copy.setDeadline(field, at)
    return copy
  }
}
