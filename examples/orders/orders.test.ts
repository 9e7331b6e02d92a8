import { fault } from 'stuntdouble'
import { test as base, expect } from 'stuntdouble/vitest'
import { describe } from 'vitest'
import { charge, charged, chargeOnce, checkout, failed, requestShipping, routes } from './shop.ts'

// Tests of the shop for the outage of main.ts.

const test = base.override('sandboxOptions', {
  seed: 7,
  startAt: '2030-01-01T09:00:00Z',
  intercept: 'fetch',
})
const order = { id: '4711', cents: 1_990 }

describe('a lost response to the second attempt', () => {
  test('makes the simple handler charge twice', async ({ sandbox: { clock, destinations, queue, store } }) => {
    destinations.on(routes.charge, charge).on(routes.charged, charged)
    destinations.script(routes.charge, [fault.status(500), fault.lostAck(), fault.pass()])

    await checkout(order)
    await clock.drain()

    expect(queue).toHaveDelivered({ to: routes.charge, attempts: 3, status: 200 })
    expect(store).toHaveKey('charged:4711', { value: '3980' })
    expect(store.run('LRANGE', 'reports', 0, -1)).toEqual(['attempt 1: 500', 'attempt 2: 0', 'attempt 3: 200'])
  })

  test('makes the handler that remembers messages charge once', async ({ sandbox: { clock, destinations, store } }) => {
    destinations.on(routes.charge, chargeOnce).on(routes.charged, charged)
    destinations.script(routes.charge, [fault.status(500), fault.lostAck(), fault.pass()])

    await checkout(order)
    await clock.drain()

    expect(store).toHaveKey('charged:4711', { value: '1990' })
  })
})

test('moves an order that cannot be shipped to the dead-letter queue and notifies the shop once', async ({
  sandbox,
}) => {
  const { clock, destinations, queue, store } = sandbox
  destinations.respond(routes.ship, 503).on(routes.failed, failed)

  await requestShipping(order)
  await clock.drain()

  // The default backoff of four retries is 12 s, 148 s, 1,808 s and 22,026 s.
  expect(clock.now()).toBe(Date.parse('2030-01-01T15:39:54Z'))
  expect(queue).toHaveDeadLetter({ to: routes.ship })
  expect(store.run('SCARD', 'given-up')).toBe(1)
})
