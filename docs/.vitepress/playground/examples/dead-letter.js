import { expect, test } from 'stuntdouble/vitest'

// The destination fails all four attempts. The message becomes a dead
// letter, and the queue sends a failure callback.
test('a failure callback reports the dead letter', async ({ sandbox }) => {
  const { clock, destinations, queue } = sandbox
  const ship = 'https://shop.test/ship'
  const failed = 'https://shop.test/failed'
  destinations.respond(ship, 503)
  const callbacks = destinations.record(failed)

  queue.publish({ to: ship, body: { id: 42 }, failureCallback: failed })
  await clock.drain()

  expect(queue).toHaveDeadLetter({ to: ship, status: 503 })
  expect(queue).toHaveDeliveredCallback({ to: failed, status: 503, retried: 3 })
  expect(callbacks.last().json()).toMatchObject({
    sourceMessageId: expect.stringContaining('msg_'),
  })
})
