import { type Bytes, text } from '../../kernel/bytes.js'
import type { ResolvedPolicy } from '../../policy/policy.js'
import type { KeyspaceValue } from '../keyspace/database.js'
import { HashValue } from '../values/hash-value.js'
import { parseJson } from '../values/json-text.js'
import { Float, type Json, type JsonArray, JsonDocument, type JsonObject } from '../values/json-value.js'
import { RawString } from '../values/raw-string.js'
import { type DataType, type FieldDefinition, isTextual, sourceOf } from '../values/search-definition.js'
import type { StreamFields } from '../values/stream-value.js'
import { scalarIn, scalarOf } from './field-values.js'
import type { Scalar, Scalars } from './sorted-values.js'

/** Document as an index reads it: the fields of a hash or of a stream entry, or a JSON object. */
export type Document = HashValue | JsonObject

/** Value that can be a document: the value of a key, or the fields of a stream entry. */
export type DocumentSource = KeyspaceValue | StreamFields

/**
 * Returns a value as a document for this kind of index. Returns `undefined` if the value is not such a document.
 * [search.md 11]
 * @param longest the maximum bytes of a STRING, which is read completely or not at all
 */
export function documentOf(
  dataType: DataType,
  value: DocumentSource | undefined,
  longest: number,
): Document | undefined {
  if (dataType === 'STREAM') return isEntry(value) ? documentOfEntry(value) : undefined
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

function isEntry(value: DocumentSource | undefined): value is StreamFields {
  return Array.isArray(value)
}

/**
 * Returns the fields of an entry. If a name is repeated, the last value counts. This package chose this rule; public
 * sources leave it open.
 */
function documentOfEntry(fields: StreamFields): HashValue {
  const document = new HashValue()
  for (let at = 0; at < fields.length; at += 2) document.set(fields[at]!, fields[at + 1]!)
  return document
}

export interface FieldSource {
  readonly field: FieldDefinition
  readonly name: Bytes
  readonly path: readonly Bytes[]
  /** Whether a text that is a JSON array counts as several values. */
  readonly readsArray: boolean
  /** Whether an empty text counts as a missing value. */
  readonly skipsEmpty: boolean
}

export function sourceFor(
  field: FieldDefinition,
  dataType: DataType,
  arrays: ResolvedPolicy['searchJsonArrays'],
): FieldSource {
  const name = sourceOf(field)
  const isStream = dataType === 'STREAM'
  return {
    field,
    name,
    path: name.split('.') as Bytes[],
    readsArray:
      (arrays === 'all' ? isStream || dataType === 'HASH' : arrays === 'streams' && isStream) &&
      takesArray(field, isStream),
    skipsEmpty: isStream,
  }
}

/** [search.md 11] */
function takesArray({ type }: FieldDefinition, isStream: boolean): boolean {
  if (isTextual(type) || type === 'KEYWORD') return true
  return isStream && type !== 'BOOL' && type !== 'FACET'
}

const bracket = /^[ \t\r\n]*\[/

/** Returns the elements of a text that is a JSON array; `undefined` for other texts. */
export function arrayIn(value: Bytes): JsonArray | undefined {
  if (!bracket.test(value)) return undefined
  try {
    return parseJson(value) as JsonArray
  } catch {
    return undefined
  }
}

/** Bytes of one document that may still be read, for all fields together. Begins with `policy.maxSearchDocument`. */
export class ReadingRoom {
  left: number

  constructor(bytes: number) {
    this.left = bytes
  }

  /**
   * Reads one value.
   * @param isCut whether a value that exceeds the limit is cut after a word
   * @returns the value, its beginning if it was cut, or `undefined` if it exceeds the limit
   */
  take(value: Bytes, isCut: boolean): Bytes | undefined {
    if (value.length <= this.left) {
      this.left -= value.length
      return value
    }
    const end = isCut ? value.lastIndexOf(' ', this.left) : -1
    this.left = 0
    return end > 0 ? (value.slice(0, end) as Bytes) : undefined
  }

  /**
   * Counts an element of a list on a path.
   * @returns whether the limit allows the element
   */
  passes(): boolean {
    this.left -= bytesPerElement
    return this.left > 0
  }
}

/**
 * Returns the elements of a field that is a JSON array; `undefined` if it is not. A text that is too long to be read
 * completely is no array.
 */
function elementsIn(value: Bytes, { readsArray }: FieldSource, room: ReadingRoom): Json[] | undefined {
  if (!readsArray || value.length > room.left) return undefined
  const array = arrayIn(value)
  if (array === undefined) return undefined
  room.take(value, false)
  const elements: Json[] = []
  spread(array, elements, room)
  return elements
}

/** An element of a list counts as this many bytes, because visiting it takes as long as reading a text of that size. */
const bytesPerElement = 8

/**
 * Returns the texts of a TEXT field. A tokenized text that is too long is cut after a word. A text that is not
 * tokenized is omitted if it is too long.
 */
export function textsIn(document: Document, source: FieldSource, room: ReadingRoom): readonly string[] {
  const { name, path, field, skipsEmpty } = source
  if (document instanceof HashValue) {
    const value = document.get(name)
    if (value === undefined) return nothing
    const elements = elementsIn(value, source, room)
    const texts = elements === undefined ? textOf(value, field, room) : elements.filter(isString).map(text)
    return skipsEmpty ? texts.filter((one) => one !== '') : texts
  }
  const plain = plainMember(document, path)
  if (plain !== undefined) return textOf(plain, field, room)
  return valuesAt(document, path, room).flatMap((value) => textOf(value, field, room))
}

/** Returns a list of the text alone. The index keeps the list, which therefore has no unused capacity. */
function textOf(value: Json, field: FieldDefinition, room: ReadingRoom): readonly string[] {
  const taken = isString(value) ? room.take(value, !field.noTokenize) : undefined
  return taken === undefined ? nothing : [text(taken)]
}

function isString(value: Json): value is Bytes {
  return typeof value === 'string'
}

/** Returns the distinct values of any other field. */
export function scalarsIn(document: Document, source: FieldSource, room: ReadingRoom): Scalars {
  const { name, path, skipsEmpty } = source
  const { type } = source.field
  if (document instanceof HashValue) {
    const value = document.get(name)
    if (value === undefined || (skipsEmpty && value === '')) return nothing
    const elements = elementsIn(value, source, room)
    if (elements !== undefined) {
      const scalars = distinct(elements, (element) => scalarOf(type, element))
      return skipsEmpty ? scalars.filter((one) => one !== '') : scalars
    }
    const taken = room.take(value, false)
    return oneOrNone(taken === undefined ? undefined : scalarIn(type, taken))
  }
  const scalar = (value: Json): Scalar | undefined =>
    typeof value === 'string' && room.take(value, false) === undefined ? undefined : scalarOf(type, value)
  const plain = plainMember(document, path)
  if (plain !== undefined) return oneOrNone(scalar(plain))
  return distinct(valuesAt(document, path, room), scalar)
}

function distinct(values: readonly Json[], scalar: (value: Json) => Scalar | undefined): Scalar[] {
  const scalars = new Set<Scalar>()
  for (const value of values) {
    const found = scalar(value)
    if (found !== undefined) scalars.add(found)
  }
  return [...scalars]
}

const nothing: readonly never[] = []

function oneOrNone(scalar: Scalar | undefined): Scalars {
  return scalar ?? nothing
}

/** Fast path for nearly all fields: direct members of the document that are neither lists nor objects. */
function plainMember(document: JsonObject, path: readonly Bytes[]): Exclude<Json, JsonArray | JsonObject> | undefined {
  if (path.length > 1) return undefined
  const member = document.get(path[0]!)
  return typeof member !== 'object' || member === null || member instanceof Float ? member : undefined
}

/**
 * Returns the values at a path. A list on the path, or at its end, is replaced by its elements. This package chose this
 * rule; public sources leave it open.
 */
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
