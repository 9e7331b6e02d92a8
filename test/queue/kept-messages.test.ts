import { expect, test } from 'vitest'
import { createSandbox } from '../../src/index.js'

const large = 'x'.repeat(10_000)

test('the message log drops the oldest ended messages when it exceeds its share', async () => {
  using sandbox = createSandbox({ policy: { maxTrafficBytes: 1_000_000 } })
  sandbox.destinations.on('https://shop.test/*', () => new Response('ok'))
  const ids: string[] = []
  for (let count = 0; count < 20; count++) {
    ids.push(sandbox.queue.publish({ to: 'https://shop.test/orders', body: large }).id)
    await sandbox.clock.advance('1s')
  }
  const answer = await sandbox.fetch(`${sandbox.urls.queue}/v2/logs`, {
    headers: { authorization: `Bearer ${sandbox.tokens.queue}` },
  })
  const { logs } = (await answer.json()) as { logs: { messageId: string; state: string }[] }
  const known = new Set(logs.map(({ messageId }) => messageId))
  expect(logs[0]).toMatchObject({ messageId: ids.at(-1), state: 'DELIVERED' })
  expect(known.size).toBeLessThan(10)
  expect([...known].reverse()).toEqual(ids.slice(-known.size))
})

test('a pending message never leaves the log', async () => {
  using sandbox = createSandbox({ policy: { maxTrafficBytes: 1_000_000 } })
  sandbox.destinations.on('https://shop.test/*', () => new Response('ok'))
  const { id } = sandbox.queue.publish({ to: 'https://shop.test/late', delay: '1h' })
  for (let count = 0; count < 20; count++) sandbox.queue.publish({ to: 'https://shop.test/orders', body: large })
  await sandbox.clock.advance('10s')
  expect(sandbox.queue.getMessage(id)?.state).toBe('CREATED')
  await sandbox.clock.advance('1h')
  expect(sandbox.traffic.ofType('attempt').at(-1)).toMatchObject({ messageId: id, outcome: { state: 'DELIVERED' } })
})

test('the oldest dead letters are deleted when they exceed their share', async () => {
  using sandbox = createSandbox({ policy: { maxTrafficBytes: 1_000_000 } })
  sandbox.destinations.on('https://shop.test/*', () => new Response('no', { status: 500 }))
  const ids: string[] = []
  for (let count = 0; count < 20; count++) {
    ids.push(sandbox.queue.publish({ to: 'https://shop.test/orders', body: large, retries: 0 }).id)
    await sandbox.clock.advance('1s')
  }
  const left = sandbox.queue.deadLetters.map(({ message }) => message.id)
  expect(left.length).toBeLessThan(10)
  expect(left).toEqual(ids.slice(-left.length))
})

test('the oldest deduplication IDs are forgotten first', async () => {
  using sandbox = createSandbox({ policy: { maxTrafficBytes: 1_000_000 } })
  sandbox.destinations.on('https://shop.test/*', () => new Response('ok'))
  const publish = (id: number): string =>
    sandbox.queue.publish({ to: 'https://shop.test/orders', body: large, deduplicationId: `order ${id}` }).id
  const ids = Array.from({ length: 20 }, (_, id) => publish(id))
  expect(publish(19)).toBe(ids[19])
  expect(publish(0)).not.toBe(ids[0])
})
