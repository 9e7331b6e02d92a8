import { type Bytes, latin1, text, utf8 } from '../../kernel/bytes.js'
import type { Reply } from '../command/reply.js'
import { compileRegex } from '../values/regex.js'
import type { FieldDefinition } from '../values/search-definition.js'
import type { Aggregating, AggregationOptions } from './aggregation-options.js'
import { flat, keyPairs, numberReply, type Pairs } from './aggregation-replies.js'
import type { BucketCount } from './bucket-count.js'
import { dateText, scalarOf } from './field-values.js'
import type { Computing } from './metrics.js'
import { compareScalars, type Scalar } from './sorted-values.js'

/** Sub-aggregation that is computed in each bucket. */
export interface Inner {
  readonly name: Bytes
  readonly compute: Computing
  readonly isSingle: boolean
}

export type BucketOperator = (options: AggregationOptions, over: Aggregating, inner: readonly Inner[]) => Computing

/** Operators that create buckets. [search.md 13] */
export const bucketOperators: Readonly<Record<string, BucketOperator>> = {
  $terms: terms,
  $range: ranges,
  $histogram: histogram,
  $dateHistogram: dateHistogram,
}

/** Units of work for a bucket, in addition to the units for each sub-aggregation in the bucket. */
const costOfBucket = 16

export function innerPairs(inner: readonly Inner[], ids: readonly number[], { work }: Aggregating): Pairs {
  work.charge(costOfBucket * (1 + inner.length))
  return inner.map(({ name, compute }) => [name, compute(ids)])
}

// ---- $terms -----------------------------------------------------------------------------------------------------

interface Bucket {
  readonly key: Scalar
  readonly ids: number[]
}

/**
 * Implements `$terms`. By default, the result has ten buckets. Buckets with the most documents come first, and buckets
 * with equally many documents have the order of first occurrence. This package chose these rules; public sources leave
 * them open.
 */
function terms(options: AggregationOptions, over: Aggregating, inner: readonly Inner[]): Computing {
  const field = options.field(['U64', 'I64', 'F64', 'DATE', 'BOOL', 'KEYWORD'])
  options.only(
    ...['field', 'size', 'segmentSize', 'showTermDocCountError', 'minDocCount'],
    ...['order', 'missing', 'include', 'exclude'],
  )
  const size = options.whole('size', 10, 1)
  options.whole('segmentSize', 1, 1)
  const showsError = options.boolean('showTermDocCountError', false)
  const least = options.whole('minDocCount', 1, 0)
  const missing = options.missing(field)
  const isWanted = wantedKeys(options, field, over)
  const compare = bucketOrder(options, inner)
  const values = over.content.scalar(field.path)
  const collect = (ids: readonly number[], buckets: Map<Scalar, Bucket>, counts: boolean): void => {
    over.work.charge(4 * ids.length)
    for (const id of ids) {
      const own = values.chargedValuesOf(id, over.work)
      for (const key of own.length === 0 && missing !== undefined ? [missing] : own) {
        let bucket = buckets.get(key)
        if (bucket === undefined) {
          bucket = { key, ids: [] }
          buckets.set(key, bucket)
        }
        if (counts) bucket.ids.push(id)
      }
    }
  }
  return (ids) => {
    const found = new Map<Scalar, Bucket>()
    collect(ids, found, true)
    // Adds the values that occur only in documents outside the result, with a count of 0.
    if (least === 0) collect(over.content.ids, found, false)
    const buckets = [...found.values()].filter((bucket) => bucket.ids.length >= least && isWanted(bucket.key))
    over.buckets.add(Math.min(size, buckets.length))
    over.work.charge(8 * buckets.length)
    buckets.sort(compare)
    const others = buckets.slice(size).reduce((sum, bucket) => sum + bucket.ids.length, 0)
    const rows = buckets
      .slice(0, size)
      .map((bucket) =>
        flat([
          ...keyPairs(field, bucket.key),
          ['docCount', bucket.ids.length],
          ...(showsError ? [['docCountErrorUpperBound', 0] as const] : []),
          ...innerPairs(inner, bucket.ids, over),
        ]),
      )
    return flat([
      ['buckets', rows],
      ['sumOtherDocCount', others],
      ['docCountErrorUpperBound', 0],
    ])
  }
}

