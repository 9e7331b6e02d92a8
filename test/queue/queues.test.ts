import { describe, expect, test } from 'vitest'
import * as fault from '../../src/faults/constructors.js'
import { shop, type World, world } from './world.js'

const enqueue = (at: World, body: string, headers: Record<string, string> = {}, queue = 'q') =>
  at.send('POST', `/v2/enqueue/${queue}/${shop}`, { headers, body }).then(({ json }) => json.messageId as string)

/** Returns body and seconds from start to end of every attempt, such as `a 0-5`. */
const spans = (at: World) =>
  at.traffic.ofType('attempt').map(({ body, at: begun, outcome }) => {
    const second = (time: number) => (time - Date.UTC(2030, 0, 1)) / 1000
    return `${body} ${second(begun)}-${outcome ? second(outcome.at) : ''}`
  })

function slow(at: World, seconds: number): void {
  at.destinations.respond(shop, async (_delivery, task) => {
    await task.sleep(seconds * 1000)
    return 200
  })
}

describe('FIFO queues [queue.md 6.1]', () => {
  test('deliver one message after the other by default, in the order of arrival', async () => {
    const at = world()
    slow(at, 5)
    for (const body of ['a', 'b', 'c']) await enqueue(at, body)
    await at.clock.drain()
    expect(spans(at)).toEqual(['a 0-5', 'b 5-10', 'c 10-15'])
  })

  test('with parallelism p use up to p slots and start in order', async () => {
    const at = world()
    slow(at, 5)
    await at.send('POST', '/v2/queues', { body: { queueName: 'q', parallelism: 2 } })
    for (const body of ['a', 'b', 'c', 'd', 'e']) await enqueue(at, body)
    await at.clock.drain()
    expect(spans(at)).toEqual(['a 0-5', 'b 0-5', 'c 5-10', 'd 5-10', 'e 10-15'])
  })

  test('keep the slot of a message that waits for its retry', async () => {
    const at = world()
    at.destinations.script(shop, [fault.status(500), fault.pass(), fault.pass()])
    await enqueue(at, 'a')
    await enqueue(at, 'b')
    await at.clock.drain()
    expect(spans(at)).toEqual(['a 0-0', 'a 12-12', 'b 12-12'])
  })

  test('free the slot of a failed message', async () => {
    const at = world()
    at.destinations.script(shop, [fault.status(500), fault.pass()])
    await enqueue(at, 'a', { 'Service-Retries': '0' })
    await enqueue(at, 'b')
    await at.clock.drain()
    expect(spans(at)).toEqual(['a 0-0', 'b 0-0'])
  })

  test('start the next message only after the callbacks of the current one have finished', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    at.destinations.script('https://shop.test/cb', [fault.status(500), fault.pass()])
    await enqueue(at, 'a', { 'Service-Callback': 'https://shop.test/cb' })
    await enqueue(at, 'b')
    await at.clock.drain()
    const deliveries = at.traffic
      .ofType('attempt')
      .map(({ url, at: time }) => [new URL(url).pathname, (time - Date.UTC(2030, 0, 1)) / 1000])
    expect(deliveries).toEqual([
      ['/orders', 0],
      ['/cb', 0],
      ['/cb', 12],
      ['/orders', 12],
    ])
  })

  test('start the next message only after its failure callback has finished', async () => {
    const at = world()
    at.destinations.script(shop, [fault.status(500), fault.pass()])
    at.destinations.respond('https://shop.test/failed', async (_delivery, task) => {
      await task.sleep('7s')
      return 200
    })
    await enqueue(at, 'a', { 'Service-Retries': '0', 'Service-Failure-Callback': 'https://shop.test/failed' })
    await enqueue(at, 'b')
    await at.clock.drain()
    expect(spans(at).filter((span) => /^[ab] /.test(span))).toEqual(['a 0-0', 'b 7-7'])
  })

  test('keep the order behind a delayed first message', async () => {
    const at = world()
    slow(at, 1)
    await enqueue(at, 'a', { 'Service-Delay': '30s' })
    await enqueue(at, 'b')
    await at.clock.drain()
    expect(spans(at)).toEqual(['a 30-31', 'b 31-32'])
    expect(at.traffic.ofType('attempt')[1]!.waitReason).toMatch(/^31 s .*queue q$/)
  })

  test('do not wait for each other', async () => {
    const at = world()
    slow(at, 5)
    await enqueue(at, 'a', {}, 'one')
    await enqueue(at, 'b', {}, 'two')
    await at.clock.drain()
    expect(spans(at)).toEqual(['a 0-5', 'b 0-5'])
  })

  test('skip a canceled message, whose entry is logged when it was due', async () => {
    const at = world()
    slow(at, 5)
    await enqueue(at, 'a')
    const second = await enqueue(at, 'b')
    await enqueue(at, 'c')
    await at.clock.advance('1s')
    expect((await at.send('DELETE', `/v2/messages/${second}`)).json).toEqual({ cancelled: 1 })
    await at.clock.drain()
    expect(spans(at)).toEqual(['a 0-5', 'c 5-10'])
  })
})

