import { describe, expect, test } from 'vitest'
import { createSandbox, fault } from '../../src/index.js'
import { bank, charging, failure, shop, world } from './world.js'

const post = (body = '') => fetch(bank, { method: 'POST', body })

describe('an outbound request', () => {
  test('gets the response of its handler and is logged below the attempt that sent it', async () => {
    const sandbox = world()
    charging(sandbox)
    sandbox.outbound.on(bank, async (request) => Response.json({ order: await request.text() }, { status: 201 }))
    sandbox.queue.publish({ to: shop, body: 'order 1' })
    await sandbox.clock.drain()
    const [attempt] = sandbox.traffic.ofType('attempt')
    expect(sandbox.traffic.ofType('outbound')).toMatchObject([
      { cause: attempt!.seq, method: 'POST', url: bank, body: 'order 1', handlerRuns: 1, response: { status: 201 } },
    ])
    expect(sandbox.traffic.timeline()).toBe(
      [
        '2030-01-01',
        '  #1  09:00:00.000        published msg_YsB… to https://shop.test/orders, 3 retries',
        '                            body: order 1',
        '  #2  09:00:00.000        clock.drain: time does not move',
        '  #3  09:00:00.000          attempt 1 of 4 of msg_YsB… to https://shop.test/orders → 200',
        '  #4  09:00:00.000            calls POST https://bank.test/charges → 201',
      ].join('\n'),
    )
  })

  test('shows in the timeline that the bank charged although its response was lost, and that the app retried', async () => {
    const sandbox = world()
    charging(sandbox)
    let money = 0
    sandbox.outbound.on(bank, () => {
      money++
      return Response.json({}, { status: 201 })
    })
    sandbox.outbound.script(bank, [fault.lostAck()])
    sandbox.queue.publish({ to: shop, body: 'order 1' })
    await sandbox.clock.drain()
    expect(money).toBe(2)
    expect(
      sandbox.traffic.ofType('outbound').map(({ response: answer, handlerRuns: handled }) => ({ ...answer, handled })),
    ).toMatchObject([
      { status: 0, error: 'read ECONNRESET', handled: 1 },
      { status: 201, handled: 1 },
    ])
    expect(sandbox.traffic.timeline()).toMatch(/handler ran.*201; by the script: lost-ack/)
  })

  test('has no cause when the test itself sends it', async () => {
    const sandbox = world()
    sandbox.outbound.respond(bank, 204)
    await post()
    expect(sandbox.traffic.ofType('outbound')[0]!.cause).toBeUndefined()
  })

  test('goes to the previous fetch when its URL is not registered', async () => {
    const before = globalThis.fetch
    const asked: string[] = []
    globalThis.fetch = async (input) => {
      asked.push(String(input))
      return new Response('before')
    }
    try {
      const sandbox = world()
      sandbox.outbound.respond('https://bank.test/charges', 204)
      expect(await (await fetch('https://elsewhere.test/')).text()).toBe('before')
      expect(await (await fetch('https://bank.test/refunds')).text()).toBe('before')
      expect(asked).toEqual(['https://elsewhere.test/', 'https://bank.test/refunds'])
      expect(sandbox.traffic.ofType('outbound')).toEqual([])
      sandbox.dispose()
    } finally {
      globalThis.fetch = before
    }
  })
})

