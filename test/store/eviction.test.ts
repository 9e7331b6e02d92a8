import type { Duplex } from 'node:stream'
import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { ioredisConnector } from '../../packages/server/src/redis-port/in-process.js'
import { Rest } from '../support/ask.js'

// Eviction. Expectations: store.md 10 (random keys with an expiration first, then any random keys, until the write
// fits; the keys of the write are spared).

const open = (maxStorageSize: number, options: { seed?: number } = {}) =>
  Rest.open({ policy: { maxStorageSize, eviction: 'optimistic-volatile' }, onWarning: () => {}, ...options })

const evictedIn = ({ traffic }: Sandbox): string[] =>
  traffic
    .ofType('keyspace')
    .filter(({ event }) => event === 'evicted')
    .map(({ key }) => key)

/** Returns a client of the Redis protocol. */
async function clientOf(sandbox: Sandbox) {
  const Connector = ioredisConnector(sandbox)
  const stream: Duplex = await new Connector({}).connect()
  const client = {
    heard: '',
    send: (...argv: string[]) =>
      stream.write(`*${argv.length}\r\n${argv.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`),
    until: (text: string) => expect.poll(() => client.heard, { interval: 2 }).toContain(text),
    [Symbol.dispose]: () => stream.destroy(),
  }
  stream.on('data', (chunk: Buffer) => {
    client.heard += chunk.toString('latin1')
  })
  return client
}

const capacity = (limit: number, usage: number) =>
  `ERR DB capacity quota exceeded. Threshold: ${limit} bytes, Usage: ${usage} bytes. See https://docs.service.test for details`

