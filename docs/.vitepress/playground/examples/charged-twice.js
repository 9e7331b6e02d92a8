import { fault } from 'stuntdouble'
import { expect, test } from 'stuntdouble/vitest'

// The bank takes the money, and its answer is lost: the queue asks
// again. To mend it, put two lines at the beginning of the handler:
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
