import { text, utf8 } from '../../kernel/bytes.js'
import { bytesOf, type PortableString, portableString } from '../../kernel/portable.js'
import { formatScore, parseDouble } from '../command/text.js'
import type { KeyspaceValue } from '../keyspace/database.js'
import { ArrayValue } from '../values/array-value.js'
import { Deque } from '../values/deque.js'
import { HashValue } from '../values/hash-value.js'
import { formatJson, parseJson } from '../values/json-text.js'
import { JsonDocument } from '../values/json-value.js'
import { RawString } from '../values/raw-string.js'
import { SearchIndex } from '../values/search-index.js'
import { SetValue } from '../values/set-value.js'
import { SortedSet } from '../values/sorted-set-value.js'
import { Stream } from '../values/stream-value.js'
import { VectorIndex } from '../values/vector-index.js'
import { arrayOf, type PortableArray, portableArray } from './portable-array.js'
import { indexOf, type PortableIndex, portableIndex } from './portable-index.js'
import { type PortableStream, portableStream, streamOf } from './portable-stream.js'
import { type PortableVectors, portableVectors, vectorsOf } from './portable-vectors.js'

// Values as JSON, as dumps contain them. All values are readable in version control.

/** A value of the store as JSON. */
export type PortableValue =
  | {
      /** The value is a string. */
      readonly type: 'string'
      /** Content of the string. */
      readonly value: PortableString
    }
  | {
      /** The value is a list. */
      readonly type: 'list'
      /** Elements of the list, from head to tail. */
      readonly elements: readonly PortableString[]
    }
  | {
      /** The value is a set. */
      readonly type: 'set'
      /** Members of the set. */
      readonly members: readonly PortableString[]
    }
  | {
      /** The value is a sorted set. */
      readonly type: 'zset'
      /** Members in ascending order. Scores are texts as in replies, because JSON has no infinities. */
      readonly members: readonly (readonly [member: PortableString, score: string])[]
    }
  | {
      /** The value is a hash. */
      readonly type: 'hash'
      /** Fields of the hash with their values and expirations. */
      readonly fields: readonly PortableField[]
    }
  | {
      /** The value is a JSON document. */
      readonly type: 'json'
      /** Text of the document, which preserves the spelling of its numbers. */
      readonly value: string
    }
  | PortableStream
  | PortableArray
  | PortableIndex
  | PortableVectors

/** Name and value of a hash field; the third item is its expiration in milliseconds since the Unix epoch. */
export type PortableField = readonly [field: PortableString, value: PortableString, expiresAt?: number]

export function portableValue(value: KeyspaceValue): PortableValue {
  if (typeof value === 'string') return { type: 'string', value: portableString(value) }
  if (value instanceof RawString) return { type: 'string', value: portableString(value.text) }
  if (value instanceof Deque) return { type: 'list', elements: [...value].map(portableString) }
  if (value instanceof SetValue) return { type: 'set', members: [...value.members.keys()].map(portableString) }
  if (value instanceof HashValue) return { type: 'hash', fields: portableFields(value) }
  if (value instanceof SortedSet) return { type: 'zset', members: portableScores(value) }
  if (value instanceof JsonDocument) return { type: 'json', value: text(formatJson(value.root)) }
  if (value instanceof Stream) return portableStream(value)
  if (value instanceof ArrayValue) return portableArray(value)
  if (value instanceof SearchIndex) return portableIndex(value)
  if (value instanceof VectorIndex) return portableVectors(value)
  throw new TypeError(`A value of type ${value.type} has no portable form.`)
}

/**
 * Converts a value from a dump.
 * @throws TypeError when it is invalid
 */
export function storedValue(portable: PortableValue): KeyspaceValue {
  switch (portable.type) {
    case 'string':
      return bytesOf(portable.value)
    case 'list':
      return Deque.from(portable.elements.map(bytesOf))
    case 'set':
      return SetValue.from(portable.members.map(bytesOf))
    case 'hash':
      return hashOf(portable.fields)
    case 'zset':
      return sortedSetOf(portable.members)
    case 'json':
      return new JsonDocument(parseJson(utf8(portable.value)))
    case 'stream':
      return streamOf(portable)
    case 'array':
      return arrayOf(portable)
    case 'search':
      return indexOf(portable)
    case 'vector':
      return vectorsOf(portable)
    default:
      throw new TypeError(
        `${JSON.stringify((portable as { type?: unknown })?.type)} is not the type of a stored value.`,
      )
  }
}

function portableFields(hash: HashValue): PortableField[] {
  return [...hash].map(([field, value]) => {
    const deadline = hash.deadline(field)
    const pair = [portableString(field), portableString(value)] as const
    return deadline === undefined ? pair : [...pair, deadline]
  })
}

function hashOf(fields: readonly PortableField[]): HashValue {
  const hash = new HashValue()
  for (const [field, value, expiresAt] of fields) {
    hash.write(bytesOf(field), bytesOf(value))
    if (expiresAt !== undefined) hash.setDeadline(bytesOf(field), expiresAt)
  }
  return hash
}

function portableScores(set: SortedSet): [PortableString, string][] {
  const members: [PortableString, string][] = []
  set.walk(0, set.size, false, (member, score) => members.push([portableString(member), formatScore(score)]))
  return members
}

function sortedSetOf(members: readonly (readonly [PortableString, string])[]): SortedSet {
  const set = new SortedSet()
  for (const [member, score] of members) {
    const value = parseDouble(utf8(String(score)))
    if (value === undefined) throw new TypeError(`${JSON.stringify(score)} is not a score.`)
    set.set(bytesOf(member), value)
  }
  return set
}
