import { describe, expect, test } from 'vitest'
import { createSandbox, type Entry } from '../../src/index.js'
import { text, utf8 } from '../../src/kernel/bytes.js'
import { decode } from '../../src/report/index.js'
import { askQueue, askStore, done, orders, orderWorld } from './worlds.js'

describe('entries', () => {
  test('of commands are equal for every way to send them', async () => {
    const sandbox = createSandbox({ dialect: 'upstash' })
    const start = sandbox.traffic.mark()
    const base64 = { 'upstash-encoding': 'base64' }
    await askStore(sandbox, '/set/k%C3%A4se/gr%C3%BCn')
    await askStore(sandbox, '/', ['SET', 'käse', 'grün'])
    await askStore(sandbox, '/', ['SET', 'käse', 'grün'], base64)
    await askStore(sandbox, '/pipeline', [['SET', 'käse', 'grün']], base64)
    await askStore(sandbox, '/multi-exec', [['SET', 'käse', 'grün']])
    sandbox.store.run('SET', 'käse', 'grün')
    const commands = sandbox.traffic.since(start).ofType('command')
    expect(commands.map(({ via }) => via)).toEqual([
      'request',
      'request',
      'request',
      'pipeline',
      'transaction',
      'direct',
    ])
    for (const command of commands) {
      expect(
        decode(command)
          .argv?.slice(0, 3)
          .map((word, index) => (index === 0 ? word.toUpperCase() : word)),
      ).toEqual(['SET', 'käse', 'grün'])
      expect(decode(command).reply).toBe('OK')
    }
    const requests = sandbox.traffic.ofType('request')
    expect(commands.slice(0, 5).map(({ cause }) => cause)).toEqual(requests.map(({ seq }) => seq))
    // Base64 is used only over HTTP.
    expect(decode(requests[3]!).response?.json).toEqual([{ result: 'OK' }])
  })

  test('of a client that pipelines automatically are single commands of one request', async () => {
    const sandbox = createSandbox({ dialect: 'upstash' })
    const { Redis } = await import('@upstash/redis')
    const fetchBefore = globalThis.fetch
    globalThis.fetch = sandbox.fetch as typeof fetch
    try {
      const redis = new Redis({ url: sandbox.urls.store, token: sandbox.tokens.store, enableAutoPipelining: true })
      await Promise.all([redis.set('a', 1), redis.set('b', 2), redis.get('a')])
    } finally {
      globalThis.fetch = fetchBefore
    }
    const requests = sandbox.traffic.ofType('request')
    const commands = sandbox.traffic.ofType('command')
    expect(commands.map((entry) => decode(entry).argv?.join(' ').toLowerCase())).toEqual([
      'set a 1',
      'set b 2',
      'get a',
    ])
    expect(requests.length).toBeLessThan(commands.length)
    expect(new Set(commands.map(({ cause }) => cause))).toEqual(new Set(requests.map(({ seq }) => seq)))
    for (const { url } of requests) expect(url).toContain('/pipeline')
    for (const { via } of commands) expect(via).toBe('pipeline')
  })

  test('contain bytes, which decode() converts to text and JSON', async () => {
    const { sandbox, messageId } = await orderWorld()
    const attempt = sandbox.traffic.last({ type: 'attempt', messageId })!
    expect(attempt.body).toBe('{"id":42}')
    const { body, response } = decode(attempt)
    expect([body!.text, body!.json, body!.size, body!.isText]).toEqual(['{"id":42}', { id: 42 }, 9, true])
    expect([...body!.bytes]).toEqual([...new TextEncoder().encode('{"id":42}')])
    expect(response!.text).toBe('')
    const binary = decode({ type: 'published', body: utf8('x').replace('x', '\xff\x00') } as unknown as Entry).body!
    expect([binary.isText, binary.text, binary.json, [...binary.bytes]]).toEqual([
      false,
      '\ufffd\0',
      undefined,
      [255, 0],
    ])
    expect(decode(sandbox.traffic.last('clock')!)).toEqual({})
  })

  test('contain moves of time, and the timeline omits a move without effect', async () => {
    const { clock, traffic, store } = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
    await clock.advance(0)
    store.run('SET', 'k', 'v', 'EX', 10)
    await clock.advance('5s')
    await clock.advance('5s')
    await clock.drain()
    expect(
      traffic.ofType('clock').map(({ move: call, at, to, count: moves }) => [call, (to! - at) / 1000, moves]),
    ).toEqual([
      ['advance', 0, 1],
      ['advance', 10, 2],
      ['drain', 0, 1],
    ])
    const told = traffic.timeline()
    expect(told.match(/clock\./g)).toHaveLength(1)
    expect(told).toContain('clock.advance (2 times): 10s to 09:00:10.000')
  })

  test('contain why flow control held a message and how long; the timeline omits the repetition', async () => {
    const { queue, destinations, clock, traffic } = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
    destinations.on(orders, async (_, task) => {
      await task.sleep('20s')
      return new Response()
    })
    const flow = { flowControlKey: 'shop', flowControlValue: 'parallelism=1' }
    queue.publish({ to: orders, ...flow })
    const second = queue.publish({ to: orders, ...flow })
    await clock.drain()
    const of = { flowControlKey: 'shop', messageId: second.id }
    expect(traffic.ofType('flow-control')).toMatchObject([
      { ...of, decision: 'held', reason: 'parallelism 1 of 1' },
      { ...of, decision: 'admitted', reason: 'held for 20s' },
    ])
    expect(traffic.timeline()).toMatch(/flow-control key shop holds msg_.*: parallelism 1 of 1/)
    expect(traffic.timeline()).not.toContain('WAITING')
  })

  test('contain a rate and an overall limit', async () => {
    const rate = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
    rate.destinations.respond(orders, () => 200)
    for (let count = 0; count < 3; count++)
      rate.queue.publish({ to: orders, flowControlKey: 'r', flowControlValue: 'rate=2, period=10s' })
    await rate.clock.drain()
    expect(rate.traffic.ofType('flow-control').map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^rate 2 of 2, .*\b10s/),
      'held for 10s',
    ])
    const all = createSandbox({ policy: { enforceQuotas: true, queueLimits: { globalParallelism: 1 } } })
    all.destinations.on(orders, async (_, task) => {
      await task.sleep('5s')
      return new Response()
    })
    for (let count = 0; count < 2; count++) all.queue.publish({ to: orders })
    await all.clock.drain()
    const decisions = all.traffic.ofType('flow-control')
    expect(decisions.map(({ reason }) => reason)).toEqual(['1 of 1 deliveries in flight', 'held for 5s'])
    expect(decisions.some((entry) => 'flowControlKey' in entry)).toBe(false)
  })

  test.for([
    ['rate=5, period=10s', '0s', {}, 5],
    ['rate=5, period=10s, parallelism=10', '1s', {}, 5],
    ['rate=5, period=10s, parallelism=6', '25s', {}, 1],
    ['rate=5, period=10s', '0s', { flowControlOrder: 'shuffled' }, 0],
  ] as const)('contain until when a rate holds a message only if it does: %s', async ([limits, work, policy, told]) => {
    using sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z', policy })
    sandbox.destinations.on(orders, async (_, task) => {
      await task.sleep(work)
      return new Response()
    })
    for (let count = 0; count < 25; count++)
      sandbox.queue.publish({ to: orders, flowControlKey: 'k', flowControlValue: limits })
    await sandbox.clock.drain()
    const decisions = sandbox.traffic.ofType('flow-control')
    const forecasts = decisions.flatMap(({ messageId, reason }) => {
      const [, left] = /^rate .*, until the period ends in (\w+)/.exec(reason) ?? []
      return left === undefined ? [] : [{ messageId, reason: `held for ${left}` }]
    })
    expect(forecasts).toHaveLength(told)
    const ends = decisions.filter(({ decision }) => decision === 'admitted')
    for (const forecast of forecasts) expect(ends).toContainEqual(expect.objectContaining(forecast))
  })

  test('of a schedule lead from the request over the fire to the message', async () => {
    const sandbox = createSandbox({ startAt: '2030-01-01T09:00:30Z' })
    sandbox.destinations.respond(done, () => 200)
    await askQueue(sandbox, `/v2/schedules/${done}`, { headers: { 'service-cron': '* * * * *' } })
    await sandbox.clock.advance('40s')
    const { messageId } = sandbox.traffic.last('published')!
    const chain = sandbox.traffic
      .tree(messageId)
      .entries.map((entry) => (entry.type === 'setting' ? entry.change : entry.type))
    expect(chain).toEqual(['request', 'created', 'fired', 'published', 'attempt'])
  })

  test('have the same bytes for the same seed', async () => {
    const traces = await Promise.all(
      [7, 7, 8].map(async (seed) => JSON.stringify((await orderWorld({ seed })).sandbox.traffic)),
    )
    expect([traces[0] === traces[1], traces[0] === traces[2]]).toEqual([true, false])
  })
})

