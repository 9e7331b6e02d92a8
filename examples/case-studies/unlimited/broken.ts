import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'

// A service that reads web pages, limited to five a minute per team.

/** Without a store, as on developers' machines, there is no limit. */
function limiter(): Ratelimit | undefined {
  const { REDIS_URL: url, REDIS_TOKEN: token } = process.env
  if (url === undefined || token === undefined) return undefined
  return new Ratelimit({ redis: new Redis({ url, token }), limiter: Ratelimit.fixedWindow(5, '1 m'), prefix: 'pages' })
}

export async function readPage(team: string): Promise<Response> {
  const limit = await limiter()?.limit(team)
  if (limit?.success === false) return new Response('later', { status: 429 })
  return new Response('the page')
}
