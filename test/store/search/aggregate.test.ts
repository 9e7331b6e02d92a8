import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import type { PlainReply } from '../../../src/store/direct-store.js'
import { runs } from '../../support/effort.js'
import { running, searchingSandbox } from './searching.js'

// search.md 13: formats and values. A second implementation computes the values from their definitions.

let sandbox: Sandbox

beforeEach(async () => {
  sandbox = await searchingSandbox({ policy: { searchEmptyAggregate: 'values' } })
})

/** Converts alternating names and values to an object, and lists of these to lists of objects. */
function decoded(reply: PlainReply): unknown {
  if (!Array.isArray(reply))
    return typeof reply === 'string' && reply !== '' && !Number.isNaN(Number(reply)) ? Number(reply) : reply
  if (reply.length > 0 && typeof reply[0] === 'string')
    return Object.fromEntries(
      Array.from({ length: reply.length / 2 }, (_, at) => [reply[2 * at], decoded(reply[2 * at + 1]!)]),
    )
  return reply.map(decoded)
}

const schema = 'n F64 FAST u U64 FAST d DATE FAST b BOOL FAST k KEYWORD c FACET t TEXT w TEXT NOTOKENIZE slow F64'

function aggregate(aggregations: unknown, filter: unknown = {}): Record<string, never> {
  return decoded(running(sandbox)('SEARCH.AGGREGATE i', JSON.stringify(filter), JSON.stringify(aggregations))) as never
}

function fill(documents: readonly unknown[]): void {
  const run = running(sandbox)
  run('FLUSHDB')
  run(`SEARCH.CREATE i ON JSON PREFIX 1 x: SCHEMA ${schema}`)
  for (const [at, one] of documents.entries()) run(`JSON.SET x:${at} $`, JSON.stringify(one))
}

interface Row {
  readonly n?: number
  readonly u?: number
  readonly d?: string
  readonly b?: boolean
  readonly k?: string
  readonly c?: string | readonly string[]
}

