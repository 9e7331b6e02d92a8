import { createSandbox, defaultPolicy, fault } from 'stuntdouble'
import { describe, expect, test } from 'vitest'

describe('createSandbox() throws with the next step', () => {
  test.each([
    ['an unknown option', { sede: 7 } as never, /no option "sede"\. Did you mean "seed"\? The options are .*seed/],
    [
      'an unknown policy',
      { policy: { retires: 3 } as never },
      /no policy "retires"\. Did you mean "retries"\? The policies are .*retries/,
    ],
    ['a page of nothing', { policy: { scanPageSize: 0 } }, 'policy.scanPageSize must be at least 1 (got 0).'],
    [
      'a size that is not a number',
      { policy: { maxKeySize: '1 kB' as never } },
      'policy.maxKeySize must be a number (got "1 kB").',
    ],
    [
      'an engine beside the store',
      { shadowRedis: 'redis://user:hush@127.0.0.1' } as never,
      /^A sandbox has no option "shadowRedis"((?!hush).)*createShadowSandbox\(\) of stuntdouble\/real-redis((?!hush).)*$/,
    ],
    ['NaN', { policy: { retries: Number.NaN } }, 'policy.retries must be a number (got NaN).'],
    [
      'a negative limit',
      { policy: { maxTrafficEntries: -1 } },
      'policy.maxTrafficEntries must be at least 0 (got -1).',
    ],
    ['a negative duration', { policy: { maxRetryDelay: -1 } }, 'policy.maxRetryDelay: -1 is not a duration'],
    [
      'a text that is not a duration',
      { policy: { maxRetryDelay: '10 minutes' as never } },
      `policy.maxRetryDelay: "10 minutes" is not a duration. Use '10m'.`,
    ],
    [
      'a limit that is not a duration',
      { policy: { queueLimits: { maxDelay: 'soon' as never } } },
      'policy.queueLimits.maxDelay: "soon" is not a duration',
    ],
    ['a limit within limits', { policy: { queueLimits: { schedules: -1 } } }, 'policy.queueLimits.schedules must be'],
    [
      'an unknown plan',
      { policy: { queuePlan: 'gold' as never } },
      /policy\.queuePlan must be .*"fixed-1m".* \(got "gold"\)/,
    ],
    [
      'a word for yes',
      { policy: { enforceQuotas: 'yes' as never } },
      'policy.enforceQuotas must be true or false (got "yes").',
    ],
    ['an unknown dialect', { dialect: 'vendor' as never }, /dialect must be 'auto', 'neutral', 'upstash' or/],
    ['an unknown clock', { clock: 'fast' as never }, /clock must be one of 'manual', 'auto', 'real'/],
    ['an invalid startAt', { startAt: 'soon' }, /2030-01-01T09:00:00Z/],
    ['a name that cannot be a host', { name: 'a b' }, /letters, digits and hyphens/],
    ['an invalid URL', { urls: { store: 'store.test' } }, /https:\/\/store\.test/],
  ])('for %s', (_, options, sentence) => {
    expect(() => createSandbox(options)).toThrow(sentence)
  })

  test('for a request to another host', async () => {
    using sandbox = createSandbox()
    await expect(sandbox.fetch('https://elsewhere.test/')).rejects.toThrow(/sandbox\.owns\(url\)/)
  })

  test('for a clock that was replaced by a reset', async () => {
    const sandbox = createSandbox()
    sandbox.dispose()
    sandbox.dispose()
    await expect(sandbox.clock.advance('1s')).rejects.toThrow(/disposed sandbox/)
  })
})

test('every default may be given explicitly, and undefined where it means no limit', () => {
  using sandbox = createSandbox({
    policy: { ...defaultPolicy, maxTrafficEntries: undefined, handlerStallTimeout: undefined },
  })
  expect(sandbox.policy).toMatchObject({
    ...defaultPolicy,
    maxTrafficEntries: undefined,
    handlerStallTimeout: undefined,
  })
  using defaults = createSandbox()
  expect(defaults.policy).toEqual(defaultPolicy)
  expect(defaults.policy).not.toBe(defaultPolicy)
})

