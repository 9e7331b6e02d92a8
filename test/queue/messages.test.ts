import { describe, expect, test } from 'vitest'
import * as fault from '../../src/faults/constructors.js'
import { shop, type World, world } from './world.js'

const publish = (at: World, headers: Record<string, string> = {}, path = `/v2/publish/${shop}`) =>
  at.send('POST', path, { headers, body: 'b' }).then(({ json }) => json.messageId as string)

const states = async (at: World, id: string): Promise<[string, number][]> =>
  (await at.send('GET', `/v2/events?messageId=${id}&order=earliestFirst`)).json.events.map(
    ({ state, time }: { state: string; time: number }) => [state, (time - Date.UTC(2030, 0, 1)) / 1000],
  )

describe('reading a message [queue.md 1.5]', () => {
  test('returns every field of a message that has all of them', async () => {
    const at = world()
    at.queue.urlGroups.addEndpoints('g', [{ url: shop, name: 'first' }])
    const answer = await at.send('POST', '/v2/publish/g', {
      body: '{"id":1}',
      headers: {
        'Content-Type': 'application/json',
        'Service-Method': 'PUT',
        'Service-Delay': '10s',
        'Service-Retries': '2',
        'Service-Retry-Delay': '1000',
        'Service-Timeout': '30s',
        'Service-Label': 'a, b',
        'Service-Callback': 'https://shop.test/cb',
        'Service-Callback-Forward-X-C': 'c',
        'Service-Failure-Callback': 'https://shop.test/failed',
        'Service-Failure-Callback-Forward-X-F': 'f',
        'Service-Flow-Control-Key': 'k',
        'Service-Flow-Control-Value': 'parallelism=1',
        'Service-Forward-X-A': '1',
      },
    })
    const id = answer.json[0].messageId
    const now = at.clock.now()
    expect((await at.send('GET', `/v2/messages/${id}`)).json).toEqual({
      messageId: id,
      url: shop,
      topicName: 'g',
      endpointName: 'first',
      method: 'PUT',
      header: { 'Content-Type': ['application/json'], 'X-A': ['1'] },
      body: '{"id":1}',
      maxRetries: 2,
      notBefore: now + 10_000,
      createdAt: now,
      callback: 'https://shop.test/cb',
      callbackHeader: { 'Content-Type': ['application/json'], 'X-C': ['c'] },
      failureCallback: 'https://shop.test/failed',
      failureCallbackHeader: { 'Content-Type': ['application/json'], 'X-F': ['f'] },
      callerIp: '127.0.0.1',
      callerIP: '127.0.0.1',
      label: 'a',
      labels: ['a', 'b'],
      flowControlKey: 'k',
      parallelism: 1,
      period: 1,
      retryDelayExpression: '1000',
      timeout: 30_000,
    })
  })

  test('returns a body that is not UTF-8 as base64', async () => {
    const at = world()
    const { json } = await at.send('POST', `/v2/publish/${shop}`, { body: '\xff\x00', raw: true })
    const message = (await at.send('GET', `/v2/messages/${json.messageId}`)).json
    expect([message.body, message.bodyBase64]).toEqual([undefined, '/wA='])
  })

  test('works until the message has ended, then responds 404 when the policy requires it', async () => {
    const at = world({ policy: { deliveredRetention: 0 } })
    const during: number[] = []
    let id = ''
    const look = async () => during.push((await at.send('GET', `/v2/messages/${id}`)).status)
    at.destinations.respond(shop, async () => {
      await look()
      return during.length > 2 ? 200 : 500
    })
    id = await publish(at)
    await look()
    await at.clock.advance('5s')
    await look()
    await at.clock.drain()
    await look()
    expect(during).toEqual([200, 200, 200, 200, 404])
  })

  // Rules for delivered messages. [queue.md 1.5]
  describe('after the delivery of a message', () => {
    const delivered = async (at: World): Promise<string> => {
      at.destinations.respond(shop, 200)
      const id = await publish(at, {}, undefined)
      await at.clock.drain()
      return id
    }
    const status = async (at: World, id: string) => (await at.send('GET', `/v2/messages/${id}`)).status

    test('reading returns it unchanged as long as the log contains it', async () => {
      const at = world()
      at.destinations.respond(shop, 200)
      const id = await publish(at, { 'Service-Label': 'a' })
      const before = (await at.send('GET', `/v2/messages/${id}`)).json
      await at.clock.drain()
      expect((await at.send('GET', `/v2/messages/${id}`)).json).toEqual(before)
      const { logRetention } = at.engine.limits
      await at.clock.advance(logRetention)
      expect(await status(at, id)).toBe(200)
      await at.clock.advance(1)
      expect(await status(at, id)).toBe(404)
    })

    test('reading responds 404 after policy.deliveredRetention', async () => {
      const at = world({ policy: { deliveredRetention: 60_000 } })
      const id = await delivered(at)
      await at.clock.advance(59_999)
      expect(await status(at, id)).toBe(200)
      await at.clock.advance(1)
      expect(await status(at, id)).toBe(404)
    })

    test('it is not pending: no cancel, no release, no list', async () => {
      const at = world()
      const id = await delivered(at)
      expect((await at.send('DELETE', `/v2/messages/${id}`)).status).toBe(404)
      expect((await at.send('DELETE', '/v2/messages', { body: { messageIds: [id] } })).json).toEqual({ cancelled: 0 })
      expect((await at.send('DELETE', '/v2/messages')).json).toEqual({ cancelled: 0 })
      expect((await at.send('POST', `/v2/messages/${id}/retry`)).status).toBe(404)
      expect([at.queue.messages, at.queue.getMessage(id)]).toEqual([[], undefined])
      expect(await status(at, id)).toBe(200)
    })

    test('only delivered messages can be read, no dead letters and no canceled messages', async () => {
      const at = world()
      at.destinations.respond(shop, 500)
      const failed = await publish(at, { 'Service-Retries': '0' })
      await at.clock.drain()
      expect(await status(at, failed)).toBe(404)
      const cancelled = await publish(at, { 'Service-Delay': '1h' })
      await at.send('DELETE', `/v2/messages/${cancelled}`)
      await at.clock.drain()
      expect(await status(at, cancelled)).toBe(404)
    })

    test('reading still works after a dump and load, with the time of delivery', async () => {
      const policy = { deliveredRetention: 60_000 }
      const at = world({ policy })
      const id = await delivered(at)
      const shown = (await at.send('GET', `/v2/messages/${id}`)).json
      await at.clock.advance(30_000)
      const other = world({ policy })
      other.sandbox.load(at.sandbox.dump())
      expect((await other.send('GET', `/v2/messages/${id}`)).json).toEqual(shown)
      await other.sandbox.clock.advance(29_999)
      expect(await status(other, id)).toBe(200)
      await other.sandbox.clock.advance(1)
      expect(await status(other, id)).toBe(404)
    })
  })

  test('responds 404 to an unknown ID', async () => {
    const answer = await world().send('GET', '/v2/messages/msg_nope')
    expect([answer.status, answer.json]).toEqual([404, { error: 'message msg_nope not found' }])
  })
})

