import { Client } from '@upstash/qstash'
import { expect, test } from 'stuntdouble/vitest'

const url = 'https://shop.test/orders'
const done = 'https://shop.test/done'
const failed = 'https://shop.test/failed'

test('reports each attempt, and the failure once', async ({ sandbox: { clock, destinations, queue } }) => {
  destinations.script(url, [503, 503])
  const callbacks = destinations.record(done)
  const failures = destinations.record(failed)

  await new Client().publishJSON({ url, body: { id: 42 }, retries: 1, callback: done, failureCallback: failed })
  await clock.drain()

  expect(callbacks.count).toBe(2)
  expect(failures.count).toBe(1)
  expect(queue).toHaveDeliveredCallback({ to: done, status: 503, retried: 0, maxRetries: 1 })
  expect(queue).toHaveDeliveredCallback({ to: failed, kind: 'failure-callback', sourceBody: { id: 42 } })
  expect(failures.last().json()).toMatchObject({ dlqId: queue.deadLetters[0]?.id })
})
