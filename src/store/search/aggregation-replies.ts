import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { Reply } from '../command/reply.js'
import { formatScore } from '../command/text.js'
import type { FieldDefinition } from '../values/search-definition.js'
import { dateText } from './field-values.js'
import type { Scalar } from './sorted-values.js'

/** Alternating names and values, as replies represent objects. */
export type Pairs = readonly (readonly [name: string, value: Reply])[]

export function flat(pairs: Pairs): Reply[] {
  return pairs.flatMap(([name, value]) => [latin1(name), value])
}

/**
 * Converts a number to a reply: an integer to a number, any other number to text, and a missing or infinite value to
 * null.
 */
export function numberReply(value: number | null): Reply {
  if (value === null || !Number.isFinite(value)) return null
  return Number.isSafeInteger(value) ? value + 0 : formatScore(value)
}

/** Returns the key of a bucket. A date or boolean is also returned as text, as `keyAsString`. */
export function keyPairs({ type }: FieldDefinition, value: Scalar): Pairs {
  if (typeof value === 'string') return [['key', value as Bytes]]
  const key: Pairs = [['key', typeof value === 'bigint' ? value : numberReply(value)]]
  if (type === 'DATE') return [...key, ['keyAsString', dateText(Number(value))]]
  return type === 'BOOL' ? [...key, ['keyAsString', latin1(value === 1 ? 'true' : 'false')]] : key
}
