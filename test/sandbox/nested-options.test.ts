import { createSandbox, type SandboxOptions } from 'stuntdouble'
import { expect, test } from 'vitest'
import { sandboxOf } from '../../fixtures/fixture-sandbox.js'
import { mergedOptions } from '../../src/sandbox/sandbox-options.js'

test('a nested option keeps the other defaults, and the given object does not change', () => {
  const options: SandboxOptions = {
    urls: { queue: 'https://messages.test' },
    tokens: { queue: 'mine' },
    signingKeys: { next: 'sig_next' },
  }
  const before = structuredClone(options)
  using sandbox = createSandbox(options)
  using plain = createSandbox()
  expect(sandbox.tokens).toEqual({ ...plain.tokens, queue: 'mine' })
  expect(sandbox.urls).toMatchObject({ store: plain.urls.store, queue: 'https://messages.test' })
  expect(sandbox.queue.signingKeys.pair()).toEqual({ ...plain.queue.signingKeys.pair(), next: 'sig_next' })
  expect(options).toEqual(before)
})

test('nested options are merged one level deep, and neither argument changes', () => {
  const one: SandboxOptions = { seed: 1, tokens: { store: 's', queue: 'q' }, urls: { base: 'https://a.test' } }
  const other: SandboxOptions = { seed: 2, tokens: { queue: 'own' }, policy: { retries: 1 } }
  const [first, second] = [structuredClone(one), structuredClone(other)]
  expect(mergedOptions(one, other)).toEqual({
    seed: 2,
    tokens: { store: 's', queue: 'own' },
    urls: { base: 'https://a.test' },
    policy: { retries: 1 },
  })
  expect([one, other]).toEqual([first, second])
})

test('a single limit leaves the other limits of a policy as they are', () => {
  const scenario: SandboxOptions = { policy: { retries: 1, queueLimits: { maxDelay: '1d', maxRetries: 3 } } }
  expect(mergedOptions(scenario, { policy: { queueLimits: { maxRetries: 5 } } })).toEqual({
    policy: { retries: 1, queueLimits: { maxDelay: '1d', maxRetries: 5 } },
  })
  expect(scenario.policy?.queueLimits).toEqual({ maxDelay: '1d', maxRetries: 3 })
  expect(mergedOptions(scenario, { policy: { retries: 2 } }).policy).toMatchObject({ queueLimits: { maxRetries: 3 } })
})

test.each<[object, string]>([
  [{ tokens: { quue: 'x' } }, 'tokens has no option "quue". Did you mean "queue"?'],
  [{ urls: { stor: 'https://a.test' } }, 'urls has no option "stor". Did you mean "store"?'],
  [{ signingKeys: { curent: 'sig_1' } }, 'signingKeys has no option "curent". Did you mean "current"?'],
  [{ tokens: 'mine' }, 'tokens must be an object with store, storeReadonly, queue'],
  [{ urls: { regions: { 'us-eest-1': 'https://a.test' } } }, 'no option "us-eest-1". Did you mean "us-east-1"?'],
  [{ urls: { regions: 'us-east-1' } }, 'urls.regions: options must be an object (got "us-east-1")'],
  [{ policy: { homeRegion: 'us-est-1' } }, 'policy.homeRegion must be'],
  [{ policy: null }, 'policy must be an object such as { retries: 1 } (got null)'],
  [{ policy: [] }, 'policy must be an object such as { retries: 1 } (got [])'],
])('an unknown name in a nested option is reported with the nearest one: %j', (options, sentence) => {
  expect(() => createSandbox(options as never)).toThrow(sentence)
})

test.each<[unknown, string]>([
  [[], 'createSandbox(): options must be an object such as { seed: 7 } (got [])'],
  [{ signatureWindow: 'wied' }, `signatureWindow must be 'wide' or 'real' (got "wied"). Did you mean "wide"?`],
  [{ deliverTo: 'lopback' }, 'a list of hosts (got "lopback"). Did you mean "loopback"?'],
  [{ deliverTo: ['a.test', 5] }, "deliverTo must be 'loopback', 'none', 'any' or a list of hosts (got"],
  [{ journal: 'no' }, 'journal must be true or false (got "no")'],
  [{ seed: Number.NaN }, 'seed must be a number or a string (got NaN)'],
  [{ name: 5 }, 'name must be a string (got 5)'],
  [{ fetch: 5 }, 'fetch must be a function (got 5)'],
  [{ onWarning: 'log' }, 'onWarning must be a function (got "log")'],
  [{ tokens: { store: '' } }, 'tokens.store must be a string that is not empty (got "")'],
  [{ tokens: { store: ' ' } }, 'tokens.store must not begin or end with white space, because clients do not send it.'],
  [{ tokens: { queue: 'a\n' } }, 'tokens.queue must not begin or end with white space'],
  [{ urls: { redisNoAuth: 'yes' } }, 'urls.redisNoAuth must be true or false (got "yes")'],
  [{ tokens: { queue: 5 } }, 'tokens.queue must be a string that is not empty (got 5)'],
  [{ signingKeys: { next: 5 } }, 'signingKeys.next must be a string that is not empty (got 5)'],
])('a value that an option cannot have is refused, and not ignored: %j', (options, sentence) => {
  expect(() => createSandbox(options as never)).toThrow(sentence)
})

test.each<[unknown, string | RegExp]>([
  [{ realHosts: 'blok' }, `realHosts must be 'allow' or 'block' (got "blok"). Did you mean "block"?`],
  [{ env: 'no' }, 'env must be true or false (got "no").'],
  [{ strict: 'yes' }, 'strict must be true, false or an object of checks such as { pending: false } (got "yes").'],
  [{ strict: null }, 'strict must be true, false or an object of checks'],
  [{ strict: { pending: 'no' } }, 'strict.pending must be true or false (got "no").'],
  [{ strict: { invariants: 'all' } }, 'strict.invariants must be true, false or an object'],
  [{ strict: { invariants: { only: 'fifo-per-quue' } } }, /fifo-per-quue.*[Dd]id you mean "fifo-per-queue"/],
])('nor is one of a fixture: %j', (options, sentence) => {
  expect(() => sandboxOf(options as never)).toThrow(sentence)
})

test.each(['deduplicationWindow', 'maxRatePeriod', 'handlerStallTimeout'])('policy.%s is a span of time', (name) => {
  const policyOf = (span: unknown) => createSandbox({ policy: { [name]: span } as never }).policy
  expect(policyOf('10m')).toMatchObject({ [name]: 600_000 })
  expect(policyOf(500)).toMatchObject({ [name]: 500 })
  for (const span of ['10 minutes?', '-5s', '', -5, Number.NaN, Number.POSITIVE_INFINITY, null, true, {}])
    expect(() => policyOf(span)).toThrow(
      `policy.${name}: ${typeof span === 'number' ? span : JSON.stringify(span)} is not a duration`,
    )
})

test('createSandbox() never changes its options, so they can be frozen', () => {
  const options: SandboxOptions = Object.freeze({
    tokens: Object.freeze({ queue: 'mine' }),
    urls: Object.freeze({ base: 'https://a.test' }),
    signingKeys: Object.freeze({ current: 'sig_1' }),
    policy: Object.freeze({ queueLimits: Object.freeze({ maxDelay: '1d' as const }) }),
  })
  using sandbox = createSandbox(options)
  sandbox.store.resetPassword()
  sandbox.queue.signingKeys.rotate()
  sandbox.reset()
  expect(sandbox.tokens.queue).toBe('mine')
})
