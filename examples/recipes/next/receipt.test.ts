import { fault } from 'stuntdouble'
import { expect, test } from 'vitest'
import { sandbox } from './sandbox.ts'

// Import the routes after the sandbox, because both read the environment on import.

import { POST as order } from './app/api/orders/route.ts'
import { POST as receipt } from './app/api/receipt/route.ts'

const url = 'https://shop.test/api/receipt'
const tea = { id: 42, cents: 1990 }

/** Sends an order as a browser does. */
const buy = () => order(new Request('https://shop.test/api/orders', { method: 'POST', body: JSON.stringify(tea) }))

test('writes the receipt of an order in the background', async () => {
  const { clock, destinations, queue, store } = sandbox
  destinations.on(url, receipt)
  expect((await buy()).status).toBe(202)
  expect(store).not.toHaveKey('receipt:42')

  await clock.drain()
  expect(queue).toHaveDelivered({ to: url, attempts: [200] })
  expect(store).toHaveKey('receipt:42', { value: '19.90 EUR' })
})

test('rejects an unsigned request', async () => {
  const body = JSON.stringify({ id: 43, cents: 1 })
  const unsigned = await receipt(new Request(url, { method: 'POST', body }))
  expect(unsigned.status).toBe(403)
  expect(sandbox.store).not.toHaveKey('receipt:43')
})

test('rejects a changed body and accepts the next attempt', async () => {
  const { clock, destinations, faults, queue, store } = sandbox
  destinations.on(url, receipt)
  faults.add({ on: 'queue.delivery', times: 1, fault: fault.badSignature('body') })
  await buy()
  await clock.advance('1s')
  expect(store).not.toHaveKey('receipt:42')

  await clock.drain()
  expect(queue).toHaveDelivered({ to: url, attempts: [500, 200] })
})
