import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { PlainReply } from '../../../src/store/direct-store.js'
import { runs } from '../../support/effort.js'
import { type Field, Naive } from './naive.js'
import { keysOf, running, searchingSandbox } from './searching.js'

// Several values in one field: JSON arrays in the texts of hashes and streams. [search.md 11]

let run: ReturnType<typeof running>

beforeEach(async () => {
  run = running(await searchingSandbox())
})

const schema = 't TEXT k KEYWORD u U64 FAST f F64 FAST d DATE FAST b BOOL FAST c FACET'
const kinds = {
  hash: ['SEARCH.CREATE i ON HASH PREFIX 1 x: SCHEMA', 'HSET x:1'],
  stream: ['SEARCH.CREATE i ON STREAM x SCHEMA', 'XADD x 1-0'],
} as const

/** Returns whether each policy finds one document with this field, in a hash and in a stream. */
async function found(field: string, value: string, filter: unknown): Promise<Record<string, readonly boolean[]>> {
  const results: Record<string, readonly boolean[]> = {}
  for (const searchJsonArrays of ['all', 'streams', 'never'] as const) {
    results[searchJsonArrays] = await Promise.all(
      Object.values(kinds).map(async ([create, write]) => {
        const run = running(await searchingSandbox({ policy: { searchJsonArrays } }))
        run(`${create} ${schema} o KEYWORD`)
        run(`${write} o x ${field}`, value)
        return run('SEARCH.COUNT i', JSON.stringify({ [field]: filter })) === 1
      }),
    )
  }
  return results
}

const everywhere = { all: [true, true], streams: [false, true], never: [false, false] }
const inStreams = { all: [false, true], streams: [false, true], never: [false, false] }
const nowhere = { all: [false, false], streams: [false, false], never: [false, false] }

describe('policy.searchJsonArrays', () => {
  it.each<[field: string, value: string, filter: unknown, expected: object]>([
    ['k', '["x","y"]', 'x', everywhere],
    ['k', '["x","y"]', { $in: ['z', 'y'] }, everywhere],
    ['k', ' [ "x" , "y" ] ', 'y', everywhere],
    ['k', '[["x"],"y"]', 'x', everywhere],
    ['k', '["x","y"]', { $gte: 'y', $lt: 'z' }, everywhere],
    ['k', '[1,"y"]', '1', nowhere],
    ['k', '[]', '[]', { all: [false, false], streams: [true, false], never: [true, true] }],
    ['k', '["x","y"]', '["x","y"]', { all: [false, false], streams: [true, false], never: [true, true] }],
    // No JSON, or no array.
    ['k', '[x]', '[x]', { all: [true, true], streams: [true, true], never: [true, true] }],
    ['k', '"x"', 'x', nowhere],
    ['k', '{"a":["x"]}', 'x', nowhere],
    ['k', '["x"] y', '["x"] y', { all: [true, true], streams: [true, true], never: [true, true] }],
    [
      't',
      '["red shoe","blue hat"]',
      { $phrase: 'red shoe' },
      { all: [true, true], streams: [true, true], never: [true, true] },
    ],
    [
      't',
      '["red shoe","blue hat"]',
      { $phrase: 'shoe blue' },
      { all: [false, false], streams: [true, false], never: [true, true] },
    ],
    [
      't',
      '["red shoe","blue hat"]',
      { $phrase: { value: 'red hat', slop: 10_000 } },
      { all: [false, false], streams: [true, false], never: [true, true] },
    ],
    [
      't',
      '["red shoe","blue hat"]',
      { $phrase: { value: 'shoe bl', prefix: true } },
      { all: [false, false], streams: [true, false], never: [true, true] },
    ],
    ['t', '["red",7]', '7', { all: [false, false], streams: [true, false], never: [true, true] }],
    ['u', '[1,5]', { $gte: 5 }, inStreams],
    ['u', '[1,"5",-7]', { $gte: 2 }, nowhere],
    ['u', '[18446744073709551615]', { $gte: 9 }, inStreams],
    ['f', '[1,2.5]', 2.5, inStreams],
    ['d', '["2024-01-01","2025-01-01T00:00:00Z"]', { $gt: '2024-06-01' }, inStreams],
    ['b', '[true]', true, nowhere],
    ['c', '["/a"]', '/a', nowhere],
  ])('%s %s is found by %j where the policy says so', async (field, value, filter, expected) => {
    expect(await found(field, value, filter)).toEqual(expected)
  })

  it('does not concern JSON and STRING indexes, whose arrays always count as several values', async () => {
    run = running(await searchingSandbox({ policy: { searchJsonArrays: 'never' } }))
    run('SEARCH.CREATE j ON JSON PREFIX 1 j: SCHEMA k KEYWORD')
    run('SEARCH.CREATE s ON STRING PREFIX 1 s: SCHEMA k KEYWORD')
    for (const write of ['JSON.SET j:1 $', 'SET s:1']) run(write, '{"k":["x","y"]}')
    for (const write of ['JSON.SET j:2 $', 'SET s:2']) run(write, JSON.stringify({ k: '["x"]' }))
    expect(keysOf(run('SEARCH.QUERY j', '{"k":"x"}'))).toEqual(['j:1'])
    expect(keysOf(run('SEARCH.QUERY s', '{"k":"x"}'))).toEqual(['s:1'])
  })

  it('replaces the values of an element that is written again', () => {
    run(`${kinds.hash[0]} k KEYWORD`)
    const counts = () => ['a', 'b', 'c'].map((k) => run('SEARCH.COUNT i', JSON.stringify({ k })))
    run('HSET x:1 k', '["a","b"]')
    expect(counts()).toEqual([1, 1, 0])
    run('HSET x:1 k', '["b","c"]')
    expect(counts()).toEqual([0, 1, 1])
    run('HSET x:1 k c')
    expect(counts()).toEqual([0, 0, 1])
  })
})

