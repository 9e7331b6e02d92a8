import { MultiRegionRatelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'
import { expect, onTestFinished, test, vi } from 'vitest'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox, fault, type Sandbox } from '../../src/index.js'
import type { Client } from './library-worlds.js'

// The unmodified SDK and library with several databases of one sandbox.

function sandboxOfTest(): Sandbox {
  const sandbox = createSandbox({ databases: ['eu', 'us'] })
  onTestFinished(() => sandbox.dispose())
  replaceFetch(sandbox)
  return sandbox
}

function clientOf(env: Readonly<Record<string, string>>): Client {
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = env
  return new Redis({ url: url!, token: token!, retry: false }) as unknown as Client
}

test('two clients of the SDK use two databases', async () => {
  const sandbox = sandboxOfTest()
  const [eu, us] = [clientOf(sandbox.envFor({ database: 'eu' })), clientOf(sandbox.envFor({ database: 'us' }))]
  await Promise.all([eu.set('greeting', 'hallo'), us.set('greeting', 'hello')])
  expect(await Promise.all([eu.get('greeting'), us.get('greeting')])).toEqual(['hallo', 'hello'])
  expect(await us.pipeline().incr('visits').incr('visits').exec()).toEqual([1, 2])
  expect(await clientOf(sandbox.env).get('greeting')).toBeNull()
})

test('MultiRegionRatelimit limits while one of three databases is slow, and while it is unavailable', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const sandbox = sandboxOfTest()
  vi.setSystemTime(sandbox.clock.now())
  sandbox.clock.follow({ advanceBy: (ms) => vi.advanceTimersByTimeAsync(ms) })
  const redis = [sandbox.env, sandbox.envFor({ database: 'eu' }), sandbox.envFor({ database: 'us' })].map(clientOf)
  const ratelimit = new MultiRegionRatelimit({ redis, limiter: MultiRegionRatelimit.fixedWindow(3, '10 s') })
  const counts = (): unknown[] => sandbox.stores.map((store) => store.dump().keys.length)

  const slow = sandbox.faults.add({ on: 'store.request', match: { database: 'us' }, fault: fault.latency('2s') })
  const first = await ratelimit.limit('ann')
  expect(first).toMatchObject({ success: true, remaining: 2 })
  expect(counts()).toEqual([1, 1, 0])
  await sandbox.clock.advance('5s')
  await first.pending
  expect(counts()).toEqual([1, 1, 1])
  slow.remove()

  await sandbox.clock.advance('5s')
  const match = { database: 'us' }
  sandbox.faults.add({ on: 'store.request', match, until: '1m', fault: fault.outage() })
  const passed: boolean[] = []
  for (let request = 0; request < 4; request++) {
    const { success, pending } = await ratelimit.limit('ann')
    passed.push(success)
    await pending.catch(() => {})
  }
  expect(passed).toEqual([true, true, true, false])
  expect(new Set(sandbox.traffic.ofType('fault').map(({ database }) => database))).toEqual(new Set(['us']))

  await sandbox.clock.advance('1m')
  const last = await ratelimit.limit('ann')
  await last.pending
  expect(last).toMatchObject({ success: true, remaining: 2 })
  expect(sandbox.storeIn('us').dump().keys.length).toBeGreaterThan(0)
})
