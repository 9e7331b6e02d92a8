import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findRedisServer } from '../../../../../test/support/redis-server.js'
import * as scripts from '../../../src/cluster/cluster-scripts.js'
import type { ClusterStore, ScriptReply } from '../../../src/cluster/cluster-store.js'
import { bytesOf, textOf } from '../../../src/cluster/replies.js'
import { type HeldElsewhere, type NodeHost, NotOwner, TenantLease } from '../../../src/cluster/tenant-lease.js'
import { LiveEngine } from './live-engine.js'
import { MemoryClusterStore } from './memory-cluster-store.js'

// The same tests for a real redis-server and for the store of a sandbox, which the simulation uses.

interface Bench {
  readonly engine: ClusterStore
  readonly command: (...words: readonly (string | Uint8Array)[]) => Promise<ScriptReply>
  readonly end: () => Promise<void>
}

const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  'our own store': async () => {
    const engine = new MemoryClusterStore(Date.now)
    return {
      engine,
      command: async (...words) => engine.command(...words),
      end: async () => {},
    }
  },
  ...(findRedisServer() && {
    'a redis-server': async () => {
      const engine = await LiveEngine.start()
      return {
        engine,
        command: (...words) => engine.command(...words),
        end: () => engine.redis.stop(),
      }
    },
  }),
}

const host: NodeHost = { now: () => 0, after: () => () => {}, random: () => 0 }
const lease = 600_000

