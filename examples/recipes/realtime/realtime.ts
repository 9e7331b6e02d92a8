import { Realtime } from '@upstash/realtime'
import { Redis } from '@upstash/redis'
import { z } from 'zod'

const schema = {
  order: {
    placed: z.object({ id: z.number() }),
    shipped: z.object({ id: z.number(), carrier: z.string() }),
  },
}

export const realtime = new Realtime({
  schema,
  redis: Redis.fromEnv(),
  history: { maxLength: 100, expireAfterSecs: 24 * 60 * 60 },
  maxDurationSecs: 300,
})
