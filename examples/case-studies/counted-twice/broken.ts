import { Redis } from '@upstash/redis'

// Each buyer of a concert ticket gets a number.

export async function buy(visitor: string): Promise<number> {
  const redis = Redis.fromEnv()
  const number = await redis.incr('tickets')
  await redis.hset('visitors', { [number]: visitor })
  return number
}
