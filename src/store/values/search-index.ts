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
  readonly definition: IndexDefinition
  /** Made and read by the engine, which is loaded on first use; `undefined` before it has looked at the keys. */
  content: unknown
  /** Keys that were written since, and when the first write was that the content does not know, oldest first. */
  readonly pending: Map<Bytes, number> = new Map()

  constructor(definition: IndexDefinition = nothing) {
    this.definition = definition
  }

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

  copy(): SearchIndex {
    return new SearchIndex(this.definition)
  }
}
