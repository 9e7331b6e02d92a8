import { describe, expect, test } from 'vitest'
import { createSandbox } from '../../src/index.js'
import { fromArray } from '../../src/kernel/bytes.js'
import { decode, loadTrace, type Trace } from '../../src/report/index.js'
import { schemaErrors } from '../support/json-schema.js'
import { traceSchemaText } from '../support/trace-schema.js'
import { askQueue, askStore, orders, orderWorld } from './worlds.js'

const schema = JSON.parse(traceSchemaText())

/** Returns a trace as a file contains it. */
const written = (value: unknown) => JSON.parse(JSON.stringify(value))

describe('a trace', () => {
  test('matches the published schema, with every type of entry', async () => {
    const { sandbox } = await orderWorld({ policy: { maxTrafficEntries: 100 } })
    const { queue, clock, traffic, store, destinations } = sandbox
    destinations.respond('https://shop.test/refused', () => 500)
    for (let count = 0; count < 40; count++) store.run('INCR', 'n')
    traffic.recordStoreChanges()
    queue.publish({
      to: 'https://shop.test/refused',
      retries: 0,
      redactFields: 'body,header[X-Secret]',
      headers: { 'X-Secret': 's' },
    })
    queue.publish({ to: orders, flowControlKey: 'k', flowControlValue: 'rate=1, period=5s' })
    queue.publish({ to: orders, flowControlKey: 'k', flowControlValue: 'rate=1, period=5s' })
    const cancelled = queue.publish({ to: orders, delay: '1d' })
    await askQueue(sandbox, `/v2/messages/${cancelled.id}`, { method: 'DELETE' })
    await askQueue(sandbox, '/v2/keys/rotate')
    await clock.drain()
    const types = new Set(traffic.entries.map(({ type }) => type))
    for (const type of ['dropped', 'clock', 'flow-control', 'dead-letter', 'message', 'setting', 'keyspace'])
      expect(types).toContain(type)
    expect(schemaErrors(schema, written(traffic.toTrace()))).toEqual([])
  })

  test('is rejected by the schema if it is invalid', () => {
    const trace = {
      format: 'stuntdouble/trace',
      version: 1,
      entries: [{ type: 'keyspace', seq: 0, at: 'now', event: 'set' }],
    }
    expect(schemaErrors(schema, trace)).not.toEqual([])
    expect(schemaErrors(schema, { ...trace, entries: [], version: 2 })).toEqual([expect.stringContaining('version')])
  })

  test('can be loaded with the same entries, except for secrets', async () => {
    const { sandbox, messageId } = await orderWorld()
    const { traffic } = sandbox
    const loaded = loadTrace(JSON.stringify(traffic))
    // Not `toBe`, because a failure would print both.
    expect(JSON.stringify(loaded) === JSON.stringify(traffic)).toBe(true)
    expect(loaded.timeline()).toBe(traffic.timeline())
    expect(loaded.diagram()).toBe(traffic.diagram())
    expect(JSON.stringify(loaded.toHar())).toBe(JSON.stringify(traffic.toHar()))
    expect(loaded.normalized()).toEqual(traffic.normalized())
    expect(String(loaded.tree(messageId))).toBe(String(traffic.tree(messageId)))
    expect(loaded.context.seed).toBe(7)
    expect(loaded.context.now!()).toBe(sandbox.clock.now())
    expect(loaded.last({ type: 'attempt', messageId })?.outcome?.status).toBe(200)
  })

  test('keeps bytes, replies of every kind and gaps in the numbering', () => {
    const { store, traffic } = createSandbox()
    const bytes = new Uint8Array([0, 255, 128, 65])
    store.run('SET', bytes, bytes)
    store.run('GET', bytes)
    store.run('GET', 'none')
    store.run('SADD', 's', '{"base64":"AAAA"}')
    store.run('SMEMBERS', 's')
    store.run('INCRBY', 'n', '9223372036854775807')
    expect(() => store.run('INCR', bytes)).toThrow()
    const loaded = loadTrace(written(traffic.since(1)))
    const commands = traffic.since(1).ofType('command')
    expect(loaded.ofType('command').map(({ argv }) => argv)).toEqual(commands.map(({ argv }) => argv))
    expect(loaded.ofType('command').map((entry) => decode(entry).reply)).toEqual(
      commands.map((entry) => decode(entry).reply),
    )
    expect(loaded.ofType('command')[0]!.argv[1]).toBe(fromArray(bytes))
    expect(loaded.ofType('command').map(({ error }) => error)).toEqual(commands.map(({ error }) => error))
    expect(loaded.entries.map(({ seq }) => seq)).toEqual(traffic.since(1).entries.map(({ seq }) => seq))
  })

  test('truncates bodies at the requested size, never inside a character, and marks them', async () => {
    const sandbox = createSandbox()
    await askQueue(sandbox, `/v2/publish/${orders}`, { body: `${'ü'.repeat(600)}` })
    const trace = written(sandbox.traffic.toTrace({ bodies: 101 })) as Trace
    expect(schemaErrors(schema, trace)).toEqual([])
    const body = trace.entries.find(({ type }) => type === 'published')!.body
    expect(body).toEqual({ cut: 'ü'.repeat(50), size: 1200 })
    expect(decode(loadTrace(trace).last('published')!).body!.text).toBe('ü'.repeat(50))
  })
})

