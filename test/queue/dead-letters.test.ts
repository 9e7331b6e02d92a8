import { describe, expect, test } from 'vitest'
import * as fault from '../../src/faults/constructors.js'
import { shop, type World, world } from './world.js'

const publish = (at: World, headers: Record<string, string> = {}, path = `/v2/publish/${shop}`, body = 'b') =>
  at
    .send('POST', path, { headers: { 'Service-Retries': '0', ...headers }, body })
    .then(({ json }) => json.messageId as string)

const list = async (at: World, query = '') => (await at.send('GET', `/v2/dlq?${query}`)).json
const bodies = async (at: World, query = ''): Promise<string[]> =>
  (await list(at, query)).messages.map(({ body }: { body: string }) => body)

describe('dead letters [queue.md 5.5]', () => {
  test('contain the fields of the message, their ID and the last response', async () => {
    const at = world()
    at.destinations.respond(shop, { status: 404, headers: { 'x-reason': 'gone' }, body: '404 Not Found' })
    const id = await publish(at, { 'Content-Type': 'text/plain', 'Service-Label': 'l' })
    await at.clock.drain()
    const now = at.clock.now()
    const entry = {
      messageId: id,
      url: shop,
      method: 'POST',
      header: { 'Content-Type': ['text/plain'] },
      body: 'b',
      maxRetries: 0,
      notBefore: now,
      createdAt: now,
      callerIp: '127.0.0.1',
      callerIP: '127.0.0.1',
      label: 'l',
      labels: ['l'],
      dlqId: `${now}-0`,
      responseStatus: 404,
      responseHeader: { 'X-Reason': ['gone'] },
      responseBody: '404 Not Found',
    }
    expect(await list(at)).toEqual({ messages: [entry] })
    expect((await at.send('GET', `/v2/dlq/${now}-0`)).json).toEqual(entry)
  })

  test('contain binary responses as base64, and have distinct IDs within a millisecond', async () => {
    const at = world()
    at.destinations.respond(shop, { status: 500, body: new Uint8Array([255]) })
    await publish(at)
    await publish(at)
    await at.clock.drain()
    const { messages } = await list(at)
    expect(messages[0]).toMatchObject({ responseBodyBase64: '/w==', dlqId: `${at.clock.now()}-0` })
    expect(messages[0]).not.toHaveProperty('responseBody')
    expect(messages[1].dlqId).toBe(`${at.clock.now()}-1`)
  })
})

describe('the list of dead letters [queue.md 1.9]', () => {
  async function filled(): Promise<{ at: World; ids: string[] }> {
    const at = world()
    at.destinations.respond('https://*', 500)
    at.destinations.script(shop, [fault.reset()])
    at.queue.urlGroups.addEndpoints('g', ['https://other.test/in-group'])
    const ids = [await publish(at, { 'Service-Label': 'x' }, undefined, '0')]
    await at.clock.advance('1s')
    ids.push(await publish(at, { 'Service-Label': 'x,y', 'X-Forwarded-For': '198.51.100.9' }, undefined, '1'))
    await at.clock.advance('1s')
    ids.push(await publish(at, {}, `/v2/enqueue/q/${shop}`, '2'))
    await at.clock.advance('1s')
    await publish(at, {}, '/v2/publish/g', '3')
    await at.clock.advance('1s')
    ids.push(await publish(at, { 'Service-Flow-Control-Key': 'k' }, undefined, '4'))
    await at.clock.drain()
    return { at, ids }
  }

  test.each([
    ['', ['0', '1', '2', '3', '4']],
    ['order=latestFirst', ['4', '3', '2', '1', '0']],
    ['label=x', ['0', '1']],
    ['label=y', ['1']],
    ['url=https%3A%2F%2Fshop.test%2Forders', ['0', '1', '2', '4']],
    ['topicName=g', ['3']],
    ['queueName=q', ['2']],
    ['flowControlKey=k', ['4']],
    ['callerIp=198.51.100.9', ['1']],
    ['responseStatus=0', ['0']],
    ['responseStatus=500', ['1', '2', '3', '4']],
    ['responseStatus=0,500&label=x', ['0', '1']],
    ['fromDate=1893456001000&toDate=1893456002000', ['1', '2']],
    ['count=2', ['0', '1']],
    ['scheduleId=none', []],
    ['source=workflow', []],
  ])('filters and orders by "%s"', async (query, wanted) => {
    const { at } = await filled()
    expect(await bodies(at, query)).toEqual(wanted)
  })

  test('filters by message ID and by dead-letter IDs', async () => {
    const { at, ids } = await filled()
    expect(await bodies(at, `messageId=${ids[1]}`)).toEqual(['1'])
    const { messages } = await list(at)
    expect(await bodies(at, `dlqIds=${messages[0].dlqId}&dlqIds=${messages[4].dlqId}`)).toEqual(['0', '4'])
  })

  test('pages by cursor in both orders, with at most 100 per page', async () => {
    const at = world()
    at.destinations.respond(shop, 500)
    for (let n = 0; n < 250; n++) at.queue.publish({ to: shop, body: String(n), retries: 0 })
    await at.clock.drain()
    for (const order of ['earliestFirst', 'latestFirst']) {
      const found: string[] = []
      let cursor: string | undefined
      do {
        const page = await list(at, `count=1000&order=${order}${cursor ? `&cursor=${cursor}` : ''}`)
        expect(page.messages.length).toBeLessThanOrEqual(100)
        expect(page.cursor ?? '1-1').toMatch(/^\d+-\d+$/)
        found.push(...page.messages.map(({ body }: { body: string }) => body))
        cursor = page.cursor
      } while (cursor)
      const all = Array.from({ length: 250 }, (_, n) => String(n))
      expect(found).toEqual(order === 'latestFirst' ? all.reverse() : all)
    }
  })

  test('trimBody shortens bodies, and -1 omits them', async () => {
    const at = world()
    at.destinations.respond(shop, { status: 500, body: 'response' })
    await publish(at, {}, undefined, 'request')
    await at.clock.drain()
    expect((await list(at, 'trimBody=3')).messages[0]).toMatchObject({ body: 'req', responseBody: 'res' })
    const [without] = (await list(at, 'trimBody=-1')).messages
    expect([without.body, without.responseBody]).toEqual([undefined, undefined])
    expect((await at.send('GET', '/v2/dlq?trimBody=x')).status).toBe(400)
  })

  test.each(['host=shop.test', 'path=/orders', 'lable=x', 'order=random', 'cursor=abc'])(
    'rejects %s',
    async (query) => {
      expect((await world().send('GET', `/v2/dlq?${query}`)).status).toBe(400)
    },
  )
})

