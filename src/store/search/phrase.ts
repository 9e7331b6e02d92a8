import type { Matches, Search } from './matching.js'
import type { Positions, Postings, TextField } from './text-field.js'

type Places = readonly number[]

import { phraseScore } from './word-score.js'

/**
 * Documents in which terms stand one after the other. With slop each may be moved: what matters is how far the first and
 * the last of the moved ones are apart, so that words in between cost 1 each, and two that are swapped cost 2. [search.md
 * 12; other orders: choice]
 */
export class PhraseMatches implements Matches {
  readonly atMost: number
  readonly cost: number
  /** For each place of the phrase the terms that may stand there. */
  readonly #places: readonly (readonly Postings[])[]
  readonly #terms: readonly (readonly string[])[]
  readonly #slop: number
  readonly #search: Search
  readonly #score: (id: number, count: number) => number

  constructor(field: TextField, terms: readonly (readonly string[])[], slop: number, search: Search) {
    search.work.charge(8 * terms.reduce((sum, options) => sum + options.length, 0))
    this.#terms = terms
    this.#slop = slop
    this.#search = search
    this.#places = terms.map((options) => options.map((term) => field.postings(term)))
    const counts = this.#places.map(countOf)
    this.atMost = Math.min(...counts)
    this.cost = 4 * this.#places.reduce((sum, options) => sum + options.length, 0)
    this.#score = search.isRanked ? phraseScore(field, counts) : () => 1
  }

  *ids(): Iterable<number> {
    const rarest = this.#places.reduce((one, other) => (countOf(other) < countOf(one) ? other : one))
    const seen = rarest.length > 1 ? new Set<number>() : undefined
    for (const postings of rarest) {
      for (const id of postings.keys()) {
        if (seen?.has(id)) continue
        seen?.add(id)
        if (this.has(id)) yield id
      }
    }
  }

  has(id: number): boolean {
    return this.#occurrences(id) > 0
  }

  score(id: number): number {
    return this.#score(id, this.#occurrences(id))
  }

  #occurrences(id: number): number {
    const places: Places[] = []
    for (const options of this.#places) {
      this.#search.work.charge(options.length)
      const positions = options.length === 1 ? listed(options[0]!.get(id)) : merged(options, id)
      if (positions.length === 0) return 0
      places.push(positions)
      this.#search.work.charge(positions.length >>> 1)
    }
    return this.#slop === 0 ? countAdjacent(places) : this.#countNear(places)
  }

  #countNear(places: readonly Places[]): number {
    // One word cannot stand for two.
    const wanted = new Map<string, number>()
    for (const [term] of this.#terms) wanted.set(term!, (wanted.get(term!) ?? 0) + 1)
    for (const [at, [term]] of this.#terms.entries()) if (places[at]!.length < wanted.get(term!)!) return 0
    // How far each is from where the phrase would begin: the list that is behind moves on.
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

function countOf(options: readonly Postings[]): number {
  return options.reduce((sum, { size }) => sum + size, 0)
}

function listed(positions: Positions | undefined): Places {
  if (positions === undefined) return nowhere
  return typeof positions === 'number' ? [positions] : positions
}

const nowhere: Places = []

function merged(options: readonly Postings[], id: number): Places {
  const all: number[] = []
  for (const postings of options) for (const position of listed(postings.get(id))) all.push(position)
  return all.sort((a, b) => a - b)
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
