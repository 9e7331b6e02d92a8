import { Client } from '@upstash/qstash'
import { describe, expect, test, vi } from 'vitest'
import { rateLimitHeaders } from '../../src/queue/publish/call-limits.js'
import { plans } from '../../src/queue/settings/queue-plan.js'
import { defaultReadOnlyToken, devUsers, userOf } from '../../src/queue/signing/public-users.js'
import { shop, type World, world } from './world.js'

describe('authentication of the queue API [queue.md 10]', () => {
  test('accepts a bearer token, or the query parameter of the dialect', async () => {
    expect((await world().send('GET', '/v2/queues')).status).toBe(200)
    const token = encodeURIComponent(devUsers[0].token)
    expect((await world().send('GET', `/v2/queues?service_token=${token}`, { token: null })).status).toBe(200)
    const vendor = world({ dialect: 'upstash' })
    expect((await vendor.send('GET', `/v2/queues?qstash_token=${token}`, { token: null })).status).toBe(200)
    expect((await vendor.send('GET', `/v2/queues?upstash_token=${token}`, { token: null })).status).toBe(401)
  })

  test.each([
    ['missing', null],
    ['wrong', 'nonsense'],
    ['empty', ''],
  ])("responds to a %s token with 401 and the service's text", async (_name, token) => {
    const refused = await world().send('GET', '/v2/keys', { token })
    expect([refused.status, refused.text]).toEqual([401, '{"error":"unable to authenticate: invalid token"}'])
  })

  test('has a default token that names its user, as the workflow SDK requires', () => {
    expect(JSON.parse(atob(devUsers[0].token))).toEqual({ UserID: 'defaultUser', Password: 'defaultPassword' })
    expect(userOf(devUsers[1]!.token)).toBe('testUser1')
    expect(userOf('no json')).toBe('no json')
  })

  test("has the signing keys by which the SDKs' development mode recognizes the double [queue.md 13]", async () => {
    const { json } = await world().send('GET', '/v2/keys')
    expect(json).toEqual({ current: 'sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r', next: 'sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs' })
  })

  test('responds with 404 to a token of the other region', async () => {
    const at = world({ policy: { homeRegion: 'us-east-1' } })
    const refused = await at.send('GET', '/v2/keys')
    expect([refused.status, refused.json.error]).toEqual([
      404,
      'user (defaultUser) not found in this region (eu-central-1)',
    ])
    expect((await at.send('GET', '/v2/keys', { base: 'https://us-east-1.queue.test' })).status).toBe(200)
  })

  test('lets the read-only token read but change nothing', async () => {
    const at = world()
    const token = defaultReadOnlyToken
    for (const path of ['queues', 'schedules', 'topics', 'dlq', 'events', 'logs', 'flowControl', 'globalParallelism']) {
      expect((await at.send('GET', `/v2/${path}`, { token })).status, path).toBe(200)
    }
    for (const [method, path] of [
      ['POST', `/v2/publish/${shop}`],
      ['POST', '/v2/batch'],
      ['DELETE', '/v2/messages'],
      ['POST', '/v2/keys/rotate'],
      ['PATCH', '/v2/topics/g'],
    ] as const) {
      const refused = await at.send(method, path, { token })
      expect([refused.status, refused.json.error]).toEqual([403, 'unable to authorize: the token is read-only'])
    }
  })

  test('needs no token for the readiness endpoints [queue.md 1.11]', async () => {
    for (const path of ['/', '/v2/readiness'])
      expect((await world().send('GET', path, { token: null })).status).toBe(200)
  })

  test("responds to unknown paths and wrong methods in the service's format", async () => {
    const at = world()
    const unknown = await at.send('GET', '/v2/nothing')
    expect([unknown.status, Object.keys(unknown.json)]).toEqual([404, ['error']])
    const wrong = await at.send('PUT', '/v2/queues')
    expect([wrong.status, wrong.header('allow')]).toEqual([405, 'GET, POST'])
  })
})

