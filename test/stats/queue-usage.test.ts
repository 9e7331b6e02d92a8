import { describe, expect, test } from 'vitest'
import type { QueueReport, StatsPeriod } from '../../src/stats/index.js'
import { counterReset, gap, latencies, monthEnd, spikeAt, steady } from '../../src/stats/usage-steps.js'
import { statsWorld, sum, userId } from './world.js'

const noon = '2025-10-23T12:00:00Z'
const path = `/v2/queue/stats/${userId}`
const ys = (points: readonly { readonly y: number }[]): number[] => points.map(({ y }) => y)
const named = (report: QueueReport, list: 'daily_qstash_messages' | 'daily_workflow_messages') =>
  Object.fromEntries(report[list].map(({ id, data_points }) => [id, data_points]))

const everything = steady({
  delivered: 60,
  retried: 4,
  failed: 1,
  canceled: 2,
  runsSucceeded: 5,
  runsFailed: 2,
  runsCanceled: 1,
  deadLetters: 17,
})

describe('a usage script of the queue', () => {
  test('sets every series of the period, each as a sum of scripted rates', () => {
    const { statistics } = statsWorld(noon)
    statistics.queue.script([everything], { messagesPerRun: 3, messageSize: 100 })
    const report = statistics.queue.report('3h')
    const last = (points: readonly { readonly y: number }[]): number => points.at(-2)!.y / 3
    const messages = named(report, 'daily_qstash_messages')
    const runs = named(report, 'daily_workflow_messages')
    // Eight runs per minute with three messages each are delivered too.
    expect(Object.fromEntries(Object.entries(messages).map(([id, points]) => [id, last(points)]))).toEqual({
      created: 60 + 24 + 1 + 2,
      active: 60 + 24 + 4 + 1,
      delivered: 60 + 24,
      retried: 4,
      error: 4 + 1,
      failed: 1,
      canceled: 2,
    })
    expect(Object.fromEntries(Object.entries(runs).map(([id, points]) => [id, last(points)]))).toEqual({
      started: 8,
      success: 5,
      failed: 2,
      canceled: 1,
    })
    expect(last(report.daily_used)).toBe(89)
    expect(last(report.daily_used_workflow)).toBe(24)
    expect(last(report.daily_bandwidth_used)).toBe(8900)
    expect(report.dlq_message_count).toBe(17)
  })

  test('sets days, bill and bandwidth of the month', () => {
    const { get, statistics } = statsWorld(noon)
    statistics.queue.script([everything], { messagesPerRun: 3, messageSize: 100 })
    const report = get(path)
    const day = 1440
    expect(report.daily_requests[21]).toMatchObject({ y: 89 * day, workflow_message: 24 * day, workflow_run: 8 * day })
    expect(report.daily_requests[22]).toMatchObject({ y: 89 * 720, workflow_message: 24 * 720, workflow_run: 8 * 720 })
    expect(report.daily_requests[23]).toMatchObject({ y: 0, workflow_message: 0, workflow_run: 0 })
    expect(report.daily_bandwidths[21].y).toBe(8900 * day)
    expect(report.daily_billings[21].y).toBe((89 * day) / 100_000)
    expect(report.total_monthly_billing).toBeCloseTo((89 * 22.5 * day) / 100_000, 6)
  })

  test('adds to what the traffic counts', async () => {
    const { clock, deliver, statistics } = statsWorld(noon, { deadLetters: () => 2 })
    statistics.queue.script([steady({ delivered: 10, deadLetters: 3 })])
    deliver('RETRY', 'DELIVERED')
    await clock.advance('1m')
    const report = statistics.queue.report()
    expect(ys(report.daily_used).slice(-3)).toEqual([10, 12, 0])
    expect(named(report, 'daily_qstash_messages').retried!.at(-2)!.y).toBe(1)
    expect(report.dlq_message_count).toBe(5)
    statistics.queue.clear()
    expect(ys(statistics.queue.report().daily_used).slice(-3)).toEqual([0, 2, 0])
    expect(statistics.queue.report().dlq_message_count).toBe(2)
  })

  test('applies spikes, gaps, month ends and resets', async () => {
    const { clock, statistics } = statsWorld('2025-10-31T12:00:00Z')
    statistics.queue.script([
      steady({ delivered: 10, failed: 1 }),
      spikeAt('-30m', 10, { metrics: ['delivered'] }),
      gap('-20m', '5m'),
      monthEnd(2, { for: '12h' }),
      counterReset('+6h', ['failed']),
    ])
    const delivered = ys(named(statistics.queue.report(), 'daily_qstash_messages').delivered!)
    expect(delivered).toEqual([
      ...new Array(29).fill(10),
      ...new Array(10).fill(100),
      ...new Array(5).fill(0),
      ...new Array(15).fill(10),
      0,
    ])
    await clock.advanceTo('2025-10-31T20:00:00Z')
    const report = statistics.queue.report()
    // Until noon the usual rate, except for the spike and the gap; from noon on twice the rate.
    const whole = 720 * 10 + 10 * 90 - 5 * 10 + 8 * 60 * 20
    expect(report.daily_requests[30]!.y).toBe(whole + 2 * 60 * 2)
    expect(ys(named(report, 'daily_qstash_messages').failed!).slice(0, 59)).toEqual(new Array(59).fill(2))
    await clock.advanceTo('2025-11-01T00:00:00Z')
    expect(sum(statistics.queue.report().daily_requests)).toBe(0)
  })

  test.each<StatsPeriod>(['1h', '3d', '30d'])('keeps the series consistent with jitter: %s', (period) => {
    const { statistics } = statsWorld(noon)
    statistics.queue.script([{ ...everything, jitter: 0.8 }], { messagesPerRun: 2, messageSize: 10 })
    const report = statistics.queue.report(period)
    const { created, active, delivered, retried, error, failed, canceled } = named(report, 'daily_qstash_messages')
    const runs = named(report, 'daily_workflow_messages')
    for (const [index, { y }] of report.daily_used.entries()) {
      const at = (points: readonly { readonly y: number }[] | undefined): number => points![index]!.y
      expect(at(active)).toBe(y)
      expect(at(delivered) + at(error)).toBe(y)
      expect(at(retried) + at(failed)).toBe(at(error))
      expect(at(delivered) + at(failed) + at(canceled)).toBe(at(created))
      expect(at(runs.success) + at(runs.failed) + at(runs.canceled)).toBe(at(runs.started))
      expect(at(runs.started) * 2).toBe(at(report.daily_used_workflow))
      expect(at(report.daily_bandwidth_used)).toBe(y * 10)
    }
  })

  test('changes every field', () => {
    const { statistics } = statsWorld(noon)
    statistics.queue.script([everything])
    const report = statistics.queue.report()
    const total = (value: unknown): number => {
      if (typeof value === 'number') return value
      if (!Array.isArray(value) || typeof value[0] === 'string') return 1
      if ('data_points' in value[0]) return Math.min(...value.map(({ data_points }) => sum(data_points)))
      return sum(value)
    }
    expect(Object.entries(report).filter(([, value]) => total(value) === 0)).toEqual([])
  })

  test('rejects steps of a search index and unknown options', () => {
    const { queue } = statsWorld(noon).statistics
    expect(() => queue.script([steady({ queries: 3 })] as never)).toThrow(/stats\.queue\.script\(\).*rates\.queries/)
    expect(() => queue.script([latencies({ query: 3 })] as never)).toThrow(/have no latencies/)
    expect(() => queue.script([], { vectorSize: 3 } as never)).toThrow(/Use one of messageSize, messagesPerRun/)
  })
})
