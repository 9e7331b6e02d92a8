import { describe, expect, test } from 'vitest'
import * as fault from '../../src/faults/constructors.js'
import type { Attempt } from '../../src/queue/message/message-entries.js'
import { shop, type World, world } from './world.js'

const publish = (at: World, headers: Record<string, string> = {}, body = 'b') =>
  at.send('POST', `/v2/publish/${shop}`, { headers, body }).then(({ json }) => json.messageId as string)

const statesOf = async (at: World, messageId: string): Promise<string[]> =>
  (await at.send('GET', `/v2/events?messageId=${messageId}&order=earliestFirst`)).json.events.map(
    ({ state }: { state: string }) => state,
  )

const attempts = (at: World) => at.traffic.ofType('attempt')

describe('the request of a delivery [queue.md 3.1]', () => {
  test('has exactly the documented headers', async () => {
    const at = world({ dialect: 'neutral' })
    const seen = at.destinations.record('https://shop.test/*')
    at.queue.urlGroups.addEndpoints('g', [{ url: 'https://shop.test/a', name: 'first' }])
    const answer = await at.send('POST', '/v2/publish/g', {
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': '203.0.113.7, 10.0.0.1' },
      body: '{}',
    })
    await at.clock.drain()
    const { headers } = seen.last()
    expect(headers.filter(([name]) => name !== 'Service-Signature')).toEqual([
      ['User-Agent', 'Service-Queue'],
      ['Content-Type', 'application/json'],
      ['Service-Message-Id', answer.json[0].messageId],
      ['Service-Retried', '0'],
      ['Service-Topic-Name', 'g'],
      ['Service-Caller-Ip', '203.0.113.7'],
      ['Service-Region', 'EU-CENTRAL-1'],
    ])
  })

  test('names the region in which the message was published', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    await at.send('POST', `/v2/publish/${shop}`, { base: 'https://us-east-1.queue.test' })
    await at.clock.drain()
    expect(seen.last().header('service-region')).toBe('US-EAST-1')
  })

  test('keeps the message ID, counts Retried from 0, and has a new signature for each attempt', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    at.destinations.script(shop, [fault.status(500), fault.status(500), fault.pass()])
    const id = await publish(at)
    await at.clock.drain()
    expect(seen.requests.map((delivery) => delivery.header('service-message-id'))).toEqual([id, id, id])
    expect(seen.requests.map((delivery) => delivery.header('service-retried'))).toEqual(['0', '1', '2'])
    expect(new Set(seen.requests.map((delivery) => delivery.header('service-signature'))).size).toBe(3)
  })

  test('does not contain label, queue, flow-control key and retries', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    await at.send('POST', `/v2/enqueue/q/${shop}`, {
      headers: {
        'Service-Label': 'secret-label',
        'Service-Flow-Control-Key': 'secret-key',
        'Service-Flow-Control-Value': 'rate=5',
      },
    })
    await at.clock.drain()
    const names = seen.last().headers.map(([name]) => name)
    expect(names).toEqual([
      'User-Agent',
      'Service-Signature',
      'Service-Message-Id',
      'Service-Retried',
      'Service-Caller-Ip',
      'Service-Region',
    ])
  })

  test('reaches a Request → Response handler completely', async () => {
    const at = world()
    const seen: unknown[] = []
    at.destinations.on(shop, async (request, task) => {
      await task.sleep('3s')
      seen.push([request.method, request.url, request.headers.get('content-type'), await request.json()])
      return Response.json({ done: true }, { status: 201, headers: { 'x-answer': 'yes' } })
    })
    await publish(at, { 'Content-Type': 'application/json' }, '{"id":1}')
    await at.clock.drain()
    expect(seen).toEqual([['POST', shop, 'application/json', { id: 1 }]])
    const [attempt] = attempts(at)
    expect(attempt!.outcome).toMatchObject({
      status: 201,
      body: '{"done":true}',
      state: 'DELIVERED',
      at: attempt!.at + 3000,
    })
    expect(attempt!.outcome!.headers).toContainEqual(['x-answer', 'yes'])
  })
})

