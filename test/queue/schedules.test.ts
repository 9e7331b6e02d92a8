import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CronExpression } from '../../src/kernel/cron.js'
import { runs } from '../support/effort.js'
import { shop, type World, world } from './world.js'

const create = (at: World, cron: string, headers: Record<string, string> = {}, body?: string, to = shop) =>
  at.send('POST', `/v2/schedules/${to}`, { headers: { 'Service-Cron': cron, ...headers }, ...(body && { body }) })

const read = async (at: World, id: string) => (await at.send('GET', `/v2/schedules/${id}`)).json

/** Returns the first fire times after an instant, as ISO texts. */
function slots(cron: string, from: string, count: number): string[] {
  const expression = new CronExpression(cron)
  const found: string[] = []
  let at: number | undefined = Date.parse(from)
  for (let n = 0; n < count; n++) {
    at = expression.next(at!)
    found.push(new Date(at!).toISOString())
  }
  return found
}

describe('cron expressions [queue.md 7]', () => {
  test.each([
    ['* * * * *', '2030-01-01T00:00:30Z', ['2030-01-01T00:01:00.000Z', '2030-01-01T00:02:00.000Z']],
    ['*/5 * * * *', '2030-01-01T00:00:00Z', ['2030-01-01T00:05:00.000Z', '2030-01-01T00:10:00.000Z']],
    ['0 9,17 * * MON-FRI', '2030-01-04T10:00:00Z', ['2030-01-04T17:00:00.000Z', '2030-01-07T09:00:00.000Z']],
    ['30 6 1 jan,jul *', '2030-01-01T07:00:00Z', ['2030-07-01T06:30:00.000Z', '2031-01-01T06:30:00.000Z']],
    ['0 0 29 2 *', '2030-01-01T00:00:00Z', ['2032-02-29T00:00:00.000Z', '2036-02-29T00:00:00.000Z']],
    // If both day fields are restricted, either may match.
    [
      '0 0 13 * FRI',
      '2030-09-01T00:00:00Z',
      ['2030-09-06T00:00:00.000Z', '2030-09-13T00:00:00.000Z', '2030-09-20T00:00:00.000Z'],
    ],
    ['0 0 13 * FRI', '2030-10-12T00:00:00Z', ['2030-10-13T00:00:00.000Z', '2030-10-18T00:00:00.000Z']],
    ['@hourly', '2030-01-01T00:10:00Z', ['2030-01-01T01:00:00.000Z']],
    ['@daily', '2030-01-01T00:10:00Z', ['2030-01-02T00:00:00.000Z']],
    ['0 0 * * 7', '2030-01-01T00:00:00Z', ['2030-01-06T00:00:00.000Z']],
    ['  0   4 * * *  ', '2030-01-01T00:00:00Z', ['2030-01-01T04:00:00.000Z']],
  ])('gives the fire times of %s after %s', (cron, from, wanted) => {
    expect(slots(cron, from, wanted.length)).toEqual(wanted)
  })

  test.each([
    '',
    '* * * *',
    '* * * * * *',
    '0 * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '*/0 * * * *',
    '5-1 * * * *',
    'a * * * *',
    '@every 5m',
    '@reboot',
    '0 0 L * *',
    '0 0 15W * *',
    '0 0 * * 1#2',
    '0 0 * * 7',
    '0 0 * * 5-7',
    '0 0 * * SAT-SUN',
    '0 22-2 * * *',
    '@Daily',
    'CRON_TZ=Mars/Base 0 0 * * *',
    'CRON_TZ=Europe/Berlin',
    // Only IANA names are accepted, although the host knows more.
    'CRON_TZ=+02:00 0 0 * * *',
    'CRON_TZ=PST 0 0 * * *',
    'CRON_TZ=europe/berlin 0 0 * * *',
    'CRON_TZ=EUROPE/BERLIN 0 0 * * *',
    'CRON_TZ=Local 0 0 * * *',
    'TZ=IST 0 0 * * *',
  ])('rejects %j with 400', async (cron) => {
    const answer = await create(world(), cron)
    expect([answer.status, answer.json.error]).toEqual([400, expect.stringMatching(/^Invalid cron expression: ./)])
  })

  test.each([
    'America/Argentina/Buenos_Aires',
    'Asia/Calcutta',
    'Asia/Kolkata',
    'US/Pacific',
    'Etc/GMT+5',
    'EST',
    'EST5EDT',
    'CET',
    'UTC',
    'GB-Eire',
    'Zulu',
    'Antarctica/DumontDUrville',
    'Africa/Dar_es_Salaam',
  ])('accepts the zone %s', async (zone) => {
    for (const prefix of ['CRON_TZ', 'TZ'])
      expect((await create(world(), `${prefix}=${zone} 0 4 * * *`)).status).toBe(200)
  })

  // These are the tables of the library's own tests. [robfig/cron v3: parser_test.go]
  test.each([
    ['5--5', 'too many hyphens'],
    ['jan-x', 'failed to parse int from'],
    ['2-x', 'failed to parse int from'],
    ['*/-12', 'negative number'],
    ['*//2', 'too many slashes'],
    ['60', 'end of range \\(60\\) above maximum \\(59\\)'],
    ['5-3', 'beyond end of range'],
    ['*/0', 'should be a positive number'],
  ])('rejects the minute %j with the text of the Go library', (minute, text) => {
    expect(() => new CronExpression(`${minute} * * * *`)).toThrow(new RegExp(text))
  })
  test.each([
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['@unrecognized', 'unrecognized descriptor: @unrecognized'],
    ['', 'empty spec string'],
    ['99999999999 * * * *', 'end of range (99999999999) above maximum (59): 99999999999'],
  ])('rejects %j with the text of the Go library', (cron, text) => {
    expect(() => new CronExpression(cron)).toThrow(text)
  })

  test.each([
    ['5', [5]],
    ['5-6/2', [5]],
    ['5-7/2', [5, 7]],
    ['5-7/1', [5, 6, 7]],
    ['*/15', [0, 15, 30, 45]],
    ['5/15', [5, 20, 35, 50]],
    ['+5', [5]],
    ['50/5', [50, 55]],
    ['1,,3', [1, 3]],
    ['?/30', [0, 30]],
    ['1,2-4,58/1', [1, 2, 3, 4, 58, 59]],
  ])('expands the minute %j to %j', (minute, minutes) => {
    const found = slots(`${minute} 0 * * *`, '2029-12-31T23:59:00Z', minutes.length)
    expect(found.map((slot) => new Date(slot).getUTCMinutes())).toEqual(minutes)
  })

  test('treats a step of one as no restriction of days, and any other step as a restriction', () => {
    const days = (cron: string) => slots(cron, '2030-01-01T12:00:00Z', 3).map((slot) => new Date(slot).getUTCDate())
    // 2030-01-07 is a Monday.
    expect(days('0 0 */1 * MON')).toEqual([7, 14, 21])
    expect(days('0 0 ? * MON')).toEqual([7, 14, 21])
    expect(days('0 0 */2 * MON')).toEqual([3, 5, 7])
    expect(days('0 0 1-31 * MON')).toEqual([2, 3, 4])
  })

  test('read like a crontab with policy.cronDialect: 7 is a Sunday, and a step needs a range', async () => {
    const at = world({ policy: { cronDialect: 'crontab' } })
    const { json } = await create(at, '0 0 * * 5-7')
    await at.sandbox.clock.advanceTo('2030-01-05T12:00:00Z')
    expect((await read(at, json.scheduleId)).nextScheduleTime).toBe(Date.parse('2030-01-06T00:00:00Z'))
    expect((await create(at, '5/15 * * * *')).json.error).toMatch(/^Invalid cron expression: /)
    expect((await create(at, '@every 5m')).status).toBe(400)
  })

  test('accept @every with a Go duration with policy.cronEvery', async () => {
    const at = world({ policy: { cronEvery: 'accept' }, startAt: '2030-01-01T00:00:10Z' })
    const seen = at.sandbox.destinations.record(shop)
    expect((await create(at, '@every 1m30s')).status).toBe(200)
    await at.sandbox.clock.advance('5m')
    expect(seen.requests.map(({ at }) => new Date(at).toISOString().slice(11, 19))).toEqual([
      '00:01:30',
      '00:03:00',
      '00:04:30',
    ])
    at.sandbox.assertInvariants()
    for (const cron of ['@every', '@every 5', '@every 5d', '@every -5m'])
      expect((await create(at, cron)).status).toBe(400)
    expect((await create(at, '@every 300ms', { 'Service-Schedule-Id': 'fast' })).status).toBe(200)
    await at.sandbox.clock.advance('3s')
    expect((await read(at, 'fast')).nextScheduleTime - at.sandbox.clock.now()).toBe(1000)
  })

  test('accept time zones with CRON_TZ', () => {
    expect(slots('CRON_TZ=America/New_York 0 4 * * *', '2030-01-01T00:00:00Z', 1)).toEqual(['2030-01-01T09:00:00.000Z'])
    expect(slots('CRON_TZ=America/New_York 0 4 * * *', '2030-07-01T00:00:00Z', 1)).toEqual(['2030-07-01T08:00:00.000Z'])
    expect(slots('CRON_TZ=Asia/Kolkata 0 4 * * *', '2030-01-01T00:00:00Z', 1)).toEqual(['2030-01-01T22:30:00.000Z'])
  })

  test('skip a local time that does not exist', () => {
    // Clocks are set forward from 02:00 to 03:00 on 10 March 2030 in New York.
    expect(slots('CRON_TZ=America/New_York 30 2 * * *', '2030-03-09T00:00:00Z', 3)).toEqual([
      '2030-03-09T07:30:00.000Z',
      '2030-03-11T06:30:00.000Z',
      '2030-03-12T06:30:00.000Z',
    ])
    // On Lord Howe they move by half an hour: 02:00 to 02:30 on 6 October 2030.
    expect(slots('CRON_TZ=Australia/Lord_Howe 15 2 * * *', '2030-10-04T16:00:00Z', 2)).toEqual([
      '2030-10-06T15:15:00.000Z',
      '2030-10-07T15:15:00.000Z',
    ])
  })

  test('fire once, at the first, for a local time that occurs twice', () => {
    // 01:30 occurs twice on 3 November 2030 in New York: at 05:30 and 06:30 UTC.
    expect(slots('CRON_TZ=America/New_York 30 1 * * *', '2030-11-03T00:00:00Z', 2)).toEqual([
      '2030-11-03T05:30:00.000Z',
      '2030-11-04T06:30:00.000Z',
    ])
    expect(slots('CRON_TZ=America/New_York */30 1 * * *', '2030-11-03T04:00:00Z', 3)).toEqual([
      '2030-11-03T05:00:00.000Z',
      '2030-11-03T05:30:00.000Z',
      '2030-11-04T06:00:00.000Z',
    ])
  })

  // Debian's cron(8) does not move jobs whose hour is a wildcard when clocks change.
  test.each([
    ['*/30 * * * *', 30],
    ['0 * * * *', 60],
    ['@hourly', 60],
    ['20 0-23 * * *', 60],
    ['* * * * *', 1],
  ])('keep their interval for %s, without a fixed hour, while clocks change', (cron, minutes) => {
    for (const [zone, from] of [
      ['America/New_York', '2030-11-03T03:55:00Z'],
      ['America/New_York', '2030-03-10T05:55:00Z'],
      ['Europe/Berlin', '2030-10-26T22:55:00Z'],
    ]) {
      const times = slots(`CRON_TZ=${zone} ${cron}`, from!, Math.ceil(300 / minutes)).map((slot) => Date.parse(slot))
      const steps = times.slice(1).map((time, index) => (time - times[index]!) / 60_000)
      expect(new Set(steps), `${zone} from ${from}`).toEqual(new Set([minutes]))
    }
  })

  test('fire every second hour in both passes of a repeated hour, as cron does', () => {
    // Berlin shows 02:00 at 00:00 and at 01:00 UTC on 27 October 2030.
    expect(slots('CRON_TZ=Europe/Berlin 0 */2 * * *', '2030-10-26T22:30:00Z', 3)).toEqual([
      '2030-10-27T00:00:00.000Z',
      '2030-10-27T01:00:00.000Z',
      '2030-10-27T03:00:00.000Z',
    ])
  })

  test('give only local times that match the fields, each at its first occurrence', () => {
    const zones = [
      'America/New_York',
      'Europe/Berlin',
      'Australia/Lord_Howe',
      'America/St_Johns',
      'Africa/Casablanca',
      'Asia/Kolkata',
    ]
    const from = fc.integer({ min: Date.UTC(2030, 0, 1), max: Date.UTC(2031, 0, 1) })
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.nat(59), fc.nat(23), from, (zone, minute, hour, start) => {
        const local = new Intl.DateTimeFormat('en-GB', {
          timeZone: zone,
          hour: '2-digit',
          minute: '2-digit',
          day: '2-digit',
          month: '2-digit',
        })
        const expression = new CronExpression(`CRON_TZ=${zone} ${minute} ${hour} * * *`)
        const slot = expression.next(start)!
        const shown = local.format(slot)
        expect(shown.endsWith(`${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`)).toBe(true)
        for (const before of [1_800_000, 3_600_000, 7_200_000]) expect(local.format(slot - before)).not.toBe(shown)
      }),
      { numRuns: runs(200, 200, 2000) },
    )
  })
})

