import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { PlainReply } from '../../../src/store/direct-store.js'
import { runs } from '../../support/effort.js'
import { running, searchingSandbox } from './searching.js'

// `$composite`. [search.md 13] A second implementation groups the documents by their values.

let run: ReturnType<typeof running>

beforeEach(async () => {
  run = running(await searchingSandbox())
})

const schema = 'k KEYWORD u U64 FAST i I64 FAST n F64 FAST b BOOL FAST d DATE FAST t TEXT slow F64 c FACET'

function fill(documents: readonly unknown[]): void {
  run('FLUSHDB')
  run(`SEARCH.CREATE i ON JSON PREFIX 1 x: SCHEMA ${schema}`)
  for (const [at, one] of documents.entries()) run(`JSON.SET x:${at} $`, JSON.stringify(one))
}

interface Page {
  readonly buckets: readonly {
    readonly key: readonly PlainReply[]
    readonly docCount: number
    readonly sum?: unknown
  }[]
  readonly afterKey?: readonly PlainReply[]
}

const objectOf = (pairs: readonly PlainReply[]) =>
  Object.fromEntries(Array.from({ length: pairs.length / 2 }, (_, at) => [pairs[2 * at], pairs[2 * at + 1]]))

function page(composite: unknown, filter: unknown = {}, aggs?: unknown): Page {
  const asked = { by: { $composite: composite, ...(aggs !== undefined && { $aggs: aggs }) } }
  const reply = run('SEARCH.AGGREGATE i', JSON.stringify(filter), JSON.stringify(asked)) as PlainReply[] | null
  if (reply === null) return { buckets: [] }
  expect(reply[0]).toBe('by')
  const { buckets, afterKey } = objectOf(reply[1] as PlainReply[]) as { buckets: PlainReply[][]; afterKey?: never }
  return { buckets: buckets.map(objectOf) as never, ...(afterKey !== undefined && { afterKey }) }
}

const books = [{ k: 'books', n: 20 }, { k: 'books', n: 25 }, { k: 'books', n: 31 }, { k: 'pens', n: 2 }, { n: 3 }]
const sources = [{ category: { $terms: { field: 'k' } } }, { price: { $histogram: { field: 'n', interval: 10 } } }]

