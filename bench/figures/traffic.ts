// What capturing costs, over the same work with nothing captured, and how the HTML report of ten thousand entries
// opens. A captured log grows while a test runs, so each turn begins with an empty one.
import { existsSync } from 'node:fs'
import { type Browser, chromium } from '@playwright/test'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { toHtml } from 'stuntdouble/report'
import type { Figure, Variant } from '../harness.ts'

const url = 'https://shop.test/orders'
const off = { policy: { trafficLimit: 0 } } as const

function commands(name: string, options: object, perTest: number): Variant {
  return {
    name,
    async run(times) {
      for (let left = times; left > 0; left -= perTest) {
        using sandbox = createSandbox(options)
        sandbox.store.run('SET', 'greeting', 'hello')
        const init: RequestInit = {
          method: 'POST',
          body: '["GET","greeting"]',
          headers: { authorization: `Bearer ${sandbox.tokens.store}`, 'content-type': 'application/json' },
        }
        const restore = replaceFetch(sandbox)
        for (let count = Math.min(left, perTest); count > 0; count--) {
          await (await fetch(`${sandbox.addresses.store}/`, init)).text()
        }
        restore()
      }
    },
  }
}

/** A world for each test: what a log keeps, the collector of garbage copies. */
function storeCommand(): Figure {
  return {
    name: 'a store command through stuntdouble/fetch in a test of 200, captured over not captured',
    baseline: commands('nothing captured', off, 200),
    variants: [commands('captured', {}, 200)],
    rounds: 25,
    turn: 100,
    atMost: { captured: 1.1 },
  }
}

function manyCommands(): Figure {
  return {
    name: 'a store command through stuntdouble/fetch in a test of 2,000, captured over not captured',
    baseline: commands('nothing captured', off, 2000),
    variants: [commands('captured', {}, 2000)],
    rounds: 25,
    turn: 100,
    atMost: { captured: 1.1 },
  }
}

let spent = 0

/** Only the work counts, not what was put in before it. */
async function counted(work: () => Promise<void>): Promise<void> {
  globalThis.gc?.()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  spent = user + system
}

function attempts(name: string, options: object, move: (sandbox: Sandbox, times: number) => Promise<void>): Variant {
  return {
    name,
    run(times) {
      const sandbox = createSandbox(options)
      sandbox.destinations.answer(url, () => 200)
      for (let index = 0; index < times; index++) {
        sandbox.queue.publish({ to: url, body: '{"id":1}', delay: `${index + 1}s` })
      }
      return counted(() => move(sandbox, times))
    },
  }
}

function drainedAttempts(): Figure {
  const drain = (sandbox: Sandbox, times: number): Promise<void> => sandbox.clock.drain({ budget: times * 2 })
  return {
    name: 'a virtual attempt, captured over not captured',
    baseline: attempts('nothing captured', off, drain),
    variants: [attempts('captured', {}, drain)],
    times: 50_000,
    rounds: 15,
    reading: () => spent,
    atMost: { captured: 1.15 },
  }
}

/** The test moves time for each single attempt: every one has a move of time in the log. */
function steppedAttempts(): Figure {
  const step = async (sandbox: Sandbox, times: number): Promise<void> => {
    for (let count = 0; count < times; count++) await sandbox.clock.advance(1000)
  }
  return {
    name: 'a virtual attempt with a move of time of its own, captured over not captured',
    baseline: attempts('nothing captured', off, step),
    variants: [attempts('captured', {}, step)],
    times: 20_000,
    rounds: 15,
    reading: () => spent,
    atMost: { captured: 1.15 },
  }
}

const executablePath = '/usr/bin/chromium'

async function reportOf(entries: number): Promise<string> {
  const sandbox = createSandbox()
  sandbox.destinations.answer(url, (delivery) => (Number(delivery.retried) === 0 ? 500 : 200))
  sandbox.destinations.answer('https://shop.test/done', () => 200)
  for (let count = 0; count * 8 < entries; count++) {
    sandbox.queue.publish({
      to: url,
      body: { id: count },
      delay: `${count % 100}s`,
      callback: 'https://shop.test/done',
    })
  }
  await sandbox.clock.drain()
  while (sandbox.traffic.size < entries) sandbox.store.run('SET', `key:${sandbox.traffic.size}`, 'value')
  return toHtml(sandbox.traffic)
}

/** Opens a page, scrolls through the list and the lanes, filters, zooms. @returns its longest task in milliseconds */
async function longestTask(browser: Browser, html: string): Promise<number> {
  const page = await browser.newPage()
  await page.addInitScript(() => {
    const tasks: number[] = []
    Object.assign(window, { tasks })
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration))).observe({
      type: 'longtask',
      buffered: true,
    })
  })
  await page.route('https://report.test/', (route) => route.fulfill({ contentType: 'text/html', body: html }))
  await page.goto('https://report.test/')
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true')
  for (let part = 0; part <= 1; part += 0.05) {
    await page.evaluate((to) => {
      for (const id of ['list', 'lanes']) {
        const element = document.getElementById(id)!
        element.scrollTop = element.scrollHeight * to
      }
      return new Promise(requestAnimationFrame)
    }, part)
  }
  await page.getByRole('searchbox').fill('callback')
  await page.waitForTimeout(200)
  for (let count = 0; count < 5; count++) await page.getByRole('button', { name: 'Zoom in' }).click()
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.waitForTimeout(100)
  const tasks = await page.evaluate(() => (window as unknown as { tasks: number[] }).tasks)
  await page.close()
  // Shorter ones are not reported: 50 ms is where a long task begins.
  return Math.max(50, ...tasks)
}

async function htmlReport(): Promise<Figure | undefined> {
  if (!existsSync(executablePath)) return undefined
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  let longest = 0
  const page = (name: string, html: string): Variant => ({
    name,
    async run() {
      longest = await longestTask(browser, html)
    },
  })
  return {
    name: 'the longest task of a browser that opens the HTML report, scrolls, filters and zooms',
    baseline: page('100 entries', await reportOf(100)),
    variants: [page('10,000 entries', await reportOf(10_000))],
    times: 1,
    rounds: 5,
    reading: () => longest * 1000,
    within: { '10,000 entries': 200_000 },
    dispose: () => browser.close(),
  }
}

function writtenReport(): Figure {
  const sandbox = createSandbox()
  sandbox.destinations.answer(url, () => 200)
  for (let count = 0; count < 3000; count++) sandbox.queue.publish({ to: url, body: { id: count } })
  const variant = (name: string, run: () => unknown): Variant => ({
    name,
    async run(times) {
      if (sandbox.traffic.of('attempt').length === 0) await sandbox.clock.drain()
      for (let count = 0; count < times; count++) run()
    },
  })
  return {
    name: 'writing 6,000 entries, over JSON.stringify of the bare entries',
    baseline: variant('bare entries', () => JSON.stringify(sandbox.traffic.entries)),
    variants: [
      variant('trace', () => JSON.stringify(sandbox.traffic)),
      variant('HAR', () => JSON.stringify(sandbox.traffic.toHar())),
      variant('timeline', () => sandbox.traffic.timeline()),
      variant('HTML', () => toHtml(sandbox.traffic)),
    ],
    rounds: 5,
  }
}

export const figures = [storeCommand, manyCommands, drainedAttempts, steppedAttempts, htmlReport, writtenReport]
