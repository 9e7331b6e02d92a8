import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { EventReader } from '../../../../test/support/event-reader.js'
import { hasEngine, startCluster, startEngine } from '../../../../test/support/live-engine.js'
import { createRealRedisSandbox, type RealRedisSandbox } from '../../src/real-redis/real-redis-sandbox.js'
import { slotOf } from '../../src/redis-cluster/hash-slots.js'

describe.skipIf(!hasEngine)('a Redis Cluster of three masters', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>
  let sandbox: RealRedisSandbox
  beforeAll(async () => {
    cluster = await startCluster()
    sandbox = await createRealRedisSandbox(cluster.nodes[1]!.url)
  })
  afterAll(async () => {
    await sandbox?.close()
    const left = await Promise.all(cluster.nodes.map((node) => node.keys()))
    await cluster[Symbol.asyncDispose]()
    expect(left).toEqual([[], [], []])
  })
  beforeEach(() => sandbox.reset())

  const ask = async (body: unknown, path = ''): Promise<unknown> => {
    const answer = await fetch(sandbox.urls.store + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
      body: JSON.stringify(body),
    })
    return answer.json()
  }

  test('has the same hash slots as redis-server', async () => {
    const [{ client }] = cluster.nodes as [(typeof cluster.nodes)[0]]
    for (const key of [
      '',
      'a',
      'foo{bar}baz',
      '{}x',
      '{a}{b}',
      'x{',
      '{user1000}.following',
      '\xff\x00',
      'k'.repeat(300),
    ]) {
      expect([key, await client.send(['CLUSTER', 'KEYSLOT', key])]).toEqual([
        key,
        { integer: String(slotOf(key as never)) },
      ])
    }
  })

  test('stores each key on its master, and all keys form one store', async () => {
    const keys = Array.from({ length: 60 }, (_, at) => `key:${at}`)
    for (const key of keys) expect(await ask(['SET', key, key])).toEqual({ result: 'OK' })
    for (const key of keys) expect(await ask(['GET', key])).toEqual({ result: key })
    expect(await ask(['DBSIZE'])).toEqual({ result: 60 })
    expect(((await ask(['KEYS', '*'])) as { result: string[] }).result.sort()).toEqual([...keys].sort())
    const shares = await Promise.all(cluster.nodes.map((node) => node.keys()))
    // There is one marker on each master.
    expect(shares.map((share) => share.length).reduce((a, b) => a + b)).toBe(63)
    expect(Math.min(...shares.map((share) => share.length))).toBeGreaterThan(5)
    expect(await ask(['FLUSHALL'])).toEqual({ result: 'OK' })
    expect(await ask(['DBSIZE'])).toEqual({ result: 0 })
  })

  test('returns all keys with SCAN over all masters', async () => {
    const keys = Array.from({ length: 100 }, (_, at) => `key:${at}`)
    await ask(
      keys.map((key) => ['SET', key, '1']),
      '/pipeline',
    )
    const found: string[] = []
    let cursor = '0'
    do {
      const { result } = (await ask(['SCAN', cursor, 'COUNT', '7'])) as { result: [string, string[]] }
      cursor = result[0]
      found.push(...result[1])
    } while (cursor !== '0')
    expect([...new Set(found)].sort()).toEqual([...keys].sort())
  })

  test('returns its own error for keys of one request in different slots', async () => {
    const error = "CROSSSLOT Keys in request don't hash to the same slot"
    expect(await ask(['MSET', 'a', '1', 'b', '2'])).toEqual({ error })
    expect(
      await ask(
        [
          ['SET', 'a', '1'],
          ['SET', 'b', '2'],
        ],
        '/multi-exec',
      ),
    ).toEqual({ error })
    expect(await ask(['EVAL', 'return 1', '2', 'a', 'b'])).toEqual({ error })
    expect(await ask(['MSET', '{u}a', '1', '{u}b', '2'])).toEqual({ result: 'OK' })
    expect(
      await ask(
        [
          ['INCR', '{u}a'],
          ['GET', '{u}b'],
        ],
        '/multi-exec',
      ),
    ).toEqual([{ result: 2 }, { result: '2' }])
    // Each command of a pipeline runs alone.
    expect(
      await ask(
        [
          ['SET', 'a', '1'],
          ['SET', 'b', '2'],
        ],
        '/pipeline',
      ),
    ).toEqual([{ result: 'OK' }, { result: 'OK' }])
  })

  test('has scripts on every master', async () => {
    const { result: sha } = (await ask(['SCRIPT', 'LOAD', 'return KEYS[1]'])) as { result: string }
    for (const key of ['a', 'b', 'c', 'd']) expect(await ask(['EVALSHA', sha, '1', key])).toEqual({ result: key })
  })

  test('delivers messages that are published on any master', async () => {
    const url = `${sandbox.urls.store}/subscribe/news`
    const reader = new EventReader(await fetch(url, { headers: { authorization: `Bearer ${sandbox.tokens.store}` } }))
    expect(await reader.next()).toBe('data: subscribe,news,1')
    for (const [at, { client }] of cluster.nodes.entries()) {
      await client.send(['PUBLISH', 'news', String(at)])
      expect(await reader.next()).toBe(`data: message,news,${at}`)
    }
    await reader.cancel()
  })

  test('is followed within a request when a hash slot moves', async () => {
    await ask(['SET', 'moving', 'v'])
    const slot = String(slotOf('moving' as never))
    const owner = cluster.nodes.findIndex((_, at) => [5461, 10923, 16384].findIndex((end) => Number(slot) < end) === at)
    const [from, to] = [cluster.nodes[owner]!, cluster.nodes[(owner + 1) % 3]!]
    const idOf = async ({ client }: typeof from): Promise<string> =>
      ((await client.send(['CLUSTER', 'MYID'])) as { bulk: string }).bulk
    const [fromId, toId] = [await idOf(from), await idOf(to)]
    await to.client.send(['CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId])
    await from.client.send(['CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId])
    await from.client.send(['MIGRATE', '127.0.0.1', String(to.port), 'moving', '0', '1000'])
    // ASK while the slot is moving.
    expect(await ask(['GET', 'moving'])).toEqual({ result: 'v' })
    for (const { client } of [to, from]) await client.send(['CLUSTER', 'SETSLOT', slot, 'NODE', toId])
    // MOVED after it has moved.
    expect(await ask(['GET', 'moving'])).toEqual({ result: 'v' })
    expect(
      await ask(
        [
          ['GET', 'moving'],
          ['DEL', 'moving'],
        ],
        '/multi-exec',
      ),
    ).toEqual([{ result: 'v' }, { result: 1 }])
  })
})

test.skipIf(!hasEngine)(
  'a Redis Cluster that announces another host is rejected without a command to that host',
  async () => {
    await using engine = await startEngine('--cluster-enabled', 'yes', '--cluster-announce-ip', '192.0.2.7')
    await engine.client.send(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383'])
    await expect(createRealRedisSandbox(engine.url)).rejects.toThrow(/192\.0\.2\.7 is not on this machine/)
    expect(await engine.keys()).toEqual([])
  },
)