describe('the outcome of an attempt [queue.md 5.1, 4.2]', () => {
  test.each([200, 201, 204, 299])('is a delivery for status %i', async (code) => {
    const at = world()
    at.destinations.respond(shop, code)
    expect(await statesOf(at, await publish(at))).toEqual(['CREATED'])
    await at.clock.drain()
    expect(attempts(at)).toHaveLength(1)
    expect((await at.send('GET', '/v2/events')).json.events[0].state).toBe('DELIVERED')
  })

  test.each([
    ['300', fault.status(300)],
    ['302 is not followed', fault.status(302, { headers: { location: 'https://shop.test/other' } })],
    ['404', fault.status(404)],
    ['500', fault.status(500)],
    ['489 without the header', fault.status(489)],
    ['a broken connection', fault.reset()],
    ['a refused connection', fault.refused()],
    ['an unknown host', fault.unresolvedHost()],
    ['a bad certificate', fault.badCertificate()],
    ['no response', fault.hang()],
    ['a connection that hangs and closes', fault.hang('5s')],
  ])('is a retry for: %s', async (_name, step) => {
    const at = world()
    at.destinations.script(shop, [step])
    const id = await publish(at)
    await at.clock.drain()
    expect(await statesOf(at, id)).toEqual(['CREATED', 'ACTIVE', 'ERROR', 'RETRY', 'ACTIVE', 'DELIVERED'])
  })

  test('is logged as CREATED, ACTIVE, DELIVERED on success', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    const id = await publish(at)
    await at.clock.drain()
    expect(await statesOf(at, id)).toEqual(['CREATED', 'ACTIVE', 'DELIVERED'])
    expect((await at.send('GET', `/v2/messages/${id}`)).status).toBe(200)
    expect(at.queue.getMessage(id)).toBeUndefined()
  })

  test('is logged up to FAILED with one retry', async () => {
    const at = world()
    at.destinations.respond(shop, 500)
    const id = await publish(at, { 'Service-Retries': '1' })
    await at.clock.drain()
    expect(await statesOf(at, id)).toEqual(['CREATED', 'ACTIVE', 'ERROR', 'RETRY', 'ACTIVE', 'ERROR', 'FAILED'])
  })

  test('is an immediate dead letter for 489 with the header', async () => {
    const at = world()
    at.destinations.script(shop, [fault.nonRetryable('never again')])
    const id = await publish(at)
    await at.clock.drain()
    expect(await statesOf(at, id)).toEqual(['CREATED', 'ACTIVE', 'ERROR', 'FAILED'])
    expect((await at.send('GET', '/v2/dlq')).json.messages).toMatchObject([
      { messageId: id, responseStatus: 489, responseBody: 'never again' },
    ])
  })

  test('repeats at most 1 + retries times; 0 retries mean one attempt [queue.md 5.3]', async () => {
    for (const retries of [0, 1, 4]) {
      const at = world()
      at.destinations.respond(shop, 500)
      await publish(at, { 'Service-Retries': String(retries) })
      await at.clock.drain()
      expect(attempts(at).map(({ retried }) => retried)).toEqual(Array.from({ length: retries + 1 }, (_, n) => n))
    }
  })

  test('repeats with 3 retries by default [queue.md 2.2]', async () => {
    const at = world()
    at.destinations.respond(shop, 500)
    await publish(at)
    await at.clock.drain()
    expect(attempts(at)).toHaveLength(4)
  })

  test('has status 0 in dead letters and callbacks after network errors', async () => {
    const at = world()
    const callbacks = at.destinations.record('https://shop.test/cb')
    at.destinations.script(shop, [fault.reset()])
    await publish(at, { 'Service-Retries': '0', 'Service-Callback': 'https://shop.test/cb' })
    await at.clock.drain()
    expect((await at.send('GET', '/v2/dlq')).json.messages[0].responseStatus).toBe(0)
    expect(callbacks.last().json()).toMatchObject({ status: 0, header: {}, body: '' })
  })

  test('is that of the redirect target when the policy follows redirects', async () => {
    const at = world({ policy: { followRedirects: true } })
    const other = at.destinations.record('https://shop.test/other')
    at.destinations.respond(shop, { status: 307, headers: { location: '/other' } })
    const id = await publish(at)
    await at.clock.drain()
    expect(other.last()).toMatchObject({ url: 'https://shop.test/other', method: 'POST', body: 'b' })
    expect(await statesOf(at, id)).toEqual(['CREATED', 'ACTIVE', 'DELIVERED'])
    const loop = world({ policy: { followRedirects: true } })
    loop.destinations.respond(shop, { status: 302, headers: { location: shop } })
    await publish(loop, { 'Service-Retries': '0' })
    await loop.clock.drain()
    expect(loop.traffic.ofType('attempt')[0]!.outcome).toMatchObject({ status: 0, error: 'stopped after 10 redirects' })
  })

  test('has consecutive attempt numbers, also with redirects', async () => {
    const at = world({ policy: { followRedirects: true } })
    const other = at.destinations.record('https://shop.test/other', 503)
    at.destinations.respond(shop, { status: 307, headers: { location: '/other' } })
    const told: number[] = []
    at.destinations.respond('https://shop.test/told', ({ number }) => {
      told.push(number)
      return { status: 302, headers: { location: '/other' } }
    })
    for (const to of [shop, 'https://shop.test/told']) at.queue.publish({ to, body: 'b', retries: 2 })
    await at.clock.drain()
    expect((attempts(at) as unknown as Attempt[]).map(({ number, retried }) => [number, retried])).toEqual(
      [0, 0, 1, 1, 2, 2].map((n) => [n + 1, n]),
    )
    expect(other.requests.map(({ number }) => number)).toEqual([1, 1, 2, 2, 3, 3])
    expect(told).toEqual([1, 2, 3])
  })
})

