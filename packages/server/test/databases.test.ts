import { Redis } from '@upstash/redis'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import 'stuntdouble/vitest/extend'
import { connect, type RemoteSandbox } from '../../../src/client/connect.js'
import * as fault from '../../../src/faults/constructors.js'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'
import { storeInternals } from '../../../src/store/store-internals.js'
import type { RequestLogEntry } from '../src/request-log.js'
import { type ServerOptions, type StuntdoubleServer, startServer } from '../src/server.js'
import { ended, kinds } from './both-sandboxes.js'
import { agentAtServer, parted } from './mcp-client.js'

async function serve(options: ServerOptions = {}): Promise<StuntdoubleServer> {
  const server = await startServer({
    port: 0,
    clock: 'manual',
    dialect: 'upstash',
    databases: ['eu', 'us'],
    ...options,
  })
  onTestFinished(() => server.close())
  return server
}

/** Sends a GET with a token. Returns the status and the body. */
async function get(url: string, token?: string, headers = {}): Promise<{ status: number; body: unknown }> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(url, { headers: { ...authorization, ...headers } })
  return { status: response.status, body: await response.json() }
}

describe.each(kinds)('a sandbox %s', (_, open) => {
  let sandbox: Sandbox | RemoteSandbox
  afterEach(() => ended(sandbox))

  const asClient = async (database: string | undefined, path: string): Promise<{ status: number; body: unknown }> => {
    const { urls, tokens } = sandbox
    const url = database === undefined ? urls.store : urls.databases[database]!
    const { store } = database === undefined ? tokens : tokens.databases[database]!
    const send = 'fetch' in sandbox ? sandbox.fetch : fetch
    const response = await send(`${url}/${path}`, { headers: { authorization: `Bearer ${store}` } })
    return { status: response.status, body: await response.json() }
  }

  test('each database has its own keys, tokens, past, cost and statistics', async () => {
    sandbox = await open({ databases: ['eu', 'us'] })
    const us = sandbox.storeIn('us')
    await asClient('us', 'set/a/1')
    await sandbox.store.run('SET', 'a', 'first')
    const before = await us.dump()
    await sandbox.clock.advance('1m')
    expect(await us.run('INCR', 'a')).toBe(2)
    expect([await us.get('a'), await sandbox.store.get('a'), await sandbox.storeIn('eu').get('a')]).toEqual([
      '2',
      'first',
      null,
    ])
    expect((await us.diff(before)).changed).toHaveLength(1)
    const past = sandbox.asOf('-30s')
    expect([await past.storeIn('us').get('a'), await past.store.get('a')]).toEqual(['1', 'first'])
    expect((await past.storeIn('us').dump()).keys).toHaveLength(1)
    expect([(await us.cost()).commands, (await sandbox.store.cost()).commands]).toEqual([1, 0])
    expect((await sandbox.stats.storeIn('us').report()).daily_net_commands).toBe(1)
    await sandbox.stats.storeIn('us').override({ total_monthly_billing: 7 })
    expect((await sandbox.stats.storeIn('us').report()).total_monthly_billing).toBe(7)
    expect((await sandbox.stats.store.report()).total_monthly_billing).not.toBe(7)
    const { store } = sandbox.tokens
    const { standard } = await us.resetPassword()
    expect([sandbox.tokens.databases.us!.store, sandbox.tokens.store]).toEqual([standard, store])
    expect(Object.values(sandbox.envFor({ database: 'us' }))).toContain(standard)
    expect(Object.values(sandbox.env)).not.toContain(standard)
    expect((await asClient('us', 'get/a')).body).toEqual({ result: '2' })
    await us.load(before)
    expect([await us.get('a'), await sandbox.store.get('a')]).toEqual(['1', 'first'])
  })

  test('snapshots, dumps, loads and forks have every database', async () => {
    sandbox = await open({ databases: ['eu', 'us'] })
    await sandbox.storeIn('us').run('SET', 'cart', 'here', 'EX', 60)
    await asClient('us', 'get/cart')
    const copy = await sandbox.snapshot()
    expect(copy.storeIn('us')).toHaveKey('cart', { ttl: '1m' })
    expect(copy.store).not.toHaveKey('cart')
    expect(copy.stores.map((one) => one.get('cart'))).toEqual([null, null, 'here'])
    expect(copy.storeIn('us').traffic.ofType('request')).toHaveLength(1)
    expect(copy.store.traffic.ofType('request')).toHaveLength(0)
    expect(() => copy.storeIn('uss')).toThrow('There is no database "uss". Did you mean "us"?')
    const dump = await sandbox.dump()
    expect(dump.version).toBe(3)
    await sandbox.storeIn('us').run('DEL', 'cart')
    const fork = await sandbox.fork({ at: '-0s' })
    expect(await fork.storeIn('us').get('cart')).toBeNull()
    await fork[Symbol.asyncDispose]()
    await sandbox.load(dump)
    expect(await sandbox.storeIn('us').run('TTL', 'cart')).toBe(60)
    await sandbox.reset()
    expect(await sandbox.storeIn('us').get('cart')).toBeNull()
  })

  test('a fault can match one database', async () => {
    sandbox = await open({ databases: ['eu', 'us'] })
    await sandbox.faults.add({ on: 'store.request', match: { database: 'us' }, fault: fault.status(503) })
    const asked = ['eu', 'us', undefined].map(async (database) => (await asClient(database, 'ping')).status)
    expect(await Promise.all(asked)).toEqual([200, 503, 200])
  })

  test('an unknown database is rejected with the nearest name', async () => {
    sandbox = await open({ databases: ['europe', 'us'] })
    const sentence = 'There is no database "eurpe". Did you mean "europe"?'
    await expect((async () => sandbox.storeIn('eurpe').get('a'))()).rejects.toThrow(sentence)
    await expect((async () => sandbox.stats.storeIn('eurpe').report())()).rejects.toThrow(sentence)
    await expect((async () => sandbox.asOf('-0s').storeIn('eurpe').get('a'))()).rejects.toThrow(sentence)
    expect(() => sandbox.envFor({ database: 'eurpe' })).toThrow(sentence)
    expect(() => sandbox.envFor({ databse: 'us' } as never)).toThrow('databse')
  })

  test('without databases, every name is unknown', async () => {
    sandbox = await open()
    for (const name of ['us', '__proto__', 'constructor', '']) {
      await expect((async () => sandbox.storeIn(name).get('a'))()).rejects.toThrow(
        `There is no database ${JSON.stringify(name)}.`,
      )
      expect(() => sandbox.envFor({ database: name })).toThrow(RangeError)
    }
  })
})

