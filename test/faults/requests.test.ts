import {
  createSandbox,
  type FaultAt,
  type FaultConditions,
  type FaultMatch,
  type FaultRule,
  fault,
  type Sandbox,
} from 'stuntdouble'
import { describe, expect, test } from 'vitest'

const start = Date.parse('2030-01-01T00:00:00Z')

function world(...rules: FaultRule[]) {
  const sandbox = createSandbox({ onWarning: () => {} })
  sandbox.faults.add(rules)
  const command = (...words: string[]): Promise<Response> =>
    sandbox.fetch(`${sandbox.urls.store}/`, {
      method: 'POST',
      body: JSON.stringify(words),
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    })
  const publish = (to = 'https://shop.test/orders', headers: Record<string, string> = {}): Promise<Response> =>
    sandbox.fetch(`${sandbox.urls.queue}/v2/publish/${to}`, {
      method: 'POST',
      body: 'x',
      headers: { authorization: `Bearer ${sandbox.tokens.queue}`, ...headers },
    })
  const usage = (): Promise<Response> => {
    const { mgmtUser, mgmtKey } = sandbox.tokens
    return sandbox.fetch(`${sandbox.urls.mgmt}/v2/queue/stats/u`, {
      headers: { authorization: `Basic ${btoa(`${mgmtUser}:${mgmtKey}`)}` },
    })
  }
  const faults = (): string[] => sandbox.traffic.ofType('fault').map(({ fault, effect }) => `${fault}: ${effect}`)
  return { sandbox, command, publish, usage, faults }
}

const onStore = (fault: FaultAt<'store.request'>, more: FaultConditions = {}): FaultRule => ({
  on: 'store.request',
  fault,
  ...more,
})
/** Returns the response, or the error that fetch rejects with, and its virtual time. */
async function outcome(sandbox: Sandbox, asked: Promise<Response>): Promise<unknown[]> {
  const told = asked.then(
    async (answer) => {
      const at = sandbox.clock.now()
      return answer.text().then(
        (body) => [at - start, answer.status, body, sandbox.clock.now() - start],
        (error) => [at - start, answer.status, error, sandbox.clock.now() - start],
      )
    },
    (error) => [sandbox.clock.now() - start, error],
  )
  await sandbox.clock.drain()
  return told
}
const networkError = (code: string) =>
  expect.objectContaining({ name: 'TypeError', message: 'fetch failed', cause: expect.objectContaining({ code }) })

