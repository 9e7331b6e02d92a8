import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { runInNewContext } from 'node:vm'
import { Redis } from '@upstash/redis'
import { createSandbox, fakeTimers, type Sandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { afterEach, describe, expect, test, vi } from 'vitest'

// A dependency of Jest, not of this package: the implementation of Jest's fake timers.
const jestRequire = createRequire(createRequire(import.meta.url).resolve('@jest/fake-timers'))
const sinonTimers = jestRequire('@sinonjs/fake-timers') as {
  install(options: { now: number; toFake?: string[] }): { tickAsync(by: number): Promise<number>; uninstall(): void }
}

const start = Date.parse('2030-01-01T00:00:00Z')

afterEach(() => {
  vi.useRealTimers()
})

describe('fakeTimers(vi)', () => {
  test("fires a client's own timeout in step with the sandbox's time", async () => {
    using sandbox = createSandbox()
    const { clock, queue, destinations } = sandbox
    vi.useFakeTimers({ now: clock.now() })
    clock.follow(fakeTimers(vi))
    const log: string[] = []
    const note = (what: string) =>
      log.push(`${what} at ${clock.now() - Date.parse('2030-01-01T00:00:00Z')} ${Date.now() - clock.now()}`)
    setTimeout(() => note('timeout of the client'), 2000)
    destinations.on('https://shop.test/', () => {
      note('delivery')
      return new Response()
    })
    queue.publish({ to: 'https://shop.test/', delay: '2s' })
    queue.publish({ to: 'https://shop.test/', delay: '5s' })
    await clock.advance('1s')
    expect(log).toEqual([])
    await clock.advance('9s')
    expect(log).toEqual(['timeout of the client at 2000 0', 'delivery at 2000 0', 'delivery at 5000 0'])
    expect(Date.now()).toBe(clock.now())
  })

  test('lets a client that retries on its own timers reach the sandbox', async () => {
    using sandbox = createSandbox()
    vi.useFakeTimers({ now: sandbox.clock.now() })
    sandbox.clock.follow(fakeTimers(vi))
    sandbox.faults.add({ on: 'store.request', times: 2, fault: { kind: 'status', status: 503 } })
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    const persistent = async (): Promise<string> => {
      for (;;) {
        const answer = await sandbox.fetch(`${sandbox.urls.store}/echo/hi`, { headers })
        if (answer.ok) return answer.text()
        await new Promise((resume) => setTimeout(resume, 1000))
      }
    }
    const answer = persistent()
    await sandbox.clock.advance('5s')
    expect(await answer).toBe('{"result":"hi"}')
  })

  test.each([
    ['in six steps', ['10s', '10s', '10s', '10s', '10s', '10s']],
    ['in one step', ['1m']],
    ['in uneven steps', ['9s', '3s', '29s', '19s']],
    ['until a later timer of ours has fired', ['drain']],
  ] as const)('renews a lock every 10 s that expires after 15 s: %s', async (_, steps) => {
    using sandbox = createSandbox()
    const { clock, store } = sandbox
    vi.useFakeTimers({ now: clock.now() })
    clock.follow(fakeTimers(vi))
    const redis = new Redis({ url: sandbox.urls.store, token: sandbox.tokens.store, retry: false })
    using _fetch = replaceFetch(sandbox)
    await redis.set('lock', 'mine', { nx: true, ex: 15 })
    const extended: [at: number, reply: number][] = []
    setInterval(async () => {
      const sent = clock.now()
      extended.push([(sent - start) / 1000, await redis.expire('lock', 15)])
    }, 10_000)
    sandbox.destinations.record('https://shop.test/')
    sandbox.queue.publish({ to: 'https://shop.test/', delay: '1m' })
    for (const step of steps) await (step === 'drain' ? clock.drain() : clock.advance(step))
    expect(extended).toEqual([10, 20, 30, 40, 50, 60].map((second) => [second, 1]))
    expect(sandbox.traffic.ofType('command').map(({ at }) => (at - start) / 1000)).toEqual([0, 10, 20, 30, 40, 50, 60])
    expect(store.run('TTL', 'lock')).toBe(15)
  })

  test("fires host timers of one instant before the sandbox's, each after the work of the previous one got its response", async () => {
    using sandbox = createSandbox()
    const { clock, queue, destinations, traffic } = sandbox
    vi.useFakeTimers({ now: clock.now() })
    clock.follow(fakeTimers(vi))
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    const ask = (path: string) => sandbox.fetch(`${sandbox.urls.store}/${path}`, { headers })
    setTimeout(async () => {
      await ask('rpush/log/a1')
      await ask('rpush/log/a2')
    }, 5000)
    setTimeout(() => void ask('rpush/log/b'), 5000)
    destinations.on('https://shop.test/', () => new Response(String(sandbox.store.run('RPUSH', 'log', 'ours'))))
    queue.publish({ to: 'https://shop.test/', delay: '5s' })
    await clock.advance('1m')
    expect(sandbox.store.run('LRANGE', 'log', 0, -1)).toEqual(['a1', 'a2', 'b', 'ours'])
    expect(new Set(traffic.ofType('request').map(({ at }) => at - start))).toEqual(new Set([5000]))
  })

  describe('a handler that awaits a host timer', () => {
    const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
    const opened = (): Sandbox => {
      const sandbox = createSandbox()
      vi.useFakeTimers({ now: sandbox.clock.now(), toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
      sandbox.clock.follow(fakeTimers(vi))
      return sandbox
    }

    test.each(['advance', 'drain'] as const)(
      'sleeps in virtual time, and its work happens at the right instant: %s',
      async (move) => {
        using sandbox = opened()
        const { destinations, queue, clock, traffic } = sandbox
        const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
        destinations.on('https://shop.test/', async () => {
          await sleep(2000)
          await sandbox.fetch(`${sandbox.urls.store}/set/k/v`, { headers })
          await sleep(3000)
          return new Response('done')
        })
        queue.publish({ to: 'https://shop.test/', delay: '1s' })
        await (move === 'drain' ? clock.drain() : clock.advance('1m'))
        const [attempt] = traffic.ofType('attempt')
        const [request] = traffic.ofType('request')
        expect([attempt!.at - start, request!.at - start, attempt!.outcome!.at - start]).toEqual([1000, 3000, 6000])
        expect(attempt!.outcome!.status).toBe(200)
      },
    )

    test('runs into the timeout of its delivery, and others continue', async () => {
      using sandbox = opened()
      const { destinations, queue, clock, traffic } = sandbox
      destinations.on('https://shop.test/slow', async () => {
        await sleep(60_000)
        return new Response('late')
      })
      destinations.record('https://shop.test/quick')
      queue.publish({ to: 'https://shop.test/slow', retries: 0, timeout: '10s' })
      queue.publish({ to: 'https://shop.test/quick', delay: '5s' })
      await clock.advance('2m')
      const ends = traffic
        .ofType('attempt')
        .map(({ url, outcome }) => [url, (outcome!.at - start) / 1000, outcome!.status])
      expect(ends).toEqual([
        ['https://shop.test/slow', 10, 0],
        ['https://shop.test/quick', 5, 200],
      ])
    })

    test('is awaited if it responds before a timer of its own', async () => {
      using sandbox = opened()
      const { destinations, queue, clock } = sandbox
      destinations.on('https://shop.test/', async () => {
        const guard = setTimeout(() => {
          throw new Error('the guard struck')
        }, 5000)
        for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
        await readFile(new URL(import.meta.url))
        clearTimeout(guard)
        return new Response('done')
      })
      queue.publish({ to: 'https://shop.test/' })
      await clock.drain()
      expect(sandbox.traffic.ofType('attempt')[0]!.outcome).toMatchObject({ at: start, status: 200 })
    })
  })

  test('drain() does not wait for host timers, which may be recurring', async () => {
    using sandbox = createSandbox()
    vi.useFakeTimers({ now: sandbox.clock.now() })
    sandbox.clock.follow(fakeTimers(vi))
    let fired = 0
    setInterval(() => fired++, 1000)
    await sandbox.clock.drain()
    expect([fired, sandbox.clock.now()]).toEqual([0, start])
  })

  test('mode auto stops at host timers', async () => {
    using sandbox = createSandbox({ clock: 'auto' })
    const { clock } = sandbox
    vi.useFakeTimers({ now: clock.now() })
    clock.follow(fakeTimers(vi))
    const seen: number[] = []
    setInterval(() => seen.push(clock.now() - start), 10_000)
    sandbox.destinations.record('https://shop.test/')
    sandbox.queue.publish({ to: 'https://shop.test/', delay: '35s' })
    await clock.drain()
    expect(seen).toEqual([10_000, 20_000, 30_000])
  })

  test('an error in a host timer rejects the clock move, and the next move fires the remaining timers', async () => {
    using sandbox = createSandbox()
    vi.useFakeTimers({ now: sandbox.clock.now() })
    sandbox.clock.follow(fakeTimers(vi))
    let fired = 0
    setTimeout(() => {
      throw new Error('the app slipped')
    }, 1000)
    setTimeout(() => fired++, 1000)
    await expect(sandbox.clock.advance('5s')).rejects.toThrow('the app slipped')
    expect([fired, sandbox.clock.now() - start]).toEqual([0, 1000])
    await sandbox.clock.advance('4s')
    expect([fired, Date.now() - start]).toEqual([1, 5000])
  })

  test('ignores the timers after following has ended', async () => {
    using sandbox = createSandbox()
    vi.useFakeTimers({ now: 0 })
    const leave = sandbox.clock.follow(fakeTimers(vi))
    leave()
    await sandbox.clock.advance('5s')
    expect(Date.now()).toBe(0)
  })

  test('throws an error with the calls to use when the timers are not faked', async () => {
    using sandbox = createSandbox()
    sandbox.clock.follow(fakeTimers(vi))
    await expect(sandbox.clock.advance('5s')).rejects.toThrow(/clock\.follow\(fakeTimers\(…\)\).*vi\.useFakeTimers\(/)
  })
})

describe('fakeTimers() of @sinonjs/fake-timers', () => {
  test('follows the clock', async () => {
    using sandbox = createSandbox()
    const installed = sinonTimers.install({ now: sandbox.clock.now(), toFake: ['setTimeout', 'Date'] })
    try {
      sandbox.clock.follow(fakeTimers(installed))
      let fired = 0
      setTimeout(() => fired++, 2000)
      await sandbox.clock.advance('1999ms')
      expect(fired).toBe(0)
      await sandbox.clock.advance(1)
      expect(fired).toBe(1)
      expect(Date.now()).toBe(sandbox.clock.now())
    } finally {
      installed.uninstall()
    }
  })
})

test.each([
  'new Map([[1, { callAt: 1700 }], [2, { callAt: 1200 }]])',
  '({ 1: { callAt: 1700 }, 2: { callAt: 1200 } })',
])('finds the next timer in %s of another realm, as in Jest', (timers) => {
  const clock = { now: 1000, timers: runInNewContext(timers), tickAsync: async () => undefined }
  expect(fakeTimers(clock).nextIn?.()).toBe(200)
})

test.each([[undefined], [null], [{}], [setTimeout]])('throws a TypeError for %o', (host) => {
  expect(() => fakeTimers(host as never)).toThrow(/fakeTimers\(\).*fake timers of.*fakeTimers\(vi\)/)
})
