import { MultiRegionRatelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'
import { createMiddleware } from 'hono/factory'

const { EU_REDIS_REST_URL, EU_REDIS_REST_TOKEN, US_REDIS_REST_URL, US_REDIS_REST_TOKEN } = process.env

const limiter = new MultiRegionRatelimit({
  redis: [
    Redis.fromEnv(),
    new Redis({ url: EU_REDIS_REST_URL!, token: EU_REDIS_REST_TOKEN! }),
    new Redis({ url: US_REDIS_REST_URL!, token: US_REDIS_REST_TOKEN! }),
  ],
  limiter: MultiRegionRatelimit.fixedWindow(5, '1 m'),
})

/** Allows five requests a minute per visitor, in all regions together. The database that answers first decides. */
export const rateLimit = createMiddleware(async (c, next) => {
  const visitor = c.req.header('x-forwarded-for') ?? 'unknown'
  const verdict = await limiter.limit(visitor).catch(() => undefined)
  if (verdict === undefined) return await next() // if all databases are down, visitors are admitted
  // The slower databases get their counts after the response. If one of them is down, `pending` rejects.
  c.executionCtx.waitUntil(verdict.pending.catch((error) => console.warn(`rate limit: ${error}`)))
  c.header('RateLimit-Remaining', String(Math.max(0, verdict.remaining)))
  if (verdict.success) return await next()
  return c.text('too many requests', 429)
})
