import { fault } from 'stuntdouble'
import { expect } from 'vitest'
import { EventReader } from '../support/event-reader.js'
import { maxRequest } from './adapter.js'
import { type Case, type Client, movedUntil, one, post, shop, transport } from './client.js'
import { faults } from './faults.js'

/** A command in every form that a request can have, with the response of the service. */
const forms: readonly Case[] = (
  [
    [one, 'as a path', '/set/form/v1', undefined],
    [transport, 'as a path with escapes', '/set/form/v%31', undefined],
    [one, 'as a JSON array', '', post(['SET', 'form', 'v1'])],
    [transport, 'as a JSON array sent with PUT', '', { ...post(['SET', 'form', 'v1']), method: 'PUT' }],
    [one, 'with the body as last argument', '/set/form', post('v1')],
    [one, 'with arguments in the query', '/set/form/v1?EX=100', undefined],
    [one, 'with the token in the query', '/set/form/v1?_token=TOKEN', undefined],
  ] as const
).map(([define, how, path, init]) =>
  define('plain', `accepts a command ${how}`, async (client) => {
    const withToken = path.replace('TOKEN', encodeURIComponent(client.sandbox.tokens.store))
    const answer = await client.store(withToken, path.includes('TOKEN') ? { ...init, token: null } : init)
    expect([answer.status, answer.headers.get('content-type'), await answer.json()]).toEqual([
      200,
      'application/json',
      { result: 'OK' },
    ])
    expect(client.sandbox.store.get('form')).toBe('v1')
  }),
)

const replies: readonly Case[] = (
  [
    [['PING'], { result: 'PONG' }],
    [['GET', 'nobody'], { result: null }],
    [['INCR', 'n'], { result: 1 }],
    [['HSET', 'h', 'a', '1', 'b', '2'], { result: 2 }],
    [['LRANGE', 'nobody', 0, -1], { result: [] }],
    [['ECHO', 'grüße, 世界'], { result: 'grüße, 世界' }],
    [['ECHO', ''], { result: '' }],
    [['ECHO', 'a"b\\c\n'], { result: 'a"b\\c\n' }],
    [['INCR', 'n', 'm'], { error: "ERR wrong number of arguments for 'incr' command" }],
    [['NOSUCH'], { error: expect.stringContaining('not available') }],
    [['EVAL', 'return {1, {2, "three"}, false}', 0], { result: [1, [2, 'three'], null] }],
  ] as const
).map(([words, expected]) =>
  one('plain', `replies to ${JSON.stringify(words)}`, async (client) => {
    expect(await client.command(...words)).toEqual(expected)
  }),
)

