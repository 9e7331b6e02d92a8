import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { Client as WorkflowClient } from '@upstash/workflow'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { replaceFetch } from 'stuntdouble/fetch'
import { expect, test } from 'vitest'
import { sdkOf } from '../../../src/report/copy/sdk.js'
import type { TraceEntry } from '../../../src/report/trace.js'
import { hostile, randomHostile } from './hostile-texts.js'

const orders = 'https://shop.test/orders'
type App = (world: { redis: Redis; client: Client; sandbox: Sandbox }) => Promise<unknown>

/** Runs code with the SDKs in a new sandbox. */
async function requestsOf(app: App): Promise<readonly TraceEntry[]> {
  const sandbox = createSandbox({ seed: 3 })
  const restore = replaceFetch(sandbox)
  const before = { ...process.env }
  Object.assign(process.env, sandbox.env)
  try {
    await app({ redis: Redis.fromEnv(), client: new Client(), sandbox })
    const { entries } = JSON.parse(JSON.stringify(sandbox.traffic)) as { entries: TraceEntry[] }
    return entries.filter(({ type }) => type === 'request')
  } finally {
    process.env = before
    restore()
    sandbox.dispose()
  }
}

const AsyncFunction = (async () => {}).constructor as new (
  ...args: string[]
) => (...given: unknown[]) => Promise<unknown>

/** Returns what a copied call sends when it runs. Injected code would find `require`. */
async function sentBy(code: string): Promise<readonly TraceEntry[]> {
  const executed: unknown[] = []
  const body = code.replace(/^import .*$/gm, '')
  const requests = await requestsOf(() =>
    new AsyncFunction('Redis', 'Client', 'require', body)(
      Redis,
      code.includes('@upstash/workflow') ? WorkflowClient : Client,
      () => ({
        writeFileSync: (name: string) => executed.push(name),
      }),
    )
      // Another sandbox may reject the request. Only what was sent is compared.
      .catch((error: Error) => expect(error).not.toBeInstanceOf(SyntaxError)),
  )
  expect(executed).toEqual([])
  return requests
}

const shape = ({ service, method, url, headers, body }: TraceEntry): object => ({
  service,
  method,
  url,
  headers: (headers as string[][]).map(([name, value]) => [name!.toLowerCase(), value]).sort(),
  body,
})

async function expectSame(app: App): Promise<void> {
  const requests = await requestsOf(app)
  expect(requests.length).toBeGreaterThan(0)
  for (const entry of requests) {
    // Nothing is known about a body that is redacted completely.
    if (entry.body === '***') continue
    const code = sdkOf(
      { entries: [entry], entry: entry.seq },
      { addresses: { store: 'https://store.test', queue: 'https://queue.test' } },
    )
    const again = await sentBy(code)
    expect(again.map(shape), code).toEqual([shape(entry)])
  }
}

const apps: Readonly<Record<string, App>> = {
  'commands of the store': async ({ redis }) => {
    await redis.set('a', { b: 1 }, { ex: 60 })
    await redis.set('b', 'x', { nx: true, px: 500 })
    await redis.get('a')
    await redis.incrby('n', 5)
    await redis.hset('h', { f: 1, g: 'x' })
    await redis.lpush('l', 'a', 'b')
    await redis.lrange('l', 0, -1)
    await redis.exec(['MEMORY', 'USAGE', 'a'])
  },
  'a pipeline, a transaction, commands by themselves': async ({ redis }) => {
    await redis.pipeline().set('a', 1).incr('a').exec()
    await redis.multi().set('a', 1).get('a').exec()
    await Redis.fromEnv({ enableAutoPipelining: false } as never).set('a', 'b')
  },
  publishes: async ({ client, sandbox }) => {
    sandbox.queue.urlGroups.addEndpoints('fleet', ['https://a.test/hook'])
    await client.publishJSON({
      url: orders,
      body: { id: 1 },
      delay: '2d',
      retries: 2,
      callback: 'https://shop.test/done',
      headers: { 'x-a': 'b' },
    })
    await client.publish({ url: orders, body: 'text', method: 'PUT', timeout: '10s', label: 'l', deduplicationId: 'd' })
    await client.publish({
      url: orders,
      flowControl: { key: 'k', parallelism: 2 },
      failureCallback: 'https://shop.test/f',
      retryDelay: '1000',
    })
    await client.publishJSON({
      urlGroup: 'fleet',
      body: [1],
      contentBasedDeduplication: true,
      notBefore: 1_893_456_100,
    })
    await client.queue({ queueName: 'lane' }).enqueueJSON({ url: orders, body: {} })
  },
  'a batch, a schedule, a url group, others': async ({ client }) => {
    await client.batchJSON([
      { url: orders, body: 1, delay: 5 },
      { url: orders, body: { two: 2 }, queueName: 'q', headers: { 'x-b': 'c' } },
    ])
    await client.schedules.create({ destination: orders, cron: '0 3 * * *', scheduleId: 's', body: 'tick', retries: 1 })
    await client.urlGroups.addEndpoints({ name: 'fleet', endpoints: [{ url: 'https://a.test/hook', name: 'a' }] })
    await client.queue({ queueName: 'lane' }).upsert({ parallelism: 2 })
    await client.schedules.list()
    await client.dlq.listMessages()
  },
}

test('a copied trigger triggers the workflow again, with all options of its client', async () => {
  await expectSame(async () => {
    await new WorkflowClient({}).trigger({
      url: orders,
      body: { id: 1 },
      workflowRunId: 'order-1',
      retries: 2,
      headers: { 'x-a': 'b' },
    })
  })
})

test.each(Object.entries(apps))('%s: the copied call sends the same request', (_, app) => expectSame(app))

test('the copied call sends the same request for any arguments, bodies, headers and names', async () => {
  for (const text of [...hostile, ...randomHostile(60)]) {
    const value = /^[\x20-\x7e]*$/.test(text) ? text.trim() || 'x' : 'x'
    await expectSame(async ({ redis, client }) => {
      await redis.set(text, text)
      await redis.hset(`h:${text}`, { [text]: text })
      await redis.exec(['ECHO', text])
      await client.publish({
        url: `${orders}?${encodeURIComponent(text)}`,
        body: text,
        headers: { 'x-a': value },
        label: value.replaceAll(',', ' '),
      })
      await client.batchJSON([{ url: orders, body: { [text]: text } }])
    })
  }
})
