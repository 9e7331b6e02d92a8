import type { Bytes } from '../../kernel/bytes.js'
import type { FieldDefinition } from '../values/search-definition.js'
import type { Bound, Scalar } from './sorted-values.js'

/** Parsed filter. Its words are converted to terms, and its values to the type of their field. */
export type SearchFilter = FilterGroup | AnyOf | Everything | Nothing | FilterCondition

export interface Everything {
  readonly kind: 'everything'
}

export interface Nothing {
  readonly kind: 'nothing'
}

/**
 * Conditions that are required, optional or excluded. Optional conditions raise the score. If no condition is required,
 * at least one optional condition must match.
 */
export interface FilterGroup {
  readonly kind: 'group'
  readonly required: readonly SearchFilter[]
  readonly optional: readonly SearchFilter[]
  readonly excluded: readonly SearchFilter[]
  readonly boost: number
}

export interface AnyOf {
  readonly kind: 'any'
  readonly of: readonly SearchFilter[]
  readonly boost: number
}

export type FilterCondition = Within | HasFacet | Term | Phrase | Fuzzy | Fitting

interface OfField {
  readonly field: FieldDefinition
}

/** Range of values of a field that is not TEXT. A single value is a range with two equal bounds. */
export interface Within extends OfField {
  readonly kind: 'within'
  readonly low: Bound | undefined
  readonly high: Bound | undefined
}

export interface HasFacet extends OfField {
  readonly kind: 'facet'
  readonly value: Scalar
}

export interface Term extends OfField {
  readonly kind: 'term'
  readonly term: string
}

/** Terms in sequence. They may be moved by at most `slop` positions in total. */
export interface Phrase extends OfField {
  readonly kind: 'phrase'
  readonly terms: readonly string[]
  readonly slop: number
  /** Whether the last term is a prefix. */
  readonly isPrefix: boolean
}

export interface Fuzzy extends OfField {
  readonly kind: 'fuzzy'
  readonly term: string
  readonly distance: number
  /** Cost of swapping two neighboring letters. */
  readonly swapCost: 1 | 2
  readonly isPrefix: boolean
}

/** Pattern that matches a whole term. */
export interface Fitting extends OfField {
  readonly kind: 'pattern'
  readonly pattern: string
}

export const everything: SearchFilter = { kind: 'everything' }
export const nothing: SearchFilter = { kind: 'nothing' }

export function anyOf(of: readonly SearchFilter[], boost = 1): SearchFilter {
  if (of.length === 0) return nothing
  return of.length === 1 && boost === 1 ? of[0]! : { kind: 'any', of, boost }
}

export function allOf(required: readonly SearchFilter[], boost = 1): SearchFilter {
  if (required.length === 0) return everything
  return required.length === 1 && boost === 1
    ? required[0]!
    : { kind: 'group', required, optional: [], excluded: [], boost }
}

export function boosted(filter: SearchFilter, boost: number): SearchFilter {
  return boost === 1 ? filter : { kind: 'group', required: [filter], optional: [], excluded: [], boost }
}

/** Collects the literal terms and values that the filter requests for a field, for highlighting. */
export function termsOf(filter: SearchFilter, path: Bytes, terms: Set<Scalar> = new Set()): Set<Scalar> {
  if (filter.kind === 'group') {
    for (const part of [...filter.required, ...filter.optional]) termsOf(part, path, terms)
  } else if (filter.kind === 'any') {
    for (const part of filter.of) termsOf(part, path, terms)
  } else if (filter.kind === 'term' && filter.field.path === path) {
    terms.add(filter.term)
  } else if (filter.kind === 'phrase' && filter.field.path === path) {
    for (const term of filter.isPrefix ? filter.terms.slice(0, -1) : filter.terms) terms.add(term)
  } else if (filter.kind === 'within' && filter.field.path === path && isOneValue(filter)) {
    terms.add(filter.low!.value)
  } else if (filter.kind === 'facet' && filter.field.path === path) {
    terms.add(filter.value)
  }
  return terms
}

function isOneValue({ low, high }: Within): boolean {
  return low !== undefined && high !== undefined && low.value === high.value
}
