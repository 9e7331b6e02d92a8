import { createSandbox, lostAck } from 'stuntdouble'
import { expect, test } from 'vitest'

const shop = 'https://shop.test/orders'

test('a fork is what the sandbox was, and goes on like it', async () => {
  using sandbox = createSandbox({ seed: 3 })
  let calls = 0
  sandbox.destinations.on(shop, async (request, task) => {
    calls++
    const id = request.headers.get('upstash-message-id')
    sandbox.store.run('INCR', 'seen')
    await task.sleep('2s')
    await sandbox.fetch(`${sandbox.addresses.store}/rpush/orders/${id}`, {
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    })
    return new Response('no', { status: calls % 3 === 0 ? 200 : 500 })
  })
  sandbox.faults.add({ on: 'queue.delivery', times: 1, skip: 1, fault: lostAck() })
  for (let n = 0; n < 5; n++) {
    sandbox.queue.publish({ to: shop, body: { n }, retries: 3 })
    await sandbox.clock.advance('7s')
    sandbox.store.run('SPOP', 'nothing')
  }
  const before = calls
  using fork = await sandbox.fork()
  expect(calls).toBe(before)
  expect(fork.dump()).toEqual(sandbox.dump())
  expect(JSON.stringify(fork.traffic.toTrace())).toBe(JSON.stringify(sandbox.traffic.toTrace()))
  await sandbox.clock.advance('1h')
  expect(fork.dump()).not.toEqual(sandbox.dump())
})