describe('faults before the request is processed', () => {
  test('status() responds with the error body of each service', async () => {
    const { command, publish, usage, sandbox } = world({
      on: ['store.request', 'queue.request', 'stats.request'],
      fault: fault.status(503),
    })
    const answers = await Promise.all([command('SET', 'a', '1'), publish(), usage()])
    expect(answers.map((answer) => answer.status)).toEqual([503, 503, 503])
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual([
      { error: 'service unavailable' },
      { error: 'service unavailable' },
      { error: 'service unavailable', code: '503', message: 'service unavailable' },
    ])
    expect(sandbox.store.get('a')).toBeNull()
    expect(sandbox.queue.messages).toEqual([])
  })

  test('status() can set headers and a body', async () => {
    const { command } = world(onStore(fault.status(418, { headers: { 'X-Own': ['a', 'b'] }, body: { tea: true } })))
    const answer = await command('GET', 'a')
    expect([
      answer.status,
      answer.headers.get('x-own'),
      answer.headers.get('content-type'),
      await answer.json(),
    ]).toEqual([418, 'a, b', 'application/json', { tea: true }])
  })

  test.each<[FaultAt<'store.request'>, string]>([
    [fault.reset(), 'ECONNRESET'],
    [fault.refused(), 'ECONNREFUSED'],
    [fault.unresolvedHost(), 'ENOTFOUND'],
    [fault.badCertificate(), 'CERT_HAS_EXPIRED'],
    [fault.outage(), 'ECONNREFUSED'],
  ])('%j breaks the connection, and the request is not processed', async (fault, code) => {
    const { command, sandbox } = world(onStore(fault))
    await expect(command('SET', 'a', '1')).rejects.toEqual(networkError(code))
    expect(sandbox.store.get('a')).toBeNull()
    expect(sandbox.traffic.ofType('request')[0]!.response).toMatchObject({ status: 0 })
  })

  test('latency() waits for a fixed duration', async () => {
    const { command, sandbox, faults } = world(onStore(fault.latency('300ms')))
    expect(await outcome(sandbox, command('INCR', 'a'))).toEqual([300, 200, '{"result":1}', 300])
    expect(faults()).toEqual(['latency: takes 300ms more'])
  })

  test('latency() waits for a random duration that the seed determines', async () => {
    const times = async (): Promise<number[]> => {
      const { command, sandbox } = world(
        onStore(fault.latency({ min: 100, max: 200 })),
        onStore(fault.latency(1000, 50)),
      )
      const waits: number[] = []
      for (let count = 0; count < 20; count++) {
        const before = sandbox.clock.now()
        await outcome(sandbox, command('INCR', 'a'))
        waits.push(sandbox.clock.now() - before)
      }
      return waits
    }
    const waits = await times()
    expect(await times()).toEqual(waits)
    expect(new Set(waits).size).toBeGreaterThan(5)
    for (const wait of waits) expect(wait >= 1050 && wait <= 1250).toBe(true)
  })

  test('hang() lasts for a duration, or until a client would give up', async () => {
    const a = world(onStore(fault.hang('10s')))
    expect(await outcome(a.sandbox, a.command('SET', 'a', '1'))).toEqual([10_000, networkError('ECONNRESET')])
    const b = world(onStore(fault.hang()))
    expect(await outcome(b.sandbox, b.command('SET', 'a', '1'))).toEqual([300_000, networkError('ETIMEDOUT')])
    expect([a.sandbox.store.get('a'), b.sandbox.store.get('a')]).toEqual([null, null])
    expect(b.faults()).toEqual([expect.stringMatching(/^hang: no response.*\b5m\b/)])
  })

  test('a client that aborts ends the wait', async () => {
    const { sandbox } = world(onStore(fault.hang()))
    const client = new AbortController()
    sandbox.clock.schedule(start + 2000, 'client gives up', () => client.abort())
    const asked = sandbox.fetch(`${sandbox.urls.store}/ping`, { signal: client.signal })
    const refusal = expect(asked).rejects.toMatchObject({ name: 'AbortError' })
    await sandbox.clock.drain()
    await refusal
    expect(sandbox.clock.now() - start).toBe(2000)
  })

  test('a request in transit is processed although its client has aborted', async () => {
    const { sandbox } = world(onStore(fault.latency('5s')))
    const client = new AbortController()
    sandbox.clock.schedule(start + 2000, 'client gives up', () => client.abort())
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    const asked = sandbox.fetch(`${sandbox.urls.store}/incr/a`, { headers, signal: client.signal })
    const refusal = expect(asked).rejects.toMatchObject({ name: 'AbortError' })
    await sandbox.clock.advance('3s')
    await refusal
    expect(sandbox.store.get('a')).toBeNull()
    await sandbox.clock.advance('2s')
    expect(sandbox.store.get('a')).toBe('1')
  })

  test('revokedToken() responds with the error of each service', async () => {
    const { command, publish, usage } = world({
      on: ['store.request', 'queue.request', 'stats.request'],
      fault: fault.revokedToken(),
    })
    const answers = await Promise.all([command('PING'), publish(), usage()])
    const plain = createSandbox()
    const without = await Promise.all([
      plain.fetch(`${plain.urls.store}/ping`),
      plain.fetch(`${plain.urls.queue}/v2/publish/https://shop.test/`, { method: 'POST' }),
      plain.fetch(`${plain.urls.mgmt}/v2/queue/stats/u`),
    ])
    expect(answers.map(({ status: code }) => code)).toEqual([401, 401, 401])
    for (const [index, answer] of answers.entries()) expect(await answer.text()).toBe(await without[index]!.text())
  })

  test('quotaExceeded() responds with the error of each service', async () => {
    const { command, publish } = world({ on: ['store.request', 'queue.request'], fault: fault.quotaExceeded() })
    const [store, queue] = await Promise.all([command('PING'), publish()])
    expect([store.status, (await store.json()).error]).toEqual([
      400,
      expect.stringMatching(/^ERR max requests limit exceeded\. Limit: 500000, Usage: 500000\./),
    ])
    expect([queue.status, (await queue.json()).error]).toEqual([
      412,
      expect.stringMatching(/^quota \w+ exceeded, current limit: \d+$/),
    ])
  })

  test.each<[Parameters<typeof fault.rateLimited>[0], Record<string, string>]>([
    [
      { limit: 'daily' },
      { 'ratelimit-limit': '1', 'ratelimit-remaining': '0', 'ratelimit-reset': String(start / 1000 + 86_400) },
    ],
    [
      { limit: 'burst', retryAfter: '2s' },
      { 'burst-ratelimit-remaining': '0', 'burst-ratelimit-reset': String(start / 1000 + 2), 'retry-after': '2' },
    ],
    [
      { limit: 'chat', retryAfter: '90s', form: 'date' },
      {
        'x-ratelimit-reset-tokens': '90s',
        'x-ratelimit-remaining-requests': '0',
        'retry-after': 'Tue, 01 Jan 2030 00:01:30 GMT',
      },
    ],
  ])(
    'rateLimited(%j) responds 429 with the headers by which clients distinguish the limits',
    async (options, headers) => {
      const { publish } = world({ on: 'queue.request', fault: fault.rateLimited(options) })
      const answer = await publish()
      expect(answer.status).toBe(429)
      expect(Object.fromEntries(answer.headers)).toMatchObject(headers)
    },
  )

  test('an outage of one region does not affect the other', async () => {
    const { sandbox } = world({ on: 'queue.request', fault: fault.outage({ region: 'us-east-1', status: 502 }) })
    const ask = async (base: string): Promise<number> =>
      (await sandbox.fetch(`${base}/v2/keys`, { headers: { authorization: `Bearer ${sandbox.tokens.queue}` } })).status
    const { regions } = sandbox.urls
    expect([await ask(regions['us-east-1']), await ask(regions['eu-central-1'])]).toEqual([502, 200])
  })
})

