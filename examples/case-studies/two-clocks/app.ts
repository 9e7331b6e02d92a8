import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'

// Login, limited to twice a minute per name.

export async function logIn(name: string): Promise<Response> {
  const limiter = new Ratelimit({ redis: Redis.fromEnv(), limiter: Ratelimit.slidingWindow(2, '1 m') })
  const { success } = await limiter.limit(name)
  return success ? new Response('welcome') : new Response('later', { status: 429 })
}
