import { Client, Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

const redis = Redis.fromEnv()
const queue = new Client()
const receiver = new Receiver()

/** Starts a trial of seven days. The app reminds the user one day before the end. */
export async function startTrial(user: string): Promise<void> {
  await redis.set(`trial:${user}`, 'active', { ex: 7 * 24 * 60 * 60 })
  await queue.publishJSON({ url: 'https://shop.test/remind', body: { user }, delay: '6d' })
}

/** Handles a delivery of the queue. */
export async function remind(request: Request): Promise<Response> {
  const body = await request.text()
  await receiver.verify({ signature: request.headers.get('upstash-signature') ?? '', body })
  const { user } = JSON.parse(body) as { user: string }
  await redis.rpush('reminded', user)
  return new Response('reminded')
}