describe('faults after the request is processed', () => {
  test.each<[string, FaultRule]>([
    ['lost-ack', onStore(fault.lostAck())],
    ['reset after', onStore(fault.reset(), { phase: 'after' })],
  ])('%s: the request is processed, and its response is lost', async (_, rule) => {
    const { command, sandbox } = world(rule)
    await expect(command('INCR', 'a')).rejects.toEqual(networkError('ECONNRESET'))
    expect(sandbox.store.get('a')).toBe('1')
  })

  test('status() with phase after replaces the response', async () => {
    const { command, sandbox } = world(onStore(fault.status(502), { phase: 'after' }))
    expect((await command('INCR', 'a')).status).toBe(502)
    expect(sandbox.store.get('a')).toBe('1')
  })

  test('hang() with phase after sends no response', async () => {
    const { command, sandbox } = world(onStore(fault.hang('1s'), { phase: 'after' }))
    expect(await outcome(sandbox, command('INCR', 'a'))).toEqual([1000, networkError('ECONNRESET')])
    expect(sandbox.store.get('a')).toBe('1')
  })

  test('lateResponse() processes the request immediately and responds later', async () => {
    const { command, sandbox } = world(onStore(fault.lateResponse('20s')))
    const asked = command('INCR', 'a')
    expect(sandbox.store.get('a')).toBe('1')
    expect(await outcome(sandbox, asked)).toEqual([20_000, 200, '{"result":1}', 20_000])
  })

  test('halfOpen() sends the headers immediately, then nothing, then breaks', async () => {
    const { command, sandbox } = world(onStore(fault.halfOpen('5s')))
    expect(await outcome(sandbox, command('INCR', 'a'))).toEqual([
      0,
      200,
      expect.objectContaining({ name: 'TypeError', message: 'terminated' }),
      5000,
    ])
    expect(sandbox.store.get('a')).toBe('1')
  })

  test('truncate() breaks the body after this many bytes', async () => {
    const { command, sandbox, faults } = world(onStore(fault.truncate(8)))
    const answer = await command('INCR', 'a')
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '12'])
    const reader = answer.body!.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('{"result')
    await expect(reader.read()).rejects.toThrow('terminated')
    expect(sandbox.store.get('a')).toBe('1')
    expect(faults()).toEqual([expect.stringMatching(/^truncate: .*work is done.*after 8 bytes$/)])
  })

  test('truncate() beyond the end of the body changes nothing, and the log notes it', async () => {
    const { command, faults } = world(onStore(fault.truncate(12)))
    expect(await (await command('INCR', 'a')).text()).toBe('{"result":1}')
    expect(faults()).toEqual([expect.stringMatching(/^truncate: .*\b12 bytes.*nothing/)])
  })

  test('corruptJson() sends the whole body with an invalid last character', async () => {
    const { command } = world(onStore(fault.corruptJson()))
    const answer = await command('INCR', 'a')
    expect(answer.status).toBe(200)
    await expect(answer.json()).rejects.toThrow(SyntaxError)
  })

  test('slowBody() breaks a body that would be silent for longer than clients wait', async () => {
    const { command, sandbox } = world(onStore(fault.slowBody(1e-9)))
    const answer = command('incr', 'a').then((found) => found.text())
    const broken = expect(answer).rejects.toThrow('terminated')
    await sandbox.clock.drain()
    await broken
    expect(sandbox.clock.now() - start).toBe(300_000)
  })

  test('slowBody() sends the headers immediately, and the body at this many bytes per second', async () => {
    const { command, sandbox } = world(onStore(fault.slowBody(10)))
    expect(await outcome(sandbox, command('INCR', 'a'))).toEqual([0, 200, '{"result":1}', 1200])
  })

  test('wrongContentType() replaces the content type', async () => {
    const { command } = world(onStore(fault.wrongContentType('text/html')))
    const answer = await command('INCR', 'a')
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual(['text/html', '{"result":1}'])
  })

  test('duplicate() processes the request twice, and the client gets the first response', async () => {
    const { command, sandbox } = world(onStore(fault.duplicate({ copies: 2, after: '1s' })))
    expect(await outcome(sandbox, command('INCR', 'a'))).toEqual([2000, 200, '{"result":1}', 2000])
    expect(sandbox.store.get('a')).toBe('3')
  })

  test('duplicate({ concurrent: true }) processes the requests without waiting for the first', async () => {
    const { command, sandbox } = world(
      onStore(fault.duplicate({ copies: 2, after: '1s', concurrent: true })),
      onStore(fault.latency('3s')),
    )
    expect(await outcome(sandbox, command('INCR', 'a'))).toEqual([3000, 200, '{"result":1}', 3000])
    expect(sandbox.store.get('a')).toBe('3')
  })

  test('restart() breaks the connection and refuses connections for a while', async () => {
    const { command, sandbox } = world(onStore(fault.restart('10s'), { times: 1 }))
    await expect(command('INCR', 'a')).rejects.toEqual(networkError('ECONNRESET'))
    expect(sandbox.store.get('a')).toBe('1')
    await sandbox.clock.advance(9_999)
    await expect(command('INCR', 'a')).rejects.toEqual(networkError('ECONNREFUSED'))
    await sandbox.clock.advance(1)
    expect(await (await command('INCR', 'a')).text()).toBe('{"result":2}')
  })
})

