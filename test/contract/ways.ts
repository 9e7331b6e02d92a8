import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium } from '@playwright/test'
import { setupServer } from 'msw/node'
import { createSandbox, type SandboxOptions } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { mswHandlers } from 'stuntdouble/msw'
import { fastNetwork } from 'stuntdouble/msw/fast'
import { startServer } from 'stuntdouble/server'
import { expect } from 'vitest'
import { routeSandbox } from '../../src/adapters/playwright.js'
import { listener } from '../../src/server/listener.js'
import { openStreamOutlet } from '../../src/server/stream-outlet.js'
import { findChromium } from '../support/chromium.js'
import { globalFetch, type OpenWay, options, type Served, type WayKind } from './adapter.js'
import { broken, increment, noAnswer, type Sight } from './request-faults.js'
import { carriage } from './transport.js'

/** Of msw: it hands an answer on once it has the first bytes of its body. */
const seenThroughMsw: Sight = {
  instead: {
    'half-open': { ...noAnswer, end: 20_000 },
    'truncate at once': noAnswer,
    'slow-body': { ...increment, head: 250, end: 3000 },
  },
  networkErrors: /^/,
  streams: 'break quietly',
}

/** Of a server: it has been found and has accepted, so that all it can do is cut. */
const seenOfServers: Sight = { networkErrors: /^(ECONNRESET|UND_ERR_SOCKET)$/ }

