import { verifySignatureAppRouter } from '@upstash/qstash/nextjs'
import { Redis } from '@upstash/redis'

const redis = Redis.fromEnv()

// Only the queue calls this route: requests without its signature do not reach the handler.
export const POST = verifySignatureAppRouter(async (request: Request): Promise<Response> => {
  const order = (await request.json()) as { id: number; cents: number }
  await redis.set(`receipt:${order.id}`, `${(order.cents / 100).toFixed(2)} EUR`)
  return new Response('written')
})
