import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import type { Bytes } from '../../src/kernel/bytes.js'

async function expectSame(sandbox: Sandbox): Promise<void> {
  using fork = await sandbox.fork()
  expect(fork.dump()).toEqual(sandbox.dump())
  expect(JSON.stringify(fork.traffic.toTrace())).toBe(JSON.stringify(sandbox.traffic.toTrace()))
}

test('a fork has a data store that was loaded', async () => {
  using sandbox = createSandbox()
  sandbox.store.run('RPUSH', 'jobs', 'a', 'b')
  sandbox.store.load(sandbox.store.dump())
  sandbox.store.run('RPUSH', 'jobs', 'c')
  await expectSame(sandbox)
})

test('a fork has an outbound request that the app aborted, and the reason', async () => {
  using sandbox = createSandbox()
  sandbox.outbound.on('https://bank.test/*', async (_, task) => {
    await task.sleep('10s')
    return new Response('late')
  })
  const app = new AbortController()
  const charged = sandbox.outbound.fetch('https://bank.test/charge', { signal: app.signal }).catch(String)
  await sandbox.clock.advance('1s')
  app.abort(new Error('no time for it'))
  await charged
  await sandbox.clock.advance('1m')
  expect(sandbox.traffic.timeline()).toContain('no time for it')
  await expectSame(sandbox)
})

class Order {
  state = 'new'
}

class Money {
  cents = 5
  toJSON(): string {
    return `${this.cents} cents`
  }
}

test('a fork uses arguments as they were at the call, regardless of later changes', async () => {
  using sandbox = createSandbox()
  const [bytes, order, money] = [Buffer.from('abc'), new Order(), new Money()]
  const [url, day] = [new URL('https://shop.test/orders'), new Date(0)]
  sandbox.destinations.respond(url, 200)
  sandbox.store.run('SET', 'bytes', bytes)
  for (const body of [bytes, order, money, { order, money, day }]) {
    sandbox.queue.publish({ to: 'https://shop.test/orders', body })
  }
  bytes.fill(0)
  order.state = 'paid'
  money.cents = 0
  url.pathname = '/elsewhere'
  day.setTime(1)
  await sandbox.clock.drain()
  await expectSame(sandbox)
})

test('a fork loads the dump as it was when it was loaded', async () => {
  using sandbox = createSandbox()
  sandbox.store.run('SET', 'stock', '5')
  const [world, stored] = [sandbox.dump(), sandbox.store.dump()]
  sandbox.load(world)
  sandbox.store.load(stored)
  await sandbox.clock.advance('1m')
  Object.assign(world, { store: undefined })
  Object.assign(stored, { keys: [] })
  expect(sandbox.asOf('-30s').store.get('stock')).toBe('5')
  await expectSame(sandbox)
})

test('asOf() does not show what ended later', async () => {
  using sandbox = createSandbox()
  sandbox.destinations.on('https://shop.test/orders', async (_, task) => {
    await task.sleep('10s')
    return new Response('late')
  })
  sandbox.queue.publish({ to: 'https://shop.test/orders' })
  await sandbox.clock.advance('1m')
  const [attempt] = sandbox.asOf('-55s').traffic.ofType('attempt')
  expect(attempt).toBeDefined()
  expect(attempt?.outcome).toBeUndefined()
  expect(sandbox.asOf('-45s').traffic.ofType('attempt')[0]?.outcome?.status).toBe(200)
})

test('a fork right after an entry that a handler wrote equals asOf() at that entry', async () => {
  using sandbox = createSandbox()
  sandbox.destinations.on('https://shop.test/orders', () => {
    sandbox.store.run('INCR', 'first')
    sandbox.store.run('INCR', 'second')
    return new Response()
  })
  sandbox.queue.publish({ to: 'https://shop.test/orders' })
  await sandbox.clock.drain()
  for (const { seq } of sandbox.traffic.entries) {
    using fork = await sandbox.fork({ at: { seq } })
    expect(fork.store.dump()).toEqual(sandbox.asOf({ seq }).store.dump())
  }
})

test('a fork has concurrent outbound requests, some of which end while time begins to move', async () => {
  using sandbox = createSandbox()
  sandbox.outbound.on('https://bank.test/*', async (_, task) => {
    await task.sleep('1s')
    return new Response()
  })
  sandbox.outbound.script('https://bank.test/charge', [500, 503])
  sandbox.outbound.respond('https://mail.test/*', 201)
  const urls = ['bank.test/charge', 'bank.test/charge', 'bank.test/charge', 'mail.test/send']
  const made = Promise.all(urls.map((url) => sandbox.outbound.fetch(`https://${url}`, { method: 'POST' })))
  await sandbox.clock.drain()
  await made
  await expectSame(sandbox)
})