describe('HIGHLIGHT in an array', () => {
  const marked = (field: string, filter: unknown): string => {
    const rows = run(
      'SEARCH.QUERY i',
      JSON.stringify(filter),
      ...`HIGHLIGHT FIELDS 1 ${field} SELECT 1 ${field}`.split(' '),
    )
    return ((rows as PlainReply[][])[0]![2] as string[][])[0]![1]!
  }

  it.each(Object.entries(kinds))('marks elements and keeps the others: %s', (_kind, [create, write]) => {
    run(`${create} t TEXT k KEYWORD`)
    run(`${write} k`, '["x", "y"]', 't', '["hello world","foo & bar",7]')
    expect(marked('t', { t: 'hello' })).toBe('["<em>hello</em> world","foo & bar",7]')
    expect(marked('k', { k: 'y' })).toBe('["x","<em>y</em>"]')
    // Without marks, the text does not change.
    expect(marked('k', { t: 'hello' })).toBe('["x", "y"]')
    expect(run('SEARCH.QUERY i', '{"k":"y"}', 'SELECT', 1, 'k')).toEqual([
      [expect.any(String), '1', [['k', '["x", "y"]']]],
    ])
  })

  it('escapes marks, and marks nested elements', () => {
    run(`${kinds.hash[0]} t TEXT`)
    run('HSET x:1 t', '[["say \\"hello\\""],null,{"t":"hello"},"ü hello"]')
    const rows = run('SEARCH.QUERY i', '{"t":"hello"}', ...'HIGHLIGHT FIELDS 1 t TAGS " \\'.split(' '))
    const [[, text]] = (rows as string[][][][])[0]![2] as unknown as [[string, string]]
    expect(JSON.parse(text)).toEqual([['say ""hello\\"'], null, { t: 'hello' }, 'ü "hello\\'])
  })

  it('marks the text as before if it is no array to the policy', async () => {
    run = running(await searchingSandbox({ policy: { searchJsonArrays: 'streams' } }))
    run(`${kinds.hash[0]} t TEXT`)
    run('HSET x:1 t', '["a", "b"]')
    expect(marked('t', { t: 'b' })).toBe('["a", "<em>b</em>"]')
  })
})

describe('aggregations', () => {
  it('count a document in the bucket of each element', () => {
    run(`${kinds.stream[0]} k KEYWORD u U64 FAST`)
    run('XADD x 1-0 k', '["a","b","a"]', 'u', '[1,2,3]')
    run('XADD x 2-0 k b u 4')
    expect(run('SEARCH.AGGREGATE i', '{}', '{"k":{"$terms":{"field":"k"}},"u":{"$sum":{"field":"u"}}}')).toEqual([
      ...[
        'k',
        [
          'buckets',
          [
            ['key', 'b', 'docCount', 2],
            ['key', 'a', 'docCount', 1],
          ],
          'sumOtherDocCount',
          0,
          'docCountErrorUpperBound',
          0,
        ],
      ],
      ...['u', ['value', 10]],
    ])
  })
})

// ---- Against a naive match of each element ----------------------------------------------------------------------

