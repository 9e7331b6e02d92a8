import { fault } from 'stuntdouble'
import { expect, test } from 'stuntdouble/vitest'

// The handler charges the order, but its response is lost, so
// the queue delivers again. To fix it, begin the handler with:
//   const key = `seen:${request.headers.get('upstash-message-id')}`
//   if (store.run('SET', key, 1, 'NX') === null) return new Response()
test('an order is charged once', async ({ sandbox }) => {
  const { clock, destinations, queue, store } = sandbox
  const bank = 'https://shop.test/charge'
  destinations.on(bank, async (request) => {
    const { id, cents } = await request.json()
    store.run('INCRBY', `charged:${id}`, cents)
    return new Response('charged')
  })
  destinations.script(bank, [fault.lostAck()])

  queue.publish({ to: bank, body: { id: 42, cents: 1990 } })
  await clock.drain()

  expect(store).toHaveKey('charged:42', { value: '1990' })
})
