import type { Analyse } from './analysis.js'
import { maxSlop } from './field-operators.js'

/** Word numbers at which a term occurs in one document: a single number, or several in ascending order. */
export type Positions = number | readonly number[]

/** Documents that contain a term, with the positions of the term. */
export interface Postings {
  readonly size: number
  has(id: number): boolean
  get(id: number): Positions | undefined
  keys(): Iterable<number>
}

/**
 * Term with its postings. Most terms of a large text occur in only one document. Separate maps for all these terms
 * would use most of the memory.
 */
class Term implements Postings {
  /** The only document, or -1 for none. */
  #id = -1
  #positions: number | number[] = 0
  /** Documents with their positions, if there are several. */
  #all: Map<number, number | number[]> | undefined
  /** Number of the latest reading in which the term occurred. */
  reading = 0

  constructor(readonly text: string) {}

  get size(): number {
    return this.#all?.size ?? (this.#id === -1 ? 0 : 1)
  }

  has(id: number): boolean {
    return this.#all === undefined ? this.#id === id : this.#all.has(id)
  }

  get(id: number): number | number[] | undefined {
    if (this.#all !== undefined) return this.#all.get(id)
    return this.#id === id ? this.#positions : undefined
  }

  keys(): Iterable<number> {
    return this.#all?.keys() ?? (this.#id === -1 ? [] : [this.#id])
  }

  set(id: number, positions: number | number[]): void {
    if (this.#all === undefined && this.#id !== -1 && this.#id !== id) {
      this.#all = new Map([[this.#id, this.#positions]])
      this.#positions = 0
    }
    if (this.#all !== undefined) this.#all.set(id, positions)
    else {
      this.#id = id
      this.#positions = positions
    }
  }

  delete(id: number): void {
    if (this.#all !== undefined) this.#all.delete(id)
    else if (this.#id === id) {
      this.#id = -1
      this.#positions = 0
    }
  }
}

const unitsPerWord = 4
const unitsPerTerm = 12
const unitsPerNewTerm = 50

/** Part of the indexing of a long text. Returns the units of work that were done. */
export type IndexingStep = () => number

/** Characters of a text that are read in one step. */
const perStep = 16_384
/** Words consist of letters, marks and digits: a text can be split at any other character. */
const notInWord = /[^\p{Alphabetic}\p{M}\p{N}]/gu

/** Indexed texts of one document, for comparing and removing them. */
interface IndexedText {
  readonly texts: readonly string[]
  readonly terms: readonly Term[]
  readonly length: number
}

/** Document whose texts are being read. */
interface Reading {
  readonly id: number
  /** Counts the readings of a field. A term whose reading has another number did not occur yet. */
  readonly number: number
  readonly terms: Term[]
  /** Number of the next word. */
  at: number
  /** Number of words so far. */
  length: number
}

/** Terms of one TEXT field with their documents. */
export class TextField {
  readonly analyse: Analyse
  readonly #isDivisible: boolean
  readonly #terms = new Map<string, Term>()
  readonly #documents = new Map<number, IndexedText>()
  #words = 0
  #readings = 0
  /** Estimated size in bytes. */
  size = 0

  /** @param isDivisible whether a text consists of words, instead of being one term */
  constructor(analyse: Analyse, isDivisible: boolean) {
    this.analyse = analyse
    this.#isDivisible = isDivisible
  }

  /**
   * Replaces a document's texts. Several texts are concatenated with a gap between them.
   * @param later called with each remaining step for a long text. The document is incomplete until all steps have run.
   * @returns units of work that were done
   */
  set(id: number, texts: readonly string[], later: (step: IndexingStep) => void): number {
    const before = this.#documents.get(id)
    let units = 0
    if (before !== undefined) {
      if (isSame(before.texts, texts)) return unitsPerWord
      units += unitsPerTerm * before.terms.length
    }
    const reading: Reading = { id, number: ++this.#readings, at: 0, length: 0, terms: [] }
    if (texts.length > 0 && sizeOfAll(texts) <= perStep) {
      units += this.#readAll(texts, reading)
      // Terms that occur in both texts keep their place in the tables, which would otherwise shrink and grow each time.
      if (before !== undefined) this.#remove(before, reading)
      return units + this.#keep(texts, reading)
    }
    if (before !== undefined) {
      this.#remove(before, reading)
      this.#documents.delete(id)
    }
    if (texts.length === 0) return units
    let short: string[] = []
    let size = 0
    for (const text of texts) {
      const pieces = this.#isDivisible ? piecesOf(text) : [text]
      size += sizeOf(text)
      if (pieces.length === 1) short.push(text)
      if (size <= perStep) continue
      const before = short
      later(() => this.#readAll(before, reading))
      ;[short, size] = [[], 0]
      if (pieces.length === 1) continue
      for (const piece of pieces) later(() => this.#read(piece, reading))
      // Adds the gap after the long text.
      later(() => this.#readAll([''], reading))
    }
    later(() => this.#readAll(short, reading) + this.#keep(texts, reading))
    return units
  }

  #readAll(texts: readonly string[], reading: Reading): number {
    let units = 0
    for (const text of texts) {
      units += this.#read(text, reading)
      reading.at += gap
    }
    return units
  }

  #read(text: string, reading: Reading): number {
    const { terms } = reading
    const lengthBefore = reading.length
    const termsBefore = terms.length
    const sizeBefore = this.#terms.size
    this.analyse(text, (word) => {
      const term = this.#term(word)
      if (this.#add(term, reading)) terms.push(term)
      reading.at++
      reading.length++
    })
    const units = unitsPerWord * (reading.length - lengthBefore) + unitsPerTerm * (terms.length - termsBefore)
    return units + unitsPerNewTerm * (this.#terms.size - sizeBefore)
  }

  #keep(texts: readonly string[], { id, terms, length }: Reading): number {
    // The copy has no unused capacity: an array that grew from nothing has room for 17 terms.
    this.#documents.set(id, { texts, terms: terms.slice(), length })
    this.#words += length
    return 0
  }

  #term(text: string): Term {
    let term = this.#terms.get(text)
    if (term === undefined) {
      term = new Term(text)
      this.#terms.set(text, term)
    }
    return term
  }

  /** Adds a position of a term. Returns whether the term is new in this reading; earlier positions are then replaced. */
  #add(term: Term, { id, number, at }: Reading): boolean {
    this.size += 4
    if (term.reading !== number) {
      term.reading = number
      term.set(id, at)
      this.size += term.text.length
      return true
    }
    // Most words occur once, and a list for each such word would use most of the memory.
    const known = term.get(id)!
    if (typeof known === 'number') term.set(id, [known, at])
    else known.push(at)
    return false
  }

  /** Removes the earlier terms of a document that did not occur again. The caller replaces or deletes its entry. */
  #remove({ terms, length }: IndexedText, { id, number }: Reading): void {
    this.#words -= length
    this.size -= 4 * length
    for (const term of terms) {
      this.size -= term.text.length
      if (term.reading === number) continue
      term.delete(id)
      if (term.size === 0) this.#terms.delete(term.text)
    }
  }

  postings(term: string): Postings {
    return this.#terms.get(term) ?? none
  }

  /** Terms that occur in any document, with their documents. */
  get terms(): Iterable<readonly [text: string, postings: Postings]> {
    return this.#terms
  }

  get termCount(): number {
    return this.#terms.size
  }

  /** Number of documents with the field. */
  get documentCount(): number {
    return this.#documents.size
  }

  /** Returns the number of words of the field in a document. */
  lengthOf(id: number): number {
    return this.#documents.get(id)?.length ?? 0
  }

  get averageLength(): number {
    return this.#documents.size === 0 ? 0 : this.#words / this.#documents.size
  }
}

/** Gap in words between two elements of a list. A phrase with any slop never has words of two elements. */
const gap = maxSlop + 1

const none: Postings = new Map<number, Positions>()

export function countOf(positions: Positions): number {
  return typeof positions === 'number' ? 1 : positions.length
}

/** Returns the characters that a text counts as: a short text also costs time. */
function sizeOf(text: string): number {
  return text.length + 8
}

function sizeOfAll(texts: readonly string[]): number {
  let size = 0
  for (const text of texts) size += sizeOf(text)
  return size
}

/** Splits a text into parts without splitting a word. */
function piecesOf(text: string): string[] {
  const pieces: string[] = []
  let from = 0
  while (text.length - from > perStep) {
    notInWord.lastIndex = from + perStep
    const end = notInWord.exec(text)?.index
    if (end === undefined) break
    pieces.push(text.slice(from, end))
    from = end
  }
  pieces.push(text.slice(from))
  return pieces
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, at) => text === others[at])
}
