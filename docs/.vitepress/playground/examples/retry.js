import { fault } from 'stuntdouble'
import { expect, test } from 'stuntdouble/vitest'

// The shop fails twice. The queue retries after longer and longer
// delays, which pass immediately on the virtual clock.
test('an order is retried until the shop is back', async ({ sandbox }) => {
  const { clock, destinations, queue } = sandbox
  const shop = 'https://shop.test/orders'
  const orders = destinations.record(shop)
  destinations.script(shop, [fault.status(503), fault.status(503)])

  queue.publish({ to: shop, body: { id: 42 } })
  await clock.advance('5m')

  expect(orders.last().json()).toEqual({ id: 42 })
  expect(queue).toHaveDelivered({ to: shop, attempts: [503, 503, 200] })
})
