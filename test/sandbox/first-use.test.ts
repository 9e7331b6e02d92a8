import fc from 'fast-check'
import { createSandbox, type SandboxOptions } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { runs } from '../support/effort.js'

// A sandbox creates its parts when it is first used. Nothing but the time of the creation may depend on this.

const options: fc.Arbitrary<SandboxOptions> = fc.record(
  {
    seed: fc.integer(),
    name: fc.constantFrom('a', 'tenant-7'),
    dialect: fc.constantFrom('auto', 'neutral', 'upstash'),
    secret: fc.constantFrom('a secret of 16 characters', 'another secret of a test'),
    databases: fc.constantFrom([], ['us'], ['us', 'eu']),
    tokens: fc.record({ store: fc.constantFrom('mine', 'yours') }),
    policy: fc.constantFrom({}, { homeRegion: 'us-east-1' } as const, { homeRegion: 'eu-central-1' } as const),
  },
  { requiredKeys: [] },
)

describe('a sandbox that was not used yet', () => {
  test('has the same tokens and variables as after its first use', () => {
    fc.assert(
      fc.property(options, (given) => {
        using sandbox = createSandbox(given)
        const seen = () => ({
          tokens: sandbox.tokens,
          env: sandbox.env,
          others: (given.databases ?? []).map((database) => sandbox.envFor({ database })),
        })
        const before = seen()
        expect(sandbox.env).toMatchObject({ ...(given.dialect !== 'upstash' && { QUEUE_TOKEN: sandbox.tokens.queue }) })
        sandbox.traffic.last()
        expect(seen()).toEqual(before)
        sandbox.reset()
        expect(seen()).toEqual(before)
      }),
      { numRuns: runs(50, 500, 5000) },
    )
  })

  test('shows rotated keys and tokens until the next reset', () => {
    using sandbox = createSandbox()
    const { env } = sandbox
    sandbox.queue.signingKeys.rotate()
    expect(sandbox.env).not.toEqual(env)
    sandbox.store.resetPassword()
    expect(sandbox.tokens.store).not.toBe(env.UPSTASH_REDIS_REST_TOKEN)
    sandbox.reset()
    expect(sandbox.env).toEqual(env)
  })

  test.each<[what: string, SandboxOptions, text: string]>([
    ['clock', { clock: 'fast' as never }, 'clock must be one of'],
    ['startAt', { startAt: 'yesterday' }, '"yesterday" is not a time'],
    ['startAt as a date', { startAt: new Date(Number.NaN) }, 'is not a time'],
    ['startAt with a real clock', { clock: 'real', startAt: 0 }, 'startAt must be omitted'],
    ['policy', { policy: { maxWork: -1 } }, 'maxWork'],
    ['databases', { databases: [''] }, 'database'],
    ['deliverTo', { deliverTo: 'everywhere' as never }, 'deliverTo must be'],
  ])('has rejected an invalid %s', (_, given, text) => {
    expect(() => createSandbox(given)).toThrow(text)
  })

  test('is disposed like one that was used', async () => {
    const sandbox = createSandbox()
    sandbox.dispose()
    await expect(sandbox.clock.advance('1s')).rejects.toThrow('disposed sandbox')
    sandbox.reset()
    await sandbox.clock.advance('1s')
    sandbox.dispose()
  })

  test('is reset like one that was used, for its listeners too', () => {
    using sandbox = createSandbox()
    const heard: string[] = []
    sandbox.onReset((by) => heard.push(by))
    sandbox.reset()
    sandbox.store.run('SET', 'k', 'v')
    const { store } = sandbox
    sandbox.reset()
    sandbox.reset()
    expect(heard).toEqual(['reset', 'reset', 'reset'])
    expect(store).not.toBe(sandbox.store)
    expect(sandbox.store.get('k')).toBeNull()
  })

  test('has a past since its creation with a real clock', async () => {
    using sandbox = createSandbox({ clock: 'real' })
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(sandbox.asOf('-20ms').store.get('k')).toBeNull()
    sandbox.reset()
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(sandbox.asOf('-20ms').store.get('k')).toBeNull()
  })
})
