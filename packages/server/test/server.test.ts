import { request as nodeRequest } from 'node:http'
import { networkInterfaces } from 'node:os'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ServerOptions, type StuntdoubleServer, startServer } from '../src/server.js'

let server: StuntdoubleServer
const reported: string[] = []

const start = async (options: ServerOptions = {}): Promise<void> => {
  server = await startServer({ port: 0, clock: 'manual', onError: (text) => reported.push(text), ...options })
}
beforeEach(() => {
  reported.length = 0
})
afterEach(async () => {
  await server.close()
  expect(reported).toEqual([])
})

const store = (tenant: string, ...words: string[]): Promise<unknown> =>
  fetch(server.tenant(tenant).urls.store, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.tenant(tenant).tokens.store}` },
    body: JSON.stringify(words),
  }).then((answer) => answer.json())

const control = async (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') => {
  const answer = await fetch(`${server.origin}/_control${path}`, {
    method,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

/** Sends a request with headers that fetch does not allow. */
const rudely = (
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const request = nodeRequest(server.origin + path, { method, headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.on('error', reject)
    request.end()
  })

describe('tenants', () => {
  test('are created on first use, and are isolated from each other', async () => {
    await start()
    await fetch(`${server.origin}/w1/store/set/k/one?_token=${server.tenant('w1').tokens.store}`)
    expect(await store('w1', 'GET', 'k')).toEqual({ result: 'one' })
    expect(await store('w2', 'GET', 'k')).toEqual({ result: null })
    expect(server.tenants).toEqual(['w1', 'w2'])
  })

  test('have their own clocks', async () => {
    await start({ startAt: '2030-01-01T00:00:00Z' })
    await store('w1', 'SET', 'k', 'v', 'EX', '60')
    await store('w2', 'SET', 'k', 'v', 'EX', '60')
    await control('/w1/clock/advance', { by: '1m' })
    expect([await store('w1', 'EXISTS', 'k'), await store('w2', 'EXISTS', 'k')]).toEqual([{ result: 0 }, { result: 1 }])
  })

  test('have the URLs that the server returns', async () => {
    await start()
    const { urls } = server.tenant('main')
    expect(urls).toMatchObject({
      store: `${server.origin}/main/store`,
      queue: `${server.origin}/main/queue`,
      mgmt: `${server.origin}/main/mgmt`,
    })
    expect(server.origin).toBe(`http://127.0.0.1:${server.port}`)
  })

  test('respond at localhost, too', async () => {
    await start()
    const { store: token } = server.tenant('main').tokens
    const answer = await fetch(`http://localhost:${server.port}/main/store/ping?_token=${token}`).catch(
      // Nothing listens if localhost means the IPv6 address.
      () => undefined,
    )
    if (answer) expect(await answer.json()).toEqual({ result: 'PONG' })
    expect((await rudely(`/main/store/ping?_token=${token}`, { host: `localhost:${server.port}` })).text).toBe(
      '{"result":"PONG"}',
    )
  })

  test.each([
    '/',
    '/main',
    '/main/',
    '/main/stores/get/a',
    '/_main/store/ping',
    '/a%20b/store/ping',
    '/main/queue-mars/v2/keys',
  ])('%s is not found', async (path) => {
    await start()
    const answer = await fetch(server.origin + path)
    expect(answer.status).toBe(404)
    expect(((await answer.json()) as { error: string }).error).toContain('Not found: ')
    expect(server.tenants).toEqual([])
  })

  test('reject an invalid name in the program, too', async () => {
    await start()
    expect(() => server.tenant('a/b')).toThrow('tenant "a/b": a name must consist')
  })
})

