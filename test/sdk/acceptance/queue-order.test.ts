import { describe, expect, test } from 'vitest'
import { open, shop } from './shop.js'

// When FIFO queues, flow control and schedules start a message. Expected: queue.md 6, 7, 8.

const start = Date.parse('2030-01-01T00:00:00Z')

describe('FIFO queues', () => {
  test('deliver one message after another and hold the slot through retries and callbacks', async () => {
    const { client, clock, destinations } = open()
    const story: string[] = []
    const tell = (what: string): void => void story.push(`${(clock.now() - start) / 1000} ${what}`)
    let firstCalls = 0
    destinations.on(shop, async (request, task) => {
      const name = await request.text()
      tell(`${name} starts`)
      await task.sleep('2s')
      tell(`${name} ends`)
      return new Response('', { status: name === 'a' && firstCalls++ === 0 ? 500 : 200 })
    })
    destinations.on('https://shop.test/callback', async (_request, task) => {
      tell('callback starts')
      await task.sleep('3s')
      tell('callback ends')
      return new Response()
    })
    const queue = client.queue({ queueName: 'q' })
    await queue.enqueue({ url: shop, body: 'a', callback: 'https://shop.test/callback' })
    await queue.enqueue({ url: shop, body: 'b' })
    expect((await queue.get()).lag).toBe(2)
    await clock.drain()
    expect(story).toEqual([
      '0 a starts',
      '2 a ends',
      '2 callback starts',
      '5 callback ends',
      '14 a starts',
      '16 a ends',
      '16 callback starts',
      '19 callback ends',
      '19 b starts',
      '21 b ends',
    ])
    expect((await queue.get()).lag).toBe(0)
  })

  test('start two messages in order with parallelism 2; more parallelism has an effect immediately', async () => {
    const { client, clock, destinations } = open()
    const started: string[] = []
    destinations.on(shop, async (request, task) => {
      started.push(`${(clock.now() - start) / 1000} ${await request.text()}`)
      await task.sleep('10s')
      return new Response()
    })
    const queue = client.queue({ queueName: 'q' })
    await queue.upsert({ parallelism: 2 })
    for (const name of ['a', 'b', 'c', 'd', 'e']) await queue.enqueue({ url: shop, body: name })
    await clock.advance('5s')
    expect(started).toEqual(['0 a', '0 b'])
    await queue.upsert({ parallelism: 3 })
    await clock.drain()
    expect(started).toEqual(['0 a', '0 b', '5 c', '10 d', '10 e'])
    // A message that is published to the queue does not reset its parallelism to 1.
    await queue.enqueue({ url: shop, body: 'f' })
    expect((await queue.get()).parallelism).toBe(3)
  })

  test('accept messages while paused, start none, and keep the order behind a delayed head', async () => {
    const { client, clock, destinations } = open()
    const seen = destinations.record(shop)
    const queue = client.queue({ queueName: 'q' })
    await queue.upsert({ paused: true })
    await queue.enqueue({ url: shop, body: 'late', delay: 30 })
    await queue.enqueue({ url: shop, body: 'soon' })
    await clock.advance('10s')
    expect((await queue.get()).lag).toBe(2)
    expect(seen.count).toBe(0)
    await queue.resume()
    await clock.drain()
    expect(seen.requests.map((attempt) => [attempt.text(), (attempt.at - start) / 1000])).toEqual([
      ['late', 30],
      ['soon', 30],
    ])
  })

  test('reject a retry of one of their messages by hand', async () => {
    const { client, env, sandbox } = open()
    const { messageId } = await client.queue({ queueName: 'q' }).enqueue({ url: shop, delay: 60 })
    const plain = await client.publish({ url: shop, delay: 60 })
    const retry = async (id: string): Promise<number> =>
      (
        await sandbox.fetch(`${env.QSTASH_URL}/v2/messages/${id}/retry`, {
          method: 'POST',
          headers: { authorization: `Bearer ${env.QSTASH_TOKEN}` },
        })
      ).status
    expect(await retry(messageId)).toBe(400)
    expect(await retry('msg_nobody')).toBe(404)
    expect(await retry(plain.messageId)).toBe(200)
  })
})

