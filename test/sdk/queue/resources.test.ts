import { Client, QstashDailyRatelimitError, QstashRatelimitError } from '@upstash/qstash'
import { describe, expect, test } from 'vitest'
import { shop } from '../../queue/world.js'
import { quietSdk, sdkWorld, ways } from './sdk-world.js'

// Every method of the SDK's resource classes, against queue.md 1.5 to 1.11 and 11.
quietSdk()

describe.each(ways)('through %s', (way) => {
  describe('messages', () => {
    test('cancel one, several by ID, several by filter, and all', async () => {
      const { client } = await sdkWorld(way)
      const ids: string[] = []
      for (const label of ['a', 'a', 'b', 'b', 'c']) {
        ids.push((await client.publishJSON({ url: shop, body: 1, delay: 60, label })).messageId)
      }
      expect(await client.messages.cancel(ids[0]!)).toEqual({ cancelled: 1 })
      await expect(client.messages.get(ids[0]!)).rejects.toMatchObject({ status: 404 })
      await expect(client.messages.cancel(ids[0]!)).rejects.toMatchObject({ status: 404 })
      expect(await client.messages.cancel([ids[1]!, ids[0]!, 'msg_unknown'])).toEqual({ cancelled: 1 })
      expect(await client.messages.cancel({ filter: { label: 'b' } })).toEqual({ cancelled: 2 })
      expect(await client.messages.cancel({ all: true })).toEqual({ cancelled: 1 })
      expect(await client.messages.cancel({ all: true })).toEqual({ cancelled: 0 })
      await expect(client.messages.cancel({ filter: { lable: 'x' } as never })).rejects.toMatchObject({ status: 400 })
    })

    test('support the deprecated delete, deleteMany and deleteAll', async () => {
      const { client } = await sdkWorld(way)
      const ids: string[] = []
      for (let n = 0; n < 4; n++) ids.push((await client.publishJSON({ url: shop, body: n, delay: 60 })).messageId)
      await client.messages.delete(ids[0]!)
      expect(await client.messages.deleteMany([ids[1]!])).toBe(1)
      expect(await client.messages.deleteAll()).toBe(2)
    })
  })

  describe('FIFO queues', () => {
    test('support upsert, get, list, pause, resume and delete', async () => {
      const { client, clock, destinations } = await sdkWorld(way)
      const seen = destinations.record(shop)
      const queue = client.queue({ queueName: 'orders' })
      await queue.upsert({ parallelism: 2, paused: true })
      const at = clock.now()
      expect(await queue.get()).toEqual({
        name: 'orders',
        createdAt: at,
        updatedAt: at,
        parallelism: 2,
        paused: true,
        lag: 0,
      })
      await queue.enqueueJSON({ url: shop, body: 1 })
      await clock.drain()
      expect(await queue.get()).toMatchObject({ lag: 1 })
      expect(seen.count).toBe(0)
      await queue.resume()
      await clock.drain()
      expect(seen.count).toBe(1)
      await queue.pause()
      expect((await queue.get()).paused).toBe(true)
      expect((await queue.list()).map(({ name }) => name)).toEqual(['orders'])
      await queue.delete()
      await expect(queue.get()).rejects.toMatchObject({ status: 404 })
      await queue.delete()
    })
  })

  describe('schedules', () => {
    test('support create, get, list, pause, resume and delete', async () => {
      const { client, clock, destinations } = await sdkWorld(way)
      const seen = destinations.record(shop)
      const { scheduleId } = await client.schedules.create({
        destination: shop,
        cron: '*/5 * * * *',
        body: '{"tick":1}',
        method: 'PUT',
        retries: 1,
        delay: '5s',
        headers: { 'x-a': '1' },
        callback: 'https://shop.test/cb',
        label: 'tick',
        flowControl: { key: 'k', rate: 3 },
      })
      expect(scheduleId).toMatch(/^scd_[1-9A-HJ-NP-Za-km-z]{28}$/)
      expect(await client.schedules.get(scheduleId)).toMatchObject({
        scheduleId,
        cron: '*/5 * * * *',
        destination: shop,
        method: 'PUT',
        body: '{"tick":1}',
        header: { 'Content-Type': ['application/json'], 'X-A': ['1'] },
        retries: 1,
        delay: 5,
        callback: 'https://shop.test/cb',
        labels: ['tick'],
        flowControlKey: 'k',
        rate: 3,
        ratePerSecond: 3,
        isPaused: false,
        createdAt: clock.now(),
        nextScheduleTime: clock.now() + 300_000,
      })
      await client.schedules.pause({ schedule: scheduleId })
      await clock.advance('6m')
      expect((await client.schedules.get(scheduleId)).isPaused).toBe(true)
      expect(seen.count).toBe(0)
      await client.schedules.resume({ schedule: scheduleId })
      await clock.advance('5m')
      expect(seen.count).toBe(1)
      expect(seen.last().header('upstash-schedule-id')).toBe(scheduleId)
      const [listed] = await client.schedules.list()
      expect(listed).toMatchObject({ scheduleId, lastScheduleTime: clock.now() - 60_000 })
      expect(Object.values(listed!.lastScheduleStates!)).toEqual(['SUCCESS'])
      await client.schedules.delete(scheduleId)
      await expect(client.schedules.get(scheduleId)).rejects.toMatchObject({ status: 404 })
      await client.schedules.delete(scheduleId)
    })

    test('are replaced as a whole by one with the same ID', async () => {
      const { client } = await sdkWorld(way)
      await client.schedules.create({
        scheduleId: 'daily',
        destination: shop,
        cron: '0 9 * * *',
        body: 'x',
        queueName: 'q',
      })
      await client.schedules.create({ scheduleId: 'daily', destination: shop, cron: ' 0 10 * * * ' })
      const schedule = await client.schedules.get('daily')
      expect(schedule).toMatchObject({ scheduleId: 'daily', cron: '0 10 * * *' })
      expect(schedule.body).toBeUndefined()
      expect(await client.schedules.list()).toHaveLength(1)
    })
  })

  describe('URL groups', () => {
    test('support addEndpoints, get, list, removeEndpoints and delete, also as topics', async () => {
      const { client, clock } = await sdkWorld(way)
      const { urlGroups } = client
      const at = clock.now()
      await urlGroups.addEndpoints({
        name: 'g',
        endpoints: [{ url: 'https://shop.test/a', name: 'a b' }, { url: 'https://shop.test/b' }],
      })
      expect(await urlGroups.get('g')).toEqual({
        name: 'g',
        createdAt: at,
        updatedAt: at,
        endpoints: [{ name: 'a b', url: 'https://shop.test/a' }, { url: 'https://shop.test/b' }],
      })
      await urlGroups.addEndpoints({ name: 'g', endpoints: [{ url: 'https://shop.test/c', name: 'a b' }] })
      expect((await client.topics.list())[0]!.endpoints[0]).toEqual({ name: 'a b', url: 'https://shop.test/c' })
      await urlGroups.removeEndpoints({ name: 'g', endpoints: [{ name: 'a b' }] })
      expect((await urlGroups.get('g')).endpoints).toEqual([{ url: 'https://shop.test/b' }])
      await urlGroups.removeEndpoints({ name: 'g', endpoints: [{ url: 'https://shop.test/b' }] })
      await expect(urlGroups.get('g')).rejects.toMatchObject({ status: 404 })
      await expect(urlGroups.removeEndpoints({ name: 'g', endpoints: [{ name: 'x' }] })).rejects.toMatchObject({
        status: 404,
      })
      await urlGroups.delete('g')
    })
  })

  describe('dead letters', () => {
    test('support listMessages, retry of one and many, and delete of one, many and all', async () => {
      const { client, clock, destinations } = await sdkWorld(way)
      destinations.respond(shop, { status: 404, body: '404 Not Found' })
      for (let n = 0; n < 6; n++) await client.publishJSON({ url: shop, body: n, retries: 0, label: `l${n}` })
      await clock.drain()
      const { messages, cursor } = await client.dlq.listMessages()
      expect(messages.map(({ body }) => body)).toEqual(['0', '1', '2', '3', '4', '5'])
      expect(cursor).toBeUndefined()
      expect(messages[0]).toMatchObject({
        dlqId: expect.stringMatching(/^\d+-\d+$/),
        responseStatus: 404,
        responseBody: '404 Not Found',
        url: shop,
      })
      const page = await client.dlq.listMessages({ count: 4, filter: { url: shop } })
      expect(page.messages).toHaveLength(4)
      expect((await client.dlq.listMessages({ cursor: page.cursor! })).messages.map(({ body }) => body)).toEqual([
        '4',
        '5',
      ])
      expect((await client.dlq.listMessages({ filter: { label: ['l1', 'l3'] } })).messages).toHaveLength(2)
      expect((await client.dlq.listMessages({ dlqIds: [messages[2]!.dlqId] })).messages).toHaveLength(1)
      await expect(client.dlq.listMessages({ filter: { host: 'shop.test' } as never })).rejects.toMatchObject({
        status: 400,
      })

      destinations.respond(shop, 200)
      const retried = await client.dlq.retry(messages[0]!.dlqId)
      expect(retried.responses).toHaveLength(1)
      expect(retried.cursor).toBeUndefined()
      expect(retried.responses[0]!.messageId).not.toBe(messages[0]!.messageId)
      await clock.drain()
      expect((await client.dlq.retry([messages[1]!.dlqId])).responses).toHaveLength(1)
      expect((await client.dlq.retry({ filter: { label: 'l2' } })).responses).toHaveLength(1)
      expect(await client.dlq.delete(messages[3]!.dlqId)).toEqual({ deleted: 1 })
      expect(await client.dlq.deleteMany({ dlqIds: [messages[4]!.dlqId] })).toMatchObject({ deleted: 1 })
      expect(await client.dlq.delete({ all: true })).toMatchObject({ deleted: 1 })
      expect((await client.dlq.listMessages()).messages).toEqual([])
      await expect(client.dlq.delete('1-0')).rejects.toMatchObject({ status: 404 })
    })
  })

  describe('logs', () => {
    test('are listed newest first, filtered and in pages, as logs and as events', async () => {
      const { client, clock, destinations } = await sdkWorld(way)
      destinations.respond(shop, 200)
      const ids: string[] = []
      for (let n = 0; n < 3; n++) ids.push((await client.publishJSON({ url: shop, body: n, label: `l${n}` })).messageId)
      await clock.drain()
      const { logs } = await client.logs()
      expect(logs).toHaveLength(9)
      expect(logs[0]).toMatchObject({ state: 'DELIVERED', messageId: ids[2], url: shop, time: clock.now() })
      expect((await client.logs({ messageIds: [ids[0]!, ids[1]!] })).logs).toHaveLength(6)
      expect((await client.logs({ filter: { state: 'DELIVERED' } })).logs.map(({ messageId }) => messageId)).toEqual(
        [...ids].reverse(),
      )
      expect(
        (await client.logs({ filter: { label: ['l0', 'l1'], state: 'CREATED', fromDate: new Date(clock.now()) } }))
          .logs,
      ).toHaveLength(2)
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await client.events({ count: 4, ...(cursor && { cursor }) } as never)
        seen.push(...page.events.map(({ messageId, state }) => `${messageId} ${state}`))
        cursor = page.cursor as string | undefined
      } while (cursor)
      expect(seen).toEqual(logs.map(({ messageId, state }) => `${messageId} ${state}`))
    })
  })

  describe('flow control', () => {
    test('supports get, pause, resume, pin, unpin, resetRate and global parallelism', async () => {
      const { client, clock, destinations } = await sdkWorld(way)
      destinations.respond(shop, 200)
      const flow = client.flowControl
      await expect(flow.get('k/1')).rejects.toMatchObject({ status: 404 })
      await client.publishJSON({
        url: shop,
        body: 1,
        flowControl: { key: 'k/1', parallelism: 10, rate: 100, period: 60 },
      })
      await clock.drain()
      expect(await flow.get('k/1')).toEqual({
        flowControlKey: 'k/1',
        waitListSize: 0,
        waitlistSize: 0,
        parallelismMax: 10,
        parallelismCount: 0,
        rateMax: 100,
        rateCount: 1,
        ratePeriod: 60,
        ratePeriodStart: clock.now() / 1000,
        isPinnedParallelism: false,
        isPinnedRate: false,
        isPaused: false,
      })
      await flow.pause('k/1')
      await client.publishJSON({ url: shop, body: 2, flowControl: { key: 'k/1', parallelism: 10 } })
      await clock.drain()
      expect(await flow.get('k/1')).toMatchObject({ isPaused: true, waitListSize: 1 })
      await flow.resume('k/1')
      await clock.drain()
      expect(await flow.get('k/1')).toMatchObject({ isPaused: false, waitListSize: 0 })
      await flow.pin('k/1', { parallelism: 3, rate: 7, period: 120 })
      await client.publishJSON({ url: shop, body: 3, flowControl: { key: 'k/1', parallelism: 1, rate: 1 } })
      expect(await flow.get('k/1')).toMatchObject({
        parallelismMax: 3,
        rateMax: 7,
        ratePeriod: 120,
        isPinnedParallelism: true,
        isPinnedRate: true,
      })
      await flow.unpin('k/1', { parallelism: true, rate: true })
      await clock.drain()
      await flow.resetRate('k/1')
      expect(await flow.get('k/1')).toMatchObject({ isPinnedParallelism: false, parallelismMax: 3, rateCount: 0 })
      expect(await flow.getGlobalParallelism()).toEqual({ parallelismMax: 100, parallelismCount: 0 })
    })
  })

  describe('errors and limits', () => {
    test('include the error for a wrong token', async () => {
      const { sandbox } = await sdkWorld(way)
      const client = new Client({ baseUrl: sandbox.urls.queue, token: 'wrong', retry: false })
      await expect(client.queue().list()).rejects.toMatchObject({
        status: 401,
        message: '{"error":"unable to authenticate: invalid token"}',
      })
    })

    test('distinguish the daily from the burst limit by headers', async () => {
      const { client } = await sdkWorld(way, { queueDailyLimit: 1, queueBurstLimit: 2 })
      await client.publishJSON({ url: shop, body: 1 })
      await expect(client.publishJSON({ url: shop, body: 1 })).rejects.toBeInstanceOf(QstashDailyRatelimitError)
      await client.queue().list()
      await client.queue().list()
      const refused = await client
        .queue()
        .list()
        .catch((error) => error)
      expect(refused).toBeInstanceOf(QstashRatelimitError)
      expect(refused).toMatchObject({ limit: '2', remaining: '0', reset: '1893456001' })
    })
  })
})
