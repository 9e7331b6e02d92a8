import { Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

// Counts clicks on short links, which the queue delivers.

export const clicksUrl = 'https://links.test/api/clicks'

export async function clicked(request: Request): Promise<Response> {
  const body = await request.text()
  const receiver = new Receiver({
    currentSigningKey: process.env.QSTASH_CURRENT_SIGNING_KEY!,
    nextSigningKey: process.env.QSTASH_NEXT_SIGNING_KEY!,
  })
  const signature = request.headers.get('upstash-signature') ?? ''
  const isGenuine = await receiver.verify({ body, signature, url: request.url }).catch(() => false)
  if (!isGenuine) return new Response('wrong signature', { status: 401 })
  await Redis.fromEnv().incr(`clicks:${(JSON.parse(body) as { link: string }).link}`)
  return new Response()
}
