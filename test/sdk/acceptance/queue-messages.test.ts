import { describe, expect, test } from 'vitest'
import { open, shop } from './shop.js'

// Format of responses and callbacks. Expected: queue.md 1.3 to 1.5, 3, 4, 5.4, 5.5, 11.

const callbackUrl = 'https://shop.test/callback'
const failureUrl = 'https://shop.test/failed'

describe('publish', () => {
  test('returns an ID and the URL, for a URL group an array in endpoint order, which a batch nests', async () => {
    const { client, clock, destinations } = open()
    destinations.respond('https://shop.test/*', 200)
    expect(await client.publishJSON({ url: shop, body: {} })).toEqual({
      messageId: expect.stringMatching(/^msg_[1-9A-HJ-NP-Za-km-z]{56,64}$/),
      url: shop,
    })
    await client.urlGroups.addEndpoints({
      name: 'all',
      endpoints: [{ url: 'https://shop.test/a', name: 'first' }, { url: 'https://shop.test/b' }],
    })
    const fanOut = await client.publishJSON({ urlGroup: 'all', body: {} })
    expect(fanOut).toEqual([
      { messageId: expect.stringMatching(/^msg_/), url: 'https://shop.test/a' },
      { messageId: expect.stringMatching(/^msg_/), url: 'https://shop.test/b' },
    ])
    expect(new Set(fanOut.map((item) => item.messageId)).size).toBe(2)
    const batch = await client.batchJSON([
      { url: shop, body: 1 },
      { urlGroup: 'all', body: 2 },
      { url: shop, body: 3, queueName: 'fifo' },
      { urlGroup: 'nobody', body: 4 },
    ] as never)
    expect(batch).toEqual([
      { messageId: expect.stringMatching(/^msg_/) },
      [
        { messageId: expect.stringMatching(/^msg_/), url: 'https://shop.test/a' },
        { messageId: expect.stringMatching(/^msg_/), url: 'https://shop.test/b' },
      ],
      { messageId: expect.stringMatching(/^msg_/) },
      { error: expect.stringContaining('nobody') },
    ])
    await clock.drain()
    const { logs } = await client.logs({ filter: { state: 'DELIVERED' } })
    expect(logs).toHaveLength(1 + 2 + 4)
  })

  test('keeps the query of the destination, sends headers without prefix and the body byte for byte', async () => {
    const { client, clock, destinations } = open()
    const seen = destinations.record('https://shop.test/*')
    const url = 'https://shop.test/a%20b?x=1&upstash=2&y=%2F&z=a+b'
    await client.publish({
      url,
      body: 'ü\n\u0000"',
      method: 'PUT',
      headers: { 'Content-Type': 'text/weird', 'X-Own': 'mine', Authorization: 'Bearer app' },
      label: ['one', 'two'],
    })
    await clock.drain()
    const delivery = seen.last()
    expect(delivery.url).toBe(url)
    expect(delivery.method).toBe('PUT')
    expect(delivery.text()).toBe('ü\n\u0000"')
    const headers = Object.fromEntries(delivery.headers.map(([name, value]) => [name.toLowerCase(), value]))
    expect(headers).toMatchObject({
      'content-type': 'text/weird',
      'x-own': 'mine',
      authorization: 'Bearer app',
      'user-agent': 'Upstash-QStash',
      'upstash-retried': '0',
      'upstash-region': 'EU-CENTRAL-1',
    })
    expect(
      Object.keys(headers)
        .filter((name) => name.startsWith('upstash-'))
        .sort(),
    ).toEqual(['upstash-caller-ip', 'upstash-message-id', 'upstash-region', 'upstash-retried', 'upstash-signature'])
  })

  test('adds no content type', async () => {
    const { client, clock, destinations } = open()
    const seen = destinations.record(shop)
    await client.publish({ url: shop })
    await clock.drain()
    expect(seen.last().header('content-type')).toBeUndefined()
  })

  test.each([
    ['ftp://shop.test', 400, 'endpoint has invalid scheme, add http:// or https://'],
    ['shop.test/orders', 400, 'endpoint has invalid scheme, add http:// or https://'],
    ['unknown-group', 404, 'unknown-group'],
    ['https://', 400, 'invalid destination url'],
    ['https:// /x', 400, 'invalid destination url'],
  ])('rejects the destination %s', async (destination, status, text) => {
    const { env, sandbox } = open()
    const answer = await sandbox.fetch(`${env.QSTASH_URL}/v2/publish/${destination}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.QSTASH_TOKEN}` },
    })
    expect(answer.status).toBe(status)
    expect(((await answer.json()) as { error: string }).error).toContain(text)
  })
})