const day = fc.integer({ min: 0, max: 40 }).map((hours) => new Date(Date.UTC(2024, 0, 1, hours * 7)).toISOString())
const row: fc.Arbitrary<Row> = fc.record(
  {
    n: fc.oneof(fc.integer({ min: -20, max: 20 }), fc.constantFrom(0.5, 2.25, -7.75)),
    u: fc.integer({ min: 0, max: 5 }),
    d: day,
    b: fc.boolean(),
    k: fc.constantFrom('a', 'b', 'ab', 'c'),
    c: fc.oneof(fc.constantFrom('/x', '/x/y', '/x/y/z', '/w'), fc.constant(['/x/y', '/x/q', '/w/v'])),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Row>

const rows = fc.array(row, { maxLength: 25 })
const close = (value: number | null): unknown => (value === null ? null : expect.closeTo(value, 6))

function values(all: readonly Row[], name: 'n' | 'u' | 'd' | 'b', missing?: number): number[] {
  return all.flatMap((one) => {
    const value = one[name]
    if (value === undefined) return missing === undefined ? [] : [missing]
    return [typeof value === 'string' ? Date.parse(value) : Number(value)]
  })
}

it('metrics have the values of their definitions', () => {
  fc.assert(
    fc.property(
      rows,
      fc.constantFrom('n', 'u', 'd', 'b'),
      fc.option(fc.integer({ min: -3, max: 3 }), { nil: undefined }),
      (all, field, missing) => {
        fill(all)
        const own = values(all, field, missing)
        const sum = own.reduce((a, b) => a + b, 0)
        const mean = sum / own.length
        const args = missing === undefined ? { field } : { field, missing }
        const given = aggregate({
          avg: { $avg: args },
          sum: { $sum: args },
          min: { $min: args },
          max: { $max: args },
          count: { $count: args },
          different: { $cardinality: args },
          stats: { $stats: args },
        })
        const stats = {
          count: own.length,
          min: own.length === 0 ? null : Math.min(...own),
          max: own.length === 0 ? null : Math.max(...own),
          avg: close(own.length === 0 ? null : mean),
        }
        expect(given).toEqual({
          avg: { value: stats.avg },
          sum: { value: close(own.length === 0 ? null : sum) },
          min: { value: stats.min },
          max: { value: stats.max },
          count: { value: own.length },
          different: { value: new Set(own).size },
          stats: { ...stats, sum: close(sum) },
        })
        if (field === 'b') return
        const half = [...own].sort((a, b) => a - b)
        const middle =
          own.length === 0
            ? null
            : (half[Math.floor((own.length - 1) / 2)]! + half[Math.ceil((own.length - 1) / 2)]!) / 2
        expect(aggregate({ a: { $percentiles: { ...args, percents: [0, 50, 100] } } })).toEqual({
          a: { values: { '0.0': stats.min, '50.0': close(middle), '100.0': stats.max } },
        })
        if (field === 'd' || own.length < 2) return
        const spread = own.map((value) => (value - mean) ** 2).reduce((a, b) => a + b, 0)
        expect(aggregate({ a: { $extendedStats: args } }).a).toMatchObject({
          count: own.length,
          sumOfSquares: close(own.map((value) => value ** 2).reduce((a, b) => a + b, 0)),
          variance: close(spread / own.length),
          variancePopulation: close(spread / own.length),
          varianceSampling: close(spread / (own.length - 1)),
          stdDeviation: close(Math.sqrt(spread / own.length)),
          stdDeviationSampling: close(Math.sqrt(spread / (own.length - 1))),
        })
      },
    ),
    { numRuns: runs(100, 100, 1000) },
  )
})

it('percentiles and statistics of one list have known values', () => {
  fill([2, 4, 4, 4, 5, 5, 7, 9].map((n) => ({ n })))
  expect(aggregate({ a: { $extendedStats: { field: 'n' } } }).a).toEqual({
    count: 8,
    min: 2,
    max: 9,
    sum: 40,
    avg: 5,
    sumOfSquares: 232,
    variance: 4,
    variancePopulation: 4,
    varianceSampling: expect.closeTo(32 / 7),
    stdDeviation: 2,
    stdDeviationPopulation: 2,
    stdDeviationSampling: expect.closeTo(Math.sqrt(32 / 7)),
    stdDeviationBounds: {
      upper: 9,
      lower: 1,
      upperPopulation: 9,
      lowerPopulation: 1,
      upperSampling: expect.closeTo(5 + 2 * Math.sqrt(32 / 7)),
      lowerSampling: expect.closeTo(5 - 2 * Math.sqrt(32 / 7)),
    },
  })
  expect(aggregate({ a: { $extendedStats: { field: 'n', sigma: 3 } } }).a).toMatchObject({
    stdDeviationBounds: { upper: 11, lower: -1 },
  })
  fill(Array.from({ length: 101 }, (_, n) => ({ n })))
  expect(aggregate({ a: { $percentiles: { field: 'n' } } })).toEqual({
    a: { values: { '1.0': 1, '5.0': 5, '25.0': 25, '50.0': 50, '75.0': 75, '95.0': 95, '99.0': 99 } },
  })
  expect(aggregate({ a: { $percentiles: { field: 'n', percents: [50, 99.5], keyed: false } } })).toEqual({
    a: {
      values: [
        { key: 50, value: 50 },
        { key: 99.5, value: 99.5 },
      ],
    },
  })
})

it('buckets have the content of their definitions', () => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 4 }), (all, interval) => {
      fill(all)
      const given = aggregate({
        words: { $terms: { field: 'k', size: 2 }, $aggs: { sum: { $sum: { field: 'n' } } } },
        byKey: { $terms: { field: 'u', order: { key: 'asc' }, minDocCount: 2 } },
        bySum: {
          $terms: { field: 'k', order: { sum: 'asc' }, missing: 'none' },
          $aggs: { sum: { $sum: { field: 'u', missing: 0 } } },
        },
        some: { $terms: { field: 'k', include: 'a.*', exclude: ['ab'] } },
        ranges: { $range: { field: 'n', ranges: [{ to: 0 }, { from: 0, to: 5, key: 'few' }, { from: 3 }] } },
        steps: { $histogram: { field: 'n', interval, offset: 0.5 } },
        filled: { $histogram: { field: 'u', interval, minDocCount: 1, hardBounds: { min: 1, max: 4 } } },
        wide: { $histogram: { field: 'u', interval: 1, extendedBounds: { min: -1, max: 7 } } },
        days: { $dateHistogram: { field: 'd', fixedInterval: '1d', offset: '6h' } },
      }) as unknown as Record<
        string,
        { buckets: Record<string, unknown>[]; sumOtherDocCount: number; docCountErrorUpperBound: number }
      >
      const counted = <T>(keys: readonly T[]) => {
        const counts = new Map<T, number>()
        for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
        return counts
      }
      const of = <N extends keyof Row>(name: N) => all.flatMap((one) => (one[name] === undefined ? [] : [one[name]!]))
      const counts = counted(of('k'))
      const words = given.words!
      expect(words.buckets.map(({ docCount }) => docCount)).toEqual(
        [...counts.values()].sort((a, b) => b - a).slice(0, 2),
      )
      for (const { key, docCount, sum } of words.buckets) {
        expect(docCount).toBe(counts.get(key as string))
        expect(sum).toEqual({
          value: close(
            values(
              all.filter(({ k }) => k === key),
              'n',
            ).reduce<number | null>((a, b) => (a ?? 0) + b, null),
          ),
        })
      }
      expect(words.sumOtherDocCount).toBe(
        of('k').length - words.buckets.reduce((sum, { docCount }) => sum + (docCount as number), 0),
      )
      expect(words.docCountErrorUpperBound).toBe(0)
      expect(given.byKey!.buckets).toEqual(
        [...counted(of('u'))]
          .filter(([, count]) => count > 1)
          .sort(([a], [b]) => a - b)
          .map(([key, docCount]) => ({ key, docCount })),
      )
      const sums = given.bySum!.buckets.map(({ sum }) => (sum as { value: number }).value)
      expect(sums).toEqual([...sums].sort((a, b) => a - b))
      expect(given.bySum!.buckets.find(({ key }) => key === 'none')?.docCount ?? 0).toBe(
        all.filter(({ k }) => k === undefined).length,
      )
      expect(given.some!.buckets.map(({ key }) => key)).toEqual(counts.has('a') ? ['a'] : [])
      const n = of('n')
      expect(given.ranges!.buckets).toEqual([
        { key: '*-0', docCount: n.filter((one) => one < 0).length, to: 0 },
        { key: 'few', docCount: n.filter((one) => one >= 0 && one < 5).length, from: 0, to: 5 },
        { key: '3-*', docCount: n.filter((one) => one >= 3).length, from: 3 },
      ])
      const step = (value: number, size: number, offset: number) => Math.floor((value - offset) / size) * size + offset
      const found = counted(n.map((one) => step(one, interval, 0.5)))
      const edges = [...found.keys()]
      const expected =
        edges.length === 0
          ? []
          : Array.from(
              { length: (Math.max(...edges) - Math.min(...edges)) / interval + 1 },
              (_, at) => Math.min(...edges) + at * interval,
            )
      expect(given.steps!.buckets).toEqual(expected.map((key) => ({ key, docCount: found.get(key) ?? 0 })))
      const within = counted(
        of('u')
          .filter((one) => one >= 1 && one <= 4)
          .map((one) => step(one, interval, 0)),
      )
      expect(given.filled!.buckets).toEqual(
        [...within].sort(([a], [b]) => a - b).map(([key, docCount]) => ({ key, docCount })),
      )
      expect(given.wide!.buckets).toEqual(
        [-1, 0, 1, 2, 3, 4, 5, 6, 7].map((key) => ({ key, docCount: of('u').filter((one) => one === key).length })),
      )
      const dayOf = (text: string) => step(Date.parse(text), 86_400_000, 6 * 3_600_000)
      for (const { key, keyAsString, docCount } of given.days!.buckets) {
        expect(docCount).toBe(of('d').filter((text) => dayOf(text) === key).length)
        expect(keyAsString).toBe(new Date(key as number).toISOString().replace('.000Z', 'Z'))
      }
      expect(given.days!.buckets.reduce((sum, { docCount }) => sum + (docCount as number), 0)).toBe(of('d').length)
    }),
    { numRuns: runs(100, 100, 1000) },
  )
})

