const { useSandbox } = require('stuntdouble/jest')

const sandbox = useSandbox({ seed: 7, dialect: 'upstash', intercept: 'fetch' })

/** App under test, which uses only the environment and the global fetch. */
async function countVisit() {
  const headers = { authorization: `Bearer ${process.env.UPSTASH_REDIS_REST_TOKEN}` }
  const answer = await fetch(`${process.env.UPSTASH_REDIS_REST_URL}/incr/visits`, { headers })
  return (await answer.json()).result
}

test.each([1, 2])('a fresh sandbox before test %i', async () => {
  expect(await countVisit()).toBe(1)
  expect(await countVisit()).toBe(2)
  expect(sandbox.store).toHaveExecuted('INCR', 'visits', { times: 2 })
})

test('accepts asymmetric matchers of Jest and prints them as Jest does', async () => {
  await countVisit()
  expect(sandbox.store).toHaveExecuted('INCR', expect.stringMatching(/^vis/))
  expect(() => expect(sandbox.store).toHaveExecuted('INCR', expect.stringMatching(/^x/))).toThrow(
    /✗ key: expected StringMatching.*, received 'visits'/,
  )
})

test('throws a TypeError for a wrong value in expect()', () => {
  expect(() => expect(sandbox.store).toHavePublished()).toThrow(
    'toHavePublished(): expect() must get the queue (got a store).',
  )
})