describe('firing of schedules [queue.md 7]', () => {
  test("publishes exactly at each fire time, with the schedule's ID and the creator's address", async () => {
    const at = world({ startAt: '2030-01-01T00:00:10Z' })
    const seen = at.destinations.record(shop)
    const { json } = await create(
      at,
      '*/2 * * * *',
      { 'X-Forwarded-For': '203.0.113.9', 'Content-Type': 'text/plain' },
      'tick',
    )
    await at.clock.advance('5m')
    expect(seen.requests.map(({ at: time }) => new Date(time).toISOString().slice(11, 23))).toEqual([
      '00:02:00.000',
      '00:04:00.000',
    ])
    expect(seen.last().header('service-schedule-id')).toBe(json.scheduleId)
    expect(seen.last().header('service-caller-ip')).toBe('203.0.113.9')
    expect(seen.last().text()).toBe('tick')
  })

  test('is not awaited by drain(), but the published messages are', async () => {
    const at = world()
    at.destinations.respond(shop, 500)
    await create(at, '* * * * *')
    await at.clock.advance('1m')
    await at.clock.drain()
    expect(
      at.traffic
        .ofType('attempt')
        .filter(({ messageId }) => messageId === at.traffic.ofType('published')[0]!.messageId),
    ).toHaveLength(4)
  })

  test('applies Delay to each message, but not Not-Before', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    await create(at, '0 1 * * *', { 'Service-Delay': '30s', 'Service-Not-Before': '9999999999' })
    await at.clock.advance('61m')
    expect(at.traffic.ofType('published')[0]!.at).toBe(Date.UTC(2030, 0, 1, 1))
    expect(seen.last().at).toBe(Date.UTC(2030, 0, 1, 1, 0, 30))
  })

  test('publishes to each endpoint that a URL group has at that time', async () => {
    const at = world()
    const seen = at.destinations.record('https://shop.test/*')
    at.queue.urlGroups.addEndpoints('g', ['https://shop.test/a'])
    const { json } = await create(at, '* * * * *', {}, 'x', 'g')
    at.queue.urlGroups.addEndpoints('g', ['https://shop.test/b'])
    await at.clock.advance('1m')
    expect(seen.requests.map(({ url }) => url)).toEqual(['https://shop.test/a', 'https://shop.test/b'])
    expect(Object.values((await read(at, json.scheduleId)).lastScheduleStates)).toEqual(['SUCCESS', 'SUCCESS'])
    at.queue.urlGroups.delete('g')
    await at.clock.advance('1m')
    expect((await read(at, json.scheduleId)).error).toBe('topic g not found')
    expect((await create(at, '* * * * *', {}, 'x', 'nobody')).status).toBe(404)
  })

  test("applies the default headers that a URL group has at that time, below the schedule's own [queue.md 8]", async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    at.queue.urlGroups.addEndpoints('g', [shop])
    const { json } = await create(at, '* * * * *', { 'Service-Forward-X-A': 'own' }, 'x', 'g')
    await at.send('PATCH', '/v2/topics/g', {
      body: { headers: { 'Service-Retries': '7', 'Service-Forward-X-A': 'group', 'Service-Forward-X-B': 'group' } },
    })
    await at.clock.advance('1m')
    expect(at.traffic.ofType('published')[0]!.maxRetries).toBe(7)
    expect([seen.last().header('x-a'), seen.last().header('x-b')]).toEqual(['own', 'group'])
    // Publishes may bring the key; the schedule does not.
    await at.send('PATCH', '/v2/topics/g', { body: { headers: { 'Service-Flow-Control-Value': 'rate=1' } } })
    await at.clock.advance('1m')
    expect([seen.count, (await read(at, json.scheduleId)).error]).toEqual([
      1,
      'invalid Service-Flow-Control-Value: a flow-control key is required',
    ])
  })

  test('shows the last and next times, and the states of the last messages', async () => {
    const at = world({ startAt: '2030-01-01T00:00:10Z' })
    at.destinations.respond(shop, async (_delivery, task) => {
      await task.sleep('10s')
      return 500
    })
    const { json } = await create(at, '* * * * *', { 'Service-Retries': '0' })
    expect(await read(at, json.scheduleId)).toMatchObject({ nextScheduleTime: Date.UTC(2030, 0, 1, 0, 1) })
    expect(await read(at, json.scheduleId)).not.toHaveProperty('lastScheduleTime')
    await at.clock.advance('55s')
    const running = await read(at, json.scheduleId)
    expect(running).toMatchObject({
      lastScheduleTime: Date.UTC(2030, 0, 1, 0, 1),
      nextScheduleTime: Date.UTC(2030, 0, 1, 0, 2),
    })
    const [id] = at.traffic.ofType('published').map(({ messageId }) => messageId)
    expect(running.lastScheduleStates).toEqual({ [id!]: 'IN_PROGRESS' })
    await at.clock.advance('10s')
    expect((await read(at, json.scheduleId)).lastScheduleStates).toEqual({ [id!]: 'FAIL' })
  })

  test('does not count a canceled message as failed', async () => {
    const at = world()
    const { json } = await create(at, '* * * * *', { 'Service-Delay': '10s' })
    await at.clock.advance('1m')
    await at.send('DELETE', '/v2/messages')
    await at.clock.advance('30s')
    expect(Object.values((await read(at, json.scheduleId)).lastScheduleStates)).toEqual(['IN_PROGRESS'])
  })

  test('with schedules.fire() leaves the fire times unchanged', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    const { json } = await create(at, '0 * * * *')
    await at.send('PATCH', `/v2/schedules/${json.scheduleId}/pause`)
    const [message] = at.queue.schedules.fire(json.scheduleId)
    await at.clock.advance(0)
    expect(seen.last().messageId).toBe(message!.id)
    expect((await read(at, json.scheduleId)).nextScheduleTime).toBe(Date.UTC(2030, 0, 1, 1))
    expect(() => at.queue.schedules.fire('scd_x')).toThrow('there is no schedule "scd_x"')
    expect(
      at.queue.schedules.upcoming(json.scheduleId, { from: at.clock.now(), to: at.clock.now() + 7_200_000 }),
    ).toHaveLength(3)
  })
})

