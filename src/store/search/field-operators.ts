import { type Bytes, latin1, text, utf8 } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import type { ResolvedPolicy } from '../../policy/policy.js'
import { Float, type Json, type JsonObject } from '../values/json-value.js'
import { compileRegex } from '../values/regex.js'
import { type FieldDefinition, isTextual } from '../values/search-definition.js'
import { type Analyse, termsIn } from './analysis.js'
import { scalarOf } from './field-values.js'
import { allOf, anyOf, boosted, type Fuzzy, nothing, type SearchFilter } from './filter.js'

import { refusal, shown, unknownFieldOperator, wrongOperator, wrongValue } from './search-errors.js'
import { type Bound, compareScalars } from './sorted-values.js'

/** Context for reading a filter. */
export interface Reading {
  readonly fields: ReadonlyMap<Bytes, FieldDefinition>
  readonly analyse: (field: FieldDefinition) => Analyse
  readonly policy: Pick<ResolvedPolicy, 'searchSingleWord' | 'searchLoneMustNot'>
  readonly work: Work
}

/** Units of work for a condition in a list. The units are charged before the condition is read. */
export const unitsPerPart = 32

/** Reads the value of one operator for one field. */
type Reader = (asked: OperatorInput) => SearchFilter

interface OperatorInput {
  readonly field: FieldDefinition
  readonly operator: Bytes
  readonly value: Json
  readonly reading: Reading
}

/**
 * Returns the conditions in the object of a field, such as `{ $gt: 1, $lt: 5 }`. The bounds of a range become one
 * condition.
 */
export function conditionsOf(field: FieldDefinition, given: JsonObject, reading: Reading): SearchFilter[] {
  const conditions: SearchFilter[] = []
  let low: Bound | undefined
  let high: Bound | undefined
  for (const [operator, value] of given) {
    const side = sides.get(operator)
    if (side !== undefined) {
      const bound = { value: rangeValue({ field, operator, value, reading }), inclusive: side.inclusive }
      if (side.of === 'low') low = tighter(low, bound, 1)
      else high = tighter(high, bound, -1)
      continue
    }
    const read = readers.get(operator)
    if (read === undefined) throw unknownFieldOperator(operator)
    conditions.push(read({ field, operator, value, reading }))
  }
  if (low !== undefined || high !== undefined) conditions.push({ kind: 'within', field, low, high })
  return conditions
}

const sides: ReadonlyMap<string, { readonly of: 'low' | 'high'; readonly inclusive: boolean }> = new Map([
  ['$gt', { of: 'low', inclusive: false }],
  ['$gte', { of: 'low', inclusive: true }],
  ['$lt', { of: 'high', inclusive: false }],
  ['$lte', { of: 'high', inclusive: true }],
])

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['$smart', smart],
  ['$eq', equal],
  ['$in', among],
  ['$phrase', phrase],
  ['$fuzzy', fuzzy],
  ['$regex', pattern],
])

/** Returns the stricter of two bounds on the same side. */
function tighter(one: Bound | undefined, other: Bound, sign: number): Bound {
  if (one === undefined) return other
  const order = sign * compareScalars(one.value, other.value)
  if (order !== 0) return order > 0 ? one : other
  return one.inclusive ? other : one
}

/**
 * Returns a bound of a range. Numbers, DATE and KEYWORD are documented. This package chose that keywords are compared
 * by their bytes. [search.md 12]
 */
function rangeValue(asked: OperatorInput): Bound['value'] {
  const { type, path } = asked.field
  if (isTextual(type) || type === 'BOOL' || type === 'FACET') throw wrongOperator(asked.operator, path, type)
  const { value } = asked
  // A number with a fraction is a valid bound for integers.
  if ((type === 'U64' || type === 'I64') && value instanceof Float) return value.value
  if ((type === 'U64' || type === 'I64') && (typeof value === 'number' || typeof value === 'bigint')) return value
  return valueFor(asked)
}

