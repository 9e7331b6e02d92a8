import { expect, test } from 'stuntdouble/vitest'

// Nobody answers for half an hour: the message ends as a dead letter,
// and a failure callback says so.
test('the shop hears of what it cannot ship', async ({ sandbox }) => {
  const { clock, destinations, queue } = sandbox
  const ship = 'https://shop.test/ship'
  const failed = 'https://shop.test/failed'
  destinations.respond(ship, 503)
  const told = destinations.record(failed)

  queue.publish({ to: ship, body: { id: 42 }, failureCallback: failed })
  await clock.drain()

  expect(queue).toHaveDeadLetter({ to: ship, status: 503 })
  expect(queue).toHaveDeliveredCallback({ to: failed, status: 503, retried: 3 })
  expect(told.last().json()).toMatchObject({
    sourceMessageId: expect.stringContaining('msg_'),
  })
})
