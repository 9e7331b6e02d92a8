import { describe, expect, test } from 'vitest'
import { shop, type World, world } from './world.js'

const publish = (at: World, value: string | undefined, body = 'b', headers: Record<string, string> = {}, key = 'k') =>
  at
    .send('POST', `/v2/publish/${shop}`, {
      headers: { 'Service-Flow-Control-Key': key, ...(value && { 'Service-Flow-Control-Value': value }), ...headers },
      body,
    })
    .then(({ json }) => json.messageId as string)

const read = async (at: World, key = 'k') => (await at.send('GET', `/v2/flowControl/${key}`)).json

const starts = (at: World) => at.traffic.ofType('attempt').map(({ at: time }) => (time - Date.UTC(2030, 0, 1)) / 1000)

function slow(at: World, seconds: number): void {
  at.destinations.respond(shop, async (_delivery, task) => {
    await task.sleep(seconds * 1000)
    return 200
  })
}

describe('parallelism of flow control [queue.md 6.2]', () => {
  test('limits the calls in flight and starts waiting ones in order', async () => {
    const at = world()
    slow(at, 10)
    for (let n = 0; n < 5; n++) await publish(at, 'parallelism=2', String(n))
    await at.clock.advance('1s')
    expect(await read(at)).toMatchObject({ parallelismMax: 2, parallelismCount: 2, waitListSize: 3 })
    await at.clock.drain()
    expect(starts(at)).toEqual([0, 0, 10, 10, 20])
    expect(at.traffic.ofType('attempt').map(({ body }) => body)).toEqual(['0', '1', '2', '3', '4'])
    expect(await read(at)).toMatchObject({ parallelismCount: 0, waitListSize: 0 })
    expect(at.traffic.ofType('attempt')[2]!.waitReason).toMatch(/^10 s .*wait list.*flow-control key k$/)
  })

  test('does not count a message that waits for its retry, unlike in a FIFO queue', async () => {
    const at = world()
    let first = true
    at.destinations.respond(shop, () => {
      const code = first ? 500 : 200
      first = false
      return code
    })
    await publish(at, 'parallelism=1', 'a')
    await publish(at, 'parallelism=1', 'b')
    await at.clock.drain()
    expect(
      at.traffic.ofType('attempt').map(({ body, at: time }) => [body, (time - Date.UTC(2030, 0, 1)) / 1000]),
    ).toEqual([
      ['a', 0],
      ['b', 0],
      ['a', 12],
    ])
  })

  test('counts over all URLs of a key', async () => {
    const at = world()
    at.destinations.respond('https://*', async (_delivery, task) => {
      await task.sleep('10s')
      return 200
    })
    for (const url of ['https://a.test/', 'https://b.test/']) {
      await at.send('POST', `/v2/publish/${url}`, {
        headers: { 'Service-Flow-Control-Key': 'k', 'Service-Flow-Control-Value': 'parallelism=1' },
      })
    }
    await at.clock.drain()
    expect(starts(at)).toEqual([0, 10])
  })
})