describe('rate limits of the queue API [queue.md 10]', () => {
  test('count only publishes for the daily limit, which starts again with each day', async () => {
    const at = world({ policy: { queueDailyLimit: 2 }, startAt: '2030-01-01T23:59:00Z' })
    const publish = () => at.send('POST', `/v2/publish/${shop}`)
    await publish()
    await at.send('POST', `/v2/enqueue/q/${shop}`)
    const refused = await publish()
    expect(refused.status).toBe(429)
    expect(['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'].map((name) => refused.header(name))).toEqual([
      '2',
      '0',
      String(Date.UTC(2030, 0, 2) / 1000),
    ])
    expect(refused.header('Burst-RateLimit-Limit')).toBeUndefined()
    expect((await at.send('GET', '/v2/queues')).status).toBe(200)
    await at.clock.advance('1m')
    expect((await publish()).status).toBe(200)
  })

  test('count all other requests for the burst limit, per second', async () => {
    const at = world({ policy: { queueBurstLimit: 1 } })
    for (let n = 0; n < 3; n++) expect((await at.send('POST', `/v2/publish/${shop}`)).status).toBe(200)
    expect((await at.send('GET', '/v2/queues')).status).toBe(200)
    const refused = await at.send('GET', '/v2/queues')
    expect([refused.status, refused.header('Burst-RateLimit-Reset'), refused.header('RateLimit-Limit')]).toEqual([
      429,
      '1893456001',
      undefined,
    ])
    await at.clock.advance('1s')
    expect((await at.send('GET', '/v2/queues')).status).toBe(200)
  })
})

describe('rate-limit headers of faults [queue.md 10]', () => {
  test.each([
    [
      'chat',
      'QstashChatRatelimitError',
      { limitRequests: '5', limitTokens: '5', remainingRequests: '1', resetTokens: '9' },
    ],
    ['daily', 'QstashDailyRatelimitError', { limit: '5', remaining: '1', reset: '9' }],
    ['burst', 'QstashRatelimitError', { limit: '5', remaining: '1', reset: '9' }],
  ] as const)('make the SDK turn a 429 with the %s headers into %s', async (kind, name, fields) => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const headers = rateLimitHeaders(kind, { limit: 5, remaining: 1, reset: 9 })
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('{}', { status: 429, headers }))
    const client = new Client({ baseUrl: 'https://queue.test', token: 'x', retry: false })
    const error = await client
      .queue()
      .list()
      .catch((thrown) => thrown)
    vi.restoreAllMocks()
    expect(error).toMatchObject({ name, status: 429, ...fields })
  })
})

