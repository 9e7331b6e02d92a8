import { describe, expect, test } from 'vitest'
import { open, shop } from './shop.js'

// Time of deliveries as the destination sees it. Expected figures: queue.md 5.1 to 5.4, 2.2, 2.4.

/** Returns the seconds between the publish and each attempt. */
async function attemptTimes(
  publish: { retries?: number; retryDelay?: string; delay?: number; notBefore?: number },
  answer: number | (() => { status: number; headers?: Record<string, string> }),
): Promise<number[]> {
  const { client, clock, destinations } = open()
  const seen = destinations.record(shop)
  destinations.respond(shop, answer)
  const start = clock.now()
  await client.publishJSON({ url: shop, body: { id: 1 }, ...publish })
  await clock.drain()
  return seen.requests.map((attempt) => (attempt.at - start) / 1000)
}

/** Returns the wait before each retry, in seconds. */
function waits(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => Math.round((time - times[index]!) * 1000) / 1000)
}

describe('default backoff', () => {
  test('waits 12, 148, 1808, 22026 and then 86400 seconds', async () => {
    expect(waits(await attemptTimes({ retries: 7 }, 500))).toEqual([12, 148, 1808, 22026, 86400, 86400, 86400])
  })

  test('retries three times by default and never with 0', async () => {
    expect(waits(await attemptTimes({}, 500))).toEqual([12, 148, 1808])
    expect(await attemptTimes({ retries: 0 }, 500)).toEqual([0])
  })

  test.each([201, 202, 204, 299])('treats the status %i as delivered', async (status) => {
    expect(await attemptTimes({}, status)).toEqual([0])
  })

  test.each([301, 302, 304, 400, 401, 404, 410, 429, 489, 503])('retries after the status %i', async (status) => {
    expect(waits(await attemptTimes({ retries: 1 }, status))).toEqual([12])
  })
})

describe('retry delay expression in milliseconds, with retried counted from 0', () => {
  test.each([
    ['1000', [1, 1, 1]],
    ['1000 * (1 + retried)', [1, 2, 3]],
    ['pow(2, retried) * 1000', [1, 2, 4]],
    ['max(1000, pow(2, retried) * 100)', [1, 1, 1]],
    ['min(2500, 1000 * (1 + retried))', [1, 2, 2.5]],
    ['exp(retried) * 1000', [1, Math.E, 7.389]],
    ['sqrt(4) * 1000 + abs(0 - 500)', [2.5, 2.5, 2.5]],
    ['floor(1.9) * 1000 + ceil(0.1) + round(0.5)', [1.002, 1.002, 1.002]],
    ['retried / 2 * 1000', [0, 0.5, 1]],
    ['0 - 5000', [0, 0, 0]],
    ['1 / 0', [12, 148, 1808]],
    ['pow(10, 12)', [86400, 86400, 86400]],
  ])('evaluates %s', async (retryDelay, expected) => {
    const found = waits(await attemptTimes({ retries: 3, retryDelay }, 500))
    expect(found).toHaveLength(3)
    for (const [index, wait] of found.entries()) expect(Math.abs(wait - expected[index]!)).toBeLessThanOrEqual(0.001)
  })

  test.each(['retries * 1000', 'process.exit()', '1000;', 'constructor', '__proto__', '1 +', 'pow(1)', '('])(
    'rejects %j at publish with 400',
    async (retryDelay) => {
      const { env, sandbox } = open()
      const answer = await sandbox.fetch(`${env.QSTASH_URL}/v2/publish/${shop}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${env.QSTASH_TOKEN}`, 'upstash-retry-delay': retryDelay },
      })
      expect(answer.status).toBe(400)
    },
  )
})

describe('response headers that override the wait', () => {
  const start = Date.parse('2030-01-01T00:00:00Z')
  test.each([
    ['Retry-After', '30', 30],
    ['Retry-After', '0', 0],
    ['Retry-After', new Date(start + 90_000).toUTCString(), 90],
    ['Retry-After', new Date(start - 90_000).toUTCString(), 0],
    ['Retry-After', '6m5s', 365],
    ['X-RateLimit-Reset', '45', 45],
    ['X-RateLimit-Reset-Requests', '1m30s', 90],
    ['X-RateLimit-Reset-Tokens', '250ms', 0.25],
    ['X-RateLimit-Reset-Tokens', '1h', 3600],
    ['Retry-After', '90000', 12],
    ['Retry-After', 'soon', 12],
    ['Retry-After', '-5', 12],
  ])('reads %s: %s', async (name, value, expected) => {
    const times = await attemptTimes({ retries: 1 }, () => ({ status: 429, headers: { [name]: value } }))
    expect(waits(times)).toEqual([expected])
  })

  test('use the first of several in the documented order, also with a retry delay', async () => {
    const headers = { 'X-RateLimit-Reset-Tokens': '4', 'X-RateLimit-Reset': '3', 'Retry-After': '2' }
    expect(waits(await attemptTimes({ retries: 1 }, () => ({ status: 503, headers })))).toEqual([2])
    expect(waits(await attemptTimes({ retries: 1, retryDelay: '9000' }, () => ({ status: 503, headers })))).toEqual([2])
  })
})