describe('deleting dead letters [queue.md 1.9]', () => {
  test.each(['{"lable":"a"}', '{"constructor":"x"}', '{"__proto__":"x"}'])(
    'rejects the JSON body %s and deletes nothing [queue.md 1.1]',
    async (body) => {
      const at = await filled(1)
      expect((await at.send('DELETE', '/v2/dlq', { body })).status).toBe(400)
      expect((await at.send('POST', '/v2/dlq/retry', { body })).status).toBe(400)
      expect(at.queue.deadLetters).toHaveLength(1)
    },
  )

  async function filled(count: number): Promise<World> {
    const at = world()
    at.destinations.respond(shop, 500)
    for (let n = 0; n < count; n++)
      at.queue.publish({ to: shop, body: String(n), retries: 0, label: n % 2 ? 'odd' : 'even' })
    await at.clock.drain()
    return at
  }

  test('deletes one by its ID', async () => {
    const at = await filled(2)
    const { dlqId } = (await list(at)).messages[0]
    const deleted = await at.send('DELETE', `/v2/dlq/${dlqId}`)
    expect([deleted.status, deleted.text]).toEqual([200, ''])
    expect((await at.send('DELETE', `/v2/dlq/${dlqId}`)).status).toBe(404)
    expect((await at.send('GET', `/v2/dlq/${dlqId}`)).status).toBe(404)
    expect(await bodies(at)).toEqual(['1'])
  })

  test('deletes many by filter, by IDs, by the older body, or all page by page', async () => {
    const at = await filled(230)
    expect((await at.send('DELETE', '/v2/dlq?label=odd&count=10')).json).toEqual({
      deleted: 10,
      cursor: expect.stringMatching(/^\d+-\d+$/),
    })
    const { messages } = await list(at)
    expect((await at.send('DELETE', `/v2/dlq?dlqIds=${messages[0].dlqId},unknown`)).json).toEqual({ deleted: 1 })
    expect((await at.send('DELETE', '/v2/dlq', { body: { dlqIds: [messages[1].dlqId] } })).json).toEqual({ deleted: 1 })
    let cursor: string | undefined
    let deleted = 0
    do {
      const page = (await at.send('DELETE', `/v2/dlq${cursor ? `?cursor=${cursor}` : ''}`)).json
      deleted += page.deleted
      cursor = page.cursor
    } while (cursor)
    expect(deleted).toBe(218)
    expect(await bodies(at)).toEqual([])
  })
})

