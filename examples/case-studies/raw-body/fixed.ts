import { Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

// A shop that receives the prices of a warehouse.

export const pricesUrl = 'https://shop.test/api/prices'

export async function takePrices(request: Request): Promise<Response> {
  const body = await request.text()
  if (!(await isGenuine(request, body))) return new Response('wrong signature', { status: 401 })
  await Redis.fromEnv().hset('prices', JSON.parse(body) as Record<string, number>)
  return new Response()
}

async function isGenuine(request: Request, body: string): Promise<boolean> {
  const receiver = new Receiver({
    currentSigningKey: process.env.QSTASH_CURRENT_SIGNING_KEY!,
    nextSigningKey: process.env.QSTASH_NEXT_SIGNING_KEY!,
  })
  const signature = request.headers.get('upstash-signature') ?? ''
  return receiver.verify({ body, signature, url: request.url }).catch(() => false)
}
