import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { dateOf } from '../../kernel/instant.js'
import type { Reply } from '../command/reply.js'
import { parseDouble } from '../command/text.js'
import type { Json, JsonObject } from '../values/json-value.js'
import type { FieldDefinition } from '../values/search-definition.js'
import { type Aggregating, AggregationOptions, aggregationRefusal } from './aggregation-options.js'
import { flat, numberReply } from './aggregation-replies.js'
import { maxBuckets } from './bucket-count.js'
import { type Inner, innerPairs, span } from './buckets.js'
import type { Computing } from './metrics.js'
import { shown } from './search-errors.js'
import { compareScalars, type Scalar } from './sorted-values.js'

// `$composite`: a bucket for each combination of keys, in pages. [search.md 13]

/** Key of a bucket in one source; `null` for documents without a value. */
type Key = Scalar | null

/** Type that a key has in `afterKey`. [search.md 13: `str` and `f64`; this package chose the others] */
type KeyType = 'str' | 'u64' | 'i64' | 'f64' | 'bool' | 'dt'

interface Source {
  readonly name: Bytes
  readonly type: KeyType
  /** Returns the distinct keys of a document. */
  keysOf(id: number): readonly Key[]
  /** Returns a negative number if the first key comes before the second one. */
  compare(a: Key, b: Key): number
  readonly hasMissing: boolean
}

interface Bucket {
  readonly keys: readonly Key[]
  readonly ids: number[]
}

/**
 * Implements `$composite`. A document with several values counts in every combination. This package chose this rule;
 * public sources leave it open.
 */
export function composite(options: AggregationOptions, over: Aggregating, inner: readonly Inner[]): Computing {
  options.only('sources', 'size', 'after')
  const sources = sourcesIn(options, over)
  const size = options.whole('size', 10, 1)
  const after = afterIn(options, sources)
  const { work } = over
  const compare = (a: readonly Key[], b: readonly Key[]): number => {
    for (let at = 0; at < sources.length; at++) {
      const order = sources[at]!.compare(a[at]!, b[at]!)
      if (order !== 0) return order
    }
    return 0
  }
  const sorted = (buckets: Iterable<Bucket>): Bucket[] => {
    const all = [...buckets]
    const depth = 32 - Math.clz32(all.length)
    work.charge(depth * all.reduce((sum, { keys }) => sum + weightOf(keys), 0))
    return all.sort((a, b) => compare(a.keys, b.keys)).slice(0, size)
  }
  // More buckets than this are not kept: only the first ones are in the page.
  const room = 2 * Math.min(size, maxBuckets + 1) + 1024
  return (ids) => {
    work.charge(4 * ids.length * sources.length)
    const buckets = new Map<string, Bucket>()
    /** Last keys that can be in the page, as far as known. */
    let last: readonly Key[] | undefined
    for (const id of ids) {
      const own = sources.map((source) => source.keysOf(id))
      if (own.some(({ length }) => length === 0)) continue
      // Charges all combinations before the first one, because there may be very many.
      work.charge(own.reduce((product, keys) => product * keys.length, 1) * (8 + 4 * sources.length))
      for (const keys of combinations(own)) {
        work.charge(weightOf(keys))
        if (after !== undefined && compare(keys, after) <= 0) continue
        if (last !== undefined && compare(keys, last) > 0) continue
        const name = nameOf(keys)
        const bucket = buckets.get(name)
        if (bucket !== undefined) bucket.ids.push(id)
        else buckets.set(name, { keys, ids: [id] })
        if (buckets.size <= room) continue
        const kept = sorted(buckets.values())
        buckets.clear()
        for (const one of kept) buckets.set(nameOf(one.keys), one)
        last = kept.at(-1)!.keys
      }
    }
    const page = sorted(buckets.values())
    over.buckets.add(page.length)
    const rows = page.map(({ keys, ids }) =>
      flat([
        ['key', namesAnd(sources, (source, at) => keyReply(keys[at]!, source))],
        ['docCount', ids.length],
        ...innerPairs(inner, ids, over),
      ]),
    )
    // [tantivy] A page that is not full has no cursor.
    const end = page.length < size ? undefined : page.at(-1)?.keys
    return flat([
      ['buckets', rows],
      ...(end === undefined
        ? []
        : [['afterKey', namesAnd(sources, (source, at) => cursor(end[at]!, source))] as const]),
    ])
  }
}

/** Returns the units of work for comparing keys: a long text takes longer. */
function weightOf(keys: readonly Key[]): number {
  let weight = 1
  for (const key of keys) weight += typeof key === 'string' ? 1 + (key.length >>> 5) : 1
  return weight
}