describe('the reply', () => {
  it('has a bucket for each combination, and the keys with their types as the cursor of a full page', () => {
    fill(books)
    const asked = JSON.stringify({
      by: { $composite: { sources, size: 2 }, $aggs: { most: { $max: { field: 'n' } } } },
    })
    expect(run('SEARCH.AGGREGATE i', '{}', asked)).toEqual([
      'by',
      [
        'buckets',
        [
          ['key', ['category', 'books', 'price', 20], 'docCount', 2, 'most', ['value', 25]],
          ['key', ['category', 'books', 'price', 30], 'docCount', 1, 'most', ['value', 31]],
        ],
        'afterKey',
        ['category', 'str:books', 'price', 'f64:30'],
      ],
    ])
  })

  it('has no cursor if the page is not full, and no buckets after the last full page', () => {
    fill(books)
    const all = page({ sources })
    expect(all.buckets).toHaveLength(3)
    expect(all.afterKey).toBeUndefined()
    const full = page({ sources, size: 3 })
    expect(full.afterKey).toEqual(['category', 'str:pens', 'price', 'f64:0'])
    expect(page({ sources, size: 3, after: objectOf(full.afterKey!) })).toEqual({ buckets: [] })
    expect(run('SEARCH.AGGREGATE i', '{"k":"none"}', JSON.stringify({ by: { $composite: { sources } } }))).toBeNull()
  })

  it('has ten buckets by default', () => {
    fill(Array.from({ length: 12 }, (_, u) => ({ u })))
    expect(page({ sources: [{ u: { $terms: { field: 'u' } } }] }).buckets).toHaveLength(10)
  })

  it.each([
    [{ $terms: { field: 'u' } }, { u: 5 }, 5, 'u64:5'],
    [{ $terms: { field: 'i' } }, { i: -5 }, -5, 'i64:-5'],
    [{ $terms: { field: 'n' } }, { n: 0.1 }, '0.1', 'f64:0.1'],
    [{ $terms: { field: 'n' } }, { n: 1e21 }, expect.any(String), 'f64:1e+21'],
    [{ $terms: { field: 'b' } }, { b: true }, 'true', 'bool:true'],
    [{ $terms: { field: 'b' } }, { b: false }, 'false', 'bool:false'],
    [{ $terms: { field: 'k' } }, { k: 'a:b ü' }, 'a:b ü', 'str:a:b ü'],
    [{ $terms: { field: 'd' } }, { d: '1970-01-01T00:00:01Z' }, 1000, 'dt:1000'],
    [{ $histogram: { field: 'u', interval: 4 } }, { u: 5 }, 4, 'f64:4'],
    [{ $histogram: { field: 'i', interval: 4 } }, { i: -5 }, -8, 'f64:-8'],
    [{ $histogram: { field: 'd', interval: 300 } }, { d: '1970-01-01T00:00:01Z' }, 900, 'dt:900'],
    [{ $dateHistogram: { field: 'd', fixedInterval: '1d' } }, { d: '1970-01-02T07:00:00Z' }, 864e5, 'dt:86400000'],
    // 1970-01-01 is a Thursday.
    [
      { $dateHistogram: { field: 'd', calendarInterval: 'week' } },
      { d: '1970-01-04T23:59:59Z' },
      -3 * 864e5,
      'dt:-259200000',
    ],
    [{ $dateHistogram: { field: 'd', calendarInterval: 'week' } }, { d: '1970-01-05' }, 4 * 864e5, 'dt:345600000'],
    [
      { $dateHistogram: { field: 'd', calendarInterval: 'month' } },
      { d: '2024-02-29T12:00:00Z' },
      Date.UTC(2024, 1, 1),
      `dt:${Date.UTC(2024, 1, 1)}`,
    ],
    [
      { $dateHistogram: { field: 'd', calendarInterval: 'year' } },
      { d: '2024-12-31T23:00:00Z' },
      Date.UTC(2024, 0, 1),
      `dt:${Date.UTC(2024, 0, 1)}`,
    ],
    [{ $terms: { field: 'k', missingBucket: true } }, { u: 1 }, null, null],
  ])('names the key of %j', (source, document, key, cursor) => {
    fill([document])
    const found = page({ sources: [{ s: source }], size: 1 })
    expect(found).toEqual({ buckets: [{ key: ['s', key], docCount: 1 }], afterKey: ['s', cursor] })
    // The cursor is accepted in both forms, and is the last bucket.
    for (const after of [{ s: cursor }, ['s', cursor]])
      expect(page({ sources: [{ s: source }], size: 1, after }).buckets).toEqual([])
  })

  it('counts a document with several values in every combination once', () => {
    fill([{ k: ['a', 'b', 'a'], n: [1, 2, 11] }])
    const found = page({ sources })
    expect(found.buckets.map(({ key, docCount }) => [key[1], key[3], docCount])).toEqual([
      ['a', 0, 1],
      ['a', 10, 1],
      ['b', 0, 1],
      ['b', 10, 1],
    ])
  })

  it('can be a sub-aggregation, and have sub-aggregations that are buckets', () => {
    fill(books)
    const inner = { c: { $composite: { sources: [{ n: { $terms: { field: 'n' } } }], size: 1 } } }
    expect(
      run('SEARCH.AGGREGATE i', '{}', JSON.stringify({ k: { $terms: { field: 'k', size: 1 }, $aggs: inner } })),
    ).toEqual([
      'k',
      [
        'buckets',
        [
          [
            'key',
            'books',
            'docCount',
            3,
            'c',
            ['buckets', [['key', ['n', 20], 'docCount', 1]], 'afterKey', ['n', 'f64:20']],
          ],
        ],
        ...['sumOtherDocCount', 1, 'docCountErrorUpperBound', 0],
      ],
    ])
  })
})

describe('the order', () => {
  const order = (source: object) =>
    page({ sources: [{ k: { $terms: { field: 'k', missingBucket: true, ...source } } }] })
  it.each([
    [{}, [null, 'B', 'a', 'b']],
    [{ order: 'asc' }, [null, 'B', 'a', 'b']],
    [{ order: 'desc' }, ['b', 'a', 'B', null]],
    [{ missingOrder: 'default', order: 'desc' }, ['b', 'a', 'B', null]],
    [{ missingOrder: 'first' }, [null, 'B', 'a', 'b']],
    [{ missingOrder: 'last' }, ['B', 'a', 'b', null]],
    [{ missingOrder: 'first', order: 'desc' }, [null, 'b', 'a', 'B']],
    [{ missingOrder: 'last', order: 'desc' }, ['b', 'a', 'B', null]],
  ])('of %j is by bytes, with missing values at the right end', (source, expected) => {
    fill([{ k: 'b' }, { k: 'a' }, { n: 1 }, { k: 'B' }])
    expect(order(source).buckets.map(({ key }) => key[1])).toEqual(expected)
  })
})

