import type { DumpedKey } from '../dump/store-dump.js'
import { type CollectionPart, type KeyChange, partOf } from './key-change.js'

/** Items of a collection up to which a change tells all of them. */
const fewItems = 64
/** Changes of one key in a row that tell only what is different, so that none has to be put together of many. */
const maxSplices = 64

const parts: Readonly<Partial<Record<DumpedKey['type'], CollectionPart>>> = {
  list: 'elements',
  set: 'members',
  zset: 'members',
  hash: 'fields',
  stream: 'entries',
}

/** Tells changes: those of long collections by what is different. */
export class ListDiffer {
  /** How many changes of a key have been told in part, one after the other. */
  readonly #inPart = new Map<string, number>()

  /** What a change has beside its place: what is there now, in full or in part. */
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

/** What lies between what two lists have in common at their beginning and at their end. */
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

/** Texts, and rows of texts and numbers. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object') return false
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  }
  return JSON.stringify(one) === JSON.stringify(other)
}
