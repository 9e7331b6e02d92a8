import { log, log10 } from '../../kernel/portable-math.js'
import type { Content } from './content.js'
import type { FieldValue, Modifier, ScoreFunction } from './query-options.js'

/** Functions that convert a value to a score, with the values for which each is valid. [search.md 7] */
const functions: Readonly<
  Record<Modifier, { readonly of: (value: number) => number; readonly isValid: (value: number) => boolean }>
> = {
  NONE: { of: (value) => value, isValid: () => true },
  LOG: { of: log10, isValid: (value) => value > 0 },
  LOG1P: { of: (value) => log10(value + 1), isValid: (value) => value > -1 },
  LOG2P: { of: (value) => log10(value + 2), isValid: (value) => value > -2 },
  LN: { of: log, isValid: (value) => value > 0 },
  LN1P: { of: (value) => log(value + 1), isValid: (value) => value > -1 },
  LN2P: { of: (value) => log(value + 2), isValid: (value) => value > -2 },
  SQUARE: { of: (value) => value * value, isValid: () => true },
  SQRT: { of: Math.sqrt, isValid: (value) => value >= 0 },
  RECIPROCAL: { of: (value) => 1 / value, isValid: (value) => value !== 0 },
}

/**
 * Returns the score of a document from its values and its relevance.
 * @param otherwise the score mode if the query specifies none
 */
export function valueScore(
  { values, scoreMode, combineMode }: ScoreFunction,
  content: Content,
  otherwise: 'SUM' | 'MULTIPLY',
): (id: number, relevance: number) => number {
  const combine = combineMode ?? otherwise
  const mode = scoreMode ?? otherwise
  return (id, relevance) => {
    const parts = values.map((value) => contribution(value, content.scalar(value.field).valuesOf(id)[0]))
    const value = parts.reduce((one, other) => (combine === 'SUM' ? one + other : one * other))
    if (mode === 'REPLACE') return value
    return mode === 'SUM' ? relevance + value : relevance * value
  }
}

function contribution({ modifier, factor, missing }: FieldValue, stored: unknown): number {
  const { of, isValid } = functions[modifier]
  const value = stored === undefined ? undefined : Number(stored)
  if (value !== undefined && isValid(value)) return of(value) * factor
  return (isValid(missing) ? of(missing) : missing) * factor
}
