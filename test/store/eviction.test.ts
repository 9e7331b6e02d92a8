import type { Duplex } from 'node:stream'
import fc from 'fast-check'
import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { ioredisConnector } from '../../packages/server/src/redis-port/in-process.js'
import type { PortableString } from '../../src/kernel/portable.js'
import { usedMemory } from '../../src/store/commands/info.js'
import type { DumpedKey } from '../../src/store/dump/store-dump.js'
import { storeInternals } from '../../src/store/store-internals.js'
import { Rest } from '../support/ask.js'
import { amount, runs, seedOr } from '../support/effort.js'
import { rows } from '../support/random-rows.js'

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

/** Returns the bytes of names and values, counted without the code of the store. */
function bytesOf(key: DumpedKey): number {
  const all = (parts: readonly PortableString[]): number =>
    parts.reduce(
      (sum, part) => sum + (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part.base64, 'base64')).length,
      0,
    )
  const name = all([key.key])
  switch (key.type) {
    case 'string':
      return name + all([key.value])
    case 'list':
      return name + all(key.elements)
    case 'set':
      return name + all(key.members)
    case 'hash':
      return name + all(key.fields.flatMap(([field, value]) => [field, value] as const))
    case 'zset':
      return name + all(key.members.map(([member]) => member)) + 8 * key.members.length
    case 'array':
      return name + all(key.slots.map(([, value]) => value))
    case 'vector':
      return name + all(key.vectors.map(([id]) => id)) + 4 * key.dimension * key.vectors.length
    default:
      throw new Error(`no rule for ${key.type}`)
  }
}

const most = 160
const value = fc.integer({ min: 0, max: 45 }).map((length) => 'x'.repeat(length))
const key = (type: string) => fc.integer({ min: 1, max: 5 }).map((number) => `${type}${number}`)
const slot = fc.integer({ min: 0, max: 6 }).map(String)
const lifetime = fc.constantFrom<readonly string[]>([], [], ['EX', '6'], ['EX', '60'])

/** Commands that mostly grow the store, or milliseconds that pass. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(key('s'), value, lifetime).map(([k, v, life]) => ['SET', k, v, ...life]) },
  fc.tuple(key('s'), value).map(([k, v]) => ['APPEND', k, v]),
  fc.tuple(key('s'), fc.integer({ min: 0, max: 60 })).map(([k, at]) => ['SETRANGE', k, String(at), 'end']),
  fc.tuple(key('s'), value, key('s'), value).map(([k, v, l, w]) => ['MSET', k, v, l, w]),
  fc.tuple(key('s'), key('s')).map(([k, l]) => ['COPY', k, l, 'REPLACE']),
  fc.tuple(key('l'), value, value).map(([k, v, w]) => ['RPUSH', k, v, w]),
  fc.tuple(key('h'), key('f'), value).map(([k, f, v]) => ['HSET', k, f, v]),
  fc.tuple(key('m'), value).map(([k, v]) => ['SADD', k, v]),
  fc.tuple(key('m'), key('m'), key('m')).map(([k, l, m]) => ['SUNIONSTORE', k, l, m]),
  fc.tuple(key('z'), value).map(([k, v]) => ['ZADD', k, '1.5', v]),
  fc.tuple(key('a'), slot, value, value).map(([k, at, v, w]) => ['ARSET', k, at, v, w]),
  fc.tuple(key('a'), slot, value).map(([k, at, v]) => ['ARMSET', k, at, v, '18446744073709551614', 'end']),
  fc.tuple(key('a'), value, value).map(([k, v, w]) => ['ARINSERT', k, v, w]),
  fc.tuple(key('a'), fc.integer({ min: 1, max: 4 }), value).map(([k, size, v]) => ['ARRING', k, String(size), v, v]),
  fc.tuple(key('a'), slot, slot).map(([k, start, end]) => ['ARDELRANGE', k, start, end]),
  fc
    .tuple(key('v'), fc.constantFrom('2', '5'))
    .map(([k, dimension]) => ['VECTOR.CREATE', k, 'DIM', dimension, 'METRIC', 'DOT']),
  fc.tuple(key('v'), key('id')).map(([k, id]) => ['VECTOR.ADD', k, id, 'VALUES', '2', '1', '0.5']),
  fc.tuple(key('v'), key('id')).map(([k, id]) => ['VECTOR.ADD', k, id, 'VALUES', '5', '1', '2', '3', '4', '5']),
  fc.tuple(key('v'), key('id')).map(([k, id]) => ['VECTOR.DEL', k, id]),
  fc.oneof(key('a'), key('v')).map((k) => ['EXPIRE', k, '4']),
  fc.constantFrom(['COPY', 'a1', 'a2', 'REPLACE'], ['COPY', 'v1', 'v2', 'REPLACE'], ['RENAME', 'v1', 'v3']),
  fc.tuple(key('s'), key('l')).map(([k, l]) => ['EXPIRE', k.length > 1 ? k : l, '4']),
  fc.tuple(key('s'), key('l')).map(([k, l]) => ['DEL', k, l]),
  fc
    .tuple(key('s'), key('s'), value)
    .map(([k, l, v]) => [
      'EVAL',
      "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('APPEND', 's1', ARGV[1])",
      '2',
      k,
      l,
      v,
    ]),
)
const wait = fc.constantFrom(1000, 5000)

/** Runs a random program over REST. Calls `after` after each write. */
async function program(seed: number, after: (sandbox: Sandbox) => void): Promise<Sandbox> {
  const { sandbox } = open(most, { seed })
  const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
  const steps = fc.oneof({ weight: 15, arbitrary: step }, { weight: 1, arbitrary: wait })
  for (const next of fc.sample(steps, { numRuns: amount(80, 100, 600), seed })) {
    if (typeof next === 'number') {
      await sandbox.clock.advance(next)
      continue
    }
    await sandbox.fetch(sandbox.urls.store, { method: 'POST', headers, body: JSON.stringify(next) })
    after(sandbox)
  }
  return sandbox
}