describe('the control API', () => {
  beforeEach(() => start({ startAt: '2030-01-01T00:00:00Z' }))

  test('advances by a duration or by milliseconds', async () => {
    expect(await control('/main/clock/advance', { by: '1d1h30m' })).toEqual({
      status: 200,
      body: { now: '2030-01-02T01:30:00.000Z', milliseconds: Date.parse('2030-01-02T01:30:00Z'), mode: 'manual' },
    })
    expect((await control('/main/clock/advance', { by: 500 })).body.now).toBe('2030-01-02T01:30:00.500Z')
  })

  test('advances to an instant', async () => {
    expect((await control('/main/clock/advance-to', { at: '2030-06-01T00:00:00Z' })).body.now).toBe(
      '2030-06-01T00:00:00.000Z',
    )
    const back = await control('/main/clock/advance-to', { at: '2030-01-01T00:00:00Z' })
    expect(back.status).toBe(400)
    expect(back.body.error).toMatch(/instant.*in the past/)
  })

  test('drains', async () => {
    const { clock } = server.tenant('main')
    const log: string[] = []
    clock.schedule(clock.now() + 3_600_000, 'in an hour', () => void log.push('fired'))
    expect((await control('/main')).body.pending).toEqual([
      { at: '2030-01-01T01:00:00.000Z', label: 'in an hour', background: false },
    ])
    expect((await control('/main/clock/drain', {})).body.now).toBe('2030-01-01T01:00:00.000Z')
    expect(log).toEqual(['fired'])
  })

  test('returns 409 for a clock that would not stop', async () => {
    const { clock } = server.tenant('main')
    const again = (): void => {
      clock.schedule(clock.now() + 1, 'spin', again)
    }
    again()
    const answer = await control('/main/clock/drain', { maxTimers: 100 })
    expect(answer.status).toBe(409)
    expect(answer.body.error).toContain('Most often: "spin"')
  })

  test('resets', async () => {
    await store('main', 'SET', 'k', 'v')
    await control('/main/clock/advance', { by: '1h' })
    expect((await control('/main/reset', {})).body.now).toBe('2030-01-01T00:00:00.000Z')
    expect(await store('main', 'GET', 'k')).toEqual({ result: null })
    expect(server.tenant('main').traffic.ofType('command')).toHaveLength(1)
  })

  test('returns URLs and environment', async () => {
    const { body } = await control('/main')
    expect(body.urls).toEqual(server.tenant('main').urls)
    expect(body.env).toEqual(server.tenant('main').env)
    expect(body.tokens).toEqual(server.tenant('main').tokens)
    expect((await control('')).body).toEqual({ tenants: ['main'] })
  })

  test('returns the traffic, filtered by type and position', async () => {
    await store('main', 'SET', 'k', 'grüße')
    await store('main', 'GET', 'k')
    const { body: all } = (await control('/main/traffic')) as unknown as { body: { seq: number; type: string }[] }
    expect(all.map(({ type }) => type)).toEqual(expect.arrayContaining(['request', 'command']))
    const { body: commands } = await control('/main/traffic?type=command')
    expect(commands).toMatchObject([
      { type: 'command', argv: ['SET', 'k', 'grüße'], reply: { status: 'OK' } },
      { type: 'command', argv: ['GET', 'k'], reply: 'grüße' },
    ])
    const [{ seq }] = commands as unknown as [{ seq: number }]
    expect((await control(`/main/traffic?type=command&after=${seq}`)).body).toMatchObject([{ argv: ['GET', 'k'] }])
    expect((await control('/main/traffic?type=request,command')).body).toHaveLength(
      all.filter(({ type }) => type !== 'keyspace').length,
    )
  })

  test('returns bytes that are not text in base64', async () => {
    const { urls, tokens } = server.tenant('main')
    await fetch(`${urls.store}/set/k`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.store}` },
      body: new Uint8Array([0xff, 0x00]),
    })
    expect((await control('/main/traffic?type=command')).body).toMatchObject([
      { argv: ['set', 'k', { base64: '/wA=' }] },
    ])
  })

  test.each([
    ['/main/clock/advance', {}, 'by: '],
    ['/main/clock/advance', { by: 'soon' }, 'by: must be a duration. Send {"by":"5m"}.'],
    ['/main/clock/advance', { by: -1 }, 'by: '],
    ['/main/clock/advance', { by: '5m', to: 1 }, 'to: '],
    ['/main/clock/advance', 'not json', 'The body of a control request must be a JSON object.'],
    ['/main/clock/advance', '[]', 'The body of a control request must be a JSON object.'],
    ['/main/clock/advance-to', { at: 'tomorrow' }, 'at: must be a time.'],
    ['/main/clock/drain', { maxTimers: 0 }, 'maxTimers: '],
    ['/main/reset', { hard: true }, 'hard: '],
    ['/a%2Fb/reset', {}, 'tenant "a/b": a name must consist'],
  ])('rejects a wrong body with the next step: %s %j', async (path, body, sentence) => {
    const answer = await control(path, body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(sentence)])
  })

  test('rejects a wrong type, path or method', async () => {
    const type = await control('/main/traffic?type=attempts')
    expect([type.status, type.body.error]).toEqual([400, expect.stringContaining('Use request, command')])
    const path = await control('/main/clock/rewind', {})
    expect([path.status, path.body.error]).toEqual([404, expect.stringContaining('POST /clock/advance')])
    const method = await control('/main/clock/advance', undefined, 'GET')
    expect([method.status, method.body.error]).toEqual([405, '/clock/advance takes POST (got GET).'])
    const parameter = await control('/main/traffic/timeline?limt=3')
    expect([parameter.status, parameter.body.error]).toEqual([
      400,
      expect.stringMatching(/^GET \/traffic\/timeline: .*"limt".*"limit".* limit, after, around, ids\.$/),
    ])
    const none = await control('/main/reset?hard=true', {})
    expect([none.status, none.body.error]).toEqual([
      400,
      expect.stringMatching(/^POST \/reset: .*"hard".*no parameters/),
    ])
  })
})

/** Names that a neighbor, a resolver of the network or a name server can resolve, and addresses of other machines. */
const answeredByOthers = [
  'evil.example',
  'evil.local',
  'printer',
  'evil.internal',
  'evil.test',
  'stuntdouble',
  'localhost.evil.example',
  'localhost.evil.example.',
  'localhost..',
  'notlocalhost',
  'evil.lan',
  '192.168.1.2',
  '10.0.0.1',
  '169.254.1.1',
  '100.64.0.1',
  '0.0.0.0',
  '203.0.113.5',
  '[fe80::1]',
  '[fd00::1]',
  '[::ffff:192.168.1.2]',
]

describe('host names of a server', () => {
  const paths = ['/_control/main', '/_health', '/', '/_inspector', '/main/queue/v2/keys', '/main/mgmt/v2/queue/stats/1']

  test.each(answeredByOthers)('do not include %s, neither as Host nor as Origin', async (name) => {
    await start()
    for (const path of paths) {
      const headers = { accept: 'text/html', host: `${name}:${server.port}` }
      expect([path, (await rudely(path, headers)).status]).toEqual([path, 403])
      const origin = `http://${name}`
      expect([path, (await rudely(path, { host: `127.0.0.1:${server.port}`, origin })).status]).toEqual([path, 403])
    }
    expect(server.tenants).toEqual([])
  })

  // A name with a dot at its end is the same name. [Secure Contexts, 3.1]
  test.each([
    'localhost',
    'localhost.',
    'LOCALHOST',
    'app.localhost',
    'app.localhost.',
    '127.0.0.1',
    '127.0.0.2',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ])('include %s', async (name) => {
    await start()
    for (const path of paths) {
      const headers = { accept: 'text/html', host: `${name}:${server.port}` }
      expect([path, (await rudely(path, headers)).status]).not.toEqual([path, 403])
    }
  })

  test('can be listed by the user, and the error message explains how', async () => {
    await start()
    const refused = await rudely('/main/queue/v2/keys', { host: 'stuntdouble:4010' })
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringMatching(/--allow-host stuntdouble .*allowHosts/),
    ])
    await server.close()
    await start({ allowHosts: ['StuntDouble', '192.168.1.2', 'fd00::1', 'app.shop.test'] })
    for (const host of ['stuntdouble:4010', '192.168.1.2', '[fd00::1]:4010'])
      expect((await rudely('/_control/main', { host })).status).toBe(200)
    const path = '/main/queue/v2/keys'
    const headers = { host: 'stuntdouble:4010', origin: 'http://app.shop.test:3000' }
    expect((await rudely(path, headers)).status).not.toBe(403)
    expect((await rudely('/_control/main', headers)).status).toBe(403)
    for (const host of ['stuntdouble.evil.example', 'a.stuntdouble', 'shop.test'])
      expect((await rudely('/_control/main', { host })).status).toBe(403)
  })

  test.each(['', 'stuntdouble:4010', 'http://stuntdouble', 'a b', '*', '*.test', 'a/b', 'user@host'])(
    'cannot include %j',
    async (name) => {
      await start()
      await expect(startServer({ port: 0, allowHosts: [name] })).rejects.toThrow(/--allow-host/)
    },
  )

  test('include the address that a request has reached, on a non-loopback address', async () => {
    const mine = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address
    if (mine === undefined) return
    await start({ host: '0.0.0.0', secret: 'a secret of this test, long enough' })
    const url = (host: string): string => `http://${host}:${server.port}/_health`
    expect((await fetch(url(mine))).status).toBe(200)
    // The same name is rejected for a request that arrived at another address.
    expect((await rudely('/_health', { host: mine })).status).toBe(403)
    expect((await rudely('/_health', { host: 'evil.local' })).status).toBe(403)
  })
})

