import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'
import { test as base, expect } from 'stuntdouble/vitest'

const test = base.override('sandboxOptions', { timers: 'follow' })

/** Shows a page, at most five times a minute for each team. */
async function readPage(team: string): Promise<Response> {
  const limiter = new Ratelimit({ redis: Redis.fromEnv(), limiter: Ratelimit.slidingWindow(5, '1 m') })
  const { success } = await limiter.limit(team)
  return new Response(success ? 'the page' : 'later', { status: success ? 200 : 429 })
}

test('rejects the sixth page of a minute, and admits the team again later', async ({ sandbox: { clock } }) => {
  for (let page = 1; page <= 5; page++) expect((await readPage('red')).status).toBe(200)
  expect((await readPage('red')).status).toBe(429)
  expect((await readPage('blue')).status).toBe(200)

  await clock.advance('2m')
  expect((await readPage('red')).status).toBe(200)
})
