import dns from 'node:dns'
import http, { createServer, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import nock from 'nock'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { nockScopes } from 'stuntdouble/nock'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sandboxOf } from '../../fixtures/fixture-sandbox.js'
import { storeInternals } from '../../src/store/store-internals.js'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
  nock.cleanAll()
  nock.enableNetConnect()
})
afterAll(() => {
  nock.restore()
})

function sandboxThroughNock(options: Parameters<typeof createSandbox>[0] = {}): Sandbox {
  const sandbox = createSandbox(options)
  ends.push(() => sandbox.dispose())
  nockScopes(sandbox)
  return sandbox
}

interface Sent {
  readonly status: number | undefined
  readonly text: string
}

function send(
  // The module object, because nock 14 replaces its functions.
  client: Pick<typeof http, 'request'>,
  url: string,
  { body, ...options }: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const sent = client.request(url, options, (answer: IncomingMessage) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () => resolve({ status: answer.statusCode, text: Buffer.concat(chunks).toString() }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

test('nockScopes() intercepts the URLs of databases', async () => {
  const sandbox = sandboxThroughNock({ databases: ['us'], urls: { databases: { us: 'https://us.elsewhere.test/a' } } })
  const headers = { authorization: `Bearer ${sandbox.tokens.databases.us!.store}` }
  await fetch(`${sandbox.urls.databases.us}/set/a/1`, { headers })
  expect(sandbox.storeIn('us').get('a')).toBe('1')
})

describe('nock.pendingMocks()', () => {
  const sent = { method: 'POST', body: '["SET","k","v"]' } as const

  test('lists only mocks of the test, regardless of requests to the sandbox', async () => {
    const sandbox = sandboxThroughNock({ urls: { regions: { 'us-east-1': 'https://us.queue.test' } } })
    sandbox.outbound.on('https://api.shop.test', () => new Response('ours'))
    expect(nock.pendingMocks()).toEqual([])
    expect(nock.isDone()).toBe(true)

    const mail = nock('https://mail.test').post('/send').reply(202)
    nock('https://api.shop.test').get('/elsewhere').reply(200)
    expect(nock.isDone()).toBe(false)
    expect(nock.pendingMocks()).toHaveLength(2)

    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    for (let asked = 0; asked < 3; asked++) {
      expect(await send(https, sandbox.urls.store, { ...sent, headers })).toMatchObject({ status: 200 })
      expect(nock.pendingMocks()).toHaveLength(2)
    }
    await send(https, 'https://mail.test/send', { method: 'POST' })
    expect(nock.pendingMocks()).toHaveLength(1)
    expect(mail.isDone()).toBe(true)
    await send(https, 'https://api.shop.test/elsewhere')
    expect(nock.isDone()).toBe(true)

    sandbox.reset()
    expect(nock.isDone()).toBe(true)
    sandbox.dispose()
    expect(nock.isDone()).toBe(true)
    expect(nock.activeMocks()).toEqual([])
  })
})

describe('clients over nockScopes()', () => {
  test('can use https', async () => {
    const { urls, tokens, store } = sandboxThroughNock()
    const headers = { authorization: `Bearer ${tokens.store}` }
    const body = JSON.stringify(['SET', 'greeting', 'grüße'])
    expect(await send(https, urls.store, { method: 'POST', headers, body })).toEqual({
      status: 200,
      text: '{"result":"OK"}',
    })
    expect(store.get('greeting')).toBe('grüße')
    // Bytes that are not text, and text that resembles the hexadecimal bytes of nock 14.
    for (const value of [Buffer.from([0, 255, 128]), '00ff80']) {
      await send(https, `${urls.store}/set/bytes`, { method: 'POST', headers, body: value })
      expect(
        Buffer.from(storeInternals.of(store).engine.db.string('bytes' as never)!, 'latin1').equals(Buffer.from(value)),
      ).toBe(true)
    }
  })

  test('can use http with a custom URL', async () => {
    const { urls, tokens } = sandboxThroughNock({ urls: { base: 'http://double.test:8080/a' } })
    const headers = { authorization: `Bearer ${tokens.store}` }
    expect(urls.store).toBe('http://double.test:8080/a/store')
    expect(await send(http, `${urls.store}/echo/hi`, { headers })).toEqual({
      status: 200,
      text: '{"result":"hi"}',
    })
  })

  test('get the error of a broken connection over http', async () => {
    const { urls, faults, tokens } = sandboxThroughNock()
    faults.add({ on: 'store.request', fault: { kind: 'reset' } })
    const headers = { authorization: `Bearer ${tokens.store}` }
    await expect(send(https, `${urls.store}/ping`, { headers })).rejects.toMatchObject({
      code: 'ECONNRESET',
    })
  })
})

describe('other nock scopes', () => {
  test("of the user respond as well, and stay when the sandbox's scopes are removed", async () => {
    const sandbox = sandboxThroughNock()
    const own = nock('https://shop.test').persist().get('/me').reply(200, { id: 42 })
    expect(await (await fetch('https://shop.test/me')).json()).toEqual({ id: 42 })
    sandbox.dispose()
    expect(await (await fetch('https://shop.test/me')).json()).toEqual({ id: 42 })
    expect(own.isDone()).toBe(true)
    expect(nock.activeMocks()).toEqual(['GET https://shop.test:443/me'])
  })

  test('report no pending mocks of the sandbox', () => {
    sandboxThroughNock().dispose()
    expect([nock.pendingMocks(), nock.isDone()]).toEqual([[], true])
  })

  test('disableNetConnect() still rejects requests to other hosts', async () => {
    const server = createServer((_request, response) => response.end('real'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ends.push(() => new Promise((resolve) => server.close(resolve)))
    const real = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const sandbox = sandboxThroughNock()
    expect(await (await fetch(real)).text()).toBe('real')
    nock.disableNetConnect()
    await expect(fetch(real)).rejects.toThrow()
    expect((await fetch(`${sandbox.urls.store}/ping?_token=${sandbox.tokens.store}`)).status).toBe(200)
    sandbox.dispose()
    await expect(fetch(real)).rejects.toThrow()
  })

  test('two sandboxes with different names can be active', async () => {
    const [a, b] = [sandboxThroughNock({ name: 'a' }), sandboxThroughNock({ name: 'b' })]
    await fetch(`${b.urls.store}/set/k/of-b?_token=${b.tokens.store}`)
    expect([a.store.get('k'), b.store.get('k')]).toEqual([null, 'of-b'])
    a.dispose()
    expect((await fetch(`${b.urls.store}/get/k?_token=${b.tokens.store}`)).status).toBe(200)
  })
})

test('nockScopes() passes requests to the management API of the vendor to the sandbox', async () => {
  nock.disableNetConnect()
  const sandbox = sandboxThroughNock()
  const { tokens, stats } = sandbox
  const headers = { authorization: `Basic ${btoa(`${tokens.mgmtUser}:${tokens.mgmtKey}`)}` }
  const url = `https://api.upstash.com/v2/redis/stats/${stats.database.id}`
  const { status, text } = await send(https, url, { headers })
  expect([status, JSON.parse(text)]).toEqual([200, stats.store.report()])
  expect((await send(https, url)).status).toBe(401)
  expect((await send(https, 'https://api.upstash.com/v1/x', { headers })).status).toBe(404)
  nock.enableNetConnect()
  for (const url of ['https://api.upstash.com./v2/redis/databases', 'https://api.upstash.com:8443/v2/redis/databases'])
    await expect(send(https, url, { headers })).rejects.toThrow('was blocked')
  await expect(send(http, 'http://api.upstash.com/v2/redis/databases')).rejects.toThrow('was blocked')
  nock.disableNetConnect()
  const allowing = sandboxOf({ realHosts: 'allow' })
  sandbox.dispose()
  nockScopes(allowing)
  // nock 14 rejects the request, and later versions respond with this text.
  const refused = await send(https, url, { headers }).then(
    ({ text }) => text,
    (error: Error) => error.message,
  )
  expect(refused).toContain('No match for request')
  allowing.dispose()
})

describe('requests to real hosts of the vendor', () => {
  // The look-ups below nock fail, so that no test can reach a real host.
  const looked: string[] = []
  beforeEach(() => {
    const { lookup } = dns
    dns.lookup = ((hostname: string, ...rest: unknown[]) => {
      looked.push(hostname)
      setImmediate(rest.at(-1) as (error: Error) => void, new Error('recorded'))
    }) as typeof dns.lookup
    ends.push(() => {
      dns.lookup = lookup
      looked.splice(0)
    })
  })
  const real = 'https://qstash.upstash.io/v2/messages'
  const blocked = 'A request to qstash.upstash.io, a real host of the service, was blocked. Point the client at'

  test('are rejected over fetch and node:https, and reported', async () => {
    const sandbox = sandboxThroughNock()
    await expect(fetch(real)).rejects.toThrow(blocked)
    await expect(send(https, real)).rejects.toThrow(blocked)
    expect(sandbox.realHostRequests).toEqual([expect.stringContaining(blocked)])
    expect(looked).toEqual([])
  })

  test('get the response of a scope of the test', async () => {
    const sandbox = sandboxThroughNock()
    nock('https://qstash.upstash.io').get('/v2/messages').reply(200, 'mine')
    expect(await send(https, real)).toEqual({ status: 200, text: 'mine' })
    expect(sandbox.realHostRequests).toEqual([])
  })

  test('pass after the end of the scopes', async () => {
    using sandbox = createSandbox()
    nockScopes(sandbox)()
    await expect(send(https, real)).rejects.toThrow('recorded')
    expect(looked).toEqual(['qstash.upstash.io'])
  })

  test("pass with realHosts: 'allow'", async () => {
    using sandbox = createSandbox()
    nockScopes(sandbox, { realHosts: 'allow' })
    await expect(send(https, real)).rejects.toThrow('recorded')
    expect(looked).toEqual(['qstash.upstash.io'])
    expect(sandbox.realHostRequests).toEqual([])
  })
})
