import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

/** Makes six SDK calls, as a user's handler does. */
export async function sixCalls(number: number): Promise<void> {
  const redis = Redis.fromEnv({ enableTelemetry: false })
  await redis.set(`order:${number}`, { id: number, state: 'open' }, { ex: 60 })
  await redis.incr('orders')
  await redis.hset(`customer:${number}`, { name: 'Ada', orders: 1 })
  await redis.get(`order:${number}`)
  await redis.expire(`customer:${number}`, 60)
  await new Client().publishJSON({ url: 'https://shop.test/orders', body: { id: number }, retries: 3 })
}