export const ways: readonly WayKind[] = [
  {
    name: 'sandbox.fetch',
    cannot: carriage['sandbox.fetch'],
    leading: {
      passesForeign: false,
      lead: async (served) => {
        let closed = false
        return {
          fetch: (input, init) =>
            closed ? Promise.reject(new TypeError('closed')) : served.fetch(input as string, init),
          close: () => {
            closed = true
          },
        }
      },
    },
  },
  {
    name: 'stuntdouble/fetch',
    cannot: carriage['stuntdouble/fetch'],
    leading: {
      passesForeign: true,
      lead: async (served) => ({ fetch: globalFetch, close: replaceFetch(served) }),
    },
  },
  {
    name: 'stuntdouble/msw',
    cannot: carriage['stuntdouble/msw'],
    sight: seenThroughMsw,
    leading: {
      passesForeign: true,
      lead: async (served) => {
        const server = setupServer(...mswHandlers(served))
        server.listen({ onUnhandledFrame: 'bypass' })
        return { fetch: globalFetch, close: () => server.close() }
      },
    },
  },
  {
    name: 'stuntdouble/msw/fast',
    cannot: {},
    leading: {
      passesForeign: true,
      lead: async (served) => {
        const network = fastNetwork(served, { onUnhandledFrame: 'bypass' })
        await network.enable()
        return { fetch: globalFetch, close: () => network.disable() }
      },
    },
  },
  {
    name: 'stuntdouble/playwright',
    ...(findChromium() === undefined && { missing: 'there is no Chromium on this machine' }),
    cannot: carriage['stuntdouble/playwright'],
    sight: {
      instead: {
        // The page follows a redirect to the body: when it has the head, time may have moved on.
        'half-open': { ...broken(''), end: 20_000 },
        'slow-body': { ...increment, end: 3000 },
        // A browser drops what its page has not read when a body breaks.
        truncate: { ...broken(''), part: expect.stringMatching(/^(\{"result)?$/) },
      },
      streams: 'lose their end',
      networkErrors: /^$/,
      headers: 'hidden',
    },
    open: () => openPage(options),
  },
  {
    name: 'the listener of node:http',
    cannot: {},
    sight: seenOfServers,
    leading: {
      passesForeign: false,
      lead: async (served) => {
        const bugs: unknown[] = []
        const { store, queue, mgmt } = served.addresses
        const listeners = await Promise.all(
          [store, queue, mgmt].map(async (address) => ({ address, ...(await listen(address, served, bugs)) })),
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
  },
  {
    name: 'stuntdouble serve',
    cannot: carriage['stuntdouble serve'],
    sight: seenOfServers,
    open: async () => {
      const server = await startServer({ port: 0, ...options, clock: 'manual' })
      return { sandbox: server.tenant('main'), fetch: globalFetch, close: () => server.close() }
    },
  },
  {
    name: 'a server that adopts a sandbox',
    cannot: carriage['a server that adopts a sandbox'],
    sight: seenOfServers,
    open: async () => {
      const server = await startServer({ port: 0 })
      const own = createSandbox(options)
      server.adopt('own', own)
      // The addresses of the server, and everything else of the sandbox itself.
      const served = createSandbox({ ...options, base: `${server.origin}/own` })
      const sandbox = new Proxy(own, {
        get: (target, name) => {
          if (name === 'addresses') return served.addresses
          const value = Reflect.get(target, name, target) as unknown
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
      return { sandbox, fetch: globalFetch, close: () => server.close() }
    },
  },
]

/** A server that knows itself by the address of one service. */
async function listen(
  address: string,
  served: Pick<Served, 'exchange'>,
  bugs: unknown[],
): Promise<{ origin: string; close(): Promise<unknown> }> {
  const server = createServer(
    listener(
      () => address,
      (call) => served.exchange(call),
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

/** As fetch in Node words it: Chromium says as much, in words of its own. */
const words: Readonly<Record<string, string>> = {
  'TypeError: Failed to fetch': 'fetch failed',
  'TypeError: network error': 'terminated',
}

function reworded(error: unknown): TypeError {
  const { message } = error as Error
  return new TypeError(words[message] ?? message)
}

/** A page whose requests a route answers, and a `fetch` that calls from there. */
async function openPage(given: SandboxOptions): Promise<OpenWay> {
  const sandbox = createSandbox(given)
  const outlet = await openStreamOutlet()
  const browser = await chromium.launch({
    executablePath: findChromium()!,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  const context = await browser.newContext()
  await context.route('https://app.test/', (route) => route.fulfill({ contentType: 'text/html', body: '<p>app</p>' }))
  await routeSandbox(context, sandbox, { serveStream: (answer) => outlet.serve(answer) })
  const page = await context.newPage()
  await page.goto('https://app.test/')
  const streams = new Map<number, (chunk: string | null, error?: string) => void>()
  let calls = 0
  await page.exposeFunction('chunk', (id: number, chunk: string | null, error?: string) =>
    streams.get(id)?.(chunk, error),
  )
  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const body = init.body === undefined ? undefined : Buffer.from(init.body as string).toString('base64')
    const id = ++calls
    const received = new ReadableStream<Uint8Array>({
      start: (controller) => {
        init.signal?.addEventListener('abort', () => controller.error(new Error('aborted')))
        streams.set(id, (chunk, error) => {
          if (error !== undefined) controller.error(reworded({ message: error }))
          else if (chunk === null) controller.close()
          else controller.enqueue(Buffer.from(chunk, 'base64'))
        })
      },
      cancel: () => page.evaluate((call) => (globalThis as unknown as PageGlobals).ends[call]?.(), id),
    })
    const call: PageCall = [String(input), id, { method: init.method, headers: init.headers, body }]
    const answer = (await page.evaluate(callFromPage, call as never)) as Told
    if ('error' in answer) throw reworded({ message: answer.error })
    const empty = answer.status === 204 || answer.status === 304
    return new Response(empty ? null : received, { status: answer.status, headers: answer.headers })
  }
  return {
    sandbox,
    fetch,
    close: async () => {
      await browser.close()
      await outlet.close()
      sandbox.dispose()
    },
  }
}

interface PageGlobals {
  chunk(id: number, chunk: string | null, error?: string): Promise<void>
  ends: Record<number, () => void>
}

type PageCall = readonly [
  url: string,
  id: number,
  init: { method?: string | undefined; headers?: RequestInit['headers'] | undefined; body?: string | undefined },
]

type Told = { error: string } | { status: number; headers: [string, string][] }

/** Runs in the page. */
async function callFromPage([url, id, init]: PageCall): Promise<Told> {
  const page = globalThis as unknown as PageGlobals
  page.ends ??= {}
  try {
    const { body, method = 'GET', headers = {} } = init
    const bytes = body === undefined ? {} : { body: Uint8Array.from(atob(body), (char) => char.charCodeAt(0)) }
    const answer = await fetch(url, { method, headers, ...bytes })
    const reader = answer.body?.getReader()
    page.ends[id] = () => void reader?.cancel()
    const pump = async (): Promise<void> => {
      for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
        let text = ''
        for (let at = 0; at < read.value.length; at += 8192) {
          text += String.fromCharCode(...read.value.subarray(at, at + 8192))
        }
        await page.chunk(id, btoa(text))
      }
      await page.chunk(id, null)
    }
    pump().catch((error) => page.chunk(id, null, String(error)))
    return { status: answer.status, headers: [...answer.headers] }
  } catch (error) {
    return { error: String(error) }
  }
}
