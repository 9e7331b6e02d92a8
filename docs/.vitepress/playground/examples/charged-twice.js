import { lostAck } from 'stuntdouble'
import { expect, test } from 'stuntdouble/vitest'

// This test fails: the bank takes the money, its answer is lost, and the queue delivers again.
// Mend it: remember the id of each message, store.run('SET', `seen:${id}`, 1, 'NX').
test('an order is charged once', async ({ sandbox: { clock, destinations, queue, store } }) => {
  destinations.on('https://shop.test/charge', async (request) => {
    const { id, cents } = await request.json()
    store.run('INCRBY', `charged:${id}`, cents)
    return new Response('charged')
  })
  destinations.script('https://shop.test/charge', [lostAck()])

  queue.publish({ to: 'https://shop.test/charge', body: { id: 42, cents: 1990 } })
  await clock.drain()

  expect(store).toHaveKey('charged:42', { value: '1990' })
})