describe('timeouts of deliveries, in virtual time [queue.md 2.2, 5.1, 5.6]', () => {
  test('end an attempt, which is retried', async () => {
    const at = world()
    at.destinations.script(shop, [fault.hang()])
    const start = at.clock.now()
    const id = await publish(at, { 'Service-Timeout': '30s' })
    await at.clock.drain()
    const [first, second] = attempts(at)
    expect(first!.outcome).toMatchObject({
      at: start + 30_000,
      status: 0,
      error: 'context deadline exceeded',
      state: 'RETRY',
    })
    expect(second!.at).toBe(start + 30_000 + 12_000)
    expect((await at.send('GET', `/v2/events?messageId=${id}&state=ERROR`)).json.events[0]).toMatchObject({
      error: 'context deadline exceeded',
      timeout: 30_000,
    })
  })

  test("are the plan's maximum by default: 2 h on payg, 15 min on free", async () => {
    for (const [queuePlan, longest] of [
      ['payg', 7_200_000],
      ['free', 900_000],
    ] as const) {
      const at = world({ policy: { queuePlan } })
      at.destinations.script(shop, [fault.hang()])
      // A timeout of the message can only shorten the maximum.
      await publish(at, { 'Service-Timeout': '20h' })
      await at.clock.drain()
      const [first] = attempts(at)
      expect(first!.outcome!.at - first!.at).toBe(longest)
    }
  })

  test('read a bare number as seconds, as the workflow SDK sends it', async () => {
    const at = world()
    at.destinations.script(shop, [fault.hang()])
    await publish(at, { 'Service-Timeout': '7' })
    await at.clock.drain()
    expect(attempts(at)[0]!.outcome!.at - attempts(at)[0]!.at).toBe(7000)
  })

  test('ignore a late response, except for a note in the attempt', async () => {
    const at = world()
    let runs = 0
    at.destinations.on(shop, async (_request, task) => {
      runs++
      await task.sleep('40s')
      return new Response('late')
    })
    const id = await publish(at, { 'Service-Timeout': '30s', 'Service-Retries': '1' })
    await at.clock.drain()
    expect(runs).toBe(2)
    expect(await statesOf(at, id)).toEqual(['CREATED', 'ACTIVE', 'ERROR', 'RETRY', 'ACTIVE', 'ERROR', 'FAILED'])
    expect(attempts(at)[0]!.outcome!.note).toBe('the handler responded 200 10 s after the timeout')
  })

  test('accept a response in the last millisecond', async () => {
    const at = world()
    at.destinations.on(shop, async (_request, task) => {
      await task.sleep('29999ms')
      return new Response('just in time')
    })
    const id = await publish(at, { 'Service-Timeout': '30s' })
    await at.clock.drain()
    expect(await statesOf(at, id)).toEqual(['CREATED', 'ACTIVE', 'DELIVERED'])
  })
})

