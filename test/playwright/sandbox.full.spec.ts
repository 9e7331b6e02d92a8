import { createSandbox, fault } from 'stuntdouble'
import { connect } from 'stuntdouble/client'
import { expect, routeSandbox, sandboxEnv, test } from 'stuntdouble/playwright'

test.describe('an app that talks to the services on its server', () => {
  test('finds the sandbox of the test', async ({ page, sandbox }) => {
    sandbox.store.run('SET', 'visits', 41)
    await page.goto('/')
    await expect(page.getByRole('heading')).toHaveText('visit 42')
    expect(sandbox.store).toHaveExecuted('INCR', 'visits')
  })

  test('starts with an empty sandbox in each test', async ({ page, sandbox }) => {
    await page.goto('/')
    await expect(page.getByRole('heading')).toHaveText('visit 1')
    expect(sandbox.store).toHaveKey('visits', { value: '1' })
  })

  test('receives signed deliveries when the clock advances', async ({ page, baseURL, sandbox }) => {
    await page.goto('/')
    await page.getByRole('button').click()
    await expect(page.getByRole('heading')).toHaveText('Thank you')
    expect(sandbox.queue).toHavePublished({ to: `${baseURL}/api/orders`, body: { id: 42 } })
    expect(sandbox.store).not.toHaveKey('report')
    await sandbox.clock.advance('1m')
    expect(sandbox.queue).toHaveDelivered({ to: `${baseURL}/api/orders`, status: 200, attempts: 1 })
    await page.goto('/')
    await expect(page.getByRole('status')).toHaveText('Report of order 42')
  })

  test('receives scripted failures', async ({ page, baseURL, sandbox }) => {
    sandbox.destinations.script(`${baseURL}/api/orders`, [fault.status(503)])
    await page.goto('/')
    await page.getByRole('button').click()
    await sandbox.clock.drain()
    expect(sandbox.queue).toHaveDelivered({ to: `${baseURL}/api/orders`, attempts: 2 })
  })

  test('can also be controlled through the control API', async ({ page, sandbox }) => {
    const remote = await connect(new URL(sandbox.urls.store).origin, { tenant: 'w0' })
    await remote.store.run('SET', 'visits', 6)
    await page.goto('/')
    await expect(page.getByRole('heading')).toHaveText('visit 7')
  })
})

test('sandboxEnv() returns the environment that the tenant reports', async ({ sandbox }) => {
  const url = new URL(sandbox.urls.store).origin
  const remote = await connect(url, { tenant: 'w7' })
  expect(sandboxEnv({ url, tenant: 'w7' })).toEqual(remote.env)
  expect(sandboxEnv({ url })).toEqual((await connect(url)).env)
  const { UPSTASH_REDIS_REST_URL } = sandboxEnv({ url, databases: ['us'], database: 'us', dialect: 'upstash' })
  expect(UPSTASH_REDIS_REST_URL).toBe(`${new URL(url).origin}/main/store-us`)
  expect(sandboxEnv({ port: Number(new URL(url).port) - 1, worker: 1 })).toEqual(sandboxEnv({ url, tenant: 'w1' }))
})

test.describe('an external host of the app', () => {
  test('responds to the server of the app', async ({ page, sandbox }) => {
    sandbox.outbound.respond('POST https://bank.test/charges', 201)
    await page.goto('/charge')
    await expect(page.getByRole('heading')).toHaveText('Paid')
    expect(sandbox.traffic.ofType('outbound')).toMatchObject([{ body: '{"cents":4200}', response: { status: 201 } }])
    expect(sandbox).toHaveOutboundRequest('POST https://bank.test/charges', { times: 1 })
  })

  test('fails as scripted', async ({ page, sandbox }) => {
    sandbox.outbound.script('POST https://bank.test/charges', [fault.status(503)])
    await page.goto('/charge')
    await expect(page.getByRole('heading')).toHaveText('The bank responded 503')
  })

  test('has the URL that the tenant reports', async ({ sandbox }) => {
    const url = new URL(sandbox.urls.store).origin
    const remote = await connect(url, { tenant: 'w7' })
    for (const host of ['https://bank.test', 'https://bank.test/', 'http://bank.test:8080/api/v2/']) {
      const { BANK_URL } = sandboxEnv({ url, tenant: 'w7', externalHosts: { BANK_URL: host } })
      expect(BANK_URL).toBe(remote.outbound.urlFor(host))
    }
  })

  test('must have an HTTP URL and a variable of its own', () => {
    for (const host of ['bank.test', 'redis://bank.test', 'https://bank.test/?a=1', '']) {
      expect(() => sandboxEnv({ port: 1, externalHosts: { BANK_URL: host } })).toThrow(
        'externalHosts.BANK_URL must be an http or https URL without a query',
      )
    }
    expect(() => sandboxEnv({ port: 1, externalHosts: { QSTASH_URL: 'https://bank.test' } })).toThrow(
      'externalHosts.QSTASH_URL would replace a variable of the sandbox',
    )
  })
})