describe('canceling messages [queue.md 1.5, 4.2]', () => {
  test('of a delayed one logs CANCEL_REQUESTED immediately and CANCELLED when it would have been due', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    const id = await publish(at, { 'Service-Delay': '60s' })
    await at.clock.advance('10s')
    const answer = await at.send('DELETE', `/v2/messages/${id}`)
    expect([answer.status, answer.json]).toEqual([202, { cancelled: 1 }])
    expect((await at.send('GET', `/v2/messages/${id}`)).status).toBe(404)
    expect((await at.send('DELETE', `/v2/messages/${id}`)).status).toBe(404)
    await at.clock.drain()
    expect(await states(at, id)).toEqual([
      ['CREATED', 0],
      ['CANCEL_REQUESTED', 10],
      ['CANCELLED', 60],
    ])
    expect(seen.count).toBe(0)
  })

  test('of one that waits for a retry ends it when the retry would have been due', async () => {
    const at = world()
    at.destinations.respond(shop, 500)
    const id = await publish(at)
    await at.clock.advance('1s')
    await at.send('DELETE', `/v2/messages/${id}`)
    await at.clock.drain()
    expect((await states(at, id)).slice(2)).toEqual([
      ['ERROR', 0],
      ['RETRY', 0],
      ['CANCEL_REQUESTED', 1],
      ['CANCELLED', 12],
    ])
  })

  test('during an attempt that succeeds delivers it', async () => {
    const at = world()
    at.destinations.on(shop, async (_request, task) => {
      await task.sleep('5s')
      return new Response('ok')
    })
    const id = await publish(at)
    await at.clock.advance('1s')
    expect((await at.send('DELETE', `/v2/messages/${id}`)).json).toEqual({ cancelled: 1 })
    await at.clock.drain()
    expect((await states(at, id)).map(([state]) => state)).toEqual([
      'CREATED',
      'ACTIVE',
      'CANCEL_REQUESTED',
      'DELIVERED',
    ])
  })

  test('during an attempt that fails ends it as CANCELLED when it is next due, or as FAILED without retries', async () => {
    for (const [retries, end] of [
      ['3', ['CANCELLED', 17]],
      ['0', ['FAILED', 5]],
    ] as const) {
      const at = world()
      at.destinations.on(shop, async (_request, task) => {
        await task.sleep('5s')
        return new Response(null, { status: 500 })
      })
      const id = await publish(at, { 'Service-Retries': retries })
      await at.clock.advance('1s')
      await at.send('DELETE', `/v2/messages/${id}`)
      await at.clock.drain()
      expect(await states(at, id)).toEqual([['CREATED', 0], ['ACTIVE', 0], ['CANCEL_REQUESTED', 1], ['ERROR', 5], end])
    }
  })

  test('acts immediately when the policy requires it, with the other spelling', async () => {
    const at = world({ policy: { cancelTiming: 'immediate', canceledSpelling: 'CANCELED' } })
    const id = await publish(at, { 'Service-Delay': '60s' })
    await at.send('DELETE', `/v2/messages/${id}`)
    expect((await states(at, id)).at(-1)).toEqual(['CANCELED', 0])
    expect(at.clock.pending).toEqual([])
  })

  test('that acts immediately ends a running attempt as soon as it has failed', async () => {
    const at = world({ policy: { cancelTiming: 'immediate' } })
    at.destinations.respond(shop, async (_delivery, task) => {
      await task.sleep('10s')
      return 500
    })
    const id = await publish(at)
    await at.clock.advance('4s')
    await at.send('DELETE', `/v2/messages/${id}`)
    await at.clock.advance('6s')
    expect((await states(at, id)).map(([state, second]) => `${state} ${second}`)).toEqual([
      'CREATED 0',
      'ACTIVE 0',
      'CANCEL_REQUESTED 4',
      'ERROR 10',
      'CANCELLED 10',
    ])
    expect(at.clock.pending).toEqual([])
  })

  test('by IDs ignores the filters and does not count unknown and canceled ones', async () => {
    const at = world()
    const ids = [
      await publish(at, { 'Service-Delay': '1h' }),
      await publish(at, { 'Service-Delay': '1h' }),
      await publish(at, { 'Service-Delay': '1h' }),
    ]
    const cancel = async (query: string) => (await at.send('DELETE', `/v2/messages?${query}`)).json.cancelled
    expect(await cancel(`messageIds=${ids[0]}&messageIds=${ids[1]}&messageIds=msg_x&label=none`)).toBe(2)
    expect(await cancel(`messageIds=${ids[0]},${ids[2]}`)).toBe(1)
    expect(await cancel('count=100')).toBe(0)
  })

  test.each([
    ['label=a', 2],
    ['label=a,b', 3],
    ['label=a&label=b', 3],
    ['label=a&queueName=q', 1],
    ['url=https%3A%2F%2Fshop.test%2Forders', 3],
    ['host=shop.test', 3],
    ['host=shop.test,other.test', 5],
    ['path=/orders', 3],
    ['queueName=q', 1],
    ['topicName=g', 1],
    ['flowControlKey=k', 1],
    ['callerIp=198.51.100.9', 1],
    ['callerIP=198.51.100.9', 1],
    ['fromDate=1893456001000', 1],
    ['toDate=1893456000000', 4],
    ['fromDate=1893456000000&toDate=1893456001000', 5],
    ['count=2', 5],
    ['', 5],
  ])('by filter %s cancels %i', async (query, count) => {
    const at = world()
    at.queue.urlGroups.addEndpoints('g', ['https://other.test/in-group'])
    await publish(at, { 'Service-Label': 'a', 'Service-Delay': '1h' })
    await publish(at, { 'Service-Label': 'b,c', 'Service-Delay': '1h', 'X-Forwarded-For': '198.51.100.9' })
    await publish(at, { 'Service-Label': 'a', 'Service-Delay': '1h' }, `/v2/enqueue/q/${shop}`)
    await publish(at, { 'Service-Delay': '1h' }, '/v2/publish/g')
    await at.clock.advance('1s')
    await publish(at, { 'Service-Delay': '1h', 'Service-Flow-Control-Key': 'k' }, '/v2/publish/https://other.test/x')
    expect((await at.send('DELETE', `/v2/messages?${query}`)).json).toEqual({ cancelled: count })
    expect((await at.send('DELETE', '/v2/messages')).json).toEqual({ cancelled: 5 - count })
  })

  test('by IDs ignores everything else in the request', async () => {
    const at = world()
    const ids = [await publish(at, { 'Service-Delay': '1h' }), await publish(at, { 'Service-Delay': '1h' })]
    const query = `messageIds=${ids[0]}&messageIds=${ids[1]}&count=1&label=x&fromDate=9999999999999`
    expect((await at.send('DELETE', `/v2/messages?${query}`)).json).toEqual({ cancelled: 2 })
  })

  test('accepts the older JSON body, and an empty one cancels all', async () => {
    const at = world()
    const id = await publish(at, { 'Service-Delay': '1h', 'Service-Label': 'x' })
    for (let n = 0; n < 3; n++) await publish(at, { 'Service-Delay': '1h' })
    expect((await at.send('DELETE', '/v2/messages', { body: { messageIds: [id] } })).json).toEqual({ cancelled: 1 })
    expect((await at.send('DELETE', '/v2/messages', { body: { label: 'x' } })).json).toEqual({ cancelled: 0 })
    expect((await at.send('DELETE', '/v2/messages', { body: { messageIds: [] } })).json).toEqual({ cancelled: 3 })
  })

  test('rejects misspelled filters and invalid values [queue.md 1.1]', async () => {
    const at = world()
    await publish(at, { 'Service-Delay': '1h' })
    for (const query of [
      'lable=a',
      'cursor=1-1',
      'count=0',
      'count=x',
      'async=yes',
      'async=',
      'messageIds=x&async=1',
      'fromDate=yesterday',
      'dlqIds=1',
    ]) {
      expect((await at.send('DELETE', `/v2/messages?${query}`)).status, query).toBe(400)
    }
    expect((await at.send('DELETE', '/v2/messages')).json).toEqual({ cancelled: 1 })
  })

  test.each([
    '{"lable":"a"}',
    '{"lable":[]}',
    '{"lable":null}',
    '{"constructor":"x"}',
    '{"__proto__":"x"}',
    '{"prototype":["x"]}',
    '["msg_x"]',
    '"msg_x"',
    '7',
    'null',
    '{"label":{"a":1}}',
  ])('rejects the JSON body %s and cancels nothing [1.1]', async (body) => {
    const at = world()
    await publish(at, { 'Service-Delay': '1h' })
    expect((await at.send('DELETE', '/v2/messages', { body })).status).toBe(400)
    expect((await at.send('DELETE', '/v2/messages')).json).toEqual({ cancelled: 1 })
  })

  test('honors count up to 500 if the policy requires it', async () => {
    const at = world({ policy: { cancelCount: 'honored' } })
    const ids = Array.from({ length: 510 }, () => at.queue.publish({ to: shop, delay: '1h' }).id)
    expect((await at.send('DELETE', '/v2/messages?count=9999')).json).toEqual({ cancelled: 500 })
    expect(at.queue.messages.map(({ id }) => id)).toEqual(ids.slice(500))
    expect((await at.send('DELETE', '/v2/messages?count=3')).json).toEqual({ cancelled: 3 })
    expect((await at.send('DELETE', '/v2/messages')).json).toEqual({ cancelled: 7 })
  })

  test('responds with 200 if the policy requires it', async () => {
    const at = world({ policy: { cancelStatus: 200 } })
    const id = await publish(at, { 'Service-Delay': '1h' })
    const statuses = [`/${id}`, `?messageIds=${id}`, '', '?async=true'].map((path) =>
      at.send('DELETE', `/v2/messages${path}`),
    )
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })
})