it('facets count each document once per level', () => {
  interface Node {
    readonly path: string
    readonly docCount: number
    readonly sumOtherDocCount: number
    readonly children?: readonly Node[]
  }
  fc.assert(
    fc.property(
      rows,
      fc.constantFrom('/', '/x', '/x/y', '/none'),
      fc.integer({ min: 1, max: 3 }),
      (all, path, depth) => {
        fill(all)
        const { a } = aggregate({ a: { $facet: { field: 'c', path, depth, order: { path: 'asc' } } } }) as unknown as {
          a: Node
        }
        const of = (one: Row): readonly string[] => (one.c === undefined ? [] : [one.c].flat())
        const children = (parent: string, left: number): Node[] => {
          const start = parent === '/' ? '/' : `${parent}/`
          const names = new Set(
            all
              .flatMap(of)
              .filter((facet) => facet.startsWith(start))
              .map((facet) => start + facet.slice(start.length).split('/')[0]),
          )
          return [...names].sort().map((name) => ({
            path: name,
            docCount: all.filter((one) => of(one).some((facet) => facet === name || facet.startsWith(`${name}/`)))
              .length,
            sumOtherDocCount: 0,
            ...(left > 1 && { children: children(name, left - 1) }),
          }))
        }
        expect(a).toEqual({ path, sumOtherDocCount: 0, children: children(path, depth) })
      },
    ),
    { numRuns: runs(60, 60, 600) },
  )
})

