import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { chromium } from '@playwright/test'
import { handle, Realtime } from '@upstash/realtime'
import { Redis } from '@upstash/redis'
import { build } from 'esbuild'
import { createSandbox } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { findChromium, noChromium } from '../support/chromium.js'

// The hook of @upstash/realtime in a page, with EventSource of Chromium and the route in this process.

const schema = { order: { placed: z.object({ id: z.number() }), shipped: z.object({ id: z.number() }) } }

const page = `
  import { createRealtime, RealtimeProvider } from '@upstash/realtime/client'
  import { createElement, useState } from 'react'
  import { createRoot } from 'react-dom/client'

  const { useRealtime } = createRealtime()
  function Orders() {
    const [ids, setIds] = useState([])
    const onData = ({ data }) => setIds((before) => [...before, data.id])
    const { status } = useRealtime({ channels: ['orders'], events: ['order.placed'], onData })
    return createElement('p', {}, status + ': ' + ids.join(' '))
  }
  createRoot(document.body).render(createElement(RealtimeProvider, {}, createElement(Orders)))`

async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: page, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  return `<!doctype html><body><script type="module">${outputFiles[0]!.text.replaceAll('</script', '<\\/script')}</script>`
}

const missing = findChromium() === undefined

describe.skipIf(missing)(`useRealtime() in a page${missing ? `: not run, ${noChromium}` : ''}`, () => {
  test('receives events, and continues after the last one when the route asks for a new connection', async () => {
    const sandbox = createSandbox({ clock: 'real' })
    const redis = new Redis({
      url: sandbox.env.UPSTASH_REDIS_REST_URL!,
      token: sandbox.env.UPSTASH_REDIS_REST_TOKEN!,
    })
    const replaced = globalThis.fetch
    globalThis.fetch = sandbox.fetch
    const realtime = new Realtime({ redis, schema, maxDurationSecs: 4 })
    const requests: URL[] = []
    const html = await bundled()
    const server = createServer(async (request, response) => {
      const url = new URL(request.url!, 'http://localhost')
      if (url.pathname !== '/api/realtime') return void response.setHeader('content-type', 'text/html').end(html)
      requests.push(url)
      const abort = new AbortController()
      response.on('close', () => abort.abort())
      const { headers, body } = (await handle({ realtime })(new Request(url, { signal: abort.signal })))!
      response.writeHead(200, Object.fromEntries(headers))
      await pipeline(Readable.fromWeb(body as never), response).catch(() => undefined)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const browser = await chromium.launch({
      executablePath: findChromium()!,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    })
    try {
      const opened = await browser.newPage()
      await opened.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      const orders = realtime.channel('orders')
      const shown = (text: string) => opened.getByText(text, { exact: true }).waitFor({ timeout: 20_000 })
      await expect
        .poll(() => sandbox.store.run('PUBSUB', 'NUMSUB', 'orders'), { timeout: 20_000 })
        .toEqual(['orders', 1])
      await orders.emit('order.placed', { id: 1 })
      await orders.emit('order.shipped', { id: 2 })
      await shown('connected: 1')
      const [, last] = await orders.history()
      await expect.poll(() => requests.length, { timeout: 20_000 }).toBeGreaterThan(1)
      expect(requests[1]!.searchParams.get('last_ack_orders')).toBe(last!.id)
      await orders.emit('order.placed', { id: 3 })
      await shown('connected: 1 3')
    } finally {
      await browser.close()
      server.closeAllConnections()
      server.close()
      globalThis.fetch = replaced
      sandbox.dispose()
    }
  }, 90_000)
})
