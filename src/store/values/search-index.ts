import type { Bytes } from '../../kernel/bytes.js'
import type { IndexDefinition } from './search-definition.js'
import { formatId, type StreamId } from './stream-id.js'
import type { Stream, StreamFollower } from './stream-value.js'
import type { Container } from './value.js'

/** Indexed content, which only the search engine creates and reads. */
interface IndexedDocuments {
  /** Returns whether the content has a document with this key or entry ID. */
  knows(key: Bytes): boolean
}

/** Pending item of a STREAM index: the whole stream was replaced or deleted. No entry has this ID. */
export const wholeStream = '' as Bytes

const nothing: IndexDefinition = { dataType: 'HASH', prefixes: [], language: 'english', fields: [] }

/**
 * Value of a key of type `search`. Only the definition is saved and copied. The content is built on demand from the
 * keys that the index covers.
 */
export class SearchIndex implements Container, StreamFollower {
  readonly type = 'search'
  /** `undefined` until the search engine has read the keys. */
  content: IndexedDocuments | undefined
  /**
   * Keys with writes that are not indexed yet, oldest first. The value is the time of the first such write. Of a STREAM
   * index, these are the IDs of entries.
   */
  readonly pending: Map<Bytes, number> = new Map()
  /** Number of keys that were already pending when the current request began. These are the oldest keys. */
  earlier = 0
  /** Stream that a STREAM index follows. `null` until `follow()` is called, `undefined` if there is no such stream. */
  #stream: Stream | null | undefined = null
  #now: () => number = () => 0

  constructor(readonly definition: IndexDefinition = nothing) {}

  get isEmpty(): boolean {
    return false
  }

  /** Key of the stream of a STREAM index; `undefined` for other indexes. */
  get streamKey(): Bytes | undefined {
    return this.definition.dataType === 'STREAM' ? this.definition.prefixes[0] : undefined
  }

  covers(key: Bytes): boolean {
    const { dataType, prefixes } = this.definition
    if (dataType === 'STREAM') return key === prefixes[0]
    for (let at = 0; at < prefixes.length; at++) if (key.startsWith(prefixes[at]!)) return true
    return false
  }

  /** Records a write of a covered key. */
  note(key: Bytes, now: number): void {
    if (!this.pending.has(key)) this.pending.set(key, now)
  }

  /**
   * Follows the stream that its key now has, if any. If it is another stream than before, all documents of the earlier
   * one are outdated.
   */
  follow(stream: Stream | undefined, now: () => number): void {
    if (stream === this.#stream) return
    const before = this.#stream
    this.unfollow()
    this.#stream = stream
    this.#now = now
    if (stream !== undefined) stream.follower = this
    if (before === null) return
    if (before !== undefined) this.#outdate(now())
    for (const { id } of stream?.entries ?? []) this.note(formatId(id), now())
  }

  #outdate(now: number): void {
    const at = this.pending.get(wholeStream) ?? now
    this.pending.clear()
    if (this.content === undefined) return
    this.earlier = 0
    this.note(wholeStream, at)
  }

  unfollow(): void {
    if (this.#stream?.follower === this) this.#stream.follower = undefined
    this.#stream = null
  }

  entryChanged(entry: StreamId, isThere: boolean): void {
    const id = formatId(entry)
    if (isThere || this.content?.knows(id)) this.note(id, this.#now())
    // The entry was deleted before it was indexed. Without this, a trimmed stream that is not searched would fill the
    // memory with IDs.
    else if (this.pending.delete(id)) this.earlier = Math.max(0, this.earlier - 1)
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