describe('delay and not-before', () => {
  test('accept seconds, a delay with units, an instant, an instant together with a delay, and a past instant', async () => {
    const now = Date.parse('2030-01-01T00:00:00Z') / 1000
    expect(await attemptTimes({ delay: 60 }, 200)).toEqual([60])
    expect(await attemptTimes({ delay: '1d10h30m' as never }, 200)).toEqual([124_200])
    expect(await attemptTimes({ notBefore: now + 100 }, 200)).toEqual([100])
    expect(await attemptTimes({ notBefore: now + 100, delay: 500 }, 200)).toEqual([100])
    expect(await attemptTimes({ notBefore: now - 100 }, 200)).toEqual([0])
  })
})

describe('header Upstash-Retried', () => {
  test('counts from 0 to the number of retries, with the same message ID', async () => {
    const { client, clock, destinations } = open()
    const seen = destinations.record(shop, 500)
    const { messageId } = await client.publish({ url: shop, body: 'x', retries: 2 })
    await clock.drain()
    expect(seen.requests.map((attempt) => attempt.header('upstash-retried'))).toEqual(['0', '1', '2'])
    expect(new Set(seen.requests.map((attempt) => attempt.header('upstash-message-id')))).toEqual(new Set([messageId]))
  })

  test('stays at 0 after a 489 with the header of a non-retryable error', async () => {
    const { client, clock, destinations } = open()
    const seen = destinations.record(shop, { status: 489, headers: { 'Upstash-NonRetryable-Error': 'true' } })
    await client.publish({ url: shop, retries: 3 })
    await clock.drain()
    expect(seen.count).toBe(1)
    const { logs } = await client.logs()
    expect(logs.map(({ state }) => state).reverse()).toEqual(['CREATED', 'ACTIVE', 'ERROR', 'FAILED'])
  })
})

describe('timeout', () => {
  test('ends an attempt whose handler is slower than the timeout of the message, then retries', async () => {
    const { client, clock, destinations } = open()
    const times: number[] = []
    const start = clock.now()
    destinations.on(shop, async (_request, task) => {
      times.push((clock.now() - start) / 1000)
      await task.sleep('1h')
      return new Response()
    })
    const { messageId } = await client.publish({ url: shop, retries: 1, timeout: 30 })
    await clock.drain()
    expect(times).toEqual([0, 42])
    const { logs } = await client.logs({ filter: { messageId } })
    const [failed] = logs
    expect(failed).toMatchObject({ state: 'FAILED', timeout: 30_000, error: 'context deadline exceeded' })
    const { messages } = await client.dlq.listMessages()
    expect(messages[0]).toMatchObject({ responseStatus: 0, messageId })
  })
})

describe('deduplication', () => {
  test('returns 202 with the first ID within ten minutes, and publishes again in the eleventh', async () => {
    const { client, clock, destinations, env, sandbox } = open()
    const seen = destinations.record(shop)
    const first = await client.publish({ url: shop, body: 'a', deduplicationId: 'd' })
    const again = await client.publish({ url: shop, body: 'b', deduplicationId: 'd' })
    expect(again).toMatchObject({ messageId: first.messageId, deduplicated: true })
    const raw = await sandbox.fetch(`${env.QSTASH_URL}/v2/publish/${shop}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.QSTASH_TOKEN}`, 'Upstash-Deduplication-Id': 'd' },
    })
    expect(raw.status).toBe(202)
    await clock.advance('599s')
    expect((await client.publish({ url: shop, deduplicationId: 'd' })).deduplicated).toBe(true)
    await clock.advance('2s')
    expect((await client.publish({ url: shop, deduplicationId: 'd' })).deduplicated).not.toBe(true)
    await clock.drain()
    expect(seen.count).toBe(2)
  })

  test('compares body, URL, content type and forwarded headers when it is based on content', async () => {
    const { client } = open()
    const base = { url: shop, body: 'a', contentBasedDeduplication: true, headers: { 'x-a': '1' } } as const
    await client.publish(base)
    const same = async (change: object): Promise<boolean> =>
      ((await client.publish({ ...base, ...change } as never)) as { deduplicated?: boolean }).deduplicated === true
    expect(await same({})).toBe(true)
    expect(await same({ body: 'b' })).toBe(false)
    expect(await same({ url: `${shop}/2` })).toBe(false)
    expect(await same({ headers: { 'x-a': '2' } })).toBe(false)
    expect(await same({ headers: { 'x-a': '1', 'content-type': 'text/plain' } })).toBe(false)
  })

  test('rejects an ID with a colon', async () => {
    const { client } = open()
    await expect(client.publish({ url: shop, deduplicationId: 'a:b' })).rejects.toMatchObject({
      status: 400,
      message: '{"error":"DeduplicationId cannot contain \':\'"}',
    })
  })
})
