import {
  Client,
  QstashChatRatelimitError,
  QstashDailyRatelimitError,
  QstashError,
  QstashRatelimitError,
} from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { createSandbox, type FaultAt, fault, type RateLimitedFault, type SandboxOptions } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { afterEach, describe, expect, test } from 'vitest'

// Behavior of the public SDKs under faults: texts and headers must be those that they look for.

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end()
})

function world(options: SandboxOptions = {}) {
  const sandbox = createSandbox({ dialect: 'upstash', clock: 'auto', onWarning: () => {}, ...options })
  ends.push(replaceFetch(sandbox), () => sandbox.dispose())
  const { store, queue } = sandbox.urls
  const redis = new Redis({ url: store, token: sandbox.tokens.store, retry: false, enableTelemetry: false })
  const retrying = new Redis({
    url: store,
    token: sandbox.tokens.store,
    retry: { retries: 3, backoff: () => 1 },
    enableTelemetry: false,
  })
  const client = new Client({ baseUrl: queue, token: sandbox.tokens.queue, retry: false, enableTelemetry: false })
  return { sandbox, redis, retrying, client }
}

describe('the queue SDK', () => {
  test.each<[RateLimitedFault['limit'], new (...args: never[]) => Error, object]>([
    ['burst', QstashRatelimitError, { remaining: '0' }],
    ['daily', QstashDailyRatelimitError, { remaining: '0' }],
    ['chat', QstashChatRatelimitError, { remainingRequests: '0' }],
  ])('distinguishes the rate limits: %j', async (limit, expected, headers) => {
    const { sandbox, client } = world()
    sandbox.faults.add({ on: 'queue.request', fault: fault.rateLimited({ limit }) })
    const error = await client.publish({ url: 'https://shop.test/', body: 'x' }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(expected)
    expect(JSON.stringify(error)).toContain(JSON.stringify(headers).slice(1, -1))
  })

  test.each<[FaultAt<'queue.request'>, number, string]>([
    [fault.status(503), 503, 'service unavailable'],
    [fault.revokedToken(), 401, 'unable to authenticate: invalid token'],
    [fault.quotaExceeded(), 412, 'exceeded, current limit'],
  ])('throws the expected error for %j', async (fault, code, text) => {
    const { sandbox, client } = world()
    sandbox.faults.add({ on: 'queue.request', fault })
    const error = await client.publish({ url: 'https://shop.test/', body: 'x' }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(QstashError)
    expect([error.status, error.message]).toEqual([code, expect.stringContaining(text)])
  })

  test('retries a publish after a lost response: two messages, or one with a deduplication ID', async () => {
    const { sandbox } = world()
    const client = new Client({
      baseUrl: sandbox.urls.queue,
      token: sandbox.tokens.queue,
      retry: { retries: 2, backoff: () => 1 },
      enableTelemetry: false,
    })
    sandbox.destinations.respond('https://shop.test/*', 200)
    sandbox.faults.add({ on: 'queue.request', every: 2, times: 2, fault: fault.lostAck() })
    await client.publish({ url: 'https://shop.test/twice', body: 'x' })
    await client.publish({ url: 'https://shop.test/once', body: 'x', deduplicationId: 'd' })
    await sandbox.clock.drain()
    expect(sandbox.traffic.ofType('attempt').map(({ url }) => url.slice(18))).toEqual(['twice', 'twice', 'once'])
  })
})

describe('the store SDK', () => {
  test('throws the text of an error reply', async () => {
    const { sandbox, redis } = world()
    sandbox.faults.add({
      on: 'store.command',
      match: { command: 'INCR' },
      fault: fault.errorReply('OOM command not allowed'),
    })
    await expect(redis.incr('a')).rejects.toThrow('OOM command not allowed')
  })

  test('retries a broken connection, and counts twice what was processed before its response was lost', async () => {
    const { sandbox, retrying } = world()
    sandbox.faults.add({ on: 'store.request', times: 1, fault: fault.lostAck() })
    expect(await retrying.incr('a')).toBe(2)
    sandbox.faults.add({ on: 'store.request', times: 2, fault: fault.reset() })
    expect(await retrying.incr('a')).toBe(3)
  })

  test('survives a restart of the service', async () => {
    const { sandbox, retrying } = world()
    sandbox.faults.add({ on: 'store.request', times: 1, phase: 'before', fault: fault.restart() })
    expect(await retrying.set('a', 'b')).toBe('OK')
  })

  test('throws for a response that is not JSON', async () => {
    const { sandbox, redis } = world()
    sandbox.faults.add({ on: 'store.request', fault: fault.corruptJson() })
    await expect(redis.get('a')).rejects.toThrow('Unable to parse response body')
  })

  test('waits for a slow response with an automatic clock', async () => {
    const { sandbox, redis } = world()
    const before = sandbox.clock.now()
    sandbox.faults.add({ on: 'store.request', fault: fault.latency('2s') })
    expect(await redis.set('a', 'b')).toBe('OK')
    expect(sandbox.clock.now() - before).toBe(2000)
  })
})

test('waits in system time with a real clock', async () => {
  const { sandbox, redis } = world({ clock: 'real' })
  sandbox.faults.add({ on: 'store.request', fault: fault.latency(30) })
  const before = sandbox.clock.now()
  expect(await redis.set('a', 'b')).toBe('OK')
  expect(sandbox.clock.now() - before).toBeGreaterThanOrEqual(30)
})

test('drain() stops an endless fault after maxTimers timers, and names it', async () => {
  const sandbox = createSandbox({ onWarning: () => {} })
  sandbox.destinations.respond('https://shop.test/*', 200)
  sandbox.faults.add({ on: 'queue.delivery', fault: fault.restart('1s') })
  sandbox.queue.publish({ to: 'https://shop.test/orders' })
  await expect(sandbox.clock.drain({ maxTimers: 500 })).rejects.toThrow(
    /clock\.drain\(\).*\b500 timers.*maxTimers.*"delivery to https:\/\/shop\.test\/orders"/,
  )
})
