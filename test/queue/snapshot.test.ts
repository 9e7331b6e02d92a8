import { fault, type QueueDump } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import type { Attempt } from '../../src/queue/message/message-entries.js'
import { publishOptions } from '../../src/queue/settings/publish-options.js'
import { shop, type World, world } from './world.js'

/** Queue with every kind of resource, and a message in every lasting state. */
async function busy(): Promise<World> {
  const w = world({ startAt: '2030-01-01T09:00:00Z', seed: 3 })
  const { queue, engine, destinations, clock, send } = w
  queue.urlGroups.addEndpoints('fans', [{ url: 'https://a.test/x', name: 'first' }, 'https://b.test/x'])
  const defaults = { 'Service-Retries': '7', 'Service-Forward-Team': 'blue', 'Content-Type': 'text/plain' }
  expect((await send('PATCH', '/v2/topics/fans', { body: { headers: defaults } })).status).toBe(200)
  queue.upsertQueue('line', { parallelism: 2, paused: true })
  engine.flow.pin('slow', { parallelism: 1, rate: 3, period: 60 })
  engine.flow.pause('held')
  await send('POST', '/v2/schedules/https://shop.test/nightly', {
    headers: { 'Service-Cron': 'CRON_TZ=Europe/Berlin 0 3 * * *', 'Service-Retries': '2', 'Service-Forward-A': 'b' },
    body: 'nightly',
  })
  await send('POST', '/v2/schedules/fans', { headers: { 'Service-Cron': '* * * * *', 'Service-Schedule-Id': 'each' } })
  await send('POST', '/v2/schedules/each/pause')
  await send('POST', '/v2/schedules/fans', { headers: { 'Service-Cron': '0 12 * * *', 'Service-Timeout': '9s' } })
  destinations.respond('https://shop.test/fine', 200).respond('https://shop.test/failed', 204)
  destinations.script(shop, [fault.status(503, { headers: { 'set-cookie': ['a=1', 'b=2'] }, body: 'down' })])
  destinations.script('https://shop.test/ok', [fault.lostAck()])
  queue.publish({ to: shop, retries: 0, body: { id: 1 }, failureCallback: 'https://shop.test/failed' })
  queue.publish({ to: 'https://shop.test/ok', retries: 4, retryDelay: '1000 * (1 + retried)', body: 'tea' })
  await clock.advance('100ms')
  queue.publish({ to: 'https://shop.test/fine' })
  queue.publish({ to: 'https://shop.test/line', queue: 'line' })
  queue.publish({ to: 'https://shop.test/held', flowControlKey: 'held', flowControlValue: 'rate=2, period=30' })
  queue.publish({ to: 'fans', delay: '1h', body: new Uint8Array([0xff, 0]) })
  const cancelled = queue.publish({ to: 'https://shop.test/never', delay: '2h' })
  await clock.advance('100ms')
  await send('DELETE', `/v2/messages/${cancelled.id}`)
  return w
}

const copied = (dump: QueueDump): QueueDump => JSON.parse(JSON.stringify(dump)) as QueueDump

