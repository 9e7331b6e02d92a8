import { fault } from 'stuntdouble'
import { expect, test } from 'vitest'
import { sandbox } from './sandbox.ts'

// Import the app after the sandbox, because the limiter reads its environment on import.

import { app } from './app.ts'

const ask = (visitor: string) => app.request('/api/prices', { headers: { 'x-forwarded-for': visitor } })

/** Sends requests one after another. @returns the statuses */
async function statuses(visitor: string, times: number): Promise<number[]> {
  const answers: number[] = []
  for (let time = 1; time <= times; time++) answers.push((await ask(visitor)).status)
  return answers
}

test('rejects the sixth request of a minute, but not those of another visitor', async () => {
  expect(await statuses('ada', 6)).toEqual([200, 200, 200, 200, 200, 429])
  expect(await statuses('grace', 1)).toEqual([200])
})

test('frees half of the sliding window after half of the next minute', async () => {
  const { clock } = sandbox
  await statuses('ada', 5)
  const refused = await ask('ada')
  expect(refused.headers.get('retry-after')).toBe('60')

  await clock.advance('1m')
  expect(await statuses('ada', 1)).toEqual([429])
  await clock.advance('30s')
  expect(await statuses('ada', 4)).toEqual([200, 200, 200, 429])
  await clock.advance('2m')
  expect(await statuses('ada', 6)).toEqual([200, 200, 200, 200, 200, 429])
})

test('does not count pages outside of /api', async () => {
  for (let time = 1; time <= 10; time++) expect((await app.request('/')).status).toBe(200)
  expect(sandbox).not.toHaveReceivedRequest({})
})

test('admits visitors while the data store fails', async () => {
  sandbox.faults.add({ on: 'store.request', times: 1, fault: fault.status(503) })
  expect((await ask('ada')).status).toBe(200)
})
