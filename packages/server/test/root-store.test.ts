import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createSandbox } from '../../../src/index.js'
import { runs, seedOr } from '../../../test/support/effort.js'
import type { RequestLogEntry, ServerOptions, StuntdoubleServer } from '../src/server.js'
import { startServer } from '../src/server.js'

// The store of `main` at the root of a server, where serverless-redis-http has its store. Expected: the same responses
// as at /main/store. The commands come from docs/protocol/commands.json, not from the table of the store.

const token = 'example_token'
const facts = JSON.parse(
  readFileSync(new URL('../../../docs/protocol/commands.json', import.meta.url), 'utf8'),
) as readonly { readonly name: string; readonly status: string }[]
/** First words of the commands that the service documents, except QUIT, which ends a connection. */
const commands = [
  ...new Set(facts.filter(({ status }) => status === 'documented').map(({ name }) => name.split(' ')[0]!)),
].filter((name) => name !== 'QUIT')

interface Asked {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Seen {
  readonly status: number
  readonly headers: readonly string[]
  readonly body: string
}

/** Sends a request with exactly this target, as a raw socket would. */
function ask({ port }: { readonly port: number }, { method, target, headers, body }: Asked): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: target, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const raw = response.rawHeaders.filter((_, at, all) => all[at - (at % 2)]!.toLowerCase() !== 'date')
        resolve({ status: response.statusCode!, headers: raw, body: Buffer.concat(chunks).toString('latin1') })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function served(options: ServerOptions = {}): Promise<StuntdoubleServer> {
  const server = await startServer({ port: 0, clock: 'manual', seed: 7, tokens: { store: token }, ...options })
  onTestFinished(() => server.close({ grace: 0 }))
  return server
}

const bearer = { authorization: `Bearer ${token}` }
const get = (target: string, headers: Asked['headers'] = bearer): Asked => ({
  method: 'GET',
  target,
  headers,
  body: '',
})
const post = (target: string, body: unknown, headers: Asked['headers'] = bearer): Asked => ({
  method: 'POST',
  target,
  headers,
  body: JSON.stringify(body),
})
const json = async (server: StuntdoubleServer, asked: Asked): Promise<unknown> =>
  JSON.parse((await ask(server, asked)).body)

describe('at the root', () => {
  test('the store of main runs commands in every form that serverless-redis-http has', async () => {
    const server = await served()
    expect(await json(server, post('/', ['SET', 'a', 'b', 'EX', '10']))).toEqual({ result: 'OK' })
    expect(await json(server, get('/get/a'))).toEqual({ result: 'b' })
    expect(await json(server, get('/GeT/a'))).toEqual({ result: 'b' })
    expect(await json(server, get('/ttl/a'))).toEqual({ result: 10 })
    expect(await json(server, get('/set/c/d?EX=20'))).toEqual({ result: 'OK' })
    expect(await json(server, get(`/ttl/c?_token=${token}`, {}))).toEqual({ result: 20 })
    expect(await json(server, { ...post('/set/e', 0), body: 'the body' })).toEqual({ result: 'OK' })
    expect(await json(server, post('/pipeline', [['GET', 'e'], ['NOPE'], ['INCR', 'n']]))).toEqual([
      { result: 'the body' },
      { error: expect.stringContaining('NOPE') },
      { result: 1 },
    ])
    const rows = [
      ['INCR', 'n'],
      ['INCR', 'n'],
    ]
    expect(await json(server, post('/multi-exec', rows))).toEqual([{ result: 2 }, { result: 3 }])
    expect(await json(server, post('/', ['GET', 'e'], { ...bearer, 'upstash-encoding': 'base64' }))).toEqual({
      result: Buffer.from('the body').toString('base64'),
    })
    expect((await ask(server, post('/', ['GET', 'n'], { ...bearer, 'upstash-response-format': 'resp2' }))).body).toBe(
      '$1\r\n3\r\n',
    )
    expect(await ask(server, { method: 'HEAD', target: '/get/e', headers: bearer, body: '' })).toMatchObject({
      status: 200,
      body: '',
    })
    expect(server.tenants).toEqual(['main'])
    expect(server.tenant('main').store.get('n')).toBe('3')
    // The traffic log has the URL of the store, as for a request to /main/store.
    expect(server.tenant('main').traffic.ofType('request')[1]!.url).toBe(`${server.origin}/main/store/get/a`)
  })

  test('every command of the documentation is a path of the store, in any case', async () => {
    const server = await served()
    for (const [index, name] of commands.entries()) {
      const segment = index % 2 === 0 ? name : name.toLowerCase()
      // Without a token, the service rejects every path of the store in the same way. [store.md 1]
      expect([segment, (await ask(server, get(`/${segment}`, {}))).status]).toEqual([segment, 401])
    }
  })

  test('streams of events are served', async () => {
    const server = await served()
    const abort = new AbortController()
    const stream = await fetch(`${server.origin}/subscribe/news`, { headers: bearer, signal: abort.signal })
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader.read()).value).toContain('subscribe,news,1')
    expect(await json(server, get('/publish/news/hello'))).toEqual({ result: 1 })
    expect((await reader.read()).value).toContain('message,news,hello')
    abort.abort()
    for (const path of ['/monitor', '/psubscribe/n*'])
      expect([path, (await fetch(server.origin + path, { method: 'POST' })).status]).toEqual([path, 401])
  })

