import { expect, test } from 'vitest'
import { shop, world } from './world.js'

test('queue.reset() removes everything except destinations and signing keys, and IDs start again', async () => {
  const at = world()
  const seen = at.destinations.record('https://*', 500)
  const publish = () =>
    at.send('POST', `/v2/publish/${shop}`, { headers: { 'Service-Retries': '1', 'Service-Deduplication-Id': 'x' } })
  const first = await publish()
  await at.clock.advance('1s')
  at.queue.urlGroups.addEndpoints('g', [shop])
  await at.send('POST', '/v2/queues', { body: { queueName: 'q' } })
  await at.send('POST', `/v2/schedules/${shop}`, { headers: { 'Service-Cron': '* * * * *' } })
  await at.send('POST', '/v2/flowControl/k/pause')
  at.queue.signingKeys.rotate()
  const keys = at.queue.signingKeys.pair()

  at.queue.reset()
  expect(at.clock.pending).toEqual([])
  await at.clock.advance('1h')
  expect(seen.count).toBe(1)
  for (const path of ['queues', 'schedules', 'topics', 'flowControl'])
    expect((await at.send('GET', `/v2/${path}`)).json).toEqual([])
  expect((await at.send('GET', '/v2/dlq')).json.messages).toEqual([])
  expect((await at.send('GET', '/v2/events')).json.events).toEqual([])
  expect((await at.send('GET', '/v2/keys')).json).toEqual(keys)
  const again = await publish()
  expect([again.status, again.json.messageId]).toEqual([200, first.json.messageId])
  await at.clock.drain()
  expect(seen.count).toBe(3)
})

test('an attempt in flight during queue.reset() ends without consequence', async () => {
  const at = world()
  const callbacks = at.destinations.record('https://shop.test/cb')
  at.destinations.on(shop, async (_request, task) => {
    await task.sleep('10s')
    return new Response(null, { status: 500 })
  })
  const headers = {
    'Service-Callback': 'https://shop.test/cb',
    'Service-Flow-Control-Key': 'k',
    'Service-Flow-Control-Value': 'rate=1,period=1m',
  }
  for (let n = 0; n < 2; n++) await at.send('POST', `/v2/publish/${shop}`, { headers })
  await at.clock.advance('1s')
  at.queue.reset()
  await at.clock.drain()
  expect(callbacks.count).toBe(0)
  expect(at.queue.messages).toEqual([])
  expect(at.engine.flow.inFlight).toBe(0)
})