describe('quotas of the queue [queue.md 5.6, 1.13, 16]', () => {
  const free = () => world({ policy: { enforceQuotas: true, queuePlan: 'free' } })
  const publish = (at: World, headers: Record<string, string>, body = 'b') =>
    at.send('POST', `/v2/publish/${shop}`, { headers, body })

  test('are off by default', async () => {
    const at = world()
    expect((await publish(at, { 'Service-Retries': '50', 'Service-Delay': '700d' })).status).toBe(200)
  })

  // A limit of the service on all plans. [queue.md, last section]
  test.each(['free', 'payg', 'fixed-10m'] as const)(
    'reject a million retries on plan %s even when they are off',
    async (queuePlan) => {
      const at = world({ policy: { queuePlan } })
      for (const retries of ['1000000', '99999999999999999999']) {
        const refused = await publish(at, { 'Service-Retries': retries })
        expect([refused.status, refused.json.error]).toEqual([412, 'quota maxRetries exceeded, current limit: 999999'])
      }
      expect(at.sandbox.queue.messages).toEqual([])
      expect((await publish(at, { 'Service-Retries': '999999' })).status).toBe(200)
    },
  )

  test("limit delay, retries and message size, with the service's texts", async () => {
    const at = free()
    for (const [headers, body, error] of [
      [{ 'Service-Delay': '8d' }, 'b', 'quota maxDelay exceeded, current limit: 604800'],
      [{ 'Service-Retries': '6' }, 'b', 'quota maxRetries exceeded, current limit: 5'],
      [
        { 'Service-Callback': shop, 'Service-Callback-Retries': '6' },
        'b',
        'quota maxRetries exceeded, current limit: 5',
      ],
      [{}, 'x'.repeat(1_048_577), 'quota maxMessageSize exceeded, current limit: 1048576'],
    ] as const) {
      const refused = await publish(at, headers, body)
      expect([refused.status, refused.json.error]).toEqual([412, error])
    }
    const schedule = { headers: { 'Service-Cron': '* * * * *' }, body: 'x'.repeat(1_048_577) }
    expect((await at.send('POST', `/v2/schedules/${shop}`, schedule)).status).toBe(412)
    expect((await publish(at, { 'Service-Delay': '7d', 'Service-Retries': '5' }, 'x'.repeat(1_048_576))).status).toBe(
      200,
    )
  })

  test('limit the size of a whole batch [queue.md 1.4]', async () => {
    const at = world({ policy: { enforceQuotas: true, maxBatchSize: 100 } })
    const refused = await at.send('POST', '/v2/batch', { body: [{ destination: shop, body: 'x'.repeat(100) }] })
    expect([refused.status, refused.json.error]).toEqual([412, 'quota maxBatchSize exceeded, current limit: 100'])
  })

  test('limit queues, parallelism, schedules and URL groups', async () => {
    const at = free()
    for (let n = 0; n < 10; n++) {
      expect((await at.send('POST', '/v2/queues', { body: { queueName: `q${n}` } })).status).toBe(200)
      expect(
        (await at.send('POST', `/v2/schedules/${shop}`, { headers: { 'Service-Cron': '* * * * *' } })).status,
      ).toBe(200)
    }
    const queue = await at.send('POST', '/v2/queues', { body: { queueName: 'one-more' } })
    expect([queue.status, queue.json.error]).toEqual([412, 'quota maxQueues exceeded, current limit: 10'])
    expect((await at.send('POST', `/v2/enqueue/one-more/${shop}`)).status).toBe(412)
    // An existing queue may be changed even at the limit.
    expect((await at.send('POST', '/v2/queues', { body: { queueName: 'q1', parallelism: 2 } })).status).toBe(200)
    const parallel = await at.send('POST', '/v2/queues', { body: { queueName: 'q1', parallelism: 3 } })
    expect([parallel.status, parallel.json.error]).toEqual([412, 'quota maxParallelism exceeded, current limit: 2'])
    expect((await at.send('POST', `/v2/schedules/${shop}`, { headers: { 'Service-Cron': '* * * * *' } })).status).toBe(
      412,
    )
    expect((await at.send('POST', '/v2/topics/one/endpoints', { body: { endpoints: [{ url: shop }] } })).status).toBe(
      200,
    )
    expect((await at.send('POST', '/v2/topics/two/endpoints', { body: { endpoints: [{ url: shop }] } })).status).toBe(
      412,
    )
    const many = Array.from({ length: 101 }, (_, n) => ({ url: `https://shop.test/${n}` }))
    expect((await at.send('POST', '/v2/topics/one/endpoints', { body: { endpoints: many } })).status).toBe(412)
  })

  test('limit the messages per day', async () => {
    const at = world({ policy: { enforceQuotas: true, queueLimits: { messagesPerDay: 1 } } })
    expect((await publish(at, {})).status).toBe(200)
    expect((await publish(at, {})).status).toBe(429)
  })

  test('equal the published table of plans', () => {
    const megabyte = 1024 * 1024
    const table = Object.values(plans).map((plan) => [
      plan.messagesPerDay,
      plan.maxMessageSize / megabyte,
      plan.schedules,
      plan.queues,
      plan.globalParallelism,
      plan.urlGroups,
      plan.logRetention / 86_400_000,
      plan.dlqRetention / 86_400_000,
    ])
    expect(table).toEqual([
      [1000, 1, 10, 10, 10, 1, 3, 3],
      [undefined, 10, 1000, 100, 100, 100, 7, 7],
      [1_000_000, 50, 10_000, 1000, 200, 1000, 14, 30],
      [10_000_000, 50, 50_000, 1000, 1000, 2000, 14, 90],
    ])
  })
})

describe('workflow endpoints of the queue API [queue.md 1.12]', () => {
  test("respond to an unknown run with the service's text", async () => {
    const at = world()
    const answer = await at.send('GET', '/v2/workflows/runs/wfr_x')
    expect(answer.status).toBe(404)
    expect(typeof answer.json.error).toBe('string')
  })
})