function valueFor({ field, operator, value }: OperatorInput): Bound['value'] {
  const scalar = scalarOf(field.type, value)
  if (scalar !== undefined) return scalar
  // The number is valid in a filter, but no document of this field can have it as a value.
  if ((field.type === 'U64' || field.type === 'I64') && (typeof value === 'number' || typeof value === 'bigint'))
    return value
  if ((field.type === 'U64' || field.type === 'I64') && value instanceof Float) return value.value
  throw wrongValue(operator, field.path, wanted[field.type])
}

const wanted: Readonly<Record<FieldDefinition['type'], string>> = {
  TEXT: 'a string',
  KEYWORD: 'a string',
  U64: 'a number',
  I64: 'a number',
  F64: 'a number',
  BOOL: 'true or false',
  DATE: 'an RFC 3339 date string',
  FACET: "a string that begins with '/'",
  HYBRID: 'a string',
}

function textOf({ field, operator, value }: OperatorInput): string {
  if (typeof value !== 'string') throw wrongValue(operator, field.path, 'a string')
  return text(value)
}

function ofText(asked: OperatorInput): void {
  if (!isTextual(asked.field.type)) throw wrongOperator(asked.operator, asked.field.path, asked.field.type)
}

function termsOf({ field, reading }: OperatorInput, value: string): string[] {
  return termsIn(value, reading.analyse(field))
}

/**
 * Returns a filter for the terms in sequence. Without terms, the filter matches nothing: public sources do not describe
 * empty values, so this package chose the result.
 */
function inOrder(field: FieldDefinition, terms: readonly string[], slop = 0): SearchFilter {
  if (terms.length === 0) return nothing
  if (terms.length === 1) return { kind: 'term', field, term: terms[0]! }
  return { kind: 'phrase', field, terms, slop, isPrefix: false }
}

function equal(asked: OperatorInput): SearchFilter {
  const { field } = asked
  if (isTextual(field.type)) return inOrder(field, termsOf(asked, textOf(asked)))
  const value = valueFor(asked)
  if (field.type === 'FACET') return { kind: 'facet', field, value }
  const bound = { value, inclusive: true }
  return { kind: 'within', field, low: bound, high: bound }
}

function among(asked: OperatorInput): SearchFilter {
  if (!Array.isArray(asked.value)) throw wrongValue(asked.operator, asked.field.path, 'an array')
  asked.reading.work.charge(unitsPerPart * asked.value.length)
  return anyOf(asked.value.map((value) => equal({ ...asked, value })))
}

/**
 * Factors of the score for each kind of match, if the filter is a plain value. Only the order of the factors is public;
 * this package chose the numbers.
 */
const worth = { phrase: 8, near: 4, terms: 2, fuzzy: 1, beginning: 0.5 } as const

/**
 * Maximum distance of words that count as near each other. This package chose the number; public sources leave it open.
 */
const nearby = 2

/**
 * Minimum length of words for which typos are tolerated. A shorter word with a typo is usually another word. This
 * package chose the number; public sources leave it open.
 */
const leastForTypos = 3

/**
 * Reads a plain value, which has no operator. For fields other than TEXT, and for texts that are not tokenized, the
 * value must be equal. [search.md 12]
 */
function smart(asked: OperatorInput): SearchFilter {
  const { field, reading } = asked
  if (!isTextual(field.type)) return equal(asked)
  const value = textOf(asked)
  if (field.noTokenize) return equal(asked)
  const quoted = /^\s*"(.*)"\s*$/s.exec(value)
  if (quoted !== null) return inOrder(field, termsOf(asked, quoted[1]!))
  const terms = termsOf(asked, value)
  if (terms.length === 0) return nothing
  const ways: SearchFilter[] = []
  const single = anyOf(terms.map((term) => ({ kind: 'term', field, term }) as const))
  if (terms.length > 1) {
    ways.push(boosted(inOrder(field, terms), worth.phrase), boosted(inOrder(field, terms, nearby), worth.near))
  }
  ways.push(boosted(single, worth.terms))
  if (terms.length > 1 || reading.policy.searchSingleWord === 'fuzzy') {
    for (const term of terms) if (term.length >= leastForTypos) ways.push(boosted(near(field, term), worth.fuzzy))
    const last = terms.at(-1)!
    ways.push(
      boosted({ ...near(field, last), distance: last.length < leastForTypos ? 0 : 1, isPrefix: true }, worth.beginning),
    )
  }
  return anyOf(ways)
}

