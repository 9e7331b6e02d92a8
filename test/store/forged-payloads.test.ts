import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bytes, latin1, text, utf8 } from '../../src/kernel/bytes.js'
import { createSandbox } from '../../src/sandbox/sandbox.js'
import { ReplyError } from '../../src/store/command/reply.js'
import { sealed, unsealed } from '../../src/store/dump/seal.js'
import { storeInternals } from '../../src/store/store-internals.js'
import { runs, seedOr } from '../support/effort.js'

// RESTORE of payloads whose checksum is right and whose content is not. Expectation: the
// error of store.md 9 for a damaged payload.

const mark = 'SD\x01'
const damaged = 'ERR DUMP payload version or checksum are wrong'

/** Commands that create a key of each type, and commands that read all of it. */
const types: Record<string, readonly [make: readonly string[], read: readonly string[]]> = {
  string: [['SET k value'], ['GET k', 'APPEND k x']],
  list: [['RPUSH k a b c'], ['LRANGE k 0 -1', 'LPUSH k d']],
  set: [['SADD k a b c'], ['SMEMBERS k', 'SADD k d']],
  zset: [['ZADD k 1 a 2.5 b inf c'], ['ZRANGE k 0 -1 WITHSCORES', 'ZINCRBY k 1 a']],
  hash: [
    ['HSET k f 1 g 2', 'HEXPIRE k 100 FIELDS 1 f'],
    ['HGETALL k', 'HTTL k FIELDS 2 f g', 'HSET k h 3'],
  ],
  json: [['JSON.SET k $ {"a":[1,{"b":null}]}'], ['JSON.GET k', 'JSON.SET k $.a 1']],
  stream: [
    ['XADD k 1-1 f v', 'XADD k 2-1 f v', 'XGROUP CREATE k g 0', 'XREADGROUP GROUP g c COUNT 1 STREAMS k >'],
    ['XRANGE k - +', 'XINFO STREAM k FULL', 'XPENDING k g', 'XAUTOCLAIM k g d 0 0', 'XADD k * f v', 'XTRIM k MAXLEN 1'],
  ],
  array: [
    ['ARRING k 3 a b c d', 'ARSET k 18446744073709551613 z'],
    [
      'ARSCAN k 0 18446744073709551614',
      'ARLASTITEMS k 5',
      'ARINFO k FULL',
      'ARNEXT k',
      'ARINSERT k a',
      'ARRING k 2 x y',
    ],
  ],
  search: [
    ['SEARCH.CREATE k ON HASH PREFIX 1 p: SCHEMA name TEXT NOSTEM size U64 FAST'],
    [
      'SEARCH.DESCRIBE k',
      'SEARCH.QUERY k {"name":"x"}',
      'SEARCH.QUERY k {"size":{"$gt":1}}',
      'HSET p:2 name y size 3',
      'SEARCH.COUNT k {"name":"y"}',
    ],
  ],
  vector: [
    ['VECTOR.CREATE k DIM 2 METRIC DOT', 'VECTOR.ADD k a VALUES 2 1 0', 'VECTOR.ADD k b VALUES 2 0 1'],
    [
      'VECTOR.INFO k',
      'VECTOR.GET k a',
      'VECTOR.QUERY k TOPK 3 VALUES 2 1 1',
      'VECTOR.DEL k a',
      'VECTOR.ADD k c VALUES 2 1 1',
    ],
  ],
}

const everywhere = ['TYPE k', 'MEMORY USAGE k', 'OBJECT ENCODING k', 'DUMP k', 'COPY k l', 'RENAME k m', 'DEL m']

function world() {
  const { store } = createSandbox({ onWarning: () => {}, policy: { commands: 'all' } })
  const { engine } = storeInternals.of(store)
  const run = (...words: Bytes[]) => {
    try {
      return engine.execute(words)
    } catch (error) {
      if (error instanceof ReplyError) return error.message
      throw error
    }
  }
  return { store, run, line: (line: string) => run(...line.split(' ').map(latin1)) }
}

await createSandbox().store.loadSearch('english')

const jsonOf = (payload: Bytes) => JSON.parse(text(unsealed(payload, mark))) as unknown
const payloadOf = (content: unknown) => sealed(utf8(JSON.stringify(content)), mark)

