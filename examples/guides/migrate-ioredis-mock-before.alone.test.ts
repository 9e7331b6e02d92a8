import { Redis } from 'ioredis'
import { afterEach, expect, test, vi } from 'vitest'

vi.mock('ioredis', async () => ({ Redis: (await import('ioredis-mock')).default }))

// The app. It is usually in a file of its own, and creates its client when it is imported.
const redis = new Redis({ host: 'db.shop.test', keyPrefix: 'shop:' })

async function addToCart(user: string, product: string): Promise<void> {
  await redis.multi().rpush(`cart:${user}`, product).expire(`cart:${user}`, '3600').exec()
}

async function cartOf(user: string): Promise<string[]> {
  return redis.lrange(`cart:${user}`, 0, -1)
}

afterEach(() => redis.flushall())

test('keeps a cart', async () => {
  await addToCart('ada', 'tea')
  expect(await cartOf('ada')).toEqual(['tea'])
  expect(await redis.ttl('cart:ada')).toBe(3600)
})

test('begins with an empty cart', async () => {
  expect(await cartOf('ada')).toEqual([])
})
