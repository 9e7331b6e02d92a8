import { describe, expect, test } from 'vitest'
import { devUsers } from '../../src/queue/signing/public-users.js'
import { credentials, shop, world } from './world.js'

describe('destinations of a publish [queue.md 1.3]', () => {
  test('return messageId and url for a URL', async () => {
    const { send } = world()
    const answer = await send('POST', `/v2/publish/${shop}`, { body: 'x' })
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({ messageId: expect.stringMatching(/^msg_[1-9A-HJ-NP-Za-km-z]{56,64}$/), url: shop })
  })

  test("keep their own query, without the service's parameters", async () => {
    const { send, clock, destinations } = world()
    const seen = destinations.record('https://shop.test/*')
    const token = encodeURIComponent(devUsers[0].token)
    await send('POST', `/v2/publish/${shop}?a=1&service-retries=0&b=x%20y%2Bz&service_token=${token}&c`, {
      token: null,
    })
    await clock.drain()
    expect(seen.last().url).toBe(`${shop}?a=1&b=x%20y%2Bz&c`)
    expect(seen.last().maxRetries).toBe(0)
  })

  test('are repaired after a proxy collapsed a double slash', async () => {
    const { send } = world()
    expect((await send('POST', '/v2/publish/https:/shop.test/orders')).json.url).toBe(shop)
  })

  test('are accepted with a diagnostic when percent-encoded, and rejected by the strict option', async () => {
    const { send, queue } = world()
    const encoded = encodeURIComponent('https://shop.test/orders?x=1')
    expect((await send('POST', `/v2/publish/${encoded}`)).json.url).toBe('https://shop.test/orders?x=1')
    expect(queue.diagnostics).toHaveLength(1)
    const strict = world({ policy: { rejectEncodedDestination: true } })
    const refused = await strict.send('POST', `/v2/publish/${encoded}`)
    expect([refused.status, refused.json.error]).toEqual([
      400,
      'invalid destination url: endpoint has invalid scheme, add http:// or https://',
    ])
  })

  test('cause each diagnostic once, however often it occurs', async () => {
    const { send, queue } = world()
    for (let n = 0; n < 3; n++) await send('POST', `/v2/publish/${encodeURIComponent(shop)}`)
    expect(queue.diagnostics).toHaveLength(1)
  })

  test.each(['shop.test/orders', 'ftp://shop.test/x', 'localhost:3000/x'])(
    'are rejected for an invalid scheme: %s',
    async (destination) => {
      const { send } = world()
      const refused = await send('POST', `/v2/publish/${destination}`)
      expect([refused.status, refused.text]).toEqual([
        400,
        '{"error":"invalid destination url: endpoint has invalid scheme, add http:// or https://"}',
      ])
    },
  )

  test('are not found when a valid name is not a URL group', async () => {
    const { send } = world()
    const refused = await send('POST', '/v2/publish/nobody')
    expect([refused.status, refused.json.error]).toEqual([404, 'topic nobody not found'])
  })

  test("may be loopback URLs, unless the option rejects them with the service's text [queue.md 1.13]", async () => {
    expect((await world().send('POST', '/v2/publish/http://localhost:3000/x')).status).toBe(200)
    const { send } = world({ policy: { rejectLoopback: true } })
    for (const [url, address] of [
      ['http://localhost:3000/x', '127.0.0.1'],
      ['http://127.0.0.1/x', '127.0.0.1'],
      ['http://[::1]:8080/x', '::1'],
    ]) {
      const refused = await send('POST', `/v2/publish/${url}`)
      expect([refused.status, refused.json.error]).toEqual([
        400,
        `invalid destination url: endpoint resolves to a loopback address: ${address}`,
      ])
    }
    expect((await send('POST', `/v2/publish/${shop}`)).status).toBe(200)
  })

  test('receive the body byte for byte', async () => {
    const { send, clock, destinations } = world()
    const seen = destinations.record(shop)
    const bytes = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('')
    await send('POST', `/v2/publish/${shop}`, { body: bytes, raw: true })
    await clock.drain()
    expect([...seen.last().bytes]).toEqual(Array.from({ length: 256 }, (_, code) => code))
  })

  test('may be preceded by a resource with a trailing slash [queue.md 1.1]', async () => {
    const { send } = world()
    expect((await send('POST', '/v2/queues/', { body: { queueName: 'q' } })).status).toBe(200)
    expect((await send('GET', '/v2/queues/')).json).toHaveLength(1)
  })
})

