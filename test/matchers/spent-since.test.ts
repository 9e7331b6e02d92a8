import { stripVTControlCharacters } from 'node:util'
import { Redis } from '@upstash/redis'
import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { connect } from 'stuntdouble/client'
import { replaceFetch } from 'stuntdouble/fetch'
import { startServer } from 'stuntdouble/server'
import 'stuntdouble/vitest/extend'
import { describe, expect, test } from 'vitest'

const orders = 'https://shop.test/orders'
const script = "redis.call('INCR', KEYS[1]); return redis.call('GET', KEYS[1])"

function clientOf({ urls, tokens }: Sandbox): Redis {
  return new Redis({ url: urls.store, token: tokens.store, retry: false, enableAutoPipelining: false })
}

/** Runs one user action: two commands, a script with two commands, a transaction of two, and a message with one retry. */
async function checkout(sandbox: Sandbox, redis: Redis): Promise<void> {
  await redis.set('cart', 'x')
  await redis.get('cart')
  await redis.eval(script, ['count'], [])
  await redis.multi().incr('a').get('a').exec()
  sandbox.destinations.script(orders, [fault.status(503), fault.status(200)])
  sandbox.queue.publish({ to: orders, body: 'abc' })
  await sandbox.clock.drain()
}

describe('toHaveCost(…, { since })', () => {
  test('counts the same costs for the first and the third action', async () => {
    using sandbox = createSandbox()
    using _ = replaceFetch(sandbox)
    const redis = clientOf(sandbox)
    await checkout(sandbox, redis)
    const { messages, bandwidth } = { messages: 2, bandwidth: sandbox.traffic.ofType('attempt').length * 3 }
    const { commands, reads, writes, bytesIn, bytesOut } = sandbox.store.cost()
    const cost = { messages, commands, reads, writes, bytesIn, requests: 4 }
    expect(sandbox).toHaveCost({ ...cost, bytesOut }, { since: 0 })
    expect(sandbox.traffic.ofType('attempt').reduce((sum, { body }) => sum + body.length, 0)).toBe(bandwidth)
    for (let time = 0; time < 2; time++) {
      const mark = sandbox.traffic.mark()
      await checkout(sandbox, redis)
      expect(sandbox).toHaveCost(cost, { since: mark })
      expect(sandbox.store).toHaveCost({ commands, requests: 4 }, { since: mark })
      expect(sandbox.queue).toHaveCost({ messages, requests: 0 }, { since: mark })
      expect(sandbox).not.toHaveCost({ commands: commands + 1 }, { since: mark })
      expect(sandbox).not.toHaveCost({ messages: '>=3' }, { since: mark })
    }
    const now = sandbox.traffic.mark()
    expect(sandbox).toHaveCost(
      { messages: 0, bandwidth: 0, commands: 0, bytesIn: 0, bytesOut: 0, requests: 0 },
      { since: now },
    )
    expect(sandbox).toHaveCost({ messages: 6, commands: 3 * commands, requests: 12 })
  })

  test('prints only costs and entries after the mark', async () => {
    using sandbox = createSandbox()
    using _ = replaceFetch(sandbox)
    const redis = clientOf(sandbox)
    await redis.set('before', 'x')
    const mark = sandbox.traffic.mark()
    await checkout(sandbox, redis)
    let told = ''
    try {
      expect(sandbox).toHaveCost({ messages: '<=1', commands: '<=5' }, { since: mark })
    } catch (error) {
      told = stripVTControlCharacters((error as Error).message)
    }
    expect(told).toContain(`expect(sandbox).toHaveCost({ messages: '<=1', commands: '<=5' }, { since: ${mark} })`)
    expect(told).toMatch(new RegExp(`since the mark.*\\bentry ${mark}\\b.*:`))
    expect(told).toMatch(
      /✗ messages: .*at most 1, received 2: 1 × delivery .*https:\/\/shop\.test\/orders \(#\d+\), 1 × retry .*https:\/\/shop\.test\/orders \(#\d+\)/,
    )
    // Billed are SET, GET, EVAL with its two commands, MULTI, INCR, GET and EXEC.
    expect(told).toMatch(/✗ commands: .*at most 5, received 9: /)
    expect(told).not.toContain('set before x')
  })

  test('counts costs of a sandbox on a server', async () => {
    await using server = await startServer({ port: 0, clock: 'manual' })
    const tenant = server.tenant('main')
    await using remote = await connect(server.origin)
    const redis = clientOf(tenant)
    await checkout(tenant, redis)
    const { commands } = tenant.store.cost()
    const mark = await remote.traffic.mark()
    await checkout(tenant, redis)
    expect(await remote.snapshot()).toHaveCost({ messages: 2, commands, requests: 4 }, { since: mark })
  })

  test('throws a TypeError for an invalid mark', async () => {
    using sandbox = createSandbox()
    sandbox.store.run('SET', 'k', 'v')
    const since = (given: unknown) => () => expect(sandbox).toHaveCost({ commands: 0 }, { since: given as number })
    expect(since('start')).toThrow(/since.*a mark \(got 'start'\)/)
    expect(since(Promise.resolve(1))).toThrow(/await .*server/)
    expect(since(-1)).toThrow(/since.*a mark \(got -1\)/)
    expect(since(99)).toThrow(/since.*after entry 99\b.*entry 2\b/)
    expect(() => expect(sandbox).toHaveCost({ commands: 0 }, { until: 1 } as never)).toThrow(
      /last argument.*\{ since: mark \}/,
    )
    expect(since(1)).toThrow(/commands cannot be counted.*entry 1\b/)
    expect(sandbox).toHaveCost({ requests: 0 }, { since: 1 })
    const old = sandbox.traffic.mark()
    sandbox.reset()
    expect(since(old)).toThrow(/another sandbox.*before a reset/)
  })
})
