import { Analytics, IpDenyList, MultiRegionRatelimit, Ratelimit } from '@upstash/ratelimit'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Client, type LibraryWorld, openWorld, type Place } from './library-worlds.js'

// The unmodified library for rate limits on virtual time: scripts by EVALSHA and EVAL, pipelines and transactions.

let world: LibraryWorld

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
})

afterEach(async () => {
  await world.close()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const places: Place[] = ['in process', 'against the server', 'at the root of a server']

describe.each(places)('rate limit %s', (place) => {
  describe('in one region', () => {
    beforeEach(async () => {
      world = await openWorld(place)
    })

    /** Returns how many of this number of requests are admitted. */
    const passing = async (ratelimit: Ratelimit, requests: number, id = 'id'): Promise<number> => {
      let passed = 0
      for (let request = 0; request < requests; request++) if ((await ratelimit.limit(id)).success) passed++
      return passed
    }

    it('admits three per fixed window', async () => {
      const ratelimit = new Ratelimit({ redis: world.redis, limiter: Ratelimit.fixedWindow(3, '10 s') })
      await world.advance(10_000 - (world.now() % 10_000))
      const reset = world.now() + 10_000
      expect(await ratelimit.getRemaining('id')).toEqual({ remaining: 3, reset, limit: 3 })
      for (const remaining of [2, 1, 0]) {
        expect(await ratelimit.limit('id')).toMatchObject({ success: true, limit: 3, remaining, reset })
      }
      expect(await ratelimit.limit('id')).toMatchObject({ success: false, remaining: 0, reset })
      expect(await ratelimit.limit('id')).toMatchObject({ success: false, reason: 'cacheBlock' })
      expect(await ratelimit.limit('other')).toMatchObject({ success: true })
      await world.advance('9999ms')
      expect(await ratelimit.limit('id')).toMatchObject({ success: false })
      await world.advance('2ms')
      expect(await ratelimit.limit('id')).toMatchObject({ success: true, remaining: 2, reset: reset + 10_000 })
    })

    it('slides the window when the clock advances', async () => {
      const ratelimit = new Ratelimit({
        redis: world.redis,
        limiter: Ratelimit.slidingWindow(10, '10 s'),
        ephemeralCache: false,
      })
      await world.advance(10_000 - (world.now() % 10_000))
      expect(await passing(ratelimit, 12)).toBe(10)
      // After a quarter of the next window three quarters of the previous ten requests still count, so 7.
      await world.advance('12500ms')
      expect(await ratelimit.getRemaining('id')).toMatchObject({ remaining: 3 })
      expect(await passing(ratelimit, 12)).toBe(3)
      await world.advance('5s')
      expect(await ratelimit.getRemaining('id')).toMatchObject({ remaining: 5 })
      expect(await passing(ratelimit, 12)).toBe(5)
      await world.advance('1m')
      expect(await passing(ratelimit, 12)).toBe(10)
    })

    it('refills a token bucket', async () => {
      const ratelimit = new Ratelimit({
        redis: world.redis,
        limiter: Ratelimit.tokenBucket(2, '10 s', 5),
        ephemeralCache: false,
      })
      const start = world.now()
      expect(await ratelimit.getRemaining('id')).toEqual({ remaining: 5, reset: start + 10_000, limit: 5 })
      expect(await passing(ratelimit, 7)).toBe(5)
      expect(await ratelimit.limit('id')).toMatchObject({ success: false, remaining: 0, reset: start + 10_000 })
      await world.advance('10s')
      expect(await passing(ratelimit, 7)).toBe(2)
      await world.advance('25s')
      expect(await passing(ratelimit, 7)).toBe(4)
      expect(await ratelimit.limit('id', { rate: -3 })).toMatchObject({ success: true, remaining: 3 })
      expect(await ratelimit.limit('id', { rate: 4 })).toMatchObject({ success: false })
      expect(await ratelimit.limit('id', { rate: 3 })).toMatchObject({ success: true, remaining: 0 })
    })

    it('caches a fixed window', async () => {
      const cache = new Map<string, number>()
      const ratelimit = new Ratelimit({
        redis: world.redis,
        limiter: Ratelimit.cachedFixedWindow(3, '10 s'),
        ephemeralCache: cache,
      })
      await world.advance(10_000 - (world.now() % 10_000))
      const answers = []
      for (let request = 0; request < 4; request++) {
        const answer = await ratelimit.limit('id')
        await answer.pending
        answers.push([answer.success, answer.remaining])
      }
      expect(answers).toEqual([
        [true, 2],
        [true, 1],
        [true, 0],
        [false, -1],
      ])
      const another = new Ratelimit({ redis: world.redis, limiter: Ratelimit.cachedFixedWindow(3, '10 s') })
      expect(await another.getRemaining('id')).toMatchObject({ remaining: 0 })
      await world.advance('10s')
      expect(await another.getRemaining('id')).toMatchObject({ remaining: 3 })
    })

    it('rejects from the ephemeral cache without a request until the window ends', async () => {
      const cache = new Map<string, number>()
      const limiter = Ratelimit.fixedWindow(1, '10 s')
      const ratelimit = new Ratelimit({ redis: world.redis, limiter, ephemeralCache: cache, prefix: 'p' })
      await world.advance(10_000 - (world.now() % 10_000))
      await passing(ratelimit, 2)
      expect([...cache]).toEqual([['p:id', world.now() + 10_000]])
      const used = async () => world.redis.get(`p:id:${Math.floor(world.now() / 10_000)}`)
      expect(await used()).toBe(2)
      expect(await ratelimit.limit('id')).toMatchObject({ success: false, reason: 'cacheBlock' })
      expect(await used()).toBe(2)
      await world.advance('10001ms')
      expect(await ratelimit.limit('id')).toMatchObject({ success: true })
    })

    it('supports rates, refunds and dynamic limits', async () => {
      const ratelimit = new Ratelimit({
        redis: world.redis,
        limiter: Ratelimit.slidingWindow(10, '1 h'),
        dynamicLimits: true,
        ephemeralCache: false,
      })
      expect(await ratelimit.limit('id', { rate: 8 })).toMatchObject({ success: true, remaining: 2 })
      expect(await ratelimit.limit('id', { rate: -4 })).toMatchObject({ success: true, remaining: 6 })
      expect(await ratelimit.getDynamicLimit()).toEqual({ dynamicLimit: null })
      await ratelimit.setDynamicLimit({ limit: 4 })
      expect(await ratelimit.getDynamicLimit()).toEqual({ dynamicLimit: 4 })
      expect(await ratelimit.limit('id')).toMatchObject({ success: false, limit: 4 })
      await ratelimit.setDynamicLimit({ limit: false })
      expect(await ratelimit.limit('id')).toMatchObject({ success: true, limit: 10 })
    })

    it.each([
      ['fixed window', () => Ratelimit.fixedWindow(2, '1 h')],
      ['sliding window', () => Ratelimit.slidingWindow(2, '1 h')],
      ['token bucket', () => Ratelimit.tokenBucket(2, '1 h', 2)],
      ['cached fixed window', () => Ratelimit.cachedFixedWindow(2, '1 h')],
    ])('resets the tokens of a %s with a script that scans', async (_, limiter) => {
      await world.redis.mset(Object.fromEntries(Array.from({ length: 300 }, (_, other) => [`other:${other}`, 1])))
      const ratelimit = new Ratelimit({ redis: world.redis, limiter: limiter() })
      expect(await passing(ratelimit, 3)).toBe(2)
      await ratelimit.resetUsedTokens('id')
      expect(await ratelimit.getRemaining('id')).toMatchObject({ remaining: 2 })
      expect(await passing(ratelimit, 3)).toBe(2)
      expect(await world.redis.dbsize()).toBeGreaterThanOrEqual(300)
    })

    it('blocks until a call is admitted', async () => {
      vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: world.now() })
      const ratelimit = new Ratelimit({
        redis: world.redis,
        limiter: Ratelimit.fixedWindow(1, '10 s'),
        ephemeralCache: false,
        timeout: 0,
      })
      await world.advance(10_000 - (world.now() % 10_000))
      await ratelimit.limit('id')
      const start = world.now()
      let readyAt: number | undefined
      const waiting = ratelimit.blockUntilReady('id', 60_000).then((answer) => {
        readyAt = world.now()
        return answer
      })
      for (let second = 0; second < 15 && readyAt === undefined; second++) {
        await settled()
        await world.advance('1s')
        await settled()
      }
      expect(await waiting).toMatchObject({ success: true })
      expect(readyAt).toBe(start + 10_000)
    })

    it('records analytics', async () => {
      const prefix = 'limits'
      const ratelimit = new Ratelimit({
        redis: world.redis,
        limiter: Ratelimit.fixedWindow(2, '1 h'),
        analytics: true,
        prefix,
        ephemeralCache: false,
      })
      await world.advance(3_600_000 - (world.now() % 3_600_000))
      const request = async (id: string, country: string) => {
        await (await ratelimit.limit(id, { geo: { country }, country } as never)).pending
      }
      for (let count = 0; count < 5; count++) await request('ann', 'DE')
      await request('ben', 'FR')
      await world.advance('1h')
      await request('ben', 'FR')
      const analytics = new Analytics({ redis: world.redis, prefix })
      expect(await analytics.getUsage(world.now() - 2 * 3_600_000)).toEqual({
        ann: { success: 2, blocked: 3 },
        ben: { success: 2, blocked: 0 },
      })
      const hour = 3_600_000
      const now = Math.floor(world.now() / hour) * hour
      expect(await analytics.getUsageOverTime(2, 'identifier' as never)).toEqual([
        { time: now, identifier: { ben: 1 } },
        { time: now - hour, identifier: expect.objectContaining({ ann: 5, ben: 1 }) },
      ])
      expect(await analytics.getMostAllowedBlocked(2)).toEqual({
        allowed: expect.arrayContaining([
          { identifier: 'ann', count: 2 },
          { identifier: 'ben', count: 2 },
        ]),
        ratelimited: [{ identifier: 'ann', count: 3 }],
        denied: [],
      })
    })
  })

  describe('with a deny list', () => {
    // The library caches denied addresses for the whole process, so each transport uses different addresses.
    const net = places.indexOf(place) + 1
    const list = [`${net}.0.0.1`, `${net}.0.0.2`]
    const prefix = `deny ${net}`

    beforeEach(async () => {
      // The library loads its list of addresses from this host. All other requests are sent as before.
      const { fetch } = globalThis
      vi.stubGlobal('fetch', (input: string, init?: RequestInit) =>
        String(input).startsWith('https://raw.githubusercontent.com/')
          ? Promise.resolve(new Response(`${list.join('\n')}\n`))
          : fetch(input, init),
      )
      world = await openWorld(place)
    })

    it('denies addresses, identifiers and countries, loads its list and keeps it for a day', async () => {
      const ratelimit = new Ratelimit({
        redis: world.redis,
        limiter: Ratelimit.slidingWindow(100, '1 h'),
        enableProtection: true,
        analytics: true,
        prefix,
      })
      const limit = async (...args: Parameters<Ratelimit['limit']>) => {
        const { pending, ...answer } = await ratelimit.limit(...args)
        await pending
        return answer
      }
      const status = () => world.redis.get(`${prefix}:ipDenyListStatus`)
      const [bad, worse] = list as [string, string]
      expect(await limit('ann', { ip: bad })).toMatchObject({ success: true })
      expect(await status()).toBe('valid')
      expect((await world.redis.smembers(`${prefix}:denyList:all`)).sort()).toEqual(list)
      const denied = { success: false, reason: 'denyList', remaining: 0 }
      expect(await limit('ann', { ip: bad })).toMatchObject({ ...denied, deniedValue: bad })
      await world.redis.sadd(`${prefix}:denyList:all`, `mallory ${net}`, `X${net}`)
      expect(await limit(`mallory ${net}`)).toMatchObject({ ...denied, deniedValue: `mallory ${net}` })
      expect(await limit('ben', { country: `X${net}` })).toMatchObject({ ...denied, deniedValue: `X${net}` })
      expect(await limit('ben', { ip: '9.9.9.9' })).toMatchObject({ success: true })
      const { denied: counted } = await new Analytics({ redis: world.redis, prefix }).getMostAllowedBlocked(1)
      expect(counted.map(({ identifier }) => identifier).sort()).toEqual([bad, `X${net}`, `mallory ${net}`].sort())
      await world.advance('25h')
      expect(await status()).toBeNull()
      expect(await limit('ben')).toMatchObject({ success: true })
      expect(await status()).toBe('valid')
      await IpDenyList.disableIpDenyList(world.redis, prefix)
      expect(await status()).toBe('disabled')
      expect(await limit('ann', { ip: worse })).toMatchObject({ success: true })
    })
  })

  describe('in several regions', () => {
    beforeEach(async () => {
      world = await openWorld(place, ['eu', 'us', 'ap'])
    })

    it.each([
      ['fixed window', () => MultiRegionRatelimit.fixedWindow(3, '10 s')],
      ['sliding window', () => MultiRegionRatelimit.slidingWindow(3, '10 s')],
    ])('shares the counts of one region with the others: %s', async (_, limiter) => {
      const [eu, us] = world.regions as [Client, Client]
      const everywhere = new MultiRegionRatelimit({ redis: [...world.regions], limiter: limiter() })
      const onlyEu = new MultiRegionRatelimit({ redis: [eu], limiter: limiter() })
      const onlyUs = new MultiRegionRatelimit({ redis: [us], limiter: limiter() })
      await world.advance(10_000 - (world.now() % 10_000))
      await (await onlyEu.limit('id')).pending
      expect(await onlyUs.getRemaining('id')).toMatchObject({ remaining: 3 })
      await (await everywhere.limit('id')).pending
      expect(await onlyEu.getRemaining('id')).toMatchObject({ remaining: 1 })
      expect(await onlyUs.getRemaining('id')).toMatchObject({ remaining: 1 })
      await (await everywhere.limit('id')).pending
      expect(await everywhere.limit('id')).toMatchObject({ success: false, remaining: expect.any(Number) })
      await world.advance('30s')
      expect(await everywhere.limit('id')).toMatchObject({ success: true })
      await everywhere.resetUsedTokens('id')
      await settled()
      expect(await everywhere.getRemaining('id')).toMatchObject({ remaining: 3 })
    })
  })
})

it('limit() runs its script by EVALSHA, and by EVAL only the first time', async () => {
  world = await openWorld('in process')
  const calls: string[] = []
  const redis = new Proxy(world.redis, {
    get(target, name) {
      const member = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: unknown[]) => {
        calls.push(String(name))
        return member.apply(target, args)
      }
    },
  })
  const ratelimit = new Ratelimit({ redis, limiter: Ratelimit.slidingWindow(5, '10 s') })
  await ratelimit.limit('id')
  await ratelimit.limit('id')
  await ratelimit.limit('id')
  expect(calls.filter((name) => name.startsWith('eval'))).toEqual(['evalsha', 'eval', 'evalsha', 'evalsha'])
})

/** Waits for the requests in transit, on virtual and real networks. */
async function settled(): Promise<void> {
  const { setImmediate } = await import('node:timers/promises')
  for (let turn = 0; turn < 20; turn++) await setImmediate()
}
