import { type Bytes, text } from '../../kernel/bytes.js'
import type { Value } from '../keyspace/database.js'
import { HashValue } from '../values/hash.js'
import { type Json, JsonDocument, type JsonObject } from '../values/json.js'
import { parseJson } from '../values/json-text.js'
import { RawString } from '../values/raw-string.js'
import { type DataType, type FieldDefinition, sourceOf } from '../values/search-definition.js'
import { scalarIn, scalarOf } from './field-values.js'
import type { Scalar } from './sorted-values.js'

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

/** The texts of a TEXT field. */
export function textsIn(document: Document, field: FieldDefinition): string[] {
  const source = sourceOf(field)
  if (document instanceof HashValue) {
    const value = document.get(source)
    return value === undefined ? [] : [text(value)]
  }
  const texts: string[] = []
  for (const value of valuesAt(document, source)) if (typeof value === 'string') texts.push(text(value))
  return texts
}

/** The values of any other field, each once. */
export function scalarsIn(document: Document, field: FieldDefinition): Scalar[] {
  const source = sourceOf(field)
  if (document instanceof HashValue) {
    const value = document.get(source)
    const scalar = value === undefined ? undefined : scalarIn(field.type, value)
    return scalar === undefined ? [] : [scalar]
  }
  const scalars = new Set<Scalar>()
  for (const value of valuesAt(document, source)) {
    const scalar = scalarOf(field.type, value)
    if (scalar !== undefined) scalars.add(scalar)
  }
  return [...scalars]
}

/** What a dotted path leads to. A list stands for each of its elements, on the way and at the end. [choice] */
export function valuesAt(document: JsonObject, path: Bytes): Json[] {
  let found: Json[] = [document]
  for (const name of path.split('.')) {
    const next: Json[] = []
    for (const value of found) {
      const member = value instanceof Map ? value.get(name as Bytes) : undefined
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