  test('a page of any site that has the token may call the store, and only the store', async () => {
    const server = await served()
    const page = { origin: 'https://evil.example', ...bearer }
    server.tenant('main')
    const preflight = { origin: 'https://evil.example', 'access-control-request-headers': 'authorization' }
    for (const target of ['/', '/pipeline', '/get/a'])
      expect(await ask(server, { method: 'OPTIONS', target, headers: preflight, body: '' })).toEqual(
        await ask(server, { method: 'OPTIONS', target: `/main/store${target}`, headers: preflight, body: '' }),
      )
    expect((await ask(server, post('/', ['PING'], page))).status).toBe(200)
    for (const asked of [
      get('/', { ...page, accept: 'text/html' }),
      get('/_health', page),
      get('/_inspector', page),
      get('/v2/keys', page),
      get('/foo/bar', page),
      get('/main/queue/v2/keys', page),
      get('//get/a', page),
      post('/_control/main/reset', {}, page),
      { ...post('/', {}, page), method: 'DELETE' },
    ])
      expect([asked.method, asked.target, (await ask(server, asked)).status]).toEqual([asked.method, asked.target, 403])
  })

  test('a page of another site cannot create main', async () => {
    const server = await served()
    for (const asked of [get('/ping'), post('/', ['PING']), post('/pipeline', [['PING']])])
      expect((await ask(server, { ...asked, headers: { ...bearer, origin: 'https://evil.example' } })).status).toBe(403)
    expect(server.tenants).toEqual([])
  })

  test('the limit of tenants and the limit of bodies hold', async () => {
    const server = await served({ limits: { maxTenants: 1, maxBodyBytes: 100 } })
    expect((await ask(server, post('/', ['SET', 'k', 'v'.repeat(200)]))).status).toBe(413)
    server.drop('main')
    server.tenant('w1')
    expect(await ask(server, post('/', ['PING']))).toMatchObject({
      status: 503,
      body: expect.stringContaining('1 tenants'),
    })
  })

  test('other machines need the token before anything is created', async () => {
    const server = await served({ host: '0.0.0.0', secret: 'a secret of the test' })
    const refused = await ask(server, post('/', ['PING'], {}))
    expect(refused).toEqual(await ask(server, post('/main/store/', ['PING'], {})))
    expect(refused.status).toBe(401)
    expect(server.tenants).toEqual([])
    expect(await json(server, post('/', ['PING']))).toEqual({ result: 'PONG' })
  })

  test('a sandbox of the program is served, too', async () => {
    const server = await served()
    const own = createSandbox({ tokens: { store: token } })
    server.adopt('main', own)
    expect(await json(server, post('/', ['SET', 'a', 'b']))).toEqual({ result: 'OK' })
    expect(own.store.get('a')).toBe('b')
  })