describe('endpoints of schedules [queue.md 1.7, 7]', () => {
  test('return the ID at creation, and show no body of a schedule without one', async () => {
    const at = world()
    const answer = await create(at, '0 4 * * *', {
      'Service-Delay': '25s',
      'Content-Type': 'application/json',
      'Service-Method': 'GET',
    })
    expect([answer.status, answer.json]).toEqual([
      200,
      { scheduleId: expect.stringMatching(/^scd_[1-9A-HJ-NP-Za-km-z]{28}$/) },
    ])
    expect(await read(at, answer.json.scheduleId)).toEqual({
      createdAt: at.clock.now(),
      scheduleId: answer.json.scheduleId,
      cron: '0 4 * * *',
      destination: shop,
      method: 'GET',
      header: { 'Content-Type': ['application/json'] },
      retries: 3,
      delay: 25,
      nextScheduleTime: Date.UTC(2030, 0, 1, 4),
      callerIp: '127.0.0.1',
      callerIP: '127.0.0.1',
      isPaused: false,
    })
  })

  test.each(['PATCH', 'POST'])(
    'pause and resume idempotently by %s, and skipped fire times are not made up',
    async (method) => {
      const at = world()
      const seen = at.destinations.record(shop)
      const { json } = await create(at, '* * * * *')
      for (let twice = 0; twice < 2; twice++)
        expect((await at.send(method, `/v2/schedules/${json.scheduleId}/pause`)).status).toBe(200)
      await at.clock.advance('150s')
      expect(await read(at, json.scheduleId)).toMatchObject({
        isPaused: true,
        nextScheduleTime: Date.UTC(2030, 0, 1, 0, 3),
      })
      for (let twice = 0; twice < 2; twice++)
        expect((await at.send(method, `/v2/schedules/${json.scheduleId}/resume`)).status).toBe(200)
      await at.clock.advance('60s')
      expect(seen.count).toBe(1)
      expect((await at.send(method, '/v2/schedules/scd_x/pause')).status).toBe(404)
    },
  )

  test('log each fire time that a pause skips, caused by the pause', async () => {
    const at = world()
    at.destinations.record(shop)
    const { json } = await create(at, '0 * * * *')
    await at.clock.advance('90m')
    await at.send('PATCH', `/v2/schedules/${json.scheduleId}/pause`)
    await at.clock.advance('2h')
    await at.send('PATCH', `/v2/schedules/${json.scheduleId}/resume`)
    await at.clock.advance('1h')
    const settings = at.traffic.ofType('setting').filter(({ resource: of }) => of === 'schedule')
    const paused = settings.find(({ change }) => change === 'paused')!
    const skipped = settings.filter(({ change }) => change === 'skipped')
    expect(skipped.map((entry) => [entry.at, entry.cause, entry.value])).toEqual(
      [2, 3].map((hour) => [Date.UTC(2030, 0, 1, hour), paused.seq, { because: 'it is paused' }]),
    )
    expect(settings.filter(({ change }) => change === 'fired')).toHaveLength(2)
  })

  test.each([
    ['Europe/Berlin', '30 2 * * *', '2030-03-30T12:00:00Z', '2030-03-31T01:00:00.000Z', '02:00 to 03:00'],
    ['Europe/Berlin', '0 2 31 3 *', '2030-03-30T12:00:00Z', '2030-03-31T01:00:00.000Z', '02:00 to 03:00'],
    ['Europe/Berlin', '*/10 2 * * *', '2030-03-30T12:00:00Z', '2030-03-31T01:00:00.000Z', '02:00 to 03:00'],
    ['America/New_York', '15 2 * * 0', '2030-03-09T12:00:00Z', '2030-03-10T07:00:00.000Z', '02:00 to 03:00'],
    ['Australia/Lord_Howe', '10 2 * * *', '2030-10-05T12:00:00Z', '2030-10-05T15:30:00.000Z', '02:00 to 02:30'],
  ])('log nonexistent summer times in %s for %s', async (zone, cron, from, instant, gap) => {
    const at = world({ startAt: from })
    at.destinations.record(shop)
    await create(at, `CRON_TZ=${zone} ${cron}`)
    await at.clock.advance('1d')
    const settings = at.traffic.ofType('setting')
    const skipped = settings.filter(({ change }) => change === 'skipped')
    expect(skipped.map((entry) => [new Date(entry.at).toISOString(), entry.value?.because])).toEqual([
      [instant, expect.stringMatching(`${zone} .*set forward.*${gap}`)],
    ])
    expect(settings.filter(({ change }) => change === 'fired')).toEqual([])
  })

  test('log no skipped times for deleted or replaced schedules', async () => {
    const at = world({ startAt: '2030-03-30T12:00:00Z' })
    at.destinations.record(shop)
    const { json } = await create(at, 'CRON_TZ=Europe/Berlin 30 2 * * *')
    await create(at, 'CRON_TZ=Europe/Berlin 30 2 * * *', { 'Service-Schedule-Id': 'again' })
    await create(at, 'CRON_TZ=Europe/Berlin 30 4 * * *', { 'Service-Schedule-Id': 'again' })
    await at.send('DELETE', `/v2/schedules/${json.scheduleId}`)
    await at.clock.advance('1d')
    expect(at.traffic.ofType('setting').filter(({ change }) => change === 'skipped')).toEqual([])
  })

  test('replace everything for an existing ID, but keep creation time and pause', async () => {
    const at = world()
    await create(at, '* * * * *', { 'Service-Schedule-Id': 's.1', 'Service-Callback': 'https://shop.test/cb' }, 'first')
    await at.send('PATCH', '/v2/schedules/s.1/pause')
    await at.clock.advance('1s')
    await create(at, '0 * * * *', { 'Service-Schedule-Id': 's.1' })
    const replaced = await read(at, 's.1')
    expect(replaced).toMatchObject({ cron: '0 * * * *', isPaused: true, createdAt: Date.UTC(2030, 0, 1) })
    expect(replaced).not.toHaveProperty('body')
    expect(replaced).not.toHaveProperty('callback')
    await at.clock.advance('5m')
    expect(at.traffic.ofType('published')).toEqual([])
  })

  test('keep created messages when a schedule is deleted', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    const { json } = await create(at, '* * * * *', { 'Service-Delay': '1h' })
    await at.clock.advance('1m')
    expect((await at.send('DELETE', `/v2/schedules/${json.scheduleId}`)).status).toBe(200)
    expect((await at.send('DELETE', `/v2/schedules/${json.scheduleId}`)).status).toBe(200)
    await at.clock.drain()
    expect(seen.count).toBe(1)
    expect((await at.send('GET', '/v2/schedules')).json).toEqual([])
  })

  test('create a schedule into a queue for an enqueue with a Cron header [queue.md 2.2]', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    const { json } = await at.send('POST', `/v2/enqueue/q/${shop}`, { headers: { 'Service-Cron': '* * * * *' } })
    expect((await read(at, json.scheduleId)).queueName).toBe('q')
    await at.clock.advance('1m')
    expect([seen.count, at.traffic.ofType('published')[0]!.queue]).toEqual([1, 'q'])
  })

  test('reject invalid IDs and a missing cron expression', async () => {
    const at = world()
    expect((await create(at, '* * * * *', { 'Service-Schedule-Id': 'a b' })).status).toBe(400)
    const refused = await at.send('POST', `/v2/schedules/${shop}`)
    expect([refused.status, refused.json.error]).toEqual([400, 'invalid Service-Cron: it is missing'])
    expect((await create(at, '* * * * *', {}, 'x', 'shop.test/x')).status).toBe(400)
    expect((await at.send('GET', '/v2/schedules/scd_x')).status).toBe(404)
  })

  test('check deduplication at the creation, not when the schedule fires', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    const headers = { 'Service-Deduplication-Id': 'one' }
    const first = await create(at, '* * * * *', headers)
    const second = await create(at, '* * * * *', headers)
    expect([second.status, second.json]).toEqual([202, { scheduleId: first.json.scheduleId, deduplicated: true }])
    await at.clock.advance('3m')
    expect(seen.count).toBe(3)
    await at.clock.advance('7m')
    expect((await create(at, '* * * * *', headers)).json.deduplicated).toBeUndefined()
    await at.send('DELETE', `/v2/schedules/${first.json.scheduleId}`)
    expect((await at.send('GET', '/v2/schedules')).json).toHaveLength(1)
  })

  test('apply redaction to get and list', async () => {
    const at = world()
    const { json } = await create(at, '* * * * *', { 'Service-Redact-Fields': 'body' }, 'secret')
    expect((await read(at, json.scheduleId)).body).toMatch(/^REDACTED:[0-9a-f]{64}$/)
  })
})
