import { Redis } from '@upstash/redis'

// Seats of a theater: the app reads the number of free seats and writes the new number.

export async function takeSeat(): Promise<void> {
  const redis = Redis.fromEnv()
  const [left] = await redis.pipeline().get<number>('seats').exec<[number]>()
  await redis
    .multi()
    .set('seats', left - 1)
    .incr('tickets')
    .exec()
}
