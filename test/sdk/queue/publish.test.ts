import { describe, expect, test } from 'vitest'
import { shop } from '../../queue/world.js'
import { quietSdk, sdkWorld, ways } from './sdk-world.js'

// Requests and responses of queue.md 1.3, 1.4 and 11, sent by the unmodified SDK.
quietSdk()

describe.each(ways)('through %s', (way) => {
  describe('publish', () => {
    test('publishJSON() delivers the JSON, forwarded headers and the signature to a URL', async () => {
      const { client, clock, destinations, receiver } = await sdkWorld(way)
      const orders = destinations.record(shop)
      const { messageId, url } = await client.publishJSON({
        url: shop,
        body: { id: 42 },
        headers: { 'x-order': '42' },
        retries: 2,
        delay: 5,
        timeout: 30,
        label: ['a', 'b'],
      })
      expect(messageId).toMatch(/^msg_[1-9A-HJ-NP-Za-km-z]{56,64}$/)
      expect(url).toBe(shop)
      const message = await client.messages.get(messageId)
      expect(message).toMatchObject({
        messageId,
        url: shop,
        method: 'POST',
        body: '{"id":42}',
        maxRetries: 2,
        header: { 'Content-Type': ['application/json'], 'X-Order': ['42'] },
        label: 'a',
        labels: ['a', 'b'],
        createdAt: clock.now(),
        notBefore: clock.now() + 5000,
      })
      await clock.advance('4999ms')
      expect(orders.count).toBe(0)
      await clock.advance('1ms')
      const delivery = orders.last()
      expect(delivery.json()).toEqual({ id: 42 })
      expect(delivery.header('x-order')).toBe('42')
      expect(delivery.header('user-agent')).toBe('Upstash-QStash')
      expect(delivery.header('upstash-message-id')).toBe(messageId)
      expect(delivery.headers.map(([name]) => name).filter((name) => /telemetry|label/i.test(name))).toEqual([])
      const signature = delivery.header('upstash-signature')!
      await expect(receiver.verify({ signature, body: delivery.text(), url: shop })).resolves.toBe(true)
    })

    test('publish() sends a text body with the content type that fetch sets', async () => {
      const { client, clock, destinations } = await sdkWorld(way)
      const orders = destinations.record(shop)
      await client.publish({ url: `${shop}?a=1&b=x%20y`, body: 'plain ✓' })
      await clock.drain()
      expect(orders.last().text()).toBe('plain ✓')
      expect(orders.last().url).toBe(`${shop}?a=1&b=x%20y`)
      expect(orders.last().header('content-type')).toBe('text/plain;charset=UTF-8')
    })

    test('publish() to a URL group returns an array in endpoint order', async () => {
      const { client, clock, destinations } = await sdkWorld(way)
      const seen = destinations.record('https://shop.test/*')
      await client.urlGroups.addEndpoints({
        name: 'all',
        endpoints: [{ url: 'https://shop.test/a', name: 'first' }, { url: 'https://shop.test/b' }],
      })
      const answers = await client.publishJSON({ urlGroup: 'all', body: { id: 1 } })
      expect(answers).toHaveLength(2)
      expect(answers.map(({ url }) => url)).toEqual(['https://shop.test/a', 'https://shop.test/b'])
      await clock.drain()
      expect(seen.requests.map((delivery) => delivery.header('upstash-topic-name'))).toEqual(['all', 'all'])
      const older = await client.publishJSON({ topic: 'all', body: 1 })
      expect(older).toHaveLength(2)
    })

    test('publish() returns the ID of the first message for a duplicate', async () => {
      const { client } = await sdkWorld(way)
      const first = await client.publishJSON({ url: shop, body: 1, deduplicationId: 'x' })
      const second = await client.publishJSON({ url: shop, body: 1, deduplicationId: 'x' })
      expect(first.deduplicated).toBeUndefined()
      expect(second).toMatchObject({ messageId: first.messageId, deduplicated: true })
      const content = await client.publishJSON({ url: shop, body: 2, contentBasedDeduplication: true })
      const again = await client.publishJSON({ url: shop, body: 2, contentBasedDeduplication: true })
      expect(again).toMatchObject({ messageId: content.messageId, deduplicated: true })
    })

    test('batch() and batchJSON() publish items to URLs, URL groups and FIFO queues', async () => {
      const { client, clock, destinations } = await sdkWorld(way)
      const seen = destinations.record('https://shop.test/*')
      await client.urlGroups.addEndpoints({
        name: 'all',
        endpoints: [{ url: 'https://shop.test/a' }, { url: 'https://shop.test/b' }],
      })
      const answers = await client.batchJSON([
        { url: shop, body: { id: 1 } },
        { urlGroup: 'all', body: { id: 2 } },
        { url: shop, body: { id: 3 }, queueName: 'q' },
      ])
      expect(answers).toHaveLength(3)
      expect(answers[0]).toMatchObject({ messageId: expect.stringMatching(/^msg_/) })
      expect(answers[1]).toMatchObject([{ url: 'https://shop.test/a' }, { url: 'https://shop.test/b' }])
      await clock.drain()
      expect(seen.requests.map((delivery) => delivery.json())).toEqual([{ id: 1 }, { id: 2 }, { id: 2 }, { id: 3 }])
      expect(await client.queue({ queueName: 'q' }).get()).toMatchObject({ name: 'q', parallelism: 1, lag: 0 })
      const texts = await client.batch([{ url: shop, body: 'plain' }])
      expect(texts).toHaveLength(1)
    })

    test('publishJSON() accepts callbacks, flow control, redaction and retry delay as the SDK encodes them', async () => {
      const { client } = await sdkWorld(way)
      const { messageId } = await client.publishJSON({
        url: shop,
        body: 'secret',
        method: 'PUT',
        headers: { Authorization: 'Bearer abc' },
        callback: 'https://shop.test/cb',
        failureCallback: 'https://shop.test/failed',
        retryDelay: '1000 * (1 + retried)',
        notBefore: 1_893_456_060,
        flowControl: { key: 'k', parallelism: 2, rate: 10, period: '1m' },
        redact: { body: true, header: ['Authorization'] },
      })
      expect(await client.messages.get(messageId)).toMatchObject({
        method: 'PUT',
        body: expect.stringMatching(/^REDACTED:[0-9a-f]{64}$/),
        header: { Authorization: [expect.stringMatching(/^REDACTED:/)], 'Content-Type': ['application/json'] },
        callback: 'https://shop.test/cb',
        failureCallback: 'https://shop.test/failed',
        retryDelayExpression: '1000 * (1 + retried)',
        notBefore: 1_893_456_060_000,
        flowControlKey: 'k',
        parallelism: 2,
        rate: 10,
        ratePerSecond: 10,
        period: 60,
      })
    })

    test("throws the SDK's error with the body of the response as its message", async () => {
      const { client } = await sdkWorld(way)
      await expect(client.publishJSON({ url: 'example.com/x', body: 1 })).rejects.toMatchObject({
        name: 'QstashError',
        status: 400,
        message: '{"error":"invalid destination url: endpoint has invalid scheme, add http:// or https://"}',
      })
      await expect(client.publishJSON({ urlGroup: 'nobody', body: 1 })).rejects.toMatchObject({ status: 404 })
    })

    test('enqueue() and enqueueJSON() deliver one message after another', async () => {
      const { client, clock, destinations } = await sdkWorld(way)
      const order: string[] = []
      destinations.on(shop, async (request, task) => {
        const body = await request.text()
        order.push(`${body} in`)
        await task.sleep('1s')
        order.push(`${body} out`)
        return new Response('ok')
      })
      const queue = client.queue({ queueName: 'line' })
      const first = await queue.enqueueJSON({ url: shop, body: 1 })
      await queue.enqueue({ url: shop, body: '2' })
      expect(first).toMatchObject({ messageId: expect.stringMatching(/^msg_/) })
      await clock.drain()
      expect(order).toEqual(['1 in', '1 out', '2 in', '2 out'])
    })

    test('forwards global headers of the client and publishes a chat request to the URL of its provider', async () => {
      const { client, clock, destinations } = await sdkWorld(way)
      const mail = destinations.record('https://api.resend.com/*')
      const { resend } = await import('@upstash/qstash')
      await client.publishJSON({
        api: { name: 'email', provider: resend({ token: 'mail-token' }) },
        body: { to: 'a@shop.test' },
      })
      await clock.drain()
      expect(mail.last().url).toBe('https://api.resend.com/emails')
      expect(mail.last().header('authorization')).toBe('Bearer mail-token')
    })
  })
})
