import { fault } from 'stuntdouble'
import { expect, test } from 'vitest'
import { sandbox } from './sandbox.ts'

// After the sandbox: the limiter reads its environment as it loads.

import { app } from './app.ts'

const ask = (visitor: string) => app.request('/api/prices', { headers: { 'x-forwarded-for': visitor } })

/** Asks so often, one after the other. @returns what is answered */
async function statuses(visitor: string, times: number): Promise<number[]> {
  const answers: number[] = []
  for (let time = 1; time <= times; time++) answers.push((await ask(visitor)).status)
  return answers
}

test('the sixth request of a minute is refused, and those of somebody else are not', async () => {
  expect(await statuses('ada', 6)).toEqual([200, 200, 200, 200, 200, 429])
  expect(await statuses('grace', 1)).toEqual([200])
})

test('the window slides: it is half free after half of the next minute', async () => {
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

test('pages outside of /api are not counted', async () => {
  for (let time = 1; time <= 10; time++) expect((await app.request('/')).status).toBe(200)
  expect(sandbox).not.toHaveReceivedRequest({})
})

test('a data store that fails for a moment keeps nobody out', async () => {
  sandbox.faults.add({ on: 'store.request', times: 1, fault: fault.status(503) })
  expect((await ask('ada')).status).toBe(200)
})
