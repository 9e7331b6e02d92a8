import { Client } from '@upstash/qstash'
import { expect, test } from 'stuntdouble/vitest'

test('retries an order until the shop is back', async ({ sandbox: { clock, destinations, queue } }) => {
  const orders = destinations.record('https://shop.test/orders')
  destinations.script('https://shop.test/orders', [503, 503])
  await new Client().publishJSON({ url: 'https://shop.test/orders', body: { id: 42 } })
  await clock.advance('5m')
  expect(orders.last().json()).toEqual({ id: 42 })
  expect(queue).toHaveDelivered({ to: 'https://shop.test/orders', attempts: 3, status: 200 })
})
