import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { type StuntdoubleServer, startServer } from 'stuntdouble/server'
import { expect } from 'vitest'
import { listener } from '../../../packages/server/src/listener.js'
import { type ConnectingAdapter, globalFetch, type SandboxAdapter, type Target } from '../adapter.js'
import type { FaultVisibility } from '../request-faults.js'
import { unsupported } from '../transport.js'

/** A server has already accepted the connection, so it can only break it. */
const serverVisibility: FaultVisibility = { networkErrors: /^(ECONNRESET|UND_ERR_SOCKET)$/ }

export const nodeListener: ConnectingAdapter = {
  name: 'the listener of node:http',
  cannot: {},
  visibility: serverVisibility,
  connector: {
    passesOtherOrigins: false,
    connect: async (target) => {
      const bugs: unknown[] = []
      const { store, queue, mgmt } = target.urls
      const listeners = await Promise.all(
        [store, queue, mgmt].map(async (address) => ({ address, ...(await listen(address, target, bugs)) })),
      )
      const there = (url: string): string => {
        const found = listeners.find(({ address }) => url.startsWith(address))
        return found === undefined ? url : url.replace(found.address, found.origin)
      }
      return {
        fetch: async (input, init) =>
          input instanceof Request
            ? globalThis.fetch(new Request(there(input.url), input), init)
            : globalThis.fetch(there(String(input)), init),
        close: async () => {
          for (const { close } of listeners) await close()
          expect(bugs).toEqual([])
        },
      }
    },
  },
}

export const serve: SandboxAdapter = {
  name: 'stuntdouble serve',
  cannot: unsupported['stuntdouble serve'],
  visibility: serverVisibility,
  openSandbox: async (options) => {
    const server = await startServer({ port: 0, ...options, clock: 'manual' })
    return { sandbox: server.tenant('main'), fetch: globalFetch, close: () => closeNow(server) }
  },
}

export const rootOfServer: SandboxAdapter = {
  name: 'the root of stuntdouble serve',
  cannot: {},
  visibility: serverVisibility,
  openSandbox: async (options) => {
    const server = await startServer({ port: 0, ...options, clock: 'manual' })
    const main = server.tenant('main')
    // The URL of the data store for clients of serverless-redis-http, and of the queue for its SDK in development mode.
    const urls = { ...main.urls, store: server.origin, queue: server.origin }
    return { sandbox: withUrls(main, urls), fetch: globalFetch, close: () => closeNow(server) }
  },
}

export const adoptingServer: SandboxAdapter = {
  name: 'a server that adopts a sandbox',
  cannot: unsupported['a server that adopts a sandbox'],
  visibility: serverVisibility,
  openSandbox: async (options) => {
    const server = await startServer({ port: 0 })
    const own = createSandbox(options)
    server.adopt('own', own)
    // The URLs of the server, with all other members of the sandbox.
    const served = createSandbox({ ...options, urls: { base: `${server.origin}/own` } })
    const sandbox = withUrls(own, served.urls)
    return { sandbox, fetch: globalFetch, close: () => closeNow(server) }
  },
}

/** Returns the sandbox with other URLs. */
function withUrls(sandbox: Sandbox, urls: Sandbox['urls']): Sandbox {
  return new Proxy(sandbox, {
    get: (target, name) => {
      if (name === 'urls') return urls
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Omits the grace period of 2 seconds, because after an abort fetch keeps a connection that never sends a request. */
const closeNow = (server: StuntdoubleServer): Promise<void> => server.close({ grace: 0 })

/** A server that is configured with the URL of one service. */
async function listen(
  address: string,
  target: Pick<Target, 'exchange'>,
  bugs: unknown[],
): Promise<{ origin: string; close(): Promise<unknown> }> {
  const server = createServer(
    listener(
      () => address,
      (call) => target.exchange(call),
      (error) => bugs.push(error),
    ),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): Promise<unknown> => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}
