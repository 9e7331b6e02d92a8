import { Redis } from '@upstash/redis'

// Seats of a theater: the store computes the new number in one command.

export async function takeSeat(): Promise<void> {
  const redis = Redis.fromEnv()
  await redis.multi().decr('seats').incr('tickets').exec()
}