describe.each(Object.keys(benches))('on %s', (name) => {
  let bench: Bench
  beforeAll(async () => {
    bench = await benches[name]!()
  })
  afterAll(() => bench.end())

  let tenants = 0
  const fresh = (): string => `tenant-${tenants++}`
  const asking = (id: string) => ({ engine: bench.engine, host, node: { id, address: `http://${id}:1` }, lease })
  const acquire = (id: string, tenant: string) => TenantLease.acquire(asking(id), tenant)
  const owner = async (id: string, tenant: string): Promise<TenantLease> => {
    const tenure = await acquire(id, tenant)
    if (!(tenure instanceof TenantLease)) throw new Error(`${tenant} is held`)
    return tenure
  }
  /** Simulates the passing of time, because real time is not reliable. */
  const pass = async (ms: number, tenant: string): Promise<void> => {
    const key = `stuntdouble:{${tenant}}:lease`
    const left = Number(await bench.command('PTTL', key))
    await bench.command('PEXPIRE', key, String(left - ms))
  }
  const journal = async (tenant: string): Promise<string[]> => {
    const all = await bench.command('LRANGE', `stuntdouble:{${tenant}}:journal`, '0', '-1')
    return (all as ScriptReply[]).map(textOf)
  }

  test('one node owns a tenant, and others get its owner', async () => {
    const tenant = fresh()
    expect(await owner('a', tenant)).toMatchObject({ fence: 1, length: 0 })
    const { holder, left } = (await acquire('b', tenant)) as HeldElsewhere
    expect(holder).toEqual({ node: { id: 'a', address: 'http://a:1' }, fence: 1 })
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(lease)
  })

  test('a node that acquires its own lease again gets a new fence, and the old one is void', async () => {
    const tenant = fresh()
    const first = await owner('a', tenant)
    const second = await owner('a', tenant)
    expect(second.fence).toBe(2)
    await expect(first.append([])).rejects.toThrow(NotOwner)
    await second.append([])
  })

  test('an expired lease lets the next owner read everything that was written', async () => {
    const tenant = fresh()
    const first = await owner('a', tenant)
    const all = Uint8Array.from({ length: 256 }, (_, at) => at)
    await first.append([bytesOf('one'), all, new Uint8Array()])
    await pass(lease + 1, tenant)
    const second = await owner('b', tenant)
    expect(second).toMatchObject({ fence: 2, length: 3 })
    expect(await second.read()).toEqual({ snapshot: undefined, records: [bytesOf('one'), all, new Uint8Array()] })
    await expect(first.append([bytesOf('late')])).rejects.toMatchObject({
      holder: { node: { id: 'b' }, fence: 2 },
      fence: 2,
    })
    await second.append([bytesOf('two')])
    expect((await journal(tenant)).map((record) => record.slice(0, 2))).toEqual(['1:', '1:', '1:', '2:'])
  })

  test('an expired lease without another owner is still valid', async () => {
    const tenant = fresh()
    const first = await owner('a', tenant)
    await pass(lease + 1, tenant)
    await first.append([bytesOf('kept')])
    expect(await acquire('b', tenant)).toMatchObject({ holder: { fence: 1 } })
  })

  test('an append extends the lease, and a repeated append is written once', async () => {
    const tenant = fresh()
    const first = await owner('a', tenant)
    await pass(lease - 60_000, tenant)
    const again = [`a@http://a:1#1`, String(lease), '0', '1:x', '1:y']
    for (let count = 0; count < 3; count++)
      expect(textOf(((await bench.engine.run(scripts.append, tenant, again)) as ScriptReply[])[0])).toBe('kept')
    await pass(lease - 60_000, tenant)
    expect(await acquire('b', tenant)).toMatchObject({ holder: { fence: 1 } })
    expect(await journal(tenant)).toEqual(['1:x', '1:y'])
    // The writer does not know of these records.
    await expect(first.append([bytesOf('z')])).rejects.toThrow('does not have the number of records')
  })

  test('more records than one Lua call can hold are appended', async () => {
    const tenant = fresh()
    const first = await owner('a', tenant)
    const records = Array.from({ length: 12_345 }, (_, at) => bytesOf(String(at)))
    await first.append(records)
    expect((await first.read()).records).toHaveLength(12_345)
    const kept = await owner('a', tenant).then((tenure) => tenure.read())
    expect(kept.records.map((record) => textOf(record))).toEqual(records.map((record) => textOf(record)))
  })

  test('a snapshot replaces the records that it contains, while more are appended', async () => {
    const tenant = fresh()
    const first = await owner('a', tenant)
    await first.append(['a', 'b', 'c'].map(bytesOf))
    const bytes = new Uint8Array(3_000_000).map((_, at) => at * 7)
    await first.compact(2, bytes)
    // An older snapshot that arrives late is ignored.
    await first.compact(1, bytesOf('older'))
    await first.append([bytesOf('d')])
    await expect(first.compact(9, bytes)).rejects.toThrow('does not have the number of records')
    const second = await owner('a', tenant)
    expect(second.length).toBe(4)
    const { snapshot, records } = await second.read()
    expect(Buffer.compare(snapshot!, bytes)).toBe(0)
    expect(records.map(textOf)).toEqual(['c', 'd'])
    await second.append([bytesOf('e')])
    await second.compact(5, bytesOf('new'))
    const third = await owner('a', tenant)
    expect(await third.read()).toEqual({ snapshot: bytesOf('new'), records: [] })
    await third.append([bytesOf('f')])
    expect((await owner('a', tenant)).length).toBe(6)
  })

  test('large records are read in parts', async () => {
    const tenant = fresh()
    const first = await owner('a', tenant)
    for (let at = 0; at < 40; at++) await first.append([new Uint8Array(200_000).fill(at)])
    const { records } = await (await owner('a', tenant)).read()
    expect(records.map((record) => [record.length, record[0], record[199_999]])).toEqual(
      Array.from({ length: 40 }, (_, at) => [200_000, at, at]),
    )
  })

  test('a released tenant is free immediately, and no late call takes it back', async () => {
    const tenant = fresh()
    const first = await owner('a', tenant)
    await first.append([bytesOf('x')])
    await first.release()
    await expect(first.append([])).rejects.toMatchObject({ holder: undefined, fence: 2 })
    expect(await owner('b', tenant)).toMatchObject({ fence: 3, length: 1 })
    await expect(first.release()).rejects.toThrow(NotOwner)
  })

  test('a dropped tenant is new, with a later fence', async () => {
    const tenant = fresh()
    const first = await owner('a', tenant)
    await first.append([bytesOf('x')])
    await first.compact(1, bytesOf('s'))
    await first.drop()
    const second = await owner('b', tenant)
    expect(second).toMatchObject({ fence: 3, length: 0 })
    expect(await second.read()).toEqual({ snapshot: undefined, records: [] })
  })

  test.skipIf(name !== 'a redis-server')('a tenant of a full Redis can be acquired, read and deleted', async () => {
    const tenant = fresh()
    const first = await owner('a', tenant)
    await first.append([bytesOf('x')])
    await bench.command('CONFIG', 'SET', 'maxmemory', '1')
    try {
      await pass(lease - 60_000, tenant)
      await expect(first.append([bytesOf('y')])).rejects.toThrow(/OOM/)
      await first.append([])
      expect(Number(await bench.command('PTTL', `stuntdouble:{${tenant}}:lease`))).toBeGreaterThan(lease - 60_000)
      const second = await owner('a', tenant)
      expect((await second.read()).records).toEqual([bytesOf('x')])
      await pass(lease + 1, tenant)
      await second.drop()
      expect(await journal(tenant)).toEqual([])
    } finally {
      await bench.command('CONFIG', 'SET', 'maxmemory', '0')
    }
    expect(await owner('b', tenant)).toMatchObject({ length: 0 })
  })

  test('every script rejects an older fence', async () => {
    const tenant = fresh()
    const first = await owner('a', tenant)
    await first.append([bytesOf('x')])
    await owner('a', tenant)
    for (const late of [
      () => first.append([bytesOf('y')]),
      () => first.read(),
      () => first.compact(1, bytesOf('s')),
      () => first.release(),
      () => first.drop(),
    ])
      await expect(late()).rejects.toThrow(NotOwner)
    expect(await journal(tenant)).toEqual(['1:x'])
  })

  test('the registry knows nodes, tenants and orphans', async () => {
    const shared = (script: typeof scripts.beat, ...args: string[]) =>
      bench.engine.run(script, scripts.sharedTag, args) as Promise<ScriptReply[]>
    const orphans = async (): Promise<string[]> => {
      const [, found] = await shared(scripts.beat, 'a', 'http://a:1', String(lease), '0', '1000')
      return (found as ScriptReply[]).map(textOf).sort()
    }
    await shared(scripts.beat, 'b', 'http://b:1', String(lease), '0', '1000')
    await shared(scripts.tell, 'of-a', '1', 'a')
    await shared(scripts.tell, 'of-b', '7', 'b')
    await shared(scripts.tell, 'of-nobody', '3', '')
    await shared(scripts.tell, 'gone', '1', 'a')
    await shared(scripts.tell, 'gone', '2', '-')
    // Tenants that are listed for this node are returned as well, because it may not know of them.
    expect(await orphans()).toEqual(['of-a', 'of-nobody'])
    // An older owner updates the registry late.
    await shared(scripts.tell, 'of-b', '6', 'a')
    await shared(scripts.beat, 'b', 'http://b:1', '1', '0', '1000')
    await wait(5)
    expect(await orphans()).toEqual(['of-a', 'of-b', 'of-nobody'])
    const [nodes, owners] = await shared(scripts.list)
    const flat = (nodes as ScriptReply[]).map(textOf)
    expect(flat[flat.indexOf('a') + 1]).toMatch(/^[1-9]\d* http:\/\/a:1$/)
    expect(flat[flat.indexOf('b') + 1]).toMatch(/^-\d+ http:\/\/b:1$/)
    expect((owners as ScriptReply[]).map(textOf).sort()).toEqual(
      ['of-a', '1 a', 'of-b', '7 b', 'of-nobody', '3 '].sort(),
    )
    await shared(scripts.leave, 'b')
    expect((await shared(scripts.list))[0]).toHaveLength(2)
  })
})
