import { describe, expect, test } from 'vitest'
import * as fault from '../../src/faults/constructors.js'
import { shop, type World, world } from './world.js'

const cb = 'https://shop.test/cb'
const failed = 'https://shop.test/failed'

const publish = (at: World, headers: Record<string, string> = {}, body = 'b') =>
  at
    .send('POST', `/v2/publish/${shop}`, { headers: { 'Service-Callback': cb, ...headers }, body })
    .then(({ json }) => json.messageId as string)

describe('callbacks [queue.md 5.4]', () => {
  test('have a body with all fields in the captured order', async () => {
    const at = world()
    const seen = at.destinations.record(cb)
    at.destinations.respond(shop, { status: 201, headers: { 'x-ratelimit-limit': '5' }, body: 'created' })
    const id = await publish(
      at,
      { 'Content-Type': 'application/json', 'Service-Forward-X-Order': '42', 'Service-Delay': '3s' },
      '{"id":42}',
    )
    await at.clock.drain()
    const created = String(Date.UTC(2030, 0, 1))
    expect(Object.entries(seen.last().json() as object)).toEqual([
      ['status', 201],
      ['header', { 'X-Ratelimit-Limit': ['5'] }],
      ['body', btoa('created')],
      ['retried', 0],
      ['sourceMessageId', id],
      ['url', shop],
      ['method', 'POST'],
      ['sourceHeader', { 'Content-Type': ['application/json'], 'X-Order': ['42'] }],
      ['sourceBody', btoa('{"id":42}')],
      ['maxRetries', 3],
      ['notBefore', String(Date.UTC(2030, 0, 1) + 3000)],
      ['createdAt', created],
      ['callerIP', '127.0.0.1'],
    ])
  })

  test('have integer times when the policy requires it, as in a captured body', async () => {
    const at = world({ policy: { callbackTimestampType: 'number' } })
    const seen = at.destinations.record(cb)
    at.destinations.respond(shop, 200)
    await publish(at)
    await at.clock.drain()
    expect(seen.last().json()).toMatchObject({ notBefore: Date.UTC(2030, 0, 1), createdAt: Date.UTC(2030, 0, 1) })
  })

  test('are sent once after every attempt, failed or not', async () => {
    const at = world()
    const seen = at.destinations.record(cb)
    at.destinations.script(shop, [fault.status(500), fault.status(404), fault.pass()])
    await publish(at)
    await at.clock.drain()
    expect(seen.requests.map((delivery) => delivery.json())).toMatchObject([
      { status: 500, retried: 0, maxRetries: 3 },
      { status: 404, retried: 1, maxRetries: 3 },
      { status: 200, retried: 2, maxRetries: 3 },
    ])
  })

  test('name the URL group, endpoint and schedule of their source in the body, not in headers', async () => {
    const at = world()
    const seen = at.destinations.record(cb)
    at.destinations.respond(shop, 200)
    at.queue.urlGroups.addEndpoints('g', [{ url: shop, name: 'first' }])
    await at.send('POST', '/v2/schedules/g', {
      headers: { 'Service-Cron': '* * * * *', 'Service-Schedule-Id': 's', 'Service-Callback': cb },
    })
    await at.clock.advance('1m')
    expect(seen.last().json()).toMatchObject({ topicName: 'g', endpointName: 'first', scheduleId: 's' })
    expect(seen.last().header('service-topic-name')).toBeUndefined()
    expect(seen.last().header('service-schedule-id')).toBeUndefined()
  })

  test('are ordinary messages with their own ID, Retried header and signature [queue.md 3.2]', async () => {
    const at = world()
    const seen = at.destinations.record(cb)
    at.destinations.respond(shop, 200)
    at.destinations.script(cb, [fault.status(500), fault.pass()])
    const id = await publish(at, { 'Service-Callback-Forward-X-Key': 'k' })
    await at.clock.drain()
    const [first, second] = seen.requests
    expect(first!.header('service-message-id')).not.toBe(id)
    expect(second!.header('service-message-id')).toBe(first!.header('service-message-id'))
    expect([first!.header('service-retried'), second!.header('service-retried')]).toEqual(['0', '1'])
    expect(first!.header('content-type')).toBe('application/json')
    expect(first!.header('x-key')).toBe('k')
    expect(first!.method).toBe('POST')
    const claims = JSON.parse(
      atob(first!.header('service-signature')!.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')),
    )
    expect(claims.sub).toBe(cb)
  })

  test('have their own settings, which are checked by the same rules', async () => {
    const at = world()
    const seen = at.destinations.record(cb)
    at.destinations.respond(shop, 200)
    at.destinations.script(cb, [fault.status(500), fault.status(500)])
    await publish(at, {
      'Service-Retries': '0',
      'Service-Callback-Method': 'PUT',
      'Service-Callback-Retries': '2',
      'Service-Callback-Retry-Delay': '5000',
      'Service-Callback-Delay': '10s',
      'Service-Callback-Timeout': '20s',
      'Service-Callback-Label': 'report',
    })
    const start = at.clock.now()
    await at.clock.drain()
    expect(seen.requests.map(({ at: time, method }) => [time - start, method])).toEqual([
      [10_000, 'PUT'],
      [15_000, 'PUT'],
      [20_000, 'PUT'],
    ])
    expect((await at.send('GET', '/v2/events?label=report&state=DELIVERED')).json.events).toMatchObject([
      { timeout: 20_000 },
    ])
    for (const [header, value] of [
      ['Service-Callback-Method', 'NO'],
      ['Service-Callback-Delay', 'x'],
      ['Service-Failure-Callback-Retry-Delay', 'nope'],
      ['Service-Failure-Callback-Timeout', '-1'],
    ] as const) {
      const refused = await at.send('POST', `/v2/publish/${shop}`, {
        headers: { 'Service-Callback': cb, [header]: value },
      })
      expect([refused.status, refused.json.error.startsWith(`invalid ${header}: `)]).toEqual([400, true])
    }
  })

  test('use the retries of their message by default', async () => {
    const at = world()
    const seen = at.destinations.record(cb, 500)
    at.destinations.respond(shop, 200)
    await publish(at, { 'Service-Retries': '1' })
    await at.clock.drain()
    expect(seen.count).toBe(2)
  })

  test('that fail change nothing about their source and become dead letters', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    at.destinations.respond(cb, 500)
    const id = await publish(at, { 'Service-Retries': '0' })
    await at.clock.drain()
    const { messages } = (await at.send('GET', '/v2/dlq')).json
    expect(messages).toMatchObject([{ url: cb, responseStatus: 500 }])
    expect((await at.send('GET', `/v2/events?messageId=${id}`)).json.events[0].state).toBe('DELIVERED')
  })

  test('support flow control, and callbacks of callbacks by nested prefixes', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    at.destinations.respond(cb, 500)
    const nested = at.destinations.record('https://shop.test/nested')
    await publish(at, {
      'Service-Callback-Retries': '0',
      'Service-Callback-Flow-Control-Key': 'cb-key',
      'Service-Callback-Flow-Control-Value': 'rate=5',
      'Service-Callback-Failure-Callback': 'https://shop.test/nested',
      'Service-Callback-Failure-Callback-Forward-X-Depth': '2',
    })
    await at.clock.drain()
    expect((await at.send('GET', '/v2/flowControl/cb-key')).json).toMatchObject({ rateMax: 5, rateCount: 1 })
    expect(nested.last().json()).toMatchObject({ url: cb, status: 500, dlqId: expect.any(String) })
    expect(nested.last().header('x-depth')).toBe('2')
  })

  test('require a valid URL', async () => {
    const at = world()
    for (const header of ['Callback', 'Failure-Callback']) {
      const refused = await at.send('POST', `/v2/publish/${shop}`, {
        headers: { [`Service-${header}`]: 'shop.test/cb' },
      })
      expect(refused.status).toBe(400)
      expect(refused.json.error).toBe(
        `invalid ${header.toLowerCase().replace('-', ' ')} url: endpoint has invalid scheme, add http:// or https://`,
      )
    }
  })

  test('with a delay are rejected when the policy follows the changelog', async () => {
    const at = world({ policy: { rejectCallbackDelay: true } })
    const refused = await at.send('POST', `/v2/publish/${shop}`, {
      headers: { 'Service-Callback': cb, 'Service-Callback-Delay': '5s' },
    })
    expect([refused.status, refused.json.error]).toEqual([
      400,
      'invalid Service-Callback-Delay: callbacks cannot be delayed',
    ])
  })

  test("contain the response up to the plan's message size", async () => {
    const at = world({ policy: { queueLimits: { maxMessageSize: 4 } } })
    const seen = at.destinations.record(cb)
    at.destinations.respond(shop, { body: 'abcdefgh' })
    await publish(at)
    await at.clock.drain()
    expect(atob((seen.last().json() as { body: string }).body)).toBe('abcd')
  })

  test('contain binary responses unchanged', async () => {
    const at = world()
    const seen = at.destinations.record(cb)
    at.destinations.respond(shop, { body: new Uint8Array([0, 255, 128]) })
    await publish(at)
    await at.clock.drain()
    expect((seen.last().json() as { body: string }).body).toBe('AP+A')
  })
})

