import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, type RemoteSandbox } from 'stuntdouble/client'
import { type StuntdoubleServer, startServer } from 'stuntdouble/server'
import { afterEach, beforeEach, expect, test } from 'vitest'

let server: StuntdoubleServer
let sandbox: RemoteSandbox

beforeEach(async () => {
  server = await startServer({ port: 0, clock: 'manual' })
  sandbox = await connect(server.origin)
})
afterEach(() => server.close())

test('asOf() of a connected sandbox stays at its instant while time advances', async () => {
  await sandbox.store.run('SET', 'stock', '5')
  await sandbox.clock.advance('10s')
  const [past, now] = [sandbox.asOf('-5s'), sandbox.asOf('-0s')]
  expect(await past.store.get('stock')).toBe('5')
  expect(await now.store.get('stock')).toBe('5')
  await sandbox.store.run('SET', 'stock', '4')
  await sandbox.clock.advance('1m')
  await sandbox.store.run('SET', 'stock', '3')
  for (const look of [past, now]) {
    expect(await look.store.get('stock')).toBe('5')
    expect((await look.store.dump()).keys).toHaveLength(1)
    const fork = await look.fork()
    expect(await fork.store.get('stock')).toBe('5')
  }
  expect((await (await past.fork()).clock.now()) - (await (await now.fork()).clock.now())).toBe(-5000)
})

test('asOf() of a connected sandbox throws after a reset', async () => {
  await sandbox.clock.advance('10s')
  const past = sandbox.asOf('-5s')
  await past.store.get('stock')
  await sandbox.reset()
  await sandbox.clock.advance('10s')
  await expect(past.store.get('stock')).rejects.toThrow("Can't go back to 2030")
  await expect(past.fork()).rejects.toThrow('call sandbox.asOf() again')
  const wrong = sandbox.asOf('+5s' as never)
  await expect(wrong.store.get('stock')).rejects.toThrow('-5m')
  await expect(sandbox.asOf({ seq: 99 }).fork()).rejects.toThrow('(got 99)')
})

test('fork() of a fork creates another tenant', async () => {
  await sandbox.destinations.respond('https://shop.test/*', 200)
  const { id } = await sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '30s' })
  await sandbox.clock.advance('10s')
  const first = await sandbox.fork({ name: 'first' })
  await first.clock.advance('1m')
  const second = await first.fork({ at: '-55s' })
  const third = await second.fork()
  await third.clock.advance('55s')
  for (const fork of [first, third]) expect(await fork.queue.getMessage(id)).toBeUndefined()
  const { keys: _, ...queue } = (await third.dump()).queue
  expect((await first.dump()).queue).toMatchObject(queue)
  expect(await sandbox.queue.getMessage(id)).toBeDefined()
})

test('nothing leaves a fork unless it may deliver as its tenant does', async () => {
  const received: string[] = []
  const app = createServer((request, response) => {
    received.push(request.url!)
    response.end()
  }).listen(0, '127.0.0.1')
  await once(app, 'listening')
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}`
  try {
    await sandbox.queue.publish({ to: `${url}/of-the-tenant`, delay: '10s' })
    await (await sandbox.fork()).clock.advance('1m')
    expect(received).toEqual([])
    await (await sandbox.fork({ deliverTo: true })).clock.advance('1m')
    expect(received).toEqual(['/of-the-tenant'])
    await expect(sandbox.fork({ deliver: true } as never)).rejects.toThrow('deliverTo')
  } finally {
    app.close()
  }
})

test('POST /store/as-of rejects an unknown instant without side effects', async () => {
  await sandbox.store.run('SET', 'a', '1')
  const post = (at: unknown): Promise<Response> =>
    fetch(`${server.origin}/_control/main/store/as-of`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ at }),
    })
  const at = await sandbox.clock.now()
  for (const place of [
    { world: 7, end: 0, at },
    { world: 0, end: 1e9, at },
    { world: 0, end: -1, at },
    { world: 0, end: 0.5, at },
    { world: 0, end: 0, at: 1e300 },
    { world: 0, end: 0, at: -1 },
    { world: 0, end: 0, at: at + 5000 },
    { world: 0, end: 0 },
  ]) {
    const answer = await post(place)
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
  }
  expect(await sandbox.store.get('a')).toBe('1')
})
