import { expect, test } from 'stuntdouble/vitest'

// Nobody answers for half an hour. The message ends as a dead letter, and a failure callback says so.
test('the shop hears of an order that cannot be shipped', async ({ sandbox: { clock, destinations, queue } }) => {
  destinations.answer('https://shop.test/ship', 503)
  const failed = destinations.record('https://shop.test/failed')

  queue.publish({ to: 'https://shop.test/ship', body: { id: 42 }, failureCallback: 'https://shop.test/failed' })
  await clock.drain()

  expect(queue).toHaveDeadLetter({ to: 'https://shop.test/ship', status: 503 })
  expect(queue).toHaveCalledBack({ to: 'https://shop.test/failed', status: 503, retried: 3 })
  expect(failed.last().json()).toMatchObject({ sourceMessageId: expect.stringContaining('msg_') })
})
