import { type Bytes, text } from '../../kernel/bytes.js'
import type { KeyspaceValue } from '../keyspace/database.js'
import { HashValue } from '../values/hash-value.js'
import { parseJson } from '../values/json-text.js'
import { Float, type Json, type JsonArray, JsonDocument, type JsonObject } from '../values/json-value.js'
import { RawString } from '../values/raw-string.js'
import { type DataType, type FieldDefinition, sourceOf } from '../values/search-definition.js'
import { scalarIn, scalarOf } from './field-values.js'
import type { Scalar, Scalars } from './sorted-values.js'

/** What an index reads: the fields of a hash, or an object. */
export type Document = HashValue | JsonObject

/**
 * What a key is for an index of this kind; `undefined` when it is none of its documents. [search.md 11]
 * @param longest bytes of a STRING that is read: it is read as a whole or not at all
 */
export function documentOf(
  dataType: DataType,
  value: KeyspaceValue | undefined,
  longest: number,
): Document | undefined {
  if (dataType === 'HASH') return value instanceof HashValue ? value : undefined
  if (dataType === 'JSON') return value instanceof JsonDocument && value.root instanceof Map ? value.root : undefined
  const source = value instanceof RawString ? value.text : value
  if (typeof source !== 'string' || source.length > longest) return undefined
  try {
    const root = parseJson(source)
    return root instanceof Map ? root : undefined
  } catch {
    return undefined
  }
}

/** A field, and the way to what it is made of. */
export interface FieldSource {
  readonly field: FieldDefinition
  readonly name: Bytes
  readonly path: readonly Bytes[]
}

export function sourceFor(field: FieldDefinition): FieldSource {
  const name = sourceOf(field)
  return { field, name, path: name.split('.') as Bytes[] }
}

/** What of one document may still be read, of all fields together: `policy.maxSearchDocument`. */
export class ReadingRoom {
  /** Bytes. */
  left: number

  constructor(bytes: number) {
    this.left = bytes
  }

  /** Takes one value in. @returns the value, its beginning, or `undefined` when there is no room for it */
  take(value: Bytes, isCut: boolean): Bytes | undefined {
    if (value.length <= this.left) {
      this.left -= value.length
      return value
    }
    const end = isCut ? value.lastIndexOf(' ', this.left) : -1
    this.left = 0
    return end > 0 ? (value.slice(0, end) as Bytes) : undefined
  }

  /** Counts an element that a path leads through. @returns whether there was room for it */
  passes(): boolean {
    this.left -= bytesPerElement
    return this.left > 0
  }
}

/** What an element of a list counts, whatever it is: a look at it takes as long as so many bytes of a text. */
const bytesPerElement = 8

/** The texts of a TEXT field. One that is too long is cut after a word; whole values are left out. */
export function textsIn(document: Document, { name, path, field }: FieldSource, room: ReadingRoom): readonly string[] {
  const texts: string[] = []
  const add = (value: Json): void => {
    const taken = typeof value === 'string' ? room.take(value, !field.noTokenize) : undefined
    if (taken !== undefined) texts.push(text(taken))
  }
  if (document instanceof HashValue) {
    const value = document.get(name)
    if (value !== undefined) add(value)
    return texts
  }
  const plain = plainMember(document, path)
  if (plain !== undefined) add(plain)
  else valuesAt(document, path, room).forEach(add)
  return texts
}

/** The values of any other field, each once. */
export function scalarsIn(
  document: Document,
  { field: { type }, name, path }: FieldSource,
  room: ReadingRoom,
): Scalars {
  if (document instanceof HashValue) {
    const value = document.get(name)
    const taken = value === undefined ? undefined : room.take(value, false)
    return oneOrNone(taken === undefined ? undefined : scalarIn(type, taken))
  }
  const scalar = (value: Json): Scalar | undefined =>
    typeof value === 'string' && room.take(value, false) === undefined ? undefined : scalarOf(type, value)
  const plain = plainMember(document, path)
  if (plain !== undefined) return oneOrNone(scalar(plain))
  const scalars = new Set<Scalar>()
  for (const value of valuesAt(document, path, room)) {
    const found = scalar(value)
    if (found !== undefined) scalars.add(found)
  }
  return [...scalars]
}

const nothing: readonly never[] = []

function oneOrNone(scalar: Scalar | undefined): Scalars {
  return scalar ?? nothing
}

/** A member of the document itself that is neither a list nor an object: what nearly all fields are. */
function plainMember(document: JsonObject, path: readonly Bytes[]): Exclude<Json, JsonArray | JsonObject> | undefined {
  if (path.length > 1) return undefined
  const member = document.get(path[0]!)
  return typeof member !== 'object' || member === null || member instanceof Float ? member : undefined
}

/** What a path leads to. A list stands for each of its elements, on the way and at the end. [choice] */
function valuesAt(document: JsonObject, path: readonly Bytes[], room: ReadingRoom): Json[] {
  let found: Json[] = [document]
  for (const name of path) {
    const next: Json[] = []
    for (const value of found) {
      const member = value instanceof Map ? value.get(name) : undefined
      if (member !== undefined) spread(member, next, room)
    }
    found = next
  }
  return found
}

function spread(value: Json, into: Json[], room: ReadingRoom): void {
  if (!Array.isArray(value)) {
    into.push(value)
    return
  }
  for (const element of value) {
    if (!room.passes()) return
    spread(element, into, room)
  }
}
