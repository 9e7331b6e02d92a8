import dns from 'node:dns'
import { get as httpGet } from 'node:http'
import https, { get as httpsGet } from 'node:https'
import { promisify } from 'node:util'
import { createSandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { expect, test } from 'vitest'

const keptFetch = globalThis.fetch

const failure = (get: typeof httpGet, url: string): Promise<NodeJS.ErrnoException> =>
  new Promise((resolve, reject) => {
    get(url, () => reject(new Error(`${url} answered`))).on('error', resolve)
  })

test.each([
  ['node:https', async (url: string) => failure(httpsGet, url)],
  ['node:https by its module', async (url: string) => failure(https.get as typeof httpGet, url)],
  ['node:http', async (url: string) => failure(httpGet, url.replace('https:', 'http:'))],
  ['a fetch that was kept', async (url: string) => (await keptFetch(url).catch((error) => error)).cause as Error],
])('replaceFetch() gives a client over %s an error that names alternatives', async (_, call) => {
  using sandbox = createSandbox({ name: 'mine' })
  replaceFetch(sandbox)
  const error = await call(`${sandbox.urls.store}/ping`)
  expect(error.message).toMatch(
    /^mine\.store\.test belongs to the sandbox.* nockScopes\(\) .* mswHandlers\(\) .* startServer\(\) from stuntdouble\/server\.$/,
  )
  expect(error).toMatchObject({ code: 'ENOTFOUND', hostname: 'mine.store.test' })
})

test('rejects the look-up of a real host of the service', async () => {
  using sandbox = createSandbox()
  replaceFetch(sandbox)
  const error = await failure(httpsGet, 'https://eu1-x.upstash.io/get/a')
  expect(error.message).toMatch(/eu1-x\.upstash\.io.*real host.*blocked/)
})

test('passes look-ups of other hosts, and restores dns.lookup at the end', async () => {
  const { lookup } = dns
  const [one, two] = [createSandbox({ name: 'one' }), createSandbox({ urls: { base: 'http://localhost:1/' } })]
  replaceFetch(one)
  replaceFetch(two)
  expect(await promisify(dns.lookup)('127.0.0.1')).toEqual({ address: '127.0.0.1', family: 4 })
  const local = await failure(httpGet, 'http://localhost:1/')
  expect(local.message).not.toContain('sandbox')
  one.dispose()
  expect(dns.lookup).not.toBe(lookup)
  two.dispose()
  expect(dns.lookup).toBe(lookup)
})
