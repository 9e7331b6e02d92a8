import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from '@playwright/test'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createSandbox } from '../../../src/index.js'
import { hasBrowser, launch } from '../../../test/report/page.js'
import { inspect, type RequestLogEntry, type StuntdoubleServer, startServer } from '../src/server.js'

const token = 'a-token-that-nobody-guesses'

/** Serves a page of another origin, on another port. */
async function elsewhere(html: string): Promise<{ origin: string; heard: string[]; server: Server }> {
  const heard: string[] = []
  const server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url} ${request.headers.cookie ?? ''}`)
    response.writeHead(200, { 'content-type': 'text/html' }).end(html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard, server }
}

describe.runIf(hasBrowser)('the inspector page in a browser', () => {
  let browser: Browser
  const ends: (() => unknown)[] = []
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
    vi.unstubAllEnvs()
  })

  interface Opened {
    readonly page: Page
    /** Console errors of the browser, including violations of the policy. */
    readonly complaints: string[]
    readonly requests: { readonly url: string; readonly headers: Record<string, string> }[]
  }

  async function opened(link: string): Promise<Opened> {
    const page = await browser.newPage()
    ends.push(() => page.close())
    const complaints: string[] = []
    const requests: Opened['requests'] = []
    page.on('console', (line) => {
      // Missing resources are not errors: a history that is not kept, an icon.
      if (line.type() === 'error' && !/^Failed to load resource/.test(line.text())) complaints.push(line.text())
    })
    page.on('pageerror', ({ message }) => complaints.push(message))
    page.on('request', (one) => requests.push({ url: one.url(), headers: one.headers() }))
    await page.goto(link)
    return { page, complaints, requests }
  }

  async function started(options: { readonly controlToken?: string } = {}) {
    const logged: RequestLogEntry[] = []
    const server = await startServer({ port: 0, clock: 'manual', onRequest: (one) => logged.push(one), ...options })
    ends.push(() => server.close())
    server.tenant('main').store.run('SET', 'greeting', 'hello from the store')
    return Object.assign(server, { logged })
  }

  const shows = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor()

  test('takes its token from the link, keeps it for its tab, and does not expose it', async () => {
    const server = await started({ controlToken: token })
    const { page, complaints, requests } = await opened(server.inspectorUrl)
    await shows(page, /SET greeting/)
    expect(page.url()).not.toContain(token)
    expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2)
    expect(await page.evaluate(() => [document.cookie, localStorage.length])).toEqual(['', 0])
    expect(await page.content()).not.toContain(token)
    // The token remains after a reload, and is not in another tab.
    await page.reload()
    await shows(page, /SET greeting/)
    const other = await opened(`${server.origin}/`)
    await shows(other.page, /control API requires its token/)

    const asked = requests.filter(({ url }) => url.includes('/_control'))
    expect(asked.length).toBeGreaterThan(1)
    for (const { url, headers } of asked) {
      expect(url).not.toContain(token)
      expect(headers.authorization).toBe(`Bearer ${token}`)
      expect(headers.referer ?? '').toBe('')
    }
    expect(requests.filter(({ url }) => !url.startsWith(server.origin) && !url.startsWith('data:'))).toEqual([])
    expect(complaints).toEqual([])
    expect(JSON.stringify(server.logged)).not.toContain(token)
  })

  test('needs no token on a server without one, and violates no policy', async () => {
    const server = await started()
    const { page, complaints } = await opened(server.inspectorUrl)
    await shows(page, /SET greeting/)
    expect(complaints).toEqual([])
    expect(page.url()).not.toContain('token')
  })

  test('loads its own editor, and no script that a tenant serves at the same origin', async () => {
    const server = await started()
    const { outbound } = server.tenant('main')
    const script = { status: 200, headers: { 'content-type': 'text/javascript' }, body: 'globalThis.struck = 1' }
    outbound.respond('https://evil.test/x.js', script as never)
    const { page, complaints } = await opened(server.inspectorUrl)
    await shows(page, /SET greeting/)
    const struck = `${server.origin}/main/outbound/https://evil.test/x.js`
    // Simulates hostile markup in the page: a script that the parser finds, and event handlers.
    await page.evaluate((url) => {
      const frame = document.createElement('div')
      frame.innerHTML = `<img src="data:," onerror="globalThis.struck = 2"><iframe srcdoc="<script src='${url}'></script>"></iframe>`
      document.body.append(frame)
    }, struck)
    await expect.poll(() => complaints.filter((line) => /Content Security Policy/.test(line)).length).toBeGreaterThan(0)
    expect(await page.evaluate(() => (globalThis as { struck?: number }).struck)).toBeUndefined()

    const loaded = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const editor = document.createElement('script')
          editor.src = '/_inspector/editor.js'
          editor.onload = () => resolve(Object.keys(globalThis).includes('stuntdoubleEditor'))
          editor.onerror = () => resolve('refused')
          document.head.append(editor)
        }),
    )
    expect(loaded).toBe(true)
  })

  test('cannot be embedded in a frame, and has no opener', async () => {
    const server = await started()
    const foreign = await elsewhere('<!doctype html><iframe></iframe><button>open</button>')
    ends.push(() => foreign.server.close())
    const { page, complaints } = await opened(foreign.origin)
    await page.evaluate((url) => {
      document.querySelector('iframe')!.src = url
    }, server.inspectorUrl)
    await expect.poll(() => complaints.join('\n')).toMatch(/frame-ancestors|X-Frame-Options/i)
    expect(page.frames().some((frame) => frame.url().startsWith(server.origin))).toBe(false)

    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate((url) => {
        ;(globalThis as { kept?: Window | null }).kept = window.open(url)
      }, server.inspectorUrl),
    ])
    ends.push(() => popup.close())
    await shows(popup, /SET greeting/)
    expect(await popup.evaluate(() => window.opener)).toBe(null)
    await expect.poll(() => page.evaluate(() => (globalThis as { kept?: Window | null }).kept?.closed)).toBe(true)
  })

  test('does not give a page of another port its content or control', async () => {
    const server = await started()
    const foreign = await elsewhere(
      '<!doctype html><form method="post" enctype="text/plain"><input name="{" value="}"></form>',
    )
    ends.push(() => foreign.server.close())
    const { page } = await opened(foreign.origin)
    const reset = `${server.origin}/_control/main/reset`
    const told = await page.evaluate(
      async ([root, order]) => {
        const tried: string[] = []
        const attempt = async (url: string, init: RequestInit): Promise<void> => {
          tried.push(
            await fetch(url, init).then(
              ({ type, status }) => `${type} ${status}`,
              () => 'refused',
            ),
          )
        }
        await attempt(`${root}/`, { headers: { accept: 'text/html' } })
        await attempt(`${root}/_control`, {})
        await attempt(order!, { method: 'POST', body: '{}' })
        await attempt(order!, { method: 'POST', body: '{}', mode: 'no-cors' })
        await attempt(order!, { method: 'POST', body: '{}', credentials: 'include', mode: 'no-cors' })
        return tried
      },
      [server.origin, reset],
    )
    // Without CORS a page would get an opaque response, which `Cross-Origin-Resource-Policy` blocks as well.
    expect(told).toEqual(Array(5).fill('refused'))
    await page.evaluate((url) => {
      const form = document.querySelector('form')!
      form.action = url
      form.submit()
    }, reset)
    await page.waitForURL(reset)
    await shows(page, /must not call the control API/)
    // None of the operations ran.
    expect(server.tenant('main').store.get('greeting')).toBe('hello from the store')
  })

  test('continues a test with its button, and shows the failed assertion', async () => {
    vi.stubEnv('CI', '')
    using sandbox = createSandbox({ seed: 7 })
    sandbox.store.run('SET', 'greeting', 'hello from the test')
    const nearest = sandbox.traffic.last('command')!.seq
    let text = ''
    const ended = inspect(sandbox, {
      title: 'a test that fails',
      failure: { message: '<b>expected</b> something else', nearest },
      print: (line) => (text += line),
    })
    await expect.poll(() => text).toMatch(/#code=/)
    const { page, complaints } = await opened(/http:\S+/.exec(text)![0])
    await shows(page, '<b>expected</b> something else')
    await shows(page, /SET greeting/)
    expect(complaints).toEqual([])
    await page.getByRole('button', { name: 'Continue' }).click()
    await ended
    await shows(page, 'The test has continued; this page can be closed.')
    // A server that was closed on purpose is not an error.
    await page.waitForTimeout(1_500)
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Continue' }).count()).toBe(0)
  })

  test('sends no cookie, so that an app on another port of this host does not get the token', async () => {
    const server: StuntdoubleServer = await started({ controlToken: token })
    const app = await elsewhere('<!doctype html>app')
    ends.push(() => app.server.close())
    const { page } = await opened(server.inspectorUrl)
    await shows(page, /SET greeting/)
    await page.goto(app.origin)
    expect(app.heard.join('\n')).not.toContain(token)
    expect(await page.evaluate(() => [sessionStorage.length, document.referrer])).toEqual([0, ''])
  })
})
