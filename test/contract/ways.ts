import { type Browser, chromium } from '@playwright/test'
import { setupServer } from 'msw/node'
import { createSandbox, type SandboxOptions } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { mswHandlers } from 'stuntdouble/msw'
import { startServer } from 'stuntdouble/server'
import { routeSandbox } from '../../src/adapters/playwright.js'
import { openStreamOutlet } from '../../src/server/stream-outlet.js'
import { findChromium } from '../support/chromium.js'
import { carriage, type Need, type WayName } from './carriage.js'
import type { Way } from './client.js'

export interface OpenWay extends Way {
  close(): Promise<void> | void
}

export interface WayKind {
  readonly name: WayName
  /** Why it cannot be opened on this machine. */
  readonly missing?: string
  open(): Promise<OpenWay>
}

export const options: SandboxOptions = { seed: 7, startAt: '2030-01-01T09:00:00Z', warn: () => {} }
/** Why a way cannot carry something; `undefined` when it can. */
export function reasonAgainst(name: WayName, need: Need): string | undefined {
  return (carriage[name] as Partial<Record<Need, string>>)[need]
}

export const globalFetch: typeof globalThis.fetch = (input, init) => globalThis.fetch(input, init)

export const ways: readonly WayKind[] = [
  {
    name: 'sandbox.fetch',
    open: async () => {
      const sandbox = createSandbox(options)
      return { sandbox, fetch: sandbox.fetch as typeof globalThis.fetch, close: () => sandbox.dispose() }
    },
  },
  {
    name: 'stuntdouble/fetch',
    open: async () => {
      const sandbox = createSandbox(options)
      replaceFetch(sandbox)
      return { sandbox, fetch: globalFetch, close: () => sandbox.dispose() }
    },
  },
  {
    name: 'stuntdouble/msw',
    open: async () => {
      const sandbox = createSandbox(options)
      const server = setupServer(...mswHandlers(sandbox))
      server.listen({ onUnhandledFrame: 'error' })
      return {
        sandbox,
        fetch: globalFetch,
        close: () => {
          server.close()
          sandbox.dispose()
        },
      }
    },
  },
  {
    name: 'stuntdouble/playwright',
    ...(findChromium() === undefined && { missing: 'there is no Chromium on this machine' }),
    open: () => openPage(options),
  },
  {
    name: 'stuntdouble serve',
    open: async () => {
      const server = await startServer({ port: 0, ...options, clock: 'manual' })
      return { sandbox: server.tenant('main'), fetch: globalFetch, close: () => server.close() }
    },
  },
  {
    name: 'a server that adopts a sandbox',
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

/** Started once for all who need a page. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium()!,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
}

/** A page whose requests a route answers, and a `fetch` that calls from there. */
export async function openPage(given: SandboxOptions, shared?: Browser): Promise<OpenWay> {
  const sandbox = createSandbox(given)
  const outlet = await openStreamOutlet()
  const browser = shared ?? (await openBrowser())
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
        streams.set(id, (chunk, error) => {
          if (error !== undefined) controller.error(new TypeError(error))
          else if (chunk === null) controller.close()
          else controller.enqueue(Buffer.from(chunk, 'base64'))
        })
      },
      cancel: () => page.evaluate((call) => (globalThis as unknown as PageGlobals).ends[call]?.(), id),
    })
    const call: PageCall = [String(input), id, { method: init.method, headers: init.headers, body }]
    const answer = (await page.evaluate(callFromPage, call as never)) as Told
    if ('error' in answer) throw new TypeError(answer.error)
    const empty = answer.status === 204 || answer.status === 304
    return new Response(empty ? null : received, { status: answer.status, headers: answer.headers })
  }
  return {
    sandbox,
    fetch,
    close: async () => {
      if (shared === undefined) await browser.close()
      else await context.close()
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