const storeRequests: readonly Case[] = [
  one('plain', 'rejects a request without a token', async (client) => {
    const answer = await client.store('/ping', { token: null })
    expect([answer.status, Object.keys((await answer.json()) as object)]).toEqual([401, ['error']])
  }),
  one('plain', 'rejects a wrong token', async (client) => {
    expect((await client.store('/ping', { token: 'wrong' })).status).toBe(401)
  }),
  one('plain', 'lets the read-only token read, and not write', async (client) => {
    const token = client.sandbox.tokens.storeReadonly
    expect((await client.store('/get/k', { token })).status).toBe(200)
    const refused = await client.store('/set/k/v', { token })
    expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([
      400,
      expect.stringContaining('NOPERM'),
    ])
  }),
  transport('plain', 'responds to HEAD without a body', async (client) => {
    const answer = await client.store('/ping', { method: 'HEAD' })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  }),
  one('plain', 'rejects another method', async (client) => {
    const answer = await client.store('/ping', { method: 'DELETE' })
    expect([answer.status, await answer.text()]).toEqual([405, ''])
  }),
  one('plain', 'encodes replies in base64', async (client) => {
    await client.command('SET', 'k', 'grüße')
    const answer = await client.store('', post(['GET', 'k'], { 'service-encoding': 'base64' }))
    expect(await answer.json()).toEqual({ result: btoa('gr\xc3\xbc\xc3\x9fe') })
  }),
  one('bytes', 'encodes replies in RESP2', async (client) => {
    const answer = await client.store('', post(['ECHO', 'hello'], { 'service-response-format': 'resp2' }))
    expect([answer.headers.get('content-type'), await answer.text()]).toEqual([
      'application/octet-stream',
      '$5\r\nhello\r\n',
    ])
  }),
  one('plain', 'runs a pipeline, with an error among its replies', async (client) => {
    const answer = await client.store(
      '/pipeline',
      post([
        ['SET', 'p', '1'],
        ['INCR', 'p'],
        ['LPUSH', 'p', 'x'],
      ]),
    )
    expect([answer.status, await answer.json()]).toEqual([
      200,
      [{ result: 'OK' }, { result: 2 }, { error: expect.stringMatching(/^WRONGTYPE/) }],
    ])
  }),
  one('plain', 'runs a transaction', async (client) => {
    const answer = await client.store(
      '/multi-exec',
      post([
        ['SET', 't', '1'],
        ['INCR', 't'],
      ]),
    )
    expect([answer.status, await answer.json()]).toEqual([200, [{ result: 'OK' }, { result: 2 }]])
  }),
  one('plain', 'discards a transaction that it cannot parse', async (client) => {
    const answer = await client.store('/multi-exec', post([['SET', 't', '1'], ['INCR']]))
    expect(answer.status).toBe(400)
    expect(client.sandbox.store.get('t')).toBeNull()
  }),
  one('plain', 'rejects a body that is not JSON', async (client) => {
    const answer = await client.store('', post('["GET"'))
    expect([answer.status, Object.keys((await answer.json()) as object)]).toEqual([400, ['error']])
  }),
  one('plain', 'changes the sync token with a write', async (client) => {
    const token = async (path: string) => (await client.store(path)).headers.get('service-sync-token')
    const before = await token('/get/k')
    expect(await token('/get/k')).toBe(before)
    expect(await token('/set/k/v')).not.toBe(before)
  }),
  one('plain', 'rejects a revoked token, and accepts the new one', async (client) => {
    const before = client.sandbox.tokens.store
    client.sandbox.store.resetPassword()
    expect((await client.store('/ping', { token: before })).status).toBe(401)
    expect((await client.store('/ping')).status).toBe(200)
  }),
  transport('bytes', 'carries every byte in a request', async (client) => {
    const all = Uint8Array.from({ length: 256 }, (_, index) => index)
    await client.store('/set/bytes', post(all))
    const answer = await client.store('/get/bytes', { headers: { 'service-encoding': 'base64' } })
    const { result } = (await answer.json()) as { result: string }
    expect([...atob(result)].map((char) => char.charCodeAt(0))).toEqual([...all])
  }),
  transport('bytes', 'carries every byte in a response', async (client) => {
    const all = Uint8Array.from({ length: 256 }, (_, index) => index)
    await client.store('/set/bytes', post(all))
    const answer = await client.store('/get/bytes', { headers: { 'service-response-format': 'resp2' } })
    const bytes = new Uint8Array(await answer.arrayBuffer())
    expect([...bytes.subarray(6, 262)]).toEqual([...all])
  }),
  transport('bytes', 'stores an empty body as an empty value', async (client) => {
    await client.store('/set/empty', { method: 'POST', body: '' })
    expect(await client.command('STRLEN', 'empty')).toEqual({ result: 0 })
  }),
  transport('large', 'carries 300 kB in a request', async (client) => {
    await client.store('/set/large', post('x'.repeat(300_000)))
    expect(await client.command('STRLEN', 'large')).toEqual({ result: 300_000 })
  }),
  transport('large', 'carries 300 kB in a response', async (client) => {
    client.sandbox.store.run('SET', 'large', 'é'.repeat(150_000))
    const { result } = (await client.command('GET', 'large')) as { result: string }
    expect(result).toBe('é'.repeat(150_000))
  }),
  one('large', 'runs 1,000 commands in a pipeline', async (client) => {
    const rows = Array.from({ length: 1_000 }, () => ['INCR', 'n'])
    const results = (await (await client.store('/pipeline', post(rows))).json()) as { result: number }[]
    expect(results.at(-1)).toEqual({ result: 1_000 })
  }),
  transport('large', 'rejects a body over the limit', async (client) => {
    const answer = await client.store('/set/large', post('x'.repeat(maxRequest + 1)))
    expect(answer.status).toBe(413)
  }),
  one('concurrent', 'counts 50 concurrent increments', async (client) => {
    const results = await Promise.all(Array.from({ length: 50 }, () => client.command('INCR', 'n')))
    expect(results.map((reply) => (reply as { result: number }).result).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 1),
    )
  }),
  transport('concurrent', 'gives each of 30 concurrent requests its own response', async (client) => {
    const words = Array.from({ length: 30 }, (_, index) => `word ${index}`)
    expect(await Promise.all(words.map((word) => client.command('ECHO', word)))).toEqual(
      words.map((word) => ({ result: word })),
    )
  }),
  one('concurrent', 'keeps concurrent transactions apart', async (client) => {
    const body = [
      ['GET', 'lock'],
      ['SET', 'lock', 'mine'],
      ['DEL', 'lock'],
    ]
    const all = await Promise.all(
      Array.from({ length: 20 }, async () => (await client.store('/multi-exec', post(body))).json()),
    )
    expect(all).toEqual(all.map(() => [{ result: null }, { result: 'OK' }, { result: 1 }]))
  }),
]

