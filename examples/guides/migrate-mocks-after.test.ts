import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { fault } from 'stuntdouble'
import { expect, test } from 'stuntdouble/vitest'

const url = 'https://shop.test/receipt'

interface Order {
  readonly id: number
  readonly email: string
}

async function placeOrder(order: Order): Promise<void> {
  await Redis.fromEnv().set(`order:${order.id}`, JSON.stringify(order), { ex: 7 * 24 * 60 * 60 })
  await new Client().publishJSON({ url, body: { id: order.id }, delay: '1h' })
}

async function sendReceipt(request: Request): Promise<Response> {
  const { id } = (await request.json()) as { id: number }
  const redis = Redis.fromEnv()
  const order = await redis.get<Order>(`order:${id}`) // get() has parsed the JSON
  if (order === null) return new Response('no such order', { status: 404 })
  const isFirst = await redis.set(`receipt:${id}`, 'sent', { nx: true, ex: 7 * 24 * 60 * 60 })
  return new Response(isFirst ? `sent to ${order.email}` : 'sent before')
}

test('sends a receipt after an hour', async ({ sandbox: { clock, destinations, queue, store } }) => {
  destinations.on(url, sendReceipt)
  await placeOrder({ id: 42, email: 'ada@shop.test' })
  expect(store).toHaveKey('order:42', { ttl: '7d' })

  await clock.advance('1h')
  expect(queue).toHaveDelivered({ to: url, attempts: [200], response: 'sent to ada@shop.test' })
})

test('sends one receipt although the first response is lost', async ({ sandbox: { clock, destinations, queue } }) => {
  destinations.on(url, sendReceipt).script(url, [fault.lostAck()])
  await placeOrder({ id: 42, email: 'ada@shop.test' })
  await clock.drain()
  expect(queue).toHaveDelivered({ to: url, attempts: [0, 200], response: 'sent before' })
})