describe('a pending message', () => {
  test('shows everything it was published with', async () => {
    const { client, clock, sandbox, env } = open()
    const now = clock.now()
    const { messageId } = await client.publishJSON({
      url: shop,
      body: { id: 1 },
      headers: { 'bypass-tunnel-reminder': 'x' },
      delay: 60,
      retries: 5,
      retryDelay: '1000',
      callback: callbackUrl,
      failureCallback: failureUrl,
      label: ['a', 'b'],
      timeout: 30,
      flowControl: { key: 'k', parallelism: 2 },
    })
    const message = await client.messages.get(messageId)
    expect(message).toMatchObject({
      messageId,
      url: shop,
      method: 'POST',
      header: { 'Content-Type': ['application/json'], 'Bypass-Tunnel-Reminder': ['x'] },
      body: '{"id":1}',
      maxRetries: 5,
      notBefore: now + 60_000,
      createdAt: now,
      callback: callbackUrl,
      failureCallback: failureUrl,
      label: 'a',
      labels: ['a', 'b'],
      flowControlKey: 'k',
      parallelism: 2,
      period: 1,
      retryDelayExpression: '1000',
    })
    expect(message.rate).toBeUndefined()
    const raw = (await (
      await sandbox.fetch(`${env.QSTASH_URL}/v2/messages/${messageId}`, {
        headers: { authorization: `Bearer ${env.QSTASH_TOKEN}` },
      })
    ).json()) as Record<string, unknown>
    // These are the fields without which the Python SDK raises an error, and both spellings of the caller's IP address.
    for (const field of [
      'messageId',
      'url',
      'method',
      'maxRetries',
      'notBefore',
      'createdAt',
      'callerIP',
      'callerIp',
    ]) {
      expect(raw).toHaveProperty(field)
    }
    await clock.advance('61s')
  })

  test('has a binary body in base64 and can also be read after its delivery', async () => {
    const { client, clock, destinations } = open()
    destinations.respond(shop, 200)
    const bytes = new Uint8Array([0xff, 0xfe, 0, 1])
    const { messageId } = await client.publish({ url: shop, body: new Blob([bytes]), delay: 5 })
    const message = await client.messages.get(messageId)
    expect(message.bodyBase64).toBe('//4AAQ==')
    expect(message.body ?? '').toBe('')
    await clock.drain()
    expect(await client.messages.get(messageId)).toEqual(message)
  })
})

describe('callbacks', () => {
  test('arrive after every attempt with the documented body, the failure callback once with the dead letter', async () => {
    const { client, clock, destinations } = open()
    const done = destinations.record(callbackUrl)
    const failed = destinations.record(failureUrl)
    destinations.respond(shop, { status: 500, headers: { 'x-ratelimit-limit-requests': '5' }, body: 'broken' })
    const createdAt = clock.now()
    const { messageId } = await client.publishJSON({
      url: shop,
      body: { id: 1 },
      headers: { 'X-Own': 'mine', 'Upstash-Callback-Forward-X-Cb': 'cb', 'Upstash-Failure-Callback-Method': 'PUT' },
      retries: 2,
      callback: callbackUrl,
      failureCallback: failureUrl,
    })
    await clock.drain()
    expect(done.count).toBe(3)
    expect(failed.count).toBe(1)
    const bodies = done.requests.map((attempt) => attempt.json() as Record<string, unknown>)
    expect(bodies.map(({ retried }) => retried)).toEqual([0, 1, 2])
    expect(bodies[0]).toEqual({
      status: 500,
      header: expect.objectContaining({ 'X-Ratelimit-Limit-Requests': ['5'] }),
      body: Buffer.from('broken').toString('base64'),
      retried: 0,
      sourceMessageId: messageId,
      url: shop,
      method: 'POST',
      sourceHeader: { 'Content-Type': ['application/json'], 'X-Own': ['mine'] },
      sourceBody: Buffer.from('{"id":1}').toString('base64'),
      maxRetries: 2,
      notBefore: String(createdAt),
      createdAt: String(createdAt),
      callerIP: expect.any(String),
    })
    const { messages } = await client.dlq.listMessages()
    expect(failed.last().json()).toMatchObject({ dlqId: messages[0]!.dlqId, sourceMessageId: messageId, retried: 2 })
    expect(failed.last().method).toBe('PUT')
    expect(done.last().header('x-cb')).toBe('cb')
    expect(done.last().header('content-type')).toBe('application/json')
    expect(done.last().header('upstash-message-id')).not.toBe(messageId)
  })

  test("don't arrive for a canceled message; a callback that fails for good becomes a dead letter", async () => {
    const { client, clock, destinations } = open()
    destinations.respond(shop, 200)
    const done = destinations.record(callbackUrl, 500)
    const cancelled = await client.publish({
      url: shop,
      delay: 10,
      callback: callbackUrl,
      failureCallback: callbackUrl,
    })
    await client.messages.cancel(cancelled.messageId)
    await clock.drain()
    expect(done.count).toBe(0)
    await client.publish({ url: shop, retries: 1, callback: callbackUrl })
    await clock.drain()
    expect(done.count).toBe(2)
    const { messages } = await client.dlq.listMessages()
    expect(messages.map(({ url }) => url)).toEqual([callbackUrl])
  })
})

