import { Client } from '@upstash/qstash'
import { expect, test } from 'stuntdouble/vitest'

const url = 'https://shop.test/orders'

test('delivers a dead letter after the fix', async ({ sandbox: { clock, destinations, queue } }) => {
  const client = new Client()
  destinations.respond(url, 500)
  await client.publishJSON({ url, body: { id: 42 }, retries: 1, label: 'orders' })
  await clock.drain()
  expect(queue).toHaveDeadLetter({ to: url, status: 500, attempts: 2, body: { id: 42 } })

  destinations.respond(url, 200)
  const { messages } = await client.dlq.listMessages({ filter: { label: 'orders', responseStatus: 500 } })
  await client.dlq.retry(messages.map(({ dlqId }) => dlqId))
  await clock.drain()

  expect(queue).toHaveDelivered({ to: url, attempts: [200], body: { id: 42 } })
  expect((await client.dlq.listMessages()).messages).toEqual([])
})
