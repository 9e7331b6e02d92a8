import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, request as nodeRequest } from 'node:http'
import { type AddressInfo, connect as dial } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { connect } from '../../../src/client/connect.js'
import { defaultPolicy } from '../../../src/policy/policy.js'
import { neutralDialect } from '../../../src/protocol/dialect.js'
import { queueEndpoints } from '../../../src/queue/rest/queue-endpoints.js'
import { devUsers } from '../../../src/queue/signing/public-users.js'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'
import { statsService } from '../../../src/stats/rest/stats-endpoints.js'
import { storeService } from '../../../src/store/rest/store-endpoints.js'
import { runs } from '../../../test/support/effort.js'
import { addressOf, isLoopbackAddress } from '../src/listen-addresses.js'
import { type ServerOptions, type StuntdoubleServer, startServer } from '../src/server.js'
import { maxHead, maxHeaders } from '../src/server-limits.js'

const secret = 'a secret of the server, 32 bytes'
const running: StuntdoubleServer[] = []
const agent = new Agent({ keepAlive: true })

const start = async (options: ServerOptions = {}): Promise<StuntdoubleServer> => {
  const server = await startServer({ port: 0, clock: 'manual', host: '0.0.0.0', dialect: 'upstash', ...options })
  running.push(server)
  return server
}
afterEach(async () => {
  agent.destroy()
  for (const server of running.splice(0)) await server.close()
})

/** Returns the URL by which another machine reaches the server: a non-loopback address, if this machine has one. */
const outside = ({ port }: StuntdoubleServer): string => {
  const addresses = Object.values(networkInterfaces()).flat()
  const own = addresses.find((one) => one?.family === 'IPv4' && !one.internal)?.address
  return `http://${own ?? '127.0.0.1'}:${port}`
}

