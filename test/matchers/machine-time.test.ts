import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'
import { createSandbox, fakeTimers, fault, type Sandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import 'stuntdouble/vitest/extend'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { withTrace } from '../../fixtures/fixture-sandbox.js'

// Checks the hint about an app that reads the machine's clock while the test moves the sandbox's clock.

afterEach(() => {
  vi.useRealTimers()
})

const hint = 'Hint: The app uses the clock of this machine, which clock.advance() does not move'
const failed = 'expected 429 to be 200'
const blocked = "expected 'blocked' to be 'allowed'"

function opened(): { sandbox: Sandbox; redis: Redis } & Disposable {
  const sandbox = createSandbox()
  const restore = replaceFetch(sandbox)
  const redis = new Redis({ url: sandbox.urls.store, token: sandbox.tokens.store, retry: false })
  const end = (): void => {
    restore()
    sandbox.dispose()
  }
  return { sandbox, redis, [Symbol.dispose]: end }
}

const limiters = [
  ['fixed window', () => Ratelimit.fixedWindow(1, '60 s')],
  ['a window of seven minutes', () => Ratelimit.fixedWindow(1, '7 m')],
  ['sliding window', () => Ratelimit.slidingWindow(1, '60 s')],
  ['token bucket', () => Ratelimit.tokenBucket(1, '60 s', 1)],
] as const

describe('hint about a limiter that rejects after a move of the clock', () => {
  // The key of a fixed window expires, so the cache in the app's memory rejects.
  test.each(limiters)('%s: is in any failure of the test', async (_, limiter) => {
    using world = opened()
    const ratelimit = new Ratelimit({ redis: world.redis, limiter: limiter(), ephemeralCache: new Map() })
    const limit = async () => (await ratelimit.limit('ada')).success
    expect([await limit(), await limit()]).toEqual([true, false])
    expect(withTrace(failed, world.sandbox)).not.toContain('Hint:')
    await world.sandbox.clock.advance('61s')
    expect(await limit()).toBe(false)
    const told = withTrace('expected false to be true', world.sandbox)
    expect(told).toContain(hint)
    expect(told).toMatch(/advanced by 1m1s\b/)
    expect(told).toContain("Set timers: 'follow'")
    expect(withTrace(told, world.sandbox)).toBe(told)
  })

  test('is in the failure of a matcher', async () => {
    using world = opened()
    const { destinations, queue, clock } = world.sandbox
    const ratelimit = new Ratelimit({ redis: world.redis, limiter: Ratelimit.fixedWindow(1, '60 s') })
    destinations.on('https://shop.test/*', async () => {
      const { success } = await ratelimit.limit('ada')
      return new Response('', { status: success ? 200 : 429 })
    })
    for (let n = 0; n < 2; n++) queue.publish({ to: 'https://shop.test/a', retries: 0 })
    await clock.drain()
    await clock.advance('61s')
    queue.publish({ to: 'https://shop.test/b', retries: 0 })
    await clock.drain()
    expect(() => expect(queue).toHaveDelivered({ to: 'https://shop.test/b' })).toThrow(hint.slice('Hint: '.length))
  })

  test.each([
    [
      'a sliding log in a sorted set',
      async (redis: Redis) => {
        const now = Date.now()
        await redis.zadd('hits:ada', { score: now, member: String(now) })
      },
    ],
    ['a counter of the minute', (redis: Redis) => redis.incr(`hits:ada:${Math.floor(Date.now() / 60_000)}`)],
    ['seconds in a hash', (redis: Redis) => redis.hset('ada', { reset: Math.floor(Date.now() / 1000) + 60 })],
    ['a date as milliseconds', (redis: Redis) => redis.set('blocked:ada', Date.now() + 60_000)],
  ])('is given for a limiter of the app: %s', async (_, hit) => {
    using world = opened()
    await hit(world.redis)
    await world.sandbox.clock.advance('61s')
    expect(withTrace(failed, world.sandbox)).toContain(hint)
  })
})

describe('hint about a limiter in the memory of the app', () => {
  const ofMemory = 'Hint: A rate limiter that keeps its windows in memory and reads Date uses the clock of this machine'

  test('is given if the failure mentions status 429 after a move', async () => {
    using world = opened()
    await world.sandbox.clock.advance('61s')
    expect(withTrace(failed, world.sandbox)).toContain(ofMemory)
    expect(withTrace('expected 500 to be 200', world.sandbox)).not.toContain('Hint:')
  })

  test('is missing before a move, and if a fault or the sandbox sent status 429', async () => {
    using world = opened()
    await world.redis.get('k')
    expect(withTrace(failed, world.sandbox)).not.toContain('Hint:')
    world.sandbox.faults.add({ on: 'store.request', fault: fault.status(429) })
    await world.sandbox.clock.advance('61s')
    await world.redis.get('k').catch(() => undefined)
    expect(withTrace(failed, world.sandbox)).not.toContain('Hint:')
  })
})

describe('no hint about the machine clock', () => {
  test('is given if the timers follow the sandbox', async () => {
    using world = opened()
    vi.useFakeTimers({ now: world.sandbox.clock.now(), toFake: ['Date'] })
    world.sandbox.clock.follow(fakeTimers(vi))
    const ratelimit = new Ratelimit({ redis: world.redis, limiter: Ratelimit.slidingWindow(1, '60 s') })
    await ratelimit.limit('ada')
    await world.sandbox.clock.advance('61s')
    expect(withTrace(failed, world.sandbox)).not.toContain('Hint:')
    vi.useRealTimers()
    expect(withTrace(failed, world.sandbox)).not.toContain('Hint:')
  })

  test('is given if other code moves Date', async () => {
    using world = opened()
    vi.setSystemTime(world.sandbox.clock.now())
    await world.redis.zadd('hits:ada', { score: Date.now(), member: 'x' })
    await world.sandbox.clock.advance('61s')
    vi.setSystemTime(world.sandbox.clock.now())
    expect(withTrace(failed, world.sandbox)).not.toContain('Hint:')
  })

  test.each([
    ['numbers that are no times', (redis: Redis) => redis.zadd('scores', { score: 4711, member: 'ada' }), blocked],
    ['an id at the end of a key', (redis: Redis) => redis.incr('visits:user:123456'), blocked],
    ['a time that only a record has', (redis: Redis) => redis.set('seen:ada', Date.now()), 'expected 1 to be 2'],
    [
      'the time of the sandbox',
      (redis: Redis) => redis.zadd('hits', { score: Date.UTC(2030, 0, 1), member: 'x' }),
      blocked,
    ],
  ])('is given about %s', async (_, act, failure) => {
    using world = opened()
    await act(world.redis)
    await world.sandbox.clock.advance('61s')
    expect(withTrace(failure, world.sandbox)).not.toContain('Hint:')
  })

  test('is given about commands of the test itself', async () => {
    using world = opened()
    world.sandbox.store.run('ZADD', 'hits', Date.now(), 'x')
    await world.sandbox.clock.advance('61s')
    expect(withTrace(blocked, world.sandbox)).not.toContain('Hint:')
  })
})
