import { verifySignatureAppRouter } from '@upstash/qstash/nextjs'
import { Redis } from '@upstash/redis'

const redis = Redis.fromEnv()

// Called by the queue only: what it has not signed does not reach the handler.
export const POST = verifySignatureAppRouter(async (request: Request): Promise<Response> => {
  const order = (await request.json()) as { id: number; cents: number }
  await redis.set(`receipt:${order.id}`, `${(order.cents / 100).toFixed(2)} EUR`)
  return new Response('written')
})
