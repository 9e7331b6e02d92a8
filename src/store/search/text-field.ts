import type { Analyse } from './analysis.js'

/** Where a term stands in one document: the number of its word, in order. */
export type Positions = readonly number[]

/** Which documents have a term, and where. */
export type Postings = ReadonlyMap<number, Positions>

/** The terms of one TEXT field, and who has them. */
export class TextField {
  readonly analyse: Analyse
  readonly #postings = new Map<string, Map<number, number[]>>()
  /** The terms of each document, to be taken out again, and how many words it has. */
  readonly #documents = new Map<number, { readonly terms: readonly string[]; readonly length: number }>()
  #words = 0
  /** About how many bytes it takes. */
  size = 0

  constructor(analyse: Analyse) {
    this.analyse = analyse
  }

  /** Several texts are one after the other, with a gap that no phrase crosses. */
  add(id: number, texts: readonly string[]): void {
    const positions = new Map<string, number[]>()
    let at = 0
    let length = 0
    for (const text of texts) {
      for (const { term } of this.analyse(text)) {
        const known = positions.get(term)
        if (known === undefined) positions.set(term, [at])
        else known.push(at)
        at++
        length++
      }
      at += gap
    }
    for (const [term, places] of positions) {
      const known = this.#postings.get(term)
      if (known === undefined) this.#postings.set(term, new Map([[id, places]]))
      else known.set(id, places)
      this.size += term.length + 4 * places.length
    }
    this.#documents.set(id, { terms: [...positions.keys()], length })
    this.#words += length
  }

  remove(id: number): void {
    const document = this.#documents.get(id)
    if (document === undefined) return
    this.#documents.delete(id)
    this.#words -= document.length
    for (const term of document.terms) {
      const postings = this.#postings.get(term)!
      this.size -= term.length + 4 * postings.get(id)!.length
      postings.delete(id)
      if (postings.size === 0) this.#postings.delete(term)
    }
  }

  postings(term: string): Postings {
    return this.#postings.get(term) ?? none
  }

  /** Every term that some document has. */
  get terms(): Iterable<string> {
    return this.#postings.keys()
  }

  get termCount(): number {
    return this.#postings.size
  }

  /** How many documents have the field. */
  get documentCount(): number {
    return this.#documents.size
  }

  /** Words of the field in a document. */
  lengthOf(id: number): number {
    return this.#documents.get(id)?.length ?? 0
  }

  get averageLength(): number {
    return this.#documents.size === 0 ? 0 : this.#words / this.#documents.size
  }
}

/** Words between two elements of a list. [choice] */
const gap = 100

const none: Postings = new Map()
