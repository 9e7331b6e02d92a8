import { describe, expect, test } from 'vitest'
import { utf8 } from '../../src/kernel/bytes.js'
import { TrafficLog } from '../../src/kernel/traffic-log.js'
import { Ledger } from '../../src/stats/ledger.js'
import { payAsYouGo, unmetered } from '../../src/stats/reports.js'
import { Ring } from '../../src/stats/rings.js'
import { statsWorld, sum, userId } from './world.js'

const path = `/v2/queue/stats/${userId}`

test('a report has the fields of the specification and no others', () => {
  const { get } = statsWorld('2025-10-23T18:33:05.585Z')
  expect(Object.keys(get(path))).toEqual([
    'days',
    'daily_requests',
    'daily_billings',
    'daily_bandwidths',
    'daily_used',
    'daily_used_workflow',
    'daily_qstash_messages',
    'daily_workflow_messages',
    'dlq_message_count',
    'daily_bandwidth_used',
    'total_monthly_billing',
  ])
})

describe('daily arrays', () => {
  test('cover the month from its first day, including future days, each at the time of the request', () => {
    // Example of the public documentation: 1 October 2025 was a Wednesday.
    const { get } = statsWorld('2025-10-23T11:33:05.585Z')
    const { days, daily_requests, daily_billings, daily_bandwidths } = get(path)
    expect(days).toHaveLength(31)
    expect(days.slice(0, 8)).toEqual([
      'Wednesday',
      'Thursday',
      'Friday',
      'Saturday',
      'Sunday',
      'Monday',
      'Tuesday',
      'Wednesday',
    ])
    expect(daily_requests[0]).toEqual({
      x: '2025-10-01 11:33:05.585000000 +0000 UTC',
      y: 0,
      workflow_message: 0,
      workflow_run: 0,
    })
    expect(daily_requests[30].x).toBe('2025-10-31 11:33:05.585000000 +0000 UTC')
    for (const daily of [daily_billings, daily_bandwidths]) {
      expect(daily).toHaveLength(31)
      expect(daily[22]).toEqual({ x: '2025-10-23 11:33:05.585000000 +0000 UTC', y: 0 })
    }
  })

  test.each([
    ['2024-02-29T00:00:00Z', 29, 'Thursday'],
    ['2025-02-28T23:59:59.999Z', 28, 'Saturday'],
    ['2000-02-01T00:00:00Z', 29, 'Tuesday'],
    ['2100-02-01T00:00:00Z', 28, 'Monday'],
    ['2025-04-30T12:00:00Z', 30, 'Tuesday'],
    ['2025-12-31T12:00:00Z', 31, 'Monday'],
  ])('of %s have %i days, the first one a %s', (now, length, first) => {
    const { get } = statsWorld(now)
    const { days, daily_bandwidths } = get(path)
    expect([days.length, daily_bandwidths.length, days[0]]).toEqual([length, length, first])
  })

  test('count every attempt on its day in UTC', async () => {
    const { clock, get, deliver } = statsWorld('2025-10-22T23:59:59.999Z')
    deliver('RETRY', 'RETRY')
    await clock.advance(1)
    deliver('DELIVERED')
    const { daily_requests, daily_bandwidths } = get(path)
    expect(daily_requests.map((point: { y: number }) => point.y).slice(20, 24)).toEqual([0, 2, 1, 0])
    // Each attempt sent 5 bytes and got 3.
    expect(daily_bandwidths.map((point: { y: number }) => point.y).slice(20, 24)).toEqual([0, 16, 8, 0])
  })
})

