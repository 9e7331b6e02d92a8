import { createSandbox, type FaultConditions, type FaultRule, fault, type SandboxOptions } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { catalog } from '../../src/faults/catalog.js'
import { injectionPoints } from '../../src/faults/points.js'

function world(options: SandboxOptions = {}) {
  const sandbox = createSandbox({ onWarning: () => {}, ...options })
  const { clock, faults } = sandbox
  /** Returns for each of this many requests whether a fault was injected, with time between the requests. */
  const pings = async (count: number, apart: number | string = 0): Promise<string> => {
    let out = ''
    for (let index = 0; index < count; index++) {
      const { status: given } = await sandbox.fetch(`${sandbox.urls.store}/ping`, {
        headers: { authorization: `Bearer ${sandbox.tokens.store}` },
      })
      out += given === 503 ? 'x' : '.'
      await clock.advance(apart as never)
    }
    return out
  }
  return { sandbox, clock, faults, pings }
}
const down = (more: FaultConditions = {}): FaultRule => ({ on: 'store.request', fault: fault.status(503), ...more })

describe('counters', () => {
  test.each<[string, FaultConditions, string]>([
    ['none', {}, 'xxxxxxxxxx'],
    ['times', { times: 3 }, 'xxx.......'],
    ['skip', { skip: 2 }, '..xxxxxxxx'],
    ['skip and times', { skip: 2, times: 3 }, '..xxx.....'],
    ['every', { every: 3 }, 'x..x..x..x'],
    ['every of what is not skipped', { skip: 1, every: 4 }, '.x...x...x'],
    ['every so often, so many times', { every: 2, times: 2 }, 'x.x.......'],
    ['certain chance', { chance: [10, 10], times: 2 }, 'xx........'],
  ])('select matches: %s', async (_, more, expected) => {
    const { faults, pings } = world()
    faults.add(down(more))
    expect(await pings(10)).toBe(expected)
  })

  test('do not count requests that do not match', async () => {
    const { faults, pings, sandbox } = world()
    faults.add(down({ match: { command: 'PING' }, skip: 1, times: 1 }))
    await sandbox.fetch(`${sandbox.urls.store}/get/a`, {
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    })
    expect(await pings(3)).toBe('.x.')
  })
})

describe('chance', () => {
  const run = async (seed: number, ...rules: FaultRule[]): Promise<string> => {
    const { faults, pings } = world({ seed })
    faults.add(rules)
    return pings(60)
  }

  test('draws the same for the same seed, and differently for another seed', async () => {
    const rule = down({ chance: [1, 3] })
    const first = await run(1, rule)
    expect(await run(1, rule)).toBe(first)
    expect(await run(2, rule)).not.toBe(first)
    const struck = [...first].filter((mark) => mark === 'x').length
    // One in three of 60 requests: outside of 8 to 32 for one in ten thousand seeds.
    expect(struck > 7 && struck < 33).toBe(true)
  })

  test('draws the same for a rule with a name, regardless of other rules', async () => {
    const rule = down({ name: 'flaky', chance: [1, 3] })
    const quiet: FaultRule = { on: 'queue.delivery', chance: [1, 2], fault: fault.reset() }
    expect(await run(1, quiet, quiet, rule)).toBe(await run(1, rule))
  })
})