test('a fork has a handler that ends while a part of it sleeps', async () => {
  using sandbox = createSandbox()
  sandbox.destinations.on('https://shop.test/orders', (_, task) => {
    void task.sleep('2s').then(() => sandbox.store.run('INCR', 'late'))
    return new Response('ok')
  })
  sandbox.queue.publish({ to: 'https://shop.test/orders' })
  await sandbox.clock.advance('1s')
  await sandbox.clock.advance('10m')
  await expectSame(sandbox)
})

test('asOf() before a key expired shows it, also after an asOf() that did not', async () => {
  using sandbox = createSandbox()
  sandbox.store.run('SET', 'lock', 'mine', 'PX', 100)
  sandbox.store.run('HSET', 'hash', 'brief', '1', 'long', '2')
  sandbox.store.run('HPEXPIRE', 'hash', 100, 'FIELDS', 1, 'brief')
  await sandbox.clock.advance('1s')
  expect(sandbox.asOf('-1ms').store.dump().keys).toHaveLength(1)
  expect(sandbox.asOf('-1s').store.get('lock')).toBe('mine')
  expect(sandbox.asOf('-1s').store.run('HGET', 'hash', 'brief')).toBe('1')
  expect(sandbox.asOf('-1ms').store.get('lock')).toBeNull()
})

test('a fork reports the line of an unhandled publish, and the line of a fault rule', async () => {
  using sandbox = createSandbox()
  sandbox.faults.add({ on: 'queue.delivery', times: 1, fault: fault.status(503) })
  sandbox.queue.publish({ to: 'https://nobody.test/', retries: 1 })
  await sandbox.clock.drain()
  expect(sandbox.traffic.timeline()).toContain('fork-inputs.test.ts')
  await expectSame(sandbox)
  using fork = await sandbox.fork()
  expect(fork.faults.rules).toEqual(sandbox.faults.rules)
})

test('a fork has a stream whose reader disconnected before it began', async () => {
  using sandbox = createSandbox()
  const { urls, tokens } = sandbox
  const headers = [
    ['authorization', `Bearer ${tokens.store}`],
    ['accept', 'text/event-stream'],
  ] as const
  const url = `${urls.store}/subscribe/news`
  const answer = sandbox.exchange({ method: 'GET', url, headers, body: () => '' as Bytes, signal: AbortSignal.abort() })
  await Promise.resolve(answer).catch(() => {})
  sandbox.store.run('PUBLISH', 'news', 'hello')
  await sandbox.clock.advance('2m')
  sandbox.store.run('SET', 'later', '1')
  await expectSame(sandbox)
})

test('a fork has a hanging request that was aborted before it began', async () => {
  using sandbox = createSandbox()
  const { urls, tokens } = sandbox
  sandbox.faults.add({ on: 'store.request', times: 1, fault: fault.hang() })
  const headers = [['authorization', `Bearer ${tokens.store}`]] as const
  const url = `${urls.store}/incr/slow`
  const call = { method: 'GET', url, headers, body: () => '' as Bytes, signal: AbortSignal.abort() }
  void Promise.resolve(sandbox.exchange(call)).catch(() => {})
  await sandbox.clock.settle()
  sandbox.store.run('SET', 'later', '1')
  await sandbox.clock.advance('1m')
  await expectSame(sandbox)
})

test('a fork has an outbound request that the app had aborted before it began, and the reason', async () => {
  using sandbox = createSandbox()
  sandbox.outbound.on('https://bank.test/*', () => new Response('late'))
  sandbox.faults.add({ on: 'outbound.request', times: 1, fault: fault.latency('7s') })
  const signal = AbortSignal.abort(new Error('no time for it'))
  const call = { method: 'POST', url: 'https://bank.test/charge', headers: [], body: () => '' as Bytes, signal }
  void sandbox.outbound.exchange(call).catch(() => {})
  await sandbox.clock.settle()
  sandbox.store.run('SET', 'later', '1')
  await sandbox.clock.advance('1m')
  expect(sandbox.traffic.timeline()).toContain('no time for it')
  await expectSame(sandbox)
})
