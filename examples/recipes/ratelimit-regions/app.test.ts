import { fault } from 'stuntdouble'
import { beforeEach, expect, test, vi } from 'vitest'
import { sandbox } from './sandbox.ts'

// Import the app after the sandbox, because the limiter reads its environment on import.

import { app } from './app.ts'

/** Work that the app goes on with after its responses. On Cloudflare Workers, the platform waits for it. */
let background: Promise<unknown>[] = []
const context = {
  waitUntil: (work: Promise<unknown>) => void background.push(work),
  passThroughOnException() {},
  props: {},
}

beforeEach(() => {
  background = []
  vi.spyOn(console, 'warn').mockClear().mockReturnValue()
})

const ask = (visitor: string) => app.request('/api/prices', { headers: { 'x-forwarded-for': visitor } }, {}, context)

/** Sends requests one after another. @returns the statuses */
async function statuses(visitor: string, times: number): Promise<number[]> {
  const answers: number[] = []
  for (let time = 1; time <= times; time++) answers.push((await ask(visitor)).status)
  return answers
}

/** Returns the number of requests that the first database, `eu` and `us` have counted for a visitor in this minute. */
function counts(visitor: string): unknown[] {
  const minute = Math.floor(sandbox.clock.now() / 60_000)
  return sandbox.stores.map((store) => store.run('HLEN', `@upstash/ratelimit:${visitor}:${minute}`))
}

test('counts each request in all databases, and rejects the sixth one of a minute', async () => {
  expect(await statuses('ada', 6)).toEqual([200, 200, 200, 200, 200, 429])
  await Promise.all(background)
  expect(counts('ada')).toEqual([6, 6, 6])
  await sandbox.clock.advance('61s')
  expect(await statuses('ada', 1)).toEqual([200])
})

test('does not wait for a slow database', async () => {
  sandbox.faults.add({ on: 'store.request', match: { database: 'us' }, fault: fault.latency('2s') })
  const before = sandbox.clock.now()
  expect(await statuses('grace', 6)).toEqual([200, 200, 200, 200, 200, 429])
  expect(sandbox.clock.now()).toBe(before)
  expect(counts('grace')).toEqual([6, 6, 0])

  // The SDK sends EVALSHA first. A database that does not know the script yet gets a second request.
  await sandbox.clock.advance('4s')
  await Promise.all(background)
  expect(counts('grace')).toEqual([6, 6, 6])
})

test('limits visitors while a database is gone, and gives it the missing counts when it is back', async () => {
  sandbox.faults.add({
    on: 'store.request',
    name: 'gone',
    match: { database: 'us' },
    fault: fault.outage({ status: 503 }),
  })
  expect(await statuses('edsger', 3)).toEqual([200, 200, 200])
  await Promise.all(background)
  expect(console.warn).toHaveBeenCalledTimes(3)
  expect(counts('edsger')).toEqual([3, 3, 0])

  sandbox.faults.remove('gone')
  expect(await statuses('edsger', 1)).toEqual([200])
  await Promise.all(background)
  expect(counts('edsger')).toEqual([4, 4, 4])
  expect(await statuses('edsger', 2)).toEqual([200, 429])
})

test('admits too many requests if the database that was gone answers first', async () => {
  const { faults, clock } = sandbox
  faults.add({ on: 'store.request', name: 'gone', match: { database: 'us' }, fault: fault.outage({ status: 503 }) })
  expect(await statuses('barbara', 5)).toEqual([200, 200, 200, 200, 200])
  await Promise.all(background)

  faults.remove('gone')
  faults.add({ on: 'store.request', match: { database: 'us' }, fault: fault.pass() })
  faults.add({ on: 'store.request', fault: fault.latency('1s') })
  expect((await ask('barbara')).status).toBe(200)
  await clock.advance('1s')
  await Promise.all(background)
})

test('admits visitors while all databases are gone', async () => {
  sandbox.faults.add({ on: 'store.request', fault: fault.status(503) })
  expect((await ask('donald')).status).toBe(200)
})
