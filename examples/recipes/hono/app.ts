import { Client, Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { Hono } from 'hono'

const { APP_URL, BANK_URL } = process.env
const queue = new Client()
const redis = Redis.fromEnv()
const receiver = new Receiver() // reads its keys from the environment

export const app = new Hono()

app.post('/orders', async (c) => {
  const order = await c.req.json<{ id: number; cents: number }>()
  await queue.publishJSON({ url: `${APP_URL}/hooks/charge`, body: order, retries: 5 })
  return c.json({ accepted: order.id }, 202)
})

app.post('/hooks/charge', async (c) => {
  // Verify the raw text, because JSON that is serialized again has another signature.
  const body = await c.req.text()
  const signature = c.req.header('upstash-signature') ?? ''
  const isGenuine = await receiver.verify({ signature, body, url: `${APP_URL}/hooks/charge` }).catch(() => false)
  if (!isGenuine) return c.text('not signed by the queue', 401)

  // The queue delivers at least once, so a charged order must not be charged again.
  const { id } = JSON.parse(body)
  if (await redis.exists(`charged:${id}`)) return c.text('charged before')
  const headers = { 'content-type': 'application/json', 'idempotency-key': `order-${id}` }
  const answer = await fetch(`${BANK_URL}/charges`, { method: 'POST', headers, body })
  if (!answer.ok) return c.text('the bank cannot take it now', 503) // the queue retries
  await redis.set(`charged:${id}`, 'yes', { ex: 7 * 24 * 60 * 60 })
  return c.text('charged')
})