test('two store SDKs use two databases of a server', async () => {
  const server = await serve()
  const sandbox = await connect(server.origin)
  const [first, us] = [sandbox.env, sandbox.envFor({ database: 'us' })].map(
    (env) => new Redis({ url: env.UPSTASH_REDIS_REST_URL!, token: env.UPSTASH_REDIS_REST_TOKEN!, retry: false }),
  )
  await first!.set('who', 'first')
  await us!.multi().set('who', 'us').incr('n').exec()
  expect([await first!.get('who'), await us!.get('who'), await first!.get('n')]).toEqual(['first', 'us', null])
  const wrong = new Redis({ url: sandbox.urls.databases.us!, token: sandbox.tokens.store, retry: false })
  await expect(wrong.get('who')).rejects.toThrow(/unauthorized/i)
})

describe('paths', () => {
  test('a database has a path of its own, and creates its tenant', async () => {
    const server = await serve()
    const { urls } = server.describeTenant('w2')
    expect(urls.databases).toEqual({ eu: `${server.origin}/w2/store-eu`, us: `${server.origin}/w2/store-us` })
    expect(server.tenants).toEqual([])
    expect(await get(`${urls.databases.us}/ping`, server.tenant('main').tokens.databases.us!.store)).toEqual({
      status: 200,
      body: { result: 'PONG' },
    })
    expect(server.tenants).toEqual(['main', 'w2'])
  })

  test('a tenant can have the name of the version of the queue API', async () => {
    const server = await serve()
    const { urls, tokens } = server.tenant('v2')
    expect((await get(`${urls.databases.us}/ping`, tokens.databases.us!.store)).body).toEqual({ result: 'PONG' })
  })

  test.each([
    ['store-uss', 'There is no database "uss". Did you mean "us"? The added databases are eu, us.'],
    ['store-US', 'There is no database "US". Did you mean "us"?'],
    ['store-', 'There is no database "". The added databases are eu, us.'],
    ['store-%75s', 'There is no database "%75s".'],
    ['store-__proto__', 'There is no database "__proto__".'],
    ['store-constructor', 'There is no database "constructor".'],
    [`store-${'x'.repeat(4_000)}`, 'The added databases are eu, us.'],
    ['store-us-eu', 'There is no database "us-eu".'],
  ])('%s is not found', async (segment, sentence) => {
    const server = await serve()
    const url = `${server.origin}/main/${segment}`
    for (const at of [url, `${url}/get/a`, `${url}?a=1`]) {
      const { status, body } = await get(at, server.tenant('main').tokens.store)
      expect([status, (body as { error: string }).error]).toEqual([404, expect.stringContaining(sentence)])
    }
    const posted = await fetch(url, { method: 'POST', body: '["PING"]' })
    expect([posted.status, await posted.text()]).toEqual([404, expect.stringContaining('There is no database')])
  })

  test('a server without databases says how to add some', async () => {
    const server = await serve({ databases: [] })
    expect(await get(`${server.origin}/main/store-us/ping`)).toEqual({
      status: 404,
      body: {
        error: `There is no database "us". Start the server with --databases us (in a program: startServer({ databases: ['us'] })) to add databases.`,
      },
    })
  })

  test('web pages of any site can read a database as they can read the store', async () => {
    const server = await serve()
    const { urls, tokens } = server.tenant('main')
    const origin = 'https://shop.test'
    for (const [url, token] of [
      [urls.store, tokens.store],
      [urls.databases.us!, tokens.databases.us!.store],
    ] as const) {
      const response = await fetch(`${url}/ping`, { headers: { origin, authorization: `Bearer ${token}` } })
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, origin])
      const preflight = await fetch(url, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
      })
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([200, origin])
    }
  })

  test('the request log redacts commands of a database', async () => {
    const log: RequestLogEntry[] = []
    const server = await serve({ onRequest: (entry) => log.push(entry) })
    await get(`${server.origin}/main/store-us/auth/hunter2`)
    await get(`${server.origin}/main/store/auth/hunter2`)
    expect(log.map(({ path }) => path)).toEqual(['/main/store-us/auth/***', '/main/store/auth/***'])
  })

  test('a server in the network checks the tokens of each database, and tells strangers no names', async () => {
    const server = await serve({ host: '0.0.0.0', secret: 'a secret of the server', onError: () => {} })
    const origin = `http://127.0.0.1:${server.port}`
    const { tokens } = server.tenant('main')
    const { us, eu } = tokens.databases
    expect((await get(`${origin}/main/store-us/ping`, us!.store)).status).toBe(200)
    const standard = Buffer.from('stuntdouble:standard token of the database us').toString('base64')
    for (const token of [eu!.store, tokens.store, 'nobody', standard, undefined]) {
      const { status, body } = await get(`${origin}/w9/store-us/ping`, token)
      expect([status, JSON.stringify(body)]).toEqual([401, expect.stringMatching(/unauthorized/i)])
    }
    expect(server.tenants).toEqual(['main'])
    const { status, body } = await get(`${origin}/main/store-uss/ping`)
    expect(status).toBe(404)
    expect(JSON.stringify(body)).not.toMatch(/\beu\b/)
    // A user that a command created in one database does not exist in the others.
    const store = server.tenant('main').storeIn('us')
    const token = store.run('ACL', 'GENTOKEN', 'ann') as string
    store.run('ACL', 'SETUSER', 'ann', 'on', '~*', '+@all', `>${token}`)
    expect((await get(`${origin}/main/store-us/ping`, token)).status).toBe(200)
    expect((await get(`${origin}/main/store/ping`, token)).status).toBe(401)
    expect((await get(`${origin}/main/store-eu/ping`, token)).status).toBe(401)
  })

  test('a sandbox of the test is served with its databases', async () => {
    const server = await serve({ databases: [] })
    using sandbox = createSandbox({ databases: ['us'] })
    server.adopt('own', sandbox)
    expect((await get(`${server.origin}/own/store-us/ping`, sandbox.tokens.databases.us!.store)).body).toEqual({
      result: 'PONG',
    })
    const status = (await get(`${server.origin}/_control/own`)).body as { urls: object; databaseEnv: object }
    expect(status.urls).toMatchObject({ databases: { us: `${server.origin}/own/store-us` } })
    expect(Object.values((status.databaseEnv as Record<string, object>).us!)).toContain(`${server.origin}/own/store-us`)
    server.release('own')
  })
})

