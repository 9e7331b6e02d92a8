import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { expect, test, vi } from 'vitest'

const { get, set, publishJSON } = vi.hoisted(() => ({ get: vi.fn(), set: vi.fn(), publishJSON: vi.fn() }))
vi.mock('@upstash/redis', () => ({ Redis: { fromEnv: () => ({ get, set }) } }))
vi.mock('@upstash/qstash', () => ({
  Client: class {
    publishJSON = publishJSON
  },
}))

// The app. It is usually in a file of its own.
interface Order {
  readonly id: number
  readonly email: string
}

async function placeOrder(order: Order): Promise<void> {
  await Redis.fromEnv().set(`order:${order.id}`, JSON.stringify(order), { ex: 7 * 24 * 60 * 60 })
  await new Client().publishJSON({ url: 'https://shop.test/receipt', body: { id: order.id }, delay: '1h' })
}

async function sendReceipt(request: Request): Promise<Response> {
  const { id } = (await request.json()) as { id: number }
  const order: Order = JSON.parse((await Redis.fromEnv().get<string>(`order:${id}`)) ?? 'null')
  return new Response(`sent to ${order.email}`)
}

test('sends a receipt after an hour', async () => {
  const order = { id: 42, email: 'ada@shop.test' }
  await placeOrder(order)
  expect(set).toHaveBeenCalledWith('order:42', JSON.stringify(order), { ex: 604_800 })
  expect(publishJSON).toHaveBeenCalledWith({ url: 'https://shop.test/receipt', body: { id: 42 }, delay: '1h' })

  get.mockResolvedValue(JSON.stringify(order))
  const request = new Request('https://shop.test/receipt', { method: 'POST', body: '{"id":42}' })
  expect(await (await sendReceipt(request)).text()).toBe('sent to ada@shop.test')
})
