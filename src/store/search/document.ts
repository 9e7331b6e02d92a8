import { type Bytes, text } from '../../kernel/bytes.js'
import type { Value } from '../keyspace/database.js'
import { HashValue } from '../values/hash.js'
import { Float, type Json, type JsonArray, JsonDocument, type JsonObject } from '../values/json.js'
import { parseJson } from '../values/json-text.js'
import { RawString } from '../values/raw-string.js'
import { type DataType, type FieldDefinition, sourceOf } from '../values/search-definition.js'
import { scalarIn, scalarOf } from './field-values.js'
import type { Scalar, Scalars } from './sorted-values.js'

/** What an index reads: the fields of a hash, or an object. */
export type Document = HashValue | JsonObject

/** What a key is for an index of this kind; `undefined` when it is none of its documents. [search.md 11] */
export function documentOf(dataType: DataType, value: Value | undefined): Document | undefined {
  if (dataType === 'HASH') return value instanceof HashValue ? value : undefined
  if (dataType === 'JSON') return value instanceof JsonDocument && value.root instanceof Map ? value.root : undefined
  const source = value instanceof RawString ? value.text : value
  if (typeof source !== 'string') return undefined
  try {
    const root = parseJson(source)
    return root instanceof Map ? root : undefined
  } catch {
    return undefined
  }
}

/** A field, and the way to what it is made of. */
export interface Source {
  readonly field: FieldDefinition
  readonly name: Bytes
  readonly path: readonly Bytes[]
}

export function sourceFor(field: FieldDefinition): Source {
  const name = sourceOf(field)
  return { field, name, path: name.split('.') as Bytes[] }
}

/** The texts of a TEXT field. */
export function textsIn(document: Document, { name, path }: Source): readonly string[] {
  if (document instanceof HashValue) {
    const value = document.get(name)
    return value === undefined ? nothing : [text(value)]
  }
  const plain = plainMember(document, path)
  if (plain !== undefined) return typeof plain === 'string' ? [text(plain)] : nothing
  const texts: string[] = []
  for (const value of valuesAt(document, path)) if (typeof value === 'string') texts.push(text(value))
  return texts
}

/** The values of any other field, each once. */
export function scalarsIn(document: Document, { field: { type }, name, path }: Source): Scalars {
  if (document instanceof HashValue) {
    const value = document.get(name)
    return oneOrNone(value === undefined ? undefined : scalarIn(type, value))
  }
  const plain = plainMember(document, path)
  if (plain !== undefined) return oneOrNone(scalarOf(type, plain))
  const scalars = new Set<Scalar>()
  for (const value of valuesAt(document, path)) {
    const scalar = scalarOf(type, value)
    if (scalar !== undefined) scalars.add(scalar)
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
function valuesAt(document: JsonObject, path: readonly Bytes[]): Json[] {
  let found: Json[] = [document]
  for (const name of path) {
    const next: Json[] = []
    for (const value of found) {
      const member = value instanceof Map ? value.get(name) : undefined
      if (member !== undefined) spread(member, next)
    }
    found = next
  }
  return found
}

function spread(value: Json, into: Json[]): void {
  if (Array.isArray(value)) for (const element of value) spread(element, into)
  else into.push(value)
}