/** Returns a text that differs for different keys. */
function nameOf(keys: readonly Key[]): string {
  let name = ''
  for (const key of keys) name += typeof key === 'string' ? `${key.length}:${key}` : `${key};`
  return name
}

/** Returns all combinations of one key of each list. No list is empty. */
function* combinations(lists: readonly (readonly Key[])[]): Generator<readonly Key[]> {
  const places = lists.map(() => 0)
  for (;;) {
    yield lists.map((keys, at) => keys[places[at]!]!)
    let at = lists.length - 1
    while (at >= 0 && places[at] === lists[at]!.length - 1) places[at--] = 0
    if (at < 0) return
    places[at]!++
  }
}

// ---- Sources ----------------------------------------------------------------------------------------------------

/** Shown in errors about sources. */
export const exampleSources = '[{ "shop": { "$terms": { "field": "shop" } } }]'

function sourcesIn(options: AggregationOptions, over: Aggregating): Source[] {
  const given = options.get('sources')
  if (!Array.isArray(given) || given.length === 0) throw options.refused('sources', `a list such as ${exampleSources}`)
  const names = new Set<Bytes>()
  return given.map((one) => {
    const [name, definition] = onlyMember(one) ?? []
    const [operator, args] = onlyMember(definition) ?? []
    if (name === undefined || operator === undefined || !(args instanceof Map))
      throw options.refused('sources', `a list such as ${exampleSources}, with one member in each object,`)
    if (names.has(name)) throw options.refused('sources', `one source for each name, not two for '${shown(name)}'`)
    names.add(name)
    return sourceOf(name, operator, new AggregationOptions(options.name, operator, args, over), over)
  })
}

function onlyMember(value: Json | undefined): readonly [Bytes, Json] | undefined {
  const members = value instanceof Map && value.size === 1 ? [...(value as JsonObject)] : []
  return members[0]
}

function sourceOf(name: Bytes, operator: Bytes, options: AggregationOptions, over: Aggregating): Source {
  const { field, type, keyOf } = keysFor(operator, options)
  const descending = options.oneOf('order', ['asc', 'desc']) === 'desc'
  const hasMissing = options.boolean('missingBucket', false)
  const missingOrder = options.oneOf('missingOrder', ['default', 'first', 'last'])
  // [tantivy] By default, no value is less than any value.
  const missingFirst = missingOrder === 'default' ? !descending : missingOrder === 'first'
  const values = over.content.scalar(field.path)
  return {
    name,
    type,
    hasMissing,
    keysOf(id) {
      const own = values.chargedValuesOf(id, over.work)
      if (own.length === 0) return hasMissing ? [null] : own
      if (keyOf === undefined) return own
      return own.length === 1 ? [keyOf(Number(own[0]))] : [...new Set(own.map((value) => keyOf(Number(value))))]
    },
    compare(a, b) {
      if (a === null || b === null) return a === b ? 0 : (a === null) === missingFirst ? -1 : 1
      return descending ? compareScalars(b, a) : compareScalars(a, b)
    },
  }
}

interface Keys {
  readonly field: FieldDefinition
  readonly type: KeyType
  /** Converts a value to a key; absent if each value is a key. */
  readonly keyOf?: (value: number) => number
}

function keysFor(operator: Bytes, options: AggregationOptions): Keys {
  const common = ['field', 'order', 'missingBucket', 'missingOrder']
  switch (operator as string) {
    case '$terms': {
      const field = options.field(['U64', 'I64', 'F64', 'BOOL', 'DATE', 'KEYWORD'])
      options.only(...common)
      return { field, type: keyTypes[field.type] }
    }
    case '$histogram': {
      const field = options.field(['U64', 'I64', 'F64', 'DATE'])
      options.only(...common, 'interval')
      const interval = options.number('interval')
      if (interval === undefined || !(interval > 0)) throw options.refused('interval', 'a number above 0')
      return { field, type: field.type === 'DATE' ? 'dt' : 'f64', keyOf: (value) => floored(value, interval) }
    }
    case '$dateHistogram': {
      const field = options.field(['DATE'])
      options.only(...common, 'fixedInterval', 'calendarInterval')
      return { field, type: 'dt', keyOf: dateKeys(options) }
    }
    default:
      throw aggregationRefusal(
        options.name,
        `operator '$composite' has an unknown source '${shown(operator)}'. The sources are $terms, $histogram and $dateHistogram`,
      )
  }
}

