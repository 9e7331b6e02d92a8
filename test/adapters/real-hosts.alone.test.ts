import dns from 'node:dns'
import { get } from 'node:https'
import { Redis } from '@upstash/redis'
import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { mswHandlers } from 'stuntdouble/msw'
import { fastNetwork } from 'stuntdouble/msw/fast'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { connect, sandboxOf } from '../../fixtures/fixture-sandbox.js'

// Whichever adapter a test uses, requests to real hosts never reach the network. The look-ups below all adapters are
// recorded here. They fail, so that no test of this file can reach a real host.

const [lookup, promised] = [dns.lookup, dns.promises.lookup]
const looked: string[] = []
const ends: (() => unknown)[] = []

beforeEach(() => {
  dns.lookup = ((hostname: string, ...rest: unknown[]) => {
    looked.push(hostname)
    const callback = rest.at(-1) as (error: Error) => void
    setImmediate(callback, new Error('recorded'))
  }) as typeof dns.lookup
})
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end()
  expect(dns.promises.lookup).toBe(promised)
  dns.lookup = lookup
  looked.splice(0)
})

type Start = (sandbox: Sandbox, realHosts?: 'allow') => () => unknown

const adapters: [string, Start][] = [
  ['replaceFetch()', (sandbox, realHosts) => replaceFetch(sandbox, { ...(realHosts && { realHosts }) })],
  [
    'mswHandlers()',
    (sandbox, realHosts) => {
      const server = setupServer(
        ...mswHandlers(sandbox, { ...(realHosts && { realHosts }) }),
        http.get('https://vector.upstash.io/info', () => HttpResponse.text('mine')),
      )
      server.listen({ onUnhandledFrame: 'bypass' })
      return () => {
        server.close()
        sandbox.dispose()
      }
    },
  ],
  [
    'fastNetwork()',
    (sandbox, realHosts) => {
      const handlers = [http.get('https://vector.upstash.io/info', () => HttpResponse.text('mine'))]
      const fast = fastNetwork(sandbox, { handlers, onUnhandledFrame: 'bypass', ...(realHosts && { realHosts }) })
      fast.enable()
      return () => fast.disable()
    },
  ],
  ...(['msw', 'nock', false] as const).map((via): [string, Start] => [
    `a fixture with intercept: ${via}`,
    (_, realHosts) => {
      const options = { intercept: via, ...(realHosts && { realHosts }) }
      const own = sandboxOf(options)
      const end = connect(own, options)
      return () => {
        end()
        own.dispose()
      }
    },
  ]),
]

const hosts = ['qstash.upstash.io', 'eu1-cat.upstash.io', 'QSTASH-us-east-1.upstash.io', 'console.upstash.com']

describe.each(adapters)('%s', (name, start) => {
  test.each(hosts)('rejects a request to %s', async (host) => {
    using sandbox = createSandbox()
    ends.push(start(sandbox))
    await expect(fetch(`https://${host}/x`)).rejects.toThrow(
      `A request to ${host.toLowerCase()}, a real host of the service, was blocked. Point the client at the sandbox: https://`,
    )
    expect(looked).toEqual([])
  })

  test('rejects the SDK', async () => {
    using sandbox = createSandbox()
    ends.push(start(sandbox))
    const redis = new Redis({ url: 'https://x.upstash.io', token: 't', retry: { retries: 0 }, enableTelemetry: false })
    await expect(redis.get('k')).rejects.toThrow('A request to x.upstash.io, a real host of the service, was blocked.')
    expect(looked).toEqual([])
  })

  test("lets requests pass with realHosts: 'allow'", async () => {
    using sandbox = createSandbox()
    ends.push(start(sandbox, 'allow'))
    await expect(fetch('https://qstash.upstash.io/x')).rejects.toThrow('fetch failed')
    expect(looked).toEqual(['qstash.upstash.io'])
  })

  test('leaves hosts with a similar name alone', async () => {
    using sandbox = createSandbox()
    ends.push(start(sandbox))
    await expect(fetch('https://upstash.io.shop.test/')).rejects.toThrow('fetch failed')
    await expect(fetch('https://notupstash.io/')).rejects.toThrow('fetch failed')
    expect(looked).toEqual(['upstash.io.shop.test', 'notupstash.io'])
  })

  if (name !== 'fastNetwork()') {
    test('rejects a client over node:https', async () => {
      using sandbox = createSandbox()
      ends.push(start(sandbox))
      const error = await new Promise<Error>((resolve) => {
        get('https://qstash.upstash.io/').on('error', resolve)
      })
      expect(error.message).toContain('a real host of the service, was blocked.')
      expect(looked).toEqual([])
    })
  }

  if (name === 'mswHandlers()' || name === 'fastNetwork()') {
    test('lets a handler of the user respond for a real host', async () => {
      using sandbox = createSandbox()
      ends.push(start(sandbox))
      expect(await (await fetch('https://vector.upstash.io/info')).text()).toBe('mine')
      expect(sandbox.realHostRequests).toEqual([])
    })
  }
})

test('a loop of blocked requests does not starve the timers of the host', async () => {
  using sandbox = sandboxOf({ intercept: false })
  ends.push(connect(sandbox, { intercept: false }))
  let isDone = false
  setTimeout(() => {
    isDone = true
  }, 5)
  let times = 0
  for (; !isDone && times < 5_000; times++) await fetch('https://qstash.upstash.io/').catch(() => {})
  expect(isDone).toBe(true)
})

test('in Cloudflare Workers, rejects fetch without a look-up', async () => {
  // There, the module `dns` cannot be changed, and `fetch` never uses it.
  const before = dns.lookup
  const builtin = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(Object.freeze({ ...dns }) as never)
  ends.push(() => builtin.mockRestore())
  using sandbox = sandboxOf({ intercept: false })
  ends.push(connect(sandbox, { intercept: false }))
  expect(dns.lookup).toBe(before)
  await expect(fetch('https://qstash.upstash.io/x')).rejects.toThrow('a real host of the service, was blocked.')
  expect(looked).toEqual([])
})

test('rejects an unknown value and an unknown option', () => {
  using sandbox = createSandbox()
  expect(() => replaceFetch(sandbox, { realHosts: 'alow' as never })).toThrow(
    `realHosts must be 'allow' or 'block' (got "alow"). Did you mean "allow"?`,
  )
  expect(() => mswHandlers(sandbox, { realHost: 'allow' } as never)).toThrow('realHost')
})
