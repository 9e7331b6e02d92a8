import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connect, type RemoteSandbox } from '../../../src/client/connect.js'
import { type StuntdoubleServer, startServer } from '../src/server.js'

const shop = 'https://shop.test/orders'
let server: StuntdoubleServer
let remote: RemoteSandbox
const reported: string[] = []

beforeEach(async () => {
  reported.length = 0
  server = await startServer({ port: 0, clock: 'manual', onError: (text) => reported.push(text) })
  remote = await connect(server.origin)
})
afterEach(async () => {
  await server.close()
  expect(reported).toEqual([])
})

async function order(method: string, path: string, body?: unknown) {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const answer = await fetch(`${server.origin}/_control/main${path}`, {
    method,
    ...(text !== undefined && { body: text }),
  })
  return { status: answer.status, link: answer.headers.get('link'), json: JSON.parse(await answer.text()) }
}

async function scheduled(id: string, cron: string): Promise<void> {
  const { urls, tokens } = server.tenant('main')
  const headers = { authorization: `Bearer ${tokens.queue}`, 'service-cron': cron, 'service-schedule-id': id }
  expect((await fetch(`${urls.queue}/v2/schedules/${shop}`, { method: 'POST', headers })).status).toBe(200)
}

describe('a thousand years of a schedule that fires each minute', () => {
  beforeEach(() => scheduled('minutes', '* * * * *'))

  test('does not block other tenants and the health check, and stops when the client disconnects', async () => {
    const client = new AbortController()
    const move = remote.clock.advance('365000d', { signal: client.signal })
    const begun = await remote.clock.now()
    for (let asked = 0; asked < 3; asked++) {
      expect((await fetch(`${server.origin}/_health`)).status).toBe(200)
      const { urls, tokens } = server.tenant('other')
      const headers = { authorization: `Bearer ${tokens.store}` }
      expect(await (await fetch(`${urls.store}/ping`, { headers })).json()).toEqual({ result: 'PONG' })
    }
    client.abort()
    await expect(move).rejects.toThrow()
    // The clock accepts the next call as soon as that one has ended.
    await expect
      .poll(() =>
        remote.clock.advance(0).then(
          () => 'moves',
          ({ message }) => message,
        ),
      )
      .toBe('moves')
    expect(await remote.clock.now()).toBeGreaterThan(begun)
    server.tenant('main').assertInvariants()
  })

  test('stops with an interrupt, a reset, or a drop of its tenant', async () => {
    for (const end of [() => remote.clock.interrupt(), () => remote.reset(), () => server.drop('main')]) {
      const move = order('POST', '/clock/advance', { by: '365000d' })
      const { clock } = server.tenant('main')
      const begun = clock.now()
      await expect.poll(() => clock.now()).toBeGreaterThan(begun)
      await end()
      const { status, json } = await move
      expect([status, json.error]).toEqual([
        409,
        expect.stringMatching(/^clock\.advance\(\) (?:was interrupted|ended) at /),
      ])
      await scheduled('minutes', '* * * * *')
    }
    expect((await order('POST', '/clock/interrupt')).json.interrupted).toBeNull()
  })

  test('has too many fire times to list, and following the error message returns all of them', async () => {
    const path = '/queue/schedules/minutes/upcoming'
    expect(await order('POST', path, { from: 0, to: 8.64e15 })).toMatchObject({
      status: 400,
      json: {
        error: expect.stringMatching(
          /more than 500 fire times.* 1970-01-01T08:19:00\.000Z.* 1970-01-01T08:20:00\.000Z/,
        ),
      },
    })
    const first = await order('POST', path, { from: 0, to: '1970-01-01T08:19:00.000Z' })
    const next = await order('POST', path, { from: '1970-01-01T08:20:00.000Z', to: '1970-01-01T09:00:00Z' })
    expect([...first.json, ...next.json]).toEqual(Array.from({ length: 541 }, (_, minute) => minute * 60_000))
    expect((await order('POST', path, { from: 1e300, to: 1e301 })).json.error).toContain('must be a time')
    expect((await order('POST', path, { from: -8.64e15, to: 0 })).json).toEqual([0])
  })
})

test('returns no fire times for a schedule that never fires', async () => {
  await scheduled('never', '0 0 30 2 *')
  expect(await order('POST', '/queue/schedules/never/upcoming', { from: 0, to: 8.64e15 })).toMatchObject({
    status: 200,
    json: [],
  })
})

test('POST /scenarios/play of many years does not block other requests, and stops with its client', async () => {
  const scenario = {
    name: 'years',
    destinations: [{ url: shop }],
    steps: [{ schedule: { id: 'minutes', to: shop, cron: '* * * * *' } }, { advance: '365000d' }],
  }
  const client = new AbortController()
  const url = `${server.origin}/_control/main/scenarios/play`
  const play = fetch(url, { method: 'POST', body: JSON.stringify({ scenario }), signal: client.signal })
  for (let asked = 0; asked < 20; asked++) expect((await fetch(`${server.origin}/_health`)).status).toBe(200)
  client.abort()
  await expect(play).rejects.toThrow()
})

