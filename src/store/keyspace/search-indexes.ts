import type { Bytes } from '../../kernel/bytes.js'
import { SearchIndex } from '../values/search-index.js'

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
    private readonly now: () => number,
  ) {}

  /** Records that a key was written, in all indexes that cover the key. */
  record(key: Bytes): void {
    for (const index of this.#stored.values()) if (index.covers(key)) index.note(key, this.now())
  }

  stored(key: Bytes, index: SearchIndex): void {
    this.#stored.set(key, index)
    this.isWatching = true
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
      if (!(value instanceof SearchIndex)) this.#stored.delete(key)
      else if (this.#stored.get(key) !== value) this.#stored.set(key, value)
    }
    this.isWatching = this.#stored.size > 0
  }
}