describe('scripts of destinations', () => {
  test('use one step per delivery, and then the registered handler', async () => {
    const at = world()
    let handled = 0
    at.destinations.on(shop, () => {
      handled++
      return new Response(null, { status: 204 })
    })
    at.destinations.script(shop, [
      fault.status(500),
      fault.reset(),
      fault.delay('2s', fault.status(503)),
      fault.status(418, { body: { no: 1 } }),
    ])
    await publish(at, { 'Service-Retries': '5', 'Service-Retry-Delay': '1000' })
    await at.clock.drain()
    expect(attempts(at).map(({ outcome }) => outcome!.status)).toEqual([500, 0, 503, 418, 204])
    expect(handled).toBe(1)
    expect(at.destinations.unused).toEqual([])
  })

  test('lost-ack: the handler runs and the queue retries', async () => {
    const at = world()
    let charged = 0
    at.destinations.on(shop, () => {
      charged++
      return new Response('charged')
    })
    at.destinations.script(shop, [fault.lostAck()])
    await publish(at)
    await at.clock.drain()
    expect(charged).toBe(2)
    expect(attempts(at)[0]!.outcome).toMatchObject({
      status: 0,
      error: 'read: connection reset by peer',
      note: 'the handler ran and responded 200, its response was lost',
    })
  })

  test('late-response: the handler runs, but its response arrives after the timeout', async () => {
    const at = world()
    let ran = 0
    at.destinations.respond(shop, () => {
      ran++
      return 200
    })
    at.destinations.script(shop, [fault.lateResponse('3s')])
    await publish(at, { 'Service-Timeout': '10s' })
    await at.clock.drain()
    expect(ran).toBe(2)
    expect(attempts(at)[0]!.outcome).toMatchObject({
      status: 0,
      state: 'RETRY',
      note: 'the handler responded 200 3 s after the timeout',
    })
  })

  test('delay: virtual time passes before the handler runs', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    at.destinations.script(shop, [fault.delay('90s')])
    await publish(at)
    await at.clock.drain()
    const [attempt] = attempts(at)
    expect(attempt!.outcome!.at - attempt!.at).toBe(90_000)
  })

  test('also work as the response of a destination', async () => {
    const at = world()
    at.destinations.respond(shop, (delivery) =>
      delivery.retried === 0 ? fault.status(429, { retryAfter: '5s' }) : 200,
    )
    await publish(at)
    await at.clock.drain()
    expect(attempts(at).map(({ outcome }) => outcome!.status)).toEqual([429, 200])
    expect(attempts(at)[1]!.at - attempts(at)[0]!.at).toBe(5000)
  })

  test('contain plain data', () => {
    const steps = [
      fault.status(500),
      fault.reset(),
      fault.hang(),
      fault.lostAck(),
      fault.pass(),
      fault.delay('1s', fault.hang('2s')),
      fault.status(200, { body: { a: 1 } }),
    ]
    expect(JSON.parse(JSON.stringify(steps))).toEqual(steps)
    expect(() => fault.status(99)).toThrow('use fault.reset() or fault.hang()')
    expect(() => world().destinations.script(shop, ['500' as never])).toThrow(
      'step 1: a status must be a number (got "500"). Write 500.',
    )
  })
})