const storeTime: readonly Case[] = [
  one('plain', 'expires a key in virtual time', async (client) => {
    await client.command('SET', 'k', 'v', 'PX', 1500)
    await client.sandbox.clock.advance(1499)
    expect(await client.command('PTTL', 'k')).toEqual({ result: 1 })
    await client.sandbox.clock.advance(1)
    expect(await client.command('GET', 'k')).toEqual({ result: null })
  }),
  one('plain', 'replies to TIME in virtual time', async (client) => {
    await client.sandbox.clock.advanceTo('2031-02-03T04:05:06Z')
    const { result } = (await client.command('TIME')) as { result: string[] }
    expect(result[0]).toBe(String(Date.parse('2031-02-03T04:05:06Z') / 1000))
  }),
  transport('clock', 'lets a fast request overtake a slow one', async (client) => {
    const { faults } = client.sandbox
    faults.add({ on: 'store.request', times: 1, fault: { kind: 'latency', waitMs: 3_000 } })
    const order: string[] = []
    const slow = client.command('GET', 'k').then(() => order.push('slow'))
    await expect.poll(() => client.sandbox.traffic.ofType('request').length).toBe(1)
    await client.command('PING').then(() => order.push('fast'))
    await movedUntil(client, slow)
    expect(order).toEqual(['fast', 'slow'])
  }),
]

const streams: readonly Case[] = [
  transport('stream', 'sends a subscriber what is published', async (client) => {
    const reader = new EventReader(await client.store('/subscribe/news', { method: 'POST' }))
    expect(await reader.next()).toBe('data: subscribe,news,1')
    await client.command('PUBLISH', 'news', 'one')
    expect(await reader.next()).toBe('data: message,news,one')
    await reader.cancel()
  }),
  one('stream', 'sends a pattern subscriber what is published', async (client) => {
    const reader = new EventReader(await client.store('/psubscribe/n*', { method: 'POST' }))
    await reader.next()
    await client.command('PUBLISH', 'news', 'grüße')
    expect(await reader.next()).toBe('data: pmessage,n*,news,grüße')
    await reader.cancel()
  }),
  one('stream', 'sends commands to MONITOR as they run', async (client) => {
    const reader = new EventReader(await client.store('/monitor', { method: 'POST' }))
    await reader.next()
    await client.command('SET', 'k', 'v')
    expect(await reader.next()).toContain('"SET" "k" "v"')
    await reader.cancel()
  }),
  transport('stream', 'keeps two streams apart', async (client) => {
    const [a, b] = await Promise.all(
      ['a', 'b'].map(async (name) => new EventReader(await client.store(`/subscribe/${name}`, { method: 'POST' }))),
    )
    await a!.next()
    await b!.next()
    await client.command('PUBLISH', 'b', '2')
    await client.command('PUBLISH', 'a', '1')
    expect([await a!.next(), await b!.next()]).toEqual(['data: message,a,1', 'data: message,b,2'])
    await a!.cancel()
    await b!.cancel()
  }),
  transport('stream', 'unsubscribes a client that stops reading', async (client) => {
    const reader = new EventReader(await client.store('/subscribe/gone', { method: 'POST' }))
    await reader.next()
    await reader.cancel()
    await expect.poll(() => client.sandbox.store.run('PUBSUB', 'NUMSUB', 'gone')).toEqual(['gone', 0])
  }),
  transport('abort', 'does not send a request that was aborted before', async (client) => {
    const sent = client.store('/incr/n', { method: 'POST', signal: AbortSignal.abort() })
    await expect(sent).rejects.toMatchObject({ name: 'AbortError' })
    expect(client.sandbox.store.get('n')).toBeNull()
  }),
  transport('abort', 'releases a client that aborts while it waits', async (client) => {
    client.sandbox.faults.add({ on: 'store.request', fault: { kind: 'hang' } })
    const controller = new AbortController()
    const answer = client.store('/ping', { signal: controller.signal })
    await expect.poll(() => client.sandbox.traffic.ofType('request').length).toBe(1)
    controller.abort()
    await expect(answer).rejects.toMatchObject({ name: 'AbortError' })
  }),
  transport('leave', 'unsubscribes a client that aborts', async (client) => {
    const controller = new AbortController()
    const answer = await client.store('/subscribe/gone', { method: 'POST', signal: controller.signal })
    const reader = new EventReader(answer)
    await reader.next()
    const next = reader.next()
    controller.abort()
    await expect(next).rejects.toMatchObject({ name: 'AbortError' })
    await expect.poll(() => client.sandbox.store.run('PUBSUB', 'NUMSUB', 'gone')).toEqual(['gone', 0])
  }),
]