describe('windows', () => {
  test.each<[string, FaultConditions, string]>([
    ['from', { from: '3s' }, '...xxxxxxx'],
    ['until, not including it', { until: '3s' }, 'xxx.......'],
    ['from and until', { from: 2000, until: 5000 }, '..xxx.....'],
    ['instants', { from: '2030-01-01T00:00:02Z', until: '2030-01-01T00:00:04Z' }, '..xx......'],
    ['one of each', { from: '1s', until: '2030-01-01T00:00:04Z' }, '.xxx......'],
    ['times within a window', { from: '2s', times: 2 }, '..xx......'],
  ])('limit a rule in time: %s', async (_, more, expected) => {
    const { faults, pings } = world()
    faults.add(down(more))
    expect(await pings(10, '1s')).toBe(expected)
  })

  test('count durations from the addition of the rule', async () => {
    const { faults, pings, clock } = world()
    await clock.advance('1h')
    faults.add(down({ until: '2s' }))
    expect(await pings(4, '1s')).toBe('xx..')
  })

  test('faults.add() throws for a window that ends before the rule begins', () => {
    const { faults } = world()
    expect(() => faults.add(down({ from: '1h', until: '2030-01-01T00:30:00Z' }))).toThrow("until must be after 'from'")
  })

  test.each<[string, string, string]>([
    ['minutes that a pattern names', '*/3 * * * *', 'x..x..x..x'],
    ['an hour in a zone', 'CRON_TZ=Asia/Tokyo 4-6 9 * * *', '....xxx...'],
  ])('limit a rule by cron: %s', async (_, cron, expected) => {
    const { faults, pings } = world()
    faults.add(down({ cron }))
    expect(await pings(10, '1m')).toBe(expected)
  })

  test('include the whole minute of a cron pattern, to its last millisecond', async () => {
    const { faults, pings, clock } = world()
    faults.add(down({ cron: '1 * * * *' }))
    await clock.advance(59_999)
    expect(await pings(2, 1)).toBe('.x')
    await clock.advance(59_998)
    expect(await pings(2, 1)).toBe('x.')
  })
})

describe('adding and removing', () => {
  test('removes rules by handle, by name, by scope, and all of them', async () => {
    const { faults, pings } = world()
    const handle = faults.add(down())
    expect(await pings(1)).toBe('x')
    handle.remove()
    handle.remove()
    expect(await pings(1)).toBe('.')
    faults.add([down({ name: 'night' }), { on: 'queue.request', name: 'night', fault: fault.status(503) }])
    faults.remove('night')
    expect(faults.rules).toEqual([])
    {
      using _ = faults.add(down())
      expect(await pings(1)).toBe('x')
    }
    expect(await pings(1)).toBe('.')
    faults.add(down())
    faults.clear()
    expect([await pings(1), faults.rules]).toEqual(['.', []])
  })

  test('a reset of the sandbox removes all rules', () => {
    const { sandbox } = world()
    sandbox.faults.add(down())
    sandbox.reset()
    expect(sandbox.faults.rules).toEqual([])
  })

  test('faults.add() adds none of several rules if one is invalid', () => {
    const { faults } = world()
    expect(() => faults.add([down(), { on: 'store.request', times: 0, fault: fault.reset() }])).toThrow(
      /faults\.add\(\): rule 2: times.*whole number.*at least 1.*\b0\b/,
    )
    expect(faults.rules).toEqual([])
  })

  test('a point whose rules were removed costs nothing', () => {
    const { faults } = world()
    const handle = faults.add(down())
    expect(Object.keys(faults.activeByPoint)).toEqual(['store.request'])
    handle.remove()
    expect(faults.activeByPoint).toEqual({})
  })
})

describe('the index', () => {
  test('evaluates rules in the order of their addition, regardless of how they are found', async () => {
    const { sandbox, faults } = world()
    const marks: FaultRule[] = [
      { on: 'store.request', name: 'any', fault: fault.latency(0) },
      { on: 'store.request', name: 'command', match: { command: 'get' }, fault: fault.latency(0) },
      { on: 'store.request', name: 'pattern', match: { key: 'us*' }, fault: fault.latency(0) },
      { on: 'store.request', name: 'other key', match: { key: 'order' }, fault: fault.latency(0) },
      { on: 'store.request', name: 'key', match: { key: 'user' }, fault: fault.latency(0) },
      { on: 'store.request', name: 'url', match: { url: 'HTTPS://STORE.test:443/get/user' }, fault: fault.latency(0) },
      { on: 'store.request', name: 'endpoint', match: { path: '/get/user' }, fault: fault.latency(0) },
      { on: 'store.request', name: 'last', match: { method: 'GET' }, fault: fault.latency(0) },
    ]
    faults.add(marks)
    await sandbox.fetch(`${sandbox.urls.store}/get/user?_token=${encodeURIComponent(sandbox.tokens.store)}`)
    expect(sandbox.traffic.ofType('fault').map(({ rule }) => rule)).toEqual(
      marks.map(({ name }) => name).filter((name) => name !== 'other key'),
    )
  })

  test('injects a rule once that is found in two ways', async () => {
    const { sandbox, faults } = world()
    faults.add({ on: 'store.request', match: { command: 'GET' }, fault: fault.latency(0) })
    await sandbox.fetch(`${sandbox.urls.store}/pipeline`, {
      method: 'POST',
      body: '[["GET","a"],["GET","b"]]',
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    })
    expect(sandbox.traffic.ofType('fault')).toHaveLength(1)
  })
})

