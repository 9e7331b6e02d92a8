import { setupServer } from 'msw/node'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { mswHandlers } from 'stuntdouble/msw'
import { fastNetwork } from 'stuntdouble/msw/fast'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { connect, sandboxOf } from '../../fixtures/fixture-sandbox.js'
import { routeSandbox } from '../../src/adapters/playwright.js'

// Clients of the management API have the vendor's URL in their code. No test of this file may reach it, so `fetch` below
// the adapter is a mock where a request could pass. msw intercepts below `fetch`, so it needs the real one.

const real = 'https://api.upstash.com/v2'
const network = vi.fn(async () => new Response('from the network', { status: 418 }))
const ends: (() => unknown)[] = []

afterEach(() => {
  for (const end of ends.splice(0).reverse()) end()
  expect(network.mock.calls.splice(0)).toEqual([])
  vi.unstubAllGlobals()
})

function basic({ tokens }: Sandbox): Record<string, string> {
  return { authorization: `Basic ${btoa(`${tokens.mgmtUser}:${tokens.mgmtKey}`)}` }
}

const adapters: [string, (sandbox: Sandbox) => () => unknown][] = [
  ['replaceFetch()', replaceFetch],
  [
    'mswHandlers()',
    (sandbox) => {
      const server = setupServer(...mswHandlers(sandbox))
      server.listen({ onUnhandledFrame: 'error' })
      return () => server.close()
    },
  ],
  [
    'fastNetwork()',
    (sandbox) => {
      const fast = fastNetwork(sandbox, { onUnhandledFrame: 'error' })
      fast.enable()
      return () => fast.disable()
    },
  ],
]

describe.each(adapters)('%s', (_, start) => {
  test.each(['auto', 'upstash'] as const)(
    'passes requests to the vendor to the sandbox, dialect %s',
    async (dialect) => {
      using sandbox = createSandbox({ dialect })
      ends.push(start(sandbox))
      const { database } = sandbox.stats
      const answer = await fetch(`${real}/redis/stats/${database.id}`, { headers: basic(sandbox) })
      expect([answer.status, await answer.json()]).toEqual([200, sandbox.stats.store.report()])
      expect((await fetch(`${real}/redis/databases`)).status).toBe(401)
      expect((await fetch(new Request(`${real}/qstash/ipv4`))).status).toBe(200)
      expect((await fetch(`${real}/unknown`, { headers: basic(sandbox) })).status).toBe(404)
      expect(sandbox.realHostRequests).toEqual([])
    },
  )
})

// No request to the host of the management API may reach the vendor. The rest of its URL does not matter.
const spellings = [
  'https://API.Upstash.com:443/v2/redis/databases',
  'https://api.upstash.com./v2/redis/databases',
  'http://api.upstash.com/v2/redis/databases',
  'https://api.upstash.com:8443/v2/redis/databases',
  'https://api.upstash.com/v1/../v2/redis/databases?x=1#y',
]
const unknownPaths = ['https://api.upstash.com', 'https://api.upstash.com/v1/redis', 'http://api.upstash.com/auditlogs']

describe.each(adapters)('%s never forwards to the host of the management API', (_, start) => {
  test.each([...spellings.map((url) => [url, 200] as const), ...unknownPaths.map((url) => [url, 404] as const)])(
    '%s',
    async (url, status) => {
      using sandbox = createSandbox()
      ends.push(start(sandbox))
      expect((await fetch(url, { headers: basic(sandbox) })).status).toBe(status)
      expect(sandbox.traffic.entries.at(-1)).toMatchObject({ service: 'stats' })
    },
  )
})

test.each(['msw', 'nock', false] as const)('fixtures with intercept %s block what is not intercepted', async (via) => {
  using sandbox = sandboxOf({ intercept: via })
  ends.push(connect(sandbox, { intercept: via }))
  for (const url of [...spellings, ...unknownPaths]) {
    const answer = await fetch(url)
    expect([answer.status, await answer.text()]).toEqual([421, expect.stringContaining('was not intercepted')])
  }
})

test('replaceFetch() blocks the neutral dialect', async () => {
  vi.stubGlobal('fetch', network)
  using neutral = createSandbox({ dialect: 'neutral' })
  replaceFetch(neutral)
  await expect(fetch(`${real}/redis/databases`)).rejects.toThrow('a real host of the service, was blocked')
})

test.each([
  [{}, 401],
  [{ realHosts: 'block' }, 401],
  [{ realHosts: 'allow' }, 418],
] as const)('fixtures with %o: %s', async (options, expected) => {
  const passed = vi.fn(async () => new Response('from the network', { status: 418 }))
  vi.stubGlobal('fetch', passed)
  using sandbox = sandboxOf(options)
  ends.push(connect(sandbox, options))
  expect((await fetch(`${real}/redis/databases`)).status).toBe(expected)
  expect(passed).toHaveBeenCalledTimes(expected === 418 ? 1 : 0)
})

test('routeSandbox() routes requests of pages to the vendor', async () => {
  using sandbox = createSandbox()
  let takes: (url: URL) => boolean = () => false
  let handle: (route: object) => Promise<void> = async () => {}
  const context = {
    route: async (matcher: typeof takes, handler: typeof handle) => {
      takes = matcher
      handle = handler
    },
    unroute: async () => {},
  }
  await routeSandbox(context as never, sandbox)
  expect(takes(new URL(`${real}/redis/databases`))).toBe(true)
  expect(takes(new URL('https://shop.test/'))).toBe(false)
  const fulfill = vi.fn(async () => {})
  const request = {
    method: () => 'GET',
    url: () => `${real}/redis/databases`,
    headers: () => basic(sandbox),
    postDataBuffer: () => null,
  }
  await handle({ request: () => request, fulfill })
  expect(fulfill).toHaveBeenCalledWith(expect.objectContaining({ status: 200 }))
})
