import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { shop, world } from './world.js'

// A header is a map of name to array of values, and a header that occurs several times stays a list. [service.md]

const done = 'https://shop.test/done'
const several = {
  'Service-Forward-X-A': ['1', '2, 3'],
  'Service-Callback': done,
  'Service-Callback-Forward-X-C': ['4', '5'],
  'Service-Retries': '0',
}

describe('a header that occurs several times', () => {
  test('stays a list in the message, its callback and the log, and is delivered as a list', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    const called = at.destinations.record(done)
    await at.send('POST', `/v2/publish/${shop}`, { headers: several, body: 'x' })
    await at.clock.drain()
    expect(seen.last().header('x-a')).toBe('1, 2, 3')
    expect(called.last().header('x-c')).toBe('4, 5')
    expect(JSON.parse(called.last().text()).sourceHeader).toMatchObject({ 'X-A': ['1', '2, 3'] })
    const { messageId } = at.traffic.ofType('published')[0]!
    expect((await at.send('GET', `/v2/messages/${messageId}`)).json.header).toMatchObject({ 'X-A': ['1', '2, 3'] })
  })

  test('stays a list in a schedule and its messages, also through a dump', async () => {
    const at = world()
    await at.send('POST', `/v2/schedules/${shop}`, { headers: { ...several, 'Service-Cron': '* * * * *' }, body: 'x' })
    const shown = async () => (await at.send('GET', '/v2/schedules')).json[0]
    const before = await shown()
    expect([before.header, before.callbackHeader]).toMatchObject([{ 'X-A': ['1', '2, 3'] }, { 'X-C': ['4', '5'] }])
    at.sandbox.load(JSON.parse(JSON.stringify(at.sandbox.dump())))
    const again = world()
    again.sandbox.load(at.sandbox.dump())
    expect((await again.send('GET', '/v2/schedules')).json[0]).toEqual(before)
    const called = again.sandbox.destinations.record(done)
    const seen = again.sandbox.destinations.record(shop)
    await again.sandbox.clock.advance('1m')
    expect(seen.last().header('x-a')).toBe('1, 2, 3')
    expect(called.last().header('x-c')).toBe('4, 5')
    expect(JSON.parse(called.last().text()).sourceHeader).toMatchObject({ 'X-A': ['1', '2, 3'] })
  })

  test("stays a list in a destination's response: in the callback, the dead letter and the log", async () => {
    const lines = ['X-A', '1', 'X-A', '2, 3', 'x-a', '4', 'X-B', '5, 6', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']
    const server = createServer((_, response) => response.writeHead(503, lines).end('no'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const several = { 'X-A': ['1', '2, 3', '4'], 'X-B': ['5, 6'], 'Set-Cookie': ['a=1', 'b=2'] }
    try {
      const at = world({ fetch: globalThis.fetch })
      const called = at.destinations.record(done)
      at.destinations.respond(shop, { status: 503, headers: { 'x-a': ['1', '2, 3', '4'], 'x-b': '5, 6' } })
      for (const to of [`http://127.0.0.1:${port}/1`, `http://127.0.0.1:${port}/2`, shop])
        at.queue.publish({ to, callback: done, retries: 0 })
      await at.clock.drain()
      const bodies = called.requests.map((request) => request.json() as { url: string; header: object })
      expect(bodies.map(({ url }) => url.replace(/.*(?=\/)/, '')).toSorted()).toEqual(['/1', '/2', '/orders'])
      for (const { url, header } of bodies)
        expect(header).toMatchObject(url === shop ? { 'X-A': several['X-A'], 'X-B': several['X-B'] } : several)
      const { messages } = (await at.send('GET', '/v2/dlq')).json
      expect(messages).toHaveLength(3)
      for (const { responseHeader } of messages) expect(responseHeader).toMatchObject({ 'X-A': several['X-A'] })
      const { events } = (await at.send('GET', '/v2/events?state=ERROR')).json
      for (const { responseHeaders } of events) expect(responseHeaders).toMatchObject({ 'X-A': several['X-A'] })
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
  })

  test('replaces that of an earlier source', async () => {
    const at = world()
    const seen = at.destinations.record(shop)
    at.queue.urlGroups.addEndpoints('g', [shop])
    await at.send('PATCH', '/v2/topics/g', { body: { headers: { 'Service-Forward-X-A': ['7', '8'] } } })
    await at.send('POST', '/v2/publish/g', { body: 'x' })
    await at.send('POST', '/v2/publish/g', { headers: { 'Service-Forward-X-A': '9' }, body: 'y' })
    await at.clock.drain()
    expect(seen.requests.map((delivery) => delivery.header('x-a'))).toEqual(['7, 8', '9'])
    const headers = at.traffic.ofType('attempt').map((attempt) => attempt.headers.filter(([name]) => name === 'X-A'))
    expect(headers).toEqual([
      [
        ['X-A', '7'],
        ['X-A', '8'],
      ],
      [['X-A', '9']],
    ])
  })

  test('passes unchanged through Header-Forward', async () => {
    const at = world()
    at.destinations.record(shop)
    await at.send('POST', `/v2/publish/${shop}`, { headers: { 'X-A': ['1', '2'], 'Service-Header-Forward': 'true' } })
    await at.clock.drain()
    const { headers } = at.traffic.ofType('attempt')[0]!
    expect(headers.filter(([name]) => name === 'X-A')).toEqual([
      ['X-A', '1'],
      ['X-A', '2'],
    ])
  })
})

describe('default headers of a URL group', () => {
  const raw = { headers: { 'X-Raw': 'raw', 'X-Both': 'group', 'Service-Forward-X-Raw-Always': 'always' } }
  async function delivered(headers: Record<string, string>): Promise<(string | undefined)[]> {
    const at = world()
    at.queue.urlGroups.addEndpoints('g', [shop])
    await at.send('PATCH', '/v2/topics/g', { body: raw })
    at.sandbox.load(JSON.parse(JSON.stringify(at.sandbox.dump())))
    const seen = at.sandbox.destinations.record(shop)
    await at.send('POST', '/v2/publish/g', { headers, body: 'x' })
    await at.sandbox.clock.drain()
    return ['x-raw', 'x-both', 'x-raw-always'].map((name) => seen.last().header(name))
  }

  test('apply as if the publisher had sent them: only under Header-Forward', async () => {
    expect(await delivered({})).toEqual([undefined, undefined, 'always'])
    expect(await delivered({ 'Service-Header-Forward': 'true' })).toEqual(['raw', 'group', 'always'])
    expect(await delivered({ 'Service-Header-Forward': 'true', 'X-Both': 'own' })).toEqual(['raw', 'own', 'always'])
  })

  test('are rejected if HTTP cannot carry them', async () => {
    const at = world()
    at.queue.urlGroups.addEndpoints('g', [shop])
    for (const headers of [{ 'no name': 'x' }, { 'X-A': 'two\nlines' }]) {
      const answer = await at.send('PATCH', '/v2/topics/g', { body: { headers } })
      expect([answer.status, answer.json.error]).toEqual([400, expect.stringMatching(/^invalid headers: .*HTTP/)])
    }
  })
})
