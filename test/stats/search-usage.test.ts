import { describe, expect, test } from 'vitest'
import { Clock } from '../../src/kernel/clock.js'
import { createRandom } from '../../src/kernel/random.js'
import { TrafficLog } from '../../src/kernel/traffic-log.js'
import type { SearchReport } from '../../src/stats/reports.js'
import { Stats } from '../../src/stats/statistics.js'
import {
  counterReset,
  gap,
  latencies,
  monthEnd,
  type SearchUsageStep,
  spikeAt,
  steady,
} from '../../src/stats/usage-steps.js'
import { indexId, statsWorld, sum } from './world.js'

/** Returns a search index at an instant, scripted with these steps. */
function told(startAt: string, steps: readonly SearchUsageStep[], seed: number | string = 1) {
  const clock = new Clock({ startAt: Date.parse(startAt) })
  const now = () => clock.now()
  const statistics = new Stats({ traffic: new TrafficLog({ now }), now, random: createRandom(seed) })
  const index = statistics.search('products')
  index.script(steps)
  return { clock, statistics, index }
}

const noon = '2030-01-15T12:00:00Z'
const ys = (points: readonly { readonly y: number }[]): number[] => points.map(({ y }) => y)

describe('usage.steady()', () => {
  const { index } = told(noon, [
    steady({ queries: 120, updates: 12, reranks: 3, vectors: 10_000, growth: 2, pending: 4 }),
    latencies({ query: { mean: 12, p99: 40 }, update: 20, embeds: 7.5, rerank: { mean: 30, p99: 90 } }),
  ])

  test('sets a rate per minute, independent of the interval', () => {
    expect(ys(index.report('1h').query_throughput)).toEqual([...new Array(59).fill(120), 0])
    expect(ys(index.report('3h').update_throughput).slice(0, 59)).toEqual(new Array(59).fill(36))
    // 240 intervals of 180 minutes; the last one begins at noon.
    expect(ys(index.report('30d').query_throughput)).toEqual([...new Array(239).fill(120 * 180), 0])
  })

  test('counts up to now in the last interval', async () => {
    const { clock, index } = told(noon, [steady({ queries: 120 })])
    await clock.advance('30s')
    expect(index.report().query_throughput.at(-1)).toEqual({ x: '2030-01-15 12:00:00.000 +0000 UTC', y: 60 })
    expect(index.report('30d').query_throughput.at(-1)).toEqual({ x: '2030-01-15 12:00:00.000 +0000 UTC', y: 60 })
  })

  test('adds up to the same totals for days and months', () => {
    const report = index.report()
    const day = 24 * 60
    expect(report.daily_query_count).toBe(12 * 60 * 120)
    expect(ys(report.daily_query_requests)).toEqual([day * 120, day * 120, day * 120, day * 120, 12 * 60 * 120])
    expect(ys(report.daily_update_requests)).toEqual([day * 12, day * 12, day * 12, day * 12, 12 * 60 * 12])
    expect(ys(report.daily_rerank_requests).at(-1)).toBe(report.daily_rerank_count)
    expect(report.daily_rerank_count).toBe(12 * 60 * 3)
    expect(report.daily_update_count).toBe(12 * 60 * 12)
    // 14.5 days.
    expect(report.monthly_query_count).toBe(14.5 * day * 120)
    expect(report.monthly_update_count).toBe(14.5 * day * 12)
    expect(report.monthly_rerank_count).toBe(14.5 * day * 3)
    // An operation transfers a vector of 1024 numbers of four bytes. 100,000 operations cost 0.4 dollars.
    expect(report.monthly_bandwidth_usage).toBe(14.5 * day * 135 * 4096)
    expect(ys(report.daily_bandwidths).at(-1)).toBe(12 * 60 * 135 * 4096)
    expect(report.monthly_cost).toBeCloseTo((14.5 * day * 135 * 0.4) / 100_000, 6)
  })

  test('sets levels of now and of the end of each interval', () => {
    const report = index.report()
    expect(report).toMatchObject({ current_vector_count: 10_000, pending_index_count: 4, storage_usage: 40_960_000 })
    expect(report.vector_count.at(-1)!.y).toBe(10_000)
    // The previous interval ended a millisecond ago, and two vectors are added per minute.
    expect(report.vector_count.at(-2)!.y).toBe(9_999)
    expect(report.vector_count[0]!.y).toBe(10_000 - 58 * 2 - 1)
    expect(ys(report.data_size)).toEqual(ys(report.vector_count).map((count) => count * 4096))
  })

  test('sets latencies: the mean and the 99th percentile', () => {
    const report = index.report('3h')
    const last = (name: keyof SearchReport): number => ys(report[name] as SearchReport['data_size']).at(-2)!
    expect([last('query_latency_mean'), last('query_latency_99')]).toEqual([12, 40])
    expect([last('update_latency_mean'), last('update_latency_99')]).toEqual([20, 20])
    expect([last('embeds_latency_mean'), last('embeds_latency_99')]).toEqual([7.5, 7.5])
    expect([last('rerank_latency_mean'), last('rerank_latency_99')]).toEqual([30, 90])
    // Without operations since noon there are no latencies.
    expect(report.query_latency_mean.at(-1)!.y).toBe(0)
  })

  test('changes every field', () => {
    const report = index.report()
    const empty = Object.entries(report).filter(([, value]) =>
      Array.isArray(value) ? value.every((point) => point.y === 0) : value === 0,
    )
    expect(empty).toEqual([])
    expect(Object.keys(report)).toHaveLength(28)
  })

  test('applies the last step with a rate, while that step lasts', () => {
    const { index } = told(noon, [
      steady({ queries: 10, updates: 1 }),
      steady({ queries: 20 }, { from: '-20m', until: '-10m' }),
      steady({ queries: 30 }, { from: '2030-01-15T11:55:00Z' }),
    ])
    expect(ys(index.report().query_throughput)).toEqual([
      ...new Array(39).fill(10),
      ...new Array(10).fill(20),
      ...new Array(5).fill(10),
      ...new Array(5).fill(30),
      0,
    ])
    expect(ys(index.report().update_throughput).slice(0, 59)).toEqual(new Array(59).fill(1))
  })

  test('counts a rate below one per minute as one event from time to time', () => {
    const { index } = told(noon, [steady({ queries: 0.1 })])
    expect(sum(index.report('1h').query_throughput.slice(0, 50))).toBe(5)
    expect(new Set(ys(index.report('1h').query_throughput))).toEqual(new Set([0, 1]))
    expect(index.report().daily_query_count).toBe(72)
  })
})

