import fc from 'fast-check'
import { createSandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { differenceOf } from '../../../../src/store/dump/snapshot.js'
import type { DumpedKey, StoreDump } from '../../../../src/store/dump/store-dump.js'
import type { KeyChange } from '../../../../src/store/history/key-change.js'
import { levelOf } from '../../src/models/key-tree.js'
import { idOf, type StoreInstant, StoreModel } from '../../src/models/store-model.js'

/** The expected result: all changes from the start, for each point. */
function replayed(changes: readonly KeyChange[], { seq, at }: StoreInstant): Map<string, DumpedKey> {
  const keys = new Map<string, DumpedKey>()
  for (const change of changes) {
    if (change.seq > seq || change.at > at) break
    if (change.now === undefined) keys.delete(JSON.stringify(change.key))
    else keys.set(JSON.stringify(change.key), change.now)
  }
  for (const [id, { expiresAt }] of keys) if (expiresAt !== undefined && expiresAt <= at) keys.delete(id)
  return keys
}

function shown(keys: Iterable<readonly [string, DumpedKey]>): string[] {
  return [...keys].map(([, key]) => JSON.stringify(key)).sort()
}

/** Changes with increasing times and numbers; several may belong to one entry. */
const histories = fc
  .array(
    fc.record({
      key: fc.oneof(fc.constantFrom('a', 'b', 'user:1', 'user:2', '__proto__'), fc.constant({ base64: '/w==' })),
      value: fc.option(fc.string(), { nil: undefined }),
      lives: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
      step: fc.nat(2),
      wait: fc.nat(5),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((rows) => {
    let [seq, at] = [1, 1000]
    return rows.map(({ key, value, lives, step, wait }): KeyChange => {
      seq += step
      at += wait
      if (value === undefined) return { seq, at, key }
      const expiresAt = lives === undefined ? {} : { expiresAt: at + lives }
      return { seq, at, key, now: { key, ...expiresAt, type: 'string', value } }
    })
  })

test('the store model equals a replay from the start at any point, in any order of queries', () => {
  fc.assert(
    fc.property(histories, fc.array(fc.tuple(fc.nat(150), fc.nat(400)), { minLength: 1 }), (changes, asked) => {
      const model = new StoreModel()
      model.add(changes)
      for (const [seq, after] of asked) {
        const point = { seq, at: 1000 + after }
        expect(shown(model.at(point))).toEqual(shown(replayed(changes, point)))
      }
    }),
  )
})

test('the difference between two points turns one state into the other', () => {
  fc.assert(
    fc.property(
      histories,
      fc.tuple(fc.nat(150), fc.nat(150)),
      fc.tuple(fc.nat(400), fc.nat(400)),
      (changes, seqs, ats) => {
        const model = new StoreModel()
        model.add(changes)
        const points = [0, 1].map((nth) => ({
          seq: seqs.toSorted((one, other) => one - other)[nth]!,
          at: 1000 + ats.toSorted((one, other) => one - other)[nth]!,
        })) as [StoreInstant, StoreInstant]
        const [before, after] = points.map((point) => replayed(changes, point)) as [
          Map<string, DumpedKey>,
          Map<string, DumpedKey>,
        ]
        const turned = new Map(before)
        for (const { key, after: now } of model.difference(...points)) {
          if (now === undefined) turned.delete(JSON.stringify(key))
          else turned.set(JSON.stringify(key), now)
        }
        expect(shown(turned)).toEqual(shown(after))
        for (const one of model.difference(...points)) expect(one.before).toEqual(before.get(JSON.stringify(one.key)))
      },
    ),
  )
})

test('the store model has every type of a store, with expiration of keys and fields', async () => {
  const { store, clock } = createSandbox({ seed: 3, startAt: '2030-01-01T00:00:00Z' })
  const model = new StoreModel()
  const taken: { point: StoreInstant; dump: StoreDump }[] = []
  let seq = 0
  let before = store.dump()
  const commands: (readonly (string | number)[] | number)[] = [
    ['SET', 'greeting', 'hello', 'EX', 10],
    ['RPUSH', 'list', 'a', 'b'],
    ['HSET', 'hash', 'f', 1, 'g', 2],
    ['HEXPIRE', 'hash', 4, 'FIELDS', 1, 'f'],
    3000,
    ['SADD', 'set', 'x', 'y'],
    ['ZADD', 'zset', 1.5, 'm', 'inf', 'n'],
    2000,
    ['XADD', 'stream', '1-1', 'f', 'v'],
    ['JSON.SET', 'doc', '$', '{"a":[1]}'],
    ['ARRING', 'ring', 2, 'a', 'b', 'c'],
    ['VECTOR.CREATE', 'near', 'DIM', 2, 'METRIC', 'DOT'],
    ['VECTOR.ADD', 'near', 'a', 'VALUES', 2, 0.1, 1],
    ['VECTOR.DEL', 'near', 'a'],
    ['EXPIRE', 'list', 2],
    ['DEL', 'set'],
    6000,
    ['HEXPIRE', 'hash', 1, 'FIELDS', 1, 'g'],
    1000,
    ['MSET', 'user:1', 'Ada', 'user:2', 'Grace'],
  ]
  for (const command of commands) {
    if (typeof command === 'number') {
      await clock.advance(command)
      before = store.dump()
    } else {
      store.run(...command)
      seq++
    }
    const after = store.dump()
    const { added, removed, changed } = differenceOf(before, after)
    const at = clock.now()
    if (typeof command !== 'number') {
      model.add([
        ...[...added, ...changed.map((one) => one.after)].map((now) => ({ seq, at, key: now.key, now })),
        ...removed.map(({ key }) => ({ seq, at, key })),
      ])
    }
    taken.push({ point: { seq, at }, dump: after })
    before = after
  }
  for (const { point, dump } of taken.toReversed()) {
    expect(shown(model.at(point))).toEqual(dump.keys.map((key) => JSON.stringify(key)).sort())
  }
  const tree = levelOf(model.at(taken.at(-1)!.point), '')
  expect(tree.map(({ name, count }) => [name, count])).toContainEqual(['user', 2])
  expect(levelOf(model.at(taken.at(-1)!.point), 'user:').map(({ name }) => name)).toEqual(['1', '2'])
})

test('the store model opens any instant of 100,000 changes immediately', () => {
  const changes = Array.from({ length: 100_000 }, (_, n): KeyChange => {
    const key = `user:${(n * 7919) % 50_000}:visits`
    return { seq: n + 1, at: n, key, ...(n % 9 !== 0 && { now: { key, type: 'string', value: String(n) } }) }
  })
  const model = new StoreModel()
  model.add(changes)
  const times: number[] = []
  for (let n = 0; n < 60; n++) {
    const seq = (n * 48_271) % 100_000
    const start = performance.now()
    model.at({ seq, at: seq }).get(idOf('user:1:visits'))
    times.push(performance.now() - start)
  }
  times.shift()
  expect(times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)]).toBeLessThan(20)
})
