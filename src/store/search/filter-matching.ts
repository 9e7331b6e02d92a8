import type { Work } from '../../kernel/work.js'
import { compileRegex } from '../values/regex.js'
import type { Content } from './content.js'
import { distanceTo } from './edit-distance.js'
import type { FilterCondition, FilterGroup, SearchFilter } from './filter.js'
import { type FilterEvaluation, type Matches, PhraseMatches } from './phrase.js'
import { countOf, type Postings, type TextField } from './text-field.js'
import { wordScore } from './word-score.js'

/** Units of work for one condition of a filter, before any document is read. */
const unitsPerCondition = 32

export function matchesOf(filter: SearchFilter, search: FilterEvaluation): Matches {
  search.work.charge(unitsPerCondition)
  switch (filter.kind) {
    case 'everything':
      return new All(search.content)
    case 'nothing':
      return none
    case 'any':
      return new Any(
        filter.of.map((part) => matchesOf(part, search)),
        filter.boost,
        search,
      )
    case 'group':
      return groupOf(filter, search)
    default:
      return conditionMatches(filter, search)
  }
}

function groupOf({ required, optional, excluded, boost }: FilterGroup, search: FilterEvaluation): Matches {
  const found = (parts: readonly SearchFilter[]) => parts.map((part) => matchesOf(part, search))
  const wanted = found(required)
  const wished = found(optional)
  if (wanted.length === 0) return new Both([new Any(wished, 1, search)], [], found(excluded), boost, search.work)
  return new Both(wanted, wished, found(excluded), boost, search.work)
}

function conditionMatches(condition: FilterCondition, search: FilterEvaluation): Matches {
  const { content, work } = search
  const { path } = condition.field
  switch (condition.kind) {
    case 'facet':
      return new Among(content.facets(path).having(condition.value))
    case 'within': {
      const { low, high } = condition
      const values = content.scalar(path)
      const isWord = condition.field.type === 'KEYWORD' || condition.field.type === 'BOOL'
      if (isWord && low !== undefined && low === high) return new Among(values.having(low.value))
      work.charge(values.unsorted)
      return {
        atMost: values.countWithin(low, high),
        cost: 2,
        ids: () => {
          work.charge(4 * values.countWithin(low, high))
          return values.idsWithin(low, high)
        },
        has: (id) => values.hasWithin(id, low, high, work),
        score: (id) => (values.hasWithin(id, low, high, work) ? 1 : 0),
      }
    }
    case 'term':
      return termMatches(content.text(path), condition.term, search)
    case 'phrase': {
      const field = content.text(path)
      if (!condition.isPrefix)
        return new PhraseMatches(
          field,
          condition.terms.map((term) => [term]),
          condition.slop,
          search,
        )
      const last = condition.terms.at(-1)!
      const beginnings = termsWhere(field, work, unitsPerTerm, (term) => term.startsWith(last))
      if (condition.terms.length === 1) return termsMatches(beginnings, search)
      const options = [...condition.terms.slice(0, -1).map((term) => [term]), beginnings.map(([term]) => term)]
      return new PhraseMatches(field, options, 0, search)
    }
    case 'fuzzy': {
      return termsMatches(termsWhere(content.text(path), work, unitsPerTerm, distanceTo(condition, work)), search)
    }
    case 'pattern': {
      const field = content.text(path)
      const regex = compileRegex(condition.pattern)!
      const spend = (steps: number): void => work.charge(steps)
      return termsMatches(
        termsWhere(field, work, 8, (term) => regex.test(term, spend)),
        search,
      )
    }
  }
}

/** Units of work for a term that is excluded by its length or first letters. */
const unitsPerTerm = 0.5

/** Returns the terms of a field that satisfy a condition. */
function termsWhere(field: TextField, work: Work, cost: number, holds: (term: string) => boolean): FoundTerm[] {
  work.charge(Math.ceil(cost * field.termCount))
  const found: FoundTerm[] = []
  for (const entry of field.terms) if (holds(entry[0])) found.push(entry)
  return found
}

type FoundTerm = readonly [term: string, postings: Postings]

function termMatches(field: TextField, term: string, { isRanked }: FilterEvaluation): Matches {
  const postings = field.postings(term)
  const score = isRanked ? wordScore(field, postings.size) : () => 1
  return {
    atMost: postings.size,
    cost: 1,
    ids: () => postings.keys(),
    has: (id) => postings.has(id),
    score: (id) => {
      const positions = postings.get(id)
      return positions === undefined ? 0 : score(id, countOf(positions))
    },
  }
}

/**
 * Returns the documents with any of the terms. The number of matching terms does not affect the score. This package
 * chose this rule because exact values have the same rule.
 */
function termsMatches(terms: readonly FoundTerm[], { content, work }: FilterEvaluation): Matches {
  if (terms.length === 1) return new Among(terms[0]![1])
  const found = idsFor(
    sum(terms, ([, { size }]) => size),
    content,
  )
  for (const [, postings] of terms) {
    work.charge(2 + postings.size)
    for (const id of postings.keys()) found.add(id)
  }
  return new Among(found)
}

/** Set of documents, in the order in which they were added. */
interface Ids {
  readonly size: number
  has(id: number): boolean
  add(id: number): void
  keys(): Iterable<number>
}

/**
 * Returns a set for at most this many documents. The result is a bit table if the set may contain a large share of all
 * documents, because a bit table is then much faster than a `Set`.
 */
