import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRandom } from '../../src/kernel/random.js'
import { TrafficLog } from '../../src/kernel/traffic-log.js'
import { periodNames, type StatsPeriod } from '../../src/stats/periods.js'
import type { SeriesPoint } from '../../src/stats/reports.js'
import { Stats } from '../../src/stats/statistics.js'
import { gap, monthEnd, type SearchUsageStep, spikeAt, steady } from '../../src/stats/usage-steps.js'
import { runs } from '../support/effort.js'

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
const told = Date.parse('2025-10-30T18:33:05.244Z')

function world(steps: readonly SearchUsageStep[], seed = 1) {
  let now = told
  const statistics = new Stats({
    traffic: new TrafficLog({ now: () => now }),
    now: () => now,
    random: createRandom(seed),
  })
  const index = statistics.search('products')
  index.script(steps)
  const at = (time: number) => {
    now = time
    return index
  }
  return { index, at }
}

/** Full minutes of the days around the script, for which the reference implementation is fast enough. */
const moment = fc.integer({ min: -40 * 24 * 60, max: 3 * 24 * 60 }).map((minutes) => {
  return Math.floor(told / minute) * minute + minutes * minute
})
const length = fc.integer({ min: 1, max: 3000 }).map((minutes) => minutes * minute)
const span = fc.option(fc.record({ from: moment, until: moment }), { nil: {} })

const step = (jitter: fc.Arbitrary<number>): fc.Arbitrary<SearchUsageStep> =>
  fc.oneof(
    fc
      .tuple(fc.nat(50), fc.option(fc.nat(50), { nil: undefined }), span, jitter)
      .map(([queries, updates, when, jitter]) =>
        steady({ queries, ...(updates !== undefined && { updates }) }, { ...when, jitter }),
      ),
    fc
      .tuple(moment, fc.nat(4), length, fc.option(fc.subarray(['queries', 'updates']), { nil: undefined }))
      .map(([at, factor, length, metrics]) => spikeAt(at, factor, { for: length, ...(metrics && { metrics }) })),
    fc.tuple(moment, length).map(([at, length]) => gap(at, length)),
    fc.tuple(fc.nat(3), length).map(([factor, length]) => monthEnd(factor, { for: length })),
  )

/** Reference implementation: evaluates the steps for one minute, and sums over all minutes. */
function perMinute(steps: readonly SearchUsageStep[], name: 'queries' | 'updates', at: number): number {
  let rate = 0
  for (const one of steps) {
    if (one.kind !== 'steady' || one.rates[name] === undefined) continue
    if (at >= Number(one.from ?? -1) && at < Number(one.until ?? 1e99)) rate = one.rates[name]
  }
  for (const one of steps) {
    if (one.kind === 'spike' && at >= Number(one.at) && at < Number(one.at) + Number(one.for)) {
      if (one.metrics === undefined || one.metrics.includes(name)) rate *= one.factor
    }
    if (one.kind === 'gap' && at >= Number(one.at) && at < Number(one.at) + Number(one.for)) rate = 0
    if (one.kind === 'month-end') {
      const date = new Date(at)
      const end = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
      if (at >= end - Number(one.for)) rate *= one.factor
    }
  }
  return rate
}

const startOf = (point: SeriesPoint): number => Date.parse(point.x.replace(' +0000 UTC', 'Z').replace(' ', 'T'))
const later = fc
  .integer({ min: 0, max: 3 * 24 * 60 })
  .map((minutes) => Math.ceil(told / minute) * minute + minutes * minute)

test('a script equals the sum of its minutes', () => {
  fc.assert(
    fc.property(fc.array(step(fc.constant(0)), { maxLength: 8 }), later, (steps, now) => {
      const report = world(steps).at(now).report('1d')
      const walked = (name: 'queries' | 'updates', from: number, until: number): number => {
        let sum = 0
        for (let at = from; at < Math.min(until, now); at += minute) sum += perMinute(steps, name, at)
        return sum
      }
      for (const [name, series, days] of [
        ['queries', report.query_throughput, report.daily_query_requests],
        ['updates', report.update_throughput, report.daily_update_requests],
      ] as const) {
        for (const point of series) {
          expect([name, point]).toEqual([
            name,
            { ...point, y: walked(name, startOf(point), startOf(point) + 24 * minute) },
          ])
        }
        for (const point of days) {
          const start = Math.floor(startOf(point) / day) * day
          expect([name, point.x, point.y]).toEqual([name, point.x, walked(name, start, start + day)])
        }
      }
      const first = Date.UTC(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth())
      expect(report.monthly_query_count).toBe(walked('queries', first, now))
    }),
    { numRuns: runs(40, 40, 400) },
  )
})

const shaken = fc.array(step(fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 1, maxLength: 8 })

test('with any jitter, counts are whole, never negative, and equal in every period', () => {
  fc.assert(
    fc.property(shaken, fc.integer({ min: told, max: told + 3 * day }), fc.nat(9), (steps, now, seed) => {
      const told = world(steps, seed).at(now)
      for (const period of periodNames) {
        for (const { y } of told.report(period).query_throughput) {
          expect(Number.isInteger(y)).toBe(true)
          expect(y).toBeGreaterThanOrEqual(0)
        }
      }
      // Three points of one minute equal one point of three minutes, where both series contain them.
      const [fine, coarse] = [told.report('1h').query_throughput, told.report('3h').query_throughput]
      for (const point of coarse) {
        const inside = fine.filter(
          (one) => startOf(one) >= startOf(point) && startOf(one) < startOf(point) + 3 * minute,
        )
        if (inside.length === 3 || (inside.length > 0 && point === coarse.at(-1))) {
          expect(inside.reduce((sum, { y }) => sum + y, 0)).toBe(point.y)
        }
      }
      // Eight points of three hours equal a day.
      const report = told.report('30d')
      for (const whole of report.daily_query_requests) {
        const start = Math.floor(startOf(whole) / day) * day
        const parts = report.query_throughput.filter((one) => startOf(one) >= start && startOf(one) < start + day)
        expect(parts.reduce((sum, { y }) => sum + y, 0)).toBe(whole.y)
      }
      expect(report.daily_query_requests.at(-1)!.y).toBe(report.daily_query_count)
    }),
    { numRuns: runs(40, 40, 400) },
  )
})

test('past values never change', () => {
  const moves = fc.array(fc.oneof(fc.integer({ min: 1, max: day }), fc.constantFrom(hour, day, 20 * day)), {
    minLength: 1,
    maxLength: 5,
  })
  fc.assert(
    fc.property(shaken, moves, fc.constantFrom<StatsPeriod>('1h', '1d', '30d'), (steps, moves, period) => {
      const { at } = world(steps)
      let now = told
      const known = new Map<string, number>()
      for (const by of [0, ...moves]) {
        now += by
        const finished = at(now).report(period).query_throughput.slice(0, -1)
        for (const { x, y } of finished) {
          if (known.has(x)) expect([x, y]).toEqual([x, known.get(x)])
          known.set(x, y)
        }
      }
    }),
    { numRuns: runs(40, 40, 400) },
  )
})
