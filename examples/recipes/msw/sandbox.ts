import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { mswHandlers } from 'stuntdouble/msw'
import 'stuntdouble/vitest/extend'
import { useSandbox } from 'stuntdouble/vitest'
import { afterAll, afterEach } from 'vitest'

// One msw server for all tests: the sandbox's handlers serve its services, and yours serve all other hosts.
export const sandbox = useSandbox()

export const server = setupServer(
  ...mswHandlers(sandbox),
  http.get('https://weather.test/v1/:city', () => HttpResponse.json({ degrees: 21 })),
)
server.listen({ onUnhandledFrame: 'error' })
afterEach(() => server.resetHandlers())
afterAll(() => server.close())
