import { Redis } from '@upstash/redis'
import { Hono } from 'hono'

export const app = new Hono()

/** Sends a mail once per subject. */
app.post('/send', async (c) => {
  const { about } = await c.req.json<{ about: number }>()
  const isNew = await Redis.fromEnv().sadd('mails', about)
  return c.text(isNew ? 'sent' : 'sent before')
})
