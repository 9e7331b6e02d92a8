import { type Dialect, neutralDialect, upstashDialect } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { fromBase64, text } from '../../src/kernel/bytes.js'
import type { Attempt } from '../../src/queue/message/message-entries.js'
import { shop, type World, world } from '../queue/world.js'

// Dialects of publishes and of everything that results from them: issue 18, section 2. Tables of the dialects: queue.md
// 0.2.

const neutral = neutralDialect
const vendor = upstashDialect

interface Manner {
  readonly name: string
  /** Headers that set `retries: 1` and this, in the dialect of the row. */
  say(settings: Readonly<Record<string, string>>): Record<string, string>
  /** Dialect of the delivery. */
  readonly heard: readonly Dialect[]
  /** Dialect of the response. */
  readonly answered: Dialect
}

function spoken(prefix: string): Manner['say'] {
  return (settings) => Object.fromEntries(Object.entries(settings).map(([name, value]) => [prefix + name, value]))
}

const manners: readonly Manner[] = [
  { name: 'neutral', say: spoken('Service-'), heard: [neutral], answered: neutral },
  { name: "the vendor's", say: spoken('Upstash-'), heard: [vendor], answered: vendor },
  {
    name: 'mixed',
    say: (settings) => ({ 'Service-Retries': '7', ...spoken('UPSTASH-')(settings) }),
    heard: [vendor],
    answered: vendor,
  },
]

const own = ['signature', 'message-id', 'retried', 'caller-ip', 'region']

function namesOf(dialects: readonly Dialect[], names: readonly string[]): string[] {
  return dialects.flatMap(({ headerPrefix }) => names.map((name) => headerPrefix.toLowerCase() + name)).sort()
}

/** Headers with a prefix of any dialect. */
function ownNames({ headers }: Pick<Attempt, 'headers'>): string[] {
  return headers
    .map(([name]) => name.toLowerCase())
    .filter((name) => /^(?:service|upstash)-/.test(name))
    .sort()
}