describe('options', () => {
  test('names need not be valid in a host name', async () => {
    const server = await serve({ databases: ['us_1'] })
    const sandbox = await connect(server.origin)
    await sandbox.storeIn('us_1').run('SET', 'a', 1)
    expect((await sandbox.snapshot()).storeIn('us_1').get('a')).toBe('1')
  })

  test.each([
    ['us', /databases must be a list/],
    [[''], /databases: a name must have/],
    [['__proto__'], /databases: a name must have/],
    [['us', 'US'], /different names/],
    [['a/b'], /databases: a name must have/],
    [['x'.repeat(101)], /databases: a name must have/],
  ])('%j rejects the start', async (databases, sentence) => {
    await expect(startServer({ port: 0, databases: databases as string[] })).rejects.toThrow(sentence)
  })

  test.each(['realRedis', 'shadowRedis'])('%s rejects the start in one message, before it connects', async (name) => {
    const options = { port: 0, databases: ['us'], [name]: 'redis://192.0.2.1:1' }
    await expect(startServer(options)).rejects.toThrow(
      new TypeError(
        'With a real Redis (realRedis, --real-redis; shadowRedis, --shadow-redis) a server cannot have databases (--databases). Start another server for each further Redis, and omit databases.',
      ),
    )
  })
})

test('an agent reads and writes one database with the argument database', async () => {
  await using agent = await agentAtServer({ databases: ['us'] })
  await agent.call('run_command', { command: ['SET', 'a', 'here'], database: 'us' })
  expect(agent.sandbox.storeIn('us').get('a')).toBe('here')
  expect(parted((await agent.call('get_key', { key: 'a', database: 'us' })).text).data).toContain('here')
  expect(parted((await agent.call('get_key', { key: 'a' })).text).data).not.toContain('here')
  const { text, isError } = await agent.call('get_key', { key: 'a', database: 'uss' })
  expect([isError, text]).toEqual([true, expect.stringContaining('Did you mean "us"?')])
  const status = (await agent.call('get_status')).text
  expect(status).toContain('/main/store-us')
  expect(status).not.toContain(agent.sandbox.tokens.databases.us!.store)
})