function idsFor(atMost: number, { end }: Content): Ids {
  return atMost * 16 < end ? new Set() : new IdSet(end)
}

class IdSet implements Ids {
  readonly #isIn: Uint8Array
  readonly #ids: number[] = []

  constructor(end: number) {
    this.#isIn = new Uint8Array(end)
  }

  get size(): number {
    return this.#ids.length
  }

  has(id: number): boolean {
    return this.#isIn[id] === 1
  }

  add(id: number): void {
    if (this.#isIn[id] === 1) return
    this.#isIn[id] = 1
    this.#ids.push(id)
  }

  keys(): Iterable<number> {
    return this.#ids
  }
}

/** Documents in a set, all with the same score. */
class Among implements Matches {
  readonly cost = 1

  constructor(private readonly found: Pick<Postings, 'size' | 'has' | 'keys'>) {}

  get atMost(): number {
    return this.found.size
  }

  ids(): Iterable<number> {
    return this.found.keys()
  }

  has(id: number): boolean {
    return this.found.has(id)
  }

  score(id: number): number {
    return this.found.has(id) ? 1 : 0
  }
}

const none: Matches = new Among(new Set())

class All implements Matches {
  readonly cost = 1

  constructor(private readonly content: Content) {}

  get atMost(): number {
    return this.content.documentCount
  }

  ids(): Iterable<number> {
    return this.content.ids
  }

  has(id: number): boolean {
    return this.content.has(id)
  }

  score(): number {
    return 1
  }
}

/** If a filter has at least this many parts, the documents of all parts and their scores are computed in one pass. */
const manyParts = 8

class Any implements Matches {
  readonly atMost: number
  readonly #cost: number
  #ids: Ids | undefined
  #scores: Map<number, number> | undefined

  constructor(
    private readonly parts: readonly Matches[],
    private readonly boost: number,
    private readonly search: FilterEvaluation,
  ) {
    this.atMost = Math.min(
      sum(parts, ({ atMost }) => atMost),
      search.content.documentCount,
    )
    this.#cost = sum(parts, ({ cost }) => cost) + 1
  }

  get cost(): number {
    return this.#scores === undefined ? this.#cost : 1
  }

  ids(): Iterable<number> {
    if (this.parts.length > manyParts) return this.#all.keys()
    if (this.#ids !== undefined) return this.#ids.keys()
    const { content, work } = this.search
    const found = idsFor(this.atMost, content)
    for (const part of this.parts) {
      work.charge(part.atMost)
      for (const id of part.ids()) found.add(id)
    }
    this.#ids = found
    return found.keys()
  }

  has(id: number): boolean {
    if (this.parts.length > manyParts) return this.#all.has(id)
    return this.#ids?.has(id) ?? hasAny(this.parts, id)
  }

  score(id: number): number {
    if (this.parts.length > manyParts) return this.boost * (this.#all.get(id) ?? 0)
    return this.boost * sum(this.parts, (part) => part.score(id))
  }

  get #all(): ReadonlyMap<number, number> {
    if (this.#scores !== undefined) return this.#scores
    const found = new Map<number, number>()
    for (const part of this.parts) {
      for (const id of part.ids()) {
        this.search.work.charge(2 + part.cost)
        found.set(id, (found.get(id) ?? 0) + part.score(id))
      }
    }
    this.#scores = found
    return found
  }
}

/** Documents that match all required parts and no excluded part. */
class Both implements Matches {
  readonly atMost: number
  readonly cost: number
  readonly #required: readonly Matches[]

  constructor(
    required: readonly Matches[],
    private readonly optional: readonly Matches[],
    private readonly excluded: readonly Matches[],
    private readonly boost: number,
    private readonly work: Work,
  ) {
    this.#required = [...required].sort((a, b) => a.atMost - b.atMost)
    this.atMost = this.#required[0]!.atMost
    const parts = [...required, ...optional, ...excluded]
    // A single part with a boost costs no more than the part itself.
    this.cost = sum(parts, ({ cost }) => cost) + (parts.length === 1 ? 0 : 1)
  }

  ids(): Iterable<number> {
    const [first, ...rest] = this.#required
    if (rest.length === 0 && this.excluded.length === 0) return first!.ids()
    const cost = sum([...rest, ...this.excluded], (part) => part.cost) + 1
    const found: number[] = []
    for (const id of first!.ids()) {
      this.work.charge(cost)
      if (hasAll(rest, id) && !hasAny(this.excluded, id)) found.push(id)
    }
    return found
  }

  has(id: number): boolean {
    return hasAll(this.#required, id) && !hasAny(this.excluded, id)
  }

  score(id: number): number {
    const [first, ...rest] = this.#required
    const isAlone = rest.length === 0 && this.excluded.length === 0
    if (isAlone && this.optional.length === 0) return this.boost * first!.score(id)
    if (!this.has(id)) return 0
    const required = sum(this.#required, (part) => part.score(id))
    return this.boost * (required + sum(this.optional, (part) => part.score(id)))
  }
}

// Loops instead of array methods, because a search spends most of its time here.

function hasAll(parts: readonly Matches[], id: number): boolean {
  for (let at = 0; at < parts.length; at++) if (!parts[at]!.has(id)) return false
  return true
}

function hasAny(parts: readonly Matches[], id: number): boolean {
  for (let at = 0; at < parts.length; at++) if (parts[at]!.has(id)) return true
  return false
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  let total = 0
  for (const item of items) total += of(item)
  return total
}
