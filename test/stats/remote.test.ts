import { usage } from 'stuntdouble/stats'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type StuntdoubleServer, startServer } from '../../packages/server/src/server.js'
import { connect, type RemoteSandbox } from '../../src/client/connect.js'
import { createSandbox, type Sandbox } from '../../src/index.js'

const world = { seed: 7, startAt: '2030-01-15T12:00:00Z' } as const

let server: StuntdoubleServer | undefined

const kinds: [string, () => Promise<Sandbox | RemoteSandbox>][] = [
  ['in process', async () => createSandbox(world)],
  [
    'behind a server',
    async () => {
      server = await startServer({ port: 0, clock: 'manual', ...world })
      return connect(server.origin, { tenant: 'w1' })
    },
  ],
]

describe.each(kinds)('statistics of a sandbox %s', (_, open) => {
  let sandbox: Sandbox | RemoteSandbox

  beforeEach(async () => {
    sandbox = await open()
  })
  afterEach(async () => {
    await sandbox[Symbol.asyncDispose]()
    await server?.close()
    server = undefined
  })

  const statusOf = async (path: string): Promise<number> => {
    const { urls, tokens } = sandbox
    const send = 'fetch' in sandbox ? sandbox.fetch : fetch
    const authorization = `Basic ${btoa(`${tokens.mgmtUser}:${tokens.mgmtKey}`)}`
    return (await send(urls.mgmt + path, { headers: { authorization } })).status
  }

  test('script, override and clear a search index', async () => {
    const index = sandbox.stats.search('a/b c')
    await index.script([usage.steady({ queries: 10, vectors: 3 }, { jitter: 0 }), usage.spikeAt('-1h', 2)], {
      vectorSize: 8,
    })
    await index.override({ monthly_cost: 0.5 })
    expect(await index.report('3h')).toMatchObject({
      daily_query_count: 12 * 600 + 100,
      current_vector_count: 3,
      storage_usage: 24,
      monthly_cost: 0.5,
    })
    expect((await index.report('30d')).query_throughput).toHaveLength(240)
    expect((await index.report()).query_throughput.at(-2)).toEqual({ x: '2030-01-15 11:59:00.000 +0000 UTC', y: 10 })
    expect(await statusOf('/v2/search/a%2Fb%20c/stats')).toBe(200)
    await index.clear()
    expect(await statusOf('/v2/search/a%2Fb%20c/stats')).toBe(404)
  })

  test('add a script to the traffic of the queue', async () => {
    const { clock, destinations, queue, stats } = sandbox
    await stats.queue.script([usage.steady({ delivered: 5 })], { messageSize: 2 })
    await destinations.respond('https://shop.test/orders', 200)
    await queue.publish({ to: 'https://shop.test/orders', body: 'abc' })
    await clock.advance('1m')
    const { daily_used, daily_bandwidth_used } = await stats.queue.report()
    expect([daily_used.at(-2)?.y, daily_bandwidth_used.at(-2)?.y]).toEqual([6, 13])
    await stats.queue.override({ total_monthly_billing: 5.806 })
    expect((await stats.queue.report('7d')).total_monthly_billing).toBe(5.806)
    await stats.queue.clear()
    expect((await stats.queue.report()).total_monthly_billing).toBe(0.00001)
  })

  test('script, override and clear the data store and a vector index', async () => {
    const { stats, urls, tokens } = sandbox
    const send = 'fetch' in sandbox ? sandbox.fetch : fetch
    await send(`${urls.store}/set/a/1`, { headers: { authorization: `Bearer ${tokens.store}` } })
    await stats.store.script([usage.steady({ reads: 5, keys: 2 }, { from: '-1m' })], { keySize: 3 })
    await stats.store.override({ command_counts: { GET: [7] } })
    const report = await stats.store.report()
    expect(report).toMatchObject({ daily_net_commands: 6, current_storage: 8 })
    expect(report.command_counts.map((one) => one.metric_identifier)).toEqual(['GET', 'SET'])
    await stats.store.clear()
    expect((await stats.store.report()).daily_net_commands).toBe(1)
    await stats.vector('a/b c').override({ current_vector_count: 3 })
    expect(await statusOf('/v2/vector/index/a%2Fb%20c/stats')).toBe(200)
    expect((await stats.vector('a/b c').report('7d')).current_vector_count).toBe(3)
    await expect((async () => stats.store.override({ commands: 3 } as never))()).rejects.toThrow('unknown field')
  })

  test('forbid IDs until clear() is called', async () => {
    const id = '0c0e0f10-0000-4000-8000-000000000001'
    await sandbox.stats.forbid(id)
    expect(await statusOf(`/v2/search/${id}/stats`)).toBe(403)
    await sandbox.stats.clear()
    expect(await statusOf(`/v2/search/${id}/stats`)).toBe(200)
  })

  test('report mistakes with the same message', async () => {
    const { stats } = sandbox
    await expect((async () => stats.queue.report('2h' as '1h'))()).rejects.toThrow(
      /period "2h".*1h, 3h, 12h, 1d, 3d, 7d, 30d/,
    )
    await expect((async () => stats.queue.override({ requests: 3 } as never))()).rejects.toThrow(
      'unknown field "requests"',
    )
    await expect((async () => stats.search('x').script([usage.steady({ delivered: 3 })] as never))()).rejects.toThrow(
      'queries, updates, reranks, vectors, growth, pending',
    )
  })
})
