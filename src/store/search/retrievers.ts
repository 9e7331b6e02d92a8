import { type Bytes, latin1, text } from '../../kernel/bytes.js'
import { depthOf, Float, type Json, type JsonObject } from '../values/json-value.js'
import { type Profile, profiles } from '../values/nearest.js'
import type { Reading } from './field-operators.js'
import type { SearchFilter } from './filter.js'
import { deepest, readClause, readObject } from './filter-syntax.js'
import { refusal, shown, unknownField } from './search-errors.js'

// Retrievers, which are the whole query in place of a filter. [search.md 16]

/** Query of SEARCH.QUERY, SEARCH.COUNT or SEARCH.AGGREGATE. */
export type Query = FilterQuery | SimilarityQuery | FusedQuery

/** Filter, alone or in `$standard`. */
export interface FilterQuery {
  readonly kind: 'filter'
  readonly filter: SearchFilter
  readonly weight: number
}

/** `$ann`: documents whose text is similar to the query. */
export interface SimilarityQuery {
  readonly kind: 'similar'
  readonly path: Bytes
  readonly query: string
  readonly profile: Profile
  readonly filter: SearchFilter | undefined
  readonly weight: number
}

/** `$rrf`: the ranks of several queries together. */
export interface FusedQuery {
  readonly kind: 'fused'
  readonly parts: readonly (FilterQuery | SimilarityQuery)[]
  readonly rankConstant: number
  /** Maximum number of results of each part. `undefined`: the limit of the command. */
  readonly window: number | undefined
}

export const maxRetrievers = 10
const highestConstant = 2_147_483_647
const widestWindow = 11_000
const usualConstant = 60

/**
 * Parses a filter or a retriever.
 * @throws ReplyError when it is invalid
 */
export function readQuery(source: Bytes, reading: Reading): Query {
  const root = readObject(source, 'filter')
  if (depthOf(root) > deepest) throw refusal(`filter is nested more than ${deepest} levels deep`)
  if (!root.has('$rrf' as Bytes)) return readPart(root, reading, false)
  const fields = fieldsOf(root, '$rrf', ['retrievers', 'rankConstant', 'window'])
  const retrievers = fields.get('retrievers')
  if (!Array.isArray(retrievers) || retrievers.length < 2 || retrievers.length > maxRetrievers)
    throw refusal(`$rrf needs 2 to ${maxRetrievers} retrievers`)
  const constant = fields.get('rankConstant')
  const window = fields.get('window')
  return {
    kind: 'fused',
    parts: retrievers.map((part) => {
      if (!(part instanceof Map)) throw refusal('$rrf.retrievers must be objects')
      return readPart(part, reading, true)
    }),
    rankConstant: constant === undefined ? usualConstant : whole(constant, '$rrf.rankConstant', highestConstant),
    window: window === undefined ? undefined : whole(window, '$rrf.window', widestWindow),
  }
}

/** @param isFused whether the query is a part of `$rrf`, where it can have a weight */
function readPart(root: JsonObject, reading: Reading, isFused: boolean): FilterQuery | SimilarityQuery {
  if (root.has('$standard' as Bytes)) {
    const fields = fieldsOf(root, '$standard', ['query', 'weight'])
    const query = fields.get('query')
    if (!(query instanceof Map)) throw refusal('$standard.query must be an object')
    return { kind: 'filter', filter: readClause(query, reading), weight: weightOf(fields, '$standard', isFused) }
  }
  if (!root.has('$ann' as Bytes)) return { kind: 'filter', filter: readClause(root, reading), weight: 1 }
  const fields = fieldsOf(root, '$ann', ['field', 'query', 'profile', 'filter', 'weight'])
  const path = fields.get('field')
  if (typeof path !== 'string') throw refusal('$ann.field must be a field')
  const field = reading.fields.get(path)
  if (field === undefined) throw unknownField(path)
  if (field.type !== 'HYBRID') throw refusal(`Field '${shown(path)}' is not HYBRID`)
  const query = fields.get('query')
  if (typeof query !== 'string') throw refusal('$ann.query must be a text')
  if (query === '') throw refusal('$ann.query is empty')
  const filter = fields.get('filter')
  if (filter !== undefined && !(filter instanceof Map)) throw refusal('$ann.filter must be an object')
  return {
    kind: 'similar',
    path,
    query: text(query),
    profile: profileOf(fields.get('profile')),
    filter: filter && readClause(filter, reading),
    weight: weightOf(fields, '$ann', isFused),
  }
}

/** Returns the members of a retriever, which must be alone in its object. */
function fieldsOf(root: JsonObject, name: string, known: readonly string[]): ReadonlyMap<string, Json> {
  if (root.size > 1) throw refusal(`${name} must be the only member of a query`)
  const fields = root.get(name as Bytes)
  if (!(fields instanceof Map)) throw refusal(`${name} must be an object`)
  const unknown = [...fields.keys()].find((field) => !known.includes(field))
  if (unknown !== undefined) throw refusal(`Unknown member of ${name}: ${shown(unknown)}`)
  return fields
}

function weightOf(fields: ReadonlyMap<string, Json>, name: string, isFused: boolean): number {
  const weight = fields.get('weight')
  if (weight === undefined) return 1
  if (!isFused) throw refusal(`${name}.weight is only allowed in $rrf`)
  const value = numberOf(weight)
  if (value === undefined || value < 0) throw refusal(`${name}.weight must be a number of at least 0`)
  return value
}

function profileOf(given: Json | undefined): Profile {
  if (given === undefined) return 'BALANCED'
  const profile = profiles.find((one) => latin1(one.toLowerCase()) === given)
  if (profile === undefined) throw refusal('$ann.profile must be fast, balanced or precise')
  return profile
}

function whole(given: Json, name: string, most: number): number {
  const value = numberOf(given)
  if (value === undefined || !Number.isInteger(value) || value < 1 || value > most)
    throw refusal(`${name} must be between 1 and ${most}`)
  return value
}

function numberOf(given: Json): number | undefined {
  const value = given instanceof Float ? given.value : given
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined
  return Number.isFinite(Number(value)) ? Number(value) : undefined
}
