import { request } from 'node:http'
import { expect, test } from 'vitest'
import { startServer } from '../src/server.js'

/** Sends a request with headers that `fetch` reserves for browsers. */
function ask(
  origin: string,
  path: string,
  method: string,
  headers: Record<string, string> | readonly string[],
): Promise<number> {
  return new Promise((resolve, reject) => {
    request(origin + path, { method, headers }, (answer) =>
      answer.resume().on('end', () => resolve(answer.statusCode!)),
    )
      .on('error', reject)
      .end()
  })
}

const foreign: readonly (readonly [string, string, Record<string, string>])[] = [
  [
    'an image',
    'GET',
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', referer: 'https://evil.example/' },
  ],
  ['an image without a referrer', 'GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }],
  ['an image in an old browser', 'GET', { referer: 'http://evil.example/page' }],
  ['an image of a neighbor port, without a referrer', 'GET', { 'sec-fetch-site': 'same-site' }],
  ['a link that is followed', 'GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }],
  ['a form', 'POST', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['a form in a frame without an origin', 'POST', { origin: 'null' }],
  ['a preflight', 'OPTIONS', { origin: 'https://evil.example', 'access-control-request-method': 'POST' }],
]

test.each(foreign)('%s of another site does not create a tenant', async (_, method, headers) => {
  await using server = await startServer({ port: 0, onError: () => {} })
  for (const path of [
    '/w1/store/ping',
    '/w2/queue/v2/events',
    '/w3/mgmt/v2/x',
    '/_control/w4',
    '/_control/w5/traffic',
    '/v2/events',
  ]) {
    expect(await ask(server.origin, path, method, headers)).toBeGreaterThanOrEqual(400)
  }
  expect(server.tenants).toEqual([])
})

const near: readonly (readonly [string, Record<string, string>])[] = [
  ['a program', {}],
  ['somebody who types the address', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }],
  ['a page of a development server', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }],
  ['a page at the other name of this machine', { origin: 'http://127.0.0.1:3000', 'sec-fetch-site': 'cross-site' }],
]

test.each(near)('%s creates a tenant', async (_, headers) => {
  await using server = await startServer({ port: 0 })
  await ask(server.origin, '/w1/store/ping', 'GET', headers)
  expect(server.tenants).toEqual(['w1'])
})

test('the control API rejects embedded and linked requests of another site by their referrer, too', async () => {
  await using server = await startServer({ port: 0, allowHosts: ['sandbox.test'] })
  server.tenant('main')
  const host = `sandbox.test:${server.port}`
  const told = (referer: string) => ask(server.origin, '/_control/main', 'GET', { host, referer })
  // Browsers send no Sec-Fetch-Site over plain HTTP to a name that is not a loopback name.
  for (const referer of [
    'http://evil.example/page',
    'https://evil.example/',
    `http://${host}.evil.example/`,
    `http://evil.example/http://${host}/`,
    `http://${host}@evil.example/`,
    'http://sandbox.test:1/',
    'no url',
  ])
    expect([referer, await told(referer)]).toEqual([referer, 403])
  expect(await told(`http://${host}/_inspector`)).toBe(200)
  expect(await ask(server.origin, '/_control/main', 'GET', { host })).toBe(200)
})

test('a page named by its referrer can read with the token, but cannot change anything', async () => {
  await using server = await startServer({ port: 0, controlToken: 'the-control-token' })
  server.tenant('main')
  const headers = { referer: 'http://evil.example/', authorization: 'Bearer the-control-token' }
  expect(await ask(server.origin, '/_control/main', 'GET', headers)).toBe(200)
  expect(await ask(server.origin, '/_control/main/reset', 'POST', headers)).toBe(403)
})

test('a Host must be one name or address, with or without a port', async () => {
  await using server = await startServer({ port: 0, allowHosts: ['sandbox.test'] })
  server.tenant('main')
  const asked = (...hosts: string[]) =>
    ask(
      server.origin,
      '/_control/main',
      'GET',
      hosts.flatMap((host) => ['Host', host]),
    )
  for (const host of [
    'localhost',
    'LocalHost:4010',
    'localhost.',
    'localhost.:4010',
    'app.localhost',
    '127.0.0.1:1',
    '[::1]:4010',
    '[::1]',
    'sandbox.test',
    'sandbox.test.:80',
  ])
    expect([host, await asked(host)]).toEqual([host, 200])
  for (const host of [
    'evil.com@localhost',
    'evil.com:80@localhost',
    'localhost/evil',
    'localhost?evil.com',
    'localhost#evil.com',
    'localhost\\evil.com',
    'localhost, evil.com',
    'localhost evil.com',
    'evil.com/@localhost',
    '%6cocalhost',
    'localhost..',
    'localhost:4010:4010',
    'localhost:port',
    'localhost.evil.com',
    '.',
    '',
  ])
    expect([host, await asked(host)]).toEqual([host, 403])
  expect(await asked('localhost', 'evil.com')).toBe(403)
  expect(await asked('localhost', 'localhost')).toBe(403)
})

test('an Origin must be a name or address of this machine, and not a URL that ends with one', async () => {
  await using server = await startServer({ port: 0 })
  const { tokens } = server.tenant('main')
  const asked = (origin: string) =>
    ask(server.origin, '/main/queue/v2/events', 'GET', { origin, authorization: `Bearer ${tokens.queue}` })
  for (const origin of ['http://localhost:3000', 'http://localhost.:3000', 'https://127.0.0.1'])
    expect([origin, await asked(origin)]).toEqual([origin, 200])
  for (const origin of ['http://evil.com@localhost', 'http://localhost@evil.com', 'http://localhost/evil.com', 'null'])
    expect([origin, await asked(origin)]).toEqual([origin, 403])
})

test('the store of a tenant accepts any Host and any page that has the token, and no other request', async () => {
  await using server = await startServer({ port: 0 })
  const { tokens, store } = server.tenant('main')
  const asked = (path: string, token: string) => {
    const headers = { host: 'evil.example', origin: 'http://evil.example', authorization: `Bearer ${token}` }
    return ask(server.origin, path, 'POST', headers)
  }
  expect(await asked('/main/store/set/greeting/hello', tokens.store)).toBe(200)
  expect(await asked('/main/store/set/greeting/other', 'no token')).toBe(401)
  expect(store.get('greeting')).toBe('hello')
  for (const path of [
    '/main/queue/v2/publish/http://localhost',
    '/main/mgmt/v2/redis/database',
    '/_control/main/reset',
  ])
    expect([path, await asked(path, tokens.queue)]).toEqual([path, 403])
})