describe('policy.eviction', () => {
  test('is off by default: a full store rejects writes', async () => {
    const rest = Rest.open({ policy: { maxStorageSize: 10 } })
    await rest.run('SET', 'key', '12345678')
    await expect(rest.run('SET', 'a', 'b')).rejects.toThrow('ERR DB capacity quota exceeded')
    expect(evictedIn(rest.sandbox)).toEqual([])
  })

  test('evicts keys with an expiration first, then others', async () => {
    const rest = open(40)
    for (const key of ['aa', 'bb']) await rest.run('SET', key, 'x'.repeat(8))
    for (const key of ['cc', 'dd']) await rest.run('SET', key, 'x'.repeat(8), 'EX', 100)
    expect(evictedIn(rest.sandbox)).toEqual([])
    await rest.run('SET', 'ee', 'x'.repeat(18))
    expect(evictedIn(rest.sandbox).sort()).toEqual(['cc', 'dd'])
    await rest.run('SET', 'ff', 'x'.repeat(38))
    expect(evictedIn(rest.sandbox).sort()).toEqual(['aa', 'bb', 'cc', 'dd', 'ee'])
    expect(await rest.run('EXISTS', 'ff')).toBe(1)
  })

  test('evicts no more keys than the write needs', async () => {
    const rest = open(40)
    for (const key of ['aa', 'bb', 'cc', 'dd']) await rest.run('SET', key, 'x'.repeat(8))
    await rest.run('SET', 'aa', 'y'.repeat(8))
    await rest.run('SET', 'bb', 'short')
    await rest.run('DEL', 'bb')
    await rest.run('SETRANGE', 'aa', 6, 'zz')
    expect(evictedIn(rest.sandbox)).toEqual([])
    await rest.run('SET', 'ee', 'x'.repeat(9))
    expect(evictedIn(rest.sandbox)).toHaveLength(1)
  })

  test.each<[string, (string | number)[][], (string | number)[]]>([
    ['APPEND', [['SET', 'k', 'x'.repeat(10)]], ['APPEND', 'k', 'y'.repeat(20)]],
    ['SETRANGE', [['SET', 'k', 'x'.repeat(10)]], ['SETRANGE', 'k', 30, 'y']],
    ['RPUSH', [['RPUSH', 'k', 'x'.repeat(10)]], ['RPUSH', 'k', 'y'.repeat(20)]],
    ['HSET', [['HSET', 'k', 'f', 'x'.repeat(10)]], ['HSET', 'k', 'g', 'y'.repeat(20)]],
    ['COPY', [['SET', 'k', 'x'.repeat(15)]], ['COPY', 'k', 'l']],
    ['SUNIONSTORE', [['SADD', 'k', 'x'.repeat(15)]], ['SUNIONSTORE', 'l', 'k']],
    ['MSET', [], ['MSET', 'k', 'x'.repeat(15), 'l', 'x'.repeat(16)]],
    ['JSON.SET', [], ['JSON.SET', 'k', '$', JSON.stringify('x'.repeat(30))]],
    ['ARSET', [['ARSET', 'k', 0, 'x'.repeat(10)]], ['ARSET', 'k', 9, 'y'.repeat(20)]],
    ['ARRING', [['ARRING', 'k', 2, 'x'.repeat(10)]], ['ARRING', 'k', 2, 'y'.repeat(20)]],
    [
      'VECTOR.ADD',
      [
        ['VECTOR.CREATE', 'k', 'DIM', 3, 'METRIC', 'DOT'],
        ['VECTOR.ADD', 'k', 'a', 'VALUES', 3, 1, 2, 3],
      ],
      ['VECTOR.ADD', 'k', 'b', 'VALUES', 3, 1, 2, 3],
    ],
  ])('spares the keys of %s', async (_name, before, write) => {
    const rest = open(60)
    for (const argv of before) await rest.run(...argv)
    for (const key of ['a1', 'b2']) await rest.run('SET', key, 'x'.repeat(18))
    await rest.run(...write)
    expect(evictedIn(rest.sandbox).length).toBeGreaterThan(0)
    expect(evictedIn(rest.sandbox)).not.toContain('k')
    expect(evictedIn(rest.sandbox)).not.toContain('l')
    expect(await rest.run('EXISTS', 'k')).toBe(1)
  })

  test('rejects a write that is larger than everything, and evicts nothing for it', async () => {
    const rest = open(40)
    await rest.run('SET', 'a', 'old', 'EX', 100)
    await rest.run('SET', 'k', 'x'.repeat(10))
    await expect(rest.run('SET', 'big', 'x'.repeat(38))).rejects.toThrow(capacity(40, 41))
    await expect(rest.run('APPEND', 'k', 'x'.repeat(30))).rejects.toThrow(capacity(40, 41))
    await expect(rest.run('MSET', 'x', '1'.repeat(20), 'y', '1'.repeat(20))).rejects.toThrow(capacity(40, 42))
    expect(evictedIn(rest.sandbox)).toEqual([])
    expect([rest.sandbox.store.get('a'), rest.sandbox.store.get('k')]).toEqual(['old', 'x'.repeat(10)])
    expect(rest.sandbox.traffic.ofType('command').filter(({ error }) => error !== undefined)).toHaveLength(3)
    await rest.run('SET', 'big', 'x'.repeat(37))
    expect(evictedIn(rest.sandbox).sort()).toEqual(['a', 'k'])
  })

  test('evicts nothing for a write that fails or is not permitted', async () => {
    const rest = open(40)
    await rest.run('RPUSH', 'list', 'x'.repeat(20))
    await rest.run('SET', 'a', 'x'.repeat(10), 'EX', 100)
    await expect(rest.run('APPEND', 'list', 'x'.repeat(20))).rejects.toThrow('WRONGTYPE')
    await expect(rest.run('SET', 'b', 'x'.repeat(30), 'EX', 'soon')).rejects.toThrow('ERR value is not an int')
    expect(await rest.run('SET', 'a', 'x'.repeat(30), 'NX')).toBeNull()
    const token = rest.sandbox.tokens.storeReadonly
    expect(await rest.post('/', ['SET', 'b', 'x'.repeat(30)], { token })).toMatchObject({ status: 400 })
    rest.sandbox.faults.add({ on: 'store.command', times: 1, fault: fault.errorReply('ERR struck') })
    await expect(rest.run('SET', 'b', 'x'.repeat(30))).rejects.toThrow('ERR struck')
    expect(evictedIn(rest.sandbox)).toEqual([])
  })

  test('does not limit calls of the test itself, but the next request evicts', async () => {
    const rest = open(40)
    for (const key of ['a', 'b', 'c']) rest.sandbox.store.run('SET', key, 'x'.repeat(19))
    expect(evictedIn(rest.sandbox)).toEqual([])
    await rest.run('SET', 'd', '1')
    expect(evictedIn(rest.sandbox)).toHaveLength(2)
  })

  test('evicts after a script, and the keys of the script only at last', async () => {
    const rest = open(60)
    await rest.run('SET', 'a', 'x'.repeat(20))
    const script = "for i = 1, #KEYS do redis.call('SET', KEYS[i], string.rep('x', ARGV[1])) end"
    await rest.run('EVAL', script, 1, 'k', 50)
    expect(evictedIn(rest.sandbox)).toEqual(['a'])
    await rest.run('EVAL', script, 2, 'k', 'l', 50)
    expect(evictedIn(rest.sandbox)).toHaveLength(2)
    expect(await rest.run('EXISTS', 'k', 'l')).toBe(1)
  })

  test('evicts in pipelines, transactions and connections', async () => {
    const rest = open(40)
    const write = (key: string) => ['SET', key, 'x'.repeat(14)]
    await rest.post('/pipeline', ['a1', 'a2', 'a3'].map(write))
    expect(evictedIn(rest.sandbox)).toHaveLength(1)
    await rest.post('/multi-exec', ['b1', 'b2'].map(write))
    expect(evictedIn(rest.sandbox)).toHaveLength(3)
    expect(await rest.run('EXISTS', 'b2')).toBe(1)
    using client = await clientOf(rest.sandbox)
    client.send(...write('c1'))
    await client.until('+OK')
    expect(evictedIn(rest.sandbox)).toHaveLength(4)
    client.send('SET', 'c2', 'x'.repeat(39))
    await client.until('-ERR DB capacity quota exceeded. Threshold: 40 bytes, Usage: 41 bytes.')
    for (const argv of [['MULTI'], write('d1'), write('d2'), ['EXEC']]) client.send(...argv)
    await client.until('*2\r\n+OK\r\n+OK')
    expect(evictedIn(rest.sandbox)).toHaveLength(6)
  })

  test('removes expired keys before it evicts', async () => {
    const rest = open(40)
    await rest.run('SET', 'a', 'x'.repeat(20), 'EX', 1)
    await rest.run('SET', 'b', 'x'.repeat(10))
    await rest.sandbox.clock.advance('1s')
    await rest.run('SET', 'c', 'x'.repeat(20))
    expect(evictedIn(rest.sandbox)).toEqual([])
  })
})

