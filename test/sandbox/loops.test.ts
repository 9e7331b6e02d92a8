import { Redis as UpstashRedis } from '@upstash/redis'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ioredisConnector } from '../../packages/server/src/redis-port/in-process.js'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox, fault, type Sandbox } from '../../src/index.js'
import { gateOf } from '../../src/kernel/clock.js'
import { runs } from '../support/effort.js'

// Awaiting in a loop must let timers run, and must not change the order of events.

/** One step of a loop: its request, and the number of microtasks until the next step. */
interface Step {
  readonly ask: 'read' | 'count' | 'publish' | 'bank' | 'slow bank' | 'refused' | 'aborted'
  readonly microtasks: number
}
interface Program {
  readonly loops: readonly (readonly Step[])[]
  readonly advance: 'none' | 'one' | 'in a loop'
}

const step = fc.record({
  ask: fc.constantFrom<Step['ask'][]>('read', 'count', 'publish', 'bank', 'slow bank', 'refused', 'aborted'),
  microtasks: fc.nat({ max: 12 }),
})
const program = fc.record({
  loops: fc.array(fc.array(step, { minLength: 1, maxLength: 25 }), { minLength: 1, maxLength: 5 }),
  advance: fc.constantFrom<Program['advance'][]>('none', 'one', 'in a loop'),
})

async function ask(sandbox: Sandbox, { ask }: Step, loop: number): Promise<void> {
  const { store, queue } = sandbox.urls
  const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
  const send = (url: string, init: RequestInit = {}): Promise<Response> => sandbox.fetch(url, { headers, ...init })
  if (ask === 'read') await (await send(`${store}/get/${loop}`)).text()
  if (ask === 'count') await send(store, { method: 'POST', body: `["APPEND","log","${loop}"]` })
  if (ask === 'refused') await sandbox.outbound.fetch('https://nobody.test/').catch(() => {})
  if (ask === 'bank') await sandbox.outbound.fetch(`https://bank.test/${loop}`)
  if (ask === 'slow bank') await sandbox.outbound.fetch(`https://bank.test/slow/${loop}`)
  if (ask === 'aborted') {
    const controller = new AbortController()
    const sent = send(`${store}/incr/aborted`, { signal: controller.signal })
    controller.abort()
    await sent.catch(() => {})
  }
  if (ask === 'publish') {
    const authorization = `Bearer ${sandbox.tokens.queue}`
    await send(`${queue}/v2/publish/https://app.test/${loop}`, {
      method: 'POST',
      headers: { authorization },
      body: 'x',
    })
  }
}

/** Returns the traffic of a program when the gate closes at every n-th response. */
async function outcome({ loops, advance }: Program, every: number): Promise<string> {
  using sandbox = createSandbox({ seed: 3, onWarning() {} })
  gateOf(sandbox.clock).every = every
  sandbox.outbound.respond('https://bank.test/*', 201)
  sandbox.outbound.on('https://bank.test/slow/*', async (_, task) => {
    await task.sleep('2s')
    return new Response('late')
  })
  sandbox.destinations.on('https://app.test/*', async (request) => {
    await ask(sandbox, { ask: 'count', microtasks: 0 }, 7)
    await ask(sandbox, { ask: 'bank', microtasks: 0 }, 8)
    return new Response(request.url)
  })
  const running = loops.map(async (steps, loop) => {
    for (const step of steps) {
      await ask(sandbox, step, loop)
      for (let left = step.microtasks; left > 0; left--) await undefined
    }
  })
  if (advance === 'one') await sandbox.clock.advance('10s')
  if (advance === 'in a loop') for (let left = 12; left > 0; left--) await sandbox.clock.advance('500ms')
  await sandbox.clock.drain()
  const all = Promise.all(running)
  // Work that waits in virtual time continues only when time moves.
  for (let isOver = false; !isOver; ) {
    void all.then(() => (isOver = true))
    await sandbox.clock.advance('1m')
  }
  return JSON.stringify(sandbox.traffic.toTrace().entries, null, 1)
}

describe('concurrent loops', () => {
  test('leave the same traffic regardless of the number of host pauses', async () => {
    const same = async (given: Program): Promise<void> => {
      const never = await outcome(given, Number.POSITIVE_INFINITY)
      for (const every of [1, 3, 16]) expect(await outcome(given, every)).toBe(never)
    }
    await fc.assert(fc.asyncProperty(program, same), { numRuns: runs(25, 400, 4_000) })
  })
})

