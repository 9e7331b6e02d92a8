import { Client, Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

// A small shop for production: it uses the vendor's SDKs, reads URLs and keys from the environment, and has three routes.
// It contains no code for tests.

export interface Order {
  readonly id: string
  readonly cents: number
}

export type Route = (request: Request) => Promise<Response>

const shop = 'https://shop.test'
export const routes: Readonly<Record<'charge' | 'ship' | 'charged' | 'failed', string>> = {
  charge: `${shop}/api/charge`,
  ship: `${shop}/api/ship`,
  charged: `${shop}/api/charged`,
  failed: `${shop}/api/failed`,
}

/** Publishes the order to the queue and responds immediately. */
export async function checkout(order: Order): Promise<void> {
  const queue = new Client()
  await queue.publishJSON({
    url: routes.charge,
    body: order,
    retries: 3,
    callback: routes.charged,
    failureCallback: routes.failed,
    label: `order-${order.id}`,
  })
}

export async function requestShipping(order: Order): Promise<void> {
  const queue = new Client()
  await queue.publishJSON({ url: routes.ship, body: order, retries: 4, failureCallback: routes.failed })
}

/** Charges the customer in each delivery. This is the defect, because the queue delivers at least once. */
export const charge: Route = async (request) => {
  const order = await verified<Order>(request)
  await new Redis(redisSettings()).incrby(`charged:${order.id}`, order.cents)
  return Response.json({ charged: order.cents })
}

/** Charges once per message: SET NX remembers its ID, which is the same in every attempt. */
export const chargeOnce: Route = async (request) => {
  const order = await verified<Order>(request)
  const redis = new Redis(redisSettings())
  const first = await redis.set(`seen:${request.headers.get('upstash-message-id')}`, order.id, { nx: true, ex: 86_400 })
  if (first === 'OK') await redis.incrby(`charged:${order.id}`, order.cents)
  return Response.json({ charged: first === 'OK' ? order.cents : 0 })
}

/** Receives the callback about each attempt of a charge. */
export const charged: Route = async (request) => {
  const report = await verified<{ status: number; retried: number }>(request)
  await new Redis(redisSettings()).rpush('reports', `attempt ${report.retried + 1}: ${report.status}`)
  return new Response()
}

/** Receives the failure callbacks of orders. */
export const failed: Route = async (request) => {
  const report = await verified<{ dlqId: string; url: string }>(request)
  await new Redis(redisSettings()).sadd('given-up', report.dlqId)
  return new Response()
}

/** Verifies the signature of a delivery and returns its body. */
async function verified<T>(request: Request): Promise<T> {
  const body = await request.text()
  const receiver = new Receiver({
    currentSigningKey: process.env.QSTASH_CURRENT_SIGNING_KEY!,
    nextSigningKey: process.env.QSTASH_NEXT_SIGNING_KEY!,
  })
  await receiver.verify({ body, signature: request.headers.get('upstash-signature') ?? '', url: request.url })
  return JSON.parse(body) as T
}

function redisSettings(): { url: string; token: string } {
  return { url: process.env.UPSTASH_REDIS_REST_URL!, token: process.env.UPSTASH_REDIS_REST_TOKEN! }
}
