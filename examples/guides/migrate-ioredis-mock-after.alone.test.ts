import { Redis } from 'ioredis'
import { expect, test } from 'stuntdouble/vitest'
import { vi } from 'vitest'

vi.mock('ioredis', async (actual) => (await import('stuntdouble/ioredis')).replaceIoredis(await actual()))

// The app is unchanged.
const redis = new Redis({ host: 'db.shop.test', keyPrefix: 'shop:' })

async function addToCart(user: string, product: string): Promise<void> {
  await redis.multi().rpush(`cart:${user}`, product).expire(`cart:${user}`, '3600').exec()
}

async function cartOf(user: string): Promise<string[]> {
  return redis.lrange(`cart:${user}`, 0, -1)
}

test('keeps a cart for an hour', async ({ sandbox: { clock, store } }) => {
  await addToCart('ada', 'tea')
  expect(await cartOf('ada')).toEqual(['tea'])
  expect(store).toHaveKey('shop:cart:ada', { ttl: '1h' })

  await clock.advance('1h')
  expect(await cartOf('ada')).toEqual([])
})

test('begins with an empty cart', async ({ sandbox: { store } }) => {
  expect(await cartOf('ada')).toEqual([])
  expect(store).toHaveExecuted('LRANGE', 'shop:cart:ada')
})
