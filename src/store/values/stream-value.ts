import type { Bytes } from '../../kernel/bytes.js'
import type { ConsumerGroup } from './consumer-group.js'
import { IdTable } from './id-table.js'
import { compareIds, firstId, isZero, lastId, nextId, type StreamId } from './stream-id.js'
import type { Container } from './value.js'

/** Names and values alternating. */
export type StreamFields = readonly Bytes[]

/**
 * What becomes of the groups' references to an entry that is deleted: they stay, they go too, or they protect the
 * entry. [redis 8.2: KEEPREF, DELREF, ACKED]
 */
export type References = 'keep' | 'drop' | 'protect'

export interface Trim {
  /** Keep at most this many entries, or only entries from this id on. */
  readonly to: { readonly length: number } | { readonly id: StreamId }
  /** Leave it when fewer than a hundred entries would go. */
  readonly approximate: boolean
  /** Delete at most this many entries. */
  readonly limit: number
  readonly references: References
}

/** Entries that redis-server keeps in one node of its tree; approximate trimming never removes fewer. */
export const nodeEntries = 100

/** A log of entries with growing ids, and the consumer groups that read it. Lag is counted as redis 7.0 does. */
export class Stream implements Container {
  readonly type = 'stream'
  /** A stream stays when its last entry goes. */
  readonly isEmpty = false
  entries: IdTable<StreamFields> = new IdTable()
  groups: Map<Bytes, ConsumerGroup> = new Map()
  /** The highest id that was ever given, which may be gone or may have been set. */
  topId: StreamId = firstId
  maxDeletedId: StreamId = firstId
  /** Entries ever added, as far as known. */
  added = 0
  /** Entries of one stream mostly have the same field names: they share the names of the entry before. */
  #latest: StreamFields = []

  get length(): number {
    return this.entries.size
  }

  get firstEntryId(): StreamId {
    return this.entries.first()?.id ?? firstId
  }

  /** The caller has made sure that the id is higher than any before. */
  append(id: StreamId, fields: Bytes[]): void {
    const latest = this.#latest
    for (let index = 0; index < fields.length; index += 2) {
      if (latest[index] === fields[index]) fields[index] = latest[index]!
    }
    this.#latest = fields
    this.entries.set(id, fields)
    this.topId = id
    this.added++
  }

  /** Returns whether the entry was there. */
  delete(id: StreamId): boolean {
    if (!this.entries.delete(id)) return false
    if (compareIds(id, this.maxDeletedId) > 0) this.maxDeletedId = id
    return true
  }

  /** Deletes entries from the beginning and returns how many. Those count neither as deleted nor as holes. */
  trim({ to, approximate, limit, references }: Trim): number {
    const surplus = 'length' in to ? Math.max(0, this.length - to.length) : this.entries.countBelow(to.id)
    if (approximate && surplus < nodeEntries) return 0
    if (references !== 'keep' && this.groups.size > 0) {
      return this.#trimSingly('length' in to ? lastId : to.id, Math.min(surplus, limit), references)
    }
    const count = Math.min(surplus, limit)
    this.entries.deleteFirst(count)
    return count
  }

  /** An entry is referenced when a group has yet to read it, or has it pending. */
  isReferenced(id: StreamId): boolean {
    for (const group of this.groups.values()) {
      if (compareIds(id, group.lastDelivered) > 0 || group.pending.has(id)) return true
    }
    return false
  }

  dropReferences(id: StreamId): void {
    for (const group of this.groups.values()) group.forget(id)
  }

  /** The highest id that exists. */
  get lastEntryId(): StreamId {
    return this.entries.last()?.id ?? firstId
  }

  /** Whether entries at or behind the id were deleted from the middle, so that counting from there is no use. */
  hasHolesFrom(id: StreamId): boolean {
    // Deletions before the first entry left no hole.
    if (this.length === 0 || compareIds(this.firstEntryId, this.maxDeletedId) > 0) return false
    return compareIds(id, this.maxDeletedId) <= 0
  }

  /** How many entries were ever added up to an id; `undefined` when holes or the future make that unknown. */
  countUpTo(id: StreamId): number | undefined {
    if (this.added === 0) return 0
    if (this.length === 0 && compareIds(id, this.topId) <= 0) return this.added
    const toTop = compareIds(id, this.topId)
    if (toTop === 0) return this.added
    if (toTop > 0) return undefined
    const first = this.firstEntryId
    if (!isZero(this.maxDeletedId) && compareIds(this.maxDeletedId, first) >= 0) return undefined
    const toFirst = compareIds(id, first)
    if (toFirst < 0) return this.added - this.length
    return toFirst === 0 ? this.added - this.length + 1 : undefined
  }

  /** Entries that a group has yet to read; `undefined` when that cannot be known. */
  lagOf(group: ConsumerGroup): number | undefined {
    if (this.added === 0) return 0
    if (group.entriesRead !== undefined && !this.hasHolesFrom(group.lastDelivered))
      return this.added - group.entriesRead
    const read = this.countUpTo(group.lastDelivered)
    return read === undefined ? undefined : this.added - read
  }

  /** Advances the group to an entry that it is given. */
  deliverTo(group: ConsumerGroup, id: StreamId): void {
    if (compareIds(id, group.lastDelivered) <= 0) return
    if (group.entriesRead !== undefined && !this.hasHolesFrom(id)) group.entriesRead++
    else if (this.added > 0) group.entriesRead = this.countUpTo(id)
    group.lastDelivered = id
  }

  copy(): Stream {
    const copy = new Stream()
    copy.entries = this.entries.copy()
    copy.groups = new Map([...this.groups].map(([name, group]) => [name, group.copy()]))
    copy.topId = this.topId
    copy.maxDeletedId = this.maxDeletedId
    copy.added = this.added
    return copy
  }

  #trimSingly(end: StreamId, most: number, references: References): number {
    let count = 0
    for (let next = this.entries.first(); next !== undefined && count < most; ) {
      const { id } = next
      if (compareIds(id, end) >= 0) break
      if (references === 'drop') this.dropReferences(id)
      if ((references !== 'protect' || !this.isReferenced(id)) && this.entries.delete(id)) count++
      const following = nextId(id)
      next = following && this.entries.ceiling(following)
    }
    return count
  }
}
