import { createSandbox } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { wordOfWire } from '../../../../src/client/portable-reply.js'
import type { DumpedKey } from '../../../../src/store/dump/store-dump.js'
import { bytesOfHex, type CommandLine, expiring, firstOf, rowEditing, writing } from '../../src/models/edits.js'

// The result of the commands is read from the dump of a store.

function storeWith(...commands: readonly (readonly (string | number)[])[]) {
  const { store } = createSandbox({ startAt: '2030-01-01T00:00:00Z' })
  for (const command of commands) store.run(...command)
  const key = (): DumpedKey => store.dump().keys.find(({ key }) => key === 'k')!
  const run = (lines: readonly CommandLine[]): void => {
    for (const line of lines) store.run(...line.map(wordOfWire))
  }
  return { key, run, rows: () => rowEditing[key().type]!.rows(key()) }
}

describe('rowEditing', () => {
  test.each([
    [
      'list',
      ['RPUSH', 'k', 'a', 'b', 'a'],
      1,
      ['1', 'x'],
      [
        ['0', 'a'],
        ['1', 'x'],
        ['2', 'a'],
      ],
    ],
    ['set', ['SADD', 'k', 'a', 'b'], 0, ['x'], [['b'], ['x']]],
    [
      'zset',
      ['ZADD', 'k', 1, 'a', 2, 'b'],
      0,
      ['x', '3.5'],
      [
        ['b', '2'],
        ['x', '3.5'],
      ],
    ],
    [
      'zset, its score',
      ['ZADD', 'k', 1, 'a', 2, 'b'],
      0,
      ['a', '7'],
      [
        ['b', '2'],
        ['a', '7'],
      ],
    ],
    [
      'hash',
      ['HSET', 'k', 'f', 1, 'g', 2],
      0,
      ['x', '3'],
      [
        ['g', '2'],
        ['x', '3'],
      ],
    ],
    [
      'hash, its value',
      ['HSET', 'k', 'f', 1, 'g', 2],
      0,
      ['f', '9'],
      [
        ['f', '9'],
        ['g', '2'],
      ],
    ],
    [
      'array',
      ['ARMSET', 'k', '5', 'a', '18446744073709551614', 'b'],
      1,
      ['18446744073709551614', 'x'],
      [
        ['5', 'a'],
        ['18446744073709551614', 'x'],
      ],
    ],
  ] as const)('changes a row of a %s', (_, command, at, after, expected) => {
    const { key, run, rows } = storeWith(command)
    run(rowEditing[key().type]!.change!('k', rows()[at]!, after))
    expect(rows()).toEqual(expected)
  })

  test.each([
    [
      'list',
      ['RPUSH', 'k', 'a', 'b', 'a'],
      [
        ['0', 'a'],
        ['1', 'b'],
      ],
    ],
    ['set', ['SADD', 'k', 'a', 'b'], [['a']]],
    ['zset', ['ZADD', 'k', 1, 'a', 2, 'b'], [['a', '1']]],
    ['hash', ['HSET', 'k', 'f', 1, 'g', 2], [['f', '1']]],
    ['stream', ['XADD', 'k', '1-1', 'f', 'v'], []],
    ['array', ['ARMSET', 'k', 5, 'a', 7, 'b'], [['5', 'a']]],
  ] as const)('removes the last row of a %s', (_, command, expected) => {
    const { key, run, rows } = storeWith(command)
    run(rowEditing[key().type]!.remove('k', rows().at(-1)!))
    expect(rows()).toEqual(expected)
  })

  test('adds a row to each type, and shows it', () => {
    // A vector index begins without a row.
    for (const [type, editing] of Object.entries(rowEditing).filter(([type]) => type !== 'vector')) {
      const { run, rows, key } = storeWith()
      run([firstOf[type as DumpedKey['type']]('k', 'first')])
      expect(key().type).toBe(type)
      run(
        editing.add(
          'k',
          editing.fresh.map((name) => (name === 'score' || name === 'index' ? '5' : `new ${name}`)),
        ),
      )
      expect(rows()).toHaveLength(2)
    }
  })

  test('shows and edits the entries of a vector index', () => {
    const { run, rows, key } = storeWith()
    run([firstOf.vector('k', '2')])
    expect(key()).toMatchObject({ type: 'vector', dimension: 2, vectors: [] })
    const editing = rowEditing.vector!
    run(editing.add('k', ['a', '0.1, 2']))
    run(editing.add('k', ['b', '[0 -1.5]']))
    expect(rows()).toEqual([
      ['a', '0.1, 2'],
      ['b', '0, -1.5'],
    ])
    run(editing.change!('k', ['a', '0.1, 2'], ['a', '3, 4']))
    run(editing.change!('k', ['b', '0, -1.5'], ['c', '0, 1']))
    expect(rows()).toEqual([
      ['a', '3, 4'],
      ['c', '0, 1'],
    ])
    run(editing.remove('k', ['a', '3, 4']))
    expect(rows()).toEqual([['c', '0, 1']])
  })

  test('edits bytes that are not text', () => {
    const { run, key } = storeWith(['SADD', 'k', 'a'])
    run(rowEditing.set!.change!('k', ['a'], [{ base64: '/w==' }]))
    expect(key()).toMatchObject({ members: [{ base64: '/w==' }] })
  })
})

test('replaces a text and keeps its expiration', () => {
  const { run, key } = storeWith(['SET', 'k', 'a', 'EX', 60])
  const { expiresAt } = key()
  run([writing(key(), 'b')])
  expect(key()).toMatchObject({ value: 'b', expiresAt })
  run([expiring('k', '2.5')])
  expect(key().expiresAt).toBe(expiresAt! - 57_500)
  run([expiring('k', ' ')])
  expect(key().expiresAt).toBeUndefined()
})

test('replaces a document', () => {
  const { run, key } = storeWith(['JSON.SET', 'k', '$', '{"a":1}'])
  run([writing(key(), '{"a":[2]}')])
  expect(key()).toMatchObject({ value: '{"a":[2]}' })
})

test.each([
  ['ff 00', '/wA='],
  ['0xC3A9', 'w6k='],
  ['', ''],
])('accepts %s as bytes', (digits, base64) => {
  expect(bytesOfHex(digits)).toEqual({ base64 })
})

test.each(['f', 'xy', 'ff 0'])('rejects %s as bytes', (digits) => {
  expect(bytesOfHex(digits)).toBeUndefined()
})