describe('a queue as JSON', () => {
  test('is the same after dump, load and dump again, through JSON', async () => {
    const { queue } = await busy()
    const dump = copied(queue.dump())
    expect(new Set(dump.messages.map(({ state }) => state))).toEqual(
      new Set(['FAILED', 'RETRY', 'DELIVERED', 'CREATED', 'CANCEL_REQUESTED']),
    )
    expect(dump.messages.map(({ kind }) => kind)).toContain('failure-callback')
    for (const list of [dump.urlGroups, dump.queues, dump.flowControlKeys, dump.schedules, dump.deadLetters])
      expect(list).not.toEqual([])
    const other = world({ startAt: '2030-01-01T09:00:00.200Z', seed: 3 })
    other.queue.load(dump)
    expect(copied(other.queue.dump())).toEqual(dump)
  })

  test('contains the log, the remembered duplicates and the signing keys', async () => {
    const { queue, clock, destinations, send } = world({ startAt: '2030-01-01T09:00:00Z', seed: 3 })
    const logOf = async (of: { send: World['send'] }) => (await of.send('GET', '/v2/logs')).json
    destinations.script(shop, [fault.status(503, { body: 'down' })])
    queue.publish({ to: shop, body: 'once', deduplicationId: 'a' })
    queue.publish({ to: 'https://shop.test/same', body: 'same', contentBasedDeduplication: true, delay: '1h' })
    await clock.advance('1m')
    queue.signingKeys.rotate()
    const other = world({ startAt: '2030-01-01T09:01:00Z', seed: 4 })
    other.queue.load(copied(queue.dump()))
    expect(await logOf(other)).toEqual(await logOf({ send }))
    expect([other.queue.signingKeys.pair(), other.queue.signingKeys.former]).toEqual([
      queue.signingKeys.pair(),
      queue.signingKeys.former,
    ])
    const again = { to: shop, body: 'other', deduplicationId: 'a' }
    const before = other.queue.messages.length
    other.queue.publish(again)
    other.queue.publish({ to: 'https://shop.test/same', body: 'same', contentBasedDeduplication: true })
    expect(other.queue.messages).toHaveLength(before)
    await other.clock.advance('10m')
    other.queue.publish(again)
    expect(other.queue.messages.map(({ url }) => url)).toContain(shop)
  })

  test('contains every option, including those of callbacks', () => {
    const values: Record<string, string> = {
      method: 'PUT',
      timeout: '7.5',
      retries: '5',
      'retry-delay': 'pow(2, retried) * 1000',
      delay: '90s',
      'not-before': '1893456000.5',
      'deduplication-id': 'a',
      'content-based-deduplication': 'true',
      callback: 'https://shop.test/done',
      'failure-callback': 'https://shop.test/failed',
      'flow-control-key': 'k',
      'flow-control-value': 'parallelism=2, rate=10, period=60',
      label: 'a,b',
      'redact-fields': 'body, header[authorization]',
      cron: '0 3 * * *',
      'schedule-id': 's',
      'queue-name': 'line',
      'callback-retries': '1',
      'callback-forward-team': 'blue',
      'callback-callback': 'https://shop.test/again',
      'callback-callback-method': 'PATCH',
      'failure-callback-retry-delay': '1000',
      'workflow-runid': 'wfr_1',
    }
    const unset = publishOptions.filter(({ name }) => name !== 'header-forward' && !(name in values))
    expect(unset).toEqual([])
    const { queue } = world()
    queue.publish({ to: 'https://shop.test/x' })
    const dump = copied(queue.dump())
    const dumped = { ...dump.messages[0]!, settings: values, headers: { 'Content-Type': 'text/plain', Team: 'é' } }
    queue.load({ ...dump, messages: [dumped] })
    const [again] = copied(queue.dump()).messages
    expect(again).toEqual(dumped)
  })

  test('lets a loaded queue continue where the original would have continued', async () => {
    const first = await busy()
    const second = world({ startAt: '2030-01-01T09:00:00.200Z', seed: 3 })
    second.queue.load(copied(first.queue.dump()))
    const stories = []
    for (const { queue, engine, clock, traffic, destinations, sandbox } of [first, second]) {
      destinations.respond('https://*', 200)
      // Messages that wait for flow control wait again.
      await clock.advance(0)
      const from = traffic.size
      queue.resumeQueue('line')
      engine.flow.resume('held')
      engine.flow.resume('slow')
      await clock.advanceTo('2030-01-02T04:00:00Z')
      const attempts = sandbox.traffic.ofType('attempt').filter((attempt) => attempt.seq > from)
      stories.push(attempts.map(({ at, url, retried, body }) => ({ at, url, retried, body })))
    }
    expect(stories[0]!.length).toBe(8)
    expect(stories[1]).toEqual(stories[0])
    expect(second.sandbox.traffic.timeline()).toContain('https://shop.test/nightly')
    expect(second.queue.dump().messages.filter(({ state }) => !/DELIVERED|FAILED|CANCELLED/.test(state))).toEqual([])
  })

  test('makes a delivery that was in flight due again immediately, as after a restart', async () => {
    const first = world()
    first.destinations.on(shop, async (_, task) => {
      await task.sleep('10s')
      return new Response()
    })
    first.queue.publish({ to: shop })
    await first.clock.advance('1s')
    const dump = first.queue.dump()
    expect(dump.messages[0]!.state).toBe('ACTIVE')
    const second = world({ startAt: '2030-01-01T00:00:01Z' })
    second.destinations.respond(shop, 200)
    second.queue.load(dump)
    await second.clock.advance(0)
    expect(second.queue.dump().messages[0]).toMatchObject({ state: 'DELIVERED', retried: 0 })
  })

  test('numbers the attempts of a loaded message from where they were', async () => {
    const at = world()
    at.destinations.respond(shop, 500)
    at.queue.publish({ to: shop, retries: 2 })
    await at.clock.advance('1s')
    const { sandbox: to } = world()
    to.load(at.sandbox.dump())
    to.destinations.respond(shop, 500)
    await to.clock.drain()
    expect(
      (to.traffic.ofType('attempt') as unknown as Attempt[]).map(({ number, retried }) => [number, retried]),
    ).toEqual([
      [2, 1],
      [3, 2],
    ])
  })

  test('does not contain a message that a fault dropped', () => {
    const { queue, sandbox, clock } = world()
    sandbox.faults.add({ on: 'queue.delivery', fault: { kind: 'drop' } })
    queue.publish({ to: shop })
    return clock.drain().then(() => expect(queue.dump().messages).toEqual([]))
  })

  test('keeps the order of a FIFO queue, and the slot of a message whose callback is pending', async () => {
    const first = world()
    first.destinations.respond(shop, 200).respond('https://shop.test/done', 500)
    first.queue.publish({ to: shop, queue: 'line', body: 'a', callback: 'https://shop.test/done', callbackRetries: 1 })
    for (const body of ['b', 'c']) first.queue.publish({ to: shop, queue: 'line', body })
    await first.clock.advance('1s')
    const second = world({ startAt: '2030-01-01T00:00:01Z' })
    const seen: string[] = []
    second.destinations.respond('https://*', ({ body }) => {
      seen.push(body.length === 1 ? body : 'callback')
      return 200
    })
    second.queue.load(copied(first.queue.dump()))
    await second.clock.drain()
    expect(seen).toEqual(['callback', 'b', 'c'])
  })

  test('gives new messages IDs that differ from the loaded ones', async () => {
    const first = await busy()
    const second = world({ startAt: '2030-01-01T09:00:00.200Z', seed: 3 })
    second.queue.load(first.queue.dump())
    const before = new Set(second.queue.dump().messages.map(({ id }) => id))
    for (let count = 0; count < 20; count++) second.queue.publish({ to: shop, delay: '1h' })
    expect(second.queue.dump().messages).toHaveLength(before.size + 20)
    const schedules = second.queue.schedules.list().length
    const made = await second.send('POST', `/v2/schedules/${shop}`, { headers: { 'Service-Cron': '0 0 * * *' } })
    expect(made.status).toBe(200)
    expect(second.queue.schedules.list()).toHaveLength(schedules + 1)
    second.destinations.respond('https://shop.test/poor', 500)
    second.queue.publish({ to: 'https://shop.test/poor', retries: 0 })
    await second.clock.advance(0)
    expect(new Set(second.queue.deadLetters.map(({ id }) => id)).size).toBe(2)
  })

  test('lets a loaded dead letter be published again', async () => {
    const first = await busy()
    const second = world({ startAt: '2030-01-01T09:00:00.200Z' })
    second.queue.load(first.queue.dump())
    const id = second.queue.deadLetters[0]!.id
    const shown = await second.send('GET', `/v2/dlq/${id}`)
    expect(shown.json).toMatchObject({ responseStatus: 503, responseBody: 'down', body: '{"id":1}', url: shop })
    expect(shown.json.responseHeader['Set-Cookie']).toEqual(['a=1', 'b=2'])
    expect((await second.send('POST', `/v2/dlq/retry/${id}`)).status).toBe(201)
    expect(second.queue.deadLetters).toEqual([])
  })
})

