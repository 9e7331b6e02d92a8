const { createServer } = require('node:http')
const { Redis } = require('@upstash/redis')
const { Client } = require('@upstash/qstash')
const { createSandbox } = require('stuntdouble')
const { replaceFetch } = require('stuntdouble/fetch')
const { startServer } = require('stuntdouble/server')

/** @type {import('stuntdouble').Sandbox} */
let sandbox
beforeEach(() => {
  sandbox = createSandbox({ seed: 7, dialect: 'upstash', startAt: '2030-01-01T09:00:00Z' })
  replaceFetch(sandbox)
})
afterEach(() => sandbox.dispose())

const redis = () => new Redis({ url: sandbox.urls.store, token: sandbox.tokens.store, enableTelemetry: false })
const queue = () => new Client({ baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue, enableTelemetry: false })

test('the store SDK runs against the CommonJS build, and keys expire in virtual time', async () => {
  await redis().set('profile:42', { name: 'Ada' }, { ex: 3_600 })
  expect(sandbox.store).toHaveKey('profile:42', { ttl: '1h', value: { name: 'Ada' } })
  await sandbox.clock.advance('1h')
  expect(sandbox.store).not.toHaveKey('profile:42')
  expect(sandbox.store).toHaveExecuted('SET', 'profile:42')
})

test('a delivery is retried until the handler answers', async () => {
  const answers = [500, 500, 200]
  sandbox.destinations.on('https://shop.test/orders', () => new Response(null, { status: answers.shift() ?? 200 }))
  await queue().publishJSON({ url: 'https://shop.test/orders', body: { id: 42 }, retries: 3 })
  await sandbox.clock.drain()
  expect(sandbox.queue).toHavePublished({ to: 'https://shop.test/orders', retries: 3, body: { id: 42 } })
  expect(sandbox.queue).toHaveDelivered({ to: 'https://shop.test/orders', attempts: [500, 500, 200] })
  expect(sandbox.queue).not.toHaveDeadLetter()
})

test('prints the nearest candidate in the failure of a matcher', async () => {
  await redis().set('a', '1')
  expect(() => expect(sandbox.store).toHaveKey('a', { value: '2' })).toThrow(/expected '?2'?, received '?1'?/)
})

test('classes are the same from every entry', async () => {
  const server = await startServer({ port: 0 })
  try {
    expect(server.tenant('main').constructor).toBe(sandbox.constructor)
    expect(server.tenant('main').clock.constructor).toBe(sandbox.clock.constructor)
  } finally {
    await server.close()
  }
})

test('does not intercept requests to other origins', async () => {
  const other = createServer((_, response) => response.end('other'))
  await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve))
  expect(await (await fetch(`http://127.0.0.1:${other.address().port}/`)).text()).toBe('other')
  await new Promise((resolve) => other.close(resolve))
})

test("virtual time does not hang under Jest's fake timers", async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] })
  try {
    const log = []
    sandbox.destinations.on('https://shop.test/slow', async (_, task) => {
      await task.sleep('10s')
      log.push(sandbox.clock.now())
      return new Response('done')
    })
    await queue().publish({ url: 'https://shop.test/slow', retries: 0 })
    await sandbox.clock.drain()
    expect(log).toEqual([Date.parse('2030-01-01T09:00:10Z')])
  } finally {
    jest.useRealTimers()
  }
})
