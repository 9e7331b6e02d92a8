import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type World, world } from './world.js'

const upsert = (at: World, endpoints: unknown, name = 'g') =>
  at.send('POST', `/v2/topics/${name}/endpoints`, { body: { endpoints } })
const read = async (at: World, name = 'g') => (await at.send('GET', `/v2/topics/${name}`)).json

const a = 'https://shop.test/a'
const b = 'https://shop.test/b'

describe('URL groups [queue.md 8, 1.8]', () => {
  test('add endpoints, or change them by name first, otherwise by URL', async () => {
    const at = world()
    const created = await upsert(at, [{ url: a, name: 'first one' }, { url: b }])
    expect([created.status, created.text]).toEqual([200, ''])
    const start = at.clock.now()
    expect(await read(at)).toEqual({
      name: 'g',
      createdAt: start,
      updatedAt: start,
      endpoints: [{ name: 'first one', url: a }, { url: b }],
    })
    await at.clock.advance('1s')
    // A known name with a new URL replaces the URL; a known URL with a new name gets the name.
    await upsert(at, [
      { url: 'https://shop.test/a2', name: 'first one' },
      { url: b, name: 'second' },
      { url: 'https://shop.test/c' },
    ])
    expect(await read(at)).toEqual({
      name: 'g',
      createdAt: start,
      updatedAt: start + 1000,
      endpoints: [
        { name: 'first one', url: 'https://shop.test/a2' },
        { name: 'second', url: b },
        { url: 'https://shop.test/c' },
      ],
    })
  })

  test.each([
    [undefined],
    ['no list'],
    [[]],
    [[{ name: 'no url' }]],
    [[{ url: 'shop.test/a' }]],
    [[{ url: a, name: 5 }]],
  ])('reject the endpoints %j', async (endpoints) => {
    const at = world()
    expect((await upsert(at, endpoints)).status).toBe(400)
    expect((await at.send('GET', '/v2/topics')).json).toEqual([])
  })

  test('accept names of letters, digits, _ - and .', async () => {
    const at = world()
    expect((await upsert(at, [{ url: a }], 'a_b-c.1')).status).toBe(200)
    expect((await upsert(at, [{ url: a }], 'a%20b')).status).toBe(400)
  })

  test('remove endpoints by name or URL; without endpoints the group is deleted; an unknown group is an error', async () => {
    const at = world()
    const remove = (endpoints: unknown) => at.send('DELETE', '/v2/topics/g/endpoints', { body: { endpoints } })
    expect((await remove([{ url: a }])).status).toBe(404)
    await upsert(at, [{ url: a, name: 'x' }, { url: b }, { url: 'https://shop.test/c' }])
    expect((await remove([{}])).status).toBe(400)
    await remove([{ name: 'x' }, { url: b }])
    expect((await read(at)).endpoints).toEqual([{ url: 'https://shop.test/c' }])
    await remove([{ url: 'https://shop.test/c' }])
    expect((await at.send('GET', '/v2/topics/g')).status).toBe(404)
    expect((await at.send('POST', '/v2/publish/g')).status).toBe(404)
  })

  test('leave messages in flight alone when deleted, and an unknown name is not an error', async () => {
    const at = world()
    const seen = at.destinations.record('https://shop.test/*')
    await upsert(at, [{ url: a }])
    await at.send('POST', '/v2/publish/g', { headers: { 'Service-Delay': '1m' } })
    expect((await at.send('DELETE', '/v2/topics/g')).status).toBe(200)
    expect((await at.send('DELETE', '/v2/topics/g')).status).toBe(200)
    await at.clock.drain()
    expect(seen.last().url).toBe(a)
  })

  test('publish one message per endpoint, with its own retries and log', async () => {
    const at = world()
    at.destinations.respond(a, 200)
    at.destinations.respond(b, 500)
    await upsert(at, [{ url: a }, { url: b }])
    const { json } = await at.send('POST', '/v2/publish/g', { headers: { 'Service-Retries': '1' } })
    await at.clock.drain()
    const attempts = at.traffic.ofType('attempt')
    expect(attempts.filter(({ messageId }) => messageId === json[0].messageId)).toHaveLength(1)
    expect(attempts.filter(({ messageId }) => messageId === json[1].messageId)).toHaveLength(2)
  })

  test('apply default headers, strings or arrays, below those of a publish; PATCH replaces the set', async () => {
    const at = world()
    const seen = at.destinations.record('https://shop.test/*', 500)
    await upsert(at, [{ url: a }])
    const patch = (headers: unknown, name = 'g') => at.send('PATCH', `/v2/topics/${name}`, { body: { headers } })
    const defaults = {
      'Service-Retries': '1',
      'Service-Header-Forward': ['true'],
      'service-forward-x-default': 'd',
      'Content-Type': 'text/plain',
    }
    const patched = await patch(defaults)
    expect([patched.status, patched.text]).toEqual([200, ''])
    expect((await read(at)).headers).toEqual(defaults)
    await at.send('POST', '/v2/publish/g', { headers: { 'X-Hook': 'h' } })
    await at.clock.drain()
    expect(seen.count).toBe(2)
    expect(seen.last().header('x-hook')).toBe('h')
    expect(seen.last().header('x-default')).toBe('d')
    expect(seen.last().header('content-type')).toBe('text/plain')
    seen.clear()
    await at.send('POST', '/v2/publish/g', { headers: { 'Service-Retries': '0' } })
    await at.clock.drain()
    expect(seen.count).toBe(1)
    await patch({ 'Service-Retries': '2' })
    seen.clear()
    await at.send('POST', '/v2/publish/g', { headers: { 'X-Hook': 'h' } })
    await at.clock.drain()
    expect(seen.count).toBe(3)
    expect(seen.last().header('x-hook')).toBeUndefined()
    await patch({})
    expect(await read(at)).not.toHaveProperty('headers')
    expect((await patch({}, 'nobody')).status).toBe(404)
    expect((await patch({ 'Service-Retries': 5 })).status).toBe(400)
  })

  const bad: Record<string, string>[] = [
    { 'Service-Retries': 'many' },
    { 'Service-Delay': 'soon' },
    { 'Service-Callback': 'nowhere' },
    { 'Service-Callback-Retries': 'many' },
    { 'Service-Failure-Callback-Delay': 'soon' },
    { 'Service-Callback-Failure-Callback-Timeout': 'soon' },
    { 'Service-Flow-Control-Value': 'rate=none' },
    { 'service-forward-bad name': 'x' },
  ]
  test.each(bad)(
    'reject default headers that no publish could use, and keep the previous ones: %j',
    async (headers) => {
      const at = world()
      await upsert(at, [{ url: a }])
      const patch = (given: unknown) => at.send('PATCH', '/v2/topics/g', { body: { headers: given } })
      await patch({ 'Service-Retries': '1' })
      const refused = await patch(headers)
      expect([refused.status, refused.json.error]).toEqual([400, expect.stringMatching(/^invalid /)])
      expect((await read(at)).headers).toEqual({ 'Service-Retries': '1' })
      expect((await at.send('POST', '/v2/publish/g')).status).toBe(200)
    },
  )

  test.each([
    ['Upstash-', {}, 'Upstash-'],
    ['Service-', {}, 'Service-'],
    ['Upstash-', { 'Service-Retries': '1' }, 'Service-'],
    ['Service-', { 'Upstash-Retries': '1' }, 'Upstash-'],
  ])(
    'check defaults in %s without a key: a publish with %j is rejected in the spelling of %s',
    async (prefix, headers, words) => {
      const at = world({ dialect: 'auto' })
      await upsert(at, [{ url: a }])
      for (const name of ['Flow-Control-Value', 'Callback-Flow-Control-Value']) {
        const body = { headers: { [`${prefix}${name}`]: 'rate=1' } }
        expect((await at.send('PATCH', '/v2/topics/g', { body })).status).toBe(200)
        const refused = await at.send('POST', '/v2/publish/g', { headers })
        expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining(` ${words}${name}: `)])
      }
    },
  )

  const partial: Record<string, string>[] = [
    { 'Service-Flow-Control-Value': 'rate=1' },
    { 'Service-Callback-Flow-Control-Value': 'rate=1' },
    { 'Service-Callback-Retries': '1' },
    { 'Service-Deduplication-Id': 'd' },
    { 'Service-Header-Forward': 'TRUE' },
    { 'Service-Feature-Set': 'LazyFetch' },
    { 'X-Plain': 'many' },
  ]
  test.each(partial)('accept default headers that need a setting of the publish: %j', async (headers) => {
    const at = world()
    await upsert(at, [{ url: a }])
    expect((await at.send('PATCH', '/v2/topics/g', { body: { headers } })).status).toBe(200)
    const brought = {
      'Service-Flow-Control-Key': 'k',
      'Service-Callback': 'https://shop.test/cb',
      'Service-Callback-Flow-Control-Key': 'c',
    }
    expect((await at.send('POST', '/v2/publish/g', { headers: brought })).status).toBe(200)
  })
})