describe('period series', () => {
  test.each([
    ['1h', 60, 1, '2025-10-23 17:34:00.000 +0000 UTC', '2025-10-23 18:33:00.000 +0000 UTC'],
    ['3h', 60, 3, '2025-10-23 15:36:00.000 +0000 UTC', '2025-10-23 18:33:00.000 +0000 UTC'],
    ['12h', 60, 12, '2025-10-23 06:36:00.000 +0000 UTC', '2025-10-23 18:24:00.000 +0000 UTC'],
    ['1d', 60, 24, '2025-10-22 18:48:00.000 +0000 UTC', '2025-10-23 18:24:00.000 +0000 UTC'],
    ['30d', 240, 180, '2025-09-23 21:00:00.000 +0000 UTC', '2025-10-23 18:00:00.000 +0000 UTC'],
  ])('of %s: %i points, %i minutes apart', (period, points, minutes, first, last) => {
    const { get } = statsWorld('2025-10-23T18:33:05.244Z')
    const { daily_used } = get(`${path}?period=${period}`)
    expect(daily_used).toHaveLength(points)
    expect([daily_used[0].x, daily_used.at(-1).x]).toEqual([first, last])
    const times = daily_used.map(({ x }: { x: string }) => Date.parse(x.replace(' +0000 UTC', 'Z').replace(' ', 'T')))
    for (let index = 1; index < times.length; index++) expect(times[index] - times[index - 1]).toBe(minutes * 60_000)
  })

  test.each([
    ['3d', 72],
    ['7d', 168],
  ])('of %s: 60 points of %i minutes, the last one contains now', (period, minutes) => {
    const now = Date.parse('2025-10-23T18:33:05.244Z')
    const { daily_bandwidth_used } = statsWorld('2025-10-23T18:33:05.244Z').get(`${path}?period=${period}`)
    expect(daily_bandwidth_used).toHaveLength(60)
    const last = Date.parse(daily_bandwidth_used.at(-1).x.replace(' +0000 UTC', 'Z').replace(' ', 'T'))
    expect(last % (minutes * 60_000)).toBe(0)
    expect(now - last).toBeGreaterThanOrEqual(0)
    expect(now - last).toBeLessThan(minutes * 60_000)
  })

  test('default to one hour', () => {
    const { get } = statsWorld('2025-10-23T18:33:05.244Z')
    expect(get(path)).toEqual(get(`${path}?period=1h`))
  })

  test('count an event in the interval that contains it', async () => {
    const { clock, get, deliver } = statsWorld('2025-10-23T18:30:59.999Z')
    deliver('DELIVERED')
    await clock.advance(1)
    deliver('FAILED')
    await clock.advanceTo('2025-10-23T18:33:00Z')
    const { daily_used } = get(path)
    expect(daily_used.slice(-4).map((point: { y: number }) => point.y)).toEqual([1, 1, 0, 0])
  })

  test('move with the clock', async () => {
    const { clock, get, deliver } = statsWorld('2025-10-23T18:33:00Z')
    deliver('DELIVERED')
    expect(sum(get(path).daily_used)).toBe(1)
    await clock.advance('59m')
    expect(get(path).daily_used[0].y).toBe(1)
    await clock.advance('1m')
    expect(sum(get(path).daily_used)).toBe(0)
    expect(sum(get(`${path}?period=30d`).daily_used)).toBe(1)
    await clock.advance('31d')
    expect(sum(get(`${path}?period=30d`).daily_used)).toBe(0)
    // The month has changed.
    expect(sum(get(path).daily_requests)).toBe(0)
  })
})

describe('named series', () => {
  test('count the entries of the log by state, in the documented order, including empty series', () => {
    const { traffic, get, deliver } = statsWorld('2025-10-23T18:33:00Z')
    deliver('RETRY', 'RETRY', 'DELIVERED')
    deliver('RETRY', 'FAILED')
    deliver()
    traffic.append({ type: 'message', messageId: 'msg_3', state: 'CANCEL_REQUESTED' })
    traffic.append({ type: 'message', messageId: 'msg_3', state: 'CANCELLED' })
    const { daily_qstash_messages } = get(path)
    const totals = daily_qstash_messages.map(({ id, data_points }: { id: string; data_points: { y: number }[] }) => [
      id,
      sum(data_points),
    ])
    expect(totals).toEqual([
      ['created', 3],
      ['active', 5],
      ['delivered', 1],
      ['retried', 3],
      // Counts each failed attempt, whether or not it is retried.
      ['error', 4],
      ['failed', 1],
      ['canceled', 1],
    ])
  })

  test('count the states of workflow runs', () => {
    const { traffic, get } = statsWorld('2025-10-23T18:33:00Z')
    const states = ['RUN_STARTED', 'RUN_STARTED', 'RUN_STARTED', 'RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED'] as const
    for (const state of states)
      traffic.append({ type: 'workflow', runId: 'wfr_1', url: 'https://shop.test/flow', state })
    traffic.append({
      type: 'attempt',
      messageId: 'msg_w',
      kind: 'message',
      url: 'https://shop.test/flow',
      method: 'POST',
      retried: 0,
      maxRetries: 3,
      reason: '',
      workflowRunId: 'wfr_1',
      headers: [],
      body: utf8(''),
    })
    const { daily_workflow_messages, daily_requests, daily_used_workflow } = get(path)
    expect(
      daily_workflow_messages.map(({ id, data_points }: { id: string; data_points: { y: number }[] }) => [
        id,
        data_points.length,
        sum(data_points),
      ]),
    ).toEqual([
      ['started', 60, 3],
      ['success', 60, 1],
      ['failed', 60, 1],
      ['canceled', 60, 1],
    ])
    expect(daily_requests[22]).toMatchObject({ y: 1, workflow_message: 1, workflow_run: 3 })
    expect(sum(daily_used_workflow)).toBe(1)
  })

  test('do not count a duplicate as a message, and count an attempt that ends twice once', () => {
    const { clock, traffic, get, deliver } = statsWorld('2025-10-23T18:33:00Z')
    deliver('RETRY')
    const [attempt] = traffic.ofType('attempt')
    traffic.complete(attempt!, { outcome: { ...attempt!.outcome!, note: 'the handler responded late' } })
    const { seq, at, ...published } = traffic.ofType('published')[0]!
    const duplicate = traffic.append({ ...published, deduplicated: true })
    expect([duplicate.seq > seq, duplicate.at]).toEqual([true, at])
    const series = Object.fromEntries(
      get(path).daily_qstash_messages.map((one: { id: string; data_points: { y: number }[] }) => [
        one.id,
        sum(one.data_points),
      ]),
    )
    expect(series).toMatchObject({ created: 1, active: 1, error: 1, retried: 1 })
    expect(clock.now()).toBe(Date.parse('2025-10-23T18:33:00Z'))
  })
})