describe('an invalid dump throws an error and changes nothing', () => {
  const start = '2030-01-01T09:00:00.200Z'
  const changes: [string, (dump: QueueDump) => unknown, string][] = [
    ['nothing', () => undefined, 'This is not a dump of a queue: load() accepts only results of dump().'],
    ['a store', (dump) => ({ ...dump, format: 'stuntdouble/store' }), 'format: '],
    [
      'an invalid field',
      (dump) => ({ ...dump, messages: [{ ...dump.messages[0], retried: -1 }] }),
      'messages.0.retried: Invalid value',
    ],
    [
      'an invalid option',
      (dump) => ({ ...dump, messages: [{ ...dump.messages[0], settings: { retries: 'many' } }] }),
      'of the dump cannot be loaded: invalid Service-Retries: "many" is not a non-negative integer.',
    ],
    [
      'two messages with one ID',
      (dump) => ({ ...dump, messages: [dump.messages[0], dump.messages[0]] }),
      'The dump has two messages msg_',
    ],
    [
      'a dead letter without its message',
      (dump) => ({ ...dump, messages: [] }),
      'The dead letter 1893488400000-0 of the dump belongs to message',
    ],
    [
      'a dead letter of a pending message',
      (dump) => ({ ...dump, messages: dump.messages.map((message) => ({ ...message, state: 'CREATED' })) }),
      'whose state is CREATED and not FAILED.',
    ],
    [
      'a callback without its source message',
      (dump) => ({ ...dump, messages: [{ ...dump.messages[0], source: 'msg_x' }] }),
      'is a callback of msg_x, which is not in the dump.',
    ],
    [
      'a schedule with an incomplete URL',
      (dump) => ({ ...dump, schedules: [{ ...dump.schedules[0], destination: 'https://' }] }),
      'of the dump cannot be loaded: invalid destination url: endpoint',
    ],
    [
      'a schedule to an impossible name of a URL group',
      (dump) => ({ ...dump, schedules: [{ ...dump.schedules[0], destination: 'ht!tp:' }] }),
      'of the dump cannot be loaded: invalid destination url: ',
    ],
    [
      'an invalid cron expression',
      (dump) => ({ ...dump, schedules: [{ ...dump.schedules[0], cron: '* *' }] }),
      'of the dump cannot be loaded: Invalid cron expression: expected exactly 5 fields, found 2',
    ],
    [
      'a time in the future',
      (dump) => ({ ...dump, messages: [{ ...dump.messages[0], createdAt: Date.parse(start) + 1 }] }),
      'was created at 2030-01-01T09:00:00.201Z, but the clock of the sandbox is at 2030-01-01T09:00:00.200Z.',
    ],
  ]
  test.each(changes)('for: %s', async (_, change, sentence) => {
    const dump = copied((await busy()).queue.dump())
    const { queue } = world({ startAt: start })
    queue.publish({ to: shop, delay: '1h' })
    const before = queue.dump()
    expect(() => queue.load(change(dump) as QueueDump)).toThrow(sentence)
    expect(() => queue.load(change(dump) as QueueDump)).toThrow(TypeError)
    expect(queue.dump()).toEqual(before)
    expect(queue.messages).toHaveLength(1)
  })
})
