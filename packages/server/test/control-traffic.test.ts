import { afterEach, beforeEach, expect, test } from 'vitest'
import { EventReader } from '../../../test/support/event-reader.js'
import { type StuntdoubleServer, startServer } from '../src/server.js'

let server: StuntdoubleServer
let base: string

beforeEach(async () => {
  server = await startServer({ port: 0, clock: 'manual' })
  base = `${server.origin}/_control/main`
})
afterEach(() => server.close())

interface Told {
  seq: number
  type: string
  argv?: string[]
  outcome?: { status: number }
}

const asked = async (path: string): Promise<Told[]> => (await fetch(base + path)).json() as Promise<Told[]>

test('a long poll responds immediately with existing entries', async () => {
  server.tenant('main').store.run('SET', 'k', 'v')
  expect(await asked('/traffic?type=command&wait=60s')).toMatchObject([{ argv: ['SET', 'k', 'v'] }])
})

test('a long poll waits for the next entry', async () => {
  const { store, traffic } = server.tenant('main')
  store.run('SET', 'k', 'v')
  const { seq } = traffic.entries.at(-1)!
  const answer = asked(`/traffic?type=command&after=${seq}&wait=60s`)
  // The publish must not overtake the poll: the server has received the poll when it has responded to another request.
  await asked('/traffic')
  store.run('GET', 'k')
  expect(await answer).toMatchObject([{ argv: ['GET', 'k'] }])
})

test('a long poll times out with an empty list', async () => {
  expect(await asked('/traffic?wait=10ms')).toEqual([])
})

test.each([
  ['is reset', () => server.tenant('main').reset()],
  ['is dropped', () => server.drop('main')],
])('a long poll ends when its sandbox %s', async (_, over) => {
  server.tenant('main')
  const answer = asked('/traffic?wait=60s')
  await asked('/traffic')
  over()
  expect(await answer).toEqual([])
})

test.each([
  ['wait=soon', 'wait must be a duration'],
  ['after=-1', 'after must be a whole number'],
  ['type=attempts', 'There is no entry type "attempts"'],
])('GET /traffic rejects %s', async (query, sentence) => {
  const answer = await fetch(`${base}/traffic?${query}`)
  expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
    400,
    expect.stringContaining(sentence),
  ])
})

test('a stream sends new entries, and open ones again at their end', async () => {
  const { destinations, queue, clock } = server.tenant('main')
  let answer = (_: Response): void => {}
  destinations.on(
    'https://shop.test/orders',
    () =>
      new Promise((resolve) => {
        answer = resolve
      }),
  )
  queue.publish({ to: 'https://shop.test/orders', body: 'one' })
  const response = await fetch(`${base}/traffic/stream?type=published,attempt`)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const reader = new EventReader(response)
  const next = async (): Promise<Told> => JSON.parse((await reader.next())!.slice('data: '.length)) as Told
  expect(await next()).toMatchObject({ type: 'published', body: 'one' })
  const drained = clock.drain()
  const begun = await next()
  expect(begun).toMatchObject({ type: 'attempt' })
  expect(begun.outcome).toBeUndefined()
  answer(new Response())
  expect(await next()).toMatchObject({ seq: begun.seq, outcome: { status: 200 } })
  await drained
  await reader.cancel()
})

test('a stream sends a long log in parts, in order and completely', async () => {
  const { store, traffic } = server.tenant('main')
  // More data than any buffer in between holds.
  for (let n = 0; n < 20_000; n++) store.run('SET', `key ${n}`, 'x'.repeat(200))
  const reader = new EventReader(await fetch(`${base}/traffic/stream?type=command`))
  const first = JSON.parse((await reader.next())!.slice('data: '.length)) as Told
  store.run('SET', 'last', 'one')
  let [last, count] = [first, 1]
  while (last.argv?.[1] !== 'last') {
    const next = JSON.parse((await reader.next())!.slice('data: '.length)) as Told
    expect(next.seq).toBeGreaterThan(last.seq)
    last = next
    count++
  }
  expect([count, last.seq]).toEqual([20_001, traffic.mark()])
  await reader.cancel()
})

test('a trace redacts secrets', async () => {
  const { store, tokens } = server.tenant('main')
  store.run('SET', 'k', tokens.queue)
  const trace = (await (await fetch(`${base}/traffic/trace`)).json()) as { format: string; entries: Told[] }
  expect(trace.format).toBe('stuntdouble/trace')
  expect(trace.entries.at(-1)!.argv).toEqual(['SET', 'k', '***'])
  // The trace also contains the store changes.
  const { changes } = trace as unknown as { changes: { key: string; now: object }[] }
  expect(changes).toMatchObject([{ key: 'k', now: { type: 'string', value: '***' } }])
})

test('a stream ends when its tenant is dropped', async () => {
  const reader = new EventReader(await fetch(`${base}/traffic/stream`))
  expect(await (await fetch(base, { method: 'DELETE' })).json()).toEqual({ dropped: true })
  expect(await reader.rest()).toEqual([])
  expect(server.tenants).toEqual([])
})

test('GET /traffic/timeline returns text', async () => {
  server.tenant('main').store.run('SET', 'k', 'v')
  const timeline = await fetch(`${base}/traffic/timeline`)
  expect(timeline.headers.get('content-type')).toContain('text/plain')
  expect(await timeline.text()).toContain('SET k v')
  expect(await (await fetch(`${base}/traffic/diagram?format=mermaid`)).text()).toMatch(/^sequenceDiagram/)
  expect((await fetch(`${base}/traffic/diagram?format=png`)).status).toBe(400)
})

test('DELETE /traffic deletes all entries', async () => {
  server.tenant('main').store.run('SET', 'k', 'v')
  await fetch(`${base}/traffic`, { method: 'DELETE' })
  expect(await asked('/traffic?type=command')).toEqual([])
})

test('POST /scenarios/play plays a scenario in a separate sandbox and returns its verdict', async () => {
  const scenario = {
    name: 'an outage',
    destinations: [{ url: 'https://shop.test/orders', script: [{ kind: 'status', status: 503 }] }],
    steps: [{ publish: { to: 'https://shop.test/orders' } }, { drain: true }],
    expect: [{ delivered: { to: 'https://shop.test/orders', attempts: [503, 200] } }],
  }
  const play = async (body: object) => {
    const answer = await fetch(`${base}/scenarios/play`, { method: 'POST', body: JSON.stringify(body) })
    return (await answer.json()) as { holds: boolean; seed: number; verdict: string; timeline: string }
  }
  expect(await play({ scenario, seed: 9 })).toMatchObject({ holds: true, seed: 9 })
  const wrong = { ...scenario, expect: [{ delivered: { to: 'https://shop.test/orders', attempts: [200] } }] }
  const { holds, verdict, timeline } = await play({ scenario: wrong })
  expect([holds, verdict, timeline]).toEqual([
    false,
    expect.stringContaining('Does not hold'),
    expect.stringContaining('→ 503'),
  ])
  expect(server.tenant('main').traffic.size).toBe(0)
})
