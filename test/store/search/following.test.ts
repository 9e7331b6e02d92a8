import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'
import type { PlainReply } from '../../../src/store/direct-store.js'
import { runs } from '../../support/effort.js'
import { keysOf, running, searchingSandbox } from './searching.js'

// Indexes follow all writes; snapshots, forks and reads of the past find what existed then. [search.md 14]

const keys = ['x:1', 'x:2', 'x:3', 'y:1']
const key = fc.constantFrom(...keys)
const fieldName = fc.constantFrom('t', 'n', 'other')
const value = fc.constantFrom('red', 'blue', '1', '2', 'red shoe')
const json = fc.constantFrom('{"t":"red","n":1}', '{"t":"blue shoe","n":2}', '{"n":"1"}', '[1]', '"red"', '{}')

const write: fc.Arbitrary<(string | number)[]> = fc.oneof(
  fc.tuple(fc.constant('HSET'), key, fieldName, value),
  fc.tuple(fc.constant('HDEL'), key, fieldName),
  fc.tuple(fc.constant('HINCRBY'), key, fc.constant('n'), fc.constant(1)),
  fc.tuple(
    fc.constant('HPEXPIRE'),
    key,
    fc.integer({ min: 1, max: 3000 }),
    fc.constant('FIELDS'),
    fc.constant(1),
    fieldName,
  ),
  fc.tuple(
    fc.constant('HSETEX'),
    key,
    fc.constant('PX'),
    fc.constant(900),
    fc.constant('FIELDS'),
    fc.constant(1),
    fieldName,
    value,
  ),
  fc.tuple(fc.constant('HGETDEL'), key, fc.constant('FIELDS'), fc.constant(1), fieldName),
  fc.tuple(fc.constant('JSON.SET'), key, fc.constant('$'), json),
  fc.tuple(fc.constant('JSON.SET'), key, fc.constant('$.t'), fc.constant('"red"')),
  fc.tuple(fc.constant('JSON.NUMINCRBY'), key, fc.constant('$.n'), fc.constant(1)),
  fc.tuple(fc.constant('JSON.DEL'), key, fc.constantFrom('$', '$.t')),
  fc.tuple(fc.constant('JSON.MERGE'), key, fc.constant('$'), fc.constant('{"t":"blue"}')),
  fc.tuple(fc.constant('JSON.CLEAR'), key, fc.constant('$')),
  fc.tuple(fc.constant('JSON.MSET'), key, fc.constant('$'), json),
  fc.tuple(fc.constant('SET'), key, fc.oneof(json, value)),
  fc.tuple(fc.constant('MSET'), key, json),
  fc.tuple(fc.constant('GETSET'), key, json),
  fc.tuple(fc.constant('APPEND'), key, value),
  fc.tuple(fc.constant('SETRANGE'), key, fc.constant(2), fc.constant('t')),
  fc.tuple(fc.constant('GETDEL'), key),
  fc.tuple(fc.constantFrom('RENAME', 'COPY', 'RENAMENX'), key, key),
  fc.tuple(fc.constantFrom('DEL', 'UNLINK', 'PERSIST'), key),
  fc.tuple(fc.constant('PEXPIRE'), key, fc.integer({ min: -1, max: 3000 })),
  fc.tuple(fc.constant('LPUSH'), key, value),
  fc.tuple(fc.constant('EVAL'), fc.constant("return redis.call('HSET', KEYS[1], 't', 'red')"), fc.constant(1), key),
)

const filters = [
  '{}',
  '{"t":"red"}',
  '{"t":{"$eq":"blue"}}',
  '{"n":{"$gte":1}}',
  '{"n":1}',
  '{"$must":{"t":"shoe"},"$mustNot":{"n":2}}',
]
const types = ['HASH', 'JSON', 'STRING']

function create({ store }: Sandbox, name: string, type: string): void {
  store.run(...`SEARCH.CREATE ${name} ON ${type} PREFIX 1 x: SCHEMA t TEXT n U64 FAST`.split(' '))
}

/** Returns what each index finds for each filter, in any order: a new index visits the keys in another order. */
function found({ store }: Pick<Sandbox, 'store'>, name: string, options: readonly string[] = []): unknown[] {
  return filters.map((filter) => {
    const rows = (store.run('SEARCH.QUERY', name, filter, 'ORDERBY', 'n', ...options) ?? []) as PlainReply[][]
    return [store.run('SEARCH.COUNT', name, filter), rows.map((row) => JSON.stringify(row)).sort()]
  })
}

type Step = (string | number)[] | { readonly wait: number }

it('an index finds after all writes what a new index finds', async () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 8, arbitrary: write },
    { weight: 1, arbitrary: fc.record({ wait: fc.integer({ min: 1, max: 2000 }) }) },
    { weight: 2, arbitrary: fc.constant<Step>(['SEARCH.COUNT', 'HASH', '{}']) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const sandbox = await searchingSandbox()
      for (const type of types) create(sandbox, type, type)
      for (const one of steps) {
        if (!Array.isArray(one)) await sandbox.clock.advance(one.wait)
        else {
          try {
            sandbox.store.run(...one)
          } catch {
            // The key has the wrong type, or does not exist.
          }
        }
      }
      const before = types.map((type) => found(sandbox, type))
      for (const type of types) create(sandbox, `new-${type}`, type)
      expect(types.map((type) => found(sandbox, `new-${type}`))).toEqual(before)
      for (const type of types) sandbox.store.run('SEARCH.REINDEX', type)
      expect(types.map((type) => found(sandbox, type))).toEqual(before)
      // A sandbox that loads this sandbox's store finds the same.
      const other = createSandbox({ startAt: sandbox.clock.now() })
      other.store.load(JSON.parse(JSON.stringify(sandbox.store.dump())))
      expect(types.map((type) => found(other, type))).toEqual(before)
      expect(other.store.dump()).toEqual(sandbox.store.dump())
      for (const one of [sandbox, other]) await one.dispose()
    }),
    { numRuns: runs(150, 150, 1500) },
  )
})