function bucketOrder(options: AggregationOptions, inner: readonly Inner[]): (a: Bucket, b: Bucket) => number {
  const { by, descending } = options.order() ?? { by: latin1('count'), descending: true }
  const sign = descending ? -1 : 1
  if (by === 'key') return (a, b) => sign * compareScalars(a.key, b.key)
  if (by === 'count') return (a, b) => sign * (a.ids.length - b.ids.length)
  const metric = inner.find(({ name }) => name === by)
  if (metric === undefined || !metric.isSingle)
    throw options.refused('order', 'count, key, or a metric in $aggs that has a single value')
  const known = new Map<Bucket, number>()
  const worthOf = (bucket: Bucket): number => {
    let value = known.get(bucket)
    if (value === undefined) {
      const [, reply] = metric.compute(bucket.ids) as readonly [Reply, Reply]
      value = reply === null ? Number.NEGATIVE_INFINITY : Number(reply)
      known.set(bucket, value)
    }
    return value
  }
  return (a, b) => {
    const [one, other] = [worthOf(a), worthOf(b)]
    return one === other ? 0 : sign * (one - other)
  }
}

function wantedKeys(options: AggregationOptions, field: FieldDefinition, over: Aggregating): (key: Scalar) => boolean {
  const included = keyTest(options, 'include', field, over)
  const excluded = keyTest(options, 'exclude', field, over)
  return (key) => (included?.(key) ?? true) && !(excluded?.(key) ?? false)
}

/** Returns a function that tests a key. The option is a pattern that must match the whole key, or a list of keys. */
function keyTest(
  options: AggregationOptions,
  name: string,
  field: FieldDefinition,
  over: Aggregating,
): ((key: Scalar) => boolean) | undefined {
  const given = options.get(name)
  if (given === undefined) return undefined
  if (Array.isArray(given)) {
    const keys = new Set(given.map((value) => scalarOf(field.type, value) ?? options.bound(name, value)))
    return (key) => keys.has(key)
  }
  if (typeof given !== 'string' || field.type !== 'KEYWORD')
    throw options.refused(name, field.type === 'KEYWORD' ? 'a pattern or a list' : 'a list')
  const pattern = text(given)
  const regex = compileRegex(pattern) && compileRegex(`\\A(?:${pattern})\\z`)
  if (regex === undefined) throw options.refused(name, 'a valid pattern')
  return (key) => regex.test(text(key as Bytes), (steps) => over.work.charge(steps))
}

// ---- $range -----------------------------------------------------------------------------------------------------

interface Range {
  readonly key: Bytes
  readonly from: number | undefined
  readonly to: number | undefined
}

/**
 * Implements `$range`. The ranges keep their given order, and values between ranges have no bucket. This package chose
 * these rules; public sources leave them open.
 */
function ranges(options: AggregationOptions, over: Aggregating, inner: readonly Inner[]): Computing {
  const field = options.field(['U64', 'I64', 'F64', 'DATE'])
  options.only('field', 'ranges', 'keyed')
  const isKeyed = options.boolean('keyed', false)
  const all = rangesIn(options, field)
  const values = over.content.scalar(field.path)
  return (ids) => {
    over.buckets.add(all.length)
    over.work.charge(2 * ids.length * all.length)
    const rows = all.map(({ key, from, to }) => {
      const low = from === undefined ? undefined : { value: from, inclusive: true }
      const high = to === undefined ? undefined : { value: to, inclusive: false }
      const within = ids.filter((id) => values.hasWithin(id, low, high, over.work))
      const row = flat([
        ['key', key],
        ['docCount', within.length],
        ...edge('from', from, field),
        ...edge('to', to, field),
        ...innerPairs(inner, within, over),
      ])
      return [key, row] as const
    })
    return bucketsReply(rows, isKeyed)
  }
}

function edge(name: string, value: number | undefined, { type }: FieldDefinition): Pairs {
  if (value === undefined) return []
  const pair = [name, numberReply(value)] as const
  return type === 'DATE' ? [pair, [`${name}AsString`, dateText(value)]] : [pair]
}

function rangesIn(options: AggregationOptions, { type }: FieldDefinition): Range[] {
  const given = options.get('ranges')
  if (!Array.isArray(given) || given.length === 0) throw options.refused('ranges', 'a list with at least one range')
  return given.map((range) => {
    if (!(range instanceof Map)) throw options.refused('ranges', 'objects')
    const end = (name: string) => {
      const value = range.get(name as Bytes)
      return value === undefined || value === null ? undefined : options.bound('ranges', value)
    }
    const [from, to, key] = [end('from'), end('to'), range.get(latin1('key'))]
    if (key !== undefined && typeof key !== 'string') throw options.refused('ranges', 'a string for each key')
    const shown = (value: number | undefined) =>
      value === undefined ? '*' : type === 'DATE' ? dateText(value) : String(value)
    return { from, to, key: key ?? latin1(`${shown(from)}-${shown(to)}`) }
  })
}