describe('delivering a message now [queue.md 1.5]', () => {
  test('delivers a delayed message immediately and only once', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    const id = await publish(at, { 'Service-Delay': '1h' })
    const answer = await at.send('POST', `/v2/messages/${id}/retry`)
    expect(answer.status).toBe(200)
    await at.clock.advance(0)
    expect(seen.count).toBe(1)
    expect(at.traffic.ofType('attempt')[0]!.reason).toBe('first attempt, delivered now on request')
    await at.clock.drain()
    expect(seen.count).toBe(1)
  })

  test('deliverNow() returns whether the message was waiting, as the status of the request does', async () => {
    const at = world()
    const whileBusy: unknown[] = []
    at.destinations.on(shop, async () => {
      const { status } = await at.send('POST', `/v2/messages/${id}/retry`)
      whileBusy.push(at.queue.deliverNow(id), status)
      return new Response()
    })
    const { id } = at.queue.publish({ to: shop, delay: '1h' })
    expect(at.queue.deliverNow(id)).toBe(true)
    // The wish is in the timeline before the attempt, which has not been made yet.
    expect(at.traffic.timeline()).toContain('DELIVER_REQUESTED: its next attempt was requested for now')
    expect(at.traffic.ofType('attempt')).toEqual([])
    await at.clock.drain()
    expect(whileBusy).toEqual([false, 404])
    expect(at.queue.deliverNow(id)).toBe(false)
    const canceled = at.queue.publish({ to: shop, delay: '1h' })
    at.queue.cancel(canceled.id)
    expect(at.queue.deliverNow(canceled.id)).toBe(false)
  })

  test('makes a waiting retry now and keeps the plan of its retries', async () => {
    const at = world()
    at.destinations.script(shop, [fault.status(500), fault.status(500), fault.pass()])
    const id = await publish(at, { 'Service-Retries': '2' })
    await at.clock.advance('1s')
    await at.send('POST', `/v2/messages/${id}/retry`)
    await at.clock.drain()
    const times = at.traffic
      .ofType('attempt')
      .map(({ at: time, retried }) => [(time - Date.UTC(2030, 0, 1)) / 1000, retried])
    expect(times).toEqual([
      [0, 0],
      [1, 1],
      [1 + 148, 2],
    ])
  })

  test.each([404, 400] as const)('rejects queued, unknown and ended messages, and busy ones with %i', async (busy) => {
    const at = world({ policy: { runNowBusy: busy } })
    const retry = async (id: string) => {
      const { status, json } = await at.send('POST', `/v2/messages/${id}/retry`)
      return [status, json.error]
    }
    const queued = await publish(at, { 'Service-Delay': '1h' }, `/v2/enqueue/q/${shop}`)
    expect(await retry(queued)).toEqual([400, `invalid message: ${queued} belongs to queue q`])
    expect(await retry('msg_x')).toEqual([404, 'message msg_x not found'])
    const cancelled = await publish(at, { 'Service-Delay': '1h' })
    await at.send('DELETE', `/v2/messages/${cancelled}`)
    expect(await retry(cancelled)).toEqual([busy, `message ${cancelled} is not waiting`])
    at.destinations.on('https://shop.test/slow', async (_request, task) => {
      await task.sleep('10s')
      return new Response('ok')
    })
    const running = await publish(at, {}, '/v2/publish/https://shop.test/slow')
    await at.clock.advance('1s')
    expect(await retry(running)).toEqual([busy, `message ${running} is not waiting`])
    await at.clock.advance('10s')
    expect(await retry(running)).toEqual([404, `message ${running} is not waiting`])
    await at.clock.advance('1h')
    expect(await retry(cancelled)).toEqual([404, `message ${cancelled} is not waiting`])
  })

  test('changes nothing for a message in the wait list of a flow-control key [queue.md 1.5]', async () => {
    const at = world()
    at.destinations.respond(shop, async (_delivery, task) => {
      await task.sleep('10s')
      return 200
    })
    const limited = { 'Service-Flow-Control-Key': 'k', 'Service-Flow-Control-Value': 'parallelism=1' }
    const [, waiting] = [await publish(at, limited), await publish(at, limited)]
    await at.clock.advance('1s')
    expect((await at.send('POST', `/v2/messages/${waiting}/retry`)).status).toBe(200)
    await at.clock.advance('5s')
    expect(at.traffic.ofType('attempt')).toHaveLength(1)
    const { json } = await at.send('GET', '/v2/flowControl/k')
    expect(json).toMatchObject({ waitListSize: 1, waitlistSize: 1 })
  })
})