interface Asked {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

interface Told {
  readonly status: number
  readonly body: string
}

const ask = (url: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Told> =>
  new Promise((resolve, reject) => {
    const request = nodeRequest(url, { method, headers, agent }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
    })
    request.on('error', reject)
    request.end(body)
  })

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
const basic = (user: string, key: string): Record<string, string> => ({
  authorization: `Basic ${btoa(`${user}:${key}`)}`,
})

// ---- targets and credentials of attacks
// ------------------------------------------------------------------------------

interface Door {
  readonly service: 'store' | 'queue' | 'mgmt'
  readonly method: string
  readonly path: string
  readonly auth: string
}

const tables = {
  store: storeService({ store: { options: { policy: defaultPolicy } } } as never, {} as never).endpoints,
  queue: queueEndpoints,
  mgmt: statsService({} as never, { user: '', key: '' }).endpoints,
} as const

/** Every endpoint of every service, with values for its parameters. */
const doors: readonly Door[] = (Object.keys(tables) as Door['service'][]).flatMap((service) =>
  tables[service].flatMap(({ method, path, auth }) =>
    [method].flat().map((one) => {
      const filled = path.replace(/\/\*\*.*$/, '/https://shop.test/a').replace(/:\w+/g, 'x')
      return { service, method: one, path: filled, auth }
    }),
  ),
)

const plain = createSandbox()
const { tokens: defaults } = plain

const queueToken = neutralDialect.queueTokenQuery

/** Credentials that an unauthorized client can know, in every form that a service takes. */
const strangers: readonly (readonly [string, Record<string, string>, string])[] = [
  ['nothing', {}, ''],
  ['an empty token', bearer(''), `?_token=&${queueToken}=`],
  ['an empty user', basic('', ''), ''],
  ...[...Object.values(defaults), ...devUsers.flatMap(({ token, current, next }) => [token, current, next])].flatMap(
    (known) => [
      [`Bearer ${known}`, bearer(known), ''] as const,
      [`?${known}`, {}, `?_token=${encodeURIComponent(known)}&${queueToken}=${encodeURIComponent(known)}`] as const,
      [`Basic ${known}`, basic(defaults.mgmtUser, known), ''] as const,
    ],
  ),
]

/** Returns the response of the service itself to a wrong token. */
const own = async ({ service, method, path }: Door, headers: Record<string, string>, body?: string): Promise<Told> => {
  const answer = await plain.fetch(plain.urls[service] + path, {
    method,
    headers: { ...headers, ...(service === 'mgmt' ? basic('no', 'body') : bearer('nobody')) },
    ...(body !== undefined && { body }),
  })
  return { status: answer.status, body: await answer.text() }
}

describe('a client without a valid token', () => {
  test('is tested at all endpoints of the services', () => {
    expect(doors.length).toBeGreaterThan(50)
    // The complete list of endpoints that need no token. An endpoint added here must create no sandbox and change
    // nothing.
    expect(doors.filter(({ auth }) => auth === 'none').map(({ method, path }) => `${method} ${path}`)).toEqual([
      'OPTIONS /https://shop.test/a',
      'GET /',
      'GET /v2/readiness',
      'GET /v2/queue/ipv4',
      'GET /start-redis/metrics/x',
    ])
  })

  test('gets the error of the service at every endpoint, creates no tenant and leaves no entry', async () => {
    const server = await start({ dialect: 'neutral' })
    const { traffic } = server.tenant('main')
    const origin = outside(server)
    for (const door of doors) {
      const { service, method, path, auth } = door
      const body = method === 'POST' || method === 'PUT' ? '["SET","k","v"]' : undefined
      const expected = await own(door, {}, body)
      // No database has the ID `x`.
      const open = path.startsWith('/start-redis/') ? 404 : 200
      expect(expected.status).toBe(auth === 'none' ? open : 401)
      // All credentials at one endpoint of each service and kind, and some of them at the others.
      const tried = ['/', '/v2/publish/https://shop.test/a', '/https://shop.test/a'].includes(path)
        ? strangers
        : strangers.filter((_, at) => at % 9 === doors.indexOf(door) % 9)
      for (const [what, headers, query] of tried) {
        const places = [
          `/main/${service}`,
          `/w1/${service}`,
          ...(path.startsWith('/v2/') && service === 'queue' ? [''] : []),
        ]
        for (const place of places) {
          const answer = await ask(origin + place + path + query, {
            method,
            headers,
            ...(body !== undefined && { body }),
          })
          expect([door, place, what, answer]).toEqual([door, place, what, expected])
        }
      }
    }
    expect(server.tenants).toEqual(['main'])
    expect(traffic.size).toBe(0)
  })

  test('cannot guess a token from a similar token or name', async () => {
    const server = await start({ secret })
    const { tokens } = createSandbox({ secret, name: 'w1' })
    const origin = outside(server)
    const right = [tokens.store, tokens.storeReadonly, tokens.queue, tokens.queueReadonly]
    const near = fc
      .tuple(fc.constantFrom(...right), fc.nat(), fc.constantFrom('x', '', 'A', '=', ' x'))
      .map(([token, at, other]) => {
        const place = at % token.length
        return token.slice(0, place) + other + token.slice(place + 1)
      })
      .filter((token) => !right.includes(token))
    const name = fc.stringMatching(/^[A-Za-z0-9-][A-Za-z0-9._-]{0,20}$/).filter((one) => one !== 'v2')
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.tuple(fc.constant('w1'), near),
          fc.tuple(name, fc.constantFrom(...right)).filter(([one]) => one !== 'w1'),
        ),
        fc.constantFrom('store/get/k', 'queue/v2/keys'),
        async ([tenant, token], path) => {
          const answer = await ask(`${origin}/${tenant}/${path}`, { headers: bearer(token) })
          expect(answer.status).toBe(401)
          expect(server.tenants).toEqual([])
        },
      ),
      { numRuns: runs(300, 300, 3000) },
    )
  })

  test('gets a response before its body arrives, so that nothing waits for it', async () => {
    const server = await start()
    const { clock } = server.tenant('main')
    const { hostname, port } = new URL(outside(server))
    const socket = dial(Number(port), hostname)
    const heard = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))))
    socket.write(`POST /main/store HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: 1000\r\n\r\n["SE`)
    expect(await heard).toContain('401')
    expect(clock.running).toEqual([])
    await clock.advance('1s')
    socket.destroy()
  })

  test('learns only that the server runs', async () => {
    const server = await start()
    server.tenant('main')
    const origin = outside(server)
    expect(await ask(`${origin}/_health`)).toEqual({ status: 200, body: '{"status":"ok"}' })
    const { body } = await ask(`${origin}/_health`, { headers: bearer(server.controlToken!) })
    expect(JSON.parse(body)).toEqual({ status: 'ok', tenants: 1 })
    for (const path of [
      '',
      '/',
      '/openapi.json',
      '/main',
      '/w2',
      '/main/traffic/stream',
      '/main/state',
      '?/main/store',
    ]) {
      for (const headers of [{}, bearer(''), bearer('null'), bearer(defaults.store), bearer(defaults.queue)]) {
        expect([path, (await ask(`${origin}/_control${path}`, { headers })).status]).toEqual([path, 401])
      }
    }
    expect(server.tenants).toEqual(['main'])
  })

  test('cannot make this machine send requests', async () => {
    const asked: string[] = []
    const target = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end('private')
    })
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/admin`
    const server = await start({ clock: 'real' })
    const { urls, tokens } = server.tenant('main')
    for (const place of ['', '/main/queue', '/w1/queue']) {
      const attack = await ask(`${outside(server)}${place}/v2/publish/${url}`, {
        method: 'POST',
        headers: { ...bearer(devUsers[0].token), 'upstash-callback': url },
      })
      expect(attack.status).toBe(401)
    }
    // The same request with a valid token is sent.
    const path = urls.queue.slice(server.origin.length)
    const own = await ask(`${outside(server)}${path}/v2/publish/${url}`, {
      method: 'POST',
      headers: bearer(tokens.queue),
    })
    expect(own.status).toBe(200)
    await expect.poll(() => asked).toEqual(['/admin'])
    target.close()
  })
})

describe('a client with a token', () => {
  test('of a tenant reaches every service, and creates the tenant', async () => {
    const server = await start({ secret })
    const { tokens } = createSandbox({ secret, name: 'w1' })
    const origin = outside(server)
    const at = async (path: string, headers = {}): Promise<number> =>
      (await ask(`${origin}/w1${path}`, { headers })).status
    expect(await at('/store/ping', bearer(tokens.store))).toBe(200)
    expect(server.tenants).toEqual(['w1'])
    expect(await at(`/store/ping?_token=${tokens.storeReadonly}`)).toBe(200)
    expect(await at('/queue/v2/keys', bearer(tokens.queue))).toBe(200)
    expect(await at(`/queue-us-east-1/v2/keys?qstash_token=${encodeURIComponent(tokens.queueReadonly)}`)).toBe(200)
    expect(await at('/mgmt/v2/search/x/stats', basic(tokens.mgmtUser, tokens.mgmtKey))).not.toBe(401)
    expect(await at('/mgmt/v2/search/x/stats', basic('somebody', tokens.mgmtKey))).toBe(401)
  })

  test('of an ACL user is admitted until the user is disabled', async () => {
    const server = await start()
    const { store } = server.tenant('main')
    const token = String(store.run('ACL', 'GENTOKEN', 'alice'))
    const ping = (token: string): Promise<Told> =>
      ask(`${outside(server)}/main/store/get/k`, { headers: bearer(token) })
    expect((await ping(token)).status).toBe(401)
    store.run('ACL', 'SETUSER', 'alice', 'on', `>${token}`, '+@all', '~*')
    expect((await ping(token)).status).toBe(200)
    const { standard } = store.resetPassword()
    expect((await ping(standard)).status).toBe(200)
    store.run('ACL', 'SETUSER', 'alice', 'off')
    expect((await ping(token)).status).toBe(401)
  })

  test('of the control API gets the tokens of a tenant, also on another machine', async () => {
    const server = await start()
    const controlToken = server.controlToken!
    await using sandbox = await connect(outside(server), { tenant: 'w1', controlToken })
    const { store, queue } = sandbox.tokens
    expect(JSON.parse(atob(queue))).toMatchObject({ UserID: 'w1' })
    expect(sandbox.env).toMatchObject({ UPSTASH_REDIS_REST_TOKEN: store, QSTASH_TOKEN: queue })
    const { UPSTASH_REDIS_REST_URL: url } = sandbox.env
    expect([url, sandbox.urls.store]).toEqual(Array(2).fill(`${outside(server)}/w1/store`))
    expect(sandbox.urls.regions['us-east-1']).toBe(`${outside(server)}/w1/queue-us-east-1`)
    expect((await ask(`${url}/ping`, { headers: bearer(store) })).body).toBe('{"result":"PONG"}')
    const { standard } = await sandbox.store.resetPassword()
    expect(sandbox.tokens.store).toBe(standard)
    expect((await ask(`${outside(server)}/w1/store/ping`, { headers: bearer(store) })).status).toBe(401)
    await sandbox.reset()
    expect(sandbox.tokens.store).toBe(store)
  })

  test('is affected by faults and the tenant limit, which clients without a token do not use up', async () => {
    const server = await start({ secret, limits: { maxTenants: 1 } })
    const { faults, tokens } = server.tenant('main')
    const origin = outside(server)
    faults.add({ on: 'store.request', times: 1, fault: { kind: 'status', status: 503 } })
    expect((await ask(`${origin}/main/store/ping`)).status).toBe(401)
    expect((await ask(`${origin}/main/store/ping`, { headers: bearer(tokens.store) })).status).toBe(503)
    const w1 = createSandbox({ secret, name: 'w1' }).tokens
    expect((await ask(`${origin}/w1/store/ping`, { headers: bearer(w1.store) })).body).toContain(
      'The server has 1 tenants',
    )
    expect((await ask(`${origin}/w1/store/ping`)).status).toBe(401)
  })
})

describe('the secret of a server', () => {
  const tokensOf = async (options: ServerOptions): Promise<unknown> => {
    const server = await start(options)
    const { tokens, queue } = server.tenant('main')
    return [server.controlToken, tokens, queue.signingKeys.pair()]
  }

  test('keeps every token across a restart; without a secret all tokens are new', async () => {
    expect(await tokensOf({ secret })).toEqual(await tokensOf({ secret }))
    expect(await tokensOf({ secret })).not.toEqual(await tokensOf({ secret: `${secret}!` }))
    expect(await tokensOf({})).not.toEqual(await tokensOf({}))
  })

  test('is a property of the server, for the next start', async () => {
    const first = await start()
    expect(first.secret).toMatch(/^[\w-]{32}$/)
    const again = await start({ secret: first.secret! })
    expect(again.controlToken).toBe(first.controlToken)
    expect(again.tenant('w1').tokens).toEqual(first.tenant('w1').tokens)
  })

  test('does not override given tokens', async () => {
    const server = await start({ secret, tokens: { queue: 'mine' }, controlToken: 'control' })
    expect(server.controlToken).toBe('control')
    expect(server.tenant('main').tokens.queue).toBe('mine')
    expect((await ask(`${outside(server)}/w1/queue/v2/keys`, { headers: bearer('mine') })).status).toBe(200)
  })

  test('is also used on a loopback address, where the other defaults stay', async () => {
    const server = await start({ host: 'localhost', secret })
    expect(server.controlToken).toBeUndefined()
    expect(server.tenant('main').tokens).toEqual((await start({ secret })).tenant('main').tokens)
    expect((await start({ host: 'localhost' })).secret).toBeUndefined()
  })

  test('must have at least 16 characters', async () => {
    await expect(start({ secret: 'short' })).rejects.toThrow('at least 16 characters')
  })
})

describe('public credentials on a non-loopback address', () => {
  test.each<[string, ServerOptions]>([
    ['tokens.store', { tokens: { store: defaults.store } }],
    ['tokens.storeReadonly', { tokens: { storeReadonly: defaults.store } }],
    ['tokens.queue', { tokens: { queue: devUsers[3]!.token } }],
    ['tokens.queueReadonly', { tokens: { queueReadonly: defaults.queueReadonly } }],
    ['tokens.mgmtKey', { tokens: { mgmtKey: defaults.mgmtKey } }],
    ['signingKeys.current', { signingKeys: { current: devUsers[1]!.current } }],
    ['signingKeys.next', { signingKeys: { next: devUsers[2]!.current } }],
  ])('are rejected as %s of a server', async (name, options) => {
    await expect(start(options)).rejects.toThrow(`${name} must not be public`)
    const server = await start({ ...options, host: '127.0.0.1' })
    expect(server.tenant('main').options).toMatchObject(options)
  })

  test('are rejected in an adopted sandbox', async () => {
    const server = await start()
    using known = createSandbox({ urls: { base: `${server.origin}/w1` } })
    expect(() => server.adopt('w1', known)).toThrow('public tokens')
    expect(server.tenants).toEqual([])
    using own: Sandbox = createSandbox({ secret, name: 'shop' })
    server.adopt('w1', own)
    const ping = (token: string): Promise<Told> => ask(`${outside(server)}/w1/store/ping`, { headers: bearer(token) })
    expect((await ping(own.tokens.store)).status).toBe(200)
    expect((await ping(defaults.store)).status).toBe(401)
    expect(own.traffic.ofType('request')).toHaveLength(1)
  })

  test('are replaced in the signing keys of a scenario', async () => {
    const { current, next } = devUsers[0]
    const destinations = [{ url: 'https://shop.test/a' }]
    const scenario = { name: 'imported', destinations, given: { signingKeys: { current, next } } }
    const server = await start({ secret, scenario })
    expect(server.tenant('main').queue.signingKeys.pair()).toEqual(
      createSandbox({ secret, name: 'main' }).queue.signingKeys.pair(),
    )
    const own = { ...scenario, given: { signingKeys: { current: 'sig_a', next: 'sig_b' } } }
    expect((await start({ scenario: own })).tenant('main').queue.signingKeys.current).toBe('sig_a')
  })

  test('are replaced when a dump is loaded', async () => {
    const server = await start()
    await using sandbox = await connect(server.origin, { controlToken: server.controlToken! })
    const { tokens } = sandbox
    await sandbox.load(plain.dump())
    expect(sandbox.tokens).toEqual(tokens)
    expect(server.tenant('main').queue.signingKeys.current).not.toBe(devUsers[0].current)
    expect((await ask(`${outside(server)}/main/store/ping`, { headers: bearer(defaults.store) })).status).toBe(401)
  })
})

describe('a state file', () => {
  const place = mkdtempSync(join(tmpdir(), 'stuntdouble-wide-'))
  afterAll(() => rmSync(place, { recursive: true, force: true }))

  /** Returns the tokens of the tenant after a start with this file, and whether its data was loaded. */
  const session = async (
    options: ServerOptions,
    work: (sandbox: Sandbox) => unknown = () => {},
  ): Promise<{ tokens: Sandbox['tokens']; keys: unknown; kept: unknown }> => {
    const server = await start(options)
    const sandbox = server.tenant('w1')
    const kept = sandbox.store.get('k')
    work(sandbox)
    const { tokens } = sandbox
    const known = [defaults.store, defaults.storeReadonly, ...devUsers.map(({ token }) => token)]
    if (options.host === undefined) {
      for (const token of known) {
        for (const path of ['store/get/k', 'queue/v2/keys']) {
          expect((await ask(`${outside(server)}/w1/${path}`, { headers: bearer(token) })).status).toBe(401)
        }
      }
      expect((await ask(`${outside(server)}/w1/store/ping`, { headers: bearer(tokens.store) })).status).toBe(200)
    }
    await server.close()
    return { tokens, keys: sandbox.queue.signingKeys.pair(), kept }
  }

  test('of a server on a loopback address brings its data but not its tokens', async () => {
    const state = join(place, 'loopback.json')
    await session({ state, host: 'localhost' }, ({ store }) => store.run('SET', 'k', 'v'))
    const fresh = createSandbox({ secret, name: 'w1' })
    const { tokens, keys, kept } = await session({ state, secret })
    expect([kept, tokens, keys]).toEqual(['v', fresh.tokens, fresh.queue.signingKeys.pair()])
  })

  test('keeps changed tokens and keys as long as the secret stays', async () => {
    const state = join(place, 'wide.json')
    const before = await session({ state, secret }, ({ store, queue }) => {
      store.run('SET', 'k', 'v')
      store.resetPassword()
      queue.signingKeys.rotate()
    })
    expect(await session({ state, secret })).toEqual({ ...before, kept: 'v' })
    const after = await session({ state, secret: `${secret}, a new one` })
    expect(after.kept).toBe('v')
    expect(Object.values(after.tokens)).not.toEqual(expect.arrayContaining([before.tokens.store]))
    expect(after.keys).not.toEqual(before.keys)
  })
})

describe('the listen address', () => {
  test.each<[string, string, boolean]>([
    ['localhost', 'localhost', true],
    ['LOCALHOST', 'localhost', true],
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.2', '127.0.0.2', true],
    ['127.1', '127.0.0.1', true],
    ['::1', '::1', true],
    ['[::1]', '::1', true],
    ['::ffff:127.0.0.1', '::ffff:127.0.0.1', true],
    ['::ffff:7f00:1', '::ffff:7f00:1', true],
    ['0:0:0:0:0:0:0:1', '0:0:0:0:0:0:0:1', true],
    ['0', '0.0.0.0', false],
    ['0.0.0.0', '0.0.0.0', false],
    ['::', '::', false],
    ['[::]', '::', false],
    ['::ffff:0.0.0.0', '::ffff:0.0.0.0', false],
    ['', '', false],
    ['192.0.2.1', '192.0.2.1', false],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1', false],
    ['fe80::1%lo', 'fe80::1%lo', false],
  ])('%j resolves to %j', async (host, address, isOwn) => {
    expect(await addressOf(host)).toBe(address)
    expect(isLoopbackAddress(address)).toBe(isOwn)
  })

  test('of a host name is checked after it is resolved', async () => {
    // This name does not resolve, but its prefix looks like a loopback address.
    await expect(start({ host: '127.evil.invalid' })).rejects.toThrow(/is not an address of this machine/)
  })

  test.each(['0', '::', '[::]', ''])('%j requires tokens', async (host) => {
    const server = await start({ host })
    expect(server.controlToken).toBeDefined()
    expect(server.origin).toBe(`http://127.0.0.1:${server.port}`)
    expect((await ask(`${server.origin}/w1/store/ping`, { headers: bearer(defaults.store) })).status).toBe(401)
    expect(server.tenants).toEqual([])
  })

  test.each(['127.0.0.1', '127.0.0.2', '[::1]', '::ffff:127.0.0.1', 'localhost'])(
    '%s requires no tokens',
    async (host) => {
      const server = await start({ host }).catch((error: NodeJS.ErrnoException) => {
        // This machine has no IPv6.
        if (error.code !== 'EADDRNOTAVAIL' && error.code !== 'EAFNOSUPPORT') throw error
        return undefined
      })
      if (server === undefined) return
      expect(server.controlToken).toBeUndefined()
      expect((await ask(`${server.origin}/w1/store/ping`, { headers: bearer(defaults.store) })).status).toBe(200)
    },
  )
})

describe('the head of a request', () => {
  const short = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, 'v']))

  test('may have as many headers and bytes as the table of limits states', async () => {
    const { origin } = await start({ host: '127.0.0.1' })
    const status = async (headers: Record<string, string>) => (await ask(`${origin}/_health`, { headers })).status
    // Some headers are added by the client.
    expect(await status(short(maxHeaders - 10))).toBe(200)
    expect(await status({ long: 'x'.repeat(maxHead - 1_000) })).toBe(200)
    expect(await status({ long: 'x'.repeat(maxHead) })).toBe(431)
  })

  test.skipIf(Number.parseInt(process.versions.node, 10) < 24)('with more headers is rejected', async () => {
    const { origin } = await start({ host: '127.0.0.1' })
    const got = await ask(`${origin}/_health`, { headers: short(maxHeaders + 1) })
    expect(got.status).toBe(431)
  })
})
