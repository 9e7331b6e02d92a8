import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { http } from 'msw'
import { setupServer } from 'msw/node'
import { createSandbox } from 'stuntdouble'
import { mswHandlers, passthroughHandlers } from 'stuntdouble/msw'
import { afterEach, expect, test, vi } from 'vitest'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function listening(...handlers: Parameters<typeof setupServer>): void {
  // msw reports each refused request on the console, too.
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

test('our handlers stand beside those of the user', async () => {
  using sandbox = createSandbox()
  listening(
    ...mswHandlers(sandbox),
    http.get('https://shop.test/me', () => Response.json({ id: 42 })),
  )
  const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
  expect(await (await fetch(`${sandbox.addresses.store}/echo/hi`, { headers })).json()).toEqual({ result: 'hi' })
  expect(await (await fetch('https://shop.test/me')).json()).toEqual({ id: 42 })
  await expect(fetch('https://elsewhere.test/')).rejects.toThrow('fetch failed')
})

test('two sandboxes with names of their own live in one server', async () => {
  using a = createSandbox({ name: 'a' })
  using b = createSandbox({ name: 'b' })
  listening(...mswHandlers(a), ...mswHandlers(b))
  await fetch(`${b.addresses.store}/set/k/of-b?_token=${b.tokens.store}`)
  expect([a.store.run('GET', 'k'), b.store.run('GET', 'k')]).toEqual([null, 'of-b'])
})

test('passthroughHandlers let a server of ours through, and nothing beside it', async () => {
  const { origin } = await hello()
  listening(...passthroughHandlers(`${origin}/main`))
  expect(await (await fetch(`${origin}/main/store/ping?a=b`)).text()).toBe('hello /main/store/ping?a=b')
  expect(await (await fetch(`${origin}/main`)).text()).toBe('hello /main')
  await expect(fetch(`${origin}/mainly`)).rejects.toThrow('fetch failed')
  await expect(fetch(`${origin}/`)).rejects.toThrow('fetch failed')
})

test('passthroughHandlers of a bare origin let all of it through', async () => {
  const { origin } = await hello()
  listening(...passthroughHandlers(origin))
  expect(await (await fetch(`${origin}/any/path`)).text()).toBe('hello /any/path')
  expect(await (await fetch(`${origin}/`)).text()).toBe('hello /')
})
