import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'
import { createMiddleware } from 'hono/factory'

const limiter = new Ratelimit({
  redis: Redis.fromEnv(),
  limiter: Ratelimit.slidingWindow(5, '1 m'),
  // The cache would reject a blocked visitor until the minute ends, although the window slides.
  ephemeralCache: false,
})

/** Allows five requests a minute per visitor. Further requests get the time at which to retry. */
export const rateLimit = createMiddleware(async (c, next) => {
  const visitor = c.req.header('x-forwarded-for') ?? 'unknown'
  const verdict = await limiter.limit(visitor).catch(() => undefined)
  if (verdict === undefined) return await next() // if the limiter is down, visitors are admitted
  const { success, limit, remaining, reset } = verdict
  c.header('RateLimit-Limit', String(limit))
  c.header('RateLimit-Remaining', String(Math.max(0, remaining)))
  if (success) return await next()
  c.header('Retry-After', String(Math.ceil((reset - Date.now()) / 1000)))
  return c.text('too many requests', 429)
})