it('transactions and scripts write to an index like other commands, and their query rows have no content', async () => {
  const { store, urls, tokens, fetch } = await searchingSandbox()
  const send = async (path: string, body: unknown): Promise<unknown> => {
    const answer = await fetch(urls.store + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.store}` },
      body: JSON.stringify(body),
    })
    return answer.json()
  }
  store.run(...'SEARCH.CREATE i ON HASH PREFIX 1 x: SCHEMA t TEXT'.split(' '))
  const rows = await send('/multi-exec', [
    ['HSET', 'x:1', 't', 'red'],
    ['SEARCH.COUNT', 'i', '{"t":"red"}'],
    ['SEARCH.QUERY', 'i', '{"t":{"$regex":"red"}}', 'NOCONTENT'],
    ['SEARCH.QUERY', 'i', '{}'],
  ])
  expect(rows).toEqual([
    { result: 1 },
    { result: 1 },
    { result: [['x:1', '1']] },
    { error: expect.stringMatching(/^ERR /) },
  ])
  const script = (words: string) => ['EVAL', `return redis.call(${words})`, 0]
  expect(await send('', script("'SEARCH.COUNT', 'i', '{}'"))).toEqual({ result: 1 })
  expect(await send('', script("'SEARCH.QUERY', 'i', '{}', 'NOCONTENT'"))).toEqual({ result: [['x:1', '1']] })
  expect(await send('', script("'SEARCH.QUERY', 'i', '{}'"))).toEqual({ error: expect.stringContaining('NOCONTENT') })
  expect(await send('/pipeline', [['SEARCH.QUERY', 'i', '{}']])).toEqual([{ result: [['x:1', '1', [['t', 'red']]]] }])
})

it('snapshots, forks and reads of the past have the indexes of that time', async () => {
  const sandbox = await searchingSandbox()
  const run = running(sandbox)
  run('SEARCH.CREATE i ON HASH PREFIX 1 x: SCHEMA t TEXT')
  run('SEARCH.ALIASADD a i')
  run('HSET x:1 t red')
  await sandbox.clock.advance('1m')
  const then = sandbox.clock.now()
  const kept = sandbox.dump()
  await sandbox.clock.advance('1m')
  run('HSET x:2 t red')
  run('SEARCH.ALIASDEL a')
  const fork = await sandbox.fork()
  expect(fork.store.run('SEARCH.COUNT', 'i', '{"t":"red"}')).toBe(2)
  fork.store.run('HSET', 'x:3', 't', 'red')
  expect(fork.store.run('SEARCH.COUNT', 'i', '{"t":"red"}')).toBe(3)
  expect(run('SEARCH.COUNT i', '{"t":"red"}')).toBe(2)
  const past = sandbox.asOf(then)
  expect(keysOf(past.store.run('SEARCH.QUERY', 'a', '{"t":"red"}'))).toEqual(['x:1'])
  const again = createSandbox()
  again.load(JSON.parse(JSON.stringify(kept)))
  expect(keysOf(again.store.run('SEARCH.QUERY', 'a', '{"t":"red"}'))).toEqual(['x:1'])
  again.reset()
  expect(again.store.run('SEARCH.LISTINDEXES')).toEqual([])
  expect(again.store.run('SEARCH.LISTALIASES')).toEqual([])
})

it('updates wait for policy.searchIndexingDelay on the clock, and WAITINDEXING ends the wait', async () => {
  const sandbox = await searchingSandbox({ policy: { searchIndexingDelay: 500 } })
  const run = running(sandbox)
  const pending = () => (run('SEARCH.DESCRIBE i') as PlainReply[])[11]
  const count = (filter = '{}') => run('SEARCH.COUNT i', filter)
  run('HSET x:0 t red')
  run('SEARCH.CREATE i ON HASH PREFIX 1 x: SCHEMA t TEXT')
  expect([pending(), count()]).toEqual([1, 0])
  expect(run('SEARCH.WAITINDEXING i')).toBe(1)
  expect([pending(), count()]).toEqual([0, 1])
  run('HSET x:1 t red')
  await sandbox.clock.advance(300)
  run('HSET x:2 t red')
  run('HSET y:2 t red')
  expect([pending(), count()]).toEqual([2, 1])
  await sandbox.clock.advance(200)
  expect([pending(), count()]).toEqual([1, 2])
  await sandbox.clock.advance(300)
  expect([pending(), count()]).toEqual([0, 3])
  // Documents are found by their old content, but rows show the current content.
  run('DEL x:1')
  run('HSET x:2 t blue')
  expect(count('{"t":"red"}')).toBe(3)
  expect(run('SEARCH.QUERY i', '{"t":{"$eq":"red"}}', 'SELECT', 1, 't')).toEqual([
    ['x:0', expect.any(String), [['t', 'red']]],
    ['x:2', expect.any(String), [['t', 'blue']]],
  ])
  run('SEARCH.WAITINDEXING i')
  expect(count('{"t":"red"}')).toBe(1)
})
