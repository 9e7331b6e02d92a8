import { Redis } from '@upstash/redis'

// Each buyer of a concert ticket gets a number.

export async function buy(visitor: string): Promise<number> {
  const redis = Redis.fromEnv()
  // The client repeats a request without a response, so the number must be the same for a repeated request.
  await redis.zadd('tickets', { nx: true }, { score: 0, member: visitor })
  return redis.zcard('tickets')
}