test('a spike multiplies the named rates, for ten minutes or as long as it states', () => {
  const { index } = told(noon, [
    steady({ queries: 10, updates: 10 }),
    spikeAt('-30m', 10),
    spikeAt('2030-01-15T11:35:00Z', 3, { for: '1m', metrics: ['queries'] }),
  ])
  const { query_throughput, update_throughput } = index.report()
  const expected = [...new Array(29).fill(10), ...new Array(10).fill(100), ...new Array(20).fill(10), 0]
  expect(ys(update_throughput)).toEqual(expected)
  expected[34] = 300
  expect(ys(query_throughput)).toEqual(expected)
})

test('a gap stops all activity and latencies; levels stay', () => {
  const { index } = told(noon, [
    steady({ queries: 10, vectors: 500, growth: 1 }),
    latencies({ query: 12, embeds: 5 }),
    gap('-30m', '10m'),
  ])
  const report = index.report()
  const hole = new Array(10).fill(0)
  expect(ys(report.query_throughput).slice(29, 40)).toEqual([...hole, 10])
  expect(ys(report.query_latency_mean).slice(28, 40)).toEqual([12, ...hole, 12])
  expect(ys(report.embeds_latency_99).slice(28, 40)).toEqual([5, ...hole, 5])
  // Later events are counted back from now, twenty minutes after the gap.
  expect(new Set(ys(report.vector_count).slice(29, 39))).toEqual(new Set([480]))
  // An interval that contains a gap has the latency of its remaining part.
  expect(ys(index.report('12h').query_latency_mean).at(-3)).toBe(12)
})