describe('an evicted key', () => {
  const evictOne = async () => {
    const rest = open(20)
    await rest.run('CONFIG', 'SET', 'notify-keyspace-events', 'KEe')
    await rest.run('SET', 'old', 'x'.repeat(10), 'EX', 100)
    return rest
  }

  test('is an entry of the log, with the request as its cause and its reason', async () => {
    const rest = await evictOne()
    await rest.run('SET', 'new', 'x'.repeat(17))
    await rest.run('SET', 'last', 'x'.repeat(16))
    const entries = rest.sandbox.traffic.ofType('keyspace').filter(({ event }) => event === 'evicted')
    const requests = rest.sandbox.traffic.ofType('request').map(({ seq }) => seq)
    expect(entries).toEqual([
      expect.objectContaining({
        key: 'old',
        cause: requests[2],
        reason: 'the store is limited to 20 bytes (policy.maxStorageSize): keys with an expiration are evicted first',
      }),
      expect.objectContaining({
        key: 'new',
        cause: requests[3],
        reason:
          'the store is limited to 20 bytes (policy.maxStorageSize): no key with an expiration was left, so any key is evicted',
      }),
    ])
    expect(rest.sandbox.traffic.timeline()).toContain('key old: evicted')
    expect(rest.sandbox.traffic.timeline()).toContain('keys with an expiration are evicted first')
  })

  test('sends the event evicted, of class e', async () => {
    const rest = await evictOne()
    using client = await clientOf(rest.sandbox)
    client.send('PSUBSCRIBE', '__key*__:*')
    await client.until('psubscribe')
    await rest.run('SET', 'new', 'x'.repeat(17))
    await client.until('evicted\r\n$3\r\nold')
    expect(client.heard).toContain('__keyspace@0__:old\r\n$7\r\nevicted')
    await rest.run('CONFIG', 'SET', 'notify-keyspace-events', 'KEx')
    await rest.run('SET', 'last', 'x'.repeat(16))
    await rest.run('PUBLISH', '__key__:end', 'of the test')
    await client.until('of the test')
    expect(client.heard.match(/evicted/g)).toHaveLength(2)
  })

  test('was there before its eviction, as asOf() shows', async () => {
    const rest = await evictOne()
    const before = rest.sandbox.traffic.last()!.seq
    await rest.run('SET', 'new', 'x'.repeat(17))
    const keysAt = (seq: number) =>
      rest.sandbox
        .asOf({ seq })
        .store.dump()
        .keys.map(({ key }) => key)
    expect(keysAt(before)).toEqual(['old'])
    expect(keysAt(rest.sandbox.traffic.last()!.seq)).toEqual(['new'])
  })

  test('discards a transaction that watches it', async () => {
    const rest = await evictOne()
    using client = await clientOf(rest.sandbox)
    for (const argv of [['WATCH', 'old'], ['MULTI'], ['SET', 'mine', '1']]) client.send(...argv)
    await client.until('+QUEUED')
    await rest.run('SET', 'new', 'x'.repeat(17))
    client.send('EXEC')
    await client.until('*-1')
    expect(rest.sandbox.store.get('mine')).toBeNull()
  })
})

test('different seeds evict different keys', async () => {
  const evicted = new Set<string>()
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const rest = open(100, { seed })
    for (let number = 10; number < 19; number++) await rest.run('SET', number, 'x'.repeat(9))
    await rest.run('SET', 'z', 'x'.repeat(9))
    evicted.add(evictedIn(rest.sandbox).join())
  }
  expect(evicted.size).toBeGreaterThan(1)
})

test('rejects an unknown value', () => {
  expect(() => createSandbox({ policy: { eviction: 'allkeys-lru' as 'off' } })).toThrow('policy.eviction')
})