  test('the log shows the path that was requested, without secrets', async () => {
    const log: RequestLogEntry[] = []
    const server = await served({ onRequest: (entry) => log.push(entry) })
    const secret = 'hunter2-hunter2'
    await ask(server, post(`/?_token=${token}`, ['PING'], {}))
    await ask(server, get(`/acl/setuser/alice/on/%3E${secret}`))
    await ask(server, get('/get/a'))
    await expect.poll(() => log.length).toBe(3)
    expect(log.map(({ path }) => path)).toEqual(['/?_token=***', expect.stringMatching(/^\/acl\//), '/get/a'])
    expect(JSON.stringify(log)).not.toContain(secret)
  })
})

describe('what stays as it is', () => {
  test('a browser gets the inspector, and the queue has /v2', async () => {
    const server = await served()
    const { tokens } = server.tenant('main')
    const page = await ask(server, get('/', { accept: 'text/html' }))
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('<html') })
    expect(
      (await ask(server, { method: 'HEAD', target: '/', headers: { accept: 'text/html' }, body: '' })).status,
    ).toBe(200)
    expect((await ask(server, get('/v2/keys', { authorization: `Bearer ${tokens.queue}` }))).status).toBe(200)
    expect((await ask(server, get('/_health'))).body).toContain('"ok"')
    expect((await ask(server, get('/w1/store/ping'))).status).toBe(200)
  })

  test.each([
    '/foo/bar',
    '/',
    '/getx/a',
    '/ge/t',
    '//get/a',
    '//',
    '/./get/a',
    '/%2fget/a',
    '/%/a',
    '/pipelines',
    '/v2',
  ])('GET %s is not found, and the error names the paths at the root', async (target) => {
    const server = await served()
    const { status, body } = await ask(server, get(target))
    expect([status, JSON.parse(body)]).toEqual([
      404,
      { error: expect.stringMatching(/^Not found: .*POST \/, \/pipeline/) },
    ])
    expect(server.tenants).toEqual([])
  })

  test('the name of a command cannot be the name of a tenant', async () => {
    const server = await served()
    const own = createSandbox()
    onTestFinished(() => own.dispose())
    for (const name of [...commands, 'get', 'Pipeline', 'multi-exec', 'monitor', 'psubscribe', 'blpop', 'auth']) {
      const why = new RegExp(
        `tenant "${name}": a name must not be a command or path of the store, because /${name} at the root`,
      )
      expect(() => server.tenant(name)).toThrow(why)
      expect(() => server.adopt(name, own)).toThrow(why)
    }
    const refused = expect.stringMatching(/^tenant "sEt": a name must not be a command or path of the store/)
    expect(await json(server, get('/_control/sEt'))).toEqual({ error: refused })
    expect(() => server.tenant('_x')).toThrow('must not begin with')
    const forked = await json(server, post('/_control/main/fork', { name: 'get' }))
    expect(forked).toEqual({ error: expect.stringContaining('must not be a command or path of the store') })
    for (const name of ['main', 'w1', 'v2', 'store', 'queue', 'mgmt', 'outbound', 'eu', 'get-1', 'orders'])
      expect(server.tenant(name).urls.store).toBe(`${server.origin}/${name}/store`)
  })
})

describe('unusual targets', () => {
  /** Sends these bytes and returns everything that the server sends until it closes the connection. */
  const raw = ({ port }: StuntdoubleServer, head: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      let heard = ''
      socket.on('data', (chunk) => (heard += chunk.toString('latin1')))
      socket.on('error', reject)
      socket.on('close', () => resolve(heard))
      socket.write(`${head}\r\nConnection: close\r\n\r\n`)
    })
  const key = `Authorization: Bearer ${token}`

  test.each([
    ['host', 'GET http://store.example/set/a/b', '{"result":"OK"}'],
    ['encoded', 'GET http://127.0.0.1:1/%73et/a/b', '{"result":"OK"}'],
    ['no path', 'OPTIONS http://store.example', 'HTTP/1.1 200'],
    ['no path, but a query', 'OPTIONS http://store.example?x=1', 'HTTP/1.1 200'],
    ['no path at all', 'OPTIONS *', 'HTTP/1.1 404'],
    ['a long name', `GET /${'a'.repeat(60_000)}`, 'HTTP/1.1 404'],
    ['a long encoded name', `GET /${'%67'.repeat(20_000)}`, 'HTTP/1.1 404'],
    ['a long key', `GET /get/${'a'.repeat(50_000)}`, 'HTTP/1.1 400'],
    ['a fragment', 'GET /get/a#b', '{"result":null}'],
    ['a name of every object', 'GET /__proto__/a', 'HTTP/1.1 404'],
    ['a name of every function', 'GET /constructor/a', 'HTTP/1.1 404'],
    ['a wrong escape in an argument', 'GET /g%65t/%zz', 'HTTP/1.1 400'],
  ])('%#: %s', async (_, line, expected) => {
    const server = await served()
    expect(await raw(server, `${line} HTTP/1.1\r\nHost: 127.0.0.1\r\n${key}`)).toContain(expected)
    expect((await ask(server, get('/ping'))).status).toBe(200)
  })
})