describe('a loop of awaited requests', () => {
  const kinds: Readonly<Record<string, (sandbox: Sandbox) => () => Promise<unknown>>> = {
    'sandbox.fetch': (sandbox) => () => ask(sandbox, { ask: 'read', microtasks: 0 }, 1),
    'a Request': (sandbox) => () => sandbox.fetch(new Request(`${sandbox.urls.store}/get/a`)),
    'a body that has to be read': (sandbox) => () =>
      sandbox.fetch(sandbox.urls.store, { method: 'POST', body: new URLSearchParams({ a: '1' }) }),
    'a request to a real host of the vendor, which is refused': (sandbox) => {
      replaceFetch(sandbox)
      return () => fetch('https://eu1-real.upstash.io/get/a').catch(() => {})
    },
    'sandbox.fork()': (sandbox) => async () => {
      ;(await sandbox.fork()).dispose()
    },
    'a request between two resets': (sandbox) => async () => {
      sandbox.reset()
      await ask(sandbox, { ask: 'read', microtasks: 0 }, 1)
    },
    'the replaced fetch, over an SDK': (sandbox) => {
      replaceFetch(sandbox)
      const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = sandbox.env
      const redis = new UpstashRedis({ url: url!, token: token! })
      return () => redis.scan(0)
    },
    'ioredis over ioredisConnector()': (sandbox) => {
      const redis = new Redis({ Connector: ioredisConnector(sandbox) })
      onTestFinished(() => redis.disconnect())
      return () => redis.get('lock')
    },
    'an outbound request': (sandbox) => {
      sandbox.outbound.respond('https://bank.test/*', 503)
      return () => sandbox.outbound.fetch('https://bank.test/')
    },
    'an outbound request that is refused': (sandbox) => () =>
      sandbox.outbound.fetch('https://bank.test/').catch(() => {}),
    'a connection that breaks': (sandbox) => {
      sandbox.faults.add({ on: 'store.request', fault: fault.reset() })
      return () => sandbox.fetch(sandbox.urls.store).catch(() => {})
    },
    'clock.advance()': (sandbox) => () => sandbox.clock.advance(1),
    'clock.advanceTo()': (sandbox) => () => sandbox.clock.advanceTo(sandbox.clock.now() + 1),
    'clock.drain()': (sandbox) => () => sandbox.clock.drain(),
    'clock.settle()': (sandbox) => () => sandbox.clock.settle(),
  }

  test.each(Object.keys(kinds))('lets a due timer fire within 200 rounds: %s', async (kind) => {
    using sandbox = createSandbox({ onWarning() {} })
    const once = kinds[kind]!(sandbox)
    for (let warm = 0; warm < 5; warm++) await once()
    const due = performance.now() + 20
    let hasFired = false
    setTimeout(() => {
      hasFired = true
    }, 20)
    while (performance.now() <= due + 1) {
      // The timer is due when the rounds begin.
    }
    let rounds = 0
    while (!hasFired && rounds < 1_000) {
      await once()
      rounds++
    }
    expect(rounds).toBeLessThanOrEqual(200)
  })

  test('ends with a timeout of the app', async () => {
    using sandbox = createSandbox({ onWarning() {} })
    const signal = AbortSignal.timeout(30)
    const polls = async (): Promise<never> => {
      for (;;) await sandbox.fetch(sandbox.urls.store, { signal })
    }
    await expect(polls()).rejects.toThrow(/timeout/)
  })

  test('observes the effects of time while clock.advance() runs', async () => {
    const warnings: string[] = []
    using sandbox = createSandbox({ onWarning: (text) => warnings.push(text) })
    const at: number[] = []
    sandbox.destinations.on('https://app.test/*', () => {
      sandbox.store.run('SET', 'done', 'yes')
      return new Response()
    })
    sandbox.queue.publish({ to: 'https://app.test/', delay: '5s' })
    const polls = async (): Promise<void> => {
      const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
      for (;;) {
        const response = await sandbox.fetch(`${sandbox.urls.store}/get/done`, { headers })
        if ((await response.text()).includes('yes')) break
      }
      at.push(sandbox.clock.now())
    }
    const polling = polls()
    await sandbox.clock.advance('10s')
    await polling
    expect(at).toEqual([Date.parse('2030-01-01T00:00:05Z')])
    expect(warnings).toEqual([expect.stringMatching(/20,000 responses at 2030-01-01T00:00:00/)])
  })

  const polls: Readonly<Record<string, (sandbox: Sandbox) => Promise<unknown>>> = {
    'the store': (sandbox) => ask(sandbox, { ask: 'read', microtasks: 0 }, 1),
    'the store with a Request': (sandbox) => sandbox.fetch(new Request(`${sandbox.urls.store}/get/a`)),
    'a host of its own': (sandbox) => ask(sandbox, { ask: 'bank', microtasks: 0 }, 1),
  }

  test.each(Object.entries(polls))('in a handler ends with its stall timeout: %s', async (_, poll) => {
    using sandbox = createSandbox({ policy: { handlerStallTimeout: 50 }, onWarning() {} })
    sandbox.outbound.respond('https://bank.test/*', 503)
    let isOver = false
    sandbox.destinations.on('https://app.test/*', async () => {
      while (!isOver) await poll(sandbox)
      return new Response()
    })
    sandbox.queue.publish({ to: 'https://app.test/', retries: 0 })
    await sandbox.clock.drain()
    isOver = true
    expect(sandbox.queue.deadLetters.map(({ response: reply }) => reply?.note)).toEqual([
      expect.stringContaining('handlerStallTimeout'),
    ])
  })

  test.each(Object.entries(polls))('does not keep clock.settle() waiting forever: %s', async (_, poll) => {
    using sandbox = createSandbox({ onWarning() {} })
    sandbox.outbound.respond('https://bank.test/*', 503)
    let isOver = false
    const polling = (async () => {
      while (!isOver) await poll(sandbox)
    })()
    await sandbox.clock.settle()
    isOver = true
    await polling
  })

  test('is processed by the sandbox that it was sent to, also after a reset at the gate', async () => {
    using sandbox = createSandbox({ onWarning() {} })
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    const add = (): Promise<Response> => sandbox.fetch(`${sandbox.urls.store}/incr/hits`, { headers })
    const all = Array.from({ length: 64 }, add)
    for (let round = 0; round < 3; round++) await undefined
    all.push(add())
    sandbox.reset()
    await Promise.all(all)
    expect(sandbox.store.run('GET', 'hits')).toBe(null)
  })
})