test.describe('real hosts of the vendor', () => {
  const real = 'https://qstash.upstash.io/v2/messages'
  const blocked = 'A request to qstash.upstash.io, a real host of the service, was blocked.'
  // The requests of these tests would otherwise fail them.
  test.use({ sandboxOptions: { dialect: 'upstash', strict: { realHosts: false } } })

  test('are blocked in a test without a sandbox', async ({ playwright }) => {
    const error = await fetch(real).catch((thrown: Error) => thrown)
    expect(String(error)).toContain(`${blocked} Request the fixture sandbox`)
    const context = await playwright.request.newContext()
    await expect(context.get(real)).rejects.toThrow(blocked)
    await context.dispose()
  })

  test('are blocked for request contexts', async ({ request, page }) => {
    await expect(request.get(real)).rejects.toThrow(blocked)
    await expect(page.request.post(real)).rejects.toThrow(blocked)
  })

  test('are blocked for pages', async ({ page, sandbox }) => {
    await page.goto('/health')
    const outcome = await page.evaluate((url) => fetch(url, { mode: 'no-cors' }).catch((error) => String(error)), real)
    expect(outcome).toBe('TypeError: Failed to fetch')
    expect(sandbox.realHostRequests).toEqual([expect.stringContaining(blocked)])
    await page.route('https://vector.upstash.io/*', (route) => route.fulfill({ body: 'mine' }))
    expect(await page.evaluate(async () => (await fetch('https://vector.upstash.io/info')).text())).toBe('mine')
  })
})

/** Sends a request in a page and returns its outcome. */
type Ask = [url: string, token: string, body: string]
const ask = async ([url, token, body]: Ask): Promise<unknown> => {
  const answer = await fetch(url, { method: 'POST', body, headers: { authorization: `Bearer ${token}`, 'x-own': '1' } })
  return [answer.status, await answer.text()]
}

/** Reads an event stream in a page up to this number of events. */
type Listen = [url: string, token: string, count: number]
const listen = async ([url, token, count]: Listen): Promise<string[]> => {
  const answer = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  const reader = answer.body!.getReader()
  const events: string[] = []
  while (events.length < count) {
    const { done, value } = await reader.read()
    if (done) break
    events.push(
      ...new TextDecoder()
        .decode(value)
        .split('\n\n')
        .filter((event) => event.startsWith('data:')),
    )
  }
  await reader.cancel()
  return events
}

const kinds: [string, object][] = [
  ['at the address of the worker’s server', {}],
  ['at addresses of its own', { urls: { base: undefined }, name: 'shop' }],
]

