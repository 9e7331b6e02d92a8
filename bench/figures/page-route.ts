// Cost of a page's request through a route of Playwright, over a constant response.
import { chromium } from '@playwright/test'
import { createSandbox } from 'stuntdouble'
import { routeSandbox } from 'stuntdouble/playwright'
import { findChromium } from '../../test/support/chromium.ts'
import type { Figure, Variant } from '../harness.ts'

const answer = '{"result":"hello"}'

async function pageRoute(): Promise<Figure | undefined> {
  const executablePath = findChromium()
  if (executablePath === undefined) return undefined
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  const sandbox = createSandbox()
  sandbox.store.run('SET', 'greeting', 'hello')
  const { urls, tokens } = sandbox
  const context = await browser.newContext()
  await context.route('https://app.test/', (route) => route.fulfill({ contentType: 'text/html', body: '<p>app</p>' }))
  await routeSandbox(context, sandbox)
  // The minimum of a hand-written route: it reads the request, and allows other origins.
  const headers = { 'access-control-allow-origin': '*', 'content-type': 'application/json' }
  await context.route('https://constant.test/**', (route) => {
    const request = route.request()
    if (request.method() === 'OPTIONS') {
      const allowed = { 'access-control-allow-headers': 'authorization', 'access-control-max-age': '600' }
      return route.fulfill({ status: 204, headers: { ...headers, ...allowed } })
    }
    request.postDataBuffer()
    return route.fulfill({ status: 200, headers, body: answer })
  })
  const page = await context.newPage()
  await page.goto('https://app.test/')

  const client = (name: string, url: string): Variant => ({
    name,
    async run(times) {
      const texts = await page.evaluate(askAgain, [url, tokens.store, times] as const)
      sandbox.traffic.clear()
      if (texts.some((text) => text !== answer)) throw new Error(`${name} answered ${texts[0]}`)
    },
  })
  return {
    name: 'store GET from a page through routeSandbox over a route that fulfils a constant',
    baseline: client('constant', 'https://constant.test/'),
    variants: [client('routeSandbox', `${urls.store}/`)],
    atMost: { routeSandbox: 1.15 },
    rounds: 25,
    turn: 100,
    dispose: () => browser.close(),
  }
}

/** Runs in the page. */
async function askAgain([url, token, times]: readonly [string, string, number]): Promise<string[]> {
  const texts = new Set<string>()
  for (let count = 0; count < times; count++) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: '["GET","greeting"]',
    })
    texts.add(await response.text())
  }
  return [...texts]
}

export const figures = [pageRoute]