describe('finding entries', () => {
  test('works by function, by fields, and for the latest one', async () => {
    const { sandbox, messageId } = await orderWorld()
    const { traffic } = sandbox
    expect(traffic.filter({ type: 'attempt', messageId }).map(({ retried }) => retried)).toEqual([0, 1, 2])
    expect(traffic.filter({ type: 'published', kind: 'callback' })).toHaveLength(3)
    expect(traffic.filter((entry) => entry.type === 'request')).toEqual(traffic.ofType('request'))
    expect(traffic.last()).toBe(traffic.entries.at(-1))
    expect(traffic.last('request')?.service).toBe('queue')
    expect(traffic.last({ type: 'request', service: 'store' })?.url).toContain('/pipeline')
    expect(traffic.last((entry) => entry.type === 'command' && entry.via === 'direct')?.type).toBe('command')
    expect(traffic.last('workflow')).toBeUndefined()
    expect(() => traffic.filter({} as never)).toThrow('A pattern without fields')
  })

  test('since a mark returns a view of all later entries', async () => {
    const { sandbox } = await orderWorld()
    const { traffic, store } = sandbox
    const mark = traffic.mark()
    const later = traffic.since(mark)
    expect([later.size, later.timeline(), later.last()]).toEqual([0, '(no traffic)', undefined])
    store.run('GET', 'stock')
    expect(later.entries.map((entry) => entry.type)).toEqual(['command'])
    expect([later.ofType('command').length, later.ofType('request').length, later.forMessage('x').length]).toEqual([
      1, 0, 0,
    ])
    expect(later.get(mark)).toBeUndefined()
    expect(later.get(mark + 1)).toBe(traffic.last())
    expect(later.timeline()).not.toContain('SET')
    expect(later.since(0).size).toBe(1)
    expect(traffic.ofType('command').length).toBeGreaterThan(1)
  })

  test('in a full log states how many entries were dropped, in every format', async () => {
    const { store, traffic } = createSandbox({ policy: { maxTrafficEntries: 20 } })
    for (let count = 0; count < 100; count++) store.run('SET', `k${count}`, 'v')
    expect(traffic.size).toBeLessThanOrEqual(20)
    // A command and its keyspace event are two entries; the mark is one of the entries that exist.
    expect(traffic.dropped).toBe(200 - (traffic.size - 1))
    const words = `${traffic.dropped} earlier entries were dropped: the log keeps 20 entries (policy.maxTrafficEntries)`
    expect(traffic.timeline()).toContain(words)
    expect(traffic.diagram({ width: 200 })).toContain(words)
    expect(traffic.diagram({ format: 'mermaid' })).toContain(`${traffic.dropped} earlier entries were dropped`)
    expect(traffic.toHar().log.comment).toContain(`${traffic.dropped} earlier entries`)
    expect(traffic.toTrace().entries[0]).toMatchObject({ type: 'dropped', count: traffic.dropped })
  })

  test('without capturing returns no entries, and the statistics still count', async () => {
    const { queue, store, traffic, destinations, clock, stats } = createSandbox({ policy: { maxTrafficEntries: 0 } })
    destinations.respond(orders, () => 200)
    store.run('SET', 'k', 'v')
    queue.publish({ to: orders })
    await clock.drain()
    expect([traffic.size, traffic.timeline()]).toEqual([0, '(no traffic)'])
    expect(store.get('k')).toBe('v')
    expect(stats.queue.report().daily_requests.reduce((sum, { y }) => sum + y, 0)).toBe(1)
  })
})

