import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import '../../matchers/vitest.js'
import type { Duration } from '../../src/kernel/duration.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import { runs } from '../support/effort.js'
import { failureOf } from './failure.js'

const startAt = '2030-01-01T09:00:00Z'

/** Returns the hint of a failing `toHaveKey()`. */
function hintOf(sandbox: Sandbox, key = 'cart'): string | undefined {
  return /^Hint: (.*)$/m.exec(failureOf(() => expect(sandbox.store).toHaveKey(key)))?.[1]
}

/** Runs commands, and moves the clock for a duration between them. */
async function play(sandbox: Sandbox, steps: readonly (Duration | readonly [command: string, ...args: string[]])[]) {
  for (const step of steps) {
    if (Array.isArray(step)) sandbox.store.run(...(step as string[]))
    else await sandbox.clock.advance(step as Duration)
  }
}

/** Returns the `seq` of the last command with a name. */
function seqOf(sandbox: Sandbox, name: string): number {
  return sandbox.traffic.ofType('command').findLast(({ argv }) => argv[0] === name)!.seq
}

describe('the hint about a missing key', () => {
  test.each<[string, Parameters<typeof play>[1], ended: string, by: string]>([
    ['DEL', [['DEL', 'cart']], 'deleted', 'DEL cart'],
    ['UNLINK with other keys', [['UNLINK', 'none', 'cart']], 'deleted', 'UNLINK none cart'],
    ['GETDEL', [['GETDEL', 'cart']], 'deleted', 'GETDEL cart'],
    ['a TTL in the past', [['EXPIRE', 'cart', '-1']], 'deleted', 'EXPIRE cart -1'],
    ['RENAME', [['RENAME', 'cart', 'other']], 'renamed', 'RENAME cart other'],
    ['FLUSHALL', [['FLUSHALL']], 'deleted', 'FLUSHALL'],
    ['a script', [['EVAL', "redis.call('del', KEYS[1])", '1', 'cart']], 'deleted', 'EVAL'],
    ['the first of two commands', [['DEL', 'cart'], ['FLUSHALL']], 'deleted', 'DEL cart'],
    [
      'the last of two commands',
      [
        ['DEL', 'cart'],
        ['SET', 'cart', '1'],
        ['GETDEL', 'cart'],
      ],
      'deleted',
      'GETDEL cart',
    ],
    [
      'the last element',
      [
        ['DEL', 'cart'],
        ['RPUSH', 'cart', 'a'],
        ['LPOP', 'cart'],
      ],
      'deleted',
      'LPOP cart',
    ],
    [
      'JSON.DEL',
      [
        ['DEL', 'cart'],
        ['JSON.SET', 'cart', '$', '{"a":1}'],
        ['JSON.DEL', 'cart'],
      ],
      'deleted',
      'JSON.DEL cart',
    ],
  ])('names the command that removed it: %s', async (_, steps, ended, by) => {
    using sandbox = createSandbox({ startAt })
    await play(sandbox, [['SET', 'cart', 'tea'], ['SET', 'carts', '1'], '1m', ...steps, '1m', ['SET', 'cars', '1']])
    const seq = seqOf(sandbox, by.split(' ')[0]!)
    expect(hintOf(sandbox)).toMatch(`cart was ${ended} at 09:01:00.000 by #${seq} ${by}`)
  })

  test('names the time of the expiration and the command that set the TTL', async () => {
    using sandbox = createSandbox({ startAt })
    await play(sandbox, [['SET', 'cart', 'tea'], ['EXPIRE', 'cart', '90'], ['SET', 'carts', '1'], '2h'])
    const before = sandbox.traffic.entries.length
    const ttl = `#${seqOf(sandbox, 'EXPIRE')} had set its TTL.`
    const text = failureOf(() => expect(sandbox.store).toHaveKey('cart'))
    expect(text).toContain(`Hint: cart expired at 09:01:30.000. ${ttl}`)
    expect(text).toContain('  Keys: carts\n')
    // An assertion reads the store without a change.
    expect(sandbox.traffic.entries.length).toBe(before)
    sandbox.store.run('GET', 'cart')
    const [expired] = sandbox.traffic.ofType('keyspace').filter(({ event }) => event === 'expired')
    expect(hintOf(sandbox)).toBe(`cart has expired, and was removed at 11:00:00.000 (#${expired!.seq}). ${ttl}`)
  })

  test('names the expiration of the last field of a hash', async () => {
    using sandbox = createSandbox({ startAt })
    await play(sandbox, [['HSET', 'cart', 'tea', '1'], ['HPEXPIRE', 'cart', '5', 'FIELDS', '1', 'tea'], '1m'])
    sandbox.store.run('HGETALL', 'cart')
    const deleted = sandbox.traffic.ofType('keyspace').find(({ event }) => event === 'del')!
    expect(hintOf(sandbox)).toBe(
      `The last fields of cart expired, so the key was deleted at 09:01:00.000 (#${deleted.seq}).`,
    )
  })

  test('names the eviction with its reason', async () => {
    using sandbox = createSandbox({ startAt, policy: { maxStorageSize: 2000, eviction: 'optimistic-volatile' } })
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    const set = (key: string) =>
      sandbox.fetch(`${sandbox.urls.store}/set/${key}`, { method: 'POST', headers, body: 'x'.repeat(800) })
    for (const key of ['a', 'b', 'c', 'd']) await set(key)
    const { key, seq, reason } = sandbox.traffic.ofType('keyspace').find(({ event }) => event === 'evicted')!
    expect(hintOf(sandbox, key)).toBe(`${key} was evicted at 09:00:00.000 (#${seq}): ${reason}.`)
  })

  test.each<[string, Parameters<typeof play>[1]]>([
    ['never existed', [['DEL', 'cart'], ['FLUSHALL']]],
    [
      'was deleted before a dump was loaded',
      [
        ['SET', 'cart', '1'],
        ['DEL', 'cart'],
      ],
    ],
  ])('names no cause for a key that %s', async (_, steps) => {
    using other = createSandbox()
    other.store.run('SET', 'carts', '1')
    using sandbox = createSandbox({ startAt })
    await play(sandbox, steps)
    sandbox.store.load(other.store.dump())
    expect(hintOf(sandbox)).toBe("Did you mean the key 'carts'?")
  })

  test('names no cause for a key that a script flushed', async () => {
    using sandbox = createSandbox({ startAt })
    await play(sandbox, [
      ['SET', 'cart', '1'],
      ['EVAL', "redis.call('flushall')", '0'],
    ])
    expect(hintOf(sandbox)).toBeUndefined()
  })

  test('does not show secrets of the command', async () => {
    using sandbox = createSandbox({ startAt })
    const secret = 'https://ada:hunter22@db.test/'
    await play(sandbox, [
      ['SET', 'cart', '1'],
      ['DEL', 'cart', secret],
    ])
    expect(hintOf(sandbox)).toContain('cart was deleted')
    expect(hintOf(sandbox)).not.toContain('hunter22')
  })

  const step = fc.oneof(
    fc.constantFrom<readonly [string, ...string[]]>(
      ['SET', 'cart', '1'],
      ['SET', 'cart', '1', 'EX', '60'],
      ['SET', 'other', '1', 'EX', '60'],
      ['DEL', 'cart'],
      ['EXPIRE', 'cart', '60'],
      ['PERSIST', 'cart'],
      ['GET', 'cart'],
      ['DBSIZE'],
      ['FLUSHALL'],
      ['RENAMENX', 'cart', 'other'],
    ),
    fc.constantFrom<Duration>('10s', '60s'),
  )

  test('agrees with a simple model of one key', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        using sandbox = createSandbox({ startAt })
        let cart: { until: number } | undefined
        let other: { until: number } | undefined
        let ended: string | undefined
        for (const one of steps) {
          if (!Array.isArray(one)) {
            await sandbox.clock.advance(one as Duration)
            const now = sandbox.clock.now()
            if (cart !== undefined && cart.until <= now) {
              cart = undefined
              ended = 'expired'
            }
            if (other !== undefined && other.until <= now) other = undefined
            continue
          }
          // RENAMENX of a missing key is an error, which changes nothing.
          if (one[0] === 'RENAMENX' && cart === undefined) continue
          sandbox.store.run(...(one as string[]))
          const [name, key, , option] = one as string[]
          const until = sandbox.clock.now() + 60_000
          const seq = sandbox.traffic.ofType('command').at(-1)!.seq
          if (name === 'SET' && key === 'other') other = { until }
          else if (name === 'SET') cart = { until: option === 'EX' ? until : Number.POSITIVE_INFINITY }
          else if (cart !== undefined && name === 'EXPIRE') cart.until = until
          else if (cart !== undefined && name === 'PERSIST') cart.until = Number.POSITIVE_INFINITY
          else if (name === 'RENAMENX' && cart !== undefined && other === undefined) {
            other = cart
            cart = undefined
            ended = `renamed at .* by #${seq} `
          } else if (name === 'DEL' || name === 'FLUSHALL') {
            if (cart !== undefined) ended = `deleted at .* by #${seq} `
            cart = undefined
            if (name === 'FLUSHALL') other = undefined
          }
        }
        if (cart !== undefined) expect(sandbox.store).toHaveKey('cart')
        else if (ended === undefined) expect(hintOf(sandbox) ?? '').not.toMatch(/expired|deleted|renamed/)
        else expect(hintOf(sandbox)).toMatch(new RegExp(ended))
      }),
      { numRuns: runs(200, 1000, 20_000) },
    )
  })
})