describe('several rules', () => {
  test('that change a response are applied around later rules, in the order of their addition', async () => {
    const { command, sandbox, faults } = world(
      onStore(fault.latency(100)),
      onStore(fault.wrongContentType('text/plain')),
      onStore(fault.latency(50), { phase: 'after' }),
      onStore(fault.status(503)),
    )
    expect(await outcome(sandbox, command('INCR', 'a'))).toEqual([150, 503, '{"error":"service unavailable"}', 150])
    expect(faults().map((text) => text.split(':')[0])).toEqual(['latency', 'wrong-content-type', 'latency', 'status'])
  })

  test('end with the first one that determines the response; later ones do not count a match', async () => {
    const { command, sandbox } = world(
      onStore(fault.pass(), { times: 1 }),
      onStore(fault.status(500), { times: 1 }),
      onStore(fault.status(501)),
    )
    expect([(await command('PING')).status, (await command('PING')).status, (await command('PING')).status]).toEqual([
      200, 500, 501,
    ])
    expect(sandbox.faults.rules.map(({ matched, injected: struck }) => [matched, struck])).toEqual([
      [3, 1],
      [2, 1],
      [1, 1],
    ])
  })
})

describe('conditions of a rule', () => {
  const storeRows: readonly (readonly [string, FaultMatch, boolean])[] = [
    ['the api', { service: 'store' }, true],
    ['another api', { service: 'queue' }, false],
    ['the command, any case', { command: 'set' }, true],
    ['another command', { command: 'GET' }, false],
    ['a key', { key: 'user:1' }, true],
    ['a pattern of keys', { key: 'user:[0-9]' }, true],
    ['another key', { key: 'user:2' }, false],
    ['the endpoint', { path: '/' }, true],
    ['another endpoint', { path: '/pipe*' }, false],
    ['the method', { method: 'post' }, true],
    ['the url', { url: 'https://store.test/' }, true],
    ['a pattern of urls', { url: 'https://*.test/*' }, true],
    ['a header', { headers: { Authorization: 'Bearer *' } }, true],
    ['another header', { headers: { authorization: 'Basic *' } }, false],
    ['everything at once', { service: 'store', command: 'SET', key: 'user:*', method: 'POST' }, true],
    ['all but one', { service: 'store', command: 'SET', key: 'order:*' }, false],
  ]

  test.each(storeRows)('select a store.request by %s, or not', async (_, match, strikes) => {
    const { command } = world(onStore(fault.status(503), { match }))
    expect((await command('SET', 'user:1', 'Ada')).status).toBe(strikes ? 503 : 200)
  })

  test.each(storeRows.filter(([, match]) => match.url === undefined))(
    'select a store.command by %s, or not',
    async (_, match, strikes) => {
      const { command } = world({ on: 'store.command', match, fault: fault.errorReply('ERR chosen') })
      expect((await command('SET', 'user:1', 'Ada')).status).toBe(strikes ? 400 : 200)
    },
  )

  test('select one command of a pipeline', async () => {
    const { sandbox } = world(onStore(fault.status(503), { match: { command: 'INCR', key: 'b' } }))
    const send = async (rows: string[][]): Promise<number> =>
      (
        await sandbox.fetch(`${sandbox.urls.store}/pipeline`, {
          method: 'POST',
          body: JSON.stringify(rows),
          headers: { authorization: `Bearer ${sandbox.tokens.store}` },
        })
      ).status
    expect(
      await send([
        ['GET', 'a'],
        ['INCR', 'b'],
      ]),
    ).toBe(503)
    expect(
      await send([
        ['GET', 'a'],
        ['INCR', 'c'],
      ]),
    ).toBe(200)
  })

  test.each<[string, FaultRule['match'], boolean]>([
    ['the destination', { url: 'https://shop.test/orders' }, true],
    ['the destination as a pattern', { url: 'https://shop.test/*' }, true],
    ['another destination', { url: 'https://other.test/*' }, false],
    ['the endpoint', { path: '/v2/publish/*' }, true],
    ['a label', { label: 'b' }, true],
    ['another label', { label: 'c' }, false],
    ['a flow-control key', { flowControlKey: 'k' }, true],
    ['the region', { region: 'eu-central-1' }, true],
    ['another region', { region: 'us-east-1' }, false],
  ])('select a queue.request by %s, or not', async (_, match, strikes) => {
    const { publish } = world({ on: 'queue.request', match: match!, fault: fault.status(503) })
    const headers = {
      'Service-Label': 'a,b',
      'Service-Flow-Control-Key': 'k',
      'Service-Flow-Control-Value': 'parallelism=1',
    }
    expect((await publish(undefined, headers)).status).toBe(strikes ? 503 : 200)
  })

  test('select by tenant: the name of the sandbox', async () => {
    for (const [name, code] of [
      ['a', 503],
      ['b', 200],
    ] as const) {
      const sandbox = createSandbox({ name })
      sandbox.faults.add({ on: 'store.request', match: { tenant: 'a' }, fault: fault.status(503) })
      const { status: given } = await sandbox.fetch(`${sandbox.urls.store}/ping`, {
        headers: { authorization: `Bearer ${sandbox.tokens.store}` },
      })
      expect(given).toBe(code)
    }
  })
})

