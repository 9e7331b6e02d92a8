import { Client, Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import fastify, { type FastifyInstance } from 'fastify'

const { APP_URL, BANK_URL } = process.env
const queue = new Client()
const redis = Redis.fromEnv()
const receiver = new Receiver() // reads its keys from the environment

export const app: FastifyInstance = fastify()

app.post<{ Body: { id: number; cents: number } }>('/orders', async (request, reply) => {
  await queue.publishJSON({ url: `${APP_URL}/hooks/charge`, body: request.body, retries: 5 })
  return reply.code(202).send({ accepted: request.body.id })
})

app.register(async (hooks) => {
  // In this scope bodies stay text, because the signature covers the received bytes, not the parsed JSON.
  hooks.removeAllContentTypeParsers()
  hooks.addContentTypeParser('*', { parseAs: 'string' }, async (_request: unknown, body: string) => body)

  hooks.post<{ Body: string }>('/hooks/charge', async ({ body, headers: given }, reply) => {
    const signature = String(given['upstash-signature'])
    const isGenuine = await receiver.verify({ signature, body, url: `${APP_URL}/hooks/charge` }).catch(() => false)
    if (!isGenuine) return reply.code(401).send('not signed by the queue')

    // The queue delivers at least once, so a charged order must not be charged again.
    const { id } = JSON.parse(body)
    if (await redis.exists(`charged:${id}`)) return 'charged before'
    const headers = { 'content-type': 'application/json', 'idempotency-key': `order-${id}` }
    const answer = await fetch(`${BANK_URL}/charges`, { method: 'POST', headers, body })
    if (!answer.ok) return reply.code(503).send('the bank cannot take it now') // the queue retries
    await redis.set(`charged:${id}`, 'yes', { ex: 7 * 24 * 60 * 60 })
    return 'charged'
  })
})
