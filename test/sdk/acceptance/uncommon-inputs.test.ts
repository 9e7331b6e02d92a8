import { Client, QstashError, Receiver } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { describe, expect, test } from 'vitest'
import { createSandbox } from '../../../src/sandbox/sandbox.js'
import { open, shop } from './shop.js'

// Inputs that are valid but uncommon.

describe('publish()', () => {
  test('accepts every kind of body that fetch accepts', async () => {
    const { client, clock, destinations } = open()
    const seen = destinations.record(shop)
    const form = new FormData()
    form.set('field', 'välue')
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('in '))
        controller.enqueue(new TextEncoder().encode('pieces'))
        controller.close()
      },
    })
    await client.publish({ url: shop, body: new URLSearchParams({ a: '1', b: 'x y' }) })
    await client.publish({ url: shop, body: new Blob(['blob'], { type: 'text/x-blob' }) })
    await client.publish({ url: shop, body: stream })
    await client.publish({ url: shop, body: form })
    await client.publish({ url: shop, body: 'x'.repeat(1_000_000) })
    await client.publishJSON({ url: shop, body: { deep: [{ ü: null }] } })
    await clock.drain()
    const [params, blob, pieces, multipart, big, json] = seen.requests
    expect([params!.text(), params!.header('content-type')]).toEqual([
      'a=1&b=x+y',
      expect.stringContaining('application/x-www-form-urlencoded'),
    ])
    expect([blob!.text(), blob!.header('content-type')]).toEqual(['blob', 'text/x-blob'])
    expect(pieces!.text()).toBe('in pieces')
    expect(multipart!.header('content-type')).toMatch(/^multipart\/form-data; boundary=/)
    expect(multipart!.text()).toContain('välue')
    expect(big!.bytes).toHaveLength(1_000_000)
    expect(json!.json()).toEqual({ deep: [{ ü: null }] })
  })
})

test('treats names of JavaScript properties as any other name', async () => {
  const { client, clock, destinations, env, sandbox, redis } = open()
  const seen = destinations.record(shop, 500)
  const name = '__proto__'
  await sandbox.fetch(`${env.QSTASH_URL}/v2/publish/${shop}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${env.QSTASH_TOKEN}`,
      'upstash-retries': '0',
      'upstash-forward-__proto__': 'a',
      'upstash-forward-constructor': 'b',
      'upstash-label': name,
      'upstash-flow-control-key': name,
      'upstash-flow-control-value': 'parallelism=1',
      'upstash-deduplication-id': name,
    },
  })
  await clock.drain()
  expect([seen.last().header('__proto__'), seen.last().header('constructor')]).toEqual(['a', 'b'])
  expect((await client.logs({ filter: { label: name } })).logs).toHaveLength(4)
  const [letter] = (await client.dlq.listMessages({ filter: { label: name, flowControlKey: name } })).messages
  expect(Object.entries(letter!.header!)).toContainEqual(['__proto__', ['a']])
  await redis.hset(name, { constructor: 1 })
  expect(await redis.hget(name, 'constructor')).toBe(1)
  expect(await redis.keys('*')).toEqual([name])
  expect(({} as Record<string, unknown>).a).toBeUndefined()
})

describe('regions', () => {
  test('have a URL each; deliveries name their region, and the other region rejects the token', async () => {
    const { sandbox, env, clock, destinations } = open({ policy: { homeRegion: undefined } })
    const seen = destinations.record(shop)
    for (const region of ['us-east-1', 'eu-central-1'] as const) {
      await new Client({ baseUrl: sandbox.urls.regions[region], token: env.QSTASH_TOKEN!, retry: false }).publish({
        url: shop,
      })
    }
    await clock.drain()
    expect(seen.requests.map((attempt) => attempt.header('upstash-region'))).toEqual(['US-EAST-1', 'EU-CENTRAL-1'])
    const strict = open({ name: 'strict', policy: { homeRegion: 'eu-central-1' } })
    const wrong = new Client({
      baseUrl: strict.sandbox.urls.regions['us-east-1'],
      token: strict.env.QSTASH_TOKEN!,
      retry: false,
    })
    await expect(wrong.publish({ url: shop })).rejects.toMatchObject({
      status: 404,
      message: expect.stringMatching(/user \(.*\) not found in this region \(us-east-1\)/),
    })
  })
})