describe('flow control', () => {
  test('starts ten per minute with twenty in flight: ten in each of the first two minutes, then one per finished request', async () => {
    const { client, clock, destinations } = open()
    const times: number[] = []
    destinations.on(shop, async (_request, task) => {
      times.push((clock.now() - start) / 1000)
      await task.sleep('10m')
      return new Response()
    })
    const flowControl = { key: 'k', rate: 10, period: '1m', parallelism: 20 } as const
    await client.batch(Array.from({ length: 25 }, () => ({ url: shop, flowControl })))
    await clock.advance('1s')
    expect(await client.flowControl.get('k')).toMatchObject({
      flowControlKey: 'k',
      waitListSize: 15,
      parallelismMax: 20,
      parallelismCount: 10,
      rateMax: 10,
      rateCount: 10,
      ratePeriod: 60,
      ratePeriodStart: start / 1000,
    })
    await clock.drain()
    expect(times).toEqual([...Array(10).fill(0), ...Array(10).fill(60), ...Array(5).fill(600)])
  })

  test("doesn't hold a slot for a message that waits for its retry", async () => {
    const { client, clock, destinations } = open()
    const times: string[] = []
    destinations.respond(shop, (delivery) => {
      times.push(`${(clock.now() - start) / 1000} ${delivery.text()}`)
      return delivery.text() === 'bad' ? 500 : 200
    })
    const flowControl = { key: 'k', parallelism: 1 } as const
    await client.publish({ url: shop, body: 'bad', retries: 1, flowControl })
    await client.publish({ url: shop, body: 'good', flowControl })
    await clock.drain()
    expect(times).toEqual(['0 bad', '0 good', '12 bad'])
  })

  test('fills the wait list on pause, empties it on resume, and prefers a pin to the options of messages', async () => {
    const { client, clock, destinations } = open()
    const seen = destinations.record(shop)
    const flow = client.flowControl
    const publish = (): Promise<unknown> =>
      client.publish({ url: shop, flowControl: { key: 'k', rate: 1, period: 60 } })
    await publish()
    await clock.drain()
    await flow.pause('k')
    await publish()
    await publish()
    await clock.advance('10m')
    expect(seen.count).toBe(1)
    expect(await flow.get('k')).toMatchObject({ waitListSize: 2, isPaused: true })
    await flow.pin('k', { rate: 5, period: 10 })
    await flow.resume('k')
    await clock.advance('0s')
    expect(seen.count).toBe(3)
    expect(await flow.get('k')).toMatchObject({
      waitListSize: 0,
      rateMax: 5,
      ratePeriod: 10,
      isPinnedRate: true,
      rateCount: 2,
    })
    await publish()
    expect((await flow.get('k')).rateMax).toBe(5)
    await flow.unpin('k', { rate: true })
    await publish()
    expect((await flow.get('k')).rateMax).toBe(1)
  })

  test('counts retries as requests', async () => {
    const { client, clock, destinations } = open()
    const times: number[] = []
    destinations.respond(shop, () => {
      times.push((clock.now() - start) / 1000)
      return 500
    })
    await client.publish({ url: shop, retries: 2, retryDelay: '1000', flowControl: { key: 'k', rate: 1, period: 30 } })
    await clock.drain()
    expect(times).toEqual([0, 30, 60])
  })

  test.each(['__proto__', 'constructor', 'toString', 'a.b-c_d', 'hasOwnProperty'])(
    'treats the key %s as any other key',
    async (key) => {
      const { client, clock, destinations } = open()
      destinations.respond(shop, 200)
      await expect(client.flowControl.get(key)).rejects.toMatchObject({ status: 404 })
      await client.publish({ url: shop, flowControl: { key, parallelism: 1 } })
      await clock.drain()
      expect(await client.flowControl.get(key)).toMatchObject({ flowControlKey: key, parallelismMax: 1 })
    },
  )
})