describe('SEARCH.AGGREGATE [13]', () => {
  beforeEach(() =>
    fill([
      { n: 1, u: 3, k: 'a', b: true, d: '2024-01-01', c: '/x/y', t: 'red' },
      { n: 2, u: 3, k: 'b', b: false, d: '2024-01-03', c: '/x/z', t: 'blue' },
      { n: 3, u: 4, k: 'a', b: true },
    ]),
  )

  it('uses the documents that the filter finds', () => {
    expect(aggregate({ a: { $sum: { field: 'n' } }, b: { $count: { field: 'd' } } }, { k: 'a' })).toEqual({
      a: { value: 4 },
      b: { value: 1 },
    })
    expect(aggregate({ a: { $facet: { field: 'c', path: '/x' } } }, { t: { $eq: 'red' } })).toEqual({
      a: { path: '/x', sumOtherDocCount: 0, children: [{ path: '/x/y', docCount: 1, sumOtherDocCount: 0 }] },
    })
    expect(aggregate({})).toEqual([])
  })

  it('replies null if no document matches [0]', async () => {
    const run = running(await searchingSandbox())
    run('SEARCH.CREATE i ON JSON PREFIX 1 x: SCHEMA n F64 FAST k KEYWORD')
    const of = (filter: string, aggregations: string) => run('SEARCH.AGGREGATE i', filter, aggregations)
    expect(of('{}', '{"x":{"$sum":{"field":"n"}}}')).toBeNull()
    run('JSON.SET x:1 $', '{"n":1,"k":"a"}')
    expect(of('{"k":"b"}', '{"x":{"$sum":{"field":"n"}},"y":{"$terms":{"field":"k"}}}')).toBeNull()
    expect(of('{"k":"a"}', '{"x":{"$sum":{"field":"n"}}}')).toEqual(['x', ['value', 1]])
    expect(() => of('{"k":"b"}', '{"x":{"$sum":{}}}')).toThrow(/^ERR Aggregation 'x' is missing/)
  })

  it('replies for an index without documents under searchEmptyAggregate: values', () => {
    fill([])
    expect(
      aggregate({
        a: { $sum: { field: 'n' } },
        b: { $terms: { field: 'k' } },
        c: { $histogram: { field: 'n', interval: 1 } },
      }),
    ).toEqual({
      a: { value: null },
      b: { buckets: [], sumOtherDocCount: 0, docCountErrorUpperBound: 0 },
      c: { buckets: [] },
    })
  })

  it('replies in the format that the SDK reads', () => {
    const run = running(sandbox)
    expect(
      run(
        'SEARCH.AGGREGATE i {}',
        JSON.stringify({
          a: { $avg: { field: 'n' } },
          t: { $terms: { field: 'k' }, $aggs: { m: { $max: { field: 'n' } } } },
        }),
      ),
    ).toEqual([
      'a',
      ['value', 2],
      't',
      [
        'buckets',
        [
          ['key', 'a', 'docCount', 2, 'm', ['value', 3]],
          ['key', 'b', 'docCount', 1, 'm', ['value', 2]],
        ],
        'sumOtherDocCount',
        0,
        'docCountErrorUpperBound',
        0,
      ],
    ])
    expect(run('SEARCH.AGGREGATE i {}', '{"f":{"$facet":{"field":"c","path":"/x"}}}')).toEqual([
      'f',
      [
        'path',
        '/x',
        'sumOtherDocCount',
        0,
        'children',
        [
          ['path', '/x/y', 'docCount', 1, 'sumOtherDocCount', 0],
          ['path', '/x/z', 'docCount', 1, 'sumOtherDocCount', 0],
        ],
      ],
    ])
  })

  it('has numbers, keywords, dates and booleans as keys', () => {
    const keys = (field: string) =>
      (aggregate({ a: { $terms: { field, order: { key: 'asc' } } } }).a as unknown as { buckets: unknown[] }).buckets
    expect(keys('u')).toEqual([
      { key: 3, docCount: 2 },
      { key: 4, docCount: 1 },
    ])
    expect(keys('b')).toEqual([
      { key: 0, keyAsString: 'false', docCount: 1 },
      { key: 1, keyAsString: 'true', docCount: 2 },
    ])
    expect(keys('d')[0]).toEqual({ key: Date.UTC(2024, 0, 1), keyAsString: '2024-01-01T00:00:00Z', docCount: 1 })
    expect(aggregate({ a: { $range: { field: 'd', ranges: [{ from: '2024-01-02' }] } } })).toEqual({
      a: {
        buckets: [
          {
            key: '2024-01-02T00:00:00Z-*',
            docCount: 1,
            from: Date.UTC(2024, 0, 2),
            fromAsString: '2024-01-02T00:00:00Z',
          },
        ],
      },
    })
    expect(aggregate({ a: { $terms: { field: 'k', showTermDocCountError: true, size: 1 } } })).toEqual({
      a: {
        buckets: [{ key: 'a', docCount: 2, docCountErrorUpperBound: 0 }],
        sumOtherDocCount: 1,
        docCountErrorUpperBound: 0,
      },
    })
    expect(aggregate({ a: { $terms: { field: 'k', minDocCount: 0 } } }, { n: 2 })).toMatchObject({
      a: {
        buckets: [
          { key: 'b', docCount: 1 },
          { key: 'a', docCount: 0 },
        ],
      },
    })
  })

  it('nests aggregations', () => {
    expect(
      aggregate({
        a: {
          $terms: { field: 'k' },
          $aggs: {
            b: { $histogram: { field: 'n', interval: 1, minDocCount: 1 }, $aggs: { c: { $stats: { field: 'u' } } } },
          },
        },
      }).a,
    ).toMatchObject({
      buckets: [
        {
          key: 'a',
          b: {
            buckets: [
              { key: 1, c: { sum: 3 } },
              { key: 3, c: { sum: 4 } },
            ],
          },
        },
        { key: 'b' },
      ],
    })
  })

  it.each([
    ["Aggregation 'x' operator '$avg' requires field 'slow' to be FAST", { $avg: { field: 'slow' } }],
    ["Aggregation 'x' operator '$terms' requires field 't' to be FAST", { $terms: { field: 't' } }],
    ["Aggregation 'x' operator '$count' requires field 'w' to be FAST", { $count: { field: 'w' } }],
    ["Aggregation 'x' is missing required 'field' property", { $avg: {} }],
    ["Aggregation 'x' is missing required 'field' property", { $avg: 'n' }],
    ["Aggregation 'x' must be a JSON object", 'n'],
    ["Aggregation 'x' must be a JSON object", [1]],
  ])('rejects invalid aggregations: %s', (message, given) => {
    expect(() => aggregate({ x: given })).toThrow(message)
  })

  it.each<[string, unknown]>([
    ['an unknown operator', { $median: { field: 'n' } }],
    ['two operators', { $avg: { field: 'n' }, $sum: { field: 'n' } }],
    ['no operator', { $aggs: {} }],
    ['an unknown field', { $avg: { field: 'none' } }],
    ['an average of words', { $avg: { field: 'k' } }],
    ['extended statistics of truth values', { $extendedStats: { field: 'b' } }],
    ['an unknown option', { $avg: { field: 'n', speed: 1 } }],
    ['aggregations in a metric', { $avg: { field: 'n' }, $aggs: {} }],
    ['aggregations in a facet', { $facet: { field: 'c' }, $aggs: { a: { $avg: { field: 'n' } } } }],
    ['a facet in buckets', { $terms: { field: 'k' }, $aggs: { a: { $facet: { field: 'c' } } } }],
    ['terms of a facet', { $terms: { field: 'c' } }],
    ['a facet of words', { $facet: { field: 'k' } }],
    ['a path that is none', { $facet: { field: 'c', path: 'x' } }],
    ['a depth of 0', { $facet: { field: 'c', depth: 0 } }],
    ['ranges of words', { $range: { field: 'k', ranges: [{ to: 1 }] } }],
    ['no ranges', { $range: { field: 'n', ranges: [] } }],
    ['no interval', { $histogram: { field: 'n' } }],
    ['an interval of 0', { $histogram: { field: 'n', interval: 0 } }],
    ['one bound', { $histogram: { field: 'n', interval: 1, hardBounds: { min: 1 } } }],
    ['too many steps', { $histogram: { field: 'n', interval: 1e-9 } }],
    ['an extension without end', { $histogram: { field: 'n', interval: 1, extendedBounds: { min: 0, max: 1e300 } } }],
    ['days of numbers', { $dateHistogram: { field: 'n', fixedInterval: '1d' } }],
    ['a month', { $dateHistogram: { field: 'd', fixedInterval: '1M' } }],
    ['an order by two things', { $terms: { field: 'k', order: { key: 'asc', count: 'asc' } } }],
    ['an order by nothing', { $terms: { field: 'k', order: { none: 'asc' } } }],
    ['a direction that is none', { $terms: { field: 'k', order: { key: 'up' } } }],
    ['a pattern for numbers', { $terms: { field: 'n', include: '1.*' } }],
    ['a pattern that is none', { $terms: { field: 'k', include: '(' } }],
    ['a size of 0', { $terms: { field: 'k', size: 0 } }],
    ['percents beyond 100', { $percentiles: { field: 'n', percents: [101] } }],
  ])('rejects %s', (_what, given) => {
    expect(() => aggregate({ x: given })).toThrow(/^ERR /)
  })

  it('rejects aggregations that are nested too deeply', () => {
    let nested: unknown = { $terms: { field: 'k' } }
    for (let level = 0; level < 100; level++) nested = { $terms: { field: 'k' }, $aggs: { a: nested } }
    expect(() => aggregate({ a: nested })).toThrow(/^ERR /)
    const run = running(sandbox)
    expect(() => run('SEARCH.AGGREGATE i {} []')).toThrow(/^ERR /)
    expect(() => run('SEARCH.AGGREGATE i {} x')).toThrow(/^ERR /)
    expect(() => run('SEARCH.AGGREGATE i {}')).toThrow('wrong number of arguments')
  })

  it('rejects empty buckets that multiply at each level', () => {
    const none = { $must: { n: 1, $and: { n: 2 } } }
    const run = running(sandbox)
    const over = (given: unknown) => run('SEARCH.AGGREGATE i', JSON.stringify(none), JSON.stringify({ a: given }))
    const steps = { field: 'n', interval: 1, extendedBounds: { min: 1, max: 60_000 } }
    expect(() => over({ $histogram: steps })).not.toThrow()
    expect(() => over({ $histogram: steps, $aggs: { b: { $histogram: steps } } })).toThrow(/^ERR /)
    let ranges: unknown = { $count: { field: 'n' } }
    for (let level = 0; level < 25; level++)
      ranges = { $range: { field: 'n', ranges: [{ to: 1 }, { to: 1 }] }, $aggs: { b: ranges } }
    expect(() => over(ranges)).toThrow(/^ERR /)
  })

  it('rejects very many sub-aggregations in many empty buckets', () => {
    const figures = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [at, { $count: { field: 'n' } }]))
    const histogram = { field: 'n', interval: 1, extendedBounds: { min: 1, max: 60_000 } }
    expect(() => aggregate({ a: { $histogram: histogram, $aggs: figures } })).toThrow(/^ERR /)
  })

  it('returns null for values beyond all numbers, which clients can parse', () => {
    const run = running(sandbox)
    run('SEARCH.CREATE large ON HASH PREFIX 1 large: SCHEMA n F64 FAST')
    for (const at of [1, 2]) run(`HSET large:${at} n 1e308`)
    expect(run('SEARCH.AGGREGATE large {}', '{"a":{"$sum":{"field":"n"}}}')).toEqual(['a', ['value', null]])
  })
})