describe('merging endpoints of a URL group', () => {
  interface Given {
    readonly url: string
    readonly name?: string
  }

  /**
   * Reference from the documentation: an endpoint with the same name is changed, otherwise one with the same URL,
   * otherwise it is added.
   */
  function slowly(before: readonly Given[], given: readonly Given[]): Given[] {
    const list = [...before]
    for (const { url, name } of given) {
      let at = name === undefined ? -1 : list.findIndex((known) => known.name === name)
      if (at === -1) at = list.findIndex((known) => known.url === url)
      if (at === -1) list.push({ url, ...(name !== undefined && { name }) })
      else list[at] = { url, name: name ?? (list[at]!.name as string) }
    }
    return list.map(({ url, name }) => ({ url, ...(name !== undefined && { name }) }))
  }

  const endpoint = fc.record(
    {
      url: fc.constantFrom('https://a.test/', 'https://b.test/', 'https://c.test/'),
      name: fc.constantFrom('x', 'y', 'z'),
    },
    { requiredKeys: ['url'] },
  )

  test('gives the same result as a search through the list for each endpoint', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(endpoint, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }),
        (calls) => {
          const at = world()
          let expected: Given[] = []
          for (const endpoints of calls) {
            at.queue.urlGroups.addEndpoints('g', endpoints)
            expected = slowly(expected, endpoints)
          }
          const plain = at.engine.urlGroups
            .get('g')!
            .endpoints.map(({ url, name }) => ({ url, ...(name !== undefined && { name }) }))
          expect(plain).toEqual(expected)
        },
      ),
    )
  })
})
