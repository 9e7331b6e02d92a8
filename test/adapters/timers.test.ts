import { createRequire } from 'node:module'
import { createSandbox, hostTimers } from 'stuntdouble'
import { afterEach, describe, expect, test, vi } from 'vitest'

// Not one of our dependencies, but Jest's own: what its fake timers are made of.
const jestRequire = createRequire(createRequire(import.meta.url).resolve('@jest/fake-timers'))
const fakeTimers = jestRequire('@sinonjs/fake-timers') as {
  install(options: { now: number; toFake?: string[] }): { tickAsync(by: number): Promise<number>; uninstall(): void }
}

afterEach(() => {
  vi.useRealTimers()
})

describe('hostTimers(vi)', () => {
  test("the client's own timeout fires in step with the sandbox's time", async () => {
    using sandbox = createSandbox()
    const { clock, queue, destinations } = sandbox
    vi.useFakeTimers({ now: clock.now() })
    clock.follow(hostTimers(vi))
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

  test('a client that retries on its own timers reaches the sandbox', async () => {
    using sandbox = createSandbox()
    vi.useFakeTimers({ now: sandbox.clock.now() })
    sandbox.clock.follow(hostTimers(vi))
    sandbox.faults.add({ on: 'store.request', times: 2, fault: { kind: 'status', status: 503 } })
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    const persistent = async (): Promise<string> => {
      for (;;) {
        const answer = await sandbox.fetch(`${sandbox.addresses.store}/echo/hi`, { headers })
        if (answer.ok) return answer.text()
        await new Promise((resume) => setTimeout(resume, 1000))
      }
    }
    const answer = persistent()
    await sandbox.clock.advance('5s')
    expect(await answer).toBe('{"result":"hi"}')
  })

  test('leaves the timers alone once it is ended', async () => {
    using sandbox = createSandbox()
    vi.useFakeTimers({ now: 0 })
    const leave = sandbox.clock.follow(hostTimers(vi))
    leave()
    await sandbox.clock.advance('5s')
    expect(Date.now()).toBe(0)
  })

  test('says what is missing when the timers are real', async () => {
    using sandbox = createSandbox()
    sandbox.clock.follow(hostTimers(vi))
    await expect(sandbox.clock.advance('5s')).rejects.toThrow(
      'clock.follow(hostTimers(…)) needs fake timers, and none are installed. Call vi.useFakeTimers(',
    )
  })
})

describe('hostTimers() of @sinonjs/fake-timers', () => {
  test('follows', async () => {
    using sandbox = createSandbox()
    const installed = fakeTimers.install({ now: sandbox.clock.now(), toFake: ['setTimeout', 'Date'] })
    try {
      sandbox.clock.follow(hostTimers(installed))
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

test.each([[undefined], [null], [{}], [setTimeout]])('%o is no host', (host) => {
  expect(() => hostTimers(host as never)).toThrow(
    'hostTimers() takes the fake timers of the test runner: hostTimers(vi)',
  )
})