const seeds = Array.from({ length: runs(4, 40, 300) }, (_, index) => seedOr(1) + index)

test.each(seeds)('random program %i never leaves the store above its limit', async (seed) => {
  const sandbox = await program(seed, ({ store }) => {
    const counted = store.dump().keys.reduce((sum, key) => sum + bytesOf(key), 0)
    expect(counted).toBeLessThanOrEqual(most)
    const { storage, db } = storeInternals.of(store).engine
    expect([storage!.bytes(), usedMemory(db)]).toEqual([counted, counted])
  })
  expect(evictedIn(sandbox).length).toBeGreaterThan(5)
  sandbox[Symbol.dispose]()
})

test('random programs evict keys of both kinds and of many types', async () => {
  const reasons = new Set<string>()
  const kinds = new Set<string>()
  for (const seed of [1, 2, 3, 4]) {
    using sandbox = await program(seed, () => {})
    for (const key of evictedIn(sandbox)) kinds.add(key[0]!)
    for (const { reason } of sandbox.traffic.ofType('keyspace')) if (reason !== undefined) reasons.add(reason)
  }
  expect(reasons.size).toBe(2)
  expect([...kinds]).toEqual(expect.arrayContaining(['a', 'l', 's', 'v']))
})

test.each(seeds)('the size after random program %i is that of a full count', async (seed) => {
  using sandbox = createSandbox({ seed, policy: { maxStorageSize: 1_000_000 }, onWarning: () => {} })
  const { storage, db } = storeInternals.of(sandbox.store).engine
  for (const row of fc.sample(rows({}), { numRuns: amount(120, 200, 600), seed })) {
    if ('advance' in row) await sandbox.clock.advance(row.advance)
    else {
      try {
        sandbox.store.run(...row.argv)
      } catch {}
    }
    expect(storage!.bytes()).toBe(usedMemory(db))
  }
})

test.each(seeds.slice(0, 6))(
  'random program %i evicts the same keys again, in a fork and in the past',
  async (seed) => {
    const moments: { seq: number; keys: readonly DumpedKey[] }[] = []
    const note = ({ store, traffic }: Sandbox) =>
      void moments.push({ seq: traffic.last()!.seq, keys: store.dump().keys })
    using first = await program(seed, note)
    using again = await program(seed, () => {})
    using other = await program(seed, () => {})
    expect(evictedIn(again)).toEqual(evictedIn(first))
    expect(evictedIn(other)).toEqual(evictedIn(first))
    using fork = await first.fork()
    expect(fork.store.dump()).toEqual(first.store.dump())
    expect(evictedIn(fork)).toEqual(evictedIn(first))
    const byName = (keys: readonly DumpedKey[]) => [...keys].sort((a, b) => (String(a.key) < String(b.key) ? -1 : 1))
    for (const { seq, keys } of moments.filter((_, index) => index % 9 === 0)) {
      expect(byName(first.asOf({ seq }).store.dump().keys)).toEqual(byName(keys))
    }
  },
)

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
