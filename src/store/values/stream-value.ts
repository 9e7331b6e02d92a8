import type { Bytes } from '../../kernel/bytes.js'
import type { ConsumerGroup } from './consumer-group.js'
import { IdTable } from './id-table.js'
import { compareIds, firstId, isZero, lastId, nextId, type StreamId } from './stream-id.js'
import type { Container } from './value.js'

/** Alternating names and values. */
export type StreamFields = readonly Bytes[]

/**
 * Handling of an entry that is to be deleted although consumer groups refer to it. `keep` deletes the entry and keeps
 * the references, `drop` deletes both, `protect` keeps both. [redis 8.2: KEEPREF, DELREF, ACKED]
 */
export type References = 'keep' | 'drop' | 'protect'

export interface Trim {
  /** Maximum number of entries to keep, or the first ID to keep. */
  readonly to: { readonly length: number } | { readonly id: StreamId }
  /** Whether to keep all entries if fewer than a hundred would be deleted. */
  readonly approximate: boolean
  /** Maximum number of entries to delete. */
  readonly limit: number
  readonly references: References
}

/** Search index over a stream. It indexes the changed entries later. */
export interface StreamFollower {
  /**
   * Called after an entry was added or deleted.
   * @param isThere whether the entry was added
   */
  entryChanged(id: StreamId, isThere: boolean): void
}

/** Number of entries in one node of redis-server's tree. Approximate trimming deletes at least this many entries. */
export const nodeEntries = 100

/** Log of entries with growing IDs, and the consumer groups that read it. Lag is counted as in redis 7.0. */
export class Stream implements Container {
  readonly type = 'stream'
  /** Always false, because the key of a stream without entries is not deleted. */
  readonly isEmpty = false
  entries: IdTable<StreamFields> = new IdTable()
  groups: Map<Bytes, ConsumerGroup> = new Map()
  /** Highest ID ever assigned. Its entry may have been deleted, or a command may have set the ID. */
  topId: StreamId = firstId
  maxDeletedId: StreamId = firstId
  /** Number of entries ever added, as far as known. */
  added = 0
  /** Copies have no follower. */
  follower: StreamFollower | undefined
  /**
   * Fields of the latest entry. Most entries of a stream have the same field names, so a new entry reuses these
   * strings.
   */
  #latest: StreamFields = []

  get length(): number {
    return this.entries.size
  }

  get firstEntryId(): StreamId {
    return this.entries.first()?.id ?? firstId
  }

  /** Appends an entry. The caller must ensure that the ID is higher than all earlier ones. */
  append(id: StreamId, fields: Bytes[]): void {
    const latest = this.#latest
    for (let index = 0; index < fields.length; index += 2) {
      if (latest[index] === fields[index]) fields[index] = latest[index]!
    }
    this.#latest = fields
    this.entries.set(id, fields)
    this.topId = id
    this.added++
    this.follower?.entryChanged(id, true)
  }

  delete(id: StreamId): boolean {
    if (!this.#remove(id)) return false
    if (compareIds(id, this.maxDeletedId) > 0) this.maxDeletedId = id
    return true
  }

  /**
   * Deletes entries from the beginning and returns how many. Trimmed entries neither count as deleted nor leave holes.
   */
  trim({ to, approximate, limit, references }: Trim): number {
    const surplus = 'length' in to ? Math.max(0, this.length - to.length) : this.entries.countBelow(to.id)
    if (approximate && surplus < nodeEntries) return 0
    if (references !== 'keep' && this.groups.size > 0) {
      return this.#trimSingly('length' in to ? lastId : to.id, Math.min(surplus, limit), references)
    }
    const count = Math.min(surplus, limit)
    const removed = this.follower === undefined ? [] : this.#firstIds(count)
    this.entries.deleteFirst(count)
    for (const id of removed) this.follower?.entryChanged(id, false)
    return count
  }

  /**
   * Returns whether a group refers to an entry: the group has not yet read the entry, or the entry is pending in the
   * group.
   */
  isReferenced(id: StreamId): boolean {
    for (const group of this.groups.values()) {
      if (compareIds(id, group.lastDelivered) > 0 || group.pending.has(id)) return true
    }
    return false
  }

  dropReferences(id: StreamId): void {
    for (const group of this.groups.values()) group.forget(id)
  }

  /** Highest ID of an existing entry. */
  get lastEntryId(): StreamId {
    return this.entries.last()?.id ?? firstId
  }

  /**
   * Returns whether entries at or after the ID were deleted from the middle of the stream, so that entries cannot be
   * counted from that ID on.
   */
  hasHolesFrom(id: StreamId): boolean {
    // Deletions before the first entry leave no hole.
    if (this.length === 0 || compareIds(this.firstEntryId, this.maxDeletedId) > 0) return false
    return compareIds(id, this.maxDeletedId) <= 0
  }

  /** Returns the number of entries ever added up to an ID; `undefined` if holes or later IDs make it unknown. */
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

  /** Returns the number of entries that a group has not yet read; `undefined` if unknown. */
  lagOf(group: ConsumerGroup): number | undefined {
    if (this.added === 0) return 0
    if (group.entriesRead !== undefined && !this.hasHolesFrom(group.lastDelivered))
      return this.added - group.entriesRead
    const read = this.countUpTo(group.lastDelivered)
    return read === undefined ? undefined : this.added - read
  }

  /** Advances the group to an entry that is delivered to it. */
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

  #remove(id: StreamId): boolean {
    if (!this.entries.delete(id)) return false
    this.follower?.entryChanged(id, false)
    return true
  }

  #firstIds(count: number): StreamId[] {
    const ids: StreamId[] = []
    for (const { id } of this.entries) {
      if (ids.length >= count) break
      ids.push(id)
    }
    return ids
  }

  #trimSingly(end: StreamId, most: number, references: References): number {
    let count = 0
    for (let next = this.entries.first(); next !== undefined && count < most; ) {
      const { id } = next
      if (compareIds(id, end) >= 0) break
      if (references === 'drop') this.dropReferences(id)
      if ((references !== 'protect' || !this.isReferenced(id)) && this.#remove(id)) count++
      const following = nextId(id)
      next = following && this.entries.ceiling(following)
    }
    return count
  }
}
