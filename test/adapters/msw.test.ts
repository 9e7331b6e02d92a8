import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { http } from 'msw'
import { setupServer } from 'msw/node'
import { createSandbox, fakeTimers } from 'stuntdouble'
import { mswHandlers, passthroughHandlers } from 'stuntdouble/msw'
import { afterEach, expect, test, vi } from 'vitest'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function listening(...handlers: Parameters<typeof setupServer>): void {
  // msw also prints each rejected request on the console.
  const quiet = vi.spyOn(console, 'error').mockReturnValue(undefined)
  ends.push(() => quiet.mockRestore())
  const server = setupServer(...handlers)
  server.listen({ onUnhandledFrame: 'error' })
  ends.push(() => server.close())
}

async function hello(): Promise<{ origin: string; port: number }> {
  const server = createServer((request, response) => response.end(`hello ${request.url}`))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => new Promise((resolve) => server.close(resolve)))
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, port }
}

test('mswHandlers() work together with handlers of the user', async () => {
  using sandbox = createSandbox()
  listening(
    ...mswHandlers(sandbox),
    http.get('https://shop.test/me', () => Response.json({ id: 42 })),
  )
  const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
  expect(await (await fetch(`${sandbox.urls.store}/echo/hi`, { headers })).json()).toEqual({ result: 'hi' })
  expect(await (await fetch('https://shop.test/me')).json()).toEqual({ id: 42 })
  await expect(fetch('https://elsewhere.test/')).rejects.toThrow('fetch failed')
})

test('two sandboxes with different names share one msw server', async () => {
  using a = createSandbox({ name: 'a' })
  using b = createSandbox({ name: 'b' })
  listening(...mswHandlers(a), ...mswHandlers(b))
  await fetch(`${b.urls.store}/set/k/of-b?_token=${b.tokens.store}`)
  expect([a.store.run('GET', 'k'), b.store.run('GET', 'k')]).toEqual([null, 'of-b'])
})

test('passthroughHandlers() let requests below a URL pass, and no others', async () => {
  const { origin } = await hello()
  listening(...passthroughHandlers(`${origin}/main`))
  expect(await (await fetch(`${origin}/main/store/ping?a=b`)).text()).toBe('hello /main/store/ping?a=b')
  expect(await (await fetch(`${origin}/main`)).text()).toBe('hello /main')
  await expect(fetch(`${origin}/mainly`)).rejects.toThrow('fetch failed')
  await expect(fetch(`${origin}/`)).rejects.toThrow('fetch failed')
})

test('passthroughHandlers() of an origin let all its requests pass', async () => {
  const { origin } = await hello()
  listening(...passthroughHandlers(origin))
  expect(await (await fetch(`${origin}/any/path`)).text()).toBe('hello /any/path')
  expect(await (await fetch(`${origin}/`)).text()).toBe('hello /')
})

test('scopes of server.boundary() can add handlers of their own', async () => {
  using sandbox = createSandbox()
  const server = setupServer(...mswHandlers(sandbox))
  server.listen({ onUnhandledFrame: 'bypass' })
  ends.push(() => server.close())
  const name = async (): Promise<string> => (await fetch('https://shop.test/name')).text()
  const scope = (answer: string) =>
    server.boundary(async () => {
      server.use(http.get('https://shop.test/name', () => new Response(answer)))
      await fetch(`${sandbox.urls.store}/incr/visits?_token=${sandbox.tokens.store}`)
      return name()
    })
  expect(await Promise.all([scope('one')(), scope('two')()])).toEqual(['one', 'two'])
  expect(sandbox.store.get('visits')).toBe('2')
})

test("a user's later handler takes precedence, and resetHandlers() restores the sandbox's handlers", async () => {
  using sandbox = createSandbox()
  const server = setupServer(...mswHandlers(sandbox))
  server.listen({ onUnhandledFrame: 'bypass' })
  ends.push(() => server.close())
  const url = `${sandbox.urls.store}/ping?_token=${sandbox.tokens.store}`
  server.use(http.get(url.split('?')[0]!, () => new Response('busy', { status: 503 })))
  expect((await fetch(url)).status).toBe(503)
  server.resetHandlers()
  expect(await (await fetch(url)).json()).toEqual({ result: 'PONG' })
})

test("responses arrive under fake timers, and the sandbox's clock drives a waiting client", async () => {
  using sandbox = createSandbox()
  vi.useFakeTimers({ now: sandbox.clock.now() })
  ends.push(() => vi.useRealTimers())
  sandbox.clock.follow(fakeTimers(vi))
  listening(...mswHandlers(sandbox))
  sandbox.faults.add({ on: 'store.request', times: 1, fault: { kind: 'status', status: 503 } })
  const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
  const client = async (): Promise<string> => {
    for (;;) {
      const answer = await fetch(`${sandbox.urls.store}/echo/hi`, { headers })
      if (answer.ok) return answer.text()
      await new Promise((resume) => setTimeout(resume, 2000))
    }
  }
  const answer = client()
  // A real client needs some turns before it waits.
  const { setImmediate: turn } = await vi.importActual<typeof import('node:timers/promises')>('node:timers/promises')
  while (vi.getTimerCount() === 0) await turn()
  await sandbox.clock.advance('2s')
  expect(await answer).toBe('{"result":"hi"}')
})

test('mswHandlers() intercepts the URLs of databases', async () => {
  using sandbox = createSandbox({ databases: ['us'], urls: { databases: { us: 'https://us.elsewhere.test/a' } } })
  listening(...mswHandlers(sandbox))
  const headers = { authorization: `Bearer ${sandbox.tokens.databases.us!.store}` }
  await fetch(`${sandbox.urls.databases.us}/set/a/1`, { headers })
  expect(sandbox.storeIn('us').get('a')).toBe('1')
})
