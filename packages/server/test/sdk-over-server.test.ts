import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type StuntdoubleServer, startServer } from '../src/server.js'

interface Received {
  readonly url: string
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

let server: StuntdoubleServer
let app: Server
let received: Received[]
let answers: number[]

// The app of a user. For the server it could be in another process.
beforeEach(async () => {
  received = []
  answers = []
  app = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      received.push({ url: request.url ?? '', headers: request.headers, body })
      response.writeHead(answers.shift() ?? 200).end(`answer ${received.length}`)
    })
  })
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  server = await startServer({ port: 0, dialect: 'upstash', clock: 'manual' })
})
afterEach(async () => {
  await server.close()
  app.closeAllConnections()
  await new Promise((resolve) => app.close(resolve))
})

const env = (): Readonly<Record<string, string>> => server.tenant('main').env
const appUrl = (path: string): string => `http://127.0.0.1:${(app.address() as AddressInfo).port}${path}`
const advance = (by: string): Promise<Response> =>
  fetch(`${server.origin}/_control/main/clock/advance`, { method: 'POST', body: JSON.stringify({ by }) })

test('the store SDK works, including pipelines and transactions', async () => {
  const redis = new Redis({ url: env().UPSTASH_REDIS_REST_URL!, token: env().UPSTASH_REDIS_REST_TOKEN! })
  expect(await redis.set('user:1', { name: 'Änne' }, { ex: 60 })).toBe('OK')
  expect(await redis.get('user:1')).toEqual({ name: 'Änne' })
  expect(await redis.pipeline().incr('n').incr('n').get('missing').exec()).toEqual([1, 2, null])
  expect(await redis.multi().hset('h', { a: 1 }).hgetall('h').exec()).toEqual([1, { a: 1 }])
  expect(await redis.ttl('user:1')).toBe(60)
  await advance('61s')
  expect(await redis.get('user:1')).toBeNull()
})

test('the store SDK throws the rejections of the server as it throws errors of the service', async () => {
  await using small = await startServer({
    port: 0,
    dialect: 'upstash',
    clock: 'manual',
    limits: { maxBodyBytes: 1_000 },
  })
  const { env } = small.tenant('main')
  const redis = new Redis({
    url: env.UPSTASH_REDIS_REST_URL!,
    token: env.UPSTASH_REDIS_REST_TOKEN!,
    retry: false,
  })
  const failure = await redis.set('k', 'v'.repeat(2_000)).catch((error: Error) => error)
  expect(failure).toMatchObject({ name: 'UpstashError', message: expect.stringContaining('1000 bytes') })
})

test('the queue SDK publishes, and deliveries are retried and signed', async () => {
  const client = new Client({ baseUrl: env().QSTASH_URL!, token: env().QSTASH_TOKEN!, enableTelemetry: false })
  answers = [500, 200]
  const { messageId } = await client.publishJSON({
    url: appUrl('/orders?id=7'),
    body: { id: 7 },
    retries: 2,
    retryDelay: '60000',
  })
  expect(messageId).toMatch(/^msg_/)
  await advance('0s')
  expect(received).toHaveLength(1)
  await advance('59s')
  expect(received).toHaveLength(1)
  await advance('1s')
  expect(received.map(({ url, body }) => [url, body])).toEqual([
    ['/orders?id=7', '{"id":7}'],
    ['/orders?id=7', '{"id":7}'],
  ])
  expect(received[1]?.headers).toMatchObject({
    'upstash-message-id': messageId,
    'upstash-retried': '1',
    'user-agent': 'Upstash-QStash',
  })
  const receiver = new Receiver({
    currentSigningKey: env().QSTASH_CURRENT_SIGNING_KEY!,
    nextSigningKey: env().QSTASH_NEXT_SIGNING_KEY!,
  })
  const signature = String(received[1]?.headers['upstash-signature'])
  expect(await receiver.verify({ signature, body: received[1]!.body, url: appUrl('/orders?id=7') })).toBe(true)
  await expect(receiver.verify({ signature, body: 'changed' })).rejects.toThrow()
})

test('a message that always fails becomes a dead letter', async () => {
  const client = new Client({ baseUrl: env().QSTASH_URL!, token: env().QSTASH_TOKEN!, enableTelemetry: false })
  answers = [500, 503]
  await client.publish({ url: appUrl('/orders'), body: 'x', retries: 1, failureCallback: appUrl('/failed') })
  await fetch(`${server.origin}/_control/main/clock/drain`, { method: 'POST' })
  const { messages } = await client.dlq.listMessages()
  expect(messages).toMatchObject([{ url: appUrl('/orders'), responseStatus: 503 }])
  expect(received.map(({ url }) => url)).toEqual(['/orders', '/orders', '/failed'])
  expect(JSON.parse(received[2]!.body)).toMatchObject({
    status: 503,
    retried: 1,
    maxRetries: 1,
    dlqId: messages[0]?.dlqId,
  })
})

test('the management API counts the messages of the queue', async () => {
  const client = new Client({ baseUrl: env().QSTASH_URL!, token: env().QSTASH_TOKEN!, enableTelemetry: false })
  await client.publish({ url: appUrl('/orders'), body: 'x' })
  await advance('1s')
  const { urls, tokens } = server.tenant('main')
  const ask = (authorization: string): Promise<Response> =>
    fetch(`${urls.mgmt}/v2/qstash/stats/99a4c327-31f0-490f-a594-043ade84085a?period=1h`, {
      headers: { authorization },
    })
  const answer = await ask(`Basic ${btoa(`${tokens.mgmtUser}:${tokens.mgmtKey}`)}`)
  expect(answer.status).toBe(200)
  const { daily_used } = (await answer.json()) as { daily_used: { y: number }[] }
  expect(daily_used).toHaveLength(60)
  expect(daily_used.reduce((sum, { y }) => sum + y, 0)).toBeGreaterThan(0)
  expect((await ask('Basic bm86bm8=')).status).toBe(401)
})

test('deliveries to other machines are blocked unless their host is allowed', async () => {
  const client = new Client({ baseUrl: env().QSTASH_URL!, token: env().QSTASH_TOKEN!, enableTelemetry: false })
  await client.publish({ url: 'https://shop.example/orders', retries: 0 })
  await fetch(`${server.origin}/_control/main/clock/drain`, { method: 'POST' })
  const [attempt] = server.tenant('main').traffic.ofType('attempt')
  expect(attempt?.outcome).toMatchObject({ status: 0, state: 'FAILED' })
})

test('the queue SDK in development mode uses the server with only a port', async () => {
  const before = { ...process.env }
  try {
    process.env.QSTASH_DEV_PORT = String(server.port)
    delete (process.env as Record<string, string | undefined>).NODE_ENV
    const client = new Client({ devMode: true })
    await client.publishJSON({ url: appUrl('/orders'), body: { id: 42 }, callback: appUrl('/done') })
    await advance('1s')
    expect(received.map(({ url }) => url)).toEqual(['/orders', '/done'])
    const [order] = received
    const signature = String(order!.headers['upstash-signature'])
    expect(await new Receiver({ devMode: true }).verify({ signature, body: order!.body, url: appUrl('/orders') })).toBe(
      true,
    )
    expect((await client.logs({ filter: { state: 'DELIVERED' } })).logs).toHaveLength(2)
    // A tenant can still have the name v2.
    expect((await fetch(`${server.origin}/v2/store/ping?_token=${server.tenant('v2').tokens.store}`)).status).toBe(200)
    expect((await fetch(`${server.origin}/v2/queue/v2/keys`)).status).toBe(401)
  } finally {
    process.env = before
  }
})