describe('the log', () => {
  async function states(prepare: (world: ReturnType<typeof open>) => Promise<string>): Promise<string[]> {
    const world = open()
    const messageId = await prepare(world)
    await world.clock.drain()
    const { logs } = await world.client.logs({ filter: { messageId } })
    return logs.map(({ state }) => state).reverse()
  }

  test('lists the states in the documented order', async () => {
    expect(
      await states(async ({ client, destinations }) => {
        destinations.respond(shop, 200)
        return (await client.publish({ url: shop })).messageId
      }),
    ).toEqual(['CREATED', 'ACTIVE', 'DELIVERED'])
    expect(
      await states(async ({ client, destinations }) => {
        let calls = 0
        destinations.respond(shop, () => (calls++ === 0 ? 500 : 200))
        return (await client.publish({ url: shop })).messageId
      }),
    ).toEqual(['CREATED', 'ACTIVE', 'ERROR', 'RETRY', 'ACTIVE', 'DELIVERED'])
    expect(
      await states(async ({ client, destinations }) => {
        destinations.respond(shop, 500)
        return (await client.publish({ url: shop, retries: 1 })).messageId
      }),
    ).toEqual(['CREATED', 'ACTIVE', 'ERROR', 'RETRY', 'ACTIVE', 'ERROR', 'FAILED'])
  })

  test('lists CANCELLED at the time at which a canceled message would have been delivered next', async () => {
    const { client, clock, destinations } = open()
    const seen = destinations.record(shop)
    const { messageId } = await client.publish({ url: shop, delay: 100 })
    await clock.advance('10s')
    expect(await client.messages.cancel(messageId)).toEqual({ cancelled: 1 })
    await expect(client.messages.get(messageId)).rejects.toMatchObject({ status: 404 })
    const start = clock.now()
    const before = await client.logs({ filter: { messageId } })
    expect(before.logs.map(({ state }) => state)).toEqual(['CANCEL_REQUESTED', 'CREATED'])
    await clock.drain()
    const { logs } = await client.logs({ filter: { messageId } })
    expect(logs.map(({ state, time }) => [state, (time - start) / 1000])).toEqual([
      ['CANCELLED', 90],
      ['CANCEL_REQUESTED', 0],
      ['CREATED', -10],
    ])
    expect(seen.count).toBe(0)
    expect((await client.dlq.listMessages()).messages).toEqual([])
    for (const state of ['CANCELLED', 'CANCELED'] as const) {
      expect((await client.logs({ filter: { state: state as never } })).logs).toHaveLength(1)
    }
  })

  test("lets an attempt succeed that is running during a cancellation, but doesn't retry it when it fails", async () => {
    const { client, clock, destinations } = open()
    destinations.on(shop, async (request, task) => {
      await task.sleep('5s')
      return new Response('', { status: Number(await request.text()) })
    })
    const good = await client.publish({ url: shop, body: '200' })
    const bad = await client.publish({ url: shop, body: '500' })
    await clock.advance('1s')
    expect(await client.messages.cancel({ all: true })).toEqual({ cancelled: 2 })
    await clock.drain()
    const states = async (messageId: string): Promise<string[]> =>
      (await client.logs({ filter: { messageId } })).logs.map(({ state }) => state).reverse()
    expect(await states(good.messageId)).toEqual(['CREATED', 'ACTIVE', 'CANCEL_REQUESTED', 'DELIVERED'])
    expect(await states(bad.messageId)).toEqual(['CREATED', 'ACTIVE', 'CANCEL_REQUESTED', 'ERROR', 'CANCELLED'])
  })

  test('has the fields that each SDK reads, and bodies in base64', async () => {
    const { client, clock, destinations, env, sandbox } = open()
    destinations.respond(shop, { status: 404, body: 'not here' })
    await client.publishJSON({ url: shop, body: { a: 1 }, retries: 1, retryDelay: '5000', label: 'l', timeout: 5 })
    await clock.drain()
    const get = async (path: string): Promise<Record<string, Record<string, unknown>[]>> =>
      (await (
        await sandbox.fetch(`${env.QSTASH_URL}${path}`, { headers: { authorization: `Bearer ${env.QSTASH_TOKEN}` } })
      ).json()) as never
    const { events } = await get('/v2/events?order=earliestFirst')
    for (const event of events!) {
      for (const field of ['time', 'messageId', 'state', 'url', 'method', 'maxRetries', 'header', 'callerIp']) {
        expect(event).toHaveProperty(field)
      }
    }
    const body = Buffer.from('{"a":1}').toString('base64')
    expect(events![0]).toMatchObject({ state: 'CREATED', body, label: 'l', labels: ['l'], timeout: 5000 })
    expect(events![0]).toMatchObject({ retryDelayExpression: '5000', retryDelayExpr: '5000' })
    const [error] = events!.filter(({ state }) => state === 'ERROR')
    expect(error).toMatchObject({
      error: '404 Not Found',
      responseStatus: 404,
      responseBody: Buffer.from('not here').toString('base64'),
      responseHeaders: expect.any(Object),
      responseHeader: expect.any(Object),
    })
    const [retry] = events!.filter(({ state }) => state === 'RETRY')
    expect(retry!.nextDeliveryTime).toBe((retry!.time as number) + 5000)
    const logs = await get('/v2/logs?order=earliestFirst')
    expect(logs.logs).toEqual(events)
    expect(logs.events).toEqual(events)
    const grouped = await get('/v2/events?groupBy=messageId')
    expect(grouped.messages).toEqual([{ messageId: events![0]!.messageId, events: expect.any(Array) }])
    const trimmed = await get('/v2/events?trimBody=3')
    expect(Buffer.from(trimmed.events![0]!.body as string, 'base64').toString()).toBe('{"a')
    const without = await get('/v2/events?trimBody=-1')
    expect(without.events![0]).not.toHaveProperty('body')
  })

  test('filters ACTIVE, RETRY and ERROR by state=IN_PROGRESS and continues a page where the last one ended', async () => {
    const { client, clock, destinations } = open()
    destinations.respond(shop, 500)
    for (let n = 0; n < 5; n++) await client.publish({ url: shop, body: String(n), retries: 1 })
    await clock.drain()
    const { logs } = await client.logs({ filter: { state: 'IN_PROGRESS' } })
    expect(new Set(logs.map(({ state }) => state))).toEqual(new Set(['ACTIVE', 'RETRY', 'ERROR']))
    expect(logs).toHaveLength(5 * 5)
    const all = (await client.logs({ count: 1000 })).logs
    const paged: unknown[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const page = await client.logs({ count: 4, ...(cursor === undefined ? {} : { cursor }) })
      expect(page.logs.length).toBeLessThanOrEqual(4)
      paged.push(...page.logs)
      cursor = page.cursor
      pages++
    } while (cursor !== undefined && pages < 50)
    expect(paged).toEqual(all)
  })
})

