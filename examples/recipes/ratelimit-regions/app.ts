import { Hono } from 'hono'
import { rateLimit } from './rate-limit.ts'

export const app = new Hono()

app.use('/api/*', rateLimit)
app.get('/api/prices', (c) => c.json({ tea: 1990 }))
