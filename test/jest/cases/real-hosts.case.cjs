// Importing the entry is enough: this file never calls useSandbox().
require('stuntdouble/jest')
const dns = require('node:dns')
const { get } = require('node:https')

// Below the block, look-ups are recorded and fail, so that no test of this file can reach a real host.
const { lookup } = dns
const host = globalThis.fetch
const looked = []
beforeAll(() => {
  dns.lookup = (hostname, ...rest) => {
    looked.push(hostname)
    setImmediate(rest.at(-1), new Error('recorded'))
  }
})
afterAll(() => {
  dns.lookup = lookup
})

test('does not catch the error', () => fetch('https://qstash.upstash.io/v2/messages'))

test('catches the error', () => fetch('https://qstash.upstash.io/v2/messages').catch(() => undefined))

test('uses node:https', async () => {
  await new Promise((resolve) => {
    get('https://eu1-cat.upstash.io/').on('error', resolve)
  })
})

test('sends no such request', async () => {
  await expect(fetch('https://shop.invalid/')).rejects.toThrow('fetch failed')
  expect(looked).toEqual(['shop.invalid'])
  jest.resetModules()
  require('stuntdouble/jest')
})

afterAll(() => {
  if (globalThis.fetch !== host) throw new Error('The real fetch is not back.')
})