describe('faults.unused', () => {
  test('names the line, the rule, and the reason', async () => {
    const { faults, pings } = world()
    const declared = (): void => {
      faults.add(down({ match: { key: 'nobody' }, name: 'never' }))
    }
    declared()
    faults.add(down({ skip: 10 }))
    faults.add({ on: 'queue.delivery', fault: fault.lostAck() })
    faults.add(down({ from: '1h' }))
    faults.add(down({ times: 1, skip: 3 }))
    await pings(4)
    const unused = faults.unused
    expect(unused.map(({ rule }) => rule.name ?? rule.fault.kind)).toEqual(['never', 'status', 'lost-ack', 'status'])
    expect(unused[0]!.location).toMatch(/test\/faults\/rules\.test\.ts:\d+:\d+$/)
    for (const { message: sentence, location: line } of unused)
      expect(sentence).toContain(` (${line.replace(/:\d+$/, '')}) was never injected: `)
    const [never, skipped, delivery, late] = unused.map(({ message: sentence }) => sentence) as [
      string,
      string,
      string,
      string,
    ]
    expect(never).toMatch(/'status' "never" on store\.request .*\b4 store requests.*\{"key":"nobody"\}/)
    expect(skipped).toMatch(/matched 4 times.*\{"skip":10\}/)
    expect(delivery).toMatch(/'lost-ack' on queue\.delivery .*no delivery was attempted/)
    expect(late).toMatch(/\b4 store requests.*none.*window/)
    // The advice matches the reason.
    for (const sentence of [never, skipped, late]) expect(sentence).toMatch(/Fix the rule/)
    expect(delivery).toMatch(/nothing was published.*time has not moved.*isn't needed/)
  })

  test('names a service without requests, and does not call the rule wrong', async () => {
    const { faults, sandbox } = world()
    // Direct calls of the test are not requests.
    sandbox.store.run('SET', 'page:home', 'Welcome!')
    faults.add(down())
    const { message: sentence } = faults.unused[0]!
    expect(sentence).toMatch(/no store request was made.*after/)
    expect(sentence).toContain('Either the app skipped the store')
  })

  test('counts from the addition of the rule', async () => {
    const { faults, pings } = world()
    faults.add({ ...down(), match: { key: 'k' } })
    await pings(3)
    faults.add(down({ match: { key: 'nobody' } }))
    expect(faults.unused[1]!.message).toContain('no store request was made')
    await pings(1)
    expect(faults.unused[0]!.message).toContain('4 store requests were made')
    expect(faults.unused[1]!.message).toContain('1 store request was made')
  })

  test('reports an earlier rule that determined the outcome, instead of a mismatch', async () => {
    const { faults, pings } = world()
    faults.add([down({ times: 2 }), down({ name: 'second' }), down({ name: 'third', match: { key: 'nobody' } })])
    await pings(2)
    const told = faults.unused.map(({ message: sentence }) => sentence)
    expect(told[0]).toMatch(/"second".*\b2 times.*an earlier rule/)
    expect(told[1]).toMatch(/"third".*\b2 store requests.*none matched/)
    await pings(1)
    expect(faults.unused.map(({ rule }) => rule.name)).toEqual(['third'])
  })

  test('reports an earlier rule at a wider point of the same event', async () => {
    const { sandbox, faults, clock } = world()
    faults.add([
      { on: 'workflow.step', fault: fault.status(500) },
      { on: 'queue.delivery', fault: fault.lostAck() },
    ])
    const headers = { authorization: `Bearer ${sandbox.tokens.queue}` }
    await sandbox.fetch(`${sandbox.urls.queue}/v2/trigger/https://shop.test/flow`, { method: 'POST', headers })
    await clock.advance('1s')
    for (const { message: sentence } of faults.unused) expect(sentence).not.toContain('no delivery was attempted')
  })

  test('reports a service that was down, instead of missing requests', async () => {
    const { faults, pings, clock } = world()
    const asked = (): Promise<unknown> => pings(1).catch(() => undefined)
    // Requests before and during the downtime.
    faults.add(down({ name: 'before', match: { key: 'k' }, from: '1h' }), { location: '' })
    faults.add({ on: 'store.request', times: 1, fault: fault.restart('1h') })
    await asked()
    faults.add(down({ name: 'while' }))
    await asked()
    const [, during] = faults.unused.map(({ message: sentence }) => sentence)
    expect(during).toContain('service was down')
    await clock.advance('2h')
    faults.add(down({ name: 'after' }))
    expect(faults.unused.at(-1)!.message).toContain('no store request was made')
  })

  test('names each of several points', () => {
    const { faults } = world()
    faults.add({ on: ['store.request', 'queue.request'], fault: fault.status(503) })
    expect(faults.unused[0]!.message).toMatch(/no store request.*no queue request/)
  })

  test.each(injectionPoints)('describes %s', (on) => {
    const { faults } = world()
    const fault = Object.values(catalog).find(({ points }) => (points as readonly string[]).includes(on))!.example
    faults.add({ on, fault: fault as never })
    const { message: sentence } = faults.unused[0]!
    expect(sentence).toMatch(/never injected: no .+\. Either .+ isn't needed/)
  })

  test('does not list a rule with chance after its first draw', async () => {
    const { faults, pings } = world()
    faults.add(down({ chance: [1, 1_000_000] }))
    expect(faults.unused).toHaveLength(1)
    expect(await pings(3)).toBe('...')
    expect(faults.unused).toEqual([])
  })

  test('uses the location that the caller of add() gives', () => {
    const { faults } = world()
    faults.add(down(), { location: 'outage.yaml:12:3' })
    expect(faults.unused[0]!.location).toBe('outage.yaml:12:3')
  })
})

test('the timeline and the diagram show each injection with its rule and its effect', async () => {
  const { sandbox, faults, clock } = world()
  faults.add({ on: 'queue.delivery', name: 'night', times: 1, fault: fault.lostAck() })
  sandbox.destinations.respond('https://shop.test/orders', 200)
  sandbox.queue.publish({ to: 'https://shop.test/orders', retries: 1 })
  await clock.drain()
  expect(sandbox.traffic.timeline()).toMatch(/lost-ack of rule night .*queue\.delivery.*https:\/\/shop\.test\/orders$/m)
  expect(sandbox.traffic.timeline()).toMatch(/work is done.*response is lost$/m)
  for (const format of ['text', 'mermaid'] as const) {
    expect(sandbox.traffic.diagram({ format })).toContain('fault lost-ack at queue.delivery')
  }
  const [entry] = sandbox.traffic.ofType('fault')
  expect(sandbox.traffic.get(entry!.cause!)).toMatchObject({ type: 'attempt', retried: 0 })
})

test('the same seed and rules give the same traffic, byte for byte', async () => {
  const run = async (): Promise<string> => {
    const { sandbox, faults, clock } = world({ seed: 7 })
    faults.add([
      { on: 'queue.delivery', chance: [1, 2], fault: fault.lostAck() },
      { on: 'queue.delivery', fault: fault.latency(500, 400) },
      { on: 'store.request', chance: [1, 2], fault: fault.latency({ min: 1, max: 900 }) },
    ])
    sandbox.destinations.on('https://shop.test/*', async () => {
      const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
      return new Response(await (await sandbox.fetch(`${sandbox.urls.store}/incr/a`, { headers })).text())
    })
    for (let count = 0; count < 20; count++) sandbox.queue.publish({ to: `https://shop.test/${count}` })
    await clock.drain()
    return JSON.stringify(sandbox.traffic.entries)
  }
  const first = await run()
  expect(first.length).toBeGreaterThan(10_000)
  expect(await run()).toBe(first)
})
