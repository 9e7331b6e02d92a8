import type { Work } from '../../kernel/work.js'
import type { Content } from './content.js'

import type { Positions, Postings, TextField } from './text-field.js'

type Places = readonly number[]

import { phraseScore } from './word-score.js'

/** Documents that match a filter. A document is only checked when `ids()` or `score()` reaches it. */
export interface Matches {
  /**
   * Maximum number of documents. Of several parts of a filter, the part with the fewest documents is evaluated first.
   */
  readonly atMost: number
  /** Units of work for checking one document. */
  readonly cost: number
  /** Returns each document once, in any order. */
  ids(): Iterable<number>
  has(id: number): boolean
  /** Returns the score of a document; 0 if it does not match. */
  score(id: number): number
}

export interface FilterEvaluation {
  readonly content: Content
  readonly work: Work
  /** Whether the scores of words are computed. Otherwise each word has the score 1. */
  readonly isRanked: boolean
}

/**
 * Documents that contain terms in sequence. With slop, each term may be moved. The cost of a match is the largest move
 * minus the smallest one. A word between two terms therefore costs 1, and two swapped terms cost 2. This package chose
 * the cost of other orders; public sources leave it open. [search.md 12]
 */
export class PhraseMatches implements Matches {
  readonly atMost: number
  /** Units of work for one check. Comparing positions is charged in addition, during the check. */
  readonly cost = 1
  /**
   * Postings of the term at each position of the phrase. If the last term is a prefix, the postings of all terms with
   * this prefix are merged.
   */
  readonly #places: readonly Postings[]
  /** Number of documents for each position, from which the score is computed. */
  readonly #counts: readonly number[]
  /**
   * How often the term at each position occurs in the phrase. A document needs as many occurrences, because one word
   * cannot match two positions.
   */
  readonly #wanted: readonly number[]
  readonly #isRepeating: boolean
  readonly #slop: number
  readonly #search: FilterEvaluation
  readonly #score: (id: number, count: number) => number

  constructor(field: TextField, terms: readonly (readonly string[])[], slop: number, search: FilterEvaluation) {
    search.work.charge(8 * terms.length)
    const times = new Map<string, number>()
    for (const [term] of terms) times.set(term!, (times.get(term!) ?? 0) + 1)
    this.#wanted = terms.map(([term]) => times.get(term!)!)
    this.#isRepeating = times.size < terms.length
    this.#slop = slop
    this.#search = search
    const all = terms.map((options) => options.map((term) => field.postings(term)))
    this.#counts = all.map((options) => options.reduce((sum, { size }) => sum + size, 0))
    this.#places = all.map((options) => (options.length === 1 ? options[0]! : merged(options, search.work)))
    this.atMost = this.#counts.reduce((one, other) => Math.min(one, other))
    this.#score = search.isRanked ? phraseScore(field, this.#counts) : () => 1
  }

  *ids(): Iterable<number> {
    const rarest = this.#places[this.#counts.indexOf(this.atMost)]!
    for (const id of rarest.keys()) if (this.has(id)) yield id
  }

  has(id: number): boolean {
    return this.#occurrences(id) > 0
  }

  score(id: number): number {
    const count = this.#occurrences(id)
    return count === 0 ? 0 : this.#score(id, count)
  }

  #occurrences(id: number): number {
    const { work } = this.#search
    // Smallest and largest move of the terms, if each term occurs once.
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    let areSingle = true
    for (let at = 0; at < this.#places.length; at++) {
      work.charge(1)
      const positions = this.#places[at]!.get(id)
      if (positions === undefined) return 0
      if (typeof positions !== 'number') {
        areSingle = false
        break
      }
      if (positions - at < least) least = positions - at
      if (positions - at > most) most = positions - at
    }
    if (areSingle) return most - least <= this.#slop && !(this.#isRepeating && this.#slop > 0) ? 1 : 0
    const places: Places[] = []
    for (const postings of this.#places) {
      work.charge(4)
      const positions = listed(postings.get(id))
      if (positions.length === 0) return 0
      places.push(positions)
      work.charge(positions.length >>> 1)
    }
    return this.#slop === 0 ? countAdjacent(places) : this.#countNear(places)
  }

  #countNear(places: readonly Places[]): number {
    for (let at = 0; at < places.length; at++) if (places[at]!.length < this.#wanted[at]!) return 0
    // Advances the list whose position is the smallest, counted from the start of the phrase.
    const next = places.map(() => 0)
    let count = 0
    for (;;) {
      let least = Number.POSITIVE_INFINITY
      let most = Number.NEGATIVE_INFINITY
      let behind = 0
      for (let at = 0; at < places.length; at++) {
        const start = places[at]![next[at]!]! - at
        if (start < least) [least, behind] = [start, at]
        if (start > most) most = start
      }
      if (most - least <= this.#slop) count++
      this.#search.work.charge(places.length)
      next[behind]!++
      if (next[behind]! >= places[behind]!.length) return count
    }
  }
}

function listed(positions: Positions | undefined): Places {
  if (positions === undefined) return nowhere
  return typeof positions === 'number' ? [positions] : positions
}

const nowhere: Places = []

/** Returns the positions of any of several terms. */
function merged(options: readonly Postings[], work: Work): Postings {
  const all = new Map<number, number[]>()
  for (const postings of options) {
    work.charge(8 * (1 + postings.size))
    for (const id of postings.keys()) {
      const places = listed(postings.get(id))
      work.charge(places.length)
      const known = all.get(id)
      if (known === undefined) all.set(id, [...places])
      else for (const place of places) known.push(place)
    }
  }
  for (const places of all.values()) places.sort((a, b) => a - b)
  return all
}

function countAdjacent([first, ...rest]: readonly Places[]): number {
  const next = rest.map(() => 0)
  let count = 0
  for (const start of first!) {
    let isWhole = true
    for (let at = 0; at < rest.length && isWhole; at++) {
      const positions = rest[at]!
      while (next[at]! < positions.length && positions[next[at]!]! < start + at + 1) next[at]!++
      isWhole = positions[next[at]!] === start + at + 1
    }
    if (isWhole) count++
  }
  return count
}