function issuers({ headers }: Pick<Attempt, 'headers'>): string[] {
  return headers
    .filter(([name]) => /-signature$/i.test(name))
    .map(
      ([, token]) => JSON.parse(text(fromBase64(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/'))!)).iss,
    )
}

function attemptsTo(at: World, url: string): readonly Attempt[] {
  return at.traffic.ofType('attempt').filter((one) => one.url === url) as unknown as readonly Attempt[]
}

function heardIn(attempt: Attempt, dialects: readonly Dialect[], more: readonly string[] = []): void {
  expect(ownNames(attempt)).toEqual(namesOf(dialects, [...own, ...more]))
  expect(issuers(attempt)).toEqual(dialects.map(({ issuer }) => issuer))
  expect(attempt.header('user-agent')).toBe(dialects.at(-1)!.userAgent)
}

const back = 'https://shop.test/back'
const failed = 'https://shop.test/failed'

describe.each(manners)('dialect of a request: $name', ({ say, heard, answered }) => {
  test('applies to a publish, its callback and its failure callback', async () => {
    const at = world()
    at.destinations.on(shop, () => new Response('no', { status: 500 }))
    at.destinations.record('https://shop.test/*')
    const headers = say({ Retries: '0', Callback: back, 'Failure-Callback': failed, 'Forward-X-Order': '7' })
    await at.send('POST', `/v2/publish/${shop}`, { headers })
    await at.clock.drain()
    expect(attemptsTo(at, shop)).toHaveLength(1)
    for (const url of [shop, back, failed]) heardIn(attemptsTo(at, url)[0]!, heard)
    expect(attemptsTo(at, shop)[0]!.header('x-order')).toBe('7')
  })

  test('applies to a URL group, a FIFO queue, and a batch whose items have no dialect', async () => {
    const at = world()
    at.destinations.record('https://*.test/*')
    at.queue.urlGroups.addEndpoints('all', ['https://a.test/1', 'https://a.test/2'])
    await at.send('POST', '/v2/publish/all', { headers: say({ Retries: '1' }) })
    await at.send('POST', '/v2/enqueue/line/https://a.test/3', { headers: say({ Retries: '1' }) })
    const items = [
      { destination: 'https://a.test/4' },
      { destination: 'https://a.test/5', headers: { 'X-Plain': '1' } },
    ]
    await at.send('POST', '/v2/batch', { headers: say({ 'Telemetry-Sdk': 'x' }), body: items })
    await at.clock.drain()
    for (const n of [1, 2]) heardIn(attemptsTo(at, `https://a.test/${n}`)[0]!, heard, ['topic-name'])
    for (const n of [3, 4, 5]) heardIn(attemptsTo(at, `https://a.test/${n}`)[0]!, heard)
  })

  test('does not apply to a batch item with a dialect of its own', async () => {
    const at = world()
    at.destinations.record('https://*.test/*')
    const items = [
      { destination: 'https://a.test/n', headers: { 'Service-Delay': '1s' } },
      { destination: 'https://a.test/v', headers: { 'upstash-delay': '1s' } },
    ]
    await at.send('POST', '/v2/batch', { headers: say({ 'Telemetry-Sdk': 'x' }), body: items })
    expect(attemptsTo(at, 'https://a.test/n')).toHaveLength(0)
    await at.clock.advance('1s')
    heardIn(attemptsTo(at, 'https://a.test/n')[0]!, [neutral])
    heardIn(attemptsTo(at, 'https://a.test/v')[0]!, [vendor])
  })

  test('applies to a schedule', async () => {
    const at = world()
    at.destinations.record(shop)
    const answer = await at.send('POST', `/v2/schedules/${shop}`, { headers: say({ Cron: '* * * * *' }) })
    expect(answer.status).toBe(200)
    await at.clock.advance('1m')
    heardIn(attemptsTo(at, shop)[0]!, heard, ['schedule-id'])
  })

  test('stays that of the publisher when a dead letter is published again in another dialect', async () => {
    const at = world()
    at.destinations.on(shop, () => new Response('no', { status: 500 }))
    await at.send('POST', `/v2/publish/${shop}`, { headers: say({ Retries: '0' }) })
    await at.clock.drain()
    for (const other of ['Service-', 'Upstash-']) {
      at.destinations.on(shop, () => new Response('no', { status: 500 }))
      const [letter] = at.queue.deadLetters
      const answer = await at.send('POST', `/v2/dlq/retry/${letter!.id}`, {
        headers: { [`${other}Retries`]: '0' },
      })
      expect(answer.status).toBe(201)
      await at.clock.drain()
      heardIn(attemptsTo(at, shop).at(-1)!, heard)
    }
  })

  test('determines the header with which an app forbids retries', async () => {
    const statuses = async (name: string): Promise<number> => {
      const at = world()
      at.destinations.on(shop, () => new Response('no', { status: 489, headers: { [name]: 'true' } }))
      await at.send('POST', `/v2/publish/${shop}`, { headers: say({ Retries: '1' }) })
      await at.clock.drain()
      return attemptsTo(at, shop).length
    }
    for (const one of [neutral, vendor])
      expect(await statuses(`${one.headerPrefix}NonRetryable-Error`)).toBe(heard.includes(one) ? 1 : 2)
  })

  test('applies to errors', async () => {
    const at = world()
    const { json } = await at.send('POST', `/v2/publish/${shop}`, { headers: say({ Delay: 'soon' }) })
    expect(json.error).toContain(`${answered.headerPrefix}Delay`)
  })
})

describe('a request without a dialect, and a local publish', () => {
  const ways: readonly (readonly [string, (at: World) => unknown])[] = [
    ['request', (at) => at.send('POST', `/v2/publish/${shop}`, { body: '{}' })],
    ['publish', (at) => at.queue.publish({ to: shop, retries: 3 })],
    [
      "a browser's own Service-Worker header",
      (at) => at.send('POST', `/v2/publish/${shop}`, { headers: { 'Service-Worker': 'script' } }),
    ],
  ]

  test.each(ways)('%s: sends headers of both dialects, each signature with its own issuer', async (_, publish) => {
    const at = world()
    at.destinations.record(shop)
    await publish(at)
    await at.clock.drain()
    heardIn(attemptsTo(at, shop)[0]!, [neutral, vendor])
  })

  test.each(ways)('%s: accepts a response of either dialect that forbids retries', async (_, publish) => {
    for (const name of ['Service-NonRetryable-Error', 'Upstash-NonRetryable-Error']) {
      const at = world()
      at.destinations.on(shop, () => new Response('no', { status: 489, headers: { [name]: 'TRUE' } }))
      await publish(at)
      await at.clock.drain()
      expect(attemptsTo(at, shop)).toHaveLength(1)
    }
  })

  test('keeps the invariants, and violates one with a wrong signature', async () => {
    const at = world()
    at.destinations.record(shop)
    at.queue.publish({ to: shop })
    await at.clock.drain()
    at.sandbox.assertInvariants()
  })
})

describe('dialect of a query', () => {
  test.each([
    ['upstash-retries=0', [vendor]],
    ['SERVICE-retries=0', [neutral]],
    ['%75pstash-retries=0', [vendor]],
  ])('%s selects the dialect', async (query, heard) => {
    const at = world()
    at.destinations.on('https://shop.test/*', () => new Response('no', { status: 500 }))
    await at.send('POST', `/v2/publish/${shop}?${query}&x=1`)
    await at.clock.drain()
    const attempts = at.traffic.ofType('attempt') as unknown as readonly Attempt[]
    expect(attempts.map(({ url }) => url)).toEqual([`${shop}?x=1`])
    heardIn(attempts[0]!, heard)
  })

  test('a token parameter selects the dialect, and the parameter of the other dialect belongs to the destination', async () => {
    const at = world()
    at.destinations.record('https://shop.test/*')
    const { token } = { token: at.sandbox.tokens.queue }
    const query = `qstash_token=${encodeURIComponent(token)}&service-retries=0`
    expect((await at.send('POST', `/v2/publish/${shop}?${query}`, { token: null })).status).toBe(200)
    await at.clock.drain()
    const [attempt] = at.traffic.ofType('attempt') as unknown as readonly Attempt[]
    expect(attempt!.url).toBe(`${shop}?service-retries=0`)
    heardIn(attempt!, [vendor])
    expect(at.traffic.ofType('request')[0]!.url).toContain('qstash_token=***')
    expect(at.traffic.ofType('request')[0]!.note).toMatch(/names of two dialects/)
  })
})

test("applies the vendor's dialect if a request mixes two, and notes it in the timeline", async () => {
  const at = world()
  at.destinations.record(shop)
  const headers = { 'Upstash-Header-Forward': 'true', 'Service-Delay': '1h', 'Service-Signature': 'mine' }
  await at.send('POST', `/v2/publish/${shop}`, { headers })
  await at.clock.advance('1s')
  const [attempt] = attemptsTo(at, shop)
  expect(attempt!.header('service-delay')).toBe('1h')
  expect(attempt!.header('service-signature')).toBe('mine')
  expect(issuers({ headers: attempt!.headers.filter(([name]) => /^upstash/i.test(name)) })).toEqual(['Upstash'])
  expect(at.traffic.timeline()).toMatch(/two dialects.*Upstash-Header-Forward.*Service-Delay.*Upstash- apply/)
})

describe('strict dialects report names of another dialect', () => {
  test.each([
    ['neutral', 'Upstash-Retries', 'upstash'],
    ['upstash', 'Service-Retries', 'neutral'],
  ] as const)('%s reports %s', async (dialect, header, other) => {
    const warnings: string[] = []
    const { createSandbox } = await import('stuntdouble')
    const sandbox = createSandbox({ dialect, onWarning: (sentence) => warnings.push(sentence) })
    sandbox.destinations.record(shop)
    const publish = () =>
      sandbox.fetch(`${sandbox.urls.queue}/v2/publish/${shop}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sandbox.tokens.queue}`, [header]: '0' },
      })
    await publish()
    await publish()
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(header)
    expect(warnings[0]).toContain(`dialect: '${other}'`)
    expect(sandbox.traffic.timeline()).toContain(`is a name of dialect '${other}'`)
    await sandbox.clock.drain()
    expect(ownNames(sandbox.traffic.ofType('attempt')[0]! as unknown as Attempt)).toEqual(
      namesOf([dialect === 'neutral' ? neutral : vendor], own),
    )
  })

  test('reports the path of the statistics', async () => {
    const warnings: string[] = []
    const { createSandbox } = await import('stuntdouble')
    const sandbox = createSandbox({ dialect: 'neutral', onWarning: (sentence) => warnings.push(sentence) })
    await sandbox.fetch(`${sandbox.urls.mgmt}/v2/qstash/users`)
    expect(warnings.join()).toContain("/v2/qstash is a name of dialect 'upstash'")
  })
})

test('the statistics accept both dialects of the path', async () => {
  const { createSandbox } = await import('stuntdouble')
  const sandbox = createSandbox()
  const headers = { authorization: `Basic ${btoa(`${sandbox.tokens.mgmtUser}:${sandbox.tokens.mgmtKey}`)}` }
  const bodies = await Promise.all(
    ['queue', 'qstash'].map(async (segment) => {
      const answer = await sandbox.fetch(`${sandbox.urls.mgmt}/v2/${segment}/stats`, { headers })
      return [answer.status, await answer.text()]
    }),
  )
  expect(bodies[0]).toEqual(bodies[1])
  expect(bodies[0]![0]).toBe(200)
})

test('the store responds in the dialect of the request, including URLs of its documentation', async () => {
  const { createSandbox } = await import('stuntdouble')
  const sandbox = createSandbox()
  const ask = async (headers: Record<string, string>, token = sandbox.tokens.store) => {
    const answer = await sandbox.fetch(`${sandbox.urls.store}/set/k/v`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    })
    return { names: [...answer.headers.keys()], text: await answer.text() }
  }
  expect((await ask({ 'Upstash-Encoding': 'base64' })).text).toBe('{"result":"OK"}')
  expect((await ask({ 'Upstash-Telemetry-Sdk': 'x' })).names).toContain('upstash-sync-token')
  expect((await ask({})).names).toContain('service-sync-token')
  expect((await ask({ 'Upstash-Telemetry-Sdk': 'x' }, 'wrong')).text).toBe(
    (await ask({}, 'wrong')).text.replaceAll(neutral.docs, vendor.docs),
  )
})

