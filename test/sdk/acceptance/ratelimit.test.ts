import { Lock } from '@upstash/lock'
import { Analytics, IpDenyList, MultiRegionRatelimit, Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { open } from './shop.js'

// The unmodified libraries for rate limits and locks, which use the store's SDK. They read the host's `Date`, which
// follows the sandbox here.

const start = Date.parse('2030-01-01T00:00:00Z')

beforeEach(() => {
  vi.useFakeTimers({ now: start, toFake: ['Date', 'setTimeout', 'clearTimeout'] })
})

afterEach(() => {
  vi.useRealTimers()
})

function world() {
  const made = open()
  made.clock.follow({ advanceBy: (ms) => vi.advanceTimersByTimeAsync(ms) })
  return made
}

/** Returns how many of this number of calls are admitted now. */
async function allowed(ratelimit: Pick<Ratelimit, 'limit'>, calls: number, identifier = 'user'): Promise<number> {
  let count = 0
  for (let n = 0; n < calls; n++) if ((await ratelimit.limit(identifier)).success) count++
  return count
}

describe('ratelimit', () => {
  test('admits ten per minute with a fixed window, and ten more in the next minute', async () => {
    const { redis, clock } = world()
    const ratelimit = new Ratelimit({ redis, limiter: Ratelimit.fixedWindow(10, '1 m'), ephemeralCache: false })
    const first = await ratelimit.limit('user')
    expect(first).toMatchObject({ success: true, limit: 10, remaining: 9, reset: start + 60_000 })
    expect(await allowed(ratelimit, 12)).toBe(9)
    expect(await ratelimit.limit('user')).toMatchObject({ success: false, remaining: 0 })
    expect(await ratelimit.getRemaining('user')).toMatchObject({ remaining: 0, reset: start + 60_000, limit: 10 })
    expect(await allowed(ratelimit, 3, 'other')).toBe(3)
    await clock.advance('1m')
    expect(await allowed(ratelimit, 12)).toBe(10)
    await ratelimit.resetUsedTokens('user')
    expect(await allowed(ratelimit, 12)).toBe(10)
  })

  test('counts the weight of a call with a fixed window', async () => {
    const { redis } = world()
    const ratelimit = new Ratelimit({ redis, limiter: Ratelimit.fixedWindow(10, '1 m'), ephemeralCache: false })
    expect(await ratelimit.limit('user', { rate: 7 })).toMatchObject({ success: true, remaining: 3 })
    expect(await ratelimit.limit('user', { rate: 4 })).toMatchObject({ success: false })
  })

  test('counts a share of the previous window with a sliding window', async () => {
    const { redis, clock } = world()
    const ratelimit = new Ratelimit({ redis, limiter: Ratelimit.slidingWindow(10, '60 s'), ephemeralCache: false })
    expect(await allowed(ratelimit, 12)).toBe(10)
    await clock.advance('60s')
    // The previous window counts fully at the start of this one, and half in its middle.
    expect(await allowed(ratelimit, 12)).toBe(0)
    await clock.advance('30s')
    expect(await allowed(ratelimit, 12)).toBe(5)
    expect((await ratelimit.getRemaining('user')).remaining).toBe(0)
    await clock.advance('5m')
    expect(await allowed(ratelimit, 12)).toBe(10)
  })

  test('admits five at once with a token bucket, then one every ten seconds', async () => {
    const { redis, clock } = world()
    const ratelimit = new Ratelimit({ redis, limiter: Ratelimit.tokenBucket(1, '10 s', 5), ephemeralCache: false })
    expect(await allowed(ratelimit, 7)).toBe(5)
    await clock.advance('9s')
    expect(await allowed(ratelimit, 1)).toBe(0)
    await clock.advance('1s')
    expect(await allowed(ratelimit, 3)).toBe(1)
    await clock.advance('35s')
    expect(await allowed(ratelimit, 5)).toBe(3)
    expect((await ratelimit.getRemaining('user')).remaining).toBe(0)
  })

  test('admits three per window with a cached fixed window', async () => {
    const { redis, clock, sandbox } = world()
    const ratelimit = new Ratelimit({
      redis,
      limiter: Ratelimit.cachedFixedWindow(3, '10 s'),
      ephemeralCache: new Map(),
    })
    expect(await allowed(ratelimit, 5)).toBe(3)
    await Promise.resolve()
    await clock.advance('10s')
    expect(await allowed(ratelimit, 2)).toBe(2)
    expect(sandbox.destinations.errors).toEqual([])
  })

  test('rejects a blocked identifier from the ephemeral cache, without a request', async () => {
    const { redis, sandbox } = world()
    const ratelimit = new Ratelimit({ redis, limiter: Ratelimit.fixedWindow(1, '1 m'), ephemeralCache: new Map() })
    expect(await allowed(ratelimit, 2)).toBe(1)
    const before = sandbox.traffic.entries.length
    expect(await ratelimit.limit('user')).toMatchObject({ success: false, reason: 'cacheBlock' })
    expect(sandbox.traffic.entries.length).toBe(before)
  })

  test('follows dynamic limits', async () => {
    const { redis } = world()
    const ratelimit = new Ratelimit({
      redis,
      limiter: Ratelimit.slidingWindow(10, '1 m'),
      dynamicLimits: true,
      ephemeralCache: false,
    })
    await ratelimit.setDynamicLimit({ limit: 2 })
    expect(await ratelimit.getDynamicLimit()).toEqual({ dynamicLimit: 2 })
    expect(await allowed(ratelimit, 5)).toBe(2)
    await ratelimit.setDynamicLimit({ limit: false })
    expect(await allowed(ratelimit, 12)).toBe(8)
  })

  test('blockUntilReady() waits until the window ends', async () => {
    const { redis, clock } = world()
    const ratelimit = new Ratelimit({ redis, limiter: Ratelimit.fixedWindow(1, '10 s'), ephemeralCache: false })
    expect(await allowed(ratelimit, 1)).toBe(1)
    const waiting = ratelimit.blockUntilReady('user', 60_000)
    let done = false
    void waiting.then(() => (done = true))
    await clock.advance('5s')
    expect(done).toBe(false)
    await clock.advance('6s')
    expect((await waiting).success).toBe(true)
  })

  test('applies deny lists and records analytics', async () => {
    const { redis, clock } = world()
    const ratelimit = new Ratelimit({
      redis,
      limiter: Ratelimit.fixedWindow(2, '1 m'),
      enableProtection: true,
      analytics: true,
      prefix: 'shop',
      ephemeralCache: false,
    })
    await redis.sadd('shop:denyList:all', 'mallory')
    await redis.set('shop:ipDenyListStatus', 'valid')
    const pending: Promise<unknown>[] = []
    for (const user of ['alice', 'alice', 'alice', 'bob']) pending.push((await ratelimit.limit(user)).pending)
    const denied = await ratelimit.limit('mallory')
    expect(denied).toMatchObject({ success: false, reason: 'denyList', deniedValue: 'mallory' })
    pending.push(denied.pending)
    await Promise.all(pending)
    const analytics = new Analytics({ redis: redis as never, prefix: 'shop' })
    expect(await analytics.getMostAllowedBlocked(1, 10)).toEqual({
      allowed: expect.arrayContaining([
        { identifier: 'alice', count: 2 },
        { identifier: 'bob', count: 1 },
      ]),
      ratelimited: [{ identifier: 'alice', count: 1 }],
      denied: [{ identifier: 'mallory', count: 1 }],
    })
    await clock.advance('1m')
    expect(await IpDenyList.disableIpDenyList(redis as never, 'shop')).toBeInstanceOf(Array)
  })

  test.each(['fixedWindow', 'slidingWindow'] as const)('counts over several regions: %s', async (algorithm) => {
    const { env, clock } = world()
    const other = open({ name: 'other' })
    const regions = [env, other.env].map(
      (names) => new Redis({ url: names.UPSTASH_REDIS_REST_URL!, token: names.UPSTASH_REDIS_REST_TOKEN! }),
    )
    const ratelimit = new MultiRegionRatelimit({
      redis: regions as never,
      limiter: MultiRegionRatelimit[algorithm](4, '1 m'),
      ephemeralCache: false,
    })
    let count = 0
    for (let n = 0; n < 6; n++) {
      const answer = await ratelimit.limit('user')
      await answer.pending
      if (answer.success) count++
    }
    expect(count).toBe(4)
    expect((await ratelimit.getRemaining('user')).remaining).toBe(0)
    // The library does not wait for the requests of this call.
    await ratelimit.resetUsedTokens('user')
    await clock.settle()
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    await clock.settle()
    expect((await ratelimit.limit('user')).success).toBe(true)
  })
})

describe('lock', () => {
  test('has one holder at a time until its lease ends; only the holder can release it', async () => {
    const { redis, clock } = world()
    const mine = new Lock({ id: 'job', redis: redis as never, lease: 10_000 })
    const theirs = new Lock({ id: 'job', redis: redis as never, lease: 10_000, retry: { attempts: 1, delay: 100 } })
    expect(await mine.acquire()).toBe(true)
    expect(await mine.getStatus()).toBe('ACQUIRED')
    const failed = theirs.acquire()
    await clock.advance('200ms')
    expect(await failed).toBe(false)
    expect(await theirs.release()).toBe(false)
    expect(await mine.extend(20_000)).toBe(true)
    expect(await redis.ttl('job')).toBeGreaterThanOrEqual(29)
    await clock.advance('30s')
    expect(await mine.getStatus()).toBe('FREE')
    expect(await theirs.acquire()).toBe(true)
    expect(await mine.extend(1000)).toBe(false)
    expect(await mine.release()).toBe(false)
    expect(await theirs.release()).toBe(true)
    expect(await theirs.getStatus()).toBe('FREE')
  })

  test('is acquired by a waiting caller once it is released', async () => {
    const { redis, clock } = world()
    const mine = new Lock({ id: 'job', redis: redis as never })
    const theirs = new Lock({ id: 'job', redis: redis as never, retry: { attempts: 5, delay: 1000 } })
    await mine.acquire()
    const waiting = theirs.acquire()
    await clock.advance('1500ms')
    await mine.release()
    await clock.advance('2s')
    expect(await waiting).toBe(true)
  })
})