describe('options of a publish [queue.md 2.1, 2.2]', () => {
  test('can be query parameters, but headers win', async () => {
    const { send } = world()
    const byQuery = await send('POST', `/v2/publish/${shop}?service-retries=7&service-delay=100s&service-label=a`)
    const byBoth = await send('POST', `/v2/publish/${shop}?service-retries=7`, { headers: { 'Service-Retries': '1' } })
    const one = await send('GET', `/v2/messages/${byQuery.json.messageId}`)
    expect(one.json).toMatchObject({ maxRetries: 7, notBefore: 1_893_456_100_000, labels: ['a'] })
    expect((await send('GET', `/v2/messages/${byBoth.json.messageId}`)).json.maxRetries).toBe(1)
  })

  test('have case-insensitive names', async () => {
    const { send } = world()
    const { json } = await send('POST', `/v2/publish/${shop}?SERVICE-Retries=4`, { headers: { 'sErViCe-LaBeL': 'x' } })
    expect((await send('GET', `/v2/messages/${json.messageId}`)).json).toMatchObject({ maxRetries: 4, label: 'x' })
  })

  test.each([
    ['Method', 'FETCH'],
    ['Timeout', 'soon'],
    ['Timeout', '0s'],
    ['Retries', '-1'],
    ['Retries', '1.5'],
    ['Retries', 'many'],
    ['Retry-Delay', '1000 * retries'],
    ['Retry-Delay', 'pow(2)'],
    ['Delay', '10'],
    ['Delay', '10 minutes'],
    ['Not-Before', 'tomorrow'],
    ['Content-Based-Deduplication', 'yes'],
    ['Flow-Control-Key', 'a b'],
    ['Redact-Fields', 'cookies'],
  ])('are rejected with their name: %s: %s', async (header, value) => {
    const { send } = world()
    const refused = await send('POST', `/v2/publish/${shop}`, { headers: { [`Service-${header}`]: value } })
    expect(refused.status).toBe(400)
    expect(refused.json.error).toContain(`invalid Service-${header}: `)
    expect((await send('GET', '/v2/events')).json.events).toEqual([])
  })

  test("are named in the vendor's spelling in errors", async () => {
    const { send } = world({ dialect: 'upstash' })
    const refused = await send('POST', `/v2/publish/${shop}`, { headers: { 'Upstash-Callback-Retries': 'x' } })
    expect(refused.json.error).toContain('invalid Upstash-Callback-Retries: ')
  })

  test.each([
    ['90s', 90_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d10h30m', 124_200_000],
    ['7d', 604_800_000],
  ])('Delay %s waits %i ms', async (delay, milliseconds) => {
    const { send, clock, destinations } = world()
    const seen = destinations.record(shop)
    await send('POST', `/v2/publish/${shop}`, { headers: { 'Service-Delay': delay } })
    await clock.advance(milliseconds - 1)
    expect(seen.count).toBe(0)
    await clock.advance(1)
    expect(seen.count).toBe(1)
  })

  test('Not-Before overrides Delay, and a past value means immediately', async () => {
    const { send, clock, destinations } = world()
    const seen = destinations.record(shop)
    const headers = { 'Service-Delay': '1h', 'Service-Not-Before': String(clock.now() / 1000 + 30) }
    await send('POST', `/v2/publish/${shop}`, { headers, body: 'later' })
    await send('POST', `/v2/publish/${shop}`, { headers: { 'Service-Not-Before': '1000' }, body: 'past' })
    await clock.advance(0)
    expect(seen.requests.map((delivery) => delivery.text())).toEqual(['past'])
    await clock.advance('30s')
    expect(seen.last().text()).toBe('later')
  })

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('set the method %s', async (method) => {
    const { send, clock, destinations } = world()
    const seen = destinations.record(shop)
    await send('POST', `/v2/publish/${shop}`, { headers: { 'Service-Method': method }, body: 'b' })
    await clock.drain()
    expect(seen.last().method).toBe(method)
    // DELETE is sent with a body, GET without one. [queue.md 3.1]
    expect(seen.last().text()).toBe(method === 'GET' ? '' : 'b')
  })

  test('for flow control go together, and the value alone is rejected', async () => {
    const { send } = world()
    const alone = await send('POST', `/v2/publish/${shop}`, { headers: { 'Service-Flow-Control-Value': 'rate=1' } })
    expect(alone.status).toBe(400)
    for (const value of ['', 'speed=1', 'rate=0', 'rate=x', 'period=5', 'rate=1,period=8d', 'rate=1, period=x']) {
      const headers = { 'Service-Flow-Control-Key': 'k', 'Service-Flow-Control-Value': value }
      expect((await send('POST', `/v2/publish/${shop}`, { headers })).status, value).toBe(400)
    }
    for (const [value, shown] of [
      ['parallelism=5, rate=10, period=1m', { parallelism: 5, rate: 10, period: 60 }],
      ['period=7d,rate=2', { rate: 2, period: 604_800 }],
      ['rate=3,period=5', { rate: 3, period: 5 }],
      ['parallelism=4', { parallelism: 4, period: 1 }],
    ] as const) {
      const headers = { 'Service-Flow-Control-Key': 'k', 'Service-Flow-Control-Value': value }
      const { json } = await send('POST', `/v2/publish/${shop}`, { headers })
      const message = (await send('GET', `/v2/messages/${json.messageId}`)).json
      const { flowControlKey, parallelism, rate, period } = message
      expect({ flowControlKey, parallelism, rate, period }).toEqual({ flowControlKey: 'k', ...shown })
    }
  })

  test('for telemetry are accepted and not delivered', async () => {
    const { send, clock, destinations } = world()
    const seen = destinations.record(shop)
    await send('POST', `/v2/publish/${shop}`, {
      headers: { 'Service-Telemetry-Sdk': 'x', 'Service-Telemetry-Runtime': 'y' },
    })
    await clock.drain()
    expect(seen.last().headers.filter(([name]) => /telemetry/i.test(name))).toEqual([])
  })

  test('with a Cron header create a schedule, as in older documentation', async () => {
    const { send } = world()
    const answer = await send('POST', `/v2/publish/${shop}`, { headers: { 'Service-Cron': '0 * * * *' } })
    expect(answer.json).toEqual({ scheduleId: expect.stringMatching(/^scd_/) })
  })
})

describe('forwarded headers [queue.md 2.3, 3.1]', () => {
  test('do not include Queue-Name, which is only for schedules', async () => {
    const { send, queue, engine } = world()
    await send('POST', `/v2/publish/${shop}`, { headers: { 'Service-Queue-Name': 'q', 'Service-Delay': '1h' } })
    expect([queue.messages[0]!.settings.queue, engine.lanes.list()]).toEqual([undefined, []])
  })

  test('cannot smuggle a setting in a value with a line break', async () => {
    const { send, queue } = world()
    await send('POST', `/v2/publish/${shop}?service-label=a&service-retries=0&service-delay=1h`)
    await send('POST', `/v2/publish/${shop}?service-label=a%0Aretries:%200&service-delay=1h`)
    expect(queue.messages.map(({ maxRetries }) => maxRetries)).toEqual([0, 3])
  })

  test('are delivered without the Forward- prefix, in canonical spelling', async () => {
    const { send, clock, destinations } = world()
    const seen = destinations.record(shop)
    const headers = { 'Service-Forward-bypass-tunnel-reminder': '1', 'X-Other': 'no' }
    const { json } = await send('POST', `/v2/publish/${shop}`, { headers })
    expect((await send('GET', `/v2/messages/${json.messageId}`)).json.header).toEqual({
      'Bypass-Tunnel-Reminder': ['1'],
    })
    await clock.drain()
    expect(seen.last().header('bypass-tunnel-reminder')).toBe('1')
    expect(seen.last().header('x-other')).toBeUndefined()
  })

  test('include everything under Header-Forward except headers of the connection and of the service', async () => {
    const { send, clock, destinations } = world()
    const seen = destinations.record(shop)
    await send('POST', `/v2/publish/${shop}?service-header-forward=true`, {
      headers: {
        'X-Signature': 'abc',
        'Content-Type': 'application/json',
        Host: 'queue.test',
        Connection: 'keep-alive',
        'Proxy-Authorization': 'x',
        'Transfer-Encoding': 'chunked',
        'Service-Retries': '1',
        'Service-Forward-X-Signature': 'explicit',
      },
    })
    await clock.drain()
    const names = seen.last().headers.map(([name]) => name)
    expect(names).toEqual([
      'User-Agent',
      'Content-Type',
      'X-Signature',
      'Service-Signature',
      'Service-Message-Id',
      'Service-Retried',
      'Service-Caller-Ip',
      'Service-Region',
    ])
    expect(seen.last().header('x-signature')).toBe('explicit')
  })

  test.each([
    ['the token in the query', { authorization: 'Basic c2hvcDpzZWNyZXQ=' }, 'Basic c2hvcDpzZWNyZXQ='],
    ['the same token in both places', { authorization: `Bearer ${credentials.token}` }, undefined],
  ])(
    "include the app's own Authorization under Header-Forward, but not the queue's, with %s",
    async (_case, headers, passed) => {
      const { send, clock, destinations } = world()
      const seen = destinations.record(shop)
      const query = `service-header-forward=true&service_token=${encodeURIComponent(credentials.token)}`
      expect((await send('POST', `/v2/publish/${shop}?${query}`, { token: null, headers })).status).toBe(200)
      await clock.drain()
      expect(seen.last().header('authorization')).toBe(passed)
    },
  )

  test('let a forwarded Content-Type win, drop hop-by-hop and delivery headers, and keep other vendor names', async () => {
    const { send, clock, destinations } = world()
    const seen = destinations.record(shop)
    await send('POST', `/v2/publish/${shop}`, {
      headers: {
        'Content-Type': 'text/plain',
        'Service-Forward-Content-Type': 'application/xml',
        'Service-Forward-Host': 'evil.test',
        'Service-Forward-Content-Length': '3',
        'Service-Forward-Service-Retried': '99',
        'Service-Forward-Service-Label': 'mine',
        'Service-Forward-Service-Workflow-Sdk-Version': '1',
      },
    })
    await clock.drain()
    const delivery = seen.last()
    expect(delivery.header('content-type')).toBe('application/xml')
    expect(delivery.header('host')).toBeUndefined()
    expect(delivery.header('content-length')).toBeUndefined()
    expect(delivery.header('service-retried')).toBe('0')
    expect(delivery.header('service-label')).toBe('mine')
    expect(delivery.header('service-workflow-sdk-version')).toBe('1')
  })

  test('carry text beyond Latin-1 of a batch as UTF-8 bytes, which are shown as text', async () => {
    const { send, clock, destinations } = world()
    const seen: (string | null)[] = []
    destinations.on(shop, (request) => {
      seen.push(request.headers.get('x-name'))
      return new Response('ok')
    })
    const item = { destination: shop, headers: { 'service-forward-x-name': 'Łódź', 'service-delay': '1s' } }
    const { json } = await send('POST', '/v2/batch', { body: [item] })
    expect((await send('GET', `/v2/messages/${json[0].messageId}`)).json.header).toEqual({ 'X-Name': ['Łódź'] })
    await clock.drain()
    expect(seen).toEqual([Buffer.from('Łódź').toString('latin1')])
  })

  test.each([
    ['service-forward-x%0Ay=1'],
    ['service-forward-x=a%0D%0Ab'],
    ['service-forward-=1'],
    ['service-callback-forward-x=a%00'],
  ])('reject a header that HTTP cannot carry: %s', async (query) => {
    expect((await world().send('POST', `/v2/publish/${shop}?${query}`)).status).toBe(400)
  })

  test('carry user and password of a URL as basic credentials', async () => {
    const { send, clock, destinations } = world()
    const seen: unknown[] = []
    destinations.on('https://shop.test/*', (request) => {
      seen.push([request.url, request.headers.get('authorization')])
      return new Response('ok')
    })
    destinations.on('https://ann:s%40fe@shop.test/*', (request) => {
      seen.push([request.url, request.headers.get('authorization')])
      return new Response('ok')
    })
    await send('POST', '/v2/publish/https://ann:s%40fe@shop.test/x')
    await clock.drain()
    expect(seen).toEqual([['https://shop.test/x', `Basic ${btoa('ann:s@fe')}`]])
  })

  test('contain no Content-Type unless the publisher sent one', async () => {
    const { send, clock, destinations } = world()
    const seen = destinations.record(shop)
    await send('POST', `/v2/publish/${shop}`, { body: '{"a":1}' })
    await clock.drain()
    expect(seen.last().header('content-type')).toBeUndefined()
  })
})

describe('deduplication [queue.md 2.4, 1.3]', () => {
  const publish = (queue: ReturnType<typeof world>, headers: Record<string, string>, body = 'b', to = shop) =>
    queue.send('POST', `/v2/publish/${to}`, { headers, body })

  test('responds 202 with the first ID to a second message with the same ID within 10 minutes', async () => {
    const queue = world()
    const seen = queue.destinations.record(shop)
    const headers = { 'Service-Deduplication-Id': 'order-1' }
    const first = await publish(queue, headers)
    await queue.clock.advance('9m59s')
    const second = await publish(queue, headers, 'other body')
    expect(second.status).toBe(202)
    expect(second.json).toEqual({ messageId: first.json.messageId, url: shop, deduplicated: true })
    await queue.clock.advance('1s')
    const third = await publish(queue, headers)
    expect([third.status, third.json.deduplicated]).toEqual([200, undefined])
    await queue.clock.drain()
    expect(seen.count).toBe(2)
  })

  test('also applies to an ID whose first message failed', async () => {
    const queue = world()
    queue.destinations.respond(shop, 500)
    const headers = { 'Service-Deduplication-Id': 'x', 'Service-Retries': '0' }
    await publish(queue, headers)
    await queue.clock.drain()
    expect((await publish(queue, headers)).status).toBe(202)
  })

  test("rejects an ID with a colon with the service's text [queue.md 1.13]", async () => {
    const refused = await publish(world(), { 'Service-Deduplication-Id': 'a:b' })
    expect([refused.status, refused.json.error]).toEqual([400, "DeduplicationId cannot contain ':'"])
  })

  test('by content compares destination, body, Content-Type and forwarded headers', async () => {
    const queue = world()
    const base = {
      'Service-Content-Based-Deduplication': 'True',
      'Content-Type': 'text/plain',
      'Service-Forward-X-A': '1',
    }
    expect((await publish(queue, base)).status).toBe(200)
    expect((await publish(queue, base)).status).toBe(202)
    expect((await publish(queue, base, 'other')).status).toBe(200)
    expect((await publish(queue, base, 'b', 'https://shop.test/other')).status).toBe(200)
    expect((await publish(queue, { ...base, 'Content-Type': 'text/html' })).status).toBe(200)
    expect((await publish(queue, { ...base, 'Service-Forward-X-A': '2' })).status).toBe(200)
    // These settings are not part of the content.
    expect((await publish(queue, { ...base, 'Service-Retries': '1' })).status).toBe(202)
  })

  test('prefers the ID to the content', async () => {
    const queue = world()
    const both = { 'Service-Content-Based-Deduplication': 'true', 'Service-Deduplication-Id': 'one' }
    await publish(queue, both)
    expect((await publish(queue, { ...both, 'Service-Deduplication-Id': 'two' })).status).toBe(200)
  })

  test('applies per endpoint in a URL group', async () => {
    const queue = world()
    queue.queue.urlGroups.addEndpoints('g', ['https://shop.test/a'])
    const headers = { 'Service-Deduplication-Id': 'x' }
    const first = await publish(queue, headers, 'b', 'g')
    queue.queue.urlGroups.addEndpoints('g', ['https://shop.test/b'])
    const second = await publish(queue, headers, 'b', 'g')
    expect(second.status).toBe(200)
    expect(second.json).toEqual([
      { messageId: first.json[0].messageId, url: 'https://shop.test/a', deduplicated: true },
      { messageId: expect.any(String), url: 'https://shop.test/b' },
    ])
    expect((await publish(queue, headers, 'b', 'g')).status).toBe(202)
  })
})

describe('batches [queue.md 1.4]', () => {
  const batch = (queue: ReturnType<typeof world>, items: unknown) => queue.send('POST', '/v2/batch', { body: items })

  test('publish to URLs, URL groups and queues in order; `url` is only in the arrays of groups', async () => {
    const queue = world()
    const seen = queue.destinations.record('https://shop.test/*')
    queue.queue.urlGroups.addEndpoints('g', ['https://shop.test/a', 'https://shop.test/b'])
    const answer = await batch(queue, [
      { destination: shop, headers: { 'service-retries': '0', 'content-type': 'text/plain' }, body: 'one' },
      { destination: 'g', headers: { 'Service-Delay': ['1s'] } },
      { destination: shop, queue: 'q', body: null },
      { destination: shop, queue: '' },
    ])
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual([
      { messageId: expect.any(String) },
      [
        { messageId: expect.any(String), url: 'https://shop.test/a' },
        { messageId: expect.any(String), url: 'https://shop.test/b' },
      ],
      { messageId: expect.any(String) },
      { messageId: expect.any(String) },
    ])
    expect((await queue.send('GET', '/v2/queues')).json.map(({ name }: { name: string }) => name)).toEqual(['q'])
    await queue.clock.drain()
    expect(seen.requests).toHaveLength(5)
    expect(seen.requests[0]!.text()).toBe('one')
    expect(seen.requests[0]!.header('content-type')).toBe('text/plain')
  })

  test('serialize a JSON body compactly', async () => {
    const queue = world()
    const seen = queue.destinations.record(shop)
    await batch(queue, [
      { destination: shop, body: { a: [1, 'x'] } },
      { destination: shop, body: 5 },
    ])
    await queue.clock.drain()
    expect(seen.requests.map((delivery) => delivery.text())).toEqual(['{"a":[1,"x"]}', '5'])
  })

  test('accept a content type as a header value', async () => {
    const { send, clock, destinations } = world()
    const seen = destinations.record(shop)
    const item = (type: string) => [{ destination: shop, headers: { 'content-type': type } }]
    const refused = await send('POST', '/v2/batch', { body: item('a\r\nx: b') })
    expect([refused.status, refused.json.error]).toEqual([400, 'invalid Content-Type: the value has a line break'])
    await send('POST', '/v2/batch', { body: item('text/plain; title=✓') })
    await clock.drain()
    expect(seen.requests.map((delivery) => delivery.header('content-type'))).toEqual(['text/plain; title=\xe2\x9c\x93'])
  })

  test('fail only at the item with an unknown URL group', async () => {
    const queue = world()
    const answer = await batch(queue, [{ destination: 'nobody' }, { destination: shop }])
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual([{ error: 'topic nobody not found' }, { messageId: expect.any(String) }])
  })

  test('are rejected as a whole for a malformed item or one above the quota', async () => {
    const queue = world({ policy: { enforceQuotas: true, queuePlan: 'free' } })
    const tooLong = { destination: shop, headers: { 'Service-Delay': '8d' } }
    const refused = await batch(queue, [{ destination: shop }, tooLong])
    expect([refused.status, refused.json.error]).toEqual([412, 'quota maxDelay exceeded, current limit: 604800'])
    expect((await batch(queue, [{ destination: shop }, { headers: {} }])).status).toBe(400)
    expect((await batch(queue, [{ destination: 'not a url' }])).status).toBe(400)
    expect((await batch(queue, { destination: shop })).status).toBe(400)
    expect((await queue.send('POST', '/v2/batch', { body: '[{' })).status).toBe(400)
    expect((await queue.send('GET', '/v2/events')).json.events).toEqual([])
  })

  test('mark duplicates at their items', async () => {
    const queue = world()
    const item = { destination: shop, headers: { 'Service-Deduplication-Id': 'x' } }
    const { json } = await batch(queue, [item, item])
    expect(json[1]).toEqual({ messageId: json[0].messageId, deduplicated: true })
  })
})

describe('queue.publish()', () => {
  test.each(['cron', 'scheduleId', 'queueName', 'headerForward'])(
    'rejects %s, which is not an option of a message',
    (name) => {
      const { queue } = world()
      expect(() => queue.publish({ to: shop, [name]: 'x' })).toThrow(`has no option "${name}"`)
    },
  )

  test.each([
    ['delay', 90, "Use '1m30s' or '90ms'."],
    ['timeout', '30', "Use '30s' or '30ms'."],
    ['callbackTimeout', 5, "Use '5s' or '5ms'."],
    ['failureCallbackDelay', 'soon', "must be a duration such as '90s', '5m' or '1d10h30m' (got \"soon\")."],
    ['delay', -1, '(got -1)'],
    ['delay', Number.NaN, "must be a duration such as '90s', '5m' or '1d10h30m' (got NaN)."],
    ['timeout', Number.POSITIVE_INFINITY, '(got Infinity)'],
    ['delay', null, '(got null)'],
    ['delay', [], '(got [])'],
    ['delay', true, '(got true)'],
    ['timeout', '', '(got "")'],
  ])('rejects %s: %j, which is not a duration with a unit', (name, given, sentence) => {
    const { queue } = world()
    const options = { to: shop, callback: shop, failureCallback: shop, [name]: given } as never
    expect(() => queue.publish(options)).toThrow(sentence)
    expect(() => queue.publish(options)).toThrow(name)
    expect(queue.messages).toEqual([])
  })

  test('accepts a delay below 1 second', () => {
    const { queue, clock } = world()
    const { nextAttemptAt: due } = queue.publish({ to: shop, delay: '1s500ms' })
    expect(due - clock.now()).toBe(1500)
  })

  test('publishes a JSON body, forwards headers and reads options from the same table', async () => {
    const { queue, clock, destinations } = world()
    const seen = destinations.record(shop)
    const message = queue.publish({
      to: shop,
      body: { id: 1 },
      headers: { 'x-a': '1' },
      retries: 1,
      delay: '5s',
      retryDelay: '10',
    })
    expect(message).toMatchObject({ url: shop, maxRetries: 1, nextAttemptAt: clock.now() + 5000 })
    await clock.drain()
    expect(seen.last().json()).toEqual({ id: 1 })
    expect(seen.last().header('content-type')).toBe('application/json')
    expect(seen.last().header('x-a')).toBe('1')
    expect(() => queue.publish({ to: shop, retries: -1 })).toThrow('invalid Service-Retries')
  })
})
