import type { Bytes } from '../../kernel/bytes.js'
import type { IndexDefinition } from './search-definition.js'
import type { Container } from './value.js'

const nothing: IndexDefinition = { dataType: 'HASH', prefixes: [], language: 'english', fields: [] }

/**
 * Value of a key of type `search`. Only the definition is saved and copied. The content is built on demand from the
 * keys that the index covers.
 */
export class SearchIndex implements Container {
  readonly type = 'search'
  /**
   * Indexed content, which only the search engine creates and reads. `undefined` until the search engine has read the
   * keys.
   */
  content: unknown
  /** Keys with writes that are not indexed yet, oldest first. The value is the time of the first such write. */
  readonly pending: Map<Bytes, number> = new Map()
  /** Number of keys that were already pending when the current request began. These are the oldest keys. */
  earlier = 0

  constructor(readonly definition: IndexDefinition = nothing) {}

  get isEmpty(): boolean {
    return false
  }

  covers(key: Bytes): boolean {
    const { prefixes } = this.definition
    for (let at = 0; at < prefixes.length; at++) if (key.startsWith(prefixes[at]!)) return true
    return false
  }

  /** Records a write of a covered key. */
  note(key: Bytes, now: number): void {
    if (!this.pending.has(key)) this.pending.set(key, now)
  }

  /** Removes this many keys that have been indexed, beginning with the oldest one. */
  taken(count: number): void {
    this.earlier = Math.max(0, this.earlier - count)
    // Clearing the map is faster than deleting its keys one by one.
    if (count === this.pending.size) this.pending.clear()
    else {
      let left = count
      for (const key of this.pending.keys()) {
        if (left-- === 0) break
        this.pending.delete(key)
      }
    }
  }

  /**
   * Begins a request. Keys that are already pending do not count as written by this request. If the content must be
   * built, no key counts as written by this request.
   */
  beginRequest(): void {
    this.earlier = this.content === undefined ? Number.POSITIVE_INFINITY : this.pending.size
  }

  copy(): SearchIndex {
    return new SearchIndex(this.definition)
  }
}
