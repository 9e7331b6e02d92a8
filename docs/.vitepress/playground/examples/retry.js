import { fault } from 'stuntdouble'
import { expect, test } from 'stuntdouble/vitest'

// The shop is down twice. The queue tries again, later each time;
// the clock gets there at once.
test('an order waits until the shop is back', async ({ sandbox }) => {
  const { clock, destinations, queue } = sandbox
  const shop = 'https://shop.test/orders'
  const orders = destinations.record(shop)
  destinations.script(shop, [fault.status(503), fault.status(503)])

  queue.publish({ to: shop, body: { id: 42 } })
  await clock.advance('5m')

  expect(orders.last().json()).toEqual({ id: 42 })
  expect(queue).toHaveDelivered({ to: shop, attempts: [503, 503, 200] })
})
