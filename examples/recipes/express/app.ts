import { Client, Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import express, { type Express } from 'express'

const { APP_URL, BANK_URL } = process.env
const queue = new Client()
const redis = Redis.fromEnv()
const receiver = new Receiver() // reads its keys from the environment

export const app: Express = express()

// This route comes before express.json(), because the signature covers the received bytes, not the parsed JSON.
app.post('/hooks/charge', express.text({ type: '*/*' }), async (request, response) => {
  const body: string = request.body
  const signature = request.get('upstash-signature') ?? ''
  const isGenuine = await receiver.verify({ signature, body, url: `${APP_URL}/hooks/charge` }).catch(() => false)
  if (!isGenuine) return void response.status(401).send('not signed by the queue')

  // The queue delivers at least once, so a charged order must not be charged again.
  const { id } = JSON.parse(body)
  if (await redis.exists(`charged:${id}`)) return void response.send('charged before')
  const headers = { 'content-type': 'application/json', 'idempotency-key': `order-${id}` }
  const answer = await fetch(`${BANK_URL}/charges`, { method: 'POST', headers, body })
  if (!answer.ok) return void response.status(503).send('the bank cannot take it now') // the queue retries
  await redis.set(`charged:${id}`, 'yes', { ex: 7 * 24 * 60 * 60 })
  response.send('charged')
})

app.use(express.json())

app.post('/orders', async (request, response) => {
  await queue.publishJSON({ url: `${APP_URL}/hooks/charge`, body: request.body, retries: 5 })
  response.status(202).json({ accepted: request.body.id })
})