describe('retrying dead letters [queue.md 1.9]', () => {
  test('responds 201 with a new message of the same body and headers, and deletes the dead letter', async () => {
    const at = world()
    at.destinations.respond(shop, 500)
    const id = await publish(
      at,
      { 'Service-Forward-X-A': '1', 'Service-Deduplication-Id': 'd', 'Service-Delay': '1h' },
      undefined,
      'same',
    )
    await at.clock.drain()
    const seen = at.destinations.record(shop, 200)
    const { dlqId } = (await list(at)).messages[0]
    const retried = await at.send('POST', `/v2/dlq/retry/${dlqId}`)
    expect(retried.status).toBe(201)
    expect(retried.json).toEqual({ messageId: expect.stringMatching(/^msg_/), url: shop })
    expect(retried.json.messageId).not.toBe(id)
    expect((await list(at)).messages).toEqual([])
    await at.clock.advance(0)
    expect(seen.last().text()).toBe('same')
    expect(seen.last().header('x-a')).toBe('1')
    expect(seen.last().header('service-retried')).toBe('0')
    expect((await at.send('POST', `/v2/dlq/retry/${dlqId}`)).status).toBe(404)
  })

  test('replaces the settings that the retry gives', async () => {
    const at = world()
    const seen = at.destinations.record(shop, 500)
    await publish(at, { 'Service-Label': 'old', 'Service-Method': 'PUT', 'Service-Forward-X-A': '1' })
    await at.clock.drain()
    const { dlqId } = (await list(at)).messages[0]
    const headers = {
      'Service-Retries': '2',
      'Service-Label': 'new',
      'Service-Delay': '5s',
      'Service-Forward-X-A': '2',
    }
    const { json } = await at.send('POST', `/v2/dlq/retry/${dlqId}?service-retry-delay=1000`, { headers })
    expect((await at.send('GET', `/v2/messages/${json.messageId}`)).json).toMatchObject({
      maxRetries: 2,
      labels: ['new'],
      method: 'PUT',
      header: { 'X-A': ['2'] },
      retryDelayExpression: '1000',
    })
    const start = at.clock.now()
    await at.clock.drain()
    expect(seen.requests.slice(1).map(({ at: time }) => time - start)).toEqual([5000, 6000, 7000])
    const refused = await at.send('POST', `/v2/dlq/retry/${(await list(at)).messages[0].dlqId}`, {
      headers: { 'Service-Retries': 'x' },
    })
    expect(refused.status).toBe(400)
    expect((await list(at)).messages).toHaveLength(1)
  })

  test('keeps URL group, queue and callbacks', async () => {
    const at = world()
    at.destinations.respond('https://shop.test/a', 500)
    const callbacks = at.destinations.record('https://shop.test/cb')
    at.queue.urlGroups.addEndpoints('g', [{ url: 'https://shop.test/a', name: 'first' }])
    await publish(at, { 'Service-Callback': 'https://shop.test/cb' }, '/v2/enqueue/q/g')
    await at.clock.drain()
    at.destinations.respond('https://shop.test/a', 200)
    await at.send('POST', '/v2/dlq/retry')
    await at.clock.drain()
    expect(callbacks.last().json()).toMatchObject({ status: 200, topicName: 'g', endpointName: 'first' })
    expect(at.traffic.ofType('published').at(-2)).toMatchObject({ queue: 'q' })
  })

  test('publishes many by IDs and filters, with 201, their responses and an empty cursor at the end', async () => {
    const at = world()
    at.destinations.respond(shop, 500)
    for (let n = 0; n < 150; n++) at.queue.publish({ to: shop, retries: 0, label: n < 3 ? 'few' : 'many' })
    await at.clock.drain()
    const few = await at.send('POST', '/v2/dlq/retry?label=few')
    expect([few.status, few.json.cursor, few.json.responses.length]).toEqual([201, '', 3])
    expect(few.json.responses[0]).toEqual({ messageId: expect.stringMatching(/^msg_/) })
    const page = (await at.send('POST', '/v2/dlq/retry?label=many')).json
    expect([page.responses.length, page.cursor !== '']).toEqual([100, true])
    const rest = (await at.send('POST', `/v2/dlq/retry?label=many&cursor=${page.cursor}`)).json
    expect([rest.responses.length, rest.cursor]).toEqual([47, ''])
    expect((await at.send('POST', '/v2/dlq/retry?dlqIds=1-1')).status).toBe(404)
    expect((await at.send('POST', '/v2/dlq/retry?label=none')).json).toEqual({ cursor: '', responses: [] })
  })

  test('delivers redacted values in clear text', async () => {
    const at = world()
    const seen = at.destinations.record(shop, 500)
    await publish(
      at,
      { 'Service-Redact-Fields': 'body, header[X-Key]', 'Service-Forward-X-Key': 'secret' },
      undefined,
      'hidden',
    )
    await at.clock.drain()
    const [entry] = (await list(at)).messages
    expect([entry.body, entry.header['X-Key'][0]].every((shown) => /^REDACTED:[0-9a-f]{64}$/.test(shown))).toBe(true)
    await at.send('POST', `/v2/dlq/retry/${entry.dlqId}`)
    await at.clock.drain()
    expect([seen.last().text(), seen.last().header('x-key')]).toEqual(['hidden', 'secret'])
  })
})

describe('retention of dead letters [queue.md 5.6]', () => {
  test.each([
    ['free', 3],
    ['payg', 7],
    ['fixed-1m', 30],
    ['fixed-10m', 90],
  ] as const)('%s keeps dead letters for %i days', async (queuePlan, days) => {
    const at = world({ policy: { queuePlan } })
    at.destinations.respond(shop, 500)
    await publish(at)
    await at.clock.drain()
    const { dlqId } = (await list(at)).messages[0]
    await at.clock.advance(days * 86_400_000)
    expect((await list(at)).messages).toHaveLength(1)
    await at.clock.advance(1)
    expect((await list(at)).messages).toEqual([])
    expect((await at.send('GET', `/v2/dlq/${dlqId}`)).status).toBe(404)
  })
})
