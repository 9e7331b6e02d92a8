import { Redis } from '@upstash/redis'
import { startServer } from 'stuntdouble/server'
import { expect, test } from 'vitest'

test('counts the visits of a page', async () => {
  // As a separate process: npx stuntdouble serve --port 8079 --store-token example_token
  await using server = await startServer({ port: 0, tokens: { store: 'example_token' } })
  const redis = new Redis({ url: `http://localhost:${server.port}`, token: 'example_token' })

  await redis.flushdb()
  await redis.incr('visits:/pricing')
  const [visits, pages] = await redis.multi().incr('visits:/pricing').keys('visits:*').exec<[number, string[]]>()
  expect([visits, pages]).toEqual([2, ['visits:/pricing']])
})
