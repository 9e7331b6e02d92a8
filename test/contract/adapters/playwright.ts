import { chromium } from '@playwright/test'
import { createSandbox, type SandboxOptions } from 'stuntdouble'
import { expect } from 'vitest'
import { openStreamOutlet } from '../../../packages/server/src/stream-outlet.js'
import { routeSandbox } from '../../../src/adapters/playwright.js'
import { findChromium } from '../../support/chromium.js'
import type { ConnectedSandbox, SandboxAdapter } from '../adapter.js'
import { broken, increment } from '../request-faults.js'
import { unsupported } from '../transport.js'

export const playwright: SandboxAdapter = {
  name: 'stuntdouble/playwright',
  ...(findChromium() === undefined && { missing: 'there is no Chromium on this machine' }),
  cannot: unsupported['stuntdouble/playwright'],
  visibility: {
    instead: {
      // The page follows a redirect to the body, so time may have moved when it has the head.
      'half-open': { ...broken(''), end: 20_000 },
      'slow-body': { ...increment, end: 3000 },
      // A browser drops what the page has not read when a body breaks off.
      truncate: { ...broken(''), part: expect.stringMatching(/^(\{"result)?$/) },
    },
    streams: 'lose their end',
    networkErrors: /^$/,
    headers: 'hidden',
  },
  openSandbox: openPage,
}

/** Messages of Chromium with those of fetch in Node.js for the same errors. */
const nodeMessages: Readonly<Record<string, string>> = {
  'TypeError: Failed to fetch': 'fetch failed',
  'TypeError: network error': 'terminated',
}

function nodeError(error: unknown): TypeError {
  const { message } = error as Error
  return new TypeError(nodeMessages[message] ?? message)
}

/** A page whose requests a route responds to, and a `fetch` that calls from the page. */
async function openPage(options: SandboxOptions): Promise<ConnectedSandbox> {
  const sandbox = createSandbox(options)
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
          if (error !== undefined) controller.error(nodeError({ message: error }))
          else if (chunk === null) controller.close()
          else controller.enqueue(Buffer.from(chunk, 'base64'))
        })
      },
      cancel: () => page.evaluate((call) => (globalThis as unknown as PageGlobals).ends[call]?.(), id),
    })
    const call: PageCall = [String(input), id, { method: init.method, headers: init.headers, body }]
    const answer = (await page.evaluate(callFromPage, call as never)) as PageResult
    if ('error' in answer) throw nodeError({ message: answer.error })
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

type PageResult = { error: string } | { status: number; headers: [string, string][] }

/** Runs in the page. */
async function callFromPage([url, id, init]: PageCall): Promise<PageResult> {
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
