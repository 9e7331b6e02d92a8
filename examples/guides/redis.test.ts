import { Redis } from '@upstash/redis'
import { expect, test } from 'stuntdouble/vitest'

test('a session ends after an hour', async ({ sandbox: { clock, store } }) => {
  const redis = Redis.fromEnv()
  await redis.set('session:7', { name: 'Ada' }, { ex: 3600 })
  expect(store).toHaveKey('session:7', { value: { name: 'Ada' }, ttl: '1h' })

  await clock.advance('59m59s')
  expect(await redis.ttl('session:7')).toBe(1)
  await clock.advance('1s')
  expect(await redis.get('session:7')).toBeNull()
})
