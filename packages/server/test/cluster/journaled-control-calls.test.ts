import { expect, test } from 'vitest'
import type { Bytes } from '../../../../src/kernel/bytes.js'
import { traceOf } from '../../../../test/sandbox/random-world.js'
import { control, controlOperations } from '../../src/control/control.js'
import { Nodes } from './shelf.js'

// The owner of a tenant responds to its control calls, whose effects must be saved as well.

async function ordered(nodes: Nodes, method: string, path: string, body: unknown = {}): Promise<string> {
  const { sandbox } = nodes
  const tenants = {
    origin: 'http://node.test',
    names: ['w1'],
    asked: () => sandbox,
    drop: () => false,
    reached: (address: string) => address,
    adoptFork: () => 'fork',
  }
  const url = `/_control/w1${path}`
  const text = (method === 'GET' ? '' : JSON.stringify(body)) as Bytes
  const answer = await control({ method, url, headers: [], body: () => text }, url, tenants)
  return `${answer.status} ${typeof answer.body === 'string' ? answer.body : ''}`
}

/** Paths that return state of a sandbox that is not in its dump and log. */
const told = [
  '/faults',
  '/faults/unused',
  '/destinations',
  '/destinations/recorded?to=https://shop.test/failed',
  '/outbound',
  '/outbound/recorded?url=https://bank.test/*',
  '/workflow/stubs/unused',
  '/stats',
  '/clock',
  '/store/cost',
  '/queue/signing-keys',
  '/queue/diagnostics',
  '/store/diagnostics',
  '/store/changes',
]

/**
 * Operations that are not inputs of this sandbox: a fork and a played scenario have their own, and no inspector waits
 * here.
 */
const elsewhere = ['/fork', '/scenarios/play', '/continue']

const changes = controlOperations.filter(({ method, path }) => method !== 'GET' && !elsewhere.includes(path))

test.each(changes.map((order) => [`${order.method} ${order.path}`, order] as const))(
  '%s is saved',
  async (_, order) => {
    const nodes = new Nodes(() => new Response('ok'))
    await nodes.open()
    for (const [path, body] of setting) expect(await ordered(nodes, 'POST', path, body)).toMatch(/^200/)
    const { sandbox } = nodes
    const ids: Record<string, string> = {
      '/queue/messages': sandbox.queue.messages[0]!.id,
      '/queue/dead-letters': sandbox.queue.deadLetters[0]!.id,
      '/workflow/runs': 'wfr_none',
      '/queue/schedules': 'none',
    }
    const path = order.path
      .replace(/:id/, () => ids[/^.*?(?=\/:)/.exec(order.path)![0]] ?? 'x')
      .replace(/:\w+/g, 'line')
    const given =
      order.path === '/state' ? sandbox.dump() : order.path === '/store/dump' ? sandbox.store.dump() : undefined
    const body = given ?? (order.path === '/queue/dump' ? sandbox.queue.dump() : order.example)
    await ordered(nodes, order.method, path, body)
    await ordered(nodes, 'POST', '/queue/publish', { to: 'https://shop.test/failed', retries: 1 })
    if (order.path !== '/clock/drain') await sandbox.clock.advance('30s')
    const seen = async (): Promise<unknown> => ({
      // It finds expired keys, which adds entries to the log.
      dump: nodes.sandbox.dump(),
      trace: JSON.parse(traceOf(nodes.sandbox)),
      tokens: nodes.sandbox.tokens,
      told: await Promise.all(told.map((path) => ordered(nodes, 'GET', path))),
    })
    const before = await seen()
    await nodes.move()
    expect(await seen()).toEqual(before)
    nodes.world.dispose()
  },
)

/** Calls that create something of every kind. */
const setting: readonly (readonly [path: string, body: unknown])[] = [
  ['/destinations/record', { to: 'https://shop.test/failed', response: 503 }],
  ['/outbound/record', { url: 'https://bank.test/*' }],
  ['/faults', { rules: { on: 'queue.delivery', skip: 1, times: 2, fault: { kind: 'lost-ack' } } }],
  ['/queue/publish', { to: 'https://shop.test/failed', retries: 0 }],
  ['/clock/advance', { by: '1s' }],
  ['/queue/publish', { to: 'https://shop.test/later', delay: '1h' }],
  ['/store/run', { command: ['SET', 'key', 'value', 'EX', 20] }],
]

test('calls on an added database are saved for its next owner, and those without a database for the first', async () => {
  const nodes = new Nodes(() => new Response('ok'), { databases: ['us'] })
  await nodes.open()
  const run = (database: string, ...command: unknown[]) => ordered(nodes, 'POST', `/store/run${database}`, { command })
  for (const database of ['', '?database=us']) {
    expect(await run(database, 'SET', 'who', `here${database}`)).toMatch(/^200/)
    await run(database, 'SET', 'short', 1, 'PX', 20)
    await run(database, 'SADD', 's', 'a', 'b', 'c', 'd')
    await run(database, 'SPOP', 's', 2)
  }
  await nodes.sandbox.clock.advance('1s')
  expect(nodes.sandbox.storeIn('us').get('short')).toBeNull()
  await ordered(nodes, 'POST', '/store/reset-password?database=us')
  await ordered(nodes, 'PUT', '/stats/store/overrides?database=us', { total_monthly_billing: 7 })
  await ordered(nodes, 'POST', '/faults', {
    rules: { on: 'store.request', match: { database: 'us' }, fault: { kind: 'status', status: 503 } },
  })
  const seen = async (): Promise<unknown> => {
    const { sandbox } = nodes
    const { urls, tokens } = sandbox
    const asked = await sandbox.fetch(`${urls.databases.us}/get/who`, {
      headers: { authorization: `Bearer ${tokens.databases.us!.store}` },
    })
    return {
      tokens,
      asked: asked.status,
      past: sandbox.asOf('-1s').storeIn('us').get('who'),
      stats: sandbox.stats.storeIn('us').report().total_monthly_billing,
    }
  }
  const { dump } = nodes.sandbox
  const before = [await seen(), dump()]
  expect(before[0]).toMatchObject({ asked: 503, past: 'here?database=us', stats: 7 })
  await nodes.move()
  expect(nodes.sandbox.dump()).toEqual(before[1])
  expect(nodes.sandbox.storeIn('us').get('who')).toBe('here?database=us')
  expect(nodes.sandbox.store.get('who')).toBe('here')
  nodes.world.dispose()
})

test('a handle of rules removes them on the next owner, but a handle from before a reset removes none', async () => {
  const nodes = new Nodes(() => new Response('ok'))
  await nodes.open()
  const rules = { on: 'store.request', fault: { kind: 'status', status: 503 } }
  const added = async (): Promise<string> => {
    const answer = await ordered(nodes, 'POST', '/faults', { rules })
    return (JSON.parse(answer.slice(4)) as { handle: string }).handle
  }
  const first = await added()
  await ordered(nodes, 'POST', '/reset')
  const second = await added()
  await nodes.move()
  expect(await ordered(nodes, 'DELETE', `/faults?handle=${first}`)).toMatch(/^404/)
  expect(nodes.sandbox.faults.rules).toHaveLength(1)
  expect(await ordered(nodes, 'DELETE', `/faults?handle=${second}`)).toMatch(/^200/)
  expect(nodes.sandbox.faults.rules).toHaveLength(0)
  await nodes.move()
  expect(nodes.sandbox.faults.rules).toHaveLength(0)
  nodes.world.dispose()
})
