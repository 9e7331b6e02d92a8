import type { Bytes } from '../../kernel/bytes.js'
import { SearchIndex } from '../values/search-index.js'
import { Stream } from '../values/stream-value.js'

/**
 * Search indexes of a database and their aliases. A write is only recorded, and a later search indexes the written key.
 */
export class SearchIndexes {
  /** Indexes by name. Some may have been deleted since, which is detected at lookup. */
  readonly #stored = new Map<Bytes, SearchIndex>()
  /** Name of the index for each alias. An index with this name may not exist. */
  readonly aliases: Map<Bytes, Bytes> = new Map()

  /** Whether writes must be recorded. It is a plain field instead of a getter, because every write reads it. */
  isWatching = false

  constructor(
    private readonly valueAt: (key: Bytes) => unknown,
    /** Returns the value of a key. Unlike `valueAt`, it removes no expired key. */
    private readonly peek: (key: Bytes) => unknown,
    private readonly now: () => number,
  ) {}

  /** Records that a key was written, in all indexes that cover the key. */
  record(key: Bytes): void {
    const own = this.#stored.get(key)
    // Forgets a deleted index immediately, because it would still collect the entries of its stream.
    if (own !== undefined && this.peek(key) !== own) this.#forget(key, own)
    for (const index of this.#stored.values()) {
      if (!index.covers(key)) continue
      // A stream reports its own entries.
      if (index.streamKey === undefined) index.note(key, this.now())
      else this.#follow(index, key)
    }
  }

  stored(key: Bytes, index: SearchIndex): void {
    const before = this.#stored.get(key)
    if (before !== undefined && before !== index) this.#forget(key, before)
    this.#stored.set(key, index)
    this.isWatching = true
    if (index.streamKey !== undefined) this.#follow(index, index.streamKey)
  }

  #follow(index: SearchIndex, key: Bytes): void {
    const value = this.peek(key)
    index.follow(value instanceof Stream ? value : undefined, this.now)
  }

  #forget(key: Bytes, index: SearchIndex): void {
    this.#stored.delete(key)
    // A renamed index is already stored under its new name.
    if (![...this.#stored.values()].includes(index)) index.unfollow()
    this.isWatching = this.#stored.size > 0
  }

  /** Returns the name of the index over a stream. */
  boundTo(streamKey: Bytes): Bytes | undefined {
    if (!this.isWatching) return undefined
    for (const [name, index] of this.all) if (index.streamKey === streamKey) return name
    return undefined
  }

  beginRequest(): void {
    for (const index of this.#stored.values()) index.beginRequest()
  }

  cleared(): void {
    this.#stored.clear()
    this.isWatching = false
    this.aliases.clear()
  }

  /** Existing indexes by name. */
  get all(): ReadonlyMap<Bytes, SearchIndex> {
    this.#review()
    return this.#stored
  }

  /**
   * Returns the index with this name, or the index of the alias with this name. If both exist, the index has
   * precedence. This package chose the precedence; public sources leave it open. [search.md 0]
   */
  find(name: Bytes): { readonly name: Bytes; readonly index: SearchIndex } | undefined {
    const index = this.all.get(name)
    if (index !== undefined) return { name, index }
    const target = this.aliases.get(name)
    const meant = target === undefined ? undefined : this.#stored.get(target)
    return meant === undefined ? undefined : { name: target!, index: meant }
  }

  #review(): void {
    for (const key of [...this.#stored.keys()]) {
      const value = this.valueAt(key)
      const known = this.#stored.get(key)
      if (value === known || known === undefined) continue
      if (value instanceof SearchIndex) this.stored(key, value)
      else this.#forget(key, known)
    }
  }
}
