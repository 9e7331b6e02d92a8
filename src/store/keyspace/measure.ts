import type { Bytes } from '../../kernel/bytes.js'
import { ArrayValue } from '../values/array-value.js'
import { Deque } from '../values/deque.js'
import { HashValue } from '../values/hash-value.js'
import { JsonDocument, memoryOf } from '../values/json-value.js'
import { RawString } from '../values/raw-string.js'
import { SetValue } from '../values/set-value.js'
import { SortedSet } from '../values/sorted-set-value.js'
import { Stream } from '../values/stream-value.js'
import type { Container } from '../values/value.js'
import { VectorIndex } from '../values/vector-index.js'
import type { KeyspaceValue } from './key-entry.js'

export interface Measure {
  readonly elements: number
  /** Bytes of all strings in the value. A number counts as 8 bytes. */
  readonly bytes: number
}

const numberSize = 8
const bytesPerFloat = 4

/**
 * Returns the number of elements of a value, or the number of 32-byte blocks of a string, without visiting them. Nested
 * members of a JSON document do not count. A vector counts once for every 64 numbers.
 */
export function sizeOfValue(value: KeyspaceValue): number {
  if (typeof value === 'string' || value instanceof RawString || value instanceof Deque || value instanceof Stream) {
    return typeof value === 'string' || value instanceof RawString ? value.length >>> 5 : value.length
  }
  if (value instanceof SetValue) return value.members.size
  if (value instanceof ArrayValue) return value.count
  if (value instanceof VectorIndex) return value.cost
  return value instanceof HashValue || value instanceof SortedSet ? value.size : 0
}

/** The parts of the keyspace that measuring needs. */
interface MeasuredKeys {
  forEachStored(visit: (value: KeyspaceValue, key: Bytes, expiresAt: number | undefined) => void): void
  measured: WeakMap<Container, number> | undefined
}

/** Number of keys, and bytes of all keys and values, at several instants. */
export interface SizesOverTime {
  readonly keys: number[]
  readonly bytes: number[]
}

/**
 * Returns the sizes of the store at instants in ascending order at equal distances, if only expirations change it.
 * Removes nothing. The size of a large value is computed again only after a command used the value.
 */
export function sizesAt(
  db: MeasuredKeys,
  { from, step, count }: { from: number; step: number; count: number },
): SizesOverTime {
  // Each key is counted at the last instant at which it is live, and then added to all earlier instants.
  const keys = new Array<number>(count).fill(0)
  const bytes = new Array<number>(count).fill(0)
  db.forEachStored((value, key, expiresAt) => {
    const live = expiresAt === undefined ? count : Math.min(count, Math.ceil((expiresAt - from) / step))
    if (live <= 0) return
    keys[live - 1]!++
    bytes[live - 1]! += key.length + knownSize(db, value)
  })
  for (let index = count - 2; index >= 0; index--) {
    keys[index]! += keys[index + 1]!
    bytes[index]! += bytes[index + 1]!
  }
  return { keys, bytes }
}

/** Number of elements up to which measuring a value takes no longer than looking up its size. */
const fewElements = 16

function knownSize(db: MeasuredKeys, value: KeyspaceValue): number {
  if (typeof value === 'string' || value instanceof RawString) return value.length
  if (sizeOfValue(value) <= fewElements && !(value instanceof JsonDocument)) return measure(value).bytes
  db.measured ??= new WeakMap()
  let bytes = db.measured.get(value)
  if (bytes === undefined) {
    bytes = measure(value).bytes
    db.measured.set(value, bytes)
  }
  return bytes
}

/** Returns the size of a value. Visits every element. */
export function measure(value: KeyspaceValue): Measure {
  if (typeof value === 'string' || value instanceof RawString) return { elements: 0, bytes: value.length }
  if (value instanceof JsonDocument) return { elements: 0, bytes: memoryOf(value.root) }
  let elements = 0
  let bytes = 0
  const add = (size: number): void => {
    elements++
    bytes += size
  }
  if (value instanceof Deque) for (const element of value) add(element.length)
  else if (value instanceof SetValue) for (const member of value.members.keys()) add(member.length)
  else if (value instanceof HashValue) for (const [field, text] of value) add(field.length + text.length)
  else if (value instanceof SortedSet) value.walk(0, value.size, false, (member) => add(member.length + numberSize))
  else if (value instanceof ArrayValue) value.walk((text) => add(text.length))
  else if (value instanceof Stream) {
    for (const { value: fields } of value.entries)
      add(2 * numberSize + fields.reduce((sum, { length }) => sum + length, 0))
  } else if (value instanceof VectorIndex) for (const id of value.ids) add(id.length + bytesPerFloat * value.dimension)
  return { elements, bytes }
}
