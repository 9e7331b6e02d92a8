import { createSandbox, fault } from 'stuntdouble'
import { connect } from 'stuntdouble/client'
import { startServer } from 'stuntdouble/server'
import { expect, test } from 'stuntdouble/vitest'
import { describe } from 'vitest'

// The fixes of docs/troubleshooting.md. Another test checks that the page shows them unchanged.

test('delivers to a registered destination', async ({ sandbox: { clock, destinations, queue } }) => {
  destinations.record('https://shop.test/orders')
  queue.publish({ to: 'https://shop.test/orders', body: { id: 42 } })
  await clock.drain()
  expect(queue).toHaveDelivered({ to: 'https://shop.test/orders' })
})

test('responds to a request of the app', async ({ sandbox: { outbound } }) => {
  outbound.respond('POST https://bank.test/charges', 201)
  const { status } = await fetch('https://bank.test/charges', { method: 'POST' })
  expect(status).toBe(201)
})

test('injects the fault before the request', async ({ sandbox: { env, faults } }) => {
  faults.add({ on: 'store.request', times: 1, fault: fault.status(503) })
  const { status } = await fetch(`${env.UPSTASH_REDIS_REST_URL}/get/cart`)
  expect(status).toBe(503)
})

test('delivers everything before the test ends', async ({ sandbox: { clock, destinations, queue } }) => {
  destinations.record('https://shop.test/orders')
  queue.publish({ to: 'https://shop.test/orders', delay: '2d' })
  await clock.drain()
  expect(queue).toHaveDelivered({ to: 'https://shop.test/orders' })
})

test('moves time while the app waits', async ({ sandbox: { clock, env, faults } }) => {
  faults.add({ on: 'store.request', times: 1, fault: fault.latency('3m') })
  const request = fetch(`${env.UPSTASH_REDIS_REST_URL}/ping`, {
    headers: { authorization: `Bearer ${env.UPSTASH_REDIS_REST_TOKEN}` },
  })
  await clock.advance('5m')
  const { status } = await request
  expect(status).toBe(200)
})

describe('a handler that sleeps', () => {
  test('responds after a minute of virtual time', async ({ sandbox: { clock, destinations, queue } }) => {
    destinations.on('https://shop.test/slow', async (_request, task) => {
      await task.sleep('1m')
      return new Response('done')
    })
    queue.publish({ to: 'https://shop.test/slow' })
    await clock.advance('2m')
    expect(queue).toHaveDelivered({ to: 'https://shop.test/slow' })
  })
})

test('starts no earlier than the dump', () => {
  using first = createSandbox({ startAt: '2030-01-02T00:00:00Z' })
  first.queue.publish({ to: 'https://shop.test/orders', delay: '1d' })
  using second = createSandbox({ startAt: '2030-01-02T00:00:00Z' })
  second.queue.load(first.queue.dump())
  expect(second.queue.messages).toHaveLength(1)
})

test('listens on a free port', async () => {
  await using server = await startServer({ port: 0, clock: 'manual' })
  await using sandbox = await connect(server.origin, { tenant: 'w1' })
  await sandbox.clock.advance('5m')
  expect(await sandbox.snapshot()).toBeIdle()
})