describe('a counter reset', () => {
  test('sets running totals to 0 and keeps the series', () => {
    const { index } = told(noon, [steady({ queries: 10, updates: 1 }), counterReset('-1h', ['queries'])])
    const report = index.report('3h')
    expect(report.daily_query_count).toBe(600)
    expect(report.monthly_query_count).toBe(600)
    expect(report.daily_query_requests.at(-1)!.y).toBe(600)
    expect(report.daily_query_requests.at(-2)!.y).toBe(14_400)
    expect(report.daily_update_count).toBe(720)
    // Operations before the reset are billed, although the counter is 0.
    expect(report.monthly_cost).toBeCloseTo((14.5 * 1440 * 11 * 0.4) / 100_000, 6)
    expect(new Set(ys(report.query_throughput).slice(0, 59))).toEqual(new Set([30]))
  })

  test('of yesterday does not affect today, but affects this month', () => {
    const { index } = told(noon, [steady({ queries: 10 }), counterReset('2030-01-14T23:00:00Z')])
    const report = index.report()
    expect(ys(report.daily_query_requests)).toEqual([14_400, 14_400, 14_400, 600, 7_200])
    expect(report.daily_query_count).toBe(7_200)
    expect(report.monthly_query_count).toBe(7_800)
  })

  test('in the future does not affect earlier values', async () => {
    const { clock, index } = told(noon, [steady({ queries: 10 }), counterReset('+1h')])
    expect(index.report().daily_query_count).toBe(7_200)
    await clock.advance('59m')
    expect(index.report().daily_query_count).toBe(7_790)
    await clock.advance('2m')
    expect(index.report().daily_query_count).toBe(10)
  })

  test('of vectors empties the index', () => {
    const { index } = told(noon, [
      steady({ queries: 10, vectors: 10_000, growth: 2 }),
      counterReset('-30m', ['vectors']),
    ])
    const report = index.report()
    expect([report.current_vector_count, report.storage_usage]).toEqual([60, 60 * 4096])
    // The previous interval ended a millisecond early, with 10,000 minus half an hour of growth.
    expect(ys(report.vector_count).slice(27, 31)).toEqual([9_937, 9_939, 1, 3])
    expect(report.daily_query_count).toBe(7_200)
  })
})

describe('latencies', () => {
  test('of a long interval are the mean of its parts, and a short peak raises the 99th percentile', () => {
    const { index } = told('2030-01-15T12:00:00Z', [
      latencies({ query: { mean: 10, p99: 30 } }),
      // Six minutes of the three hours from nine to noon are more than 1 %.
      latencies({ query: { mean: 100, p99: 500 } }, { from: '-60m', until: '-54m' }),
    ])
    const { query_latency_mean, query_latency_99 } = index.report('30d')
    expect(query_latency_mean.at(-2)!.y).toBe((174 * 10 + 6 * 100) / 180)
    expect(query_latency_99.at(-2)!.y).toBe(500)
    expect([query_latency_mean.at(-3)!.y, query_latency_99.at(-3)!.y]).toEqual([10, 30])
  })

  test('ignore a peak shorter than 1 % in the 99th percentile', () => {
    const { index } = told(noon, [
      latencies({ query: { mean: 10, p99: 30 } }),
      latencies({ query: 500 }, { from: '-60m', until: '-59m' }),
    ])
    expect(index.report('30d').query_latency_99.at(-2)!.y).toBe(30)
    expect(ys(index.report('3h').query_latency_99).slice(38, 41)).toEqual([30, 500, 30])
  })

  test('exist at any time if the script sets no traffic', () => {
    const { index } = told(noon, [latencies({ query: 12 }, { from: '-2m' })])
    expect(ys(index.report().query_latency_mean).slice(-4)).toEqual([0, 12, 12, 12])
  })
})