test('the traffic of a tenant carries the database on the wire', async () => {
  const server = await serve()
  const sandbox = await connect(server.origin)
  await sandbox.storeIn('us').run('SET', 'a', 1)
  await sandbox.store.run('SET', 'a', 1)
  const listed = (await get(`${server.origin}/_control/main/traffic?type=command`)).body as { database?: string }[]
  expect(listed.map(({ database }) => database)).toEqual(['us', undefined])
  expect((await sandbox.traffic.entries).flatMap(({ database }) => database ?? [])).toEqual(['us', 'us'])
  const changes = (await get(`${server.origin}/_control/main/store/changes?database=us`)).body as object[]
  expect(changes).toMatchObject([{ key: 'a' }])
})

test('a fork serves its databases at its own paths', async () => {
  const server = await serve()
  const sandbox = await connect(server.origin)
  await sandbox.storeIn('us').run('SET', 'who', 'us')
  const fork = await sandbox.fork({ name: 'later' })
  await sandbox.storeIn('us').run('SET', 'who', 'changed')
  expect(fork.urls.databases.us).toBe(`${server.origin}/later/store-us`)
  const { body } = await get(`${fork.urls.databases.us}/get/who`, fork.tokens.databases.us!.store)
  expect(body).toEqual({ result: 'us' })
})

test('responses with the whole tenant are limited by the sizes of all databases', async () => {
  const server = await serve()
  const sandbox = server.tenant('main')
  const value = 'x'.repeat(20_000_000)
  for (const store of sandbox.stores) for (const key of ['a', 'b']) store.run('SET', key, value)
  sandbox.traffic.clear()
  const control = `${server.origin}/_control/main`
  for (const path of ['/state', '/snapshot']) {
    const { status, body } = await get(control + path)
    expect([status, body]).toEqual([400, { error: expect.stringMatching(/has about 12\d{7} bytes/) }])
  }
  expect((await fetch(`${control}/store/dump?database=us`)).status).toBe(200)
})

test('when memory is low, the older half of the traffic log of all databases is dropped', () => {
  using sandbox = createSandbox({ databases: ['us'] })
  for (let count = 0; count < 50; count++) sandbox.storeIn('us').run('SET', 'a', count)
  const { size } = sandbox.traffic
  storeInternals.of(sandbox.store).front.journal.traffic.forgetOlderHalf()
  expect(sandbox.traffic.size).toBeLessThan(size * 0.6)
})
