import { afterEach, expect, test, vi } from 'vitest'

// In manual mode, host time decides only warnings and when a stalled handler counts as asleep, which is journaled.

const start = Date.parse('2030-01-01T00:00:00Z')
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Milliseconds of a turn of the host's event loop, by the host's own clock. */
const hosts = { 'is very fast': 0.001, 'is very slow': 4 }

class HostTimer {
  #left: number
  #immediate: NodeJS.Immediate

  constructor(
    readonly run: () => void,
    wait: number,
    readonly perTurn: number,
  ) {
    this.#left = wait
    this.#immediate = setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#left -= this.perTurn
    if (this.#left <= 0) this.run()
    else this.#immediate = setImmediate(() => this.#turn())
  }

  clear(): void {
    clearImmediate(this.#immediate)
  }
}

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.resetModules()
})

/** Loads the package on such a host, because it reads the host's functions when it loads. */
async function loadedOn(host: keyof typeof hosts | undefined): Promise<typeof import('../../src/index.js')> {
  vi.resetModules()
  if (host !== undefined) {
    const perTurn = hosts[host]
    let now = start
    vi.stubGlobal('setTimeout', (run: () => void, wait: number) => new HostTimer(run, wait, perTurn))
    vi.stubGlobal('clearTimeout', (timer: HostTimer) => timer.clear())
    vi.spyOn(Date, 'now').mockImplementation(() => (now += perTurn))
  }
  const loaded = await import('../../src/index.js')
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  return loaded
}

/** Runs one of each kind of work for which a clock waits, and returns the log. */
async function story(host: keyof typeof hosts | undefined): Promise<string> {
  const { createSandbox, fault, fakeTimers } = await loadedOn(host)
  using sandbox = createSandbox({ startAt: start, policy: { handlerStallTimeout: 60_000 }, onWarning() {} })
  const { clock, queue, destinations, faults, tokens, urls } = sandbox
  const headers = { authorization: `Bearer ${tokens.store}` }
  const ask = (path: string): Promise<Response> => sandbox.fetch(`${urls.store}${path}`, { headers })
  let calls = 0
  destinations.on('https://shop.test/busy', async () => {
    for (let count = 0; count < 50; count++) await turn()
    await ask('/incr/busy')
    return new Response(null, { status: ++calls < 3 ? 500 : 200 })
  })
  destinations.on('https://shop.test/waits', async () => {
    await new Promise((resolve) => setTimeout(resolve, 2000))
    await ask('/incr/waits')
    await new Promise((resolve) => setTimeout(resolve, 3000))
    return new Response('done')
  })
  destinations.on('https://shop.test/guarded', async () => {
    const guard = setTimeout(() => void ask('/incr/guard'), 1)
    for (let count = 0; count < 200; count++) await turn()
    clearTimeout(guard)
    return new Response('done')
  })
  faults.add({ on: 'store.request', times: 2, fault: fault.latency('300ms') })
  vi.useFakeTimers({ now: start, toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  clock.follow(fakeTimers(vi))
  queue.publish({ to: 'https://shop.test/busy' })
  queue.publish({ to: 'https://shop.test/waits', delay: '1s' })
  queue.publish({ to: 'https://shop.test/guarded', delay: '1s' })
  const asked = ask('/set/k/v')
  await clock.advance('10s')
  await asked
  await clock.drain()
  vi.useRealTimers()
  expect(sandbox.store.run('GET', 'guard')).toBe(null)
  return JSON.stringify([sandbox.traffic.entries, clock.now()])
}

test.each(Object.keys(hosts) as (keyof typeof hosts)[])(
  'a sandbox writes the same log on a host that %s',
  async (host) => {
    expect(await story(host)).toBe(await story(undefined))
  },
)

test('a fork reads from the journal that a slow host ended the stall timeout of a handler', async () => {
  const { createSandbox } = await loadedOn('is very slow')
  const warnings: string[] = []
  using sandbox = createSandbox({ startAt: start, onWarning: (text) => warnings.push(text) })
  const { clock, queue, destinations } = sandbox
  destinations.on('https://shop.test/', async () => {
    for (let count = 0; count < 4000; count++) await turn()
    return new Response('late')
  })
  queue.publish({ to: 'https://shop.test/', retries: 0 })
  await clock.drain()
  expect(warnings).toContainEqual(expect.stringContaining('handlerStallTimeout'))
  const [attempt] = sandbox.traffic.ofType('attempt')
  expect(attempt!.outcome!.at).toBeGreaterThan(start)
  using fork = await sandbox.fork()
  expect(JSON.stringify(fork.traffic.entries)).toBe(JSON.stringify(sandbox.traffic.entries))
})