describe('explain() of a message', () => {
  test('describes why a message is where it is', async () => {
    const at = world()
    at.destinations.script(shop, [fault.status(503)])
    const id = await publish(at)
    expect(at.queue.explain(id)).toMatch(/waits for.*first attempt.*2030-01-01 00:00:00.*immediately/)
    await at.clock.advance('1s')
    expect(at.queue.explain(id)).toMatch(
      new RegExp(`${id} .*${shop} waits for.*retry 1 of 3 .*2030-01-01 00:00:12.*\\b12 s .*default back-off.*503`),
    )
    at.destinations.on(shop, async (_request, task) => {
      await task.sleep('5s')
      return new Response('ok')
    })
    await at.clock.advance('12s')
    expect(at.queue.explain(id)).toMatch(/is being delivered.*retry 1 of 3.*2030-01-01 00:00:12/)
    await at.clock.drain()
    expect(at.queue.explain(id)).toMatch(/was delivered.*2030-01-01 00:00:17.*\b2 attempts/)
    expect(at.queue.explain('msg_x')).toContain('There is no message msg_x')
  })

  test('names the messages that hold what it waits for', async () => {
    const at = world()
    at.destinations.on(shop, async (_request, task) => {
      await task.sleep('1h')
      return new Response('ok')
    })
    const flow = { 'Service-Flow-Control-Key': 'k', 'Service-Flow-Control-Value': 'parallelism=2' }
    const ids = [await publish(at, flow), await publish(at, flow), await publish(at, flow)]
    const first = await publish(at, {}, `/v2/enqueue/q/${shop}`)
    const second = await publish(at, {}, `/v2/enqueue/q/${shop}`)
    await at.clock.advance('1s')
    expect(at.queue.explain(ids[2]!)).toMatch(new RegExp(`flow-control key k: 2 of 2 slots .*${ids[0]}, ${ids[1]}`))
    expect(at.queue.explain(second)).toMatch(
      new RegExp(`waits for.*queue q: 1 of 1 slot .*${first} \\(being delivered\\)`),
    )
    await at.send('POST', '/v2/queues/q/pause')
    expect(at.queue.explain(second)).toContain('the queue is paused')
    await at.send('POST', '/v2/flowControl/k/pause')
    expect(at.queue.explain(ids[2]!)).toContain('it is paused')
    await at.send('DELETE', `/v2/messages/${first}`)
    expect(at.queue.explain(first)).toContain('a cancel was requested')
    const delayed = await publish(at, { 'Service-Delay': '60s' })
    await at.send('DELETE', `/v2/messages/${delayed}`)
    expect(at.queue.explain(delayed)).toMatch(/CANCELLED follows.*2030-01-01 00:01:01/)
  })
})