const contents = Object.fromEntries(
  Object.entries(types).map(([type, [make]]) => {
    const { line } = world()
    for (const one of make) line(one)
    return [type, jsonOf(line('DUMP k') as Bytes)]
  }),
)

/** Values that are wrong in most places, among them the names and types of right ones. */
const junk = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0, 1.5, 1e9, 1e300, '', 'x', 'nan', '-0', '18446744073709551615', [], {}),
  fc.constantFrom<unknown>(
    [[]],
    ['a'],
    [['a', 'b']],
    { base64: '!' },
    { base64: '/w==' },
    'AAAAAA==',
    'vector',
    'STREAM',
  ),
  fc.jsonValue({ maxDepth: 2 }),
)
const edit = fc.record({ where: fc.nat(), how: fc.constantFrom('replace', 'drop', 'twice', 'swap'), junk })

/** Returns a copy of a content with one place changed. */
function edited(content: unknown, { where, how, junk }: { where: number; how: string; junk: unknown }): unknown {
  const copy = { content: structuredClone(content) }
  const places: [owner: Record<string, unknown>, name: string][] = []
  const visit = (owner: Record<string, unknown>): void => {
    for (const [name, value] of Object.entries(owner)) {
      places.push([owner, name])
      if (typeof value === 'object' && value !== null) visit(value as Record<string, unknown>)
    }
  }
  visit(copy)
  const [owner, name] = places[where % places.length]!
  if (how === 'replace') owner[name] = junk
  else if (how === 'drop') Array.isArray(owner) ? owner.splice(Number(name), 1) : delete owner[name]
  else if (Array.isArray(owner)) how === 'twice' ? owner.push(structuredClone(owner[Number(name)])) : owner.reverse()
  return copy.content
}

describe.each(Object.keys(types))('a forged payload of type %s', (type) => {
  test('is an error reply, or a value that all commands can use', () => {
    let refused = 0
    const property = fc.property(fc.array(edit, { minLength: 1, maxLength: 2 }), (edits) => {
      const { store, run, line } = world()
      line('HSET p:1 name x size 2')
      const content = edits.reduce(edited, contents[type])
      const reply = run(...['RESTORE', 'k', '0'].map(latin1), payloadOf(content))
      if (reply === damaged) {
        refused++
        expect(line('EXISTS k')).toBe(0)
        return
      }
      expect(reply).toMatchObject({ text: 'OK' })
      store.load(store.dump())
      for (const one of [...types[type]![1], ...everywhere]) line(one)
    })
    fc.assert(property, { numRuns: runs(25, 300, 3000), seed: seedOr(1) })
    expect(refused).toBeGreaterThan(5)
  })

  test('that was not changed is restored', () => {
    const { run, line } = world()
    expect(run(...['RESTORE', 'k', '0'].map(latin1), payloadOf(contents[type]))).toMatchObject({ text: 'OK' })
    expect(jsonOf(line('DUMP k') as Bytes)).toEqual(contents[type])
  })
})

test.each([[null], [{}], [5], ['#!lua name=a'], [[1]], [[null]], [[{ base64: '!' }]]])(
  'a forged payload of functions, %j, is an error reply',
  (content) => {
    const { run, line } = world()
    const payload = sealed(utf8(JSON.stringify(content)), 'SF\x01')
    expect(run(...['FUNCTION', 'RESTORE'].map(latin1), payload)).toBe(damaged)
    expect(line('FUNCTION LIST')).toEqual([])
  },
)

test.each([['not JSON'], ['"'], ['[]'], ['null'], ['7'], [`${'['.repeat(100_000)}${']'.repeat(100_000)}`]])(
  'a payload that contains %.20s is an error reply',
  (content) => {
    expect(world().run(...['RESTORE', 'k', '0'].map(latin1), sealed(latin1(content), mark))).toBe(damaged)
  },
)

test('the work for the elements of a payload counts', () => {
  const { store } = createSandbox({ onWarning: () => {} })
  const { engine } = storeInternals.of(store)
  const restore = (elements: number) => {
    const payload = payloadOf({ type: 'list', elements: new Array(elements).fill('') })
    engine.execute([...['RESTORE', 'k', '0'].map(latin1), payload, latin1('REPLACE')])
  }
  restore(100_000)
  expect(store.run('LLEN', 'k')).toBe(100_000)
  expect(() => restore(200_000)).toThrow('max work exceeded')
})
