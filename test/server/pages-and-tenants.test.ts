import { request } from 'node:http'
import { expect, test } from 'vitest'
import { startServer } from '../../src/server/server.js'

/** A request with headers that `fetch` keeps for browsers. */
function ask(origin: string, path: string, method: string, headers: Record<string, string>): Promise<number> {
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
  ['an image of a neighbour port, without a referrer', 'GET', { 'sec-fetch-site': 'same-site' }],
  ['a link that is followed', 'GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }],
  ['a form', 'POST', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['a form in a frame without an origin', 'POST', { origin: 'null' }],
  ['a preflight', 'OPTIONS', { origin: 'https://evil.example', 'access-control-request-method': 'POST' }],
]

test.each(foreign)('%s of a foreign page makes no tenant', async (_, method, headers) => {
  await using server = await startServer({ port: 0, report: () => {} })
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

test.each(near)('%s makes one', async (_, headers) => {
  await using server = await startServer({ port: 0 })
  await ask(server.origin, '/w1/store/ping', 'GET', headers)
  expect(server.tenants).toEqual(['w1'])
})
