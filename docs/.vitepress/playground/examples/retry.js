import { status } from 'stuntdouble'
import { expect, test } from 'stuntdouble/vitest'

// The shop is down twice. The queue tries again, later each time; the clock gets there at once.
test('an order is retried until the shop is back', async ({ sandbox: { clock, destinations, queue } }) => {
  const orders = destinations.record('https://shop.test/orders')
  destinations.script('https://shop.test/orders', [status(503), status(503)])

  queue.publish({ to: 'https://shop.test/orders', body: { id: 42 } })
  await clock.advance('5m')

  expect(orders.last().json()).toEqual({ id: 42 })
  expect(queue).toHaveDelivered({ to: 'https://shop.test/orders', attempts: [503, 503, 200] })
})
