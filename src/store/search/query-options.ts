import type { Bytes } from '../../kernel/bytes.js'

/** Options after the filter of SEARCH.QUERY. [search.md 7] */
export interface QueryOptions {
  readonly limit?: number
  readonly offset?: number
  readonly orderby?: OrderBy
  readonly select?: readonly Bytes[]
  readonly nocontent?: true
  readonly highlight?: Highlight
  readonly scorefunc?: ScoreFunction
}

export interface OrderBy {
  readonly field: Bytes
  readonly descending: boolean
}

export interface Highlight {
  readonly fields: readonly Bytes[]
  readonly open: Bytes
  readonly close: Bytes
}

export const modifiers = [
  'NONE',
  'LOG',
  'LOG1P',
  'LOG2P',
  'LN',
  'LN1P',
  'LN2P',
  'SQUARE',
  'SQRT',
  'RECIPROCAL',
] as const

export type Modifier = (typeof modifiers)[number]

export interface FieldValue {
  readonly field: Bytes
  modifier: Modifier
  factor: number
  missing: number
}

export interface ScoreFunction {
  readonly values: readonly FieldValue[]
  /** Operation that combines the score of the values with the relevance. `undefined` if not specified. */
  readonly scoreMode: 'SUM' | 'MULTIPLY' | 'REPLACE' | undefined
  /** Operation that combines the scores of several values. `undefined` if not specified. */
  readonly combineMode: 'SUM' | 'MULTIPLY' | undefined
}
