import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasEngine, type LiveEngine, startEngine } from '../../../test/support/live-engine.js'
import { type StuntdoubleServer, startServer } from '../../server/src/server.js'
import { storeContract } from '../src/contract/store-contract.js'
import { comparedWith } from './both.js'

// A real redis-server behind the REST API of the store. Each of its differences must have a row in the reference.

describe.skipIf(!hasEngine)('drift() with a real Redis', () => {
  let engine: LiveEngine
  let server: StuntdoubleServer
  beforeAll(async () => {
    engine = await startEngine()
    server = await startServer({ port: 0, realRedis: engine.url, dialect: 'upstash', onError: () => undefined })
  })
  afterAll(async () => {
    await server?.close()
    await engine?.stop()
  })

  test('reports only differences that the reference lists', async () => {
    const before = await engine.keys()
    const world = server.tenant('main')
    const outcome = await comparedWith(world, storeContract, { store: world.urls.store, against: 'redis' })
    const fresh = outcome.findings.filter(({ named }) => named === undefined)
    expect(fresh.map(({ what, double, real, seen }) => [what, seen[0]!.asked, double, real])).toEqual([])
    expect(outcome.broken).toEqual([])
    expect(outcome.remains).toEqual([])
    expect(await engine.keys()).toEqual(before)
    const names = new Set(outcome.findings.map(({ named }) => named!.name))
    expect(names.size).toBeGreaterThan(5)
  })
})