test('a message keeps its dialect in a dump; older dumps have none, so both apply', async () => {
  const { createSandbox } = await import('stuntdouble')
  const at = world()
  await at.send('POST', `/v2/publish/${shop}`, { headers: { 'Upstash-Delay': '1h' } })
  await at.send('POST', `/v2/publish/${back}`, { headers: { 'Service-Delay': '1h' } })
  await at.send('POST', `/v2/schedules/${failed}`, { headers: { 'Upstash-Cron': '30 1 * * *' } })
  const dump = JSON.parse(JSON.stringify(at.sandbox.dump()))
  const headersAfter = async (given: typeof dump, dialect?: 'neutral') => {
    const other = createSandbox({ startAt: at.clock.now(), ...(dialect && { dialect }) })
    other.destinations.record('https://shop.test/*')
    other.load(given)
    await other.clock.advance('2h')
    const of = (url: string) => other.traffic.ofType('attempt').find((one) => one.url === url) as unknown as Attempt
    return [shop, back, failed].map((url) => issuers(of(url)))
  }
  expect(await headersAfter(dump)).toEqual([['Upstash'], ['Service'], ['Upstash']])
  expect(await headersAfter(dump, 'neutral')).toEqual([['Upstash'], ['Service'], ['Upstash']])
  const older = JSON.parse(JSON.stringify(dump, (name, value) => (name === 'words' ? undefined : value)))
  expect(await headersAfter(older)).toEqual([
    ['Service', 'Upstash'],
    ['Service', 'Upstash'],
    ['Service', 'Upstash'],
  ])
  expect(await headersAfter(older, 'neutral')).toEqual([['Service'], ['Service'], ['Service']])
})

