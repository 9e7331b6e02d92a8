import { describe, expect, test } from 'vitest'
import * as fault from '../../src/faults/constructors.js'
import { shop, type World, world } from './world.js'

const publish = (at: World, headers: Record<string, string> = {}, path = `/v2/publish/${shop}`, body = 'b') =>
  at.send('POST', path, { headers, body }).then(({ json }) => json.messageId as string)

const events = async (at: World, query = '') => (await at.send('GET', `/v2/events?${query}`)).json.events
const told = async (at: World, query = ''): Promise<string[]> =>
  (await events(at, query)).map(({ body, state }: { body: string; state: string }) => `${atob(body)} ${state}`)

describe('entries of the message log [queue.md 4.3]', () => {
  test('have the documented fields in each state', async () => {
    const at = world()
    at.destinations.script(shop, [fault.status(500, { body: 'oops', headers: { 'x-a': '1' } })])
    const id = await publish(at, {
      'Content-Type': 'text/plain',
      'Service-Delay': '5s',
      'Service-Retries': '1',
      'Service-Retry-Delay': '2000',
      'Service-Timeout': '30s',
      'Service-Label': 'l',
      'Service-Callback': 'https://shop.test/cb',
      'Service-Callback-Forward-X-C': 'c',
      'Service-Flow-Control-Key': 'k',
      'Service-Flow-Control-Value': 'rate=9,period=1m',
    })
    at.destinations.respond('https://shop.test/cb', 200)
    await at.clock.drain()
    const start = Date.UTC(2030, 0, 1)
    const common = {
      messageId: id,
      url: shop,
      method: 'POST',
      maxRetries: 1,
      header: { 'Content-Type': ['text/plain'] },
      body: btoa('b'),
      timeout: 30_000,
      callback: 'https://shop.test/cb',
      callbackHeaders: { 'Content-Type': ['application/json'], 'X-C': ['c'] },
      retryDelayExpression: '2000',
      retryDelayExpr: '2000',
      label: 'l',
      labels: ['l'],
      flowControlKey: 'k',
      rate: 9,
      period: 60,
      callerIp: '127.0.0.1',
    }
    expect(await events(at, `messageId=${id}&order=earliestFirst`)).toEqual([
      { ...common, time: start, state: 'CREATED', nextDeliveryTime: start + 5000 },
      { ...common, time: start + 5000, state: 'ACTIVE' },
      {
        ...common,
        time: start + 5000,
        state: 'ERROR',
        error: '500 Internal Server Error',
        responseStatus: 500,
        responseBody: btoa('oops'),
        responseHeaders: { 'X-A': ['1'] },
        responseHeader: { 'X-A': ['1'] },
      },
      { ...common, time: start + 5000, state: 'RETRY', nextDeliveryTime: start + 7000 },
      { ...common, time: start + 7000, state: 'ACTIVE' },
      { ...common, time: start + 7000, state: 'DELIVERED' },
    ])
  })

  test('contain URL group, endpoint, queue and schedule', async () => {
    const at = world()
    at.destinations.respond('https://*', 200)
    at.queue.urlGroups.addEndpoints('g', [{ url: 'https://shop.test/a', name: 'first' }])
    await publish(at, {}, '/v2/enqueue/q/g')
    expect((await events(at))[0]).toMatchObject({ topicName: 'g', endpointName: 'first', queueName: 'q' })
    await at.send('POST', `/v2/schedules/${shop}`, {
      headers: { 'Service-Cron': '* * * * *', 'Service-Schedule-Id': 's' },
    })
    await at.clock.advance('1m')
    expect(await events(at, 'scheduleId=s')).toHaveLength(3)
  })

  test('show redacted fields as hashes', async () => {
    const at = world()
    await publish(at, { 'Service-Redact-Fields': 'body,headers', 'Service-Forward-X-A': '1' })
    const [entry] = await events(at)
    expect(entry.body).toMatch(/^REDACTED:[0-9a-f]{64}$/)
    expect(entry.header['X-A'][0]).toMatch(/^REDACTED:[0-9a-f]{64}$/)
  })
})

