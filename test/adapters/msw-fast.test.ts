import { bypass, HttpResponse, http } from 'msw'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { fastNetwork } from 'stuntdouble/msw/fast'
import { afterEach, expect, test, vi } from 'vitest'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function enabled(sandbox: Sandbox, options: Parameters<typeof fastNetwork>[1]) {
  const network = fastNetwork(sandbox, options)
  network.enable()
  ends.push(() => network.readyState === 1 && network.disable())
  return network
}

test("the sandbox responds to its URLs, and the user's handlers to all others", async () => {
  using sandbox = createSandbox()
  const network = enabled(sandbox, {
    handlers: [
      http.get('https://shop.test/me', () => HttpResponse.json({ id: 42 })),
      http.post('https://shop.test/body', async ({ request }) => HttpResponse.text(await request.text())),
      http.get('https://shop.test/broken', () => HttpResponse.error()),
      http.get('https://shop.test/bug', () => {
        throw new RangeError('a bug')
      }),
    ],
    onUnhandledFrame: 'bypass',
  })
  const answer = await fetch(`${sandbox.urls.store}/echo/hi?_token=${sandbox.tokens.store}`)
  expect(await answer.json()).toEqual({ result: 'hi' })
  const me = await fetch('https://shop.test/me')
  expect([me.url, await me.json()]).toEqual(['https://shop.test/me', { id: 42 }])
  expect(await (await fetch('https://shop.test/body', { method: 'POST', body: 'sent' })).text()).toBe('sent')
  await expect(fetch('https://shop.test/broken')).rejects.toThrow(TypeError)
  const bug = await fetch('https://shop.test/bug')
  expect([bug.status, await bug.json()]).toMatchObject([500, { name: 'RangeError', message: 'a bug' }])
  network.use(http.get('https://shop.test/me', () => HttpResponse.json({ id: 43 })))
  expect(await (await fetch('https://shop.test/me')).json()).toEqual({ id: 43 })
  network.resetHandlers()
  expect(await (await fetch('https://shop.test/me')).json()).toEqual({ id: 42 })
})

test('rejects unhandled requests if configured, and lets bypass() pass', async () => {
  const quiet = vi.spyOn(console, 'error').mockReturnValue(undefined)
  ends.push(() => quiet.mockRestore())
  const before = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
    return new Response((input as Request).headers.get('accept') ?? 'no accept')
  })
  ends.push(() => before.mockRestore())
  using sandbox = createSandbox()
  enabled(sandbox, { onUnhandledFrame: 'error' })
  await expect(fetch('https://elsewhere.test/')).rejects.toThrow('fetch failed')
  const request = bypass('https://elsewhere.test/', { headers: { accept: 'text/plain' } })
  expect(await (await fetch(request)).text()).toBe('text/plain')
})

test('releases a client that aborts', async () => {
  using sandbox = createSandbox()
  enabled(sandbox, { handlers: [http.get('https://shop.test/slow', () => new Promise<never>(() => {}))] })
  const client = new AbortController()
  const answer = fetch('https://shop.test/slow', { signal: client.signal })
  client.abort()
  await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
  await expect(fetch('https://shop.test/slow', { signal: AbortSignal.abort() })).rejects.toMatchObject({
    name: 'AbortError',
  })
})

test('disable() and the end of the sandbox restore the previous fetch', () => {
  const before = globalThis.fetch
  const sandbox = createSandbox()
  enabled(sandbox, {}).disable()
  expect(globalThis.fetch).toBe(before)
  enabled(sandbox, {})
  expect(globalThis.fetch).not.toBe(before)
  sandbox.dispose()
  expect(globalThis.fetch).toBe(before)
})