describe('destinations', () => {
  test('match patterns with * and any query unless one is given; exact and later patterns win', async () => {
    const at = world()
    const { destinations } = at
    destinations.respond('https://shop.test/*', 201)
    destinations.respond('https://shop.test/a', 202)
    destinations.respond('https://*.test/wide', 203)
    destinations.respond('https://shop.test/b?x=1', 204)
    destinations.respond('https://shop.test/c*', 205)
    destinations.respond('HTTPS://Upper.Test', 206)
    const answered = async (url: string): Promise<number> => {
      at.queue.publish({ to: url, retries: 0 })
      await at.clock.drain()
      return attempts(at).at(-1)!.outcome!.status
    }
    expect(await answered('https://shop.test/z')).toBe(201)
    expect(await answered('https://shop.test/a?q=1')).toBe(202)
    expect(await answered('https://shop.test/wide')).toBe(203)
    expect(await answered('https://shop.test/b?x=1')).toBe(204)
    expect(await answered('https://shop.test/b?x=2')).toBe(201)
    expect(await answered('https://shop.test/c/d')).toBe(205)
    expect(await answered('https://upper.test/')).toBe(206)
    destinations.respond('https://shop.test/a', 207)
    expect(await answered('https://shop.test/a')).toBe(207)
    destinations.off('https://shop.test/a')
    expect(await answered('https://shop.test/a')).toBe(201)
    expect(() => destinations.respond('shop.test', 200)).toThrow('must be an absolute URL')
  })

  test('record deliveries in addition to handlers and scripts, but not those that never arrive', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    const seen = at.destinations.record(shop)
    at.destinations.script(shop, [fault.reset(), fault.status(500)])
    await publish(at, {}, '{"n":1}')
    await at.clock.drain()
    expect(seen.requests.map(({ retried }) => retried)).toEqual([1, 2])
    expect(seen.last().json()).toEqual({ n: 1 })
    expect(seen.last().text()).toBe('{"n":1}')
    expect([...seen.last().bytes]).toEqual([...new TextEncoder().encode('{"n":1}')])
    seen.clear()
    expect(() => seen.last()).toThrow(`no request has arrived at ${shop} yet`)
    await publish(at, {}, 'not json')
    await at.clock.drain()
    expect(() => seen.last().json()).toThrow('is not JSON (got "not json")')
  })

  test('report a delivery without a destination with the line that published it', async () => {
    const at = world()
    at.queue.publish({ to: 'https://nobody.test/x', retries: 0 })
    await at.clock.drain()
    expect(attempts(at)[0]!.outcome).toMatchObject({ status: 0, state: 'FAILED' })
    expect(at.destinations.unhandled).toHaveLength(1)
    expect(at.destinations.unhandled[0]).toMatch(
      /^No destination responds at https:\/\/nobody\.test\/x \(message msg_\w+, published at .*delivery\.test\.ts:\d+:\d+\)\. Register destinations\.on\('https:\/\/nobody\.test\/x', handler\)/,
    )
  })

  test('respond to unregistered URLs with a status when the policy gives one', async () => {
    const at = world({ policy: { unhandledDestination: 200 } })
    at.queue.publish({ to: 'https://nobody.test/x' })
    await at.clock.drain()
    expect(attempts(at)[0]!.outcome!.status).toBe(200)
    expect(at.destinations.unhandled).toEqual([])
  })

  test('turn an error of a handler into a 500, and keep it for the test', async () => {
    const at = world()
    at.destinations.on(shop, () => {
      throw new RangeError('boom')
    })
    await publish(at, { 'Service-Retries': '0' })
    await at.clock.drain()
    expect(attempts(at)[0]!.outcome).toMatchObject({ status: 500, note: 'the handler threw RangeError: boom' })
    expect(at.destinations.errors).toMatchObject([{ message: 'boom' }])
  })

  test('reject handlers that are missing, and report handlers that return nothing', async () => {
    const at = world()
    at.destinations.on(shop, (() => undefined) as never)
    await publish(at, { 'Service-Retries': '0' })
    await at.clock.drain()
    expect(String(at.destinations.errors[0])).toContain(`The handler of ${shop} returned undefined. Return a Response`)
    expect(() => at.destinations.on(shop, undefined as never)).toThrow('second argument must be a function')
  })

  test('let a configured fetch reach only loopback or named hosts, and no production host by accident', async () => {
    const fetched: string[] = []
    const fetch = (async (url: string, init: RequestInit) => {
      fetched.push(`${init.method} ${url}`)
      return new Response('ok')
    }) as unknown as typeof globalThis.fetch
    const run = async (deliver: 'loopback' | 'none' | 'any' | string[] | undefined, url: string) => {
      const at = world({ dialect: 'upstash', fetch, deliver })
      at.queue.publish({ to: url, retries: 0 })
      await at.clock.drain()
      return { status: attempts(at)[0]!.outcome!.status, unhandled: at.destinations.unhandled }
    }
    expect((await run(undefined, 'http://localhost:3000/a')).status).toBe(200)
    expect((await run(undefined, 'http://127.0.0.1:3000/b')).status).toBe(200)
    expect((await run('loopback', 'http://[::1]:3000/c')).status).toBe(200)
    const stranger = await run('loopback', 'https://example.com/d')
    expect(stranger.status).toBe(0)
    expect(stranger.unhandled[0]).toContain("allow the host: deliverTo: ['example.com']")
    expect((await run('loopback', 'https://localhost.example.com/e')).status).toBe(0)
    expect((await run('none', 'http://localhost/f')).status).toBe(0)
    expect((await run(['example.com'], 'https://example.com/g')).status).toBe(200)
    expect((await run(['example.com'], 'http://localhost/h')).status).toBe(0)
    expect((await run('any', 'https://example.com/i')).status).toBe(200)
    expect((await run('any', 'https://qstash.upstash.io/j')).status).toBe(0)
    expect((await run(['qstash.upstash.io'], 'https://qstash.upstash.io/k')).status).toBe(200)
    expect(fetched).toEqual([
      'POST http://localhost:3000/a',
      'POST http://127.0.0.1:3000/b',
      'POST http://[::1]:3000/c',
      'POST https://example.com/g',
      'POST https://example.com/i',
      'POST https://qstash.upstash.io/k',
    ])
  })

  test('check the host of each redirect target', async () => {
    const fetched: string[] = []
    const fetch = (async (url: string) => {
      fetched.push(url)
      return new Response(null, { status: 307, headers: { location: 'https://example.com/' } })
    }) as unknown as typeof globalThis.fetch
    const at = world({ policy: { followRedirects: true }, fetch })
    at.queue.publish({ to: 'http://localhost:3000/a', retries: 0 })
    await at.clock.drain()
    expect(fetched).toEqual(['http://localhost:3000/a'])
    expect(attempts(at)[0]!.outcome).toMatchObject({ status: 0, error: 'delivery refused' })
  })

  test('distinguish network errors of a real fetch', async () => {
    const failing = (code: string) =>
      (async () => {
        throw new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) })
      }) as unknown as typeof globalThis.fetch
    for (const [code, error] of [
      ['ECONNREFUSED', 'dial tcp: connect: connection refused'],
      ['ECONNRESET', 'read: connection reset by peer'],
      ['ENOTFOUND', 'dial tcp: lookup: no such host'],
    ] as const) {
      const at = world({ fetch: failing(code) })
      at.queue.publish({ to: 'http://localhost:1/', retries: 0 })
      await at.clock.drain()
      expect(attempts(at)[0]!.outcome!.error).toBe(error)
    }
  })

  test('report a port that fetch blocks as a network error, on every attempt [docs/limits.md]', async () => {
    const at = world({ fetch: globalThis.fetch })
    at.queue.publish({ to: 'http://127.0.0.1:6000/', retries: 1 })
    await at.clock.drain()
    expect(attempts(at).map(({ outcome }) => outcome!.error)).toEqual(['bad port', 'bad port'])
  })
})

