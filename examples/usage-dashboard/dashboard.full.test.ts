import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { chromium } from '@playwright/test'
import { fault, type Sandbox } from 'stuntdouble'
import { startServer } from 'stuntdouble/server'
import { usage } from 'stuntdouble/stats'
import { expect, test } from 'stuntdouble/vitest'
import { findChromium, noChromium } from '../../test/support/chromium.ts'
import { type Chart, readUsage, timeOf } from './figures.js'
import { dashboard } from './main.ts'

const orders = 'https://shop.test/orders'
const indexId = '1b671a64-40d5-491e-99b0-da01ff1f3341'
const periods = ['1h', '3h', '12h', '1d', '3d', '7d', '30d'] as const

test.override('sandboxOptions', { startAt: '2030-01-15T12:00:00Z' })

/** Runs an afternoon: three orders, one of which fails, and a search index with a busy half hour. */
async function afternoon({ clock, destinations, queue, stats }: Sandbox): Promise<void> {
  destinations.script(orders, [
    fault.status(200),
    fault.status(503),
    fault.status(200),
    fault.status(500),
    fault.status(500),
  ])
  queue.publish({ to: orders, body: 'one' })
  await clock.advance('5m')
  queue.publish({ to: orders, body: 'two' })
  await clock.advance('5m')
  queue.publish({ to: orders, body: 'in vain', retries: 1 })
  await clock.advance('7m30s')
  stats
    .search(indexId)
    .script([
      usage.steady({ queries: 120, updates: 12, vectors: 10_000, growth: 3, pending: 2 }, { jitter: 0.2 }),
      usage.spikeAt('-40m', 5, { for: '30m' }),
      usage.gap('-10m', '3m'),
      usage.latencies({ query: { mean: 12, p99: 40 } }),
    ])
}

const total = (chart: Chart, name: string): number =>
  chart.lines.find((line) => line.name === name)!.points.reduce((sum, { value }) => sum + value, 0)
const shown = (chart: Chart, name: string): string => chart.facts.find((one) => one.name === name)!.value

function sourceOf({ urls, fetch, stats, tokens }: Sandbox) {
  return {
    fetch,
    queue: `${urls.mgmt}/v2/qstash/stats/${stats.user.uuid}`,
    search: `${urls.mgmt}/v2/search/${indexId}/stats`,
    headers: { authorization: `Basic ${btoa(`${tokens.mgmtUser}:${tokens.mgmtKey}`)}` },
  }
}

test('shows the counts of the matchers in the charts', async ({ sandbox }) => {
  await afternoon(sandbox)
  const { queue } = sandbox
  for (const period of periods) {
    const { queue: chart } = await readUsage(sourceOf(sandbox), period)
    expect(queue).toHaveDelivered({ to: orders, state: 'DELIVERED' }, { times: total(chart, 'delivered') })
    expect(queue).toHaveDelivered({ to: orders, state: 'FAILED' }, { times: total(chart, 'failed') })
    expect(queue).toHaveDeadLetter({ to: orders }, { times: Number(shown(chart, 'dead letters')) })
    expect(total(chart, 'messages')).toBe(sandbox.traffic.ofType('attempt').length)
    expect(shown(chart, 'messages today')).toBe(String(total(chart, 'messages')))
    expect([total(chart, 'delivered'), total(chart, 'retried'), total(chart, 'failed')]).toEqual([2, 2, 1])
    // Each of the five attempts costs a hundred-thousandth of a dollar.
    expect(shown(chart, 'this month')).toBe('$0.000050')
    // The bandwidth is that of the five request bodies, because the responses have no body.
    expect(shown(chart, 'bandwidth today')).toBe(`${3 + 3 + 3 + 7 + 7} B`)
  }
})

