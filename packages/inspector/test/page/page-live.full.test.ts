import { gzipSync } from 'node:zlib'
import type { Browser, Page } from '@playwright/test'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fault } from '../../../../src/index.js'
import { hasBrowser, launch } from '../../../../test/report/page.js'
import { type StuntdoubleServer, startServer } from '../../../server/src/server.js'
import { inspectorPage } from '../../src/page.js'
import { orders, seriousFindings } from './opened.js'

// The page of a running server in a real browser.

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const token = 'a-token-of-this-test'

test('the page has at most 62 kB compressed, without the editor', () => {
  const { html } = inspectorPage()
  expect(gzipSync(html, { level: 9 }).length).toBeLessThan(62_000)
  expect(html).not.toContain('Content-Security-Policy')
})

describe.runIf(hasBrowser)('a live page', () => {
  let browser: Browser
  let server: StuntdoubleServer
  beforeAll(async () => {
    browser = await launch()
    server = await startServer({ port: 0, clock: 'manual', controlToken: token, onError: () => {} })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  interface Opened {
    readonly page: Page
    readonly complaints: string[]
    /** Requests of the page: path, and whether the token was in the header. */
    readonly asked: { readonly url: string; readonly hasToken: boolean; readonly hasCookie: boolean }[]
  }

  const link = (): string => new URL(server.inspectorUrl).hash

  async function opened(fragment: string): Promise<Opened> {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    const complaints: string[] = []
    const asked: Opened['asked'] = []
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => {
      const headers = request.headers()
      asked.push({
        url: request.url(),
        hasToken: headers.authorization === `Bearer ${token}`,
        hasCookie: 'cookie' in headers,
      })
    })
    await page.goto(`${server.origin}/${fragment}`)
    return { page, complaints, asked }
  }

  const count = (page: Page) => page.locator('#count').textContent()

  test('removes the token from the URL immediately, keeps it for the tab, and sends it only as a header', async () => {
    server.tenant('main').store.run('SET', 'greeting', 'hello')
    const { page, complaints, asked } = await opened(`${link()}&entry=2&tab=Store`)
    await expect.poll(() => count(page)).toMatch(/entr/)
    expect(page.url()).not.toContain(token)
    expect(page.url()).toContain('tab=Store')
    await expect.poll(() => page.evaluate(() => ({ ...sessionStorage }))).toEqual({ 'stuntdouble-token': token })
    await expect
      .poll(() => page.evaluate(() => [document.cookie, JSON.stringify({ ...localStorage })]))
      .toEqual(['', '{}'])
    expect(asked.filter(({ url }) => url.includes(token))).toEqual([])
    expect(asked.filter(({ url }) => !url.startsWith(server.origin))).toEqual([])
    const orders = () => asked.filter(({ url }) => url.includes('/_control/'))
    await expect.poll(() => orders().length).toBeGreaterThan(2)
    expect(orders().filter(({ hasToken, hasCookie }) => !hasToken || hasCookie)).toEqual([])
    await page.reload()
    await expect.poll(() => count(page)).toMatch(/entr/)
    expect(complaints).toEqual([])
    await page.close()
  })

  test('leaves nothing in the history or in the timing of the navigation that opens the page again', async () => {
    const { page } = await opened(`${link()}&tab=Store`)
    await expect.poll(() => count(page)).toMatch(/entr/)
    const traces = await page.evaluate(() =>
      JSON.stringify([location.href, performance.getEntries().map((each) => each.toJSON()), document.referrer]),
    )
    expect(traces).not.toContain(token)
    const kept = /#code=[\w-]+/.exec(traces)
    const again = await opened(kept?.[0] ?? link())
    if (kept !== null) {
      await expect.poll(() => again.page.getByRole('alert').first().textContent()).toMatch(/used already/)
      await expect.poll(() => again.page.locator('.row').count()).toBe(0)
    }
    await again.page.close()
    await page.close()
  })

  test('shows an error and no data without the token', async () => {
    const { page } = await opened('')
    await expect.poll(() => page.getByRole('alert').first().textContent()).toMatch(/token/i)
    await expect.poll(() => page.locator('.row').count()).toBe(0)
    await page.close()
  })

  test('shows new entries, ended attempts, a reset, and another tenant as they happen', async () => {
    const { store, queue, destinations, clock } = server.tenant('flow')
    destinations.script(orders, [fault.status(503)])
    const { page, complaints } = await opened(`${link()}&tenant=flow`)
    await expect.poll(() => count(page)).toBe('0 entries')
    queue.publish({ to: orders, body: { id: 1 } })
    await expect.poll(() => page.locator('.row', { hasText: 'published' }).count()).toBe(1)
    await clock.advance('5s')
    await expect.poll(() => page.locator('.row', { hasText: 'attempt 1 of 4' }).textContent()).toContain('503')
    await expect.poll(() => page.locator('header').first().textContent()).toContain('00:00:05.000')
    await clock.drain()
    await expect.poll(() => page.locator('.row', { hasText: 'attempt 2 of 4' }).textContent()).toContain('200')
    await server.tenant('flow').reset()
    await expect.poll(() => page.locator('.row', { hasText: 'attempt' }).count()).toBe(0)
    server.tenant('flow').store.run('SET', 'after', 'reset')
    await expect.poll(() => page.locator('.row', { hasText: 'SET after' }).count()).toBe(1)
    expect(store).toBeDefined()
    expect(complaints).toEqual([])
    await page.close()
  })

  test('reports a server that is unavailable, and continues when it is available again', async () => {
    const { page } = await opened(`${link()}&tenant=gone`)
    server.tenant('gone').store.run('SET', 'a', 1)
    await expect.poll(() => page.locator('.row', { hasText: 'SET a' }).count()).toBe(1)
    await page.context().setOffline(true)
    await page.evaluate(() => fetch('/_health').catch(() => undefined))
    server.drop('gone')
    await expect
      .poll(() => page.getByRole('alert').allTextContents(), { timeout: 10_000 })
      .toContain('The server does not respond.')
    await page.context().setOffline(false)
    server.tenant('gone').store.run('SET', 'b', 1)
    await expect.poll(() => page.locator('.row', { hasText: 'SET b' }).count(), { timeout: 10_000 }).toBe(1)
    await expect.poll(() => page.getByRole('alert').allTextContents()).not.toContain('The server does not respond.')
    await page.close()
  })

  test('has no serious findings of axe in any panel, and runs no hostile captures', async () => {
    const { store, queue, destinations, clock } = server.tenant('evil')
    const evil = '<img src=x onerror="window.pwned=1"></script><script>window.pwned=2</script>'
    destinations.respond('https://shop.test/*', () => ({
      status: 500,
      body: evil,
      headers: { 'x-<b>': evil } as never,
    }))
    store.run('SET', evil, evil)
    store.run('HSET', `user:${evil}`, evil, evil)
    queue.publish({ to: `https://shop.test/?q=${evil}`, body: evil, label: evil, retries: 0 })
    queue.publish({ to: orders, delay: '1h' })
    await clock.advance('1m')
    const { page, complaints } = await opened(`${link()}&tenant=evil`)
    await expect.poll(() => page.locator('.row').count()).toBeGreaterThan(3)
    await page.locator('.row[role=option]').last().click()
    for (const tab of await page.getByRole('tablist', { name: 'Panels', exact: true }).getByRole('tab').all()) {
      await tab.click()
      expect([await tab.textContent(), await seriousFindings(page)]).toEqual([await tab.textContent(), []])
      await expect.poll(() => page.locator('#app :is(img, script)').count()).toBe(0)
    }
    await expect.poll(() => page.evaluate(() => (window as { pwned?: unknown }).pwned)).toBeUndefined()
    expect(complaints).toEqual([])
    await page.close()
  })
})
