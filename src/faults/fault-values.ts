import * as v from 'valibot'
import { headerValueSyntax } from '../kernel/http.js'

// What the fields of faults may hold, with the sentence for what they may not.

/** Thirty years, so that a thousand of them still give a valid date; a guard of ours. */
export const maxSpan = 1e12
const tooLong = 'is a number of milliseconds, at most 1e12'
const span = (sentence: string): v.GenericSchema<number> =>
  v.pipe(v.number(sentence), v.finite(sentence), v.minValue(0, sentence), v.maxValue(maxSpan, tooLong))
export const milliseconds: v.GenericSchema<number> = span('is a number of milliseconds, 0 or more')
const skew = 'is a number of milliseconds, below 0 for a clock that is behind'
export const signedMilliseconds: v.GenericSchema<number> = v.pipe(
  v.number(skew),
  v.finite(skew),
  v.minValue(-maxSpan, tooLong),
  v.maxValue(maxSpan, tooLong),
)
export function whole(least: number): v.GenericSchema<number> {
  const sentence = `is a whole number, ${least} or more`
  return v.pipe(v.number(sentence), v.integer(sentence), v.minValue(least, sentence))
}
export const upToThousand: v.GenericSchema<number> = v.pipe(whole(1), v.maxValue(1000, 'is a whole number, 1 to 1000'))
export const anyText: v.GenericSchema<string> = v.string('is a string')
export const text: v.GenericSchema<string> = v.pipe(anyText, v.minLength(1, 'is a string, not an empty one'))

/** What `statusCode` accepts, for answers that are checked on every attempt. */
export function isStatus(given: unknown): given is number {
  return Number.isInteger(given) && (given as number) >= 200 && (given as number) <= 599
}

export const statusCode: v.GenericSchema<number> = v.pipe(
  v.number('is an HTTP status from 200 to 599'),
  v.integer('is an HTTP status from 200 to 599'),
  v.minValue(200, 'is an HTTP status from 200 to 599'),
  v.maxValue(599, 'is an HTTP status from 200 to 599'),
)
const headerName = v.pipe(v.string(), v.regex(/^[!#$%&'*+.^_`|~\w-]+$/, 'is not the name of a header'))
const headerValue = v.pipe(
  v.string('is a string'),
  v.regex(
    headerValueSyntax,
    'is the value of a header: bytes, so no character beyond U+00FF, no line ends, no control characters',
  ),
)
export const headerRecord: v.GenericSchema = v.record(
  headerName,
  v.union([headerValue, v.array(headerValue)], 'is a string or a list of strings'),
  'is an object of names and values',
)
export function optional<S extends v.GenericSchema>(schema: S): v.OptionalSchema<S, undefined> {
  return v.optional(schema)
}

/** Signatures can be wrong in these ways; the names of `signatureFlaws`, and one more. */
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