describe('cost', () => {
  test('is one dollar per 100,000 messages, to six decimals', () => {
    const { get, deliver } = statsWorld('2025-10-23T18:33:00Z')
    for (let count = 0; count < 123; count++) deliver('DELIVERED')
    const { daily_billings, total_monthly_billing } = get(path)
    expect(daily_billings[22].y).toBe(0.00123)
    expect(total_monthly_billing).toBe(0.00123)
  })

  test('includes bandwidth after the free part of the month is used up', async () => {
    const price = { ...payAsYouGo, message: 0, freeBandwidth: 12 }
    const { clock, get, deliver } = statsWorld('2025-10-22T12:00:00Z', { price: { ...price, gigabyte: 1e9 } })
    deliver('DELIVERED')
    await clock.advance('1d')
    deliver('DELIVERED')
    const { daily_billings, total_monthly_billing } = get(path)
    // 8 bytes a day, 12 free: on the second day 4 bytes are billed.
    expect([daily_billings[21].y, daily_billings[22].y, total_monthly_billing]).toEqual([0, 4, 4])
  })

  test('is 0 on the free plan', () => {
    const { get, deliver } = statsWorld('2025-10-23T18:33:00Z', { price: unmetered })
    deliver('DELIVERED')
    expect(get(path)).toMatchObject({ total_monthly_billing: 0 })
    expect(sum(get(path).daily_billings)).toBe(0)
  })
})

test('the report contains the current number of dead letters', () => {
  let letters = 2
  const { get } = statsWorld('2025-10-23T18:33:00Z', { deadLetters: () => letters })
  expect(get(path).dlq_message_count).toBe(2)
  letters = 1
  expect(get(path).dlq_message_count).toBe(1)
})

test('a whole month stays countable until its last instant', async () => {
  const { clock, get, deliver } = statsWorld('2025-10-01T00:00:00Z')
  for (let days = 1; days < 31; days++) {
    deliver('DELIVERED')
    await clock.advance('1d')
  }
  await clock.advanceTo('2025-10-31T23:59:59.999Z')
  expect(sum(get(path).daily_requests)).toBe(30)
  // The first of the 240 intervals begins on 2 October at 00:00.
  expect(sum(get(`${path}?period=30d`).daily_used)).toBe(29)
})

test('counts that no report can show are forgotten', () => {
  let now = Date.parse('2025-01-01T00:00:00Z')
  const traffic = new TrafficLog({ now: () => now })
  const ledger = new Ledger()
  traffic.subscribe(ledger.note)
  for (let days = 0; days < 100; days++, now += 86_400_000) {
    traffic.append({ type: 'workflow', runId: `wfr_${days}`, url: '', state: 'RUN_STARTED' })
  }
  const month = (from: string) => ({ from: Date.parse(from), interval: 86_400_000, points: 31 })
  expect(ledger.series('runsStarted', month('2025-01-01T00:00:00Z'))).toEqual(new Array(31).fill(0))
  expect(ledger.series('runsStarted', month('2025-03-11T00:00:00Z')).slice(0, 31)).toEqual(new Array(31).fill(1))
})

test('a clock that follows the host may move back; counts outside the window are dropped', () => {
  const ring = new Ring(60_000, 60, 1)
  const at = (minutes: number) => 1_900_000_000_000 - (1_900_000_000_000 % 60_000) + minutes * 60_000
  const row = Float64Array.of(1)
  ring.add(at(0), row)
  ring.add(at(60), row)
  ring.add(at(59), row)
  ring.add(at(0) + 59_999, row)
  const counts = ring.read(0, { from: at(1), interval: 60_000, points: 60 })
  expect(counts).toEqual([...new Array(58).fill(0), 1, 1])
  expect(ring.read(0, { from: at(0), interval: 60_000, points: 1 })).toEqual([0])
})

