import { Redis } from '@upstash/redis'
import { expect, test } from 'stuntdouble/vitest'

test('counts the visits of a page', async ({ sandbox: { clock, store } }) => {
  const redis = Redis.fromEnv()
  await redis.set('visits:/pricing', 1, { ex: 3600 })
  await redis.incr('visits:/pricing')
  expect(store).toHaveKey('visits:/pricing', { value: 2, ttl: '1h' })

  await clock.advance('1h')
  expect(await redis.get('visits:/pricing')).toBeNull()
})
