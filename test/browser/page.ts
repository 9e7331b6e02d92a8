import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { chromium, type Page } from '@playwright/test'
import { build } from 'vite'
import { alias } from '../../vitest.config.js'
import { findChromium } from '../support/chromium.js'

const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' }

export interface OpenPage extends AsyncDisposable {
  readonly page: Page
  /** URLs that reached the network: requests that no service worker handled, except for the page's own files. */
  readonly escaped: readonly string[]
  /** Messages of errors in the page. */
  readonly complaints: readonly string[]
}

/** Builds a page with Vite, serves the build and msw's service worker, and opens the page. */
export async function openBuiltPage(root: string): Promise<OpenPage> {
  const outDir = mkdtempSync(join(tmpdir(), 'stuntdouble-browser-'))
  // Builds as a user does, but resolves the package to the sources of this repository.
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    resolve: { alias },
    build: { outDir, emptyOutDir: true, target: 'es2022', minify: false },
  })
  const serviceWorker = createRequire(import.meta.url).resolve('msw/mockServiceWorker.js')
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const name = path === '/' ? 'index.html' : path.slice(1)
    const file = name === 'mockServiceWorker.js' ? serviceWorker : join(outDir, name)
    const isThere = existsSync(file)
    response.writeHead(isThere ? 200 : 404, { 'content-type': types[extname(name)] ?? 'text/plain' })
    response.end(isThere ? readFileSync(file) : '')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const browser = await chromium.launch({
    executablePath: findChromium()!,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  const page = await browser.newPage()
  const escaped: string[] = []
  const complaints: string[] = []
  page.on('requestfinished', async (request) => {
    const response = await request.response()
    if (!request.url().startsWith(origin) && response?.fromServiceWorker() === false) escaped.push(request.url())
  })
  page.on('pageerror', ({ message }) => complaints.push(message))
  await page.goto(origin)
  return {
    page,
    escaped,
    complaints,
    async [Symbol.asyncDispose]() {
      await browser.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(outDir, { recursive: true, force: true })
    },
  }
}
