import { Redis } from '@upstash/redis'

// Seats of a theatre: reads how many are left, and writes what it has computed.

export async function takeSeat(): Promise<void> {
  const redis = Redis.fromEnv()
  const [left] = await redis.pipeline().get<number>('seats').exec<[number]>()
  await redis
    .multi()
    .set('seats', left - 1)
    .incr('tickets')
    .exec()
}