describe('the log entry of an attempt', () => {
  test('gives the reason of the attempt and of its wait', async () => {
    const at = world()
    at.destinations.script(shop, [fault.status(503), fault.status(429, { retryAfter: '30s' }), fault.pass()])
    await publish(at, { 'Service-Delay': '5s' })
    await at.clock.drain()
    expect(attempts(at).map(({ reason: why, waitReason: waited }) => [why, waited])).toEqual([
      ['first attempt', 'delay 5 s as published'],
      ['retry 1 of 3', 'delay 12 s from the default back-off after 503'],
      ['retry 2 of 3', 'delay 30 s from the header Retry-After, after 429'],
    ])
    expect(attempts(at)[0]!.outcome!.next).toEqual({
      at: attempts(at)[1]!.at,
      delayMs: 12_000,
      reason: 'delay 12 s from the default back-off after 503',
    })
  })

  test('is complete as JSON', async () => {
    const at = world()
    at.destinations.respond(shop, 200)
    const id = await publish(at)
    await at.clock.drain()
    const [attempt] = JSON.parse(JSON.stringify(attempts(at)))
    expect(attempt).toMatchObject({
      type: 'attempt',
      messageId: id,
      url: shop,
      retried: 0,
      outcome: { status: 200, state: 'DELIVERED' },
    })
    expect(attempt.headers.map(([name]: [string]) => name)).toContain('Service-Signature')
    const [published] = JSON.parse(JSON.stringify(at.traffic.ofType('published')))
    expect(published).toMatchObject({
      type: 'published',
      messageId: id,
      url: shop,
      body: 'b',
      maxRetries: 3,
      deduplicated: false,
    })
  })

  test('is the same, byte for byte, with the same seed', async () => {
    const run = async (): Promise<string> => {
      const at = world({ seed: 5 })
      at.destinations.script(shop, [fault.status(500), fault.lostAck(), fault.hang()])
      await publish(at, { 'Service-Callback': 'https://shop.test/cb' })
      at.destinations.respond('https://shop.test/cb', 200)
      await at.clock.drain()
      return JSON.stringify(at.traffic.entries)
    }
    expect(await run()).toBe(await run())
  })
})
