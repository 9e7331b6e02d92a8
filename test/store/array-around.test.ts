import { createSandbox, type Sandbox } from 'stuntdouble'
import { describe, expect, it } from 'vitest'
import 'stuntdouble/vitest/extend'
import { Rest } from '../support/ask.js'

// What a key of type array has in common with all keys. [array.md 7]

function opened(options: Parameters<typeof createSandbox>[0] = {}): Sandbox {
  return createSandbox({ onWarning: () => {}, ...options })
}

describe('access', () => {
  const reads =
    'ARCOUNT k|ARGET k 0|ARGETRANGE k 0 1|ARGREP k - + MATCH a|ARINFO k|ARLASTITEMS k 2|ARLEN k|ARMGET k 0|ARNEXT k'
  const writes = 'ARSET k 0 a|ARMSET k 0 a|ARDEL k 0|ARDELRANGE k 0 1|ARINSERT k a|ARRING k 3 a|ARSEEK k 0'

  it.each(`${reads}|AROP k 0 1 USED|ARSCAN k 0 1`.split('|'))('lets a read-only token run %s', async (line) => {
    const rest = Rest.open()
    await rest.run('ARSET', 'k', 0, 'a', 'b')
    const { status } = await rest.post('/', line.split(' '), { token: rest.sandbox.tokens.storeReadonly })
    expect(status).toBe(200)
  })

  it.each(writes.split('|'))('rejects %s of a read-only token', async (line) => {
    const rest = Rest.open()
    const { json } = await rest.post('/', line.split(' '), { token: rest.sandbox.tokens.storeReadonly })
    expect(json).toEqual({ error: expect.stringContaining('NOPERM') })
  })

  it('has a category', async () => {
    const { store } = opened()
    expect(store.run('ACL', 'CAT')).toContain('array')
    expect(store.run('ACL', 'CAT', 'array')).toHaveLength(18)
    store.run('ACL', 'SETUSER', 'ann', 'on', '~*', '+@array', '-@write')
    expect(store.run('ACL', 'DRYRUN', 'ann', 'ARGET', 'k', '0')).toBe('OK')
    expect(store.run('ACL', 'DRYRUN', 'ann', 'ARSET', 'k', '0', 'a')).toContain('no permissions')
    expect(store.run('ACL', 'DRYRUN', 'ann', 'GET', 'k')).toContain('no permissions')
  })

  it('checks the keys of a user', () => {
    const { store } = opened()
    store.run('ACL', 'SETUSER', 'ann', 'on', '~mine:*', '+@array')
    expect(store.run('ACL', 'DRYRUN', 'ann', 'ARRING', 'mine:a', '3', 'x')).toBe('OK')
    expect(store.run('ACL', 'DRYRUN', 'ann', 'ARRING', 'a', '3', 'x')).toContain('no permissions')
  })
})

describe('keyspace events', () => {
  it('have the name of the command, and del follows if the key was deleted', () => {
    const { store, traffic } = opened()
    const lines = [
      'ARSET k 0 a b c',
      'ARMSET k 5 d',
      'ARINSERT k e',
      'ARSEEK k 2',
      'ARDEL k 9',
      'ARDEL k 0 1',
      'ARDELRANGE k 7 9',
      'ARRING k 2 f',
      'ARDELRANGE k 0 9',
      'ARDELRANGE k 0 9',
      'ARSEEK k 1',
      'ARGET k 0',
    ]
    for (const line of lines) store.run(...line.split(' '))
    const events = traffic.ofType('keyspace').map(({ event }) => event)
    expect(events.filter((event) => event !== 'new' && event !== 'keymiss')).toEqual([
      'arset',
      'armset',
      'arinsert',
      'arseek',
      'ardel',
      'arring',
      'ardelrange',
      'del',
    ])
  })
})