describe('long lists', () => {
  test('are returned in pages, which the client joins', async () => {
    const { queue } = server.tenant('main')
    for (let n = 0; n < 10_001; n++) queue.publish({ to: shop, delay: '1h', body: String(n) })
    const { status, json } = await order('GET', '/queue/messages')
    expect([status, json.error]).toEqual([
      400,
      expect.stringMatching(/\b10001 messages.*\b10000 .*\b67108864 bytes.* \?limit=10000\b.* &skip=10000\b/),
    ])
    expect((await order('GET', '/queue/messages?limit=10001')).json.error).toMatch(/^limit .*1 to 10000\b/)
    const last = await order('GET', '/queue/messages?limit=10000&skip=10000')
    expect([last.json.length, last.link]).toEqual([1, null])
    expect((await remote.queue.messages).map(({ body }) => Number(body))).toEqual(
      queue.messages.map(({ body }) => Number(body)),
    )
    expect(await remote.clock.pending).toHaveLength(10_001)
    const { pending, more } = (await order('GET', '/clock')).json
    expect([pending.length, more]).toEqual([1_000, expect.stringMatching(/^9001 more timers.*GET \/clock\/pending/)])
    expect((await order('GET', '/traffic')).json.error).toMatch(/^There are \d+ entries, /)
    const { link } = await order('GET', '/traffic?type=published&limit=7')
    expect(link).toBe('<?type=published&limit=7&skip=7>; rel="next"')
  })

  test('have fewer items per page if their bodies are large', async () => {
    const { queue } = server.tenant('main')
    for (let n = 0; n < 9; n++) queue.publish({ to: shop, delay: '1h', body: 'x'.repeat(10_000_000) })
    expect((await order('GET', '/queue/messages')).json.error).toContain('?limit=6,')
    expect(await remote.queue.messages).toHaveLength(9)
  })

  test('POST /faults rejects more than ten thousand rules', async () => {
    const rules = Array.from({ length: 10_001 }, () => ({ on: 'queue.delivery', fault: { kind: 'lost-ack' } }))
    expect((await order('POST', '/faults', { rules })).json.error).toMatch(/^faults\.add\(\).*\b10000 rules/)
    expect((await order('POST', '/faults', { rules: rules.slice(1) })).status).toBe(200)
    expect(await remote.faults.rules).toHaveLength(10_000)
    expect((await order('DELETE', '/faults')).status).toBe(200)
  })

  test('accepts a script of a million steps and a group of 50,000 URLs', async () => {
    const steps = Array.from({ length: 1_000_000 }, () => ({ kind: 'reset' }))
    expect((await order('POST', '/destinations/script', { to: shop, steps })).json).toEqual({})
    const endpoints = Array.from({ length: 50_000 }, (_, n) => `https://a.test/${n}`)
    expect((await order('POST', '/queue/url-groups/g/endpoints', { endpoints })).json.endpoints).toHaveLength(50_000)
  })
})

describe('deeply nested JSON', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)

  test.each([
    ['POST', '/queue/publish', `{"to":"${shop}","body":${deep}}`],
    ['POST', '/destinations/respond', `{"to":"${shop}","response":{"body":${deep}}}`],
    ['POST', '/destinations/script', `{"to":"${shop}","steps":[{"kind":"reset","x":${deep}}]}`],
    ['POST', '/faults', `{"rules":${deep}}`],
    ['POST', '/faults', `{"scenario":{"name":"x","faults":${deep}}}`],
    ['POST', '/scenarios/play', `{"scenario":{"name":"x","steps":${deep}}}`],
    ['PUT', '/state', `{"x":${deep}}`],
    ['PUT', '/store/dump', `{"keys":${deep}}`],
    ['PUT', '/stats/queue/overrides', `{"x":${deep}}`],
    ['POST', '/clock/advance', deep],
  ])('%s %s rejects it', async (method, path, body) => {
    const { status, json } = await order(method, path, body)
    expect([status, json.error]).toEqual([400, expect.stringMatching(/body.*nest.*\b1000 levels/)])
  })

  test.each([5_000, 100_000])('a batch accepts items of %i levels, and delivers them unchanged', async (levels) => {
    const { urls, tokens } = server.tenant('main')
    const body = '{"a":['.repeat(levels) + ']}'.repeat(levels)
    await remote.destinations.record(shop)
    const answer = await fetch(`${urls.queue}/v2/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.queue}` },
      body: `[{"destination":"${shop}","body": ${body} }]`,
    })
    expect(answer.status).toBe(200)
    await remote.clock.drain()
    expect(server.tenant('main').traffic.ofType('attempt')[0]!.body === body).toBe(true)
  })
})

test('rejects a fault with a header that is not valid in a response, when the fault is added', async () => {
  for (const value of ['\u20ac', 'a\r\nb', '\0', 'a\x7f']) {
    const fault = { kind: 'status', status: 503, headers: { 'x-note': value } }
    const { status, json } = await order('POST', '/faults', { rules: { on: 'store.request', fault } })
    expect([status, json.error]).toEqual([400, expect.stringContaining('must be a header value')])
  }
})

test('a script of more steps than that is refused, and none of them is taken', async () => {
  const steps = Array.from({ length: 1_000_001 }, () => 503)
  const { status, json } = await order('POST', '/destinations/script', { to: shop, steps })
  expect([status, json]).toEqual([400, { error: expect.stringContaining('at most 1000000 steps') }])
})
