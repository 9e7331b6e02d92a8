import * as v from 'valibot'
import { farthest, isPortable } from '../../kernel/dump-problems.js'
import type { PortableString } from '../../kernel/portable.js'

// Schemas of fields that occur in several parts of a dump.

export const time: v.GenericSchema<unknown, number> = v.pipe(v.number(), v.minValue(-farthest), v.maxValue(farthest))
export const count: v.GenericSchema<unknown, number> = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
/** Schema of a flow-control limit. A publish accepts numbers in the same range. */
export const limit: v.GenericSchema<unknown, number> = v.pipe(count, v.maxValue(9_999_999_999))
export const status: v.GenericSchema<unknown, number> = v.pipe(count, v.maxValue(999))
export const text: v.GenericSchema<unknown, string> = v.pipe(v.string(), v.minLength(1))
/** Schema of an ID, which is generated or chosen by a user. */
export const id: v.GenericSchema<unknown, string> = v.pipe(text, v.maxLength(1000))
export const portable: v.GenericSchema<unknown, PortableString> = v.custom<PortableString>(
  isPortable,
  'must be a string or { base64: … }',
)
export const headerPairs: v.GenericSchema<unknown, [string, string][]> = v.array(v.tuple([v.string(), v.string()]))
/** Schema of the options of a publish, by header name. */
export const settings: v.GenericSchema<unknown, Record<string, string | string[]>> = v.record(
  v.string(),
  v.union([v.string(), v.array(v.string())]),
)
export const headers: v.GenericSchema<unknown, Record<string, PortableString | PortableString[]>> = v.record(
  v.string(),
  v.union([portable, v.array(portable)]),
)
