import { describe, expect, test, vi } from 'vitest'

// Imports the previous major version, under its own names.
vi.mock('msw', () => import('msw2' as string))
const { mswHandlers, passthroughHandlers } = await import('../../src/adapters/msw.js')
const { http, HttpResponse } = await import('msw')
const { createSandbox } = await import('stuntdouble')
const { contractSuite } = await import('../contract/suite.js')
const { globalFetch } = await import('../contract/adapter.js')

interface Server2 {
  listen(options: { onUnhandledRequest: 'bypass' | 'error' }): void
  close(): void
}
const { setupServer } = (await import('msw2/node' as string)) as { setupServer(...handlers: unknown[]): Server2 }

contractSuite({
  name: 'stuntdouble/msw with msw 2',
  cannot: {},
  echoesOnly: true,
  connector: {
    passesOtherOrigins: true,
    // Its interceptors read a copy of each response and do not cancel it.
    exceptions: ['a body on GET is taken', 'a stream does not see that its client stopped reading'],
    connect: async (target) => {
      const server = setupServer(...mswHandlers(target))
      server.listen({ onUnhandledRequest: 'bypass' })
      return { fetch: globalFetch, close: () => server.close() }
    },
  },
})

describe('msw 2', () => {
  test('is the version under test', async () => {
    const { default: manifest } = (await import('msw2/package.json', { with: { type: 'json' } } as never)) as {
      default: { version: string }
    }
    expect(manifest.version).toMatch(/^2\./)
  })

  test("mswHandlers() work together with the user's handlers, and passthroughHandlers() let requests pass", async () => {
    const quiet = vi.spyOn(console, 'error').mockReturnValue(undefined)
    using sandbox = createSandbox()
    const handlers = [...mswHandlers(sandbox), ...passthroughHandlers('http://127.0.0.1:9/')]
    const server = setupServer(
      ...handlers,
      http.get('https://shop.test/me', () => HttpResponse.json({ id: 42 })),
    )
    server.listen({ onUnhandledRequest: 'error' })
    try {
      const answer = await fetch(`${sandbox.urls.store}/echo/hi?_token=${sandbox.tokens.store}`)
      expect(await answer.json()).toEqual({ result: 'hi' })
      expect(await (await fetch('https://shop.test/me')).json()).toEqual({ id: 42 })
      // Nothing listens there, so a refused connection shows that msw let the request pass.
      await expect(fetch('http://127.0.0.1:9/')).rejects.toMatchObject({
        cause: { message: expect.not.stringContaining('onUnhandledRequest') },
      })
    } finally {
      server.close()
      quiet.mockRestore()
    }
  })
})