describe('errors', () => {
  it.each([
    ['no sources', {}],
    ['an empty list', { sources: [] }],
    ['a source that is no object', { sources: ['k'] }],
    ['a source without a name', { sources: [{}] }],
    ['two names in one source', { sources: [{ a: { $terms: { field: 'k' } }, b: { $terms: { field: 'k' } } }] }],
    ['a name twice', { sources: [{ a: { $terms: { field: 'k' } } }, { a: { $terms: { field: 'u' } } }] }],
    ['an unknown kind of source', { sources: [{ a: { $range: { field: 'u' } } }] }],
    ['two kinds of source', { sources: [{ a: { $terms: { field: 'u' }, $histogram: { field: 'u', interval: 1 } } }] }],
    ['no field', { sources: [{ a: { $terms: {} } }] }],
    ['an unknown field', { sources: [{ a: { $terms: { field: 'none' } } }] }],
    ['a field that is not FAST', { sources: [{ a: { $terms: { field: 'slow' } } }] }],
    ['a TEXT field', { sources: [{ a: { $terms: { field: 't' } } }] }],
    ['a FACET field', { sources: [{ a: { $terms: { field: 'c' } } }] }],
    ['a histogram of words', { sources: [{ a: { $histogram: { field: 'k', interval: 1 } } }] }],
    ['no interval', { sources: [{ a: { $histogram: { field: 'n' } } }] }],
    ['an interval of 0', { sources: [{ a: { $histogram: { field: 'n', interval: 0 } } }] }],
    ['a date histogram of numbers', { sources: [{ a: { $dateHistogram: { field: 'n', fixedInterval: '1d' } } }] }],
    ['no date interval', { sources: [{ a: { $dateHistogram: { field: 'd' } } }] }],
    [
      'two date intervals',
      { sources: [{ a: { $dateHistogram: { field: 'd', fixedInterval: '1d', calendarInterval: 'week' } } }] },
    ],
    ['another calendar interval', { sources: [{ a: { $dateHistogram: { field: 'd', calendarInterval: 'day' } } }] }],
    [
      'a name that all objects have',
      { sources: [{ a: { $dateHistogram: { field: 'd', calendarInterval: 'toString' } } }] },
    ],
    ['another order', { sources: [{ a: { $terms: { field: 'k', order: 'up' } } }] }],
    ['another order of missing values', { sources: [{ a: { $terms: { field: 'k', missingOrder: 'middle' } } }] }],
    ['a missingBucket that is no boolean', { sources: [{ a: { $terms: { field: 'k', missingBucket: 1 } } }] }],
    ['an unknown option of a source', { sources: [{ a: { $terms: { field: 'k', size: 1 } } }] }],
    ['an unknown option', { sources, order: 'asc' }],
    ['a size of 0', { sources, size: 0 }],
    ['a size with a fraction', { sources, size: 1.5 }],
    ['a cursor with other names', { sources, after: { category: 'str:a', cost: 'f64:1' } }],
    ['a cursor with too few names', { sources, after: { category: 'str:a' } }],
    ['a cursor with too many names', { sources, after: { category: 'str:a', price: 'f64:1', more: 'f64:1' } }],
    ['a cursor without types', { sources, after: { category: 'a', price: 1 } }],
    ['a cursor with another type', { sources, after: { category: 'f64:1', price: 'f64:1' } }],
    ['a cursor that is no number', { sources, after: { category: 'str:a', price: 'f64:x' } }],
    ['a missing key without missingBucket', { sources, after: { category: null, price: 'f64:1' } }],
    ['a cursor that is a number', { sources, after: 7 }],
  ])('reject %s', (_name, composite) => {
    fill(books)
    expect(() => page(composite)).toThrow(/^ERR Aggregation 'by' /)
  })

  it('name the operator of the source', () => {
    fill(books)
    expect(() => page({ sources: [{ a: { $terms: { field: 'slow' } } }] })).toThrow(
      "ERR Aggregation 'by' operator '$terms' requires field 'slow' to be FAST",
    )
  })

  it.each([
    [
      [],
      `operator '$composite' takes an object such as { "sources": [{ "shop": { "$terms": { "field": "shop" } } }] }`,
    ],
    [{ sources: { shop: {} } }, `takes a list such as [{ "shop": { "$terms": { "field": "shop" } } }] for 'sources'`],
    [{ sources: [{ name: 'a', $terms: { field: 'k' } }] }, 'with one member in each object,'],
    [
      { sources: [{ a: { terms: { field: 'k' } } }] },
      "unknown source 'terms'. The sources are $terms, $histogram and $dateHistogram",
    ],
  ])('show the shape that is needed instead of %j', (given, needed) => {
    fill(books)
    expect(() => page(given)).toThrow(needed)
  })
})

