import type { DumpedKey } from '../dump/store-dump.js'
import { type CollectionPart, type KeyChange, partOf } from './key-change.js'

/** If a collection has at most this many items, each change contains its complete new state. */
const fewItems = 64
/**
 * Maximum number of consecutive partial changes of a key. The next change is complete, so that few changes must be
 * combined to read a state.
 */
const maxSplices = 64

const parts: Readonly<Partial<Record<DumpedKey['type'], CollectionPart>>> = {
  list: 'elements',
  set: 'members',
  zset: 'members',
  hash: 'fields',
  stream: 'entries',
  array: 'slots',
  vector: 'vectors',
}

/** Computes the recorded changes of keys: differences for long collections, complete states for all other values. */
export class ListDiffer {
  /** Number of consecutive partial changes by key. */
  readonly #inPart = new Map<string, number>()

  /** Returns the change that leads to a new state: the complete state or a difference. */
  told(id: string, before: DumpedKey | undefined, now: DumpedKey): Pick<KeyChange, 'now' | 'splice'> {
    const part = parts[now.type]
    const soFar = this.#inPart.get(id) ?? 0
    if (
      part === undefined ||
      before?.type !== now.type ||
      partOf(now, part).length <= fewItems ||
      soFar >= maxSplices
    ) {
      this.#inPart.delete(id)
      return { now }
    }
    this.#inPart.set(id, soFar + 1)
    return {
      now: { ...now, [part]: [] } as DumpedKey,
      splice: { of: part, ...between(partOf(before, part), partOf(now, part)) },
    }
  }
}

/** Returns the difference of two lists: the range between their common beginning and their common end. */
function between(
  before: readonly unknown[],
  after: readonly unknown[],
): { at: number; remove: number; insert: readonly unknown[] } {
  const most = Math.min(before.length, after.length)
  let at = 0
  while (at < most && isSame(before[at], after[at])) at++
  let end = 0
  while (end < most - at && isSame(before[before.length - 1 - end], after[after.length - 1 - end])) end++
  return { at, remove: before.length - end - at, insert: after.slice(at, after.length - end) }
}

/** Compares texts, and rows of texts and numbers. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object') return false
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  }
  return JSON.stringify(one) === JSON.stringify(other)
}