const publishing: readonly Case[] = [
  ...(
    [
      ['a text', 'hello', {}, 'hello'],
      ['JSON', { id: 42 }, { 'content-type': 'application/json' }, '{"id":42}'],
      ['nothing', '', {}, ''],
    ] as const
  ).map(([what, body, headers, arrived]) =>
    one('plain', `publishes ${what}, and delivers it unchanged`, async (client) => {
      const { destinations, clock } = client.sandbox
      const recorder = destinations.record(shop)
      const answer = await client.queue(`/publish/${shop}`, post(body, headers))
      expect([answer.status, await answer.json()]).toEqual([
        200,
        expect.objectContaining({ messageId: expect.stringMatching(/^msg_/) }),
      ])
      await clock.drain()
      expect(recorder.last().text()).toBe(arrived)
    }),
  ),
  ...(
    [
      ['Service-Retries', '1', (client: Client) => expect(client.sandbox.queue.messages[0]!.maxRetries).toBe(1)],
      [
        'Service-Delay',
        '90s',
        (client: Client) =>
          expect(client.sandbox.queue.messages[0]!.nextAttemptAt).toBe(client.sandbox.clock.now() + 90_000),
      ],
      ['Service-Method', 'PUT', (client: Client) => expect(client.sandbox.queue.messages[0]!.method).toBe('PUT')],
      [
        'Service-Forward-X-Id',
        '7',
        (client: Client) => expect(client.sandbox.queue.messages[0]!.headers).toContainEqual(['X-Id', '7']),
      ],
    ] as const
  ).map(([name, value, check]) =>
    one('plain', `publishes with ${name}`, async (client) => {
      await client.queue(`/publish/${shop}`, post('x', { [name]: value }))
      check(client)
    }),
  ),
  one('bytes', 'publishes every byte', async (client) => {
    const all = Uint8Array.from({ length: 256 }, (_, index) => index)
    const recorder = client.sandbox.destinations.record(shop)
    await client.queue(`/publish/${shop}`, post(all))
    await client.sandbox.clock.drain()
    expect([...recorder.last().bytes]).toEqual([...all])
  }),
  transport('plain', 'publishes to a URL that has a query', async (client) => {
    await client.queue(`/publish/https://shop.test/a?b=c&d=%20`, post('x'))
    expect(client.sandbox.queue.messages[0]!.url).toBe('https://shop.test/a?b=c&d=%20')
  }),
  one('plain', 'rejects a publish without a token', async (client) => {
    expect((await client.queue(`/publish/${shop}`, { ...post('x'), token: null })).status).toBe(401)
    expect(client.sandbox.queue.messages).toEqual([])
  }),
  one('plain', 'rejects an invalid destination', async (client) => {
    const answer = await client.queue('/publish/not-there', post('x'))
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(Object.keys((await answer.json()) as object)).toEqual(['error'])
  }),
  one('plain', 'reports a duplicate', async (client) => {
    const ids = []
    for (let count = 0; count < 2; count++) {
      const answer = await client.queue(`/publish/${shop}`, post('x', { 'Service-Deduplication-Id': 'a' }))
      ids.push((await answer.json()) as { messageId: string; deduplicated?: boolean })
    }
    expect(ids[1]).toEqual({ messageId: ids[0]!.messageId, url: expect.anything(), deduplicated: true })
  }),
  one('plain', 'publishes a batch', async (client) => {
    const rows = [1, 2, 3].map((n) => ({ destination: `${shop}/${n}`, body: String(n) }))
    const answer = await client.queue('/batch', post(rows, { 'content-type': 'application/json' }))
    expect((await answer.json()) as unknown[]).toHaveLength(3)
    expect(client.sandbox.queue.messages.map(({ body }) => body)).toEqual(['1', '2', '3'])
  }),
  one('plain', 'enqueues into a FIFO queue', async (client) => {
    await client.queue(`/enqueue/line/${shop}`, post('x'))
    const answer = await client.queue('/queues/line')
    expect(await answer.json()).toMatchObject({ name: 'line', parallelism: 1, lag: 1 })
  }),
  one('plain', 'creates a URL group, publishes to it and deletes it', async (client) => {
    const endpoints = [{ name: 'a', url: 'https://a.test/' }, { url: 'https://b.test/' }]
    expect((await client.queue('/topics/all/endpoints', post({ endpoints }))).status).toBe(200)
    const answer = await client.queue('/publish/all', post('x'))
    expect((await answer.json()) as unknown[]).toHaveLength(2)
    expect((await client.queue('/topics/all', { method: 'DELETE' })).status).toBe(200)
    expect((await client.queue('/topics/all')).status).toBe(404)
  }),
  one('plain', 'creates a schedule, lists it, fires it and deletes it', async (client) => {
    const { destinations, clock } = client.sandbox
    const recorder = destinations.record(shop)
    const made = await client.queue(`/schedules/${shop}`, post('tick', { 'Service-Cron': '*/5 * * * *' }))
    const { scheduleId } = (await made.json()) as { scheduleId: string }
    expect(await (await client.queue('/schedules')).json()).toMatchObject([{ scheduleId, cron: '*/5 * * * *' }])
    await clock.advance('11m')
    expect(recorder.count).toBe(2)
    expect((await client.queue(`/schedules/${scheduleId}`, { method: 'DELETE' })).status).toBe(200)
    await clock.advance('10m')
    expect(recorder.count).toBe(2)
  }),
  one('plain', 'finds a schedule through a path in another case', async (client) => {
    const made = await client.queue(`/SCHEDULES/${shop}`, post('tick', { 'Service-Cron': '*/5 * * * *' }))
    const { scheduleId } = (await made.json()) as { scheduleId: string }
    expect(await (await client.queue(`/Schedules/${scheduleId}`)).json()).toMatchObject({ scheduleId })
    expect((await client.queue(`/schedules/${scheduleId.toUpperCase()}`)).status).toBe(404)
  }),
  one('plain', 'returns a message and cancels it', async (client) => {
    const answer = await client.queue(`/publish/${shop}`, post('x', { 'Service-Delay': '1h' }))
    const { messageId } = (await answer.json()) as { messageId: string }
    expect(await (await client.queue(`/messages/${messageId}`)).json()).toMatchObject({ messageId, url: shop })
    expect((await client.queue(`/messages/${messageId}`, { method: 'DELETE' })).status).toBeLessThan(300)
    expect((await client.queue(`/messages/${messageId}`)).status).toBe(404)
  }),
  one('plain', 'lists a dead letter and publishes it again', async (client) => {
    const { destinations, clock } = client.sandbox
    destinations.script(shop, [fault.status(500)])
    await client.queue(`/publish/${shop}`, post('x', { 'Service-Retries': '0' }))
    await clock.drain()
    const { messages } = (await (await client.queue('/dlq')).json()) as { messages: { dlqId: string }[] }
    expect(messages).toMatchObject([{ url: shop, responseStatus: 500 }])
    const again = await client.queue(`/dlq/retry/${messages[0]!.dlqId}`, { method: 'POST' })
    expect(again.status).toBeLessThan(300)
    await clock.drain()
    expect(((await (await client.queue('/dlq')).json()) as { messages: unknown[] }).messages).toEqual([])
  }),
  one('plain', 'logs the states of a message', async (client) => {
    const { destinations, clock } = client.sandbox
    destinations.respond(shop, 200)
    await client.queue(`/publish/${shop}`, post('x'))
    await clock.drain()
    const { events } = (await (await client.queue('/logs')).json()) as { events: { state: string }[] }
    expect(events.map(({ state }) => state).sort()).toEqual(['ACTIVE', 'CREATED', 'DELIVERED'])
  }),
  one('plain', 'returns signing keys and rotates them', async (client) => {
    const keys = (await (await client.queue('/keys')).json()) as { current: string; next: string }
    expect(keys).toEqual(client.sandbox.queue.signingKeys.pair())
    const rotated = (await (await client.queue('/keys/rotate', { method: 'POST' })).json()) as typeof keys
    expect(rotated.current).toBe(keys.next)
  }),
  one('plain', 'returns a flow-control key', async (client) => {
    const headers = { 'Service-Flow-Control-Key': 'k', 'Service-Flow-Control-Value': 'parallelism=1' }
    for (let n = 0; n < 3; n++) await client.queue(`/publish/${shop}`, post('x', { ...headers, 'Service-Delay': '1h' }))
    expect(await (await client.queue('/flowControl/k')).json()).toMatchObject({ flowControlKey: 'k' })
  }),
  one('plain', 'reports a delivery in a callback', async (client) => {
    const { destinations, clock } = client.sandbox
    destinations.respond(shop, { status: 200, body: 'done' })
    const reports = destinations.record('https://shop.test/report')
    await client.queue(`/publish/${shop}`, post('x', { 'Service-Callback': 'https://shop.test/report' }))
    await clock.drain()
    expect(reports.last().json()).toMatchObject({ status: 200, url: shop, body: btoa('done') })
  }),
  one('concurrent', 'publishes 50 messages concurrently', async (client) => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => (await client.queue(`/publish/${shop}`, post(String(n)))).json()),
    )
    expect(new Set(answers.map((answer) => (answer as { messageId: string }).messageId)).size).toBe(50)
  }),
  one('large', 'delivers a message of 300 kB', async (client) => {
    const recorder = client.sandbox.destinations.record(shop)
    await client.queue(`/publish/${shop}`, post('x'.repeat(300_000)))
    await client.sandbox.clock.drain()
    expect(recorder.last().body).toHaveLength(300_000)
  }),
  ...(
    [
      ['GET', '/nowhere', 404],
      ['PUT', '/messages/x', 405],
      ['GET', '/messages/msg_nobody', 404],
      ['GET', '/queues', 200],
      ['GET', '/topics', 200],
      ['GET', '/dlq', 200],
      ['GET', '/flowControl', 200],
      ['GET', '/globalParallelism', 200],
    ] as const
  ).map(([method, path, expected]) =>
    one('plain', `responds to ${method} ${path} with ${expected}`, async (client) => {
      expect((await client.queue(path, { method })).status).toBe(expected)
    }),
  ),
]

