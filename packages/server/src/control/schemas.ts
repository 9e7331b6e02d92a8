import * as v from 'valibot'
import { parseDuration } from '../../../../src/kernel/duration.js'
import type { JournalPoint } from '../../../../src/sandbox/past.js'

type Duration = v.GenericSchema<number | string>

/** Milliseconds, or a text such as `5m`. */
export const duration: Duration = v.union([
  v.pipe(v.number(), v.minValue(0)),
  v.pipe(
    v.string(),
    v.check((by) => parseDuration(by) !== undefined, 'must be a duration'),
  ),
])

/** Milliseconds since the Unix epoch, or an ISO text. */
export const time: v.GenericSchema<number | string> = v.union([
  v.pipe(
    v.number(),
    v.check((at) => Math.abs(at) <= 8.64e15, 'must be a time'),
  ),
  v.pipe(
    v.string(),
    v.check((at) => !Number.isNaN(new Date(at).getTime()), 'must be a time'),
  ),
])

/** A duration before now, such as `-5m`. */
const spanBack: v.GenericSchema<string> = v.pipe(
  v.string(),
  v.check(
    (by) => by.startsWith('-') && parseDuration(by.slice(1)) !== undefined,
    'must be a duration before now, such as -5m',
  ),
)

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** A past instant, in a form that `sandbox.asOf()` takes or that `POST /resolve-instant` returns. */
export const pastInstant: v.GenericSchema<number | string | { seq: number } | JournalPoint> = v.union([
  time,
  spanBack,
  v.strictObject({ seq: v.number() }),
  v.strictObject({ world: count, end: count, at: v.number() }),
])

/** Binary data, as an object with a base64 text. */
export const base64: v.GenericSchema<{ base64: string }> = v.strictObject({ base64: v.pipe(v.string(), v.base64()) })

/** Filters of a bulk cancel. The method that gets them checks their names and values. */
export const filtered: v.GenericSchema<{ filter?: object | undefined }> = v.strictObject({
  filter: v.optional(
    v.custom<object>((given) => typeof given === 'object' && given !== null, 'must be an object of filters'),
  ),
})

export const nothing: v.GenericSchema<object> = v.strictObject({})