/**
 * Returns a list of buckets, or alternating keys and buckets if `keyed` is set. This package chose the form for
 * `keyed`; public sources leave it open.
 */
function bucketsReply(rows: readonly (readonly [key: Bytes, row: Reply])[], isKeyed: boolean): Reply {
  return flat([['buckets', isKeyed ? rows.flat() : rows.map(([, row]) => row)]])
}

function histogram(options: AggregationOptions, over: Aggregating, inner: readonly Inner[]): Computing {
  const field = options.field(['U64', 'I64', 'F64', 'DATE'])
  options.only('field', 'interval', 'offset', 'minDocCount', 'hardBounds', 'extendedBounds', 'keyed')
  const interval = options.number('interval')
  if (interval === undefined || !(interval > 0)) throw options.refused('interval', 'a number above 0')
  return steps(options, over, inner, { field, interval, offset: options.number('offset', 0) })
}

function dateHistogram(options: AggregationOptions, over: Aggregating, inner: readonly Inner[]): Computing {
  const field = options.field(['DATE'])
  options.only('field', 'fixedInterval', 'offset', 'minDocCount', 'hardBounds', 'extendedBounds', 'keyed')
  const interval = span(options.text('fixedInterval'))
  if (interval === undefined || interval <= 0)
    throw options.refused('fixedInterval', 'a duration such as 1d, 12h or 30m')
  const offset = span(options.text('offset') ?? '0s')
  if (offset === undefined) throw options.refused('offset', 'a duration such as 1h or -30m')
  return steps(options, over, inner, { field, interval, offset })
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Parses durations such as `30d` to milliseconds. The units m, h and d are documented; this package added ms, s and
 * signs. [search.md 13]
 */
export function span(given: string | undefined): number | undefined {
  const parts = /^([+-]?)(\d{1,12})(ms|[smhd])$/.exec(given ?? '')
  if (parts === null) return undefined
  return (parts[1] === '-' ? -1 : 1) * Number(parts[2]) * units[parts[3]!]!
}

interface Steps {
  readonly field: FieldDefinition
  readonly interval: number
  readonly offset: number
}

/**
 * Returns buckets of equal width. Empty buckets between others are included, unless `minDocCount` excludes them. This
 * package chose this rule; public sources leave it open.
 */
function steps(
  options: AggregationOptions,
  over: Aggregating,
  inner: readonly Inner[],
  { field, interval, offset }: Steps,
): Computing {
  const least = options.whole('minDocCount', 0, 0)
  const hard = options.bounds('hardBounds')
  const extended = options.bounds('extendedBounds')
  const isKeyed = options.boolean('keyed', false)
  const values = over.content.scalar(field.path)
  const stepOf = (value: number): number => Math.floor((value - offset) / interval)
  return (ids) => {
    over.work.charge(4 * ids.length)
    const found = new Map<number, number[]>()
    for (const id of ids) {
      const own = new Set<number>()
      for (const scalar of values.chargedValuesOf(id, over.work)) {
        const value = Number(scalar)
        if (hard === undefined || (value >= hard.min && value <= hard.max)) own.add(stepOf(value))
      }
      for (const step of own) {
        const bucket = found.get(step)
        if (bucket === undefined) found.set(step, [id])
        else bucket.push(id)
      }
    }
    const ends = extended && ([stepOf(extended.min), stepOf(extended.max)] as const)
    const between = stepsBetween(found, least, ends, over.buckets)
    const rows = between.map((step) => {
      const within = found.get(step) ?? []
      const key = step * interval + offset
      const row = flat([...keyPairs(field, key), ['docCount', within.length], ...innerPairs(inner, within, over)])
      return [utf8(field.type === 'DATE' ? dateText(key) : String(key)), row] as const
    })
    return bucketsReply(rows, isKeyed)
  }
}

function stepsBetween(
  found: ReadonlyMap<number, readonly number[]>,
  least: number,
  extended: readonly [number, number] | undefined,
  buckets: BucketCount,
): number[] {
  if (least > 0) {
    const steps = [...found].filter(([, ids]) => ids.length >= least).map(([step]) => step)
    buckets.add(steps.length)
    return steps.sort((a, b) => a - b)
  }
  let [first, last] = extended ?? [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const step of found.keys()) [first, last] = [Math.min(first, step), Math.max(last, step)]
  if (first > last) return []
  const count = last - first + 1
  buckets.add(count)
  return Array.from({ length: count }, (_, at) => first + at)
}