describe('clients and sandboxes with uncommon options', () => {
  test('work without deserialization and read-your-writes, and with an aborted signal', async () => {
    const { env } = open()
    const at = { url: env.UPSTASH_REDIS_REST_URL!, token: env.UPSTASH_REDIS_REST_TOKEN!, retry: false as const }
    const plain = new Redis({ ...at, automaticDeserialization: false, readYourWrites: false })
    await plain.set('k', '{"a":1}')
    expect(await plain.get('k')).toBe('{"a":1}')
    const aborted = new Redis({ ...at, signal: () => AbortSignal.abort(new Error('too late')) })
    await expect(aborted.get('k')).rejects.toThrow('too late')
  })

  test('accept a trailing slash in the URL', async () => {
    const { env } = open()
    const redis = new Redis({ url: `${env.UPSTASH_REDIS_REST_URL}/`, token: env.UPSTASH_REDIS_REST_TOKEN! })
    expect(await redis.set('k', 1)).toBe('OK')
    const client = new Client({ baseUrl: `${env.QSTASH_URL}/`, token: env.QSTASH_TOKEN! })
    expect((await client.publish({ url: shop })).messageId).toMatch(/^msg_/)
  })

  test('read with a read-only queue token, which cannot change anything', async () => {
    const { sandbox, env, client } = open()
    await client.publish({ url: shop, delay: 60 })
    const reader = new Client({ baseUrl: env.QSTASH_URL!, token: sandbox.tokens.queueReadonly, retry: false })
    expect((await reader.logs()).logs).toHaveLength(1)
    expect(await reader.schedules.list()).toEqual([])
    const refused = [
      () => reader.publish({ url: shop }),
      () => reader.batch([{ url: shop }]),
      () => reader.queue({ queueName: 'q' }).upsert({ parallelism: 1 }),
      () => reader.messages.cancel({ all: true }),
      () => reader.schedules.create({ destination: shop, cron: '* * * * *' }),
      () => reader.urlGroups.addEndpoints({ name: 'g', endpoints: [{ url: shop }] }),
      () => reader.dlq.delete({ all: true }),
      () => reader.flowControl.pause('k'),
    ]
    for (const change of refused) await expect(change()).rejects.toMatchObject({ status: 403 })
    expect(sandbox.queue.messages).toHaveLength(1)
  })

  test('restore the original fetch when several sandboxes are disposed in any order', () => {
    const before = globalThis.fetch
    const a = open()
    const b = open({ name: 'b' })
    const c = open({ name: 'c' })
    a.sandbox.dispose()
    c.sandbox.dispose()
    b.sandbox.dispose()
    expect(globalThis.fetch).toBe(before)
  })

  test('reject requests to the real hosts of the vendor while fetch is replaced', async () => {
    open()
    for (const url of [
      'https://qstash.upstash.io/v2/keys',
      'https://eu1-merry-cat-32748.upstash.io',
      'https://QSTASH.UPSTASH.IO./v2',
    ]) {
      await expect(fetch(url)).rejects.toThrow('Point the client at the sandbox')
    }
  })
})

describe('two sandboxes', () => {
  test('produce the same traffic with the same seed, byte for byte, through both SDKs', async () => {
    const run = async (): Promise<string> => {
      const { sandbox, client, redis, clock, destinations } = open()
      destinations.respond(shop, (delivery) => (delivery.retried < 1 ? 503 : 200))
      await redis.set('a', 1, { ex: 10 })
      await Promise.all([redis.incr('n'), redis.get('a'), redis.hset('h', { x: 1 })])
      await client.batchJSON([
        { url: shop, body: { id: 1 }, callback: `${shop}/done` },
        { url: shop, body: { id: 2 }, delay: 30, flowControl: { key: 'k', rate: 1, period: 60 } },
      ])
      await client.schedules.create({ destination: shop, cron: '*/10 * * * *' })
      destinations.respond(`${shop}/done`, 200)
      await clock.advance('1h')
      await redis.srandmember('h').catch(() => undefined)
      const story = JSON.stringify(sandbox.traffic.entries) + sandbox.traffic.timeline() + sandbox.traffic.diagram()
      sandbox.dispose()
      return story
    }
    expect(await run()).toBe(await run())
  })

  test('produce other IDs with another seed', () => {
    const id = (seed: number): string => {
      const made = createSandbox({ seed }).queue.publish({ to: shop })
      return 'id' in made ? made.id : ''
    }
    expect(id(1)).toBe(id(1))
    expect(id(1)).not.toBe(id(2))
  })
})

