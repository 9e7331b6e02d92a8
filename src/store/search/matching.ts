import type { Work } from '../../kernel/work.js'
import { compileRegex } from '../values/json-regex.js'
import type { Content } from './content.js'
import { distanceTo } from './edit-distance.js'
import type { Condition, Filter, Group } from './filter.js'
import { PhraseMatches } from './phrase.js'
import { countOf, type Postings, type TextField } from './text-field.js'
import { wordScore } from './word-score.js'

/** The documents that a filter finds, not yet looked at one by one. */
export interface Matches {
  /** How many there are at most: the fewest are looked at first. */
  readonly atMost: number
  /** Units of work of one look. */
  readonly cost: number
  /** Each once, in any order. */
  ids(): Iterable<number>
  has(id: number): boolean
  /** Of a document that it has. */
  score(id: number): number
}

/** What the whole filter is evaluated with. */
export interface Search {
  readonly content: Content
  readonly work: Work
  /** How the score of a word comes about; without it each is worth 1. */
  readonly isRanked: boolean
}

/** Units of work of one condition of a filter, before a document is looked at. */
const unitsPerCondition = 64

export function matchesOf(filter: Filter, search: Search): Matches {
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
        search.work,
      )
    case 'group':
      return groupOf(filter, search)
    default:
      return conditionMatches(filter, search)
  }
}

function groupOf({ required, optional, excluded, boost }: Group, search: Search): Matches {
  const found = (parts: readonly Filter[]) => parts.map((part) => matchesOf(part, search))
  const wanted = found(required)
  const wished = found(optional)
  if (wanted.length === 0) return new Both([new Any(wished, 1, search.work)], [], found(excluded), boost, search.work)
  return new Both(wanted, wished, found(excluded), boost, search.work)
}

function conditionMatches(condition: Condition, search: Search): Matches {
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
        has: (id) => values.hasWithin(id, low, high),
        score: () => 1,
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
      const beginnings = termsWhere(field, work, 1, (term) => term.startsWith(last))
      const options = [...condition.terms.slice(0, -1).map((term) => [term]), beginnings]
      return options.length === 1 ? termsMatches(field, beginnings, work) : new PhraseMatches(field, options, 0, search)
    }
    case 'fuzzy': {
      const field = content.text(path)
      const isNear = distanceTo(condition)
      return termsMatches(field, termsWhere(field, work, 2 + condition.term.length, isNear), work)
    }
    case 'pattern': {
      const field = content.text(path)
      const regex = compileRegex(condition.pattern)!
      const spend = (steps: number): void => work.charge(steps)
      return termsMatches(
        field,
        termsWhere(field, work, 8, (term) => regex.test(term, spend)),
        work,
      )
    }
  }
}

/** The terms of a field for which something holds. */
function termsWhere(field: TextField, work: Work, cost: number, holds: (term: string) => boolean): string[] {
  work.charge(cost * field.termCount)
  const found: string[] = []
  for (const term of field.terms) if (holds(term)) found.push(term)
  return found
}

function termMatches(field: TextField, term: string, { isRanked }: Search): Matches {
  const postings = field.postings(term)
  const score = isRanked ? wordScore(field, postings.size) : () => 1
  return {
    atMost: postings.size,
    cost: 1,
    ids: () => postings.keys(),
    has: (id) => postings.has(id),
    score: (id) => score(id, countOf(postings.get(id)!)),
  }
}

/** Who has any of some terms. How many of them makes no difference to the score. [choice: as for exact values] */
function termsMatches(field: TextField, terms: readonly string[], work: Work): Matches {
  if (terms.length === 1) return new Among(field.postings(terms[0]!))
  const found = new Set<number>()
  for (const term of terms) {
    const postings = field.postings(term)
    work.charge(2 * postings.size)
    for (const id of postings.keys()) found.add(id)
  }
  return new Among(found)
}

/** Who is in a set; each is worth the same. */
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

  score(): number {
    return 1
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

/** From so many parts on it is found out for all documents at once who has any of them. */
const manyParts = 8

class Any implements Matches {
  readonly atMost: number
  readonly #cost: number
  /** Everybody who has any of them, with what it is worth. */
  #found: Map<number, number> | undefined

  constructor(
    private readonly parts: readonly Matches[],
    private readonly boost: number,
    private readonly work: Work,
  ) {
    this.atMost = sum(parts, ({ atMost }) => atMost)
    this.#cost = sum(parts, ({ cost }) => cost) + 1
  }

  get cost(): number {
    return this.#found === undefined ? this.#cost : 1
  }

  ids(): Iterable<number> {
    return this.#all.keys()
  }

  has(id: number): boolean {
    if (this.#found !== undefined || this.parts.length > manyParts) return this.#all.has(id)
    return hasAny(this.parts, id)
  }

  score(id: number): number {
    if (this.#found !== undefined) return this.boost * this.#found.get(id)!
    return this.boost * sum(this.parts, (part) => (part.has(id) ? part.score(id) : 0))
  }

  get #all(): ReadonlyMap<number, number> {
    if (this.#found !== undefined) return this.#found
    const found = new Map<number, number>()
    for (const part of this.parts) {
      for (const id of part.ids()) {
        this.work.charge(2 + part.cost)
        found.set(id, (found.get(id) ?? 0) + part.score(id))
      }
    }
    this.#found = found
    return found
  }
}

/** All of what is required, none of what is excluded. */
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
    this.cost = sum([...required, ...optional, ...excluded], ({ cost }) => cost) + 1
  }

  ids(): Iterable<number> {
    const [first, ...rest] = this.#required
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
    const required = sum(this.#required, (part) => part.score(id))
    return this.boost * (required + sum(this.optional, (part) => (part.has(id) ? part.score(id) : 0)))
  }
}

// Loops, because they are what a search spends its time with.

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