describe('schedules', () => {
  async function slots(cron: string, startAt: string, until: string): Promise<string[]> {
    const { client, clock, destinations } = open({ startAt })
    const seen = destinations.record(shop)
    await client.schedules.create({ destination: shop, cron })
    await clock.advanceTo(until)
    return seen.requests.map((attempt) => new Date(attempt.at).toISOString().slice(0, 16))
  }

  test('support five fields in UTC and any IANA zone', async () => {
    expect(await slots('*/20 9 * * 1-5', '2030-01-04T00:00:00Z', '2030-01-07T23:00:00Z')).toEqual([
      '2030-01-04T09:00',
      '2030-01-04T09:20',
      '2030-01-04T09:40',
      '2030-01-07T09:00',
      '2030-01-07T09:20',
      '2030-01-07T09:40',
    ])
    expect(await slots('CRON_TZ=Asia/Kolkata 0 9 * * *', '2030-01-01T00:00:00Z', '2030-01-02T00:00:00Z')).toEqual([
      '2030-01-01T03:30',
    ])
    expect(await slots('0 0 13 * 5', '2030-09-01T00:00:00Z', '2030-09-14T00:00:01Z')).toEqual([
      '2030-09-06T00:00',
      '2030-09-13T00:00',
    ])
    expect(await slots('@daily', '2030-01-01T00:00:00Z', '2030-01-03T00:00:00Z')).toEqual([
      '2030-01-02T00:00',
      '2030-01-03T00:00',
    ])
  })

  test('skip a local time that does not exist and fire once at one that occurs twice', async () => {
    // New York in 2030: 02:00 on March 10 does not exist, and 01:30 on November 3 occurs twice.
    expect(await slots('CRON_TZ=America/New_York 30 2 * * *', '2030-03-09T00:00:00Z', '2030-03-12T00:00:00Z')).toEqual([
      '2030-03-09T07:30',
      '2030-03-11T06:30',
    ])
    expect(await slots('CRON_TZ=America/New_York 30 1 * * *', '2030-11-02T00:00:00Z', '2030-11-05T00:00:00Z')).toEqual([
      '2030-11-02T05:30',
      '2030-11-03T05:30',
      '2030-11-04T06:30',
    ])
  })

  test.each([
    '',
    '* * * *',
    '* * * * * *',
    '61 * * * *',
    '* 25 * * *',
    '@every 5m',
    'CRON_TZ=Mars/Base * * * * *',
    'H * * * *',
    'x',
  ])('reject the cron %j', async (cron) => {
    const { env, sandbox } = open()
    const answer = await sandbox.fetch(`${env.QSTASH_URL}/v2/schedules/${shop}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.QSTASH_TOKEN}`, 'upstash-cron': cron },
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual({ error: expect.any(String) })
  })

  test("don't make up for fire times during a pause, and still show the next one", async () => {
    const { client, clock, destinations } = open()
    const seen = destinations.record(shop)
    const { scheduleId } = await client.schedules.create({ destination: shop, cron: '0 * * * *', scheduleId: 'hourly' })
    expect(scheduleId).toBe('hourly')
    await clock.advance('90m')
    await client.schedules.pause({ schedule: scheduleId })
    await client.schedules.pause({ schedule: scheduleId })
    await clock.advance('3h')
    expect(await client.schedules.get(scheduleId)).toMatchObject({
      isPaused: true,
      nextScheduleTime: Date.parse('2030-01-01T05:00:00Z'),
    })
    await client.schedules.resume({ schedule: scheduleId })
    await clock.advance('1h')
    expect(seen.requests.map((attempt) => new Date(attempt.at).getUTCHours())).toEqual([1, 5])
  })

  test('are replaced as a whole by one with the same ID; fields that are not sent are deleted', async () => {
    const { client, clock } = open()
    const createdAt = clock.now()
    await client.schedules.create({
      scheduleId: 's',
      destination: shop,
      cron: '0 * * * *',
      body: 'x',
      retries: 5,
      label: 'l',
      queueName: 'q',
    })
    await clock.advance('1m')
    await client.schedules.create({ scheduleId: 's', destination: 'https://shop.test/other', cron: '5 * * * *' })
    const schedule = await client.schedules.get('s')
    expect(schedule).toMatchObject({ cron: '5 * * * *', destination: 'https://shop.test/other', retries: 3, createdAt })
    for (const field of ['body', 'label', 'queueName', 'delay'] as const) expect(schedule[field]).toBeUndefined()
  })

  test('add their ID to messages and report the states of the last fire time', async () => {
    const { client, clock, destinations } = open()
    destinations.respond('https://shop.test/good', 200)
    destinations.respond('https://shop.test/bad', 500)
    await client.urlGroups.addEndpoints({
      name: 'g',
      endpoints: [{ url: 'https://shop.test/good' }, { url: 'https://shop.test/bad' }],
    })
    const { scheduleId } = await client.schedules.create({
      destination: 'g',
      cron: '0 * * * *',
      retries: 0,
      delay: '10s',
    })
    await clock.advance('1h')
    const pending = await client.schedules.get(scheduleId)
    expect(Object.values(pending.lastScheduleStates!)).toEqual(['IN_PROGRESS', 'IN_PROGRESS'])
    expect(pending).toMatchObject({
      delay: 10,
      lastScheduleTime: clock.now(),
      nextScheduleTime: clock.now() + 3_600_000,
    })
    await clock.advance('10s')
    const done = await client.schedules.get(scheduleId)
    expect(Object.values(done.lastScheduleStates!).sort()).toEqual(['FAIL', 'SUCCESS'])
    const { logs } = await client.logs({ filter: { scheduleId, state: 'DELIVERED' } })
    expect(logs).toMatchObject([{ url: 'https://shop.test/good', urlGroup: 'g', scheduleId }])
    await client.schedules.delete(scheduleId)
    await clock.advance('2h')
    expect((await client.logs({ filter: { scheduleId, state: 'CREATED' } })).logs).toHaveLength(2)
  })

  test('publish to a FIFO queue without resetting its parallelism to 1', async () => {
    const { client, clock, destinations } = open()
    destinations.respond(shop, 200)
    await client.queue({ queueName: 'q' }).upsert({ parallelism: 4 })
    await client.schedules.create({ destination: shop, cron: '* * * * *', queueName: 'q' })
    await clock.advance('2m')
    expect((await client.queue({ queueName: 'q' }).get()).parallelism).toBe(4)
    expect((await client.logs({ filter: { queueName: 'q', state: 'DELIVERED' } })).logs).toHaveLength(2)
  })
})