describe('loadTrace()', () => {
  const right = async () =>
    written((await orderWorld()).sandbox.traffic) as { version: number; entries: Record<string, unknown>[] }

  test.each([
    ['', 'it is empty'],
    ['<html>', 'Unexpected token'],
    ['[]', 'it has no "format": "stuntdouble/trace"'],
    ['null', 'it has no "format": "stuntdouble/trace"'],
    ['{"entries":[]}', 'format'],
  ])('rejects %j', (given, reason) => {
    expect(() => loadTrace(given)).toThrow(TypeError)
    expect(() => loadTrace(given)).toThrow(reason)
  })

  test('throws an error that names the place', async () => {
    const trace = await right()
    expect(() => loadTrace({ ...trace, version: 2 })).toThrow(/has version 2\b.*only version 1\b/)
    const at = trace.entries.findIndex(({ type }) => type === 'attempt')
    const broken = structuredClone(trace)
    broken.entries[at]!.url = 5
    expect(() => loadTrace(broken)).toThrow(`entries.${at}.url`)
    expect(() => loadTrace({ ...trace, entries: [trace.entries[1]!, trace.entries[0]!] })).toThrow(
      /entry #1 comes after entry #2/,
    )
    expect(() => loadTrace({ ...trace, entries: [{ type: 'novel', seq: 1, at: 0 }] })).toThrow(/type/)
  })
})

test('matchers accept entries of a trace like those of a sandbox', async () => {
  const { sandboxMatchers } = await import('../../matchers/index.js')
  const { sandbox } = await orderWorld()
  await askStore(sandbox, '/get/stock')
  const loaded = loadTrace(JSON.stringify(sandbox.traffic))
  const verdicts = [sandbox.traffic, loaded, loaded.entries].map((given) => [
    sandboxMatchers.toHavePublished.call({}, given, { to: orders, body: { id: 42 } }).pass,
    sandboxMatchers.toHaveExecuted.call({}, given, 'GET', 'stock').pass,
    sandboxMatchers.toHaveDelivered.call({}, given, { to: orders, attempts: [500, 503, 200] }).pass,
    sandboxMatchers.toHavePublished.call({}, given, { to: 'https://shop.test/nobody' }).pass,
  ])
  expect(verdicts).toEqual([verdicts[0], verdicts[0], verdicts[0]])
  expect(verdicts[0]).toEqual([true, true, true, false])
})