for (const [kind, options] of kinds) {
  test.describe(`pages that talk to the services themselves, ${kind}`, () => {
    test.use({ sandboxOptions: options })

    test('get responses, also to preflights and requests with foreign headers', async ({ page, sandbox }) => {
      const { urls, tokens } = sandbox
      await page.goto('/health')
      expect(await page.evaluate<unknown, Ask>(ask, [urls.store, tokens.store, '["SET","k","grüße"]'])).toEqual([
        200,
        '{"result":"OK"}',
      ])
      expect(sandbox.store).toHaveKey('k', { value: 'grüße' })
      expect(await page.evaluate<unknown, Ask>(ask, [urls.store, 'wrong', '["GET","k"]'])).toEqual([
        401,
        expect.stringContaining('error'),
      ])
    })

    test('get responses in popups', async ({ page, context, sandbox }) => {
      const { urls, tokens } = sandbox
      await page.goto('/health')
      const [popup] = await Promise.all([
        context.waitForEvent('page'),
        page.evaluate(() => void window.open('/health')),
      ])
      await popup.waitForLoadState()
      expect(await popup.evaluate<unknown, Ask>(ask, [urls.store, tokens.store, '["PING"]'])).toEqual([
        200,
        '{"result":"PONG"}',
      ])
    })

    test('get responses in workers', async ({ page, sandbox }) => {
      const { urls, tokens } = sandbox
      await page.goto('/health')
      const told = await page.evaluate(
        ([url, token]) => {
          const source = `fetch('${url}', { method: 'POST', body: '["PING"]', headers: { authorization: 'Bearer ${token}' } })
            .then((answer) => answer.text()).then(postMessage, (error) => postMessage(String(error)))`
          const worker = new Worker(URL.createObjectURL(new Blob([source])))
          return new Promise((resolve) => {
            worker.onmessage = ({ data }) => resolve(data)
          })
        },
        [urls.store, tokens.store] as const,
      )
      expect(told).toBe('{"result":"PONG"}')
    })

    // Browsers block requests of pages from other origins to addresses of this machine, such as the worker's server.
    for (const origin of ['https://app.test', 'http://app.test', 'null']) {
      test(`get responses on another origin: ${origin}`, async ({ page, sandbox }) => {
        const { urls, tokens } = sandbox
        if (origin !== 'null') {
          await page.route(`${origin}/`, (route) => route.fulfill({ contentType: 'text/html', body: '<p>app' }))
          await page.goto(`${origin}/`)
        }
        const put: Ask = [urls.store, tokens.store, '["SET","k","grüße"]']
        expect(await page.evaluate<unknown, Ask>(ask, put)).toEqual([200, '{"result":"OK"}'])
        expect(sandbox.store).toHaveKey('k', { value: 'grüße' })
        const answer = await page.evaluate<unknown, Ask>(ask, [`${urls.queue}/v2/publish/x`, tokens.queue, ''])
        expect(answer).toEqual([404, '{"error":"topic x not found"}'])
      })
    }

    test('receive event streams on another origin', async ({ page, sandbox }) => {
      const { urls, store, tokens } = sandbox
      await page.route('https://app.test/', (route) => route.fulfill({ contentType: 'text/html', body: '<p>app' }))
      await page.goto('https://app.test/')
      const heard = page.evaluate<string[], Listen>(listen, [`${urls.store}/subscribe/news`, tokens.store, 2])
      await expect.poll(() => store.run('PUBSUB', 'NUMSUB', 'news')).toEqual(['news', 1])
      store.run('PUBLISH', 'news', 'one')
      expect(await heard).toEqual(['data: subscribe,news,1', 'data: message,news,one'])
    })

    test('receive event streams while they are open', async ({ page, sandbox }) => {
      const { urls, store, tokens } = sandbox
      await page.goto('/health')
      const heard = page.evaluate<string[], Listen>(listen, [`${urls.store}/subscribe/news`, tokens.store, 3])
      await expect.poll(() => store.run('PUBSUB', 'NUMSUB', 'news')).toEqual(['news', 1])
      store.run('PUBLISH', 'news', 'one')
      store.run('PUBLISH', 'news', 'two')
      expect(await heard).toEqual(['data: subscribe,news,1', 'data: message,news,one', 'data: message,news,two'])
    })

    test('send outbound requests to registered hosts, also from request contexts', async ({
      page,
      request,
      sandbox,
    }) => {
      const bank = 'https://bank.test/charges'
      sandbox.outbound.respond(`POST ${bank}`, { status: 201, body: { id: 'ch_1' } })
      await page.goto('/')
      expect(await page.evaluate((url) => fetch(url, { method: 'POST' }).then(({ status }) => status), bank)).toBe(201)
      for (const context of [request, page.request]) {
        const answer = await context.post(bank, { data: { amount: 5 } })
        expect([answer.status(), await answer.json()]).toEqual([201, { id: 'ch_1' }])
        expect((await context.fetch(bank, { method: 'POST' })).status()).toBe(201)
        sandbox.outbound.script(`POST ${bank}`, [fault.status(503)])
        expect((await context.post(bank)).status()).toBe(503)
      }
      expect(sandbox).toHaveOutboundRequest(`POST ${bank}`, { times: 7 })
      expect(sandbox).toHaveOutboundRequest({ url: bank, body: { amount: 5 } }, { times: 2 })
    })

    test('share the sandbox with request contexts', async ({ page, request, sandbox }) => {
      const { urls, tokens } = sandbox
      const headers = { authorization: `Bearer ${tokens.store}` }
      for (const context of [request, page.request]) {
        const answer = await context.post(urls.store, { headers, data: ['INCR', 'n'] })
        expect(answer.status()).toBe(200)
      }
      expect(sandbox.store).toHaveKey('n', { value: '2' })
    })
  })
}

test.describe('the clock of pages', () => {
  test('begins at the sandbox’s time and moves with it', async ({ page, sandbox }) => {
    await page.goto('/health')
    const seconds = (): Promise<number> => page.evaluate(() => Math.floor(Date.now() / 1000))
    const start = sandbox.clock.now() / 1000
    expect((await seconds()) - start).toBeLessThan(30)
    await page.evaluate(() => {
      setTimeout(() => {
        document.body.textContent = 'an hour later'
      }, 3_600_000)
    })
    await sandbox.clock.advance('59m')
    await expect(page.locator('body')).toHaveText('ok')
    await sandbox.clock.advance('2m')
    await expect(page.locator('body')).toHaveText('an hour later')
    expect((await seconds()) - start).toBeGreaterThanOrEqual(3_660)
  })

  test.describe('with pageClock: false', () => {
    test.use({ pageClock: false })
    test('is the clock of the machine', async ({ page, sandbox }) => {
      await page.goto('/health')
      expect(Math.abs((await page.evaluate(() => Date.now())) - Date.now())).toBeLessThan(60_000)
      expect(sandbox.clock.now()).toBe(Date.parse('2030-01-01T00:00:00Z'))
    })
  })
})

test('routeSandbox() routes the requests of a browser context until it ends', async ({ context, page }) => {
  using sandbox = createSandbox({ name: 'bare' })
  const end = await routeSandbox(context, sandbox)
  await page.goto('/health')
  const { urls, tokens } = sandbox
  expect(await page.evaluate<unknown, Ask>(ask, [urls.store, tokens.store, '["PING"]'])).toEqual([
    200,
    '{"result":"PONG"}',
  ])
  await end()
  const unanswered = page.evaluate<unknown, Ask>(ask, [urls.store, tokens.store, '["PING"]'])
  await expect(unanswered).rejects.toThrow('Failed to fetch')
})