describe('pages', () => {
  beforeEach(() => start())
  const own = (): string => `127.0.0.1:${server.port}`

  test.each([
    ['a name that was rebound to this machine', { host: 'evil.example:4010' }],
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a page of another server of this machine', { origin: 'http://localhost:3000' }],
    ['a sandboxed page', { origin: 'null' }],
  ])('cannot reach the control API: %s', async (_, headers) => {
    const answer = await rudely('/_control/main/reset', { host: own(), ...headers }, 'POST')
    expect(answer.status).toBe(403)
    expect(JSON.parse(answer.text)).toEqual({ error: expect.stringMatching(/^(?:Host|A page of) .*\.$/) })
    expect(server.tenants).toEqual([])
  })

  test.each(['/_control/store/reset', '/_control/store', '/_control?/store', '/_control/main/store'])(
    'cannot reach it by a path that looks like the store: %s',
    async (path) => {
      expect((await rudely(path, { host: own(), origin: 'https://evil.example' }, 'POST')).status).toBe(403)
      expect((await rudely(path, { host: 'evil.example' })).status).toBe(403)
    },
  )

  test('cannot reach it by another name or an invalid escape', async () => {
    expect((await rudely('/_controller/main', { host: own() })).status).toBe(404)
    expect((await rudely('/_control/%zz', { host: own() })).status).toBe(400)
  })

  test('can reach it from the pages of the server itself', async () => {
    expect((await rudely('/_control/main', { host: own(), origin: `http://${own()}` })).status).toBe(200)
  })

  test.each(['/main/queue/v2/keys', '/main/queue-us-east-1/v2/keys', '/main/mgmt/v2/queue/stats/1'])(
    'of other sites cannot make the queue send requests: %s',
    async (path) => {
      expect((await rudely(path, { host: own(), origin: 'https://evil.example' })).status).toBe(403)
      expect((await rudely(path, { host: 'evil.example' })).status).toBe(403)
      // An address cannot be rebound, but any machine may serve a page from one.
      for (const origin of ['http://203.0.113.5', 'http://172.32.0.1', 'http://[2001:db8::1]:80']) {
        expect((await rudely(path, { host: own(), origin })).status).toBe(403)
      }
      for (const origin of ['http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000']) {
        expect((await rudely(path, { host: own(), origin })).status).not.toBe(403)
      }
    },
  )

  test('of any site can call the store, as with the service', async () => {
    // The tenant exists: a page of another site cannot create one.
    server.tenant('main')
    const answer = await rudely('/main/store/ping', { host: own(), origin: 'https://app.example' })
    expect(answer.status).toBe(401)
  })

  test('a whole URL as request target does not bypass the checks', async () => {
    expect((await rudely('/_control/main', { host: 'evil.example' })).status).toBe(403)
    const target = await new Promise<number>((resolve, reject) => {
      const { port } = server
      const request = nodeRequest(
        { host: '127.0.0.1', port, path: 'http://x/_control/main', headers: { origin: 'http://localhost:1' } },
        (response) => resolve(response.resume().statusCode ?? 0),
      )
      request.on('error', reject).end()
    })
    expect(target).toBe(403)
  })
})

test('close() ends open event streams and disposes the sandboxes', async () => {
  await start()
  const sandbox = server.tenant('main')
  await store('main', 'PING')
  await server.close()
  await expect(sandbox.clock.advance(1)).rejects.toThrow('disposed')
  await expect(fetch(`${server.origin}/main/store/ping`)).rejects.toThrow('fetch failed')
})