describe('registrations of outbound requests', () => {
  test('accepts a fixed response, a plain function, and a Response that is used many times', async () => {
    const sandbox = world()
    sandbox.outbound
      .respond('https://a.test/', { status: 201, headers: { 'x-id': '7' }, body: { id: 7 } })
      .respond('https://b.test/', (call) => ({ body: `${call.method} ${call.text()} ${call.header('X-Tag')}` }))
      .respond('https://c.test/', new Response('again', { status: 202 }))
    const a = await fetch('https://a.test/')
    expect([a.status, a.headers.get('x-id'), await a.json()]).toEqual([201, '7', { id: 7 }])
    const b = await fetch('https://b.test/', { method: 'PUT', body: 'hello', headers: { 'x-tag': 't' } })
    expect(await b.text()).toBe('PUT hello t')
    for (let turn = 0; turn < 2; turn++) {
      const c = await fetch('https://c.test/')
      expect([c.status, await c.text()]).toEqual([202, 'again'])
    }
  })

  test('accepts a method before the URL; exact patterns win over wildcards, later ones over earlier ones', async () => {
    const sandbox = world()
    sandbox.outbound
      .respond('https://bank.test/*', 202)
      .respond('POST https://bank.test/charges', 201)
      .respond('delete https://bank.test/*', 204)
    const statusOf = async (method: string, path: string) =>
      (await fetch(`https://bank.test${path}`, { method })).status
    expect(await statusOf('POST', '/charges')).toBe(201)
    expect(await statusOf('POST', '/charges?expand=1')).toBe(201)
    expect(await statusOf('GET', '/charges')).toBe(202)
    expect(await statusOf('DELETE', '/charges')).toBe(204)
    sandbox.outbound.off('POST https://bank.test/charges')
    expect(await statusOf('POST', '/charges')).toBe(202)
  })

  test('names the nearest registration for a path that is not registered', () => {
    const sandbox = world()
    sandbox.outbound.respond('https://bank.test/refunds', 200).respond('https://bank.test/chrages', 201)
    expect(sandbox.outbound.wrongWith('POST', 'https://bank.test/charges?expand=1')).toContain(
      'https://bank.test/chrages is registered, but its path differs',
    )
    expect(sandbox.outbound.wrongWith('POST', 'https://bank.test/x')).toContain(
      'https://bank.test/refunds is registered, but its path differs',
    )
  })

  test('records requests and responds 200 without another response', async () => {
    const sandbox = world()
    const seen = sandbox.outbound.record('https://bank.test/*')
    expect(() => seen.last()).toThrow('no request has arrived at https://bank.test/*')
    expect(
      (await fetch(bank, { method: 'POST', body: '{"amount":5}', headers: { authorization: 'Bearer sk' } })).status,
    ).toBe(200)
    expect(seen.count).toBe(1)
    expect(seen.last().json()).toEqual({ amount: 5 })
    expect(seen.last().header('Authorization')).toBe('Bearer sk')
  })

  test('plays script steps of all kinds, and then uses the registered handler', async () => {
    const sandbox = world()
    sandbox.outbound.respond(bank, 201)
    sandbox.outbound.script(bank, [
      fault.status(503),
      fault.pass(),
      new Response(null, { status: 402 }),
      () => new Response('one'),
    ])
    expect(sandbox.outbound.unused).toMatchObject([
      { pattern: bank, steps: [{ kind: 'status' }, { kind: 'pass' }, { kind: 'response' }, { kind: 'handler' }] },
    ])
    const seen: number[] = []
    for (let turn = 0; turn < 5; turn++) seen.push((await post()).status)
    expect(seen).toEqual([503, 201, 402, 200, 201])
    expect(sandbox.outbound.unused).toEqual([])
    expect(sandbox.traffic.ofType('outbound').map(({ handlerRuns: handled }) => handled)).toEqual([0, 1, 1, 1, 1])
  })

  test('returns a 500 to the app for a handler that throws, and keeps the error for the test', async () => {
    const sandbox = world()
    sandbox.outbound.on(bank, () => {
      throw new RangeError('no such account')
    })
    expect((await post()).status).toBe(500)
    expect(sandbox.outbound.errors).toMatchObject([{ message: 'no such account' }])
  })

  test('lets a handler sleep in virtual time, and its caller with it', async () => {
    const sandbox = world()
    charging(sandbox)
    sandbox.outbound.on(bank, async (_request, task) => {
      await task.sleep('30s')
      return new Response()
    })
    sandbox.queue.publish({ to: shop })
    await sandbox.clock.drain()
    const [attempt] = sandbox.traffic.ofType('attempt')
    expect(attempt!.outcome!.at - attempt!.at).toBe(30_000)
  })

  test('streams events one by one', async () => {
    const sandbox = world()
    sandbox.outbound.on('https://llm.test/chat', () => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode('data: one\n\n')),
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    })
    const reader = (await fetch('https://llm.test/chat')).body!.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('data: one\n\n')
    expect(sandbox.traffic.ofType('outbound')[0]!.response).toMatchObject({ status: 200, body: undefined })
  })

  test('removes registrations at a reset, as for destinations', async () => {
    const sandbox = world()
    sandbox.outbound.respond(bank, 204)
    sandbox.reset()
    expect(sandbox.outbound.isEmpty).toBe(true)
  })
})

describe('invalid arguments of sandbox.outbound', () => {
  const { outbound } = createSandbox()
  test.each([
    [
      () => outbound.on(bank, 5 as never),
      'outbound.on("https://bank.test/charges"): the second argument must be a function',
    ],
    [() => outbound.on('bank.test', () => new Response()), /absolute URL .*\(got "bank\.test"\)/],
    [() => outbound.respond(bank, undefined as never), 'second argument must be a status'],
    [
      () => outbound.respond(bank, 99),
      'outbound.respond("https://bank.test/charges"): a status must be a whole number from 200 to 599 (got 99)',
    ],
    [() => outbound.respond(bank, fault.lostAck() as never), 'got a fault). Use outbound.script(url, [fault])'],
    [
      () => outbound.script(bank, fault.status(500) as never),
      'must be an array of steps such as 503, fault.lostAck(), fault.pass(), a Response or a handler',
    ],
    [() => outbound.script(bank, [{ kind: 'drop' }]), 'step 1: drop is not a fault for outbound requests.'],
    [
      () => outbound.script(bank, [fault.pass(), { kind: 'delay', waitMs: 5 }]),
      'step 2: delay is not a fault for outbound requests. Use fault.latency(…).',
    ],
    [() => outbound.script(bank, [{ kind: 'lostAck' } as never]), 'there is no fault "lostAck"'],
  ])('throws an error with advice (case %#)', (act, sentence) => {
    expect(act).toThrow(sentence)
  })

  test('reports near misses as unhandled', async () => {
    const sandbox = createSandbox()
    sandbox.outbound.respond('POST https://bank.test/charges', 201)
    expect(sandbox.outbound.takes('POST', 'https://bank.test/charge')).toBe(false)
    expect(sandbox.outbound.takes('PUT', 'https://bank.test/charges')).toBe(false)
    expect(sandbox.outbound.takes('GET', 'https://elsewhere.test/')).toBe(false)
    expect(sandbox.outbound.unhandled).toEqual([
      expect.stringMatching(
        /POST https:\/\/bank\.test\/charge is unhandled.*POST https:\/\/bank\.test\/charges .*path differs/,
      ),
      expect.stringMatching(
        /PUT https:\/\/bank\.test\/charges is unhandled.*POST https:\/\/bank\.test\/charges .*method differs/,
      ),
    ])
    expect(await failure(sandbox.outbound.fetch('https://bank.test/refunds'))).toMatchObject({
      message: expect.stringContaining("Register sandbox.outbound.on('https://bank.test/refunds', handler)"),
    })
  })
})