function near(field: FieldDefinition, term: string): Fuzzy {
  return { kind: 'fuzzy', field, term, distance: 1, swapCost: 1, isPrefix: false }
}

/** Returns the members of an object that is given as the value of an operator. */
function membersOf(asked: OperatorInput, known: readonly string[]): JsonObject {
  const { value, operator, field } = asked
  if (!(value instanceof Map)) throw wrongValue(operator, field.path, 'a string or an object with a value')
  for (const name of value.keys()) {
    if (!known.includes(name)) throw refusal(`Unknown option of operator '${operator}': ${shown(name)}`)
  }
  return value
}

function booleanIn(asked: OperatorInput, members: JsonObject, name: string, otherwise: boolean): boolean {
  const value = members.get(name as Bytes) ?? otherwise
  if (typeof value !== 'boolean') throw refusal(`Option '${name}' of operator '${asked.operator}' takes true or false`)
  return value
}

function wholeIn(
  asked: OperatorInput,
  members: JsonObject,
  name: string,
  otherwise: number,
  bounds: [number, number],
): number {
  const value = members.get(name as Bytes) ?? otherwise
  const [least, most] = bounds
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
  throw refusal(`Option '${name}' of operator '${asked.operator}' takes an integer between ${least} and ${most}`)
}

/** Maximum slop; beyond it, words could be anywhere in the text. [a limit of this package] */
export const maxSlop = 10_000

function phrase(asked: OperatorInput): SearchFilter {
  ofText(asked)
  const { field } = asked
  if (typeof asked.value === 'string') return inOrder(field, termsOf(asked, textOf(asked)))
  const members = membersOf(asked, ['value', 'slop', 'prefix'])
  const terms = termsOf(asked, textOf({ ...asked, value: members.get(latin1('value')) ?? null }))
  const isPrefix = booleanIn(asked, members, 'prefix', false)
  const slop = wholeIn(asked, members, 'slop', 0, [0, maxSlop])
  if (members.has(latin1('slop')) && members.has(latin1('prefix')))
    throw refusal("Operator '$phrase' takes slop or prefix, not both")
  if (!isPrefix || terms.length === 0) return inOrder(field, terms, slop)
  return { kind: 'phrase', field, terms, slop: 0, isPrefix: true }
}

/** Reads `$fuzzy`. If the value has several words, all of them are required. [search.md 12] */
function fuzzy(asked: OperatorInput): SearchFilter {
  ofText(asked)
  const { field } = asked
  const isPlain = typeof asked.value === 'string'
  const members: JsonObject = isPlain
    ? new Map([[latin1('value'), asked.value]])
    : membersOf(asked, ['value', 'distance', 'transpositionCostOne', 'prefix'])
  const terms = termsOf(asked, textOf({ ...asked, value: members.get(latin1('value')) ?? null }))
  const distance = wholeIn(asked, members, 'distance', 1, [1, 2])
  const swapCost = booleanIn(asked, members, 'transpositionCostOne', true) ? 1 : 2
  const isPrefix = booleanIn(asked, members, 'prefix', false)
  if (terms.length === 0) return nothing
  return allOf(terms.map((term) => ({ kind: 'fuzzy', field, term, distance, swapCost, isPrefix })))
}

/** Units of work for a character of a pattern, which is compiled several times. */
const unitsPerPatternChar = 24

/**
 * Reads a regular expression. Terms of tokenized fields are in lower case, so the pattern ignores case in such fields.
 * [search.md 12]
 */
function pattern(asked: OperatorInput): SearchFilter {
  ofText(asked)
  const { field } = asked
  const given = textOf(asked)
  asked.reading.work.charge(unitsPerPatternChar * given.length)
  const refused = refusal(`Invalid regular expression: ${shown(utf8(given))}`)
  // The pattern is first compiled alone, because a surplus parenthesis must not close the group that is added around
  // it.
  if (compileRegex(given) === undefined) throw refused
  const whole = field.noTokenize ? `\\A(?:${given})\\z` : `\\A(?i:${given})\\z`
  if (compileRegex(whole) === undefined) throw refused
  return { kind: 'pattern', field, pattern: whole }
}