describe('rate of flow control [queue.md 6.2]', () => {
  test('limits calls per period, which starts with its first call', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    await at.clock.advance('7s')
    for (let n = 0; n < 5; n++) await publish(at, 'rate=2, period=1m')
    await at.clock.drain()
    expect(starts(at)).toEqual([7, 7, 67, 67, 127])
  })

  test('has a default period of 1 second', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    for (let n = 0; n < 3; n++) await publish(at, 'rate=1')
    await at.clock.drain()
    expect(starts(at)).toEqual([0, 1, 2])
  })

  test('10 per minute with parallelism 20 starts ten, then ten more, then waits for a call to finish', async () => {
    const at = world()
    slow(at, 150)
    for (let n = 0; n < 25; n++) await publish(at, 'rate=10,period=1m,parallelism=20')
    await at.clock.drain()
    const counts = new Map<number, number>()
    for (const start of starts(at)) counts.set(start, (counts.get(start) ?? 0) + 1)
    expect([...counts]).toEqual([
      [0, 10],
      [60, 10],
      [150, 5],
    ])
  })

  test('counts retries as calls', async () => {
    const at = world()
    at.destinations.respond(shop, 500)
    await publish(at, 'rate=1,period=1m', 'a', { 'Service-Retries': '1' })
    await at.clock.drain()
    // The retry is due after 12 s, and is admitted at the end of the minute.
    expect(starts(at)).toEqual([0, 60])
    const [attempt] = at.traffic.ofType('attempt').slice(1)
    expect(attempt!.waitReason).toMatch(/\b12 s .*default back-off.*500, then 48 s .*flow-control key k$/)
  })

  test('admits from the wait list in the order of due times', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    await publish(at, 'rate=1,period=10', 'now')
    await publish(at, 'rate=1,period=10', 'late', { 'Service-Delay': '5s' })
    await publish(at, 'rate=1,period=10', 'early', { 'Service-Delay': '2s' })
    await at.clock.drain()
    expect(at.traffic.ofType('attempt').map(({ body }) => body)).toEqual(['now', 'early', 'late'])
  })
})

