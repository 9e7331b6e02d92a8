import type { Bytes } from '../../kernel/bytes.js'
import { IdTable } from './id-table.js'
import type { StreamId } from './stream-id.js'
import type { Container } from './value.js'

/** Index of a slot. It is a bigint only beyond 2^53, where a number would not be exact. */
export type ArrayIndex = number | bigint

/** Highest index of a slot: 2^64 − 2. [array.md 1] */
export const lastIndex: ArrayIndex = 0xffff_ffff_ffff_fffen
/** Next index after the append cursor has reached the last slot: no value can be appended. */
export const noIndex: ArrayIndex = 0xffff_ffff_ffff_ffffn

export interface ArraySlot {
  readonly index: ArrayIndex
  readonly value: Bytes
}

/** Array value: strings at indexes up to 2^64 − 2. Only filled slots take memory. */
export class ArrayValue implements Container {
  readonly type = 'array'
  /** Filled slots. An index is an ID whose first half is 0, so the table of stream entries also orders indexes. */
  #slots = new IdTable<Bytes>()
  /** Index that the next append writes: one above the append cursor, 0 if nothing was appended, or `noIndex`. */
  next: ArrayIndex = 0
  /** Size of the last ARRING, which only the policy `arrayRing: 'stored'` uses. */
  ringSize: ArrayIndex | undefined = undefined

  /** Number of filled slots. */
  get count(): number {
    return this.#slots.size
  }

  get isEmpty(): boolean {
    return this.#slots.size === 0
  }

  /** Highest filled index + 1. */
  get length(): ArrayIndex {
    const last = this.#slots.last()
    return last === undefined ? 0 : shifted(last.id.seq, 1)
  }

  get(index: ArrayIndex): Bytes | undefined {
    return this.#slots.get(idOf(index))
  }

  /** Fills a slot; returns whether it was empty. */
  set(index: ArrayIndex, value: Bytes): boolean {
    return this.#slots.set(idOf(index), value)
  }

  /** Empties a slot; returns whether it was filled. */
  delete(index: ArrayIndex): boolean {
    return this.#slots.delete(idOf(index))
  }

  /** Empties the slots from `low` to `high`; returns how many were filled. */
  deleteBetween(low: ArrayIndex, high: ArrayIndex): number {
    return this.#slots.deleteBetween(idOf(low), idOf(high))
  }

  countBetween(low: ArrayIndex, high: ArrayIndex): number {
    return this.#slots.countBetween(idOf(low), idOf(high))
  }

  /** Empties all slots. The append cursor stays. */
  clear(): void {
    this.#slots = new IdTable()
  }

  /** Iterates over the filled slots from `low` to `high`. The array must not change meanwhile. */
  *ascending(low: ArrayIndex, high: ArrayIndex): Generator<ArraySlot> {
    for (const { id, value } of this.#slots.range(idOf(low), idOf(high))) yield { index: id.seq, value }
  }

  /** Iterates over the same slots as `ascending()`, from `high` to `low`. */
  *descending(low: ArrayIndex, high: ArrayIndex): Generator<ArraySlot> {
    for (const { id, value } of this.#slots.backwards(idOf(low), idOf(high))) yield { index: id.seq, value }
  }

  /** Visits the filled slots from `low` to `high` in ascending order. Faster than `ascending()`, but cannot stop early. */
  walk(visit: (value: Bytes, index: ArrayIndex) => void, low: ArrayIndex = 0, high: ArrayIndex = lastIndex): void {
    this.#slots.walk(idOf(low), idOf(high), (value, _, index) => visit(value, index))
  }

  copy(): ArrayValue {
    const copy = new ArrayValue()
    copy.#slots = this.#slots.copy()
    copy.next = this.next
    copy.ringSize = this.ringSize
    return copy
  }
}

function idOf(index: ArrayIndex): StreamId {
  return { ms: 0, seq: index }
}

/** Converts an integer to an index in its shortest form. */
export function toIndex(value: bigint): ArrayIndex {
  return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
}

/** Adds to an index. The sum must not be negative. */
export function shifted(index: ArrayIndex, by: ArrayIndex): ArrayIndex {
  if (typeof index === 'number' && typeof by === 'number') {
    const sum = index + by
    if (sum <= Number.MAX_SAFE_INTEGER) return sum
  }
  return toIndex(BigInt(index) + BigInt(by))
}

/** Returns the number of indexes from `low` to `high`, both included. */
export function spanOf(low: ArrayIndex, high: ArrayIndex): ArrayIndex {
  return typeof high === 'number' ? high - Number(low) + 1 : toIndex(high - BigInt(low) + 1n)
}

/** Returns the slot of a ring for an index that may be beyond its size. */
export function remainder(index: ArrayIndex, size: ArrayIndex): ArrayIndex {
  if (index < size) return index
  return typeof index === 'number' ? index % Number(size) : toIndex(index % BigInt(size))
}

const digits = /^[0-9]{1,20}$/

/**
 * Parses a decimal index without sign; returns `undefined` for other texts, and above `most`. Leading zeros are
 * accepted.
 */
export function parseIndex(text: Bytes, most: ArrayIndex = lastIndex): ArrayIndex | undefined {
  if (!digits.test(text)) return undefined
  if (text.length < 16) return Number(text)
  const index = toIndex(BigInt(text))
  return index <= most ? index : undefined
}
