import { createSandbox, fault } from 'stuntdouble'
import { expect, test } from 'vitest'

const shop = 'https://shop.test/orders'

test('a fork has the state of the sandbox and continues as the sandbox does', async () => {
  using sandbox = createSandbox({ seed: 3 })
  let calls = 0
  sandbox.destinations.on(shop, async (request, task) => {
    calls++
    const id = request.headers.get('upstash-message-id')
    sandbox.store.run('INCR', 'seen')
    await task.sleep('2s')
    await sandbox.fetch(`${sandbox.urls.store}/rpush/orders/${id}`, {
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    })
    return new Response('no', { status: calls % 3 === 0 ? 200 : 500 })
  })
  sandbox.faults.add({ on: 'queue.delivery', times: 1, skip: 1, fault: fault.lostAck() })
  for (let n = 0; n < 5; n++) {
    sandbox.queue.publish({ to: shop, body: { n }, retries: 3 })
    await sandbox.clock.advance('7s')
    sandbox.store.run('SPOP', 'nothing')
  }
  const before = calls
  using fork = await sandbox.fork()
  expect(calls).toBe(before)
  expect(fork.dump()).toEqual(sandbox.dump())
  expect(JSON.stringify(fork.traffic.toTrace())).toBe(JSON.stringify(sandbox.traffic.toTrace()))
  await sandbox.clock.advance('1h')
  expect(fork.dump()).not.toEqual(sandbox.dump())
})

test('asOf() and fork() throw for an unavailable instant, with the available ones', async () => {
  using sandbox = createSandbox({ policy: { maxTrafficEntries: 20 } })
  await sandbox.clock.advance('1m')
  expect(() => sandbox.asOf('2031-01-01T00:00:00Z')).toThrow('in the future (now is 2030-01-01T00:01:00.000Z)')
  expect(() => sandbox.asOf('-1h')).toThrow('the sandbox began at 2030-01-01T00:00:00.000Z')
  expect(() => sandbox.asOf({ seq: 99 })).toThrow('(got 99)')
  for (let count = 0; count < 30; count++) {
    sandbox.store.run('INCR', 'count')
    await sandbox.clock.advance('1s')
  }
  expect(() => sandbox.asOf('2030-01-01T00:01:01Z')).toThrow(/log dropped.*begins at/)
  expect(sandbox.asOf('-3s').store.get('count')).toBe('28')
  await expect(sandbox.fork({ when: '-5m' } as never)).rejects.toThrow('has no option "when".')
  await expect(sandbox.fork('-5m' as never)).rejects.toThrow(/options must be.*\{ at: '-5m' \}/)
  using forgetful = createSandbox({ journal: false })
  expect(() => forgetful.asOf('-1s')).toThrow('Remove journal: false')
})

test('asOf() is read-only, and rejects scripts', async () => {
  using sandbox = createSandbox()
  sandbox.store.run('RPUSH', 'jobs', 'a', 'b')
  await sandbox.clock.advance('1m')
  sandbox.store.run('LPOP', 'jobs')
  const before = sandbox.asOf('-30s')
  expect(before.store.run('LRANGE', 'jobs', 0, -1)).toEqual(['a', 'b'])
  expect(sandbox.store.diff(before.store.dump()).changed).toHaveLength(1)
  expect(() => before.store.run('LPOP', 'jobs')).toThrow('must be read-only')
  expect(() => before.store.run('EVAL', 'return 1', 0)).toThrow('must be read-only')
  expect(before.now).toBe(sandbox.clock.now() - 30_000)
  expect(before.traffic.timeline()).not.toContain('LPOP')
  using fork = await before.fork()
  expect(fork.store.run('LLEN', 'jobs')).toBe(2)
})

test('an outbound request in flight gets its response at the recorded instant; without one it times out', async () => {
  using sandbox = createSandbox()
  let answer = (_: Response): void => {}
  sandbox.destinations.on(shop, async (_, task) => {
    await task.sleep('10s')
    return new Promise<Response>((resolve) => {
      answer = resolve
    })
  })
  const { id } = sandbox.queue.publish({ to: shop, timeout: '60s', retries: 0 })
  const moving = sandbox.clock.advance('5m')
  while (sandbox.clock.now() < 1893456010000) await new Promise((resolve) => setTimeout(resolve, 5))
  answer(new Response('late'))
  await moving
  using asleep = await sandbox.fork({ at: '2030-01-01T00:00:05Z', destinations: {} })
  expect(asleep.traffic.ofType('attempt').at(-1)?.outcome).toBeUndefined()
  await asleep.clock.advance('5m')
  const [attempt] = asleep.traffic.ofType('attempt')
  expect(attempt?.outcome).toMatchObject({ status: 200, at: 1893456010000 })
  expect(asleep.queue.getMessage(id)?.state).toBe(sandbox.queue.getMessage(id)?.state)
})

test.each(['on', 'respond', 'record'] as const)(
  'destinations of a fork replace what %s() registered',
  async (method) => {
    using sandbox = createSandbox()
    const { destinations, queue } = sandbox
    if (method === 'on') destinations.on(shop, () => new Response(null, { status: 503 }))
    else destinations[method](shop, 503)
    queue.publish({ to: shop, delay: '1m', retries: 0 })
    using fork = await sandbox.fork({ destinations: { 'https://shop.test/*': 201 } })
    await fork.clock.drain()
    expect(fork.traffic.last('attempt')?.outcome?.status).toBe(201)
  },
)

test('keys that the clock found expired expire in a fork as well', async () => {
  using sandbox = createSandbox()
  const { store, clock } = sandbox
  store.run('CONFIG', 'SET', 'notify-keyspace-events', 'KEA')
  store.run('SET', 'brief', 'v', 'PX', 1000)
  await clock.advance('2s')
  store.run('SET', 'plain', 'v')
  using fork = await sandbox.fork()
  expect(fork.dump()).toEqual(sandbox.dump())
})