// ---- Against naive grouping -------------------------------------------------------------------------------------

type Value = string | number | boolean
type Row = Readonly<Partial<Record<'k' | 'u' | 'i' | 'n' | 'b' | 'd', Value | readonly Value[]>>>
type Key = string | number | null

const several = <T extends Value>(one: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: one }, fc.array(one, { maxLength: 3 }))
const row: fc.Arbitrary<Row> = fc.record(
  {
    k: several(fc.constantFrom('a', 'b', 'B', 'ab', '10', '9', 'ü')),
    u: several(fc.integer({ min: 0, max: 6 })),
    i: several(fc.integer({ min: -3, max: 3 })),
    n: several(fc.oneof(fc.integer({ min: -20, max: 20 }), fc.constantFrom(0.25, -7.5, 1e9))),
    b: fc.boolean(),
    d: several(
      fc
        .integer({ min: -400, max: 400 })
        .map((days) => new Date(Date.UTC(2024, 0, 1) + days * 29 * 3_600_000).toISOString()),
    ),
  },
  { requiredKeys: [] },
)

interface Given {
  readonly wire: Record<string, unknown>
  readonly field: keyof Row
  readonly keyOf: (value: Value) => Key
  readonly descending: boolean
  readonly missing: 'none' | 'first' | 'last'
}

const ms = (value: Value) => Date.parse(value as string)
const dayStart = (date: Date) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate())

function monday(value: Value): number {
  const date = new Date(dayStart(new Date(ms(value))))
  while (date.getUTCDay() !== 1) date.setUTCDate(date.getUTCDate() - 1)
  return date.getTime()
}

const kinds: fc.Arbitrary<Pick<Given, 'field' | 'keyOf'> & { readonly operator: string; readonly args: object }> =
  fc.oneof(
    fc.constantFrom(
      { operator: '$terms', field: 'k', args: {}, keyOf: (value: Value) => value as string },
      { operator: '$terms', field: 'u', args: {}, keyOf: Number },
      { operator: '$terms', field: 'i', args: {}, keyOf: Number },
      { operator: '$terms', field: 'n', args: {}, keyOf: Number },
      { operator: '$terms', field: 'b', args: {}, keyOf: Number },
      { operator: '$terms', field: 'd', args: {}, keyOf: ms },
      {
        operator: '$dateHistogram',
        field: 'd',
        args: { fixedInterval: '36h' },
        keyOf: (value: Value) => Math.floor(ms(value) / 129_600_000) * 129_600_000,
      },
      { operator: '$dateHistogram', field: 'd', args: { calendarInterval: 'week' }, keyOf: monday },
      {
        operator: '$dateHistogram',
        field: 'd',
        args: { calendarInterval: 'month' },
        keyOf: (value: Value) => Date.UTC(new Date(ms(value)).getUTCFullYear(), new Date(ms(value)).getUTCMonth(), 1),
      },
      {
        operator: '$dateHistogram',
        field: 'd',
        args: { calendarInterval: 'year' },
        keyOf: (value: Value) => Date.UTC(new Date(ms(value)).getUTCFullYear(), 0, 1),
      },
    ),
    fc.tuple(fc.constantFrom('u', 'i', 'n'), fc.constantFrom(0.5, 2, 7)).map(([field, interval]) => ({
      operator: '$histogram',
      field,
      args: { interval },
      keyOf: (value: Value) => Math.floor((value as number) / interval) * interval,
    })),
  ) as never

const source: fc.Arbitrary<Given> = fc
  .record({
    kind: kinds,
    order: fc.constantFrom(undefined, 'asc', 'desc'),
    missingBucket: fc.constantFrom(undefined, true, false),
    missingOrder: fc.constantFrom(undefined, 'default', 'first', 'last'),
  })
  .map(({ kind: { operator, args, field, keyOf }, ...options }) => {
    const atStart = options.missingOrder === 'first' || (options.missingOrder !== 'last' && options.order !== 'desc')
    return {
      wire: { [operator]: { field, ...args, ...options } },
      field,
      keyOf,
      descending: options.order === 'desc',
      missing: options.missingBucket !== true ? 'none' : atStart ? 'first' : 'last',
    }
  })

