import { Client } from '@upstash/qstash'
import { expect, test } from 'stuntdouble/vitest'

const url = 'http://127.0.0.1:3000/orders'

test('retries an order until the shop is back', async ({ sandbox: { clock, destinations, queue } }) => {
  destinations.respond(url, 200).script(url, [503])
  await new Client().publishJSON({ url, body: { id: 42 } })
  await clock.advance('12s')
  expect(queue).toHaveDelivered({ to: url, attempts: [503, 200] })
})