test('usage.monthEnd() raises the rates at the end of every month', async () => {
  const { clock, index } = told('2030-01-30T12:00:00Z', [
    steady({ queries: 1 }),
    monthEnd(5),
    monthEnd(2, { for: '1h' }),
  ])
  const day = 1440
  await clock.advanceTo('2030-02-02T00:00:00Z')
  // On the last day five times the rate, in its last hour ten times.
  expect(ys(index.report().daily_query_requests)).toEqual([day, day, 23 * 60 * 5 + 60 * 10, day, 0])
  expect(index.report().monthly_query_count).toBe(day)
  // Long after the script was set, in a leap year.
  await clock.advanceTo('2032-03-01T00:00:00Z')
  expect(index.report().daily_query_requests.at(-2)).toEqual({
    x: '2032-02-29 00:00:00.000000000 +0000 UTC',
    y: 23 * 60 * 5 + 60 * 10,
  })
  expect(ys(index.report('30d').query_throughput).slice(-2 - 8)).toEqual([
    180, 900, 900, 900, 900, 900, 900, 900, 1200, 0,
  ])
})

test('usage.monthEnd() applies to months before the script was set', () => {
  const { index } = told('2030-03-01T00:00:00Z', [steady({ queries: 1 }), monthEnd(5)])
  // From 30 January on, with eight intervals per day.
  const counts = ys(index.report('30d').query_throughput)
  expect([counts.length, counts.filter((count) => count === 900).length]).toEqual([240, 16])
  expect(counts.slice(7, 15)).toEqual(new Array(8).fill(900))
})

describe('jitter', () => {
  const steps = [steady({ queries: 100, vectors: 5 }, { jitter: 0.5 }), latencies({ query: 10 }, { jitter: 0.3 })]

  test('depends only on the seed and the name of the index', async () => {
    const [one, same, other] = [told(noon, steps), told(noon, steps), told(noon, steps, 2)]
    const before = one.index.report('1d')
    expect(same.index.report('1d')).toEqual(before)
    expect(other.index.report('1d')).not.toEqual(before)
    const neighbor = one.statistics.search('customers')
    neighbor.script(steps)
    expect(neighbor.report('1d')).not.toEqual(before)
    expect(one.index.report('1d')).toEqual(before)
  })

  test('stays within its bounds and varies', () => {
    const { index } = told(noon, steps)
    const counts = ys(index.report().query_throughput).slice(0, 59)
    expect(new Set(counts).size).toBeGreaterThan(20)
    // Half of the events of a minute may be missing or additional, plus one for rounding.
    for (const count of counts) expect(Math.abs(count - 100)).toBeLessThanOrEqual(51)
    const means = ys(index.report().query_latency_mean).slice(0, 59)
    expect(new Set(means).size).toBeGreaterThan(20)
    for (const mean of means) expect(Math.abs(mean - 10)).toBeLessThanOrEqual(3)
    expect(ys(index.report().query_latency_99)).toEqual(ys(index.report().query_latency_mean))
  })

  test('adds no events in a gap', () => {
    const { index } = told(noon, [steady({ queries: 1000 }, { jitter: 1 }), gap('-30m', '10m')])
    const counts = ys(index.report().query_throughput)
    expect(counts.slice(29, 40).map((count) => count > 0)).toEqual([...new Array(10).fill(false), true])
    expect(Math.min(...counts)).toBe(0)
  })

  test('does not change levels', () => {
    expect(new Set(ys(told(noon, steps).index.report().vector_count))).toEqual(new Set([5]))
  })
})

describe('a script with overridden fields', () => {
  test('sets all fields except for the overridden ones', () => {
    const { index } = told(noon, [steady({ queries: 10 })])
    index.override({ monthly_cost: 0.5, query_latency_99: 18 })
    expect(index.report()).toMatchObject({ monthly_cost: 0.5, daily_query_count: 7_200 })
    expect(index.report().query_latency_99[0]!.y).toBe(18)
    index.clear()
    expect(index.report()).toMatchObject({ monthly_cost: 0, daily_query_count: 0 })
  })

  test('is returned by the endpoint, and makes the index exist', () => {
    const { statistics, get, ask } = statsWorld(noon)
    statistics.search(indexId).script([steady({ queries: 10, vectors: 7 })])
    expect(get(`/v2/search/${indexId}/stats?period=3h`)).toEqual(statistics.search(indexId).report('3h'))
    expect(get(`/v2/search/${indexId}/stats`).current_vector_count).toBe(7)
    expect(ask('/v2/search/2b671a64-40d5-491e-99b0-da01ff1f3341/stats').status).toBe(404)
    statistics.clear()
    expect(ask('/v2/search/2b671a64-40d5-491e-99b0-da01ff1f3341/stats').status).toBe(200)
  })

  test('accepts sizes and the price as options', () => {
    const { index } = told(noon, [])
    index.script([steady({ queries: 10, vectors: 7 })], { vectorSize: 10, requestSize: 3, price: 100 })
    expect(index.report()).toMatchObject({
      storage_usage: 70,
      monthly_bandwidth_usage: 14.5 * 14_400 * 3,
      monthly_cost: 14.5 * 14.4,
    })
  })
})