test('a handler that sends a request to a slow store within its own delivery continues', async () => {
  const { sandbox } = world(onStore(fault.latency('2s')))
  const at: number[] = []
  sandbox.destinations.on('https://shop.test/*', async () => {
    const answer = await sandbox.fetch(`${sandbox.urls.store}/incr/a`, {
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    })
    at.push(sandbox.clock.now() - start)
    return new Response(await answer.text())
  })
  sandbox.queue.publish({ to: 'https://shop.test/orders', retries: 0 })
  await sandbox.clock.drain()
  expect(at).toEqual([2000])
  expect(sandbox.traffic.ofType('attempt')[0]!.outcome).toMatchObject({ status: 200, at: start + 2000 })
})

test('a handler that waits for a slow body runs into the timeout of its delivery', async () => {
  const { sandbox } = world(onStore(fault.slowBody(1)))
  sandbox.destinations.on('https://shop.test/*', async () => {
    const answer = await sandbox.fetch(`${sandbox.urls.store}/incr/a`, {
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    })
    return new Response(await answer.text())
  })
  sandbox.queue.publish({ to: 'https://shop.test/orders', retries: 0, timeout: '5s' })
  await sandbox.clock.drain()
  expect(sandbox.traffic.ofType('attempt')[0]!.outcome).toMatchObject({
    status: 0,
    error: 'context deadline exceeded',
    at: start + 5000,
  })
  expect(sandbox.traffic.ofType('attempt')[0]!.outcome!.note).toMatch(/200 7 s after.*timeout/)
})
