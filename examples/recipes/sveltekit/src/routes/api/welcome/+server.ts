import type { RequestHandler } from '@sveltejs/kit'
import { verifySignatureSvelte } from '@upstash/qstash/svelte'
import { Redis } from '@upstash/redis'

const redis = Redis.fromEnv()

// Called by the queue only: what it has not signed does not reach the handler.
export const POST: RequestHandler = verifySignatureSvelte(async ({ request }) => {
  const { email } = await request.json()
  const isNew = await redis.sadd('welcomed', email)
  return new Response(isNew ? 'welcomed' : 'welcomed before')
})