describe('errors of the queue, as the SDK throws them', () => {
  test.each<[string, (client: Client) => Promise<unknown>, number, string | RegExp]>([
    ['a message', (client) => client.messages.get('msg_nobody'), 404, /msg_nobody not found/],
    ['a queue', (client) => client.queue({ queueName: 'nobody' }).get(), 404, /nobody not found/],
    ['a schedule', (client) => client.schedules.get('scd_nobody'), 404, /scd_nobody not found/],
    ['a group', (client) => client.urlGroups.get('nobody'), 404, /nobody not found/],
    ['a queue name', (client) => client.queue({ queueName: 'a/b' }).upsert({ parallelism: 1 }), 400, /a\/b/],
    ['a parallelism', (client) => client.queue({ queueName: 'q' }).upsert({ parallelism: 0 }), 400, /parallelism/],
    ['a callback', (client) => client.publish({ url: shop, callback: 'shop.test/x' }), 400, /invalid scheme/],
    [
      'a flow-control period',
      (client) => client.publish({ url: shop, flowControl: { key: 'k', rate: 1, period: '8d' } }),
      400,
      /period/,
    ],
  ])('report a wrong or unknown item: %s', async (_, call, status, text) => {
    const { client } = open()
    const error = (await call(client).catch((thrown: unknown) => thrown)) as QstashError
    expect(error).toBeInstanceOf(QstashError)
    expect(error.status).toBe(status)
    expect(JSON.parse(error.message)).toEqual({ error: expect.stringMatching(text) })
  })

  test('include exceeded quotas when quotas are enforced', async () => {
    const { client } = open({ policy: { enforceQuotas: true, queuePlan: 'free' } })
    const limits: [() => Promise<unknown>, RegExp][] = [
      [() => client.publish({ url: shop, delay: '8d' }), /^quota maxDelay exceeded, current limit: 604800$/],
      [() => client.publish({ url: shop, retries: 6 }), /^quota maxRetries exceeded, current limit: 5$/],
      [() => client.publish({ url: shop, body: 'x'.repeat(1_048_577) }), /^quota maxMessageSize exceeded/],
      [
        () => client.queue({ queueName: 'q' }).upsert({ parallelism: 3 }),
        /^quota maxParallelism exceeded, current limit: 2$/,
      ],
    ]
    for (const [call, text] of limits) {
      const error = (await call().catch((thrown: unknown) => thrown)) as QstashError
      expect([error.status, (JSON.parse(error.message) as { error: string }).error]).toEqual([
        412,
        expect.stringMatching(text),
      ])
    }
    // One item above the quota rejects the whole batch.
    await expect(client.batch([{ url: shop }, { url: shop, delay: '8d' }])).rejects.toMatchObject({ status: 412 })
    expect((await client.logs()).logs).toEqual([])
  })
})

test('Receiver accepts a delivery when only one of its keys is right', async () => {
  const { client, clock, destinations, env } = open()
  const seen = destinations.record(shop)
  await client.publish({ url: shop, body: 'x' })
  await clock.drain()
  const signature = seen.last().header('upstash-signature')!
  const verify = (currentSigningKey: string, nextSigningKey: string): Promise<boolean> =>
    new Receiver({ currentSigningKey, nextSigningKey }).verify({ signature, body: 'x' })
  expect(await verify('sig_other', env.QSTASH_CURRENT_SIGNING_KEY!)).toBe(true)
  await expect(verify('sig_other', env.QSTASH_NEXT_SIGNING_KEY!)).rejects.toThrow('signature verification failed')
})
