import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'

// Log-in, twice a minute for each name.

export async function logIn(name: string): Promise<Response> {
  const limiter = new Ratelimit({ redis: Redis.fromEnv(), limiter: Ratelimit.slidingWindow(2, '1 m') })
  const { success } = await limiter.limit(name)
  return success ? new Response('welcome') : new Response('later', { status: 429 })
}