describe('failure callbacks [queue.md 5.4]', () => {
  test('are sent once, after the last attempt and its callback, with the ID of the dead letter', async () => {
    const at = world()
    const seen = at.destinations.record('https://shop.test/*')
    at.destinations.respond(shop, { status: 500, body: 'broken' })
    const id = await publish(at, { 'Service-Retries': '1', 'Service-Failure-Callback': failed })
    await at.clock.drain()
    expect(seen.requests.map(({ url }) => url)).toEqual([shop, cb, shop, cb, failed])
    const body = seen.last().json() as Record<string, unknown>
    expect(body).toMatchObject({ status: 500, retried: 1, maxRetries: 1, sourceMessageId: id, body: btoa('broken') })
    expect(body.dlqId).toMatch(/^\d+-\d+$/)
    expect((await at.send('GET', `/v2/dlq/${body.dlqId}`)).json.messageId).toBe(id)
  })

  test('are not sent when the message is delivered', async () => {
    const at = world()
    const seen = at.destinations.record(failed)
    at.destinations.script(shop, [fault.status(500), fault.pass()])
    await publish(at, { 'Service-Failure-Callback': failed })
    await at.clock.drain()
    expect(seen.count).toBe(0)
  })

  test('have their own settings and forwarded headers', async () => {
    const at = world()
    const seen = at.destinations.record(failed)
    at.destinations.respond(shop, 500)
    await publish(at, {
      'Service-Retries': '0',
      'Service-Failure-Callback': failed,
      'Service-Failure-Callback-Method': 'PATCH',
      'Service-Failure-Callback-Delay': '7s',
      'Service-Failure-Callback-Forward-Authorization': 'Bearer x',
    })
    const start = at.clock.now()
    await at.clock.drain()
    expect(seen.last()).toMatchObject({ method: 'PATCH', at: start + 7000 })
    expect(seen.last().header('authorization')).toBe('Bearer x')
  })

  test('are not sent for canceled messages', async () => {
    const at = world()
    const seen = at.destinations.record('https://shop.test/*')
    const id = await publish(at, { 'Service-Delay': '1h', 'Service-Failure-Callback': failed })
    await at.send('DELETE', `/v2/messages/${id}`)
    await at.clock.drain()
    expect(seen.count).toBe(0)
    expect((await at.send('GET', '/v2/dlq')).json.messages).toEqual([])
  })
})
