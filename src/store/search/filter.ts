import type { Bytes } from '../../kernel/bytes.js'
import type { FieldDefinition } from '../values/search-definition.js'
import type { Bound, Scalar } from './sorted-values.js'

/** A filter as it was understood: its words are terms, its values of their field's type. */
export type SearchFilter = FilterGroup | AnyOf | Everything | Nothing | FilterCondition

export interface Everything {
  readonly kind: 'everything'
}

export interface Nothing {
  readonly kind: 'nothing'
}

/** All that is required, none that is excluded; what is optional raises the score, and is required when nothing else is. */
export interface FilterGroup {
  readonly kind: 'group'
  readonly required: readonly SearchFilter[]
  readonly optional: readonly SearchFilter[]
  readonly excluded: readonly SearchFilter[]
  readonly boost: number
}

/** At least one. */
export interface AnyOf {
  readonly kind: 'any'
  readonly of: readonly SearchFilter[]
  readonly boost: number
}

export type FilterCondition = Within | HasFacet | Term | Phrase | Fuzzy | Fitting

interface OfField {
  readonly field: FieldDefinition
}

/** A value of a field that is no text. One value is a range of which both ends are it. */
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

/** Terms one after the other, moved by so many places together at most. */
export interface Phrase extends OfField {
  readonly kind: 'phrase'
  readonly terms: readonly string[]
  readonly slop: number
  /** The last term is the beginning of one. */
  readonly isPrefix: boolean
}

export interface Fuzzy extends OfField {
  readonly kind: 'fuzzy'
  readonly term: string
  readonly distance: number
  /** What it costs to swap two letters that stand side by side. */
  readonly swapCost: 1 | 2
  readonly isPrefix: boolean
}

/** A whole term that a pattern fits. */
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

/** The same, worth so many times as much. */
export function boosted(filter: SearchFilter, boost: number): SearchFilter {
  return boost === 1 ? filter : { kind: 'group', required: [filter], optional: [], excluded: [], boost }
}

/** The terms and values that a field was asked for, and that documents have as they are: what is highlighted. */
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
