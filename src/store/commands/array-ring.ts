import type { Bytes } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import { type ArrayIndex, type ArrayValue, remainder, shifted } from '../values/array-value.js'

// ARRING: an array whose values stay in the slots from 0 to size − 1. [array.md 4]

export interface RingAppend {
  readonly size: ArrayIndex
  readonly values: readonly Bytes[]
  /** Whether the array remembers the size of its ring. Otherwise the size is inferred from the length of the array. */
  readonly isStored: boolean
}

/** Units of work to move a value when a ring is rebuilt. */
const unitsPerMove = 8

/** Appends values to a ring and returns the index of the last one. If the size has changed, rebuilds the ring first. */
export function addToRing(array: ArrayValue, { size, values, isStored }: RingAppend, work: Work): ArrayIndex {
  if (needsRebuild(array, size, isStored)) rebuild(array, size, isStored, work)
  array.ringSize = size
  let slot: ArrayIndex = 0
  for (const value of values) {
    slot = remainder(array.next, size)
    array.set(slot, value)
    array.next = shifted(slot, 1)
  }
  return slot
}

function needsRebuild(array: ArrayValue, size: ArrayIndex, isStored: boolean): boolean {
  if (isStored && array.ringSize !== undefined) return array.ringSize !== size
  const { length, next } = array
  // If nothing was appended, the ring cannot have wrapped.
  return length > size || (length < size && next > 0 && next < length)
}

/** Returns the index of the newest value: the append cursor, or the highest filled slot if the cursor is beyond it. */
export function newestIndex(array: ArrayValue, length: ArrayIndex): ArrayIndex {
  const { next } = array
  return next > 0 && next <= length ? shifted(next, -1) : shifted(length, -1)
}

/** Moves the newest values that fit to the first slots of the array, and drops all other values. */
function rebuild(array: ArrayValue, size: ArrayIndex, isStored: boolean, work: Work): void {
  const length = (isStored ? array.ringSize : undefined) ?? array.length
  const newest = newestIndex(array, length)
  const kept: Bytes[] = []
  let expected = newest
  walk: for (const [low, high] of [
    [0, newest],
    [shifted(newest, 1), shifted(length, -1)],
  ] as const) {
    for (const { index, value } of array.descending(low, high)) {
      // Without a stored size, a hole ends the ring.
      if (kept.length >= size || (!isStored && index !== expected)) break walk
      work.charge(unitsPerMove)
      kept.push(value)
      expected = shifted(index === 0 ? length : index, -1)
    }
  }
  array.clear()
  for (const [at, value] of kept.reverse().entries()) array.set(at, value)
  array.next = kept.length
}