describe('requests', () => {
  it('run in scripts, pipelines and transactions', async () => {
    const rest = Rest.open()
    // [py test: a pipeline]
    const { json } = await rest.post('/pipeline', [
      ['ARSET', 'k', 0, 'a'],
      ['ARSCAN', 'k', 0, 10],
      ['ARSET', 'k', 1, 'b'],
      ['ARGREP', 'k', '-', '+', 'MATCH', 'b', 'WITHVALUES'],
      ['ARLEN', 'k'],
      ['ARSEEK', 'k', 1],
    ])
    const results = [1, [[0, 'a']], 1, [[1, 'b']], 2, 1]
    expect(json).toEqual(results.map((result) => ({ result })))
    const transaction = await rest.post('/multi-exec', [
      ['ARINSERT', 'k', 'c'],
      ['ARLASTITEMS', 'k', 2],
    ])
    expect(transaction.json).toEqual([{ result: 1 }, { result: ['a', 'c'] }])
    const script =
      "redis.call('ARSET', KEYS[1], '18446744073709551613', 'z') return {redis.call('ARLEN', KEYS[1]), redis.call('ARGET', KEYS[1], 0)}"
    expect(await rest.run('EVAL', script, 1, 'k')).toEqual(['18446744073709551614', 'a'])
    const typed = "redis.setresp(3) return redis.call('ARLEN', KEYS[1]).big_number"
    expect(await rest.run('EVAL', typed, 1, 'k')).toBe('18446744073709551614')
  })

  it('count as reads and writes, and appear in MONITOR and in the traffic log', async () => {
    const rest = Rest.open()
    await rest.run('ARSET', 'k', 0, 'a')
    await rest.run('ARGET', 'k', 0)
    expect(rest.sandbox.store.cost()).toMatchObject({ commands: 2, reads: 1, writes: 1 })
    expect(rest.sandbox.traffic).toHaveExecuted('ARSET')
  })

  it('exceed maxRecordSize by the size of all values and of the command', async () => {
    const rest = Rest.open({ policy: { maxRecordSize: 40 } })
    await rest.run('ARSET', 'k', 0, '1234567890', '1234567890')
    await expect(rest.run('ARSET', 'k', 5, '12345678901234')).rejects.toThrow('max single record size exceeded')
    await rest.run('ARDEL', 'k', 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
    expect(await rest.run('EXISTS', 'k')).toBe(0)
  })
})

describe('policies', () => {
  it.each([
    ['empty', []],
    [
      'reverse',
      [
        [2, 'c'],
        [0, 'a'],
      ],
    ],
  ] as const)('arrayScanReverse: %s', (arrayScanReverse, expected) => {
    const { store } = opened({ policy: { arrayScanReverse } })
    store.run('ARMSET', 'k', 0, 'a', 2, 'c')
    expect(store.run('ARSCAN', 'k', 5, 0)).toEqual(expected)
    expect(store.run('ARSCAN', 'none', 5, 0)).toEqual([])
  })

  it('arrayScanReverse: error', () => {
    const { store } = opened({ policy: { arrayScanReverse: 'error' } })
    expect(() => store.run('ARSCAN', 'none', 5, 0)).toThrow('ERR start must not be greater than end')
    expect(store.run('ARSCAN', 'none', 5, 5)).toEqual([])
  })

  it.each([
    ['length', ['a', null, 'c']],
    ['values', [null, 'c']],
  ] as const)('arrayLastItems: %s', (arrayLastItems, expected) => {
    const { store } = opened({ policy: { arrayLastItems } })
    store.run('ARMSET', 'k', 0, 'a', 2, 'c')
    expect(store.run('ARLASTITEMS', 'k', 9)).toEqual(expected)
  })

  it.each([
    ['inferred', 3, 'out'],
    ['stored', 4, 'c'],
  ] as const)('arrayRing: %s', (arrayRing, count, oldest) => {
    const { store } = opened({ policy: { arrayRing } })
    store.run('ARRING', 'k', 3, 'a', 'b', 'c', 'd')
    store.run('ARSET', 'k', 100, 'out')
    store.run('ARRING', 'k', 3, 'e')
    expect(store.run('ARCOUNT', 'k')).toBe(count)
    store.run('ARRING', 'k', 5, 'f')
    expect(store.run('ARGETRANGE', 'k', 0, 4)).toEqual([oldest, 'd', 'e', 'f', null])
    expect(store.run('ARLEN', 'k')).toBe(4)
  })
})

describe('state', () => {
  it('has arrays in dumps, differences and the history of the store', async () => {
    const sandbox = opened()
    const { store } = sandbox
    store.run('ARSET', 'k', '18446744073709551613', 'a')
    const before = store.dump()
    expect(before.keys).toEqual([{ key: 'k', type: 'array', slots: [['18446744073709551613', 'a']], next: '0' }])
    store.run('ARRING', 'k', 3, 'b')
    expect(store.diff(before).changed).toHaveLength(1)
    expect(store.dump().keys[0]).toMatchObject({
      slots: [
        ['0', 'a'],
        ['1', 'b'],
      ],
      next: '2',
      ringSize: '3',
    })
  })

  it.each([
    [{ slots: [], next: '0' }, 'slots: must not be empty'],
    [
      {
        slots: [
          ['1', 'a'],
          ['1', 'b'],
        ],
        next: '0',
      },
      'slot 1 is out of order',
    ],
    [
      {
        slots: [
          ['2', 'a'],
          ['1', 'b'],
        ],
        next: '0',
      },
      'slot 1 is out of order',
    ],
    [{ slots: [['x', 'a']], next: '0' }, '"x" is not an index of an array'],
    [{ slots: [['18446744073709551615', 'a']], next: '0' }, 'is not an index of an array'],
    [{ slots: [['0', 'a']], next: '18446744073709551616' }, 'is not an index of an array'],
    [{ slots: [['0', 'a']], next: '0', ringSize: '0' }, 'ringSize must be positive'],
    [{ slots: [['0', 'a']] }, 'next'],
  ])('rejects the damaged dump %j', (content, reason) => {
    const dump = { format: 'stuntdouble/store', version: 1, keys: [{ key: 'k', type: 'array', ...content }] }
    expect(() => opened().store.load(dump as never)).toThrow(reason)
  })

  it('records small changes of a large array as differences', () => {
    const sandbox = opened()
    sandbox.store.run('ARSET', 'k', 0, ...Array.from({ length: 500 }, (_, at) => at))
    sandbox.store.run('ARSET', 'k', 250, 'x')
    sandbox.store.run('ARDEL', 'k', 3)
    const past = sandbox.asOf({ seq: sandbox.traffic.ofType('command')[1]!.seq })
    expect(past.store.run('ARMGET', 'k', 3, 250)).toEqual(['3', 'x'])
    expect(sandbox.store.run('ARMGET', 'k', 3, 250)).toEqual([null, 'x'])
  })
})

describe('toHaveKey()', () => {
  const { store } = opened()
  store.run('ARSET', 'list', 0, 'a', '{"v":1}', 3)
  store.run('ARMSET', 'sparse', 1, 'a', '18446744073709551614', 'z')

  it('compares arrays with lists and with values by index', () => {
    expect(store).toHaveKey('list', { type: 'array', value: ['a', { v: 1 }, 3] })
    expect(store).toHaveKey('list', { value: { 1: { v: 1 } } })
    expect(store).toHaveKey('sparse', { value: { 1: 'a', '18446744073709551614': 'z' } })
    expect(store).not.toHaveKey('list', { value: ['a', { v: 1 }] })
    expect(store).not.toHaveKey('list', { value: ['a', { v: 1 }, 3, 4] })
    expect(store).not.toHaveKey('sparse', { value: [null, 'a'] })
    expect(store).not.toHaveKey('sparse', { value: { 0: 'a' } })
    store.run('ARSET', 'holes', 2, 'c')
    expect(store).toHaveKey('holes', { value: [null, null, 'c'] })
  })

  it('shows values and the first difference', () => {
    expect(() => expect(store).toHaveKey('list', { value: ['a', { v: 2 }, 3] })).toThrow(
      /array, does not expire: \['a', '\{"v":1\}', '3'\]/,
    )
    expect(() => expect(store).toHaveKey('sparse', { value: { 1: 'b' } })).toThrow(/\[1\]/)
  })
})