describe('URL groups', () => {
  test('reject a publish after they are deleted, but deliver pending messages', async () => {
    const { client, clock, destinations } = open()
    const seen = destinations.record('https://shop.test/*')
    await client.urlGroups.addEndpoints({ name: 'g', endpoints: [{ url: 'https://shop.test/a', name: 'n 1' }] })
    await client.publish({ urlGroup: 'g', delay: 10 })
    await client.urlGroups.delete('g')
    await expect(client.publish({ urlGroup: 'g' })).rejects.toMatchObject({ status: 404 })
    await clock.drain()
    expect(seen.last().header('upstash-topic-name')).toBe('g')
    expect((await client.logs()).logs[0]).toMatchObject({ urlGroup: 'g', endpointName: 'n 1' })
  })

  test('have default headers, which headers of a publish override', async () => {
    const { client, clock, destinations, env, sandbox } = open()
    const seen = destinations.record('https://shop.test/*', 500)
    await client.urlGroups.addEndpoints({ name: 'g', endpoints: [{ url: 'https://shop.test/a' }] })
    const patched = await sandbox.fetch(`${env.QSTASH_URL}/v2/topics/g`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${env.QSTASH_TOKEN}` },
      body: JSON.stringify({
        headers: { 'Upstash-Retries': '0', 'Upstash-Forward-X-Group': ['yes'], 'Upstash-Delay': '5s' },
      }),
    })
    expect(patched.status).toBe(200)
    await client.publish({ urlGroup: 'g', headers: { 'x-own': '1' } })
    await clock.drain()
    expect(seen.requests.map((attempt) => (attempt.at - start) / 1000)).toEqual([5])
    expect(seen.last().header('x-group')).toBe('yes')
    await client.publish({ urlGroup: 'g', retries: 1, retryDelay: '0', headers: { 'X-Group': 'mine' } })
    await clock.drain()
    expect(seen.count).toBe(3)
    expect(seen.last().header('x-group')).toBe('mine')
  })

  test.each(['__proto__', 'constructor', 'toString'])(
    'have no special names: a group and a queue named %s',
    async (name) => {
      const { client, clock, destinations } = open()
      destinations.respond(shop, 200)
      await expect(client.urlGroups.get(name)).rejects.toMatchObject({ status: 404 })
      await expect(client.publish({ urlGroup: name })).rejects.toMatchObject({ status: 404 })
      await client.urlGroups.addEndpoints({ name, endpoints: [{ url: shop, name }] })
      expect(await client.urlGroups.get(name)).toMatchObject({ name, endpoints: [{ url: shop, name }] })
      const queue = client.queue({ queueName: name })
      await expect(queue.get()).rejects.toMatchObject({ status: 404 })
      await queue.enqueue({ urlGroup: name, label: name, headers: { [name]: '1' } })
      expect(await queue.get()).toMatchObject({ name, lag: 1 })
      await clock.drain()
      expect((await client.logs({ filter: { label: name, state: 'DELIVERED' } })).logs).toHaveLength(1)
    },
  )
})