describe('pause, parallelism and lag of a FIFO queue [queue.md 6.1, 1.6]', () => {
  test('a paused queue accepts messages but starts none; a running attempt continues; the lag grows', async () => {
    const at = world()
    slow(at, 5)
    await enqueue(at, 'a')
    await enqueue(at, 'b')
    await at.clock.advance('1s')
    expect((await at.send('POST', '/v2/queues/q/pause')).status).toBe(200)
    expect((await at.send('POST', '/v2/queues/q/pause')).status).toBe(200)
    await enqueue(at, 'c')
    await at.clock.drain()
    expect(spans(at)).toEqual(['a 0-5'])
    expect((await at.send('GET', '/v2/queues/q')).json).toMatchObject({ paused: true, lag: 2 })
    await at.send('POST', '/v2/queues/q/resume')
    await at.clock.drain()
    expect(spans(at)).toHaveLength(3)
    expect((await at.send('GET', '/v2/queues/q')).json).toMatchObject({ paused: false, lag: 0 })
  })

  test.each([
    ['a delayed head', { 'Service-Delay': '10s' }, [], [60], '50 s until queue q was resumed'],
    [
      'a retry',
      { 'Service-Retry-Delay': '10000' },
      [0],
      [0, 60],
      'delay 10 s from the retry delay 10000 after 500, then 50 s until queue q was resumed',
    ],
    ['a head in a wait list', { 'Service-Flow-Control-Key': 'k' }, [], [60], '55 s until queue q was resumed'],
  ])(
    'a paused queue holds %s that becomes due until the end of the pause',
    async (_case, headers, before, after, waited) => {
      const at = world()
      at.destinations.script(shop, _case === 'a retry' ? [fault.status(500)] : [])
      await at.send('POST', '/v2/flowControl/k/pause')
      await enqueue(at, 'a', headers)
      await at.clock.advance('5s')
      await at.send('POST', '/v2/queues/q/pause')
      await at.send('POST', '/v2/flowControl/k/resume')
      await at.clock.advance('55s')
      const starts = () => at.traffic.ofType('attempt').map(({ at: time }) => (time - Date.UTC(2030, 0, 1)) / 1000)
      expect(starts()).toEqual(before)
      expect(at.queue.explain(at.queue.messages[0]!.id)).toMatch(/queue q/)
      await at.send('POST', '/v2/queues/q/resume')
      await at.clock.drain()
      expect(starts()).toEqual(after)
      expect(at.traffic.ofType('attempt').at(-1)!.waitReason).toBe(waited)
      expect((await at.send('GET', '/v2/flowControl/k')).json.parallelismCount).toBe(0)
    },
  )

  test('a message that became due during a pause can be canceled, and the next one follows', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    await enqueue(at, 'a', { 'Service-Delay': '10s' })
    await enqueue(at, 'b')
    await at.send('POST', '/v2/queues/q/pause')
    await at.clock.advance('20s')
    expect((await at.send('DELETE', `/v2/messages/${at.queue.messages[0]!.id}`)).status).toBe(202)
    await at.send('POST', '/v2/queues/q/resume')
    await at.clock.drain()
    expect(seen.requests.map((delivery) => delivery.text())).toEqual(['b'])
  })

  test('a change of the parallelism takes effect immediately', async () => {
    const at = world()
    slow(at, 10)
    for (const body of ['a', 'b', 'c', 'd']) await enqueue(at, body)
    await at.clock.advance('2s')
    await at.send('POST', '/v2/queues', { body: { queueName: 'q', parallelism: 3 } })
    await at.clock.drain()
    expect(spans(at)).toEqual(['a 0-10', 'b 2-12', 'c 2-12', 'd 10-20'])
  })

  test('a schedule that publishes into a queue does not reset its parallelism', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    await at.send('POST', '/v2/queues', { body: { queueName: 'q', parallelism: 4 } })
    await at.send('POST', `/v2/schedules/${shop}`, {
      headers: { 'Service-Cron': '* * * * *', 'Service-Queue-Name': 'q' },
    })
    await at.clock.advance('2m')
    expect((await at.send('GET', '/v2/queues/q')).json.parallelism).toBe(4)
    expect(at.traffic.ofType('published').map((entry) => entry.queue)).toEqual(['q', 'q'])
  })
})

