import type { Bytes } from '../../kernel/bytes.js'
import type { IndexDefinition } from '../values/search-definition.js'
import { analysisOf, type Stem } from './analysis.js'
import { type Document, type Source, scalarsIn, sourceFor, textsIn } from './document.js'
import { facetsAbove } from './field-values.js'
import { ScalarField } from './scalar-field.js'
import { listOf, type Scalar } from './sorted-values.js'
import { TextField } from './text-field.js'

/** What an index knows of its documents. */
export class Content {
  readonly definition: IndexDefinition
  readonly #ids = new Map<Bytes, number>()
  readonly #keys = new Map<number, Bytes>()
  #next = 0
  readonly #texts = new Map<Bytes, TextField>()
  readonly #scalars = new Map<Bytes, ScalarField>()
  /** Facets with all that they are part of, to be found by it. */
  readonly #facets = new Map<Bytes, ScalarField>()
  readonly #sources: readonly Source[]

  constructor(definition: IndexDefinition, stem: Stem) {
    this.definition = definition
    this.#sources = definition.fields.map(sourceFor)
    for (const field of definition.fields) {
      if (field.type === 'TEXT') this.#texts.set(field.path, new TextField(analysisOf(field, stem)))
      else this.#scalars.set(field.path, new ScalarField())
      if (field.type === 'FACET') this.#facets.set(field.path, new ScalarField())
    }
  }

  /** Takes in what a key is now; `undefined` when it is no document any more. One that changes keeps its place. */
  put(key: Bytes, document: Document | undefined): void {
    let id = this.#ids.get(key)
    if (document === undefined) {
      if (id !== undefined) this.#remove(key, id)
      return
    }
    if (id === undefined) {
      id = this.#next++
      this.#ids.set(key, id)
      this.#keys.set(id, key)
    }
    for (const source of this.#sources) this.#setField(id, document, source)
  }

  get documentCount(): number {
    return this.#keys.size
  }

  /** All documents, in the order in which they came. */
  get ids(): number[] {
    return [...this.#keys.keys()]
  }

  has(id: number): boolean {
    return this.#keys.has(id)
  }

  keyOf(id: number): Bytes {
    return this.#keys.get(id)!
  }

  text(path: Bytes): TextField {
    return this.#texts.get(path)!
  }

  scalar(path: Bytes): ScalarField {
    return this.#scalars.get(path)!
  }

  /** Where a facet of a filter is looked up. */
  facets(path: Bytes): ScalarField {
    return this.#facets.get(path)!
  }

  /** About how many bytes it takes. */
  get size(): number {
    let size = 0
    for (const key of this.#ids.keys()) size += key.length + 8
    for (const fields of [this.#texts, this.#scalars]) for (const field of fields.values()) size += field.size
    return size
  }

  #setField(id: number, document: Document, source: Source): void {
    const { path, type } = source.field
    if (type === 'TEXT') {
      this.text(path).set(id, textsIn(document, source))
      return
    }
    const scalars = scalarsIn(document, source)
    if (this.scalar(path).set(id, scalars) && type === 'FACET')
      this.facets(path).set(id, [...new Set(listOf(scalars).flatMap(above))])
  }

  #remove(key: Bytes, id: number): void {
    this.#ids.delete(key)
    this.#keys.delete(id)
    for (const field of this.#texts.values()) field.set(id, [])
    for (const fields of [this.#scalars, this.#facets]) for (const field of fields.values()) field.set(id, [])
  }
}

function above(facet: Scalar): string[] {
  return facetsAbove(String(facet))
}