describe('traffic.tree()', () => {
  test('contains what led to a message, its attempts as siblings, and what followed, but no other messages', async () => {
    const { sandbox, messageId } = await orderWorld()
    const tree = sandbox.traffic.tree(messageId)
    const [root] = tree.roots
    expect(tree.roots).toHaveLength(1)
    expect(root!.entry.type).toBe('request')
    const [published] = root!.children
    expect(published!.entry).toMatchObject({ type: 'published', messageId })
    expect(published!.children.map(({ entry }) => entry)).toEqual(
      sandbox.traffic.filter({ type: 'attempt', messageId }),
    )
    for (const { children } of published!.children) {
      expect(children).toMatchObject([{ entry: { type: 'published', kind: 'callback', sourceMessageId: messageId } }])
      expect(children[0]!.children).toMatchObject([{ entry: { type: 'attempt', url: done } }])
    }
    expect(tree.entries.some((entry) => 'url' in entry && entry.url.includes('/other'))).toBe(false)
    expect(tree.entries.map(({ seq }) => seq)).toEqual(tree.entries.map(({ seq }) => seq).toSorted((a, b) => a - b))
  })

  test('of a callback begins with the request that published its source', async () => {
    const { sandbox, messageId } = await orderWorld()
    const callback = sandbox.traffic.filter({ type: 'published', sourceMessageId: messageId })[1]!
    const tree = sandbox.traffic.tree(callback.messageId)
    expect(tree.roots[0]!.entry.type).toBe('request')
    expect(tree.entries.at(-1)).toMatchObject({ type: 'attempt', messageId: callback.messageId })
    expect(tree.entries.filter((entry) => entry.type === 'published')).toHaveLength(2)
  })

  test('shows the reason of every wait once as text', async () => {
    const { sandbox, messageId } = await orderWorld()
    const lines = String(sandbox.traffic.tree(messageId)).split('\n')
    expect(lines[0]).toBe('2030-01-01')
    expect(lines[1]).toMatch(
      /^09:00:00\.000 {2}#\d+ POST https:\/\/queue\.test\/v2\/publish\/https:\/\/shop\.test\/orders → 200$/,
    )
    expect(lines[2]).toMatch(/^09:00:00\.000 {2}└─ #\d+ published msg_/)
    expect(lines.filter((line) => line.includes('waits '))).toEqual([
      expect.stringMatching(/^ {14} {3}│ {2}│ {2}waits 12s until 09:00:12\.000: .* after 500$|waits 12s until/),
      expect.stringContaining('waits 2m28s until 09:02:40.000'),
    ])
  })

  test('is empty for an unknown message, and rejects an entry type', () => {
    const { traffic } = createSandbox()
    expect(traffic.tree('msg_unknown').entries).toEqual([])
    expect(String(traffic.tree('msg_\u202eunknown'))).toBe('(no entries about msg_\\u202eunknown)')
    expect(() => traffic.ofType('publish' as never)).toThrow(
      /traffic\.ofType\(\): .*"publish".*request, command, .*published/,
    )
    expect(() => traffic.tree('publish')).toThrow(/ID of a message \(got "publish"\).*traffic\.ofType\(\)/)
  })
})

describe('recordStoreChanges()', () => {
  test('adds to each attempt the added and removed keys, and changed values and TTLs', async () => {
    const { store, queue, destinations, clock, traffic } = createSandbox({ startAt: '2030-01-01T09:00:00Z' })
    for (const [key, value] of [
      ['stock', '5'],
      ['old', 'x'],
      ['session', 's'],
    ])
      store.run('SET', key!, value!)
    store.run('EXPIRE', 'session', 60)
    destinations.on(orders, async (_, task) => {
      store.run('DECR', 'stock')
      store.run('DEL', 'old')
      store.run('SET', 'charged:42', '1', 'EX', 30)
      await task.sleep('1s')
      store.run('EXPIRE', 'session', 120)
      return new Response()
    })
    const stop = traffic.recordStoreChanges()
    queue.publish({ to: orders })
    await clock.advance('1s')
    stop()
    const attempt = traffic.last('attempt')!
    expect(attempt.store).toMatchObject({
      added: [{ key: 'charged:42', value: '1', expiresAt: Date.parse('2030-01-01T09:00:30Z') }],
      removed: [{ key: 'old' }],
      changed: [
        { before: { key: 'stock', value: '5' }, after: { value: '4' } },
        { before: { key: 'session' }, after: { value: 's' } },
      ],
    })
    const told = traffic
      .timeline()
      .split('\n')
      .filter((line) => line.includes('store: '))
      .map((line) => line.trim())
    expect(told).toEqual([
      'store: + charged:42 string 1, expires 2030-01-01 09:00:30.000',
      'store: - old string x',
      'store: ~ stock string 5 → string 4',
      'store: ~ session expires 1m1s later, 2030-01-01 09:02:01.000',
    ])
  })

  test('records nothing before it is called, nor after it is stopped', async () => {
    const { store, queue, destinations, clock, traffic } = createSandbox()
    destinations.on(orders, () => {
      store.run('INCR', 'n')
      return new Response()
    })
    queue.publish({ to: orders })
    await clock.drain()
    traffic.recordStoreChanges()()
    queue.publish({ to: orders })
    await clock.drain()
    expect(traffic.ofType('attempt').map((attempt) => attempt.store)).toEqual([undefined, undefined])
  })
})

test('text() of a captured body returns what the client sent', async () => {
  const sandbox = createSandbox()
  await askQueue(sandbox, `/v2/publish/${orders}`, { body: 'grün ✓' })
  expect(text(sandbox.traffic.last('published')!.body)).toBe('grün ✓')
})
