import { type Bytes, text, utf8 } from '../../kernel/bytes.js'
import { endOfTime, instant, iso } from '../../kernel/instant.js'
import { parseDouble, parseInt64 } from '../command/text.js'
import { Float, type Json } from '../values/json-value.js'
import type { FieldType } from '../values/search-definition.js'
import type { Scalar } from './sorted-values.js'

// Converts values of documents and filters to the type of a field. `undefined` means that the value has the wrong type.
// A search in this field does not find a document with such a value. [search.md 11]

interface WholeRange {
  readonly least: bigint
  readonly most: bigint
  /** Least value that is a `number`. Such a value is a safe integer, so it cannot exceed the range at the other end. */
  readonly leastNumber: number
}

const unsigned: WholeRange = { least: 0n, most: 2n ** 64n - 1n, leastNumber: 0 }
const signed: WholeRange = { least: -(2n ** 63n), most: 2n ** 63n - 1n, leastNumber: Number.MIN_SAFE_INTEGER }

/**
 * Converts a JSON value. A number is not converted to a text, and a text is not converted to a number. This package
 * chose this rule; public sources leave it open.
 */
export function scalarOf(type: FieldType, value: Json): Scalar | undefined {
  switch (type) {
    case 'U64':
      return wholeOf(value, unsigned)
    case 'I64':
      return wholeOf(value, signed)
    case 'F64':
      return value instanceof Float ? value.value : isWhole(value) ? Number(value) : undefined
    case 'BOOL':
      return typeof value === 'boolean' ? Number(value) : undefined
    case 'DATE':
      return typeof value === 'string' ? dateIn(text(value)) : undefined
    case 'FACET':
      return typeof value === 'string' ? facetIn(value) : undefined
    default:
      return typeof value === 'string' ? value : undefined
  }
}

/** Converts the text of a hash field. */
export function scalarIn(type: FieldType, value: Bytes): Scalar | undefined {
  if (type === 'U64' || type === 'I64') {
    const digits = parseInt64(value) ?? largeIn(value)
    return digits === undefined ? undefined : wholeOf(digits, type === 'U64' ? unsigned : signed)
  }
  if (type === 'F64') {
    const number = parseDouble(value)
    return number !== undefined && Number.isFinite(number) ? number : undefined
  }
  if (type === 'BOOL') return value === 'true' ? 1 : value === 'false' ? 0 : undefined
  return scalarOf(type, value)
}

function isWhole(value: Json): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

function wholeOf(value: Json, { least, most, leastNumber }: WholeRange): Scalar | undefined {
  const number = value instanceof Float && Number.isSafeInteger(value.value) ? value.value : value
  // Comparing a number with a bigint takes longer than storing it.
  if (typeof number === 'number') return number >= leastNumber ? number : undefined
  return typeof number === 'bigint' && number >= least && number <= most ? number : undefined
}

/** Parses integers above 2^63, which only unsigned fields can have. */
function largeIn(value: Bytes): bigint | undefined {
  return /^\d{19,20}$/.test(value) ? BigInt(value) : undefined
}

const date = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/i

const lowerCase = /[tz]/

/**
 * Returns milliseconds since 1970. A date without time means its start in UTC. This package chose to accept offsets;
 * public sources leave it open. [search.md 12]
 */
export function dateIn(value: string): number | undefined {
  let at = moments.get(value)
  if (at === undefined) {
    at = momentOf(value)
    if (at === undefined) return undefined
    if (moments.size >= maxMoments) moments.clear()
    moments.set(value, at)
  }
  return at
}

/** Parsed dates by text. They are cached because a document that is written again usually has the same dates. */
const moments = new Map<string, number>()
const maxMoments = 10_000

function momentOf(value: string): number | undefined {
  if (!date.test(value)) return undefined
  try {
    return instant(lowerCase.test(value) ? value.toUpperCase() : value)
  } catch {
    return undefined
  }
}

/** Formats a date as aggregations show it. [search.md 13] */
export function dateText(at: number): Bytes {
  return Math.abs(at) > endOfTime ? utf8(String(at)) : utf8(iso(at).replace('.000Z', 'Z'))
}

/** Maximum number of parts of a facet such as `/a/b`. [a limit of this package] */
export const deepestFacet = 64

/** Reads a path that begins with a slash, and removes a slash at its end. */
function facetIn(value: Bytes): Bytes | undefined {
  if (!value.startsWith('/')) return undefined
  if (value.length > deepestFacet && value.split('/', deepestFacet + 2).length > deepestFacet + 1) return undefined
  return (value.length > 1 && value.endsWith('/') ? value.slice(0, -1) : value) as Bytes
}

/** Returns a facet and its ancestors: `/a/b` belongs to `/a` and `/`. */
export function facetsAbove(path: string): string[] {
  const all = ['/']
  for (let at = path.indexOf('/', 1); at !== -1; at = path.indexOf('/', at + 1)) all.push(path.slice(0, at))
  if (path !== '/') all.push(path)
  return all
}