describe('filters, order and pages of the message log [queue.md 1.10]', () => {
  async function filled(): Promise<{ at: World; ids: string[] }> {
    const at = world()
    at.destinations.respond('https://*', (delivery) => (delivery.text() === '2' ? 500 : 200))
    at.queue.urlGroups.addEndpoints('g', ['https://other.test/in-group'])
    const ids = [await publish(at, { 'Service-Label': 'x' }, undefined, '1')]
    await at.clock.advance('1s')
    ids.push(
      await publish(
        at,
        { 'Service-Label': 'y', 'Service-Retries': '1', 'Service-Flow-Control-Key': 'k' },
        undefined,
        '2',
      ),
    )
    await at.clock.advance('1s')
    await publish(at, { 'X-Forwarded-For': '198.51.100.9' }, '/v2/enqueue/q/g', '3')
    await at.clock.drain()
    return { at, ids }
  }
  const one = ['1 CREATED', '1 ACTIVE', '1 DELIVERED']
  const two = ['2 CREATED', '2 ACTIVE', '2 ERROR', '2 RETRY', '2 ACTIVE', '2 ERROR', '2 FAILED']
  const three = ['3 CREATED', '3 ACTIVE', '3 DELIVERED']

  test.each([
    ['label=x', one],
    ['label=x,y', [...one, ...two]],
    ['state=DELIVERED', ['1 DELIVERED', '3 DELIVERED']],
    ['state=IN_PROGRESS&label=y', ['2 ACTIVE', '2 ERROR', '2 RETRY', '2 ACTIVE', '2 ERROR']],
    ['state=FAILED&state=CREATED&label=y', ['2 CREATED', '2 FAILED']],
    ['topicName=g', three],
    ['queueName=q', three],
    ['flowControlKey=k', two],
    ['callerIp=198.51.100.9', three],
    ['host=other.test', three],
    ['path=/orders&state=CREATED', ['1 CREATED', '2 CREATED']],
    ['url=https%3A%2F%2Fshop.test%2Forders&state=CREATED', ['1 CREATED', '2 CREATED']],
    ['toDate=1893456000000', one],
    ['fromDate=1893456002000&toDate=1893456002000', three],
  ])('filters and orders by "%s"', async (query, wanted) => {
    const { at } = await filled()
    expect(await told(at, `order=earliestFirst&${query}`)).toEqual(wanted)
    expect(await told(at, query)).toEqual(wanted.toReversed())
  })

  test('filters by messageId, and by repeated messageIds', async () => {
    const { at, ids } = await filled()
    expect(await told(at, `messageId=${ids[0]}&order=earliestFirst`)).toEqual(one)
    expect(await told(at, `messageIds=${ids[0]}&messageIds=${ids[1]}&order=earliestFirst`)).toEqual([...one, ...two])
  })

  test('accepts both spellings of the canceled state', async () => {
    const at = world({ policy: { cancelTiming: 'immediate' } })
    const id = await publish(at, { 'Service-Delay': '1h' })
    await at.send('DELETE', `/v2/messages/${id}`)
    for (const state of ['CANCELLED', 'CANCELED'])
      expect(await events(at, `state=${state}`)).toMatchObject([{ state: 'CANCELLED' }])
  })

  test.each(['state=DONE', 'messageID=x', 'groupBy=url', 'count=-1', 'cursor=x'])('rejects %s', async (query) => {
    expect((await world().send('GET', `/v2/events?${query}`)).status).toBe(400)
  })

  test('returns the same list as /v2/logs', async () => {
    const { at } = await filled()
    const old = (await at.send('GET', '/v2/events?count=4')).json
    const { logs, events: again, cursor } = (await at.send('GET', '/v2/logs?count=4')).json
    expect(logs).toEqual(old.events)
    expect(again).toEqual(old.events)
    expect(cursor).toBe(old.cursor)
    expect(old).not.toHaveProperty('logs')
  })

  test('groups by message ID', async () => {
    const { at, ids } = await filled()
    const { messages } = (await at.send('GET', '/v2/events?groupBy=messageId')).json
    const shown = messages.map(({ messageId, events: own }: { messageId: string; events: { state: string }[] }) => [
      ids.indexOf(messageId),
      own.map(({ state }) => state).join(' '),
    ])
    expect(shown).toEqual([
      [1, 'FAILED ERROR ACTIVE RETRY ERROR ACTIVE CREATED'],
      [-1, 'DELIVERED ACTIVE CREATED'],
      [0, 'DELIVERED ACTIVE CREATED'],
    ])
  })

  test('pages by 100 by default and 1,000 at most, until the cursor ends', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    for (let n = 0; n < 500; n++) at.queue.publish({ to: shop })
    await at.clock.drain()
    expect(await events(at)).toHaveLength(100)
    expect(await events(at, 'count=5000')).toHaveLength(1000)
    let cursor: string | undefined
    const seen = new Set<string>()
    do {
      const page = (await at.send('GET', `/v2/events?count=400${cursor ? `&cursor=${cursor}` : ''}`)).json
      for (const { messageId, state } of page.events) seen.add(`${messageId} ${state}`)
      cursor = page.cursor
    } while (cursor)
    expect(seen.size).toBe(1500)
  })

  test('trims bodies', async () => {
    const { at } = await filled()
    expect((await events(at, 'trimBody=-1')).some((entry: object) => 'body' in entry)).toBe(false)
    expect((await events(at, 'trimBody=0&count=1'))[0]).not.toHaveProperty('body')
  })
})

describe('retention of the message log [queue.md 5.6]', () => {
  test('deletes entries and their messages after the days of the plan', async () => {
    const at = world({ policy: { queuePlan: 'free' } })
    at.destinations.respond(shop, 200)
    const id = await publish(at)
    await at.clock.drain()
    await at.clock.advance('3d')
    expect(await events(at)).toHaveLength(3)
    expect(at.engine.courier.byId.has(id)).toBe(true)
    await at.clock.advance('1ms')
    expect(await events(at)).toEqual([])
    expect(at.engine.courier.byId.has(id)).toBe(false)
    expect(at.queue.explain(id)).toMatch(/last log entry.*retention.*\b3 days/)
  })

  test('does not forget a pending message', async () => {
    const at = world({ policy: { queuePlan: 'free' } })
    const seen = at.destinations.record(shop)
    const id = await publish(at, { 'Service-Delay': '20d' })
    await at.clock.advance('10d')
    expect(await events(at)).toEqual([])
    expect((await at.send('GET', `/v2/messages/${id}`)).status).toBe(200)
    await at.clock.drain()
    expect(seen.count).toBe(1)
    await at.clock.advance('4d')
    await events(at)
    expect(at.engine.courier.byId.size).toBe(0)
  })
})
