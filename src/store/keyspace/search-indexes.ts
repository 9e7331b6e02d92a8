import type { Bytes } from '../../kernel/bytes.js'
import { SearchIndex } from '../values/search-index.js'

/** The indexes of a database and their aliases. It is told of writes; what they mean is found out when somebody searches. */
export class SearchIndexes {
  /** Those that were stored; some may be gone, which is seen when one is looked for. */
  readonly #stored = new Map<Bytes, SearchIndex>()
  /** What each alias stands for, whether or not that exists. */
  readonly aliases: Map<Bytes, Bytes> = new Map()

  /** Whether writes are of interest. A field, because every write asks. */
  isWatching = false

  constructor(
    private readonly valueAt: (key: Bytes) => unknown,
    private readonly now: () => number,
  ) {}

  /** Something happened at a key. */
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

  /** The live indexes by name. */
  get all(): ReadonlyMap<Bytes, SearchIndex> {
    this.#review()
    return this.#stored
  }

  /** The index of this name, else what an alias of this name stands for. [search.md 0; which comes first: choice] */
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
