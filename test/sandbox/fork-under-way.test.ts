import { createSandbox, type Sandbox, type Task } from 'stuntdouble'
import { afterEach, expect, test, vi } from 'vitest'
import { fakeTimers } from '../../src/adapters/timers.js'

const shop = 'https://shop.test/orders'
const pause = (ms: number): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, ms))

afterEach(() => void vi.useRealTimers())

test('a handler that awaits host timers, which follow, is replayed and forked at each entry', async () => {
  using sandbox = createSandbox()
  const toFake = ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const
  vi.useFakeTimers({ now: sandbox.clock.now(), toFake: [...toFake] })
  const leave = sandbox.clock.follow(fakeTimers(vi))
  let calls = 0
  sandbox.destinations.on(shop, async (_, task) => {
    calls++
    sandbox.store.run('INCR', 'seen')
    await pause(500)
    sandbox.store.run('INCR', 'seen')
    await task.sleep('1s')
    await pause(1500)
    return new Response('late', { status: calls % 2 === 1 ? 500 : 200 })
  })
  setInterval(() => void sandbox.store.run('INCR', 'ticks'), 2000)
  sandbox.queue.publish({ to: shop, retries: 2 })
  await sandbox.clock.advance('5s')
  await sandbox.clock.advance('30s')
  expect(sandbox.store.get('seen')).toBe('4')
  using whole = await sandbox.fork({ destinations: {} })
  expect(whole.dump()).toEqual(sandbox.dump())
  using again = await whole.fork({ destinations: {} })
  expect(again.dump()).toEqual(sandbox.dump())
  for (const { seq } of sandbox.traffic.entries) {
    using fork = await sandbox.fork({ at: { seq }, destinations: {} })
    expect(fork.traffic.toTrace().entries).toEqual(sandbox.asOf({ seq }).traffic.toTrace().entries)
    expect(fork.store.dump()).toEqual(sandbox.asOf({ seq }).store.dump())
    using second = await fork.fork({ destinations: {} })
    for (const one of [fork, second]) await one.clock.advance('3s')
    expect(second.dump()).toEqual(fork.dump())
  }
  leave()
})

test('a handler that waits for a list element is in flight in forks of forks', async () => {
  using sandbox = createSandbox()
  sandbox.destinations.on(shop, async (_, task) => {
    const job = await sandbox.store.connect({ task }).run('BLPOP', 'jobs', 0)
    await task.sleep('1s')
    return Response.json(job)
  })
  sandbox.queue.publish({ to: shop, retries: 0 })
  await sandbox.clock.advance('10s')
  sandbox.store.run('RPUSH', 'jobs', 'mail')
  await sandbox.clock.advance('10s')
  using first = await sandbox.fork({ at: '-15s' })
  using second = await first.fork()
  using third = await second.fork()
  const outcome = (world: Sandbox): unknown => world.traffic.ofType('attempt')[0]?.outcome
  expect(outcome(sandbox)).toMatchObject({ status: 200, body: '["jobs","mail"]' })
  for (const fork of [first, second, third]) {
    expect(outcome(fork)).toBeUndefined()
    await fork.clock.advance('15s')
    expect(outcome(fork)).toEqual(outcome(sandbox))
    // No command pushed an element in the fork.
    expect(fork.store.run('LLEN', 'jobs')).toBe(0)
  }
})

test('a handler that forks its own sandbox is in flight in the fork, and never responds there', async () => {
  using sandbox = createSandbox()
  const made: Sandbox[] = []
  sandbox.destinations.on(shop, async (_, task) => {
    made.push(await sandbox.fork())
    await task.sleep('2s')
    made.push(await sandbox.fork())
    return new Response('ok')
  })
  sandbox.queue.publish({ to: shop, retries: 0, timeout: '30s' })
  await sandbox.clock.advance('10s')
  expect(sandbox.traffic.ofType('attempt')[0]?.outcome?.status).toBe(200)
  for (const fork of made) {
    using again = await fork.fork()
    for (const one of [fork, again]) await one.clock.advance('1m')
    expect(again.dump()).toEqual(fork.dump())
    expect(fork.traffic.ofType('attempt')[0]?.outcome).toMatchObject({ error: 'context deadline exceeded' })
    fork.dispose()
  }
})

test('asOf() of a fork equals a fork of it, at every entry and second', async () => {
  const destinations = {
    [shop]: async (_: Request, task: Task) => {
      await task.sleep('3s')
      await new Promise((resolve) => setTimeout(resolve, 1))
      await task.sleep('2s')
      return new Response('no', { status: 500 })
    },
  }
  using origin = createSandbox()
  origin.destinations.on(shop, destinations[shop]!)
  for (const retryDelay of ['4000', '1000']) origin.queue.publish({ to: shop, retries: 1, retryDelay })
  await origin.clock.advance('20s')
  using first = await origin.fork({ at: '-16s', destinations })
  for (let move = 0; move < 3; move++) await first.clock.advance('1s')
  first.queue.publish({ to: shop, retries: 0 })
  await first.clock.drain()
  const seconds = Array.from({ length: 10 }, (_, second) => origin.clock.now() - 20_000 + second * 1000)
  for (const at of [...seconds, ...first.traffic.entries.map(({ seq }) => ({ seq }))]) {
    using fork = await first.fork({ at, destinations })
    expect(fork.traffic.toTrace().entries).toEqual(first.asOf(at).traffic.toTrace().entries)
    using again = await fork.fork({ destinations })
    for (const one of [fork, again]) await one.clock.drain()
    expect(again.dump()).toEqual(fork.dump())
  }
})
