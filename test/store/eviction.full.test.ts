import fc from 'fast-check'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import type { PortableString } from '../../src/kernel/portable.js'
import { usedMemory } from '../../src/store/commands/info.js'
import type { DumpedKey } from '../../src/store/dump/store-dump.js'
import { storeInternals } from '../../src/store/store-internals.js'
import { amount, runs, seedOr } from '../support/effort.js'
import { rows } from '../support/random-rows.js'

// Eviction in random programs. Expectations: store.md 10, as in eviction.test.ts.

const evictedIn = ({ traffic }: Sandbox): string[] =>
  traffic
    .ofType('keyspace')
    .filter(({ event }) => event === 'evicted')
    .map(({ key }) => key)

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
  const policy = { maxStorageSize: most, eviction: 'optimistic-volatile' } as const
  const sandbox = createSandbox({ seed, policy, onWarning: () => {} })
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
