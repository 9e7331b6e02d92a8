import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from '@upstash/redis'
import { setupServer } from 'msw/node'
import { afterEach, describe, expect, it } from 'vitest'
import { startServer } from '../../../packages/server/src/server.js'
import { replaceFetch } from '../../../src/adapters/fetch.js'
import { mswHandlers } from '../../../src/adapters/msw.js'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'

// The SDK's subscriptions over each transport of event streams.

let close: () => unknown = () => undefined

afterEach(() => close())

const transports: Readonly<Record<string, () => Sandbox | Promise<Sandbox>>> = {
  fetch() {
    const sandbox = createSandbox()
    replaceFetch(sandbox)
    close = () => sandbox.dispose()
    return sandbox
  },
  msw() {
    const sandbox = createSandbox()
    const server = setupServer(...mswHandlers(sandbox))
    server.listen({ onUnhandledFrame: 'error' } as never)
    close = () => {
      sandbox.dispose()
      server.close()
    }
    return sandbox
  },
  async server() {
    const server = await startServer({ port: 0, clock: 'manual' })
    close = () => server.close()
    return server.tenant('main')
  },
}

describe.each(Object.keys(transports))('subscribe() and psubscribe() through %s', (transport) => {
  it('receive messages until they unsubscribe', async () => {
    const sandbox = await transports[transport]!()
    const redis = new Redis({
      url: sandbox.env.UPSTASH_REDIS_REST_URL!,
      token: sandbox.env.UPSTASH_REDIS_REST_TOKEN!,
      retry: false,
    })
    const heard: unknown[] = []
    const channel = redis.subscribe(['news'])
    const pattern = redis.psubscribe(['n*'])
    for (const kind of ['subscribe', 'message', 'error'] as const) channel.on(kind, (data) => heard.push([kind, data]))
    for (const kind of ['psubscribe', 'pmessage', 'error'] as const)
      pattern.on(kind, (data) => heard.push([kind, data]))
    await until(() => heard.length === 2)
    expect(await redis.publish('news', { a: 'ü' })).toBe(2)
    await until(() => heard.length === 4)
    expect(heard.slice(2)).toEqual(
      expect.arrayContaining([
        ['message', { channel: 'news', message: { a: 'ü' } }],
        ['pmessage', { pattern: 'n*', channel: 'news', message: { a: 'ü' } }],
      ]),
    )
    await channel.unsubscribe()
    await until(() => listeners(sandbox) === 0)
    expect(await redis.publish('news', 'x')).toBe(1)
    await pattern.unsubscribe()
    await until(() => sandbox.store.run('PUBSUB', 'NUMPAT') === 0)
    expect(await redis.publish('news', 'x')).toBe(0)
    expect(sandbox.clock.pending).toEqual([])
  })
})

const listeners = (sandbox: Sandbox): unknown => (sandbox.store.run('PUBSUB', 'NUMSUB', 'news') as unknown[])[1]

/**
 * Waits until a condition holds. On a real network it takes a moment until the server sees that a client has
 * disconnected.
 */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await wait(1)
}
