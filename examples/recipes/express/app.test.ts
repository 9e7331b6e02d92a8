import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { badSignature, lostAck, status } from 'stuntdouble'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { sandbox } from './sandbox.ts'

// After the sandbox: the app reads its environment as it loads.

import { app } from './app.ts'

const hook = 'https://shop.test/hooks/charge'
const charges = 'https://bank.test/charges'

// Express takes no Request, so it listens, at a port that is free.
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
afterAll(() => void server.close())

beforeEach(() => {
  const { outbound, destinations } = sandbox
  destinations.on('https://shop.test/*', (request) => fetch(request.url.replace('https://shop.test', origin), request))
  outbound.respond(charges, 201)
})

const headers = { 'content-type': 'application/json' }
const buy = () => fetch(`${origin}/orders`, { method: 'POST', headers, body: JSON.stringify({ id: 42, cents: 1990 }) })

test('an order is charged in the background', async () => {
  const { clock, queue, store } = sandbox
  expect((await buy()).status).toBe(202)
  expect(sandbox).not.toHaveCalled(charges)
  await clock.drain()
  expect(queue).toHaveDelivered({ to: hook, attempts: [200] })
  expect(sandbox).toHaveCalled({ to: charges, body: { id: 42, cents: 1990 } }, { times: 1 })
  expect(store).toHaveKey('charged:42', { ttl: '7d' })
})

test('the bank is down for two attempts, and the queue comes again', async () => {
  const { outbound, clock, queue } = sandbox
  outbound.script(charges, [status(503), status(503)])
  await buy()
  await clock.drain()
  expect(queue).toHaveDelivered({ to: hook, attempts: [503, 503, 200] })
})

test('the answer to the queue gets lost, and the bank is not asked again', async () => {
  const { clock, destinations, queue } = sandbox
  destinations.script(hook, [lostAck()])
  await buy()
  await clock.drain()
  expect(queue).toHaveDelivered({ to: hook, attempts: [0, 200], response: 'charged before' })
  expect(sandbox).toHaveCalled(charges, { times: 1 })
})

test('a forged delivery is refused', async () => {
  const { clock, faults, queue } = sandbox
  faults.add({ on: 'queue.delivery', times: 1, fault: badSignature('body') })
  await buy()
  await clock.drain()
  expect(queue).toHaveDelivered({ to: hook, attempts: [401, 200] })
})

test('a body is verified as it came, blanks and all', async () => {
  const { clock, queue } = sandbox
  queue.publish({ to: hook, body: '{ "id": 43, "cents": 20.00 }', headers })
  await clock.drain()
  expect(queue).toHaveDelivered({ to: hook, attempts: [200] })
})
