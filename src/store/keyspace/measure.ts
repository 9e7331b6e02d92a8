import { ArrayValue } from '../values/array-value.js'
import { Deque } from '../values/deque.js'
import { HashValue } from '../values/hash-value.js'
import { JsonDocument, memoryOf } from '../values/json-value.js'
import { RawString } from '../values/raw-string.js'
import { SetValue } from '../values/set-value.js'
import { SortedSet } from '../values/sorted-set-value.js'
import { Stream } from '../values/stream-value.js'
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