describe('dead letters', () => {
  test('contain the message and the last response; a retry creates a new message and removes the entry', async () => {
    const { client, clock, destinations, env, sandbox } = open()
    let answer = 404
    destinations.respond(shop, () => ({ status: answer, body: `${answer} Not Found` }))
    const { messageId } = await client.publishJSON({ url: shop, body: { id: 1 }, retries: 0, label: 'x' })
    await clock.drain()
    const [letter] = (await client.dlq.listMessages()).messages
    expect(letter).toMatchObject({
      messageId,
      url: shop,
      method: 'POST',
      body: '{"id":1}',
      responseStatus: 404,
      responseBody: '404 Not Found',
      responseHeader: expect.any(Object),
      dlqId: expect.stringMatching(/^\d+-\d+$/),
      label: 'x',
    })
    answer = 200
    const { responses } = await client.dlq.retry(letter!.dlqId)
    expect(responses).toEqual([expect.objectContaining({ messageId: expect.stringMatching(/^msg_/) })])
    expect(responses[0]!.messageId).not.toBe(messageId)
    expect((await client.dlq.listMessages()).messages).toEqual([])
    await clock.drain()
    const single = await sandbox.fetch(`${env.QSTASH_URL}/v2/dlq/retry/${letter!.dlqId}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${env.QSTASH_TOKEN}` },
    })
    expect(single.status).toBe(404)
  })

  test('expire after seven days on the default plan', async () => {
    const { client, clock, destinations } = open()
    destinations.respond(shop, 500)
    await client.publish({ url: shop, retries: 0 })
    await clock.drain()
    await clock.advance('167h')
    expect((await client.dlq.listMessages()).messages).toHaveLength(1)
    await clock.advance('2h')
    expect((await client.dlq.listMessages()).messages).toHaveLength(0)
    expect((await client.logs()).logs).toEqual([])
  })

  test('can be filtered by URL, status, label and several values; an unknown filter is rejected', async () => {
    const { client, clock, destinations } = open()
    destinations.respond('https://shop.test/*', (delivery) => Number(delivery.text()))
    for (const [path, status, label] of [
      ['a', 500, 'x'],
      ['b', 404, 'y'],
      ['a', 404, 'z'],
    ] as const) {
      await client.publish({ url: `https://shop.test/${path}`, body: String(status), retries: 0, label })
    }
    await clock.drain()
    const found = async (filter: object): Promise<(string | undefined)[]> =>
      (await client.dlq.listMessages({ filter })).messages.map(({ label }) => label)
    expect(await found({ url: 'https://shop.test/a' })).toEqual(['x', 'z'])
    expect(await found({ responseStatus: 404 })).toEqual(['y', 'z'])
    expect(await found({ responseStatus: [404, 500] })).toEqual(['x', 'y', 'z'])
    expect(await found({ responseStatus: 404, url: 'https://shop.test/a' })).toEqual(['z'])
    expect(await found({ label: ['x', 'y'] })).toEqual(['x', 'y'])
    await expect(client.dlq.listMessages({ filter: { lable: 'x' } as never })).rejects.toMatchObject({ status: 400 })
    await expect(client.dlq.listMessages({ filter: { host: 'shop.test' } as never })).rejects.toMatchObject({
      status: 400,
    })
  })
})