describe('steps of a script', () => {
  test('are plain data', () => {
    const steps = [
      steady({ queries: 10, vectors: 3 }, { from: new Date('2030-01-15T11:00:00Z'), until: '+1h', jitter: 0.2 }),
      spikeAt(new Date('2030-01-15T11:30:00Z'), 10, { for: '5m', metrics: ['queries'] }),
      gap('-10m', '1m'),
      counterReset('-5m', ['queries']),
      latencies({ query: { mean: 1, p99: 2 } }, { from: Date.parse(noon) - 60_000 }),
      monthEnd(2),
    ]
    const copy = JSON.parse(JSON.stringify(steps)) as SearchUsageStep[]
    expect(copy).toEqual(steps)
    expect(told(noon, copy).index.report()).toEqual(told(noon, steps).index.report())
  })

  test('treat a time without a zone as UTC', () => {
    const { index } = told(noon, [steady({ queries: 1 }, { from: '2030-01-15T11:58:00' })])
    expect(ys(index.report().query_throughput).slice(-4)).toEqual([0, 1, 1, 0])
  })

  test.each<[unknown, RegExp]>([
    [
      { kind: 'jump' },
      /stats\.search\(id\)\.script\(\): a step must be a value such as usage\.steady\(\{ queries: 10 \}\).*got \{"kind":"jump"\}/,
    ],
    ['steady', /a step must be a value such as/],
    [
      { kind: 'steady', rates: { quries: 3 } },
      /rates\.quries\. Did you mean "queries"\? Use one of queries, updates, reranks, vectors, growth, pending\./,
    ],
    [steady({ delivered: 3 }), /rates\.delivered/],
    [steady({ queries: -1 }), /queries must be 0 or more \(got -1\)/],
    [steady({ queries: Number.NaN }), /rates\.queries/],
    [steady({ queries: 1 }, { jitter: 2 }), /jitter/],
    [steady({ queries: 1 }, { from: 'soon' }), /"soon" is not a time/],
    [spikeAt(noon, -1), /factor/],
    [
      spikeAt(noon, 2, { metrics: ['vectors'] }),
      /cannot name "vectors", which is a level\. Use one of queries, updates/,
    ],
    [gap(noon, 'long' as never), /"long" is not a duration/],
    [counterReset(noon, ['pending']), /cannot name "pending", which is a level/],
    [{ kind: 'latencies', metrics: { delete: 3 } }, /metrics\.delete.*Use one of query, update, embeds, rerank/],
    [monthEnd(2, { for: '29d' }), /at most 28 days/],
  ])('%j throws an error', (step, sentence) => {
    expect(() => told(noon, [step as SearchUsageStep])).toThrow(sentence)
  })

  test('a rejected script keeps the previous one', () => {
    const { index } = told(noon, [steady({ queries: 10 })])
    expect(() => index.script([gap(noon, 'long' as never)])).toThrow()
    expect(index.report().daily_query_count).toBe(7_200)
  })

  test('options are validated', () => {
    const { index } = told(noon, [])
    expect(() => index.script([], { size: 3 } as never)).toThrow(/unknown option "size"\. Use one of vectorSize/)
    expect(() => index.script([], { price: -1 })).toThrow(/price must be a number, 0 or more \(got -1\)/)
  })
})
