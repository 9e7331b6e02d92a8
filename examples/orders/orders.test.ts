import { fault } from 'stuntdouble'
import { test as base, expect } from 'stuntdouble/vitest'
import { describe } from 'vitest'
import { charge, charged, chargeOnce, checkout, failed, requestShipping, routes } from './shop.ts'

// The story of main.ts as a user of the package would test this shop.

const test = base.override('sandboxOptions', {
  seed: 7,
  startAt: '2030-01-01T09:00:00Z',
  intercept: 'fetch',
})
const order = { id: '4711', cents: 1_990 }

describe('when the answer to the second attempt is lost', () => {
  test('the handler as it was written charges twice', async ({ sandbox: { clock, destinations, queue, store } }) => {
    destinations.on(routes.charge, charge).on(routes.charged, charged)
    destinations.script(routes.charge, [fault.status(500), fault.lostAck(), fault.pass()])

    await checkout(order)
    await clock.drain()

    expect(queue).toHaveDelivered({ to: routes.charge, attempts: 3, status: 200 })
    expect(store).toHaveKey('charged:4711', { value: '3980' })
    expect(store.run('LRANGE', 'reports', 0, -1)).toEqual(['attempt 1: 500', 'attempt 2: 0', 'attempt 3: 200'])
  })

  test('the handler that remembers messages charges once', async ({ sandbox: { clock, destinations, store } }) => {
    destinations.on(routes.charge, chargeOnce).on(routes.charged, charged)
    destinations.script(routes.charge, [fault.status(500), fault.lostAck(), fault.pass()])

    await checkout(order)
    await clock.drain()

    expect(store).toHaveKey('charged:4711', { value: '1990' })
  })
})

test('an order that cannot be shipped ends as a dead letter, and the shop hears of it once', async ({ sandbox }) => {
  const { clock, destinations, queue, store } = sandbox
  destinations.respond(routes.ship, 503).on(routes.failed, failed)

  await requestShipping(order)
  await clock.drain()

  // 12 s, 148 s, 1808 s and 22026 s: the default back-off of four retries.
  expect(clock.now()).toBe(Date.parse('2030-01-01T15:39:54Z'))
  expect(queue).toHaveDeadLetter({ to: routes.ship })
  expect(store.run('SCARD', 'given-up')).toBe(1)
})
