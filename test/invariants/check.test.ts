import { createSandbox, invariants } from 'stuntdouble'
import { expect, test } from 'vitest'

test('an ordinary run keeps every promise', async () => {
  using sandbox = createSandbox({ seed: 7 })
  const { queue, clock, destinations, store } = sandbox
  destinations.on('https://shop.test/fails', () => new Response('no', { status: 500 }))
  destinations.on('https://shop.test/*', () => new Response('fine'))
  queue.upsertQueue('line', 2, false)
  for (let at = 0; at < 5; at++) {
    queue.publish({ to: 'https://shop.test/a', body: { at }, queue: 'line' })
    queue.publish({ to: 'https://shop.test/fails', retries: 2, callback: 'https://shop.test/c', failureCallback: 'https://shop.test/f' })
    queue.publish({ to: 'https://shop.test/b', flowControlKey: 'k', flowControlValue: 'rate=2,period=10s,parallelism=1' })
    queue.publish({ to: 'https://shop.test/b', deduplicationId: 'once' })
  }
  store.run('SET', 'a', '1', 'EX', 60)
  store.run('INCR', 'a')
  await clock.drain()
  store.run('GET', 'a')
  const check = sandbox.check()
  expect(check.checked).toEqual(invariants.map(({ name }) => name))
  expect(check.unknown).toEqual([])
})