describe('endpoints of FIFO queues [queue.md 1.6]', () => {
  test('create, update, read, list and delete queues', async () => {
    const at = world()
    const upsert = (body: unknown) => at.send('POST', '/v2/queues', { body })
    const created = await upsert({ queueName: 'a.b-c_1' })
    expect([created.status, created.text]).toEqual([200, ''])
    const start = at.clock.now()
    expect((await at.send('GET', '/v2/queues/a.b-c_1')).json).toEqual({
      name: 'a.b-c_1',
      createdAt: start,
      updatedAt: start,
      parallelism: 1,
      paused: false,
      lag: 0,
    })
    await at.clock.advance('1s')
    await upsert({ queueName: 'a.b-c_1', parallelism: 5, paused: true })
    expect((await at.send('GET', '/v2/queues')).json).toMatchObject([
      { parallelism: 5, paused: true, createdAt: start, updatedAt: start + 1000 },
    ])
    for (const bad of [
      {},
      { queueName: 'a b' },
      { queueName: '' },
      { queueName: 'q', parallelism: 0 },
      { queueName: 'q', parallelism: 1.5 },
      { queueName: 5 },
    ]) {
      expect((await upsert(bad)).status, JSON.stringify(bad)).toBe(400)
    }
    expect((await at.send('DELETE', '/v2/queues/a.b-c_1')).status).toBe(200)
    expect((await at.send('DELETE', '/v2/queues/a.b-c_1')).status).toBe(200)
    expect((await at.send('GET', '/v2/queues/a.b-c_1')).status).toBe(404)
    expect((await at.send('POST', `/v2/enqueue/a%20b/${shop}`)).status).toBe(400)
  })

  test('log CANCELLED for pending messages of a deleted queue', async () => {
    const at = world()
    slow(at, 5)
    await enqueue(at, 'a')
    const waiting = await enqueue(at, 'b')
    await at.clock.advance('1s')
    await at.send('DELETE', '/v2/queues/q')
    await at.clock.drain()
    expect(spans(at)).toEqual(['a 0-5'])
    const { events } = (await at.send('GET', `/v2/events?messageId=${waiting}`)).json
    expect(events.map(({ state }: { state: string }) => state)).toEqual(['CANCELLED', 'CANCEL_REQUESTED', 'CREATED'])
  })

  test('accept a URL group as the target of an enqueue', async () => {
    const at = world()
    const seen = at.destinations.record('https://shop.test/*')
    at.queue.urlGroups.addEndpoints('g', ['https://shop.test/a', 'https://shop.test/b'])
    const answer = await at.send('POST', '/v2/enqueue/q/g', { body: 'x' })
    expect(answer.json).toHaveLength(2)
    await at.clock.drain()
    expect(seen.requests.map(({ url }) => url)).toEqual(['https://shop.test/a', 'https://shop.test/b'])
  })
})