const keyTypes: Readonly<Record<FieldDefinition['type'], KeyType>> = {
  TEXT: 'str',
  HYBRID: 'str',
  KEYWORD: 'str',
  FACET: 'str',
  U64: 'u64',
  I64: 'i64',
  F64: 'f64',
  BOOL: 'bool',
  DATE: 'dt',
}

/** Rounds down to a multiple of an interval. */
function floored(value: number, interval: number): number {
  const steps = Math.floor(value / interval)
  const key = steps * interval
  // If the interval is very small or very large, a number cannot express the quotient or the product.
  return Math.abs(steps) <= Number.MAX_SAFE_INTEGER && Number.isFinite(key) ? key : value
}

function dateKeys(options: AggregationOptions): (at: number) => number {
  const [fixed, calendar] = [options.text('fixedInterval'), options.text('calendarInterval')]
  if ((fixed === undefined) === (calendar === undefined))
    throw options.refused('fixedInterval', "a duration, or 'calendarInterval' instead")
  if (calendar !== undefined) {
    if (!Object.hasOwn(calendarStarts, calendar)) throw options.refused('calendarInterval', 'year, month or week')
    return calendarStarts[calendar as keyof typeof calendarStarts]
  }
  const interval = span(fixed)
  if (interval === undefined || interval <= 0) throw options.refused('fixedInterval', 'a duration such as 1d or 12h')
  return (at) => floored(at, interval)
}

const day = 86_400_000

/** Start of a calendar interval in UTC. A week begins on Monday. [tantivy] */
const calendarStarts = {
  year: (at: number): number => {
    const date = dateOf(at)
    date.setUTCMonth(0, 1)
    return floored(date.getTime(), day)
  },
  month: (at: number): number => {
    const date = dateOf(at)
    date.setUTCDate(1)
    return floored(date.getTime(), day)
  },
  week: (at: number): number => {
    // Day 0 of the epoch is a Thursday.
    const days = Math.floor(at / day) + 3
    return (Math.floor(days / 7) * 7 - 3) * day
  },
} as const

// ---- Replies and cursors ----------------------------------------------------------------------------------------

function namesAnd(sources: readonly Source[], value: (source: Source, at: number) => Reply): Reply {
  return sources.flatMap((source, at) => [source.name, value(source, at)])
}

function keyReply(key: Key, { type }: Source): Reply {
  if (key === null || typeof key === 'bigint') return key
  if (typeof key === 'string') return key as Bytes
  return type === 'bool' ? latin1(String(key === 1)) : numberReply(key)
}

/** Returns a key with its type. `null` stays null. */
function cursor(key: Key, { type }: Source): Reply {
  if (key === null) return null
  return latin1(`${type}:${type === 'bool' ? key === 1 : key}`)
}

/**
 * Returns the keys of the option `after`: an object, or alternating names and keys, because the SDK returns `afterKey`
 * in this form.
 */
function afterIn(options: AggregationOptions, sources: readonly Source[]): readonly Key[] | undefined {
  const given = options.get('after')
  if (given === undefined || given === null) return undefined
  const members = given instanceof Map ? [...given] : Array.isArray(given) ? pairsOf(given) : []
  const byName = new Map<Json, Json>(members)
  if (byName.size !== sources.length || !sources.every(({ name }) => byName.has(name)))
    throw options.refused('after', "the 'afterKey' of the previous page, which has the same sources")
  return sources.map((source) => {
    const key = keyIn(byName.get(source.name)!, source)
    if (key === undefined) throw options.refused('after', `a key of the type of source '${shown(source.name)}'`)
    return key
  })
}

function pairsOf(items: readonly Json[]): [Json, Json][] {
  return Array.from({ length: items.length >>> 1 }, (_, at) => [items[2 * at]!, items[2 * at + 1]!])
}

const typedKey = /^(str|u64|i64|f64|bool|dt):(.*)$/s

function keyIn(value: Json, { type, hasMissing }: Source): Key | undefined {
  if (value === null) return hasMissing ? null : undefined
  const [, given, rest] = (typeof value === 'string' ? typedKey.exec(value) : null) ?? []
  if (given === undefined || rest === undefined) return undefined
  if (type === 'str' || type === 'bool' || given === 'str' || given === 'bool') {
    if (given !== type) return undefined
    if (type === 'str') return rest
    return rest === 'true' ? 1 : rest === 'false' ? 0 : undefined
  }
  if (/^-?\d{1,20}$/.test(rest)) {
    const whole = BigInt(rest)
    return Number.isSafeInteger(Number(whole)) ? Number(whole) : whole
  }
  const number = parseDouble(rest as Bytes)
  return number !== undefined && Number.isFinite(number) ? number : undefined
}
