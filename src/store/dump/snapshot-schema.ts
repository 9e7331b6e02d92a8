import * as v from 'valibot'
import { isPortable } from '../../kernel/dump-problems.js'
import { once } from '../../kernel/once.js'
import type { PortableString } from '../../kernel/portable.js'
import { dataTypes, fieldTypes, languages } from '../values/search-definition.js'
import { maxDimension, metrics } from '../values/vector-index.js'
import type { DumpedKey, StoreDump } from './store-dump.js'

export const storeSchema: () => v.GenericSchema<unknown, StoreDump> = once(() => {
  const portable = v.custom<PortableString>(isPortable, 'must be a text or { base64: … }')
  /** Same range as EXPIREAT: any 64-bit integer. */
  const deadline = v.pipe(v.number(), v.minValue(-(2 ** 63)), v.maxValue(2 ** 63))
  const moment = v.pipe(v.number(), v.minValue(-(2 ** 53)), v.maxValue(2 ** 53))
  const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
  const some = <const S extends v.GenericSchema>(item: S) =>
    v.pipe(v.array(item), v.minLength(1, 'must not be empty; omit the key instead'))
  const named = { key: portable, expiresAt: v.optional(deadline) }

  const entry = v.pipe(
    v.tupleWithRest([v.string()], portable),
    v.check(({ length }) => length > 1 && length % 2 === 1, 'must be an ID, followed by alternating names and values'),
  )
  const group = v.object({
    name: portable,
    lastDelivered: v.string(),
    entriesRead: v.nullable(v.pipe(v.number(), v.safeInteger())),
    consumers: v.array(v.tuple([portable, moment])),
    pending: v.array(v.tuple([v.string(), portable, moment, count])),
  })

  /** Schema of a dumped key, as `storedValue()` reads it. `storedValue()` validates IDs and scores itself. */
  const key: v.GenericSchema<unknown, DumpedKey> = v.variant('type', [
    v.object({ ...named, type: v.literal('string'), value: portable }),
    v.object({ ...named, type: v.literal('list'), elements: some(portable) }),
    v.object({ ...named, type: v.literal('set'), members: some(portable) }),
    v.object({ ...named, type: v.literal('zset'), members: some(v.tuple([portable, v.string()])) }),
    v.object({
      ...named,
      type: v.literal('hash'),
      fields: some(v.union([v.strictTuple([portable, portable]), v.strictTuple([portable, portable, deadline])])),
    }),
    v.object({ ...named, type: v.literal('json'), value: v.string() }),
    v.object({
      ...named,
      type: v.literal('stream'),
      entries: v.array(entry),
      topId: v.string(),
      maxDeletedId: v.string(),
      added: count,
      groups: v.array(group),
    }),
    v.object({
      ...named,
      type: v.literal('array'),
      slots: some(v.tuple([v.string(), portable])),
      next: v.string(),
      ringSize: v.optional(v.string()),
    }),
    v.object({
      ...named,
      type: v.literal('search'),
      on: v.picklist(dataTypes),
      prefixes: some(portable),
      language: v.picklist(languages),
      fields: v.pipe(
        v.array(
          v.object({
            path: portable,
            type: v.picklist(fieldTypes),
            fast: v.optional(v.boolean()),
            noStem: v.optional(v.boolean()),
            noTokenize: v.optional(v.boolean()),
            from: v.optional(portable),
          }),
        ),
        v.minLength(1, 'must have at least one field'),
      ),
    }),
    v.object({
      ...named,
      type: v.literal('vector'),
      dimension: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(maxDimension)),
      metric: v.picklist(metrics),
      vectors: v.array(v.tuple([portable, v.union([v.string(), v.array(v.number())])])),
    }),
  ]) as never

  return v.object({
    format: v.literal('stuntdouble/store'),
    version: v.literal(1),
    keys: v.array(key),
    searchAliases: v.optional(v.array(v.tuple([portable, portable]))),
  })
})