test('the environment has variables of both dialects, and real hosts are rejected as destinations', async () => {
  const at = world()
  const { env, urls } = at.sandbox
  expect(env).toMatchObject({ QSTASH_URL: urls.queue, QUEUE_URL: urls.queue })
  expect(env).toMatchObject({ UPSTASH_REDIS_REST_URL: urls.store, SERVICE_REDIS_REST_URL: urls.store })
  expect(env.EU_CENTRAL_1_QSTASH_URL).toBe(env.EU_CENTRAL_1_QUEUE_URL)
  const reached: unknown[] = []
  const fetching = async (given: unknown): Promise<Response> => {
    reached.push(given)
    return new Response()
  }
  const open = world({ deliver: 'any', fetch: fetching })
  open.queue.publish({ to: 'https://qstash.upstash.io/v2/publish/x', retries: 0 })
  await open.clock.drain()
  expect(reached).toEqual([])
  expect(open.traffic.timeline()).toContain('production host of the vendor')
})

test("queue.sign() uses the vendor's dialect unless another one is given", () => {
  const at = world()
  const iss = (token: string): string => issuers({ headers: [['x-signature', token]] })[0]!
  expect(iss(at.queue.sign({ url: shop }))).toBe('Upstash')
  expect(iss(at.queue.sign({ url: shop }, { dialect: 'neutral' }))).toBe('Service')
  expect(() => at.queue.sign({ url: shop }, { dialect: 'acme' })).toThrow(/queue\.sign\(\).*dialect "acme".*Use one of/)
})