describe('the same responses as at /main/store', () => {
  let atRoot: StuntdoubleServer
  let below: StuntdoubleServer
  beforeAll(async () => {
    const options = { port: 0, clock: 'manual', seed: 7, tokens: { store: token }, onError: () => {} } as const
    atRoot = await startServer(options)
    below = await startServer(options)
  })
  afterAll(async () => {
    await atRoot.close({ grace: 0 })
    await below.close({ grace: 0 })
  })

  const word = fc.constantFrom('a', 'b', 'k%20x', '1', '-1', '%E4', '%', '', '*', 'EX', 'NX', '0')
  const name = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('get', 'set', 'SET', 'incr', 'lpush', 'LRANGE', 'hset', 'hgetall', 'del') },
    {
      weight: 2,
      arbitrary: fc.constantFrom('g%65t', 'pipeline', 'PIPELINE', 'multi-exec', 'pipe%6cine', 'acl', 'blpop'),
    },
    { weight: 1, arbitrary: fc.constantFrom(...commands.filter((one) => !/^(?:P?SUBSCRIBE|MONITOR)$/.test(one))) },
  )
  const query = fc.oneof(
    fc.constant(''),
    fc.constantFrom('?EX=10', '?NX', '?a=b&c', '?', `?_token=${token}`, '?_token=no'),
  )
  const path = fc
    .tuple(name, fc.array(word, { maxLength: 4 }), query)
    .map(([first, rest, asked]) => `/${[first, ...rest].join('/')}${asked}`)
  const argv = fc.array(
    fc.oneof(fc.constantFrom('SET', 'GET', 'INCR', 'HSET', 'nope', 'k', 'a', '1'), fc.constant(1), fc.constant(null)),
    { maxLength: 4 },
  )
  const body = fc.oneof(
    argv.map((row) => JSON.stringify(row)),
    fc.array(argv, { maxLength: 3 }).map((rows) => JSON.stringify(rows)),
    fc.constantFrom('', '{}', '[', 'text'),
  )
  const headers = fc.record({
    authorization: fc.oneof(
      { weight: 6, arbitrary: fc.constant(`Bearer ${token}`) },
      { weight: 1, arbitrary: fc.constantFrom('Bearer no', `bearer ${token}`, 'Basic x', token, '') },
    ),
    ...Object.fromEntries(
      Object.entries({
        'upstash-encoding': ['', 'base64', 'none'],
        'upstash-response-format': ['', 'resp2', 'xml'],
        'upstash-sync-token': ['', '0=1'],
        origin: ['', 'https://app.example', 'http://localhost:3000'],
        host: ['127.0.0.1', 'evil.example'],
      }).map(([header, values]) => [header, fc.constantFrom(...values)]),
    ),
  })
  const request = fc.oneof(
    fc.record({ method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'), target: path, headers, body }),
    fc.record({ method: fc.constantFrom('POST', 'PUT', 'OPTIONS'), target: fc.constant('/'), headers, body }),
  )

  test('for every request', { timeout: 120_000 }, async () => {
    const statuses = new Set<number>()
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 5, maxLength: 20 }), async (requests) => {
        for (const server of [atRoot, below]) server.tenant('main').reset()
        for (const one of requests) {
          const { method } = one
          const kept = Object.fromEntries(Object.entries(one.headers).filter(([, value]) => value !== ''))
          const asked = { ...one, headers: kept as Record<string, string>, body: method === 'GET' ? '' : one.body }
          const first = await ask(atRoot, asked)
          expect(first).toEqual(await ask(below, { ...asked, target: `/main/store${asked.target}` }))
          statuses.add(first.status)
        }
      }),
      { numRuns: runs(20, 100, 500), seed: seedOr(1) },
    )
    expect([...statuses].sort()).toEqual([200, 400, 401, 405])
  })
})
