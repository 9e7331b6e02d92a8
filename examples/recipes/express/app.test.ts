import { fault } from 'stuntdouble'
import { nodeListener } from 'stuntdouble/node'
import { beforeEach, expect, test } from 'vitest'
import { sandbox } from './sandbox.ts'

// Import the app after the sandbox, because it reads its environment on import.

import { app } from './app.ts'

const hook = 'https://shop.test/hooks/charge'
const charges = 'https://bank.test/charges'

// Runs the app for one request, without a port.
const ask = nodeListener(app)

beforeEach(() => {
  const { outbound, destinations } = sandbox
  destinations.on('https://shop.test/*', ask)
  outbound.respond(charges, 201)
})

const headers = { 'content-type': 'application/json' }
const order = JSON.stringify({ id: 42, cents: 1990 })
const buy = () => ask(new Request('https://shop.test/orders', { method: 'POST', headers, body: order }))

test('charges an order in the background', async () => {
  const { clock, queue, store } = sandbox
  expect((await buy()).status).toBe(202)
  expect(sandbox).not.toHaveOutboundRequest(charges)
  await clock.drain()
  expect(queue).toHaveDelivered({ to: hook, attempts: [200] })
  expect(sandbox).toHaveOutboundRequest({ url: charges, body: { id: 42, cents: 1990 } }, { times: 1 })
  expect(store).toHaveKey('charged:42', { ttl: '7d' })
})

test('is retried by the queue while the bank is down for two attempts', async () => {
  const { outbound, clock, queue } = sandbox
  outbound.script(charges, [fault.status(503), fault.status(503)])
  await buy()
  await clock.drain()
  expect(queue).toHaveDelivered({ to: hook, attempts: [503, 503, 200] })
})

test('does not charge again after a lost response to the queue', async () => {
  const { clock, destinations, queue } = sandbox
  destinations.script(hook, [fault.lostAck()])
  await buy()
  await clock.drain()
  expect(queue).toHaveDelivered({ to: hook, attempts: [0, 200], response: 'charged before' })
  expect(sandbox).toHaveOutboundRequest(charges, { times: 1 })
})

test('rejects a forged delivery', async () => {
  const { clock, faults, queue } = sandbox
  faults.add({ on: 'queue.delivery', times: 1, fault: fault.badSignature('body') })
  await buy()
  await clock.drain()
  expect(queue).toHaveDelivered({ to: hook, attempts: [401, 200] })
})

test('verifies the raw body including blanks', async () => {
  const { clock, queue } = sandbox
  queue.publish({ to: hook, body: '{ "id": 43, "cents": 20.00 }', headers })
  await clock.drain()
  expect(queue).toHaveDelivered({ to: hook, attempts: [200] })
})