const statistics: readonly Case[] = [
  ...(['1h', '3h', '12h', '1d', '3d', '7d', '30d'] as const).map((period) =>
    one('plain', `returns usage of the queue over ${period}`, async (client) => {
      const { destinations, clock, stats } = client.sandbox
      destinations.respond(shop, 200)
      await client.queue(`/publish/${shop}`, post('x'))
      await clock.drain()
      const answer = await client.stats(`/queue/stats/${stats.user.id}?period=${period}`)
      const { daily_used: used } = (await answer.json()) as { daily_used: { y: number }[] }
      expect([answer.status, used.length, used.at(-1)!.y]).toEqual([200, period === '30d' ? 240 : 60, 1])
    }),
  ),
  one('plain', 'returns usage of a search index', async (client) => {
    client.sandbox.stats.search('products').override({ current_vector_count: 7 })
    const answer = await client.stats('/search/products/stats')
    expect(await answer.json()).toMatchObject({ current_vector_count: 7 })
  }),
  transport('headers', 'asks for credentials before it returns usage', async (client) => {
    const answer = await client.stats(`/queue/stats/${client.sandbox.stats.user.id}`, { token: null })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Basic/)])
  }),
  one('plain', 'does not find usage of an unknown user', async (client) => {
    expect((await client.stats('/queue/stats/nobody')).status).toBe(404)
  }),
  one('plain', 'rejects an unknown period', async (client) => {
    expect((await client.stats(`/queue/stats/${client.sandbox.stats.user.id}?period=2h`)).status).toBe(400)
  }),
]

/**
 * The full table: the three APIs and faults of every kind. It runs through `sandbox.fetch`; `repeat` names additional
 * adapters.
 */
export const cases: readonly Case[] = [
  ...forms,
  ...replies,
  ...storeRequests,
  ...storeTime,
  ...streams,
  ...publishing,
  ...statistics,
  ...faults,
]
