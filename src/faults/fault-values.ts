import * as v from 'valibot'
import { headerValueSyntax } from '../kernel/http.js'

// Schemas of the fields of faults, with the error texts for invalid values.

/**
 * Maximum duration of a fault in milliseconds: 31 years, so that even 1,000 such durations in a row end at a valid
 * date. This is a limit of this package, not of the service.
 */
export const maxSpan = 1e12
const tooLong = 'must be a number of milliseconds, at most 1e12'
const span = (sentence: string): v.GenericSchema<number> =>
  v.pipe(v.number(sentence), v.finite(sentence), v.minValue(0, sentence), v.maxValue(maxSpan, tooLong))
export const milliseconds: v.GenericSchema<number> = span('must be a number of milliseconds, at least 0')
const skew = 'must be a number of milliseconds, negative for a clock that is behind'
export const signedMilliseconds: v.GenericSchema<number> = v.pipe(
  v.number(skew),
  v.finite(skew),
  v.minValue(-maxSpan, tooLong),
  v.maxValue(maxSpan, tooLong),
)
export function whole(least: number): v.GenericSchema<number> {
  const sentence = `must be a whole number, at least ${least}`
  return v.pipe(v.number(sentence), v.integer(sentence), v.minValue(least, sentence))
}
export const upToThousand: v.GenericSchema<number> = v.pipe(
  whole(1),
  v.maxValue(1000, 'must be a whole number from 1 to 1000'),
)
export const anyText: v.GenericSchema<string> = v.string('must be a string')
export const text: v.GenericSchema<string> = v.pipe(anyText, v.minLength(1, 'must be a non-empty string'))

/**
 * Returns whether a value is a valid HTTP status. Every attempt checks the status of its response, so this check must
 * be faster than the schema `statusCode`.
 */
export function isStatus(given: unknown): given is number {
  return Number.isInteger(given) && (given as number) >= 200 && (given as number) <= 599
}

export const statusCode: v.GenericSchema<number> = v.pipe(
  v.number('must be an HTTP status from 200 to 599'),
  v.integer('must be an HTTP status from 200 to 599'),
  v.minValue(200, 'must be an HTTP status from 200 to 599'),
  v.maxValue(599, 'must be an HTTP status from 200 to 599'),
)
const headerName = v.pipe(v.string(), v.regex(/^[!#$%&'*+.^_`|~\w-]+$/, 'is not a valid header name'))
const headerValue = v.pipe(
  v.string('must be a string'),
  v.regex(
    headerValueSyntax,
    'must be a header value without control characters, line breaks and characters above U+00FF',
  ),
)
export const headerRecord: v.GenericSchema = v.record(
  headerName,
  v.union([headerValue, v.array(headerValue)], 'must be a string or a list of strings'),
  'must be an object of names and values',
)
export function optional<S extends v.GenericSchema>(schema: S): v.OptionalSchema<S, undefined> {
  return v.optional(schema)
}

/**
 * Defects that a signature can have: those in `signatureFlaws`, and `rotated` for a signature with the next signing
 * key.
 */
export const signatureFaults = [
  'url',
  'body',
  'reserialized',
  'expired',
  'not-yet-valid',
  'issuer',
  'rotated-once',
  'rotated-twice',
  'key',
  'tampered',
  'rotated',
] as const
export type SignatureFault = (typeof signatureFaults)[number]
