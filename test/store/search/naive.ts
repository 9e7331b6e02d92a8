import { stemEnglish } from '../../../src/store/search/english.js'

// Second implementation of search.md, sections 11 and 12. It checks every document for every filter and shares only the
// stems with the search engine, which have separate tests. Regular expressions are those of JavaScript.

export interface Field {
  readonly path: string
  readonly type: 'TEXT' | 'KEYWORD' | 'U64' | 'F64' | 'BOOL' | 'DATE' | 'FACET'
  readonly noStem?: boolean
  readonly noTokenize?: boolean
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }
type JsonObject = { readonly [name: string]: Json }

function leaves(document: Json | undefined, path: string): Json[] {
  const [name, ...rest] = path.split('.')
  if (Array.isArray(document)) return document.flatMap((each) => leaves(each, path))
  if (document === null || typeof document !== 'object') return []
  const member = (document as JsonObject)[name!]
  if (member === undefined) return []
  if (rest.length > 0) return leaves(member, rest.join('.'))
  return Array.isArray(member) ? member.flat(Number.POSITIVE_INFINITY) : [member]
}

function words(text: string, field: Field): string[] {
  if (field.noTokenize) return [text]
  return text
    .split(/[^\p{Alphabetic}\p{M}\p{N}]+/u)
    .filter(Boolean)
    .map((word) => (field.noStem ? word.toLowerCase() : stemEnglish(word.toLowerCase())))
}