const fields: readonly Field[] = [
  { path: 't', type: 'TEXT' },
  { path: 'w', type: 'TEXT', noTokenize: true },
  { path: 'k', type: 'KEYWORD' },
]
const word = fc.constantFrom('red', 'shoe', 'shoes', 'blue', 'a', 'red shoe', 'blue red', '', '[', 'Red', '1')
const element: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: word },
  fc.constantFrom(1, true, null, ['red'], { t: 'red' }),
)
const value: fc.Arbitrary<string> = fc.oneof(
  word,
  fc.array(element, { maxLength: 4 }).map((all) => JSON.stringify(all)),
  fc.array(word, { maxLength: 3 }).map((all) => JSON.stringify(all, null, 1)),
  fc.constantFrom('["red"', '[red, shoe]', '["red"] shoe', '{"t":["red"]}'),
)
const entry = fc.record({ t: value, w: value, k: value }, { requiredKeys: [] })
const path = fc.constantFrom('t', 'w', 'k')
const asked = fc.constantFrom('red', 'shoe', 'blue red', 'red shoe', '1', 'reed', '[')
const filter: fc.Arbitrary<object> = fc.oneof(
  fc.tuple(path, asked).map(([path, value]) => ({ [path]: value })),
  fc.tuple(path, asked).map(([path, value]) => ({ [path]: { $eq: value } })),
  fc.tuple(path, asked, asked).map(([path, one, other]) => ({ [path]: { $in: [one, other] } })),
  fc.tuple(asked, fc.constantFrom(0, 1, 3, 10_000)).map(([value, slop]) => ({ t: { $phrase: { value, slop } } })),
  asked.map((value) => ({ t: { $phrase: { value, prefix: true } } })),
  asked.map((value) => ({ t: { $fuzzy: value } })),
  fc.constantFrom({ t: { $regex: 're.*' } }, { w: { $regex: '.*shoe' } }, { k: { $gt: 'b' } }, { k: { $lte: 'red' } }),
  fc.tuple(asked, asked).map(([one, other]) => ({ $must: [{ t: one }, { k: { $eq: other } }] })),
)

/** Returns the value of a text: the elements of an array, or the text. */
function valueIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : text
  } catch {
    return text
  }
}

it.each(Object.entries(kinds))(
  'a filter finds a document if one of its elements matches: %s',
  async (kind, [create]) => {
    const naive = new Naive(fields)
    const run = running(await searchingSandbox())
    const asKey = (at: number) => (kind === 'hash' ? `x:${at}` : `${at}-0`)
    fc.assert(
      fc.property(
        fc.array(entry, { minLength: 1, maxLength: 6 }),
        fc.array(filter, { minLength: 3, maxLength: 3 }),
        (entries, filters) => {
          run('FLUSHDB')
          run(`${create} t TEXT w TEXT NOTOKENIZE k KEYWORD`)
          const documents = entries.map((fields, at) => {
            const words = Object.entries({ ...fields, more: 'x' }).flat()
            if (kind === 'hash') run(`HSET ${asKey(at + 1)}`, ...words)
            else run(`XADD x ${asKey(at + 1)}`, ...words)
            // A stream leaves out empty values, which neither kind finds by words.
            const isKept = (one: unknown) => kind === 'hash' || one !== ''
            const values = Object.entries(fields).map(([name, text]) => [name, [valueIn(text!)].flat(1).filter(isKept)])
            return [asKey(at + 1), Object.fromEntries(values)] as const
          })
          for (const one of filters) {
            const expected = documents.filter(([, document]) => naive.finds(document, one as never)).map(([key]) => key)
            const rows = run('SEARCH.QUERY i', JSON.stringify(one), 'NOCONTENT')
            expect(keysOf(rows).sort(), JSON.stringify(one)).toEqual(expected)
          }
        },
      ),
      { numRuns: runs(150, 300, 3000) },
    )
  },
)

it('a range of a stream finds an entry if one of its numbers or dates is within', async () => {
  const run = running(await searchingSandbox())
  const number = fc.integer({ min: 0, max: 9 })
  const day = number.map((at) => `2024-01-0${at + 1}T00:00:00Z`)
  const row = fc.record({
    u: fc.oneof(
      number,
      fc.array(fc.oneof({ weight: 5, arbitrary: number }, fc.constantFrom('3', null, -1, 1.5)), { maxLength: 4 }),
    ),
    d: fc.oneof(day, fc.array(fc.oneof({ weight: 5, arbitrary: day }, fc.constantFrom(3, 'soon')), { maxLength: 4 })),
  })
  const isWhole = (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 6 }), number, number, (rows, low, high) => {
      run('FLUSHDB')
      run(`SEARCH.CREATE i ON STREAM x SCHEMA u U64 FAST d DATE FAST`)
      const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
      for (const [at, { u, d }] of rows.entries()) run(`XADD x ${at + 1}-0 u`, textOf(u), 'd', textOf(d))
      const keys = (holds: (row: (typeof rows)[number]) => boolean) =>
        rows.flatMap((row, at) => (holds(row) ? [`${at + 1}-0`] : []))
      const found = (filter: object) => keysOf(run('SEARCH.QUERY i', JSON.stringify(filter), 'NOCONTENT')).sort()
      expect(found({ u: { $gte: low, $lt: high } })).toEqual(
        keys(({ u }) => [u].flat().some((one) => isWhole(one) && one >= low && one < high)),
      )
      const time = (at: number) => Date.UTC(2024, 0, at + 1)
      expect(found({ d: { $gt: new Date(time(low)).toISOString() } })).toEqual(
        keys(({ d }) => [d].flat().some((one) => typeof one === 'string' && Date.parse(one) > time(low))),
      )
    }),
    { numRuns: runs(100, 200, 2000) },
  )
})