/** Returns all buckets: the keys, the number of documents, and the sum of their `u`. */
function grouped(
  rows: readonly Row[],
  given: readonly Given[],
): { keys: Key[]; docCount: number; sum: number | null }[] {
  const groups = new Map<string, { keys: Key[]; rows: Set<Row> }>()
  for (const one of rows) {
    let all: Key[][] = [[]]
    for (const { field, keyOf, missing } of given) {
      const own: Key[] = [one[field] ?? []].flat().map(keyOf as never)
      if (own.length === 0 && missing !== 'none') own.push(null)
      all = all.flatMap((keys) => own.map((key) => [...keys, key]))
    }
    for (const keys of all) {
      const name = JSON.stringify(keys)
      const group = groups.get(name) ?? { keys, rows: new Set() }
      groups.set(name, group)
      group.rows.add(one)
    }
  }
  const compare = (a: Key, b: Key, { descending, missing }: Given) => {
    if (a === b) return 0
    if (a === null || b === null) return (a === null) === (missing === 'first') ? -1 : 1
    const order = typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(b as string)) : a - (b as number)
    return descending ? -order : order
  }
  return [...groups.values()]
    .sort((a, b) => given.map((one, at) => compare(a.keys[at]!, b.keys[at]!, one)).find((order) => order !== 0) ?? 0)
    .map(({ keys, rows }) => {
      const values = [...rows].flatMap(({ u }) => [...new Set([u ?? []].flat())]) as number[]
      return { keys, docCount: rows.size, sum: values.length === 0 ? null : values.reduce((a, b) => a + b, 0) }
    })
}

it('pages of any size are, one after the other, the groups of the documents', () => {
  fc.assert(
    fc.property(
      fc.array(row, { maxLength: 14 }),
      fc.array(source, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 6 }),
      fc.boolean(),
      (rows, given, size, asObject) => {
        fill(rows)
        const sources = given.map(({ wire }, at) => ({ [`s${at}`]: wire }))
        const aggs = { sum: { $sum: { field: 'u' } } }
        const expected = grouped(rows, given).map(({ keys, docCount, sum }) => ({
          key: keys.flatMap((key, at) => [
            `s${at}`,
            given[at]!.field === 'b' && key !== null
              ? String(key === 1)
              : typeof key === 'number' && !Number.isInteger(key)
                ? String(key)
                : key === 0
                  ? 0
                  : key,
          ]),
          docCount,
          sum: ['value', sum],
        }))
        expect(page({ sources, size: 10_000 }, {}, aggs).buckets).toEqual(expected)
        const found: unknown[] = []
        let after: unknown
        for (let pages = 0; pages <= expected.length; pages++) {
          const { buckets, afterKey } = page({ sources, size, ...(after !== undefined && { after }) }, {}, aggs)
          found.push(...buckets)
          expect(afterKey !== undefined).toBe(buckets.length === size)
          if (afterKey === undefined) break
          after = asObject ? objectOf(afterKey) : afterKey
        }
        expect(found).toEqual(expected)
      },
    ),
    { numRuns: runs(150, 400, 4000) },
  )
})

it('keeps the first buckets of very many', () => {
  run(`SEARCH.CREATE i ON HASH PREFIX 1 x: SCHEMA u U64 FAST n F64 FAST`)
  // More different keys than a page needs to remember, in an order that mixes small and large ones. Each key occurs
  // again later, when only the first keys are remembered.
  for (let at = 0; at < 2 * 4999; at++) run(`HSET x:${at} u ${(at * 2711) % 4999} n 1`)
  const bucketsOf = (composite: object) =>
    page({ size: 4, ...composite }, {}, { sum: { $sum: { field: 'n' } } }).buckets
  const twice = (...keys: number[]) => keys.map((u) => ({ key: ['u', u], docCount: 2, sum: ['value', 2] }))
  const up = [{ u: { $terms: { field: 'u' } } }]
  expect(bucketsOf({ sources: up })).toEqual(twice(0, 1, 2, 3))
  expect(bucketsOf({ sources: up, after: { u: 'u64:2500' } })).toEqual(twice(2501, 2502, 2503, 2504))
  const down = [{ u: { $terms: { field: 'u', order: 'desc' } } }]
  expect(bucketsOf({ sources: down })).toEqual(twice(4998, 4997, 4996, 4995))
  expect(bucketsOf({ sources: down, after: { u: 'f64:1.5' } })).toEqual(twice(1, 0))
})
