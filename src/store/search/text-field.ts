import type { Analyse } from './analysis.js'

/** Where a term stands in one document: the number of its word, or of its words in order. */
export type Positions = number | readonly number[]

/** Which documents have a term, and where. */
export type Postings = ReadonlyMap<number, Positions>

interface Term {
  readonly text: string
  readonly postings: Map<number, number | number[]>
}

/** What is known of one document, to be compared and taken out again. */
interface Known {
  readonly texts: readonly string[]
  readonly terms: readonly Term[]
  readonly length: number
}

/** The terms of one TEXT field, and who has them. */
export class TextField {
  readonly analyse: Analyse
  readonly #terms = new Map<string, Term>()
  readonly #documents = new Map<number, Known>()
  #words = 0
  /** About how many bytes it takes. */
  size = 0

  constructor(analyse: Analyse) {
    this.analyse = analyse
  }

  /** Puts a document's texts in the place of those that it had. Several are one after the other, with a gap in between. */
  set(id: number, texts: readonly string[]): void {
    const before = this.#documents.get(id)
    if (before !== undefined) {
      if (isSame(before.texts, texts)) return
      this.#remove(id, before)
    }
    if (texts.length === 0) return
    const terms: Term[] = []
    let at = 0
    let length = 0
    for (const text of texts) {
      this.analyse(text, (word) => {
        const term = this.#term(word)
        if (this.#add(term, id, at)) terms.push(term)
        at++
        length++
      })
      at += gap
    }
    this.#documents.set(id, { texts, terms, length })
    this.#words += length
  }

  #term(text: string): Term {
    let term = this.#terms.get(text)
    if (term === undefined) {
      term = { text, postings: new Map() }
      this.#terms.set(text, term)
    }
    return term
  }

  /** Returns whether the document did not have the term before. */
  #add({ text, postings }: Term, id: number, at: number): boolean {
    const known = postings.get(id)
    // Most words are said once: a list for each of them would be most of the memory.
    if (known === undefined) postings.set(id, at)
    else if (typeof known === 'number') postings.set(id, [known, at])
    else known.push(at)
    this.size += known === undefined ? text.length + 4 : 4
    return known === undefined
  }

  #remove(id: number, { terms, length }: Known): void {
    this.#documents.delete(id)
    this.#words -= length
    this.size -= 4 * length
    for (const { text, postings } of terms) {
      this.size -= text.length
      postings.delete(id)
      if (postings.size === 0) this.#terms.delete(text)
    }
  }

  postings(term: string): Postings {
    return this.#terms.get(term)?.postings ?? none
  }

  /** Every term that some document has. */
  get terms(): Iterable<string> {
    return this.#terms.keys()
  }

  get termCount(): number {
    return this.#terms.size
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

/** How often a term is said. */
export function countOf(positions: Positions): number {
  return typeof positions === 'number' ? 1 : positions.length
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, at) => text === others[at])
}
