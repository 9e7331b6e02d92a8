import { Client, Receiver } from '@upstash/qstash'
import { setupServer } from 'msw/node'
import { createSandbox, type Policy, type Sandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { mswHandlers } from 'stuntdouble/msw'
import { startServer } from 'stuntdouble/server'
import { afterEach, beforeEach, vi } from 'vitest'
import { credentials } from '../../queue/world.js'

/** Transports by which a client reaches the double. */
export const ways = ['fetch', 'msw', 'server'] as const
export type Way = (typeof ways)[number]

const endings: (() => unknown)[] = []

/** Opens a queue and the vendor's own client for it. */
export async function sdkWorld(way: Way, policy: Partial<Policy> = {}) {
  const options = { startAt: '2030-01-01T00:00:00Z', policy } as const
  const sandbox = await reach(way, options)
  const client = new Client({ baseUrl: sandbox.urls.queue, token: credentials.token, retry: false })
  const receiver = new Receiver({ currentSigningKey: credentials.current, nextSigningKey: credentials.next })
  const { clock, traffic, queue, destinations } = sandbox
  return { sandbox, clock, traffic, queue, destinations, client, receiver }
}

async function reach(way: Way, options: Parameters<typeof createSandbox>[0]): Promise<Sandbox> {
  if (way === 'server') {
    const server = await startServer({ port: 0, ...options })
    endings.push(() => server.close())
    return server.tenant('main')
  }
  const sandbox = createSandbox(options)
  endings.push(() => sandbox.dispose())
  if (way === 'fetch') replaceFetch(sandbox)
  else {
    const interception = setupServer(...mswHandlers(sandbox))
    interception.listen({ onUnhandledFrame: 'error' })
    endings.push(() => interception.close())
  }
  return sandbox
}

/** Silences the console, on which the SDK prints what it throws, and ends after each test what the test opened. */
export function quietSdk(): void {
  beforeEach(() => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  })
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end()
    vi.restoreAllMocks()
  })
}