test('shows values of sandbox.stats in the charts', async ({ sandbox }) => {
  await afternoon(sandbox)
  for (const period of periods) {
    const { queue, search } = await readUsage(sourceOf(sandbox), period)
    const told = sandbox.stats.search(indexId).report(period)
    const counted = sandbox.stats.queue.report(period)
    const plain = (points: readonly { readonly x: string; readonly y: number }[]) =>
      points.map(({ x, y }) => ({ at: timeOf(x), value: y }))
    expect(search.lines).toEqual([
      { name: 'queries', points: plain(told.query_throughput) },
      { name: 'updates', points: plain(told.update_throughput) },
    ])
    expect(queue.lines[0]).toEqual({ name: 'messages', points: plain(counted.daily_used) })
    expect(shown(search, 'queries this month')).toBe(told.monthly_query_count.toLocaleString('en-US'))
    expect(shown(search, 'vectors')).toBe('10,000')
    expect(shown(search, 'storage')).toBe('41 MB')
  }
})

test('parses both formats of timestamps', () => {
  expect(timeOf('2025-10-01 11:33:05.585757103 +0000 UTC')).toBe(Date.parse('2025-10-01T11:33:05.585Z'))
  expect(timeOf('2025-09-04 15:12:52.76649148 +0000 UTC')).toBe(Date.parse('2025-09-04T15:12:52.766Z'))
  expect(timeOf('2025-10-23 17:34:00.000 +0000 UTC')).toBe(Date.parse('2025-10-23T17:34:00Z'))
  expect(() => timeOf('2025-10-23T17:34:00Z')).toThrow('no time stamp')
})

test('shows an error of the API', async ({ sandbox }) => {
  const source = sourceOf(sandbox)
  await expect(readUsage({ ...source, headers: {} }, '1h')).rejects.toThrow('401: unauthorized')
  await expect(readUsage(source, '2h')).rejects.toThrow('400: invalid period')
})

const executablePath = findChromium()
if (executablePath === undefined) console.warn(`The page of the usage dashboard was not opened: ${noChromium}`)
else {
  test('shows the page in a browser, with a server', async () => {
    await using server = await startServer({ port: 0, clock: 'manual', startAt: '2030-01-15T12:00:00Z' })
    const sandbox = server.tenant('main')
    await afternoon(sandbox)
    const { mgmtUser: user, mgmtKey: key } = sandbox.tokens
    const { uuid: queueId } = sandbox.stats.user
    const pages = dashboard({ mgmt: sandbox.urls.mgmt, user, key, word: 'queue', queueId, searchId: indexId })
    await once(pages.listen(0, '127.0.0.1'), 'listening')
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    try {
      const page = await browser.newPage()
      await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`)
      const values = (chart: string, line: string): Promise<number[]> =>
        page
          .locator(`[data-chart="${chart}"] [data-line="${line}"] circle`)
          .evaluateAll((dots) => dots.map((dot) => Number(dot.getAttribute('data-value'))))
      const same = async (period: (typeof periods)[number]): Promise<void> => {
        const [counted, told] = [sandbox.stats.queue.report(period), sandbox.stats.search(indexId).report(period)]
        await page.locator('[data-chart="Search index"] circle').first().waitFor({ state: 'attached' })
        await page.locator('main:not([aria-busy])').waitFor({ state: 'attached' })
        expect(await values('Queue', 'messages')).toEqual(counted.daily_used.map(({ y }) => y))
        expect(await values('Search index', 'queries')).toEqual(told.query_throughput.map(({ y }) => y))
      }
      await same('1h')
      const delivered = (await values('Queue', 'delivered')).reduce((sum, value) => sum + value)
      expect(sandbox.queue).toHaveDelivered({ to: orders, state: 'DELIVERED' }, { times: delivered })
      await page.selectOption('#period', '30d')
      await same('30d')
      const facts = page.locator('[data-chart="Queue"] dl')
      expect(await facts.textContent()).toContain('dead letters')
      expect(await page.locator('[role=alert]').isHidden()).toBe(true)
    } finally {
      await browser.close()
      pages.close()
    }
  })
}
