import { expect, test } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { askQueue, askStore, done, orders, orderWorld } from './worlds.js'

test('normalized() returns an order for a snapshot', async () => {
  const { sandbox } = await orderWorld()
  const lines = sandbox.traffic.normalized()
  expect(lines.slice(0, 5)).toEqual([
    { at: 'T+0s', type: 'command', argv: ['SET', 'stock', '5'], reply: 'OK', via: 'test' },
    {
      at: 'T+0s',
      type: 'request',
      request: 'POST <store>/pipeline',
      headers: { 'content-type': 'text/plain;charset=UTF-8' },
      commands: [
        { argv: ['INCR', 'visits'], reply: 1 },
        { argv: ['GET', 'stock'], reply: '5' },
      ],
      status: 200,
    },
    {
      at: 'T+0s',
      type: 'request',
      request: `POST <queue>/v2/publish/${orders}`,
      headers: { 'content-type': 'application/json', 'service-callback': done },
      body: { id: 42 },
      status: 200,
      response: { messageId: '<message 1>', url: orders },
    },
    {
      at: 'T+0s',
      type: 'published',
      message: '<message 1>',
      to: orders,
      headers: { 'content-type': 'application/json' },
      body: { id: 42 },
      retries: 3,
      callback: done,
    },
    { at: 'T+0s', type: 'published', message: '<message 2>', to: 'https://shop.test/other', body: 'hello', retries: 3 },
  ])
  expect(lines.filter(({ type, message }) => type === 'attempt' && message === '<message 1>')).toEqual([
    {
      at: 'T+0s',
      type: 'attempt',
      message: '<message 1>',
      to: orders,
      attempt: '1 of 4',
      status: 500,
      error: '500 Internal Server Error',
      state: 'RETRY',
      next: expect.stringMatching(/^in 12s: /),
    },
    {
      at: 'T+12s',
      type: 'attempt',
      message: '<message 1>',
      to: orders,
      attempt: '2 of 4',
      status: 503,
      error: '503 Service Unavailable',
      state: 'RETRY',
      next: expect.stringMatching(/^in 2m28s: /),
    },
    {
      at: 'T+2m40s',
      type: 'attempt',
      message: '<message 1>',
      to: orders,
      attempt: '3 of 4',
      status: 200,
      state: 'DELIVERED',
    },
  ])
  expect(lines.find(({ kind }) => kind === 'callback')).toMatchObject({
    about: '<message 1>',
    body: { sourceMessageId: '<message 1>', createdAt: 'T+0s', notBefore: 'T+0s' },
  })
})

test('normalized() is independent of seed, start, names and tokens of the sandbox', async () => {
  const one = await orderWorld()
  const other = await orderWorld({
    seed: 'other',
    startAt: '2031-07-09T12:34:56.789Z',
    name: 'shop',
    tokens: { queue: 'another-token-of-the-queue', store: 'another-token-of-the-store' },
  })
  expect(other.sandbox.traffic.normalized()).toEqual(one.sandbox.traffic.normalized())
  expect(one.sandbox.traffic.normalized()).toEqual(JSON.parse(JSON.stringify(one.sandbox.traffic.normalized())))
})

test('normalized() shows actual changes', async () => {
  const one = await orderWorld()
  const other = await orderWorld()
  other.sandbox.store.run('GET', 'stock')
  expect(other.sandbox.traffic.normalized()).toHaveLength(one.sandbox.traffic.normalized().length + 1)
})

test('normalized() replaces IDs, instants and UUIDs in texts, and keeps other numbers', async () => {
  const sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
  sandbox.destinations.respond('https://*', () => 500)
  const first = sandbox.queue.publish({ to: orders, retries: 0 })
  await sandbox.clock.advance('5s')
  const uuid = '3F2504E0-4F89-41D3-9A0C-0305E82C3301'
  sandbox.store.run(
    'SET',
    `order:${uuid}`,
    JSON.stringify({
      at: '2030-01-01T09:00:05.000Z',
      ms: Date.parse('2030-01-01T09:00:07Z'),
      born: '1815-12-10T00:00:00Z',
      n: 1234567890123,
      of: first.id,
    }),
  )
  sandbox.store.run('GET', `order:${uuid.toLowerCase()}`)
  const letter = sandbox.queue.deadLetters[0]!
  await askQueue(sandbox, `/v2/dlq/${letter.id}`, { method: 'DELETE' })
  await askQueue(sandbox, `/v2/schedules/${done}`, { headers: { 'service-cron': '0 0 * * *' } })
  const lines = sandbox.traffic.normalized()
  expect(lines.filter(({ type }) => type === 'command').map(({ argv }) => argv)).toEqual([
    [
      'SET',
      'order:<uuid 1>',
      '{"at":"T+5s","ms":T+7s,"born":"1815-12-10T00:00:00Z","n":1234567890123,"of":"<message 1>"}',
    ],
    ['GET', 'order:<uuid 1>'],
  ])
  expect(lines.find(({ type }) => type === 'dead-letter')).toMatchObject({
    dlqId: '<dead letter 1>',
    messageId: '<message 1>',
  })
  expect(lines.find(({ request }) => String(request).startsWith('DELETE'))).toMatchObject({
    request: 'DELETE <queue>/v2/dlq/<dead letter 1>',
  })
  expect(lines.slice(-2)).toMatchObject([
    { type: 'request', response: { scheduleId: '<schedule 1>' } },
    { type: 'setting', name: '<schedule 1>', change: 'created' },
  ])
})

test('normalized() shows the size of binary bodies, and the response of a failed request', async () => {
  const sandbox = createSandbox()
  sandbox.destinations.respond('https://*', () => ({ status: 200, body: new Uint8Array([255, 0, 1]) }))
  sandbox.queue.publish({ to: orders })
  await sandbox.clock.drain()
  await askStore(sandbox, '/', ['INCR', 'a', 'b'])
  const lines = sandbox.traffic.normalized()
  expect(lines.find(({ type }) => type === 'attempt')).toMatchObject({ response: '<3 bytes>' })
  expect(lines.at(-1)).toMatchObject({
    status: 400,
    response: { error: expect.stringContaining('wrong number of arguments') },
  })
})
