import type { Bytes } from '../../kernel/bytes.js'
import type { IndexDefinition } from './search-definition.js'
import type { Container } from './value.js'

const nothing: IndexDefinition = { dataType: 'HASH', prefixes: [], language: 'english', fields: [] }

/**
 * What a key of type `search` holds. The definition is all that is saved and copied: the content is made of the keys
 * that it covers, when somebody asks for it.
 */
export class SearchIndex implements Container {
  readonly type = 'search'
  /** Made and read by the engine, which is loaded on first use; `undefined` before it has looked at the keys. */
  content: unknown
  /** Keys that were written since, and when the first write was that the content does not know, oldest first. */
  readonly pending: Map<Bytes, number> = new Map()
  /** How many of them, from the oldest on, were there when the request that runs began. */
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

  /** A key that it covers was written. */
  note(key: Bytes, now: number): void {
    if (!this.pending.has(key)) this.pending.set(key, now)
  }

  /** The content knows so many of the keys now, from the oldest on. */
  taken(count: number): void {
    this.earlier = Math.max(0, this.earlier - count)
    // At once is faster than one by one.
    if (count === this.pending.size) this.pending.clear()
    else {
      let left = count
      for (const key of this.pending.keys()) {
        if (left-- === 0) break
        this.pending.delete(key)
      }
    }
  }

  /** A request begins: what is pending, or will be because the content must be made, is not its own. */
  beginRequest(): void {
    this.earlier = this.content === undefined ? Number.POSITIVE_INFINITY : this.pending.size
  }

  copy(): SearchIndex {
    return new SearchIndex(this.definition)
  }
}
