import { type Bytes, text } from '../../kernel/bytes.js'
import type { CommandContext } from '../command/command.js'
import { ReplyError } from '../command/reply.js'
import type { Database, KeyspaceValue } from '../keyspace/database.js'
import type { IndexDefinition } from '../values/search-definition.js'
import { SearchIndex } from '../values/search-index.js'
import { Stream } from '../values/stream-value.js'

// What commands of streams and keys may not do because of an index over a stream. [search.md 15]

/** Units of work for an entry that the index over a stream notes. */
export const unitsPerNote = 16

/**
 * Throws if a stream already has an index with another name. Each stream has at most one. The error text is specific
 * to this package.
 */
export function refuseBoundStream(db: Database, { dataType, prefixes }: IndexDefinition, name: Bytes): void {
  if (dataType !== 'STREAM') return
  const stream = prefixes[0]!
  const bound = db.search.boundTo(stream)
  if (bound !== undefined && bound !== name)
    throw new ReplyError(`ERR Stream ${text(stream)} is already bound to index ${text(bound)}`)
}

/** Throws if a value must not be stored under a name: the second index of a stream. */
export function refuseSecondIndex(db: Database, value: KeyspaceValue, name: Bytes): void {
  if (value instanceof SearchIndex) refuseBoundStream(db, value.definition, name)
}

/** Throws if `policy.streamRename` forbids that the value of a key gets another key. */
export function refuseMovedStream({ db, store }: CommandContext, command: string, from: Bytes, to: Bytes): void {
  const stream = db.peek(from)
  if (!(stream instanceof Stream)) return
  const { streamRename } = store.options.policy
  const isIndexed = db.search.boundTo(from) !== undefined || db.search.boundTo(to) !== undefined
  if (streamRename === 'refuse' || (streamRename === 'refuse-indexed' && isIndexed))
    throw new ReplyError(`ERR ${command} is not supported for stream keys`)
  if (isIndexed) db.work.charge(unitsPerNote * stream.length)
}

/** Throws if the index over a stream has its maximum number of documents. */
export function refuseFullIndex({ db, store }: CommandContext, key: Bytes): void {
  const { maxSearchDocuments } = store.options.policy
  if (maxSearchDocuments === undefined) return
  const value = db.peek(key)
  const length = value === undefined ? 0 : value instanceof Stream ? value.length : Number.NEGATIVE_INFINITY
  if (length < maxSearchDocuments) return
  const name = db.search.boundTo(key)
  if (name !== undefined) throw new ReplyError(`ERR Index ${text(name)} has reached its document limit`)
}