test('days before 1970 are counted', () => {
  const { get, deliver } = statsWorld('1969-12-31T23:59:30Z')
  deliver('DELIVERED')
  const { days, daily_requests, daily_used } = get(path)
  expect(days.at(-1)).toBe('Wednesday')
  expect([daily_requests.at(-1).y, daily_used.at(-1)]).toEqual([1, { x: '1969-12-31 23:59:00.000 +0000 UTC', y: 1 }])
})

describe('overridden fields', () => {
  test('replace single fields, with the times of the clock', () => {
    const { statistics, get } = statsWorld('2025-10-23T18:33:00Z')
    statistics.queue.override({
      total_monthly_billing: 5.806,
      daily_used: [7, 8],
      daily_requests: [1, 2],
      daily_bandwidth_used: 4,
      daily_qstash_messages: { delivered: [320, 450] },
    })
    const answer = get(path)
    expect(answer.total_monthly_billing).toBe(5.806)
    expect(answer.daily_used.slice(-3).map((point: { y: number }) => point.y)).toEqual([0, 7, 8])
    expect(answer.daily_used.at(-1).x).toBe('2025-10-23 18:33:00.000 +0000 UTC')
    expect(answer.daily_requests.slice(0, 3).map((point: { y: number }) => point.y)).toEqual([1, 2, 0])
    expect(answer.daily_requests[0]).toHaveProperty('workflow_run', 0)
    expect(new Set(answer.daily_bandwidth_used.map((point: { y: number }) => point.y))).toEqual(new Set([4]))
    const delivered = answer.daily_qstash_messages.find(({ id }: { id: string }) => id === 'delivered')
    expect(delivered.data_points.slice(-2).map((point: { y: number }) => point.y)).toEqual([320, 450])
    expect(answer.dlq_message_count).toBe(0)
  })

  test('return points unchanged', () => {
    const { statistics, get } = statsWorld('2025-10-23T18:33:00Z')
    const points = [{ x: '2023-05-22 10:59:23.426 +0000 UTC', y: 320 }]
    statistics.queue.override({ daily_used: points, days: ['Monday'] })
    expect(get(path)).toMatchObject({ daily_used: points, days: ['Monday'] })
    statistics.clear()
    expect(get(path).daily_used).toHaveLength(60)
  })

  test('reject an unknown series and a value that is not a number', () => {
    const { statistics } = statsWorld('2025-10-23T18:33:00Z')
    expect(() => statistics.queue.override({ daily_qstash_messages: { deliverd: 3 } })).toThrow(
      /daily_qstash_messages .*"deliverd".*created, active, delivered,/,
    )
    expect(() => statistics.queue.override({ dlq_message_count: Number.NaN })).toThrow(/dlq_message_count.*NaN/)
    expect(() => statistics.queue.override({ daily_used: [1, Number.POSITIVE_INFINITY] })).toThrow(
      /daily_used.*Infinity/,
    )
    expect(statistics.queue.report()).toMatchObject({ dlq_message_count: 0 })
  })

  test.each([
    [{ daily_used: null }, 'daily_used must be a number, a list of numbers, or a list of { x, y } (got null).'],
    [{ daily_used: { a: 1 } }, 'daily_used must be a number, a list of numbers'],
    [{ daily_requests: [{ x: 1, y: 2 }] }, 'daily_requests must be a number, a list of numbers'],
    [{ daily_used: [1, '2'] }, 'daily_used must be a number, a list of numbers'],
    [{ total_monthly_billing: '5.806' }, 'total_monthly_billing must be a number (got "5.806").'],
    [{ dlq_message_count: [1] }, 'dlq_message_count must be a number (got [1]).'],
    [{ days: [1] }, 'days must be a list of names (got [1]).'],
    [{ daily_qstash_messages: { delivered: '7' } }, 'daily_qstash_messages must be an object of numbers by series ID'],
    [
      { daily_qstash_messages: [{ id: 'delivered' }] },
      'daily_qstash_messages must be an object of numbers by series ID',
    ],
  ])('reject another type: %j', (figures, text) => {
    const { statistics } = statsWorld('2025-10-23T18:33:00Z')
    const before = statistics.queue.report()
    expect(() => statistics.queue.override(figures as never)).toThrow(text)
    expect(statistics.queue.report()).toEqual(before)
  })

  test('reject an unknown field', () => {
    const { statistics } = statsWorld('2025-10-23T18:33:00Z')
    expect(() => statistics.queue.override({ requests: 3 } as never)).toThrow(
      /stats\.queue\.override\(\): unknown field "requests"\. Use one of days, daily_requests,/,
    )
  })
})
