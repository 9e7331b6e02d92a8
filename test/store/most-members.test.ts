import { createSandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { limitRows } from '../../packages/server/test/limit-rows.js'
import { maxMembers } from '../../src/store/command/memory.js'
import { storeInternals } from '../../src/store/store-internals.js'

/** Returns a store whose collections have at most five members. */
function storeOfFive() {
  const { store } = createSandbox({ policy: { commands: 'all' } })
  const { engine } = storeInternals.of(store)
  engine.db.mostMembers = 5
  return (words: string) => {
    try {
      return store.run(...words.split(' '))
    } catch (error) {
      return (error as Error).message.split(' ')[0]
    }
  }
}

test.each([
  ['SADD c a b', 'SADD c d e f g', 'SCARD c', 'SREM c a'],
  ['HSET c a 1', 'HSET c d 1 e 1', 'HLEN c', 'HDEL c a'],
  ['ZADD c 1 a', 'ZADD c 1 d 1 e', 'ZCARD c', 'ZREM c a'],
  ['RPUSH c a b', 'LPUSH c d e f g', 'LLEN c', 'LPOP c'],
  ['RPUSH c a b', 'RPUSHX c d e f g', 'LLEN c', 'RPOP c'],
])('rejects %s, then %s, before any member is added, and members can be removed', (first, more, count, remove) => {
  const run = storeOfFive()
  run(first)
  const before = run(count)
  expect(run(more)).toBe('OOM')
  expect(run(count)).toBe(before)
  expect(run(remove)).not.toBe('OOM')
  expect(run(count)).toBe(Number(before) - 1)
})

test('limits new collections and members that a script adds', () => {
  const run = storeOfFive()
  expect(run('SADD c a b c d e f')).toBe('OOM')
  expect(run('EXISTS c')).toBe(0)
  expect(run('SADD c a b')).toBe(2)
  const { store } = createSandbox()
  storeInternals.of(store).engine.db.mostMembers = 5
  expect(() => store.run('EVAL', "return redis.call('SADD', 'c', 'a', 'b', 'c', 'd', 'e')", '0')).toThrow(/OOM/)
  expect(store.run('EXISTS', 'c')).toBe(0)
})

test('keeps a member that is moved', () => {
  const run = storeOfFive()
  run('SADD from a')
  run('SADD to b c')
  expect(run('SMOVE from to a')).toBe('OOM')
  expect(run('SISMEMBER from a')).toBe(1)
})

test('limits keys: none is added, and they can be read, renamed and deleted', () => {
  const run = storeOfFive()
  run('MSET a 1 b 1')
  expect(run('MSET c 1 d 1')).toBe('OOM')
  expect(run('DBSIZE')).toBe(2)
  expect([run('GET a'), run('RENAME a c'), run('DEL c'), run('DBSIZE')]).toEqual(['1', 'OK', 1, 1])
})

test('has a limit below the end of a Map, in the table of limits', () => {
  expect(maxMembers).toBeLessThan(2 ** 24)
  expect(limitRows.filter((row) => row.default === maxMembers)).toHaveLength(1)
})

test.each([
  ['SADD c', (at: number) => [at]],
  ['HSET c', (at: number) => [at, at]],
  ['HMSET c', (at: number) => [at, at]],
  ['ZADD c', (at: number) => [at, at]],
  ['GEOADD c', (at: number) => [1, 1, at]],
  ['MSET', (at: number) => [at, at]],
  ['MSETNX', (at: number) => [at, at]],
] as const)('charges %s for each new member, so that one command adds no more than its budget', (begin, member) => {
  const { store } = createSandbox({ policy: { commands: 'all', maxWork: 24 * 9 } })
  const { engine } = storeInternals.of(store)
  const added = (count: number): unknown =>
    engine.execute(
      [...begin.split(' '), ...Array.from({ length: count }, (_, at) => member(at)).flat()].map(String) as never,
    )
  expect(() => added(11)).toThrow(/max work/)
  expect(store.run('DBSIZE')).toBe(0)
  expect(() => added(10)).not.toThrow()
})
