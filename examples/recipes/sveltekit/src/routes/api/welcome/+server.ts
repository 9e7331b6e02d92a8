import type { RequestHandler } from '@sveltejs/kit'
import { verifySignatureSvelte } from '@upstash/qstash/svelte'
import { Redis } from '@upstash/redis'

const redis = Redis.fromEnv()

// Only the queue calls this route: requests without its signature do not reach the handler.
export const POST: RequestHandler = verifySignatureSvelte(async ({ request }) => {
  const { email } = await request.json()
  const isNew = await redis.sadd('welcomed', email)
  return new Response(isNew ? 'welcomed' : 'welcomed before')
})