describe('limits of flow control [queue.md 6.2]', () => {
  test('follow the latest message: parallelism alone removes the rate, and a bare key changes nothing', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    await publish(at, 'rate=5,period=1m')
    expect(await read(at)).toMatchObject({ rateMax: 5, ratePeriod: 60 })
    await publish(at, 'parallelism=3')
    const key = await read(at)
    expect(key).toMatchObject({ parallelismMax: 3, ratePeriod: 1 })
    expect(key).not.toHaveProperty('rateMax')
    await publish(at, undefined)
    expect(await read(at)).toMatchObject({ parallelismMax: 3 })
    await publish(at, undefined, 'b', {}, 'fresh')
    const fresh = await read(at, 'fresh')
    expect(fresh).not.toHaveProperty('rateMax')
    expect(fresh).not.toHaveProperty('parallelismMax')
  })

  test('admit waiting messages immediately when they are raised', async () => {
    const at = world()
    slow(at, 10)
    for (let n = 0; n < 3; n++) await publish(at, 'parallelism=1')
    await at.clock.advance('2s')
    await publish(at, 'parallelism=4')
    await at.clock.drain()
    expect(starts(at)).toEqual([0, 2, 2, 2])
  })

  test('can be pinned against messages, which resets the rate count and period', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    await publish(at, 'rate=5,period=1m')
    await at.clock.advance('3s')
    expect(await read(at)).toMatchObject({ rateCount: 1, ratePeriodStart: 1_893_456_000 })
    expect((await at.send('POST', '/v2/flowControl/k/pin?parallelism=7&rate=8&period=90')).status).toBe(200)
    expect(await read(at)).toMatchObject({
      rateCount: 0,
      ratePeriodStart: 1_893_456_003,
      isPinnedRate: true,
      isPinnedParallelism: true,
    })
    await publish(at, 'rate=1,parallelism=1')
    expect(await read(at)).toMatchObject({ parallelismMax: 7, rateMax: 8, ratePeriod: 90 })
    await at.send('POST', '/v2/flowControl/k/unpin?rate=true')
    await publish(at, 'rate=1,parallelism=1')
    expect(await read(at)).toMatchObject({
      parallelismMax: 7,
      rateMax: 1,
      isPinnedRate: false,
      isPinnedParallelism: true,
    })
    await at.send('POST', '/v2/flowControl/k/unpin?parallelism=true')
    // The pinned value stays until a message brings another one.
    expect(await read(at)).toMatchObject({ parallelismMax: 7, isPinnedParallelism: false })
    await publish(at, 'parallelism=1')
    expect(await read(at)).toMatchObject({ parallelismMax: 1 })
  })

  test('pause and resume the wait list while the period continues with its count', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    await publish(at, 'rate=2,period=1m', 'a')
    await at.clock.advance('1s')
    await at.send('POST', '/v2/flowControl/k/pause')
    await publish(at, 'rate=2,period=1m', 'b')
    await publish(at, 'rate=2,period=1m', 'c')
    await at.clock.advance('10s')
    expect(await read(at)).toMatchObject({
      isPaused: true,
      waitListSize: 2,
      rateCount: 1,
      ratePeriodStart: 1_893_456_000,
    })
    await at.send('POST', '/v2/flowControl/k/resume')
    await at.clock.drain()
    expect(starts(at)).toEqual([0, 11, 60])
  })

  test('show the start of the current period, also of a period without messages', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    await publish(at, 'rate=2,period=1m', 'a')
    await at.clock.advance('59s')
    expect(await read(at)).toMatchObject({ rateCount: 1, ratePeriodStart: 1_893_456_000 })
    await at.clock.advance('91s')
    expect(await read(at)).toMatchObject({ rateCount: 0, ratePeriodStart: 1_893_456_120 })
  })

  test('resetRate ends the period and starts a new one now', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    for (const body of ['a', 'b']) await publish(at, 'rate=1,period=1m', body)
    await at.clock.advance('20s')
    await at.send('POST', '/v2/flowControl/k/resetRate')
    await at.clock.drain()
    expect(starts(at)).toEqual([0, 20])
    expect((await read(at)).ratePeriodStart).toBe(1_893_456_020)
  })

  test.each(['resetRate', 'reset', 'pin?rate=1'])('%s starts a period that does not wait for a call', async (how) => {
    const at = world()
    at.destinations.respond(shop, 200)
    await publish(at, 'rate=1,period=1m', 'a')
    await at.clock.advance('20s')
    await at.send('POST', `/v2/flowControl/k/${how}`)
    await at.clock.advance('30s')
    for (const body of ['b', 'c', 'd']) await publish(at, 'rate=1,period=1m', body)
    await at.clock.drain()
    expect(starts(at)).toEqual([0, 50, 80, 140])
  })

  // A client resets the key immediately after publishing. [queue.md 6.2]
  test.each(['resetRate', 'reset', 'pin?rate=2'])(
    '%s immediately after publishing counts the published messages in the previous period',
    async (how) => {
      const at = world()
      at.destinations.respond(shop, 200)
      await publish(at, 'rate=2,period=1m', 'a')
      await at.send('POST', `/v2/flowControl/k/${how}`)
      await at.clock.advance('1s')
      expect(starts(at)).toEqual([0])
      expect(await read(at)).toMatchObject({ rateCount: 0, waitListSize: 0 })
    },
  )

  test('a reset counts messages in the new period if the rate would not have admitted them before', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    for (const body of ['a', 'b', 'c']) await publish(at, 'rate=1,period=1m', body)
    await at.send('POST', '/v2/flowControl/k/resetRate')
    await publish(at, 'rate=1,period=1m', 'd')
    await at.clock.drain()
    // One starts before the reset, one after it, and one each minute.
    expect(starts(at)).toEqual([0, 0, 60, 120])
  })

  test('a reset counts messages that are due or published later when they start', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    await publish(at, 'rate=1,period=1m', 'a', { 'Service-Delay': '1s' })
    await at.send('POST', '/v2/flowControl/k/resetRate')
    await publish(at, 'rate=1,period=1m', 'b')
    await at.clock.advance('10s')
    expect(starts(at)).toEqual([0])
    expect(await read(at)).toMatchObject({ rateCount: 1, waitListSize: 1 })
  })

  test('are followed according to the invariants', async () => {
    for (const how of ['resetRate', 'reset', 'pin?rate=1', 'pin?rate=3']) {
      for (const before of [0, 1, 2, 3]) {
        const at = world()
        at.destinations.respond(shop, 200)
        for (let n = 0; n < before; n++) await publish(at, 'rate=2,period=1m', String(n))
        await at.send('POST', `/v2/flowControl/k/${how}`)
        for (let n = 0; n < 4; n++) await publish(at, 'rate=2,period=1m', String(n))
        await at.clock.drain()
        expect([how, before, at.sandbox.assertInvariants().violations]).toEqual([how, before, []])
      }
    }
  })

  test('a reset leaves the slots of new calls alone when earlier calls end', async () => {
    const at = world()
    slow(at, 100)
    for (const body of ['a', 'b', 'c']) await publish(at, 'parallelism=1', body)
    await at.clock.advance('5s')
    await at.send('POST', '/v2/flowControl/k/reset')
    await at.clock.advance('96s')
    expect(await read(at)).toMatchObject({ parallelismCount: 1, waitListSize: 1 })
    await at.clock.drain()
    expect(starts(at)).toEqual([0, 5, 105])
  })

  test('the older reset clears the parallelism and rate counters', async () => {
    const at = world()
    slow(at, 100)
    for (const body of ['a', 'b']) await publish(at, 'parallelism=1,rate=5,period=1h', body)
    await at.clock.advance('5s')
    await at.send('POST', '/v2/flowControl/k/reset')
    await at.clock.advance('1s')
    expect(starts(at)).toEqual([0, 5])
  })

  test('reject invalid numbers and a missing key', async () => {
    const at = world()
    for (const path of ['k/pin', 'k/pin?parallelism=0', 'k/pin?rate=x', 'k/pin?rate=1&period=8d', '/pause', 'pause']) {
      expect((await at.send('POST', `/v2/flowControl/${path}`)).status, path).toBe(400)
    }
    expect((await at.send('POST', '/v2/flowControl/k/explode')).status).toBe(404)
    expect((await at.send('GET', '/v2/flowControl/k')).json).toEqual({ error: 'flow control key k not found' })
  })

  test('are listed, with search', async () => {
    const at = world()
    for (const key of ['user-1', 'user-2', 'shop']) await publish(at, 'rate=1', 'b', {}, key)
    const keys = async (query = '') =>
      (await at.send('GET', `/v2/flowControl${query}`)).json.map(
        ({ flowControlKey }: { flowControlKey: string }) => flowControlKey,
      )
    expect(await keys()).toEqual(['user-1', 'user-2', 'shop'])
    expect(await keys('?search=user')).toEqual(['user-1', 'user-2'])
  })

  test('free the place of a waiting message that is canceled', async () => {
    const at = world()
    slow(at, 10)
    await publish(at, 'parallelism=1', 'a')
    const second = await publish(at, 'parallelism=1', 'b')
    await publish(at, 'parallelism=1', 'c')
    await at.clock.advance('1s')
    await at.send('DELETE', `/v2/messages/${second}`)
    expect(await read(at)).toMatchObject({ waitListSize: 1 })
    await at.clock.drain()
    expect(starts(at)).toEqual([0, 10])
    const { events } = (await at.send('GET', `/v2/events?messageId=${second}`)).json
    expect(events.map(({ state }: { state: string }) => state)).toEqual(['CANCELLED', 'CANCEL_REQUESTED', 'CREATED'])
  })
})

describe('global parallelism [queue.md 6.2]', () => {
  test('counts all calls in flight, with a key and without', async () => {
    const at = world()
    slow(at, 10)
    await publish(at, 'parallelism=5')
    at.queue.publish({ to: shop })
    await at.clock.advance('1s')
    expect((await at.send('GET', '/v2/globalParallelism')).json).toEqual({ parallelismMax: 100, parallelismCount: 2 })
    await at.clock.drain()
    expect((await at.send('GET', '/v2/globalParallelism')).json.parallelismCount).toBe(0)
  })

  test('holds messages only when quotas are enforced', async () => {
    for (const [enforceQuotas, wanted] of [
      [false, [0, 0, 0]],
      [true, [0, 0, 10]],
    ] as const) {
      const at = world({ policy: { enforceQuotas, queueLimits: { globalParallelism: 2 } } })
      slow(at, 10)
      for (let n = 0; n < 3; n++) at.queue.publish({ to: shop, flowControlKey: 'k', flowControlValue: 'parallelism=3' })
      await at.clock.drain()
      expect(starts(at)).toEqual(wanted)
      expect(await read(at)).toMatchObject({ parallelismCount: 0 })
    }
  })
})