/** Returns the restricted edit distance by its recursive definition. */
function edits(a: string, b: string, swap: number): number {
  const known = new Map<string, number>()
  const of = (i: number, j: number): number => {
    const name = `${i},${j}`
    const seen = known.get(name)
    if (seen !== undefined) return seen
    let least = i === 0 ? j : j === 0 ? i : Number.POSITIVE_INFINITY
    if (i > 0 && j > 0) {
      least = Math.min(of(i - 1, j) + 1, of(i, j - 1) + 1, of(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, of(i - 2, j - 2) + swap)
    }
    known.set(name, least)
    return least
  }
  return of(a.length, b.length)
}

function isNear(word: string, asked: string, distance: number, swap: number, prefix: boolean): boolean {
  if (!prefix) return edits(word, asked, swap) <= distance
  for (let end = 0; end <= word.length; end++) if (edits(word.slice(0, end), asked, swap) <= distance) return true
  return false
}

/** Returns whether words are this near to each other, by trying all positions. */
function stand(text: readonly string[], asked: readonly string[], slop: number, prefix: boolean): boolean {
  const fits = (word: string, at: number) =>
    prefix && at === asked.length - 1 ? word.startsWith(asked[at]!) : word === asked[at]
  for (const word of new Set(asked)) {
    if (slop > 0 && text.filter((one) => one === word).length < asked.filter((one) => one === word).length) return false
  }
  const choose = (at: number, least: number, most: number): boolean => {
    if (most - least > slop) return false
    if (at === asked.length) return true
    return text.some(
      (word, place) => fits(word, at) && choose(at + 1, Math.min(least, place - at), Math.max(most, place - at)),
    )
  }
  return choose(0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)
}

export class Naive {
  constructor(private readonly fields: readonly Field[]) {}

  finds(document: JsonObject, filter: JsonObject): boolean {
    const required: boolean[] = []
    let should: boolean[] | undefined
    let excluded: boolean[] | undefined
    for (const [name, value] of Object.entries(filter)) {
      if (name === '$boost') continue
      if (name === '$must' || name === '$and') required.push(...this.#each(document, value))
      else if (name === '$or') required.push(this.#each(document, value).some(Boolean))
      else if (name === '$should') should = this.#each(document, value)
      else if (name === '$mustNot') excluded = this.#each(document, value)
      else required.push(this.#field(document, name, value))
    }
    const says = (word: string) => Object.hasOwn(filter, word)
    const wantsAny = Object.keys(filter).some((name) => !['$should', '$mustNot', '$boost'].includes(name))
    if (excluded !== undefined && !wantsAny && !says('$should')) return false
    if (excluded?.some(Boolean)) return false
    if (should !== undefined && !wantsAny) return should.some(Boolean)
    return required.every(Boolean)
  }

  #each(document: JsonObject, value: Json): boolean[] {
    if (Array.isArray(value)) return value.map((one) => this.finds(document, one as JsonObject))
    return Object.entries(value as JsonObject)
      .filter(([name]) => name !== '$boost')
      .map(([name, one]) => this.finds(document, { [name]: one }))
  }

  #field(document: JsonObject, path: string, value: Json): boolean {
    const field = this.fields.find((one) => one.path === path)!
    const found = leaves(document, path)
    const isPlain = value === null || typeof value !== 'object' || Array.isArray(value)
    const operators = Object.entries((isPlain ? { $smart: value } : value) as JsonObject).filter(
      ([name]) => name !== '$boost',
    )
    const bounds = operators.filter(([name]) => /^\$[gl]te?$/.test(name))
    const others = operators.filter(([name]) => !/^\$[gl]te?$/.test(name))
    const within = (one: Json) => bounds.every(([name, bound]) => compares(name, field, one, bound))
    if (bounds.length > 0 && !found.some(within)) return false
    return others.every(([name, asked]) => this.#operator(field, found, name, asked))
  }

  #operator(field: Field, found: readonly Json[], operator: string, asked: Json): boolean {
    if (operator === '$in') return (asked as Json[]).some((one) => this.#operator(field, found, '$eq', one))
    if (field.type !== 'TEXT') return found.some((one) => equals(field, one, asked))
    const texts = found.filter((one) => typeof one === 'string').map((one) => words(one, field))
    const all = texts.flat()
    const value = (typeof asked === 'string' ? asked : (asked as JsonObject).value) as string
    const given = (typeof asked === 'string' ? {} : asked) as Record<string, Json>
    if (operator === '$regex') {
      return all.some((one) => new RegExp(`^(?:${value})$`, field.noTokenize ? 'su' : 'isu').test(one))
    }
    const wanted = words(value, field)
    if (wanted.length === 0) return false
    const near = (word: string, distance: number, swap: number, prefix: boolean) =>
      all.some((one) => isNear(one, word, distance, swap, prefix))
    switch (operator) {
      case '$eq':
        return texts.some((text) => stand(text, wanted, 0, false))
      case '$phrase':
        return texts.some((text) => stand(text, wanted, (given.slop as number) ?? 0, given.prefix === true))
      case '$fuzzy':
        return wanted.every((word) =>
          near(
            word,
            (given.distance as number) ?? 1,
            given.transpositionCostOne === false ? 2 : 1,
            given.prefix === true,
          ),
        )
      default: {
        if (field.noTokenize) return all.includes(value)
        if (/^".*"$/s.test(value)) return texts.some((text) => stand(text, words(value.slice(1, -1), field), 0, false))
        const last = wanted.at(-1)!
        return (
          wanted.some((word) => near(word, word.length < 3 ? 0 : 1, 1, false)) ||
          near(last, last.length < 3 ? 0 : 1, 1, true)
        )
      }
    }
  }
}

function isOf(field: Field, value: Json): boolean {
  switch (field.type) {
    case 'U64':
      return typeof value === 'number' && Number.isInteger(value) && value >= 0
    case 'F64':
      return typeof value === 'number'
    case 'BOOL':
      return typeof value === 'boolean'
    case 'DATE':
      return typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(Date.parse(value))
    case 'FACET':
      return typeof value === 'string' && value.startsWith('/')
    default:
      return typeof value === 'string'
  }
}

function equals(field: Field, one: Json, asked: Json): boolean {
  if (!isOf(field, one)) return false
  if (field.type === 'DATE') return Date.parse(one as string) === Date.parse(asked as string)
  if (field.type !== 'FACET') return one === asked
  const parts = (path: string) => path.split('/').filter(Boolean)
  return parts(asked as string).every((part, at) => parts(one as string)[at] === part)
}

function compares(operator: string, field: Field, one: Json, bound: Json): boolean {
  if (!isOf(field, one)) return false
  const [a, b] = field.type === 'DATE' ? [Date.parse(one as string), Date.parse(bound as string)] : [one!, bound!]
  switch (operator) {
    case '$gt':
      return a > b
    case '$gte':
      return a >= b
    case '$lt':
      return a < b
    default:
      return a <= b
  }
}