test('a policy that is a duration accepts text, and is in milliseconds once it is in force', () => {
  using sandbox = createSandbox({
    policy: {
      searchIndexingDelay: '500ms',
      maxRetryDelay: '1d',
      deduplicationWindow: '90d',
      deliveredRetention: '1h',
      handlerStallTimeout: '20s',
      maxRatePeriod: '1d12h',
      queueLimits: { maxDelay: '7d', maxTimeout: '15m', logRetention: '3d', dlqRetention: 1000 },
    },
  })
  expect(sandbox.policy).toMatchObject({
    searchIndexingDelay: 500,
    maxRetryDelay: 86_400_000,
    deduplicationWindow: 7_776_000_000,
    deliveredRetention: 3_600_000,
    handlerStallTimeout: 20_000,
    maxRatePeriod: 129_600_000,
    queueLimits: { maxDelay: 604_800_000, maxTimeout: 900_000, logRetention: 259_200_000, dlqRetention: 1000 },
  })
})

describe('sandboxes', () => {
  test('are isolated: each name has hosts of its own', async () => {
    using one = createSandbox({ name: 'one' })
    using two = createSandbox({ name: 'two' })
    one.store.run('SET', 'k', 'v')
    expect(two.store.get('k')).toBeNull()
    expect(one.urls.store).toBe('https://one.store.test')
    expect(one.owns('https://two.store.test/get/k')).toBe(false)
    expect(one.owns('https://us-east-1.one.queue.test/v2/keys')).toBe(true)
  })

  test('begin anew on reset: same seed, same start, same IDs', async () => {
    using sandbox = createSandbox({ seed: 7, startAt: '2030-05-01T00:00:00Z' })
    const play = async (): Promise<unknown> => {
      sandbox.destinations.script('https://shop.test/', [fault.status(500)])
      sandbox.destinations.record('https://shop.test/')
      sandbox.store.run('SADD', 's', 'a', 'b', 'c', 'd')
      const picked = sandbox.store.run('SRANDMEMBER', 's', 2)
      sandbox.queue.publish({ to: 'https://shop.test/', body: { id: 1 } })
      await sandbox.clock.drain()
      return [picked, JSON.parse(JSON.stringify(sandbox.traffic.entries))]
    }
    const first = await play()
    sandbox.reset()
    expect(sandbox.clock.now()).toBe(1_903_824_000_000)
    expect(sandbox.traffic.size).toBe(0)
    expect(sandbox.store.get('s')).toBeNull()
    expect(await play()).toEqual(first)
  })

  test('deliver to themselves: a store command can be a destination', async () => {
    using sandbox = createSandbox()
    const { urls, clock, destinations, queue, store, tokens } = sandbox
    queue.publish({ to: `${urls.store}/incr/visits?_token=${tokens.store}`, delay: '1m' })
    queue.publish({ to: `${urls.store}/incr/visits`, retries: 0 })
    await clock.drain()
    expect(store.get('visits')).toBe('1')
    expect(queue.deadLetters.map(({ response: reply }) => reply.status)).toEqual([401])
    expect(destinations.unhandled).toEqual([])
  })

  test("provide the SDKs with their URLs, in the vendor's dialect", () => {
    using sandbox = createSandbox({ dialect: 'upstash' })
    expect(sandbox.env).toMatchObject({
      UPSTASH_REDIS_REST_URL: 'https://store.test',
      UPSTASH_REDIS_REST_TOKEN: sandbox.tokens.store,
      QSTASH_URL: 'https://queue.test',
      QSTASH_TOKEN: sandbox.tokens.queue,
      QSTASH_CURRENT_SIGNING_KEY: sandbox.queue.signingKeys.current,
      QSTASH_NEXT_SIGNING_KEY: sandbox.queue.signingKeys.next,
    })
  })
})
