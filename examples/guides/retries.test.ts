import { Client } from '@upstash/qstash'
import { expect, test } from 'stuntdouble/vitest'

const url = 'https://shop.test/orders'

test('retries after 12 s and after 2 min 28 s', async ({ sandbox: { clock, destinations, queue } }) => {
  destinations.script(url, [503, 503]) // later deliveries get 200
  const { messageId } = await new Client().publishJSON({ url, body: { id: 42 } })

  await clock.advance('12s')
  expect(queue).not.toHaveDelivered({ to: url })
  expect(queue.explain(messageId)).toContain('waits for retry 2 of 3')

  await clock.drain()
  expect(queue).toHaveDelivered({ to: url, attempts: [503, 503, 200] })
  expect(queue).toHaveDelivered({ to: url, attempts: [{ delayMs: 12_000 }, { delayMs: 148_000 }, { retried: 2 }] })
})
