import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser } from '@playwright/test'
import { afterAll, beforeAll, describe, test, vi } from 'vitest'
import { fault } from '../../../../src/index.js'
import { hasBrowser, launch } from '../../../../test/report/page.js'
import { type StuntdoubleServer, startServer } from '../../../server/src/server.js'

// The screenshots of docs/inspector.md, which are taken on demand: PICTURES=1 npx vitest run <this file>.

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })
const folder = fileURLToPath(new URL('../../../../docs/pictures/', import.meta.url))

interface Picture {
  readonly name: string
  readonly dark: boolean
  readonly width: number
  readonly height: number
  readonly tab: string
}

const pictures: readonly Picture[] = [
  { name: 'inspector-light', dark: false, width: 1280, height: 760, tab: 'Entry' },
  { name: 'inspector-store-dark', dark: true, width: 1280, height: 760, tab: 'Store' },
  { name: 'inspector-queue', dark: false, width: 1280, height: 760, tab: 'Queue' },
  { name: 'inspector-narrow', dark: false, width: 375, height: 800, tab: 'Entry' },
]

/** Plays a shop with many failures. */
async function shop(server: StuntdoubleServer): Promise<void> {
  const sandbox = server.tenant('main')
  const { clock, destinations, faults, queue, store } = sandbox
  const [orders, done] = ['https://shop.test/api/orders', 'https://shop.test/api/done']
  destinations.on(orders, async (request) => {
    const { id } = (await request.json()) as { id: number }
    store.run('HSET', `order:${id}`, 'state', 'paid', 'total', 40 + id)
    store.run('DECR', 'stock')
    return new Response('{"ok":true}', { headers: { 'content-type': 'application/json' } })
  })
  destinations.script(orders, [fault.status(200), fault.status(503), fault.status(502), fault.status(500)])
  destinations.respond(done, () => 200)
  store.run('SET', 'stock', 20)
  store.run('SET', 'session:ada', '{"name":"Ada","cart":[7,9]}', 'EX', 86_400)
  faults.add({ on: 'queue.delivery', times: 1, skip: 6, fault: fault.status(502) })
  for (let id = 1; id <= 9; id++) {
    queue.publish({
      to: orders,
      body: { id },
      delay: `${id * 37}m`,
      callback: done,
      flowControlKey: 'shop',
    })
  }
  queue.publish({ to: orders, body: { id: 10 }, delay: '2d' })
  await clock.advance('9h')
}

describe.runIf(hasBrowser && process.env.PICTURES === '1')('pictures', () => {
  let browser: Browser
  let server: StuntdoubleServer
  beforeAll(async () => {
    browser = await launch()
    server = await startServer({ port: 0, clock: 'manual', onError: () => {} })
    await shop(server)
    mkdirSync(folder, { recursive: true })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  test.each(pictures)('takes $name', async ({ name, dark, width, height, tab }) => {
    const colorScheme = dark ? 'dark' : 'light'
    const page = await browser.newPage({ viewport: { width, height }, colorScheme })
    const { traffic } = server.tenant('main')
    const failed = traffic.ofType('attempt').find(({ outcome }) => outcome?.status === 503) ?? traffic.last('attempt')!
    page.setDefaultTimeout(5_000)
    await page.goto(`${server.origin}/#entry=${failed.seq}`)
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'true')
    await page.getByRole('tab', { name: tab, exact: true }).first().click()
    if (tab === 'Store') await page.locator('.pn-key').first().click()
    if (width < 800) await page.evaluate(() => scrollTo(0, 0))
    await page.waitForTimeout(300)
    await page.screenshot({ path: `${folder}${name}.png` })
    await page.close()
  })
})
