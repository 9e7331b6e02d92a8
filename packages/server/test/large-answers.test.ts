import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { inSlices, sizeOfEntries, sizeOfState } from '../src/control/large.js'
import { type StuntdoubleServer, startServer } from '../src/server.js'

// The size of a response is checked before the response is created.

let server: StuntdoubleServer
let base: string

beforeEach(async () => {
  server = await startServer({ port: 0, clock: 'manual' })
  base = `${server.origin}/_control/main`
})
afterEach(() => server.close())

const megabyte = 'x'.repeat(1_048_576)

async function asked(path: string, body?: unknown): Promise<{ status: number; text: string; json: unknown }> {
  const method = body === undefined ? 'GET' : 'POST'
  const answer = await fetch(base + path, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const text = await answer.text()
  return { status: answer.status, text, json: answer.headers.get('content-type')?.includes('json') && JSON.parse(text) }
}

const noStore = { before: { format: 'stuntdouble/store', version: 1, keys: [] } }

test('rejects a dump of a store that is too large, before creating it', async () => {
  const main = server.tenant('main')
  for (const key of ['a', 'b']) main.store.run('SETRANGE', key, 40_000_000, 'x')
  const made = vi.fn()
  for (const [of, name] of [
    [main, 'dump'],
    [main.store, 'dump'],
    [main.store, 'diff'],
  ] as const)
    Object.defineProperty(of, name, { value: made, configurable: true })
  for (const [path, body] of [['/state'], ['/snapshot'], ['/store/dump'], ['/store/diff', noStore]] as const) {
    const { status, json } = await asked(path, body)
    expect([path, status]).toEqual([path, 400])
    expect(json).toEqual({ error: expect.stringMatching(/bytes, and one response has at most 67108864.*SCAN/) })
  }
  expect(made).not.toHaveBeenCalled()
  main.store.run('DEL', 'a', 'b')
  expect((await asked('/store/dump')).status).toBe(200)
  expect(made).toHaveBeenCalledTimes(1)
})

test.each([
  ['many small keys', (n: number) => ['SET', `key:${n}`, `value ${n}`]],
  ['one key with many writes', (n: number) => ['SET', 'k', n]],
  ['a list', (n: number) => ['RPUSH', 'l', `item ${n}`]],
])('estimates the size of a snapshot within a factor of two: %s', async (_, command) => {
  const main = server.tenant('main')
  for (let n = 0; n < 5_000; n++) main.store.run(...command(n))
  const { text } = await asked('/snapshot')
  const estimate = sizeOfState(main) + sizeOfEntries(main.traffic.entries)
  expect(estimate / text.length).toBeGreaterThan(0.5)
  expect(estimate / text.length).toBeLessThan(2)
})

test('rejects a dump of a queue that is too large', async () => {
  const { queue } = server.tenant('main')
  for (let count = 0; count < 70; count++) queue.publish({ to: 'https://a.test', body: megabyte, delay: '1d' })
  for (const path of ['/state', '/queue/dump']) {
    const { status, json } = await asked(path)
    expect([status, json]).toEqual([400, { error: expect.stringMatching(/ 67108864\. .*\/queue\/messages\?limit=/) }])
  }
})

test('returns a trace that is too large in parts, or with short bodies', async () => {
  const { store, traffic } = server.tenant('main')
  for (let count = 0; count < 140; count++) store.run('PUBLISH', 'channel', megabyte)
  const { status, json } = await asked('/traffic/trace')
  expect([status, json]).toEqual([400, { error: expect.stringMatching(/ 134217728\. .*`limit`.*`after`.*`bodies`/) }])
  const first = traffic.entries[0]!.seq
  const { entries } = (await asked(`/traffic/trace?after=${first}&limit=2`)).json as { entries: { seq: number }[] }
  expect(entries.map(({ seq }) => seq)).toEqual(traffic.entries.slice(1, 3).map(({ seq }) => seq))
})

test('returns the same trace as the sandbox, whole or in parts', async () => {
  const { store, traffic } = server.tenant('main')
  for (let count = 0; count < 5; count++) store.run('SET', `k${count}`, `höher ${count}`)
  const whole = await asked('/traffic/trace')
  const { changes, ...trace } = whole.json as { entries: unknown[]; changes: { seq: number }[] }
  expect(trace).toEqual(JSON.parse(JSON.stringify(traffic.toTrace())))
  expect(changes).toEqual((await asked('/store/changes')).json)
  const [entries, left]: [unknown[], unknown[]] = [[], []]
  for (let after = 0; ; ) {
    const part = (await asked(`/traffic/trace?after=${after}&limit=3`)).json as typeof trace & { changes?: unknown[] }
    if (part.entries.length === 0) break
    entries.push(...part.entries)
    left.push(...(part.changes ?? []))
    after = (part.entries.at(-1) as { seq: number }).seq
  }
  expect(entries).toEqual(trace.entries)
  expect(left).toEqual(changes)
})

test.each(['timeline', 'diagram'])('returns a %s of many entries in parts', async (name) => {
  const { store, traffic } = server.tenant('main')
  for (let count = 0; count < 10_001; count++) store.run('PING')
  const part = name === 'timeline' ? 'limit=3' : `after=${traffic.entries.at(-4)!.seq}`
  expect(await asked(`/traffic/${name}`)).toMatchObject({
    status: 400,
    text: expect.stringContaining(part.split('=')[0]!),
  })
  expect((await asked(`/traffic/${name}?${part}`)).status).toBe(200)
})

test('inSlices() lets other work run between slices', async () => {
  const order: unknown[] = []
  const other = (): void => {
    order.push('other')
    if (order.length < 8) setImmediate(other)
  }
  setImmediate(other)
  const all = await inSlices(
    [1, 2, 3],
    () => 700_000,
    (item) => order.push(item) && item,
  )
  expect(all).toEqual([1, 2, 3])
  expect(order.slice(0, 5)).toEqual([1, 'other', 2, 'other', 3])
})
