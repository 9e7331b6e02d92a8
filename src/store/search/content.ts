import type { Bytes } from '../../kernel/bytes.js'
import type { ResolvedPolicy } from '../../policy/policy.js'
import { type FieldDefinition, type IndexDefinition, isTextual } from '../values/search-definition.js'
import { analysisOf, type Stem } from './analysis.js'
import { EmbeddedTexts } from './embedding.js'
import { facetsAbove } from './field-values.js'
import { ScalarField } from './scalar-field.js'
import {
  type Document,
  type DocumentSource,
  documentOf,
  type FieldSource,
  ReadingRoom,
  scalarsIn,
  sourceFor,
  textsIn,
} from './search-document.js'
import { isList, listOf, type Scalar, type Scalars } from './sorted-values.js'
import { type IndexingStep, TextField } from './text-field.js'

export class Content {
  readonly definition: IndexDefinition
  readonly #ids = new Map<Bytes, number>()
  readonly #keys = new Map<number, Bytes>()
  #next = 0
  readonly #texts = new Map<Bytes, TextField>()
  readonly #scalars = new Map<Bytes, ScalarField>()
  /** Facet fields. Each contains all values and all ancestors of the values, so that any ancestor can be looked up. */
  readonly #facets = new Map<Bytes, ScalarField>()
  readonly #embedded = new Map<Bytes, EmbeddedTexts>()
  readonly #sources: readonly FieldSource[]
  /** Maximum bytes of a document that are read. */
  readonly #longest: number
  #keySize = 0
  /** Steps that remain to index the last document. */
  #steps: IndexingStep[] = []

  constructor(
    definition: IndexDefinition,
    stem: Stem,
    { maxSearchDocument, searchJsonArrays }: Pick<ResolvedPolicy, 'maxSearchDocument' | 'searchJsonArrays'>,
  ) {
    this.definition = definition
    this.#longest = maxSearchDocument
    this.#sources = definition.fields.map((field) => sourceFor(field, definition.dataType, searchJsonArrays))
    for (const field of definition.fields) {
      if (isTextual(field.type)) this.#texts.set(field.path, new TextField(analysisOf(field, stem), !field.noTokenize))
      else this.#scalars.set(field.path, new ScalarField(field.type === 'KEYWORD' || field.type === 'BOOL'))
      if (field.type === 'HYBRID') this.#embedded.set(field.path, new EmbeddedTexts())
      if (field.type === 'FACET') this.#facets.set(field.path, new ScalarField(true))
    }
  }

  /** Returns a value as a document of this index; `undefined` if the index does not cover such values. */
  documentOf(value: DocumentSource | undefined): Document | undefined {
    return documentOf(this.definition.dataType, value, this.#longest)
  }

  /**
   * Indexes the current value of a key, or the fields of a stream entry. If it is not a document, removes it from the
   * index. A stream entry without a value of the schema is not a document. [search.md 15] A changed document keeps its
   * position. Of a long text, only the first part is indexed, and `goOn()` continues.
   * @returns units of work that were done
   */
  put(key: Bytes, value: DocumentSource | undefined): number {
    const document = this.documentOf(value)
    const room = new ReadingRoom(this.#longest)
    const found = document === undefined ? [] : this.#sources.map((source) => valuesIn(document, source, room))
    const isStream = this.definition.dataType === 'STREAM'
    // Text that was read without producing terms also counts as work, and so does each field of an entry.
    let units = unitsPerDocument + ((this.#longest - room.left) >>> 1) + (isStream ? sizeOf(document) : 0)
    let id = this.#ids.get(key)
    if (document === undefined || (isStream && found.every(isNone)))
      return units + (id === undefined ? 0 : this.#remove(key, id))
    if (id === undefined) {
      id = this.#next++
      this.#ids.set(key, id)
      this.#keys.set(id, key)
      this.#keySize += key.length + 8
    }
    for (let at = 0; at < found.length; at++) units += this.#setField(id, this.#sources[at]!.field, found[at]!)
    return units
  }

  /** Whether the last document is completely indexed. */
  get isComplete(): boolean {
    return this.#steps.length === 0
  }

  /** Runs the next step of the last document. Returns the units of work that were done. */
  goOn(): number {
    return this.#steps.shift()!()
  }

  get documentCount(): number {
    return this.#keys.size
  }

  /** All documents in the order in which they were added. */
  get ids(): number[] {
    return [...this.#keys.keys()]
  }

  /** Number of the next document: one more than the largest number so far. */
  get end(): number {
    return this.#next
  }

  knows(key: Bytes): boolean {
    return this.#ids.has(key)
  }

  has(id: number): boolean {
    return this.#keys.has(id)
  }

  keyOf(id: number): Bytes {
    return this.#keys.get(id)!
  }

  /** Returns whether a text of this field that is a JSON array counts as several values. */
  readsArray(path: Bytes): boolean {
    return this.#sources.some(({ field, readsArray }) => readsArray && field.path === path)
  }

  text(path: Bytes): TextField {
    return this.#texts.get(path)!
  }

  /** Returns the embedded texts of a HYBRID field. */
  embedded(path: Bytes): EmbeddedTexts {
    return this.#embedded.get(path)!
  }

  scalar(path: Bytes): ScalarField {
    return this.#scalars.get(path)!
  }

  /** Returns the field in which a filter looks up a facet or one of its ancestors. */
  facets(path: Bytes): ScalarField {
    return this.#facets.get(path)!
  }

  /** Estimated size in bytes. */
  get size(): number {
    let size = this.#keySize
    for (const fields of [this.#texts, this.#scalars]) for (const field of fields.values()) size += field.size
    return size
  }

  readonly #later = (step: IndexingStep): void => void this.#steps.push(step)

  #setField(id: number, { path, type }: FieldDefinition, values: Scalars): number {
    if (isTextual(type)) {
      const texts = values as readonly string[]
      this.#embedded.get(path)?.set(id, texts)
      return this.text(path).set(id, texts, this.#later)
    }
    if (!this.scalar(path).set(id, values)) return unitsPerValue
    const count = isList(values) ? values.length : 1
    if (type !== 'FACET') return unitsPerValue * (1 + count)
    const facets = [...new Set(listOf(values).flatMap(above))]
    this.facets(path).set(id, facets)
    return unitsPerValue * (1 + count + facets.length)
  }

  #remove(key: Bytes, id: number): number {
    this.#ids.delete(key)
    this.#keys.delete(id)
    this.#keySize -= key.length + 8
    let units = 0
    for (const field of this.#texts.values()) units += field.set(id, [], this.#later)
    for (const field of this.#embedded.values()) field.set(id, [])
    for (const fields of [this.#scalars, this.#facets]) {
      for (const field of fields.values()) {
        units += unitsPerValue * (1 + field.valuesOf(id).length)
        field.set(id, [])
      }
    }
    return units
  }
}

/** Units of work for a document, in addition to the units for its values. */
const unitsPerDocument = 8
const unitsPerValue = 16

function valuesIn(document: Document, source: FieldSource, room: ReadingRoom): Scalars {
  return isTextual(source.field.type) ? textsIn(document, source, room) : scalarsIn(document, source, room)
}

function isNone(values: Scalars): boolean {
  return isList(values) && values.length === 0
}

function sizeOf(document: Document | undefined): number {
  return document?.size ?? 0
}

function above(facet: Scalar): string[] {
  return facetsAbove(String(facet))
}