describe('redaction', () => {
  test('hides fields in every response, but delivers them in clear, also when retried from the dead letters', async () => {
    const { client, clock, destinations } = open()
    const seen = destinations.record(shop, 500)
    const { messageId } = await client.publish({
      url: shop,
      body: 'secret',
      headers: { 'X-Card': '4711', 'X-Open': 'yes' },
      redact: { body: true, header: ['X-Card'] },
      retries: 0,
      delay: 5,
    })
    const hash = async (text: string): Promise<string> =>
      `REDACTED:${Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('hex')}`
    const message = await client.messages.get(messageId)
    expect(message.body).toBe(await hash('secret'))
    expect(message.header).toMatchObject({ 'X-Card': [await hash('4711')], 'X-Open': ['yes'] })
    await clock.drain()
    expect(seen.last().text()).toBe('secret')
    expect(seen.last().header('x-card')).toBe('4711')
    const everything = JSON.stringify([await client.logs(), await client.dlq.listMessages()])
    expect(everything).not.toContain('4711')
    expect(everything).not.toContain('"secret"')
    expect(everything).not.toContain(Buffer.from('secret').toString('base64'))
    const [letter] = (await client.dlq.listMessages()).messages
    await client.dlq.retry(letter!.dlqId)
    await clock.drain()
    expect(seen.count).toBe(2)
    expect(seen.last().text()).toBe('secret')
    expect(seen.last().header('x-card')).toBe('4711')
  })
})
