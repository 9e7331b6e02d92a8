import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../support/effort.js'
import { type Field, type Json, Naive } from './naive.js'
import { keysOf, running, searchingSandbox } from './searching.js'

// Random documents and filters: the search engine finds the same as a check of every document.

const dialect = [
  'run',
  'running',
  'Runner',
  'laptop',
  'Laptops',
  'laptpo',
  'red',
  'a',
  'an',
  'über',
  'Straße',
  'x1',
  'new',
]

const fields: readonly Field[] = [
  { path: 't', type: 'TEXT' },
  { path: 'n.s', type: 'TEXT', noStem: true },
  { path: 'w', type: 'TEXT', noTokenize: true },
  { path: 'k', type: 'KEYWORD' },
  { path: 'u', type: 'U64' },
  { path: 'n.f', type: 'F64' },
  { path: 'b', type: 'BOOL' },
  { path: 'd', type: 'DATE' },
  { path: 'c', type: 'FACET' },
]

const phrase = fc
  .array(fc.constantFrom(...dialect), { minLength: 1, maxLength: 4 })
  .chain((words) => fc.constantFrom(' ', '-', ', ').map((between) => words.join(between)))
const short = fc.constantFrom('red', 'new', 'Red', 'a b', '')
const whole = fc.integer({ min: 0, max: 6 })
const fraction = fc.constantFrom(-1.5, 0, 0.5, 1, 2, 1e10)
const day = fc.constantFrom(
  '2024-01-01',
  '2024-01-01T00:00:00Z',
  '2024-01-01T12:00:00.000Z',
  '2023-05-05T00:00:00+02:00',
)
const facet = fc.constantFrom('/', '/a', '/a/b', '/a/b/c', '/ab', '/x')
const odd: fc.Arbitrary<Json> = fc.constantFrom<Json[]>(null, 'text', -1, 2.5, true, {}, '12')

/** Returns values that usually have the field's type, sometimes several or another type. */
function stored(of: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.oneof(
    { weight: 8, arbitrary: of },
    { weight: 2, arbitrary: fc.array(of, { maxLength: 3 }) },
    { weight: 1, arbitrary: odd },
  )
}

const document = fc.record(
  {
    t: stored(phrase),
    n: fc.oneof(
      { weight: 5, arbitrary: fc.record({ s: stored(phrase), f: stored(fraction) }, { requiredKeys: [] }) },
      {
        weight: 1,
        arbitrary: fc.array(fc.record({ s: stored(phrase), f: stored(fraction) }, { requiredKeys: [] }), {
          maxLength: 3,
        }),
      },
    ),
    w: stored(phrase),
    k: stored(short),
    u: stored(whole),
    b: stored(fc.boolean()),
    d: stored(day),
    c: stored(facet),
    extra: odd,
  },
  { requiredKeys: [] },
) as unknown as fc.Arbitrary<{ readonly [name: string]: Json }>

const boost = fc.option(fc.constantFrom(0.5, 2, -1, 10), { nil: undefined })

function condition(of: Record<string, fc.Arbitrary<Json>>): fc.Arbitrary<Json> {
  return fc
    .tuple(fc.record(of as Record<string, fc.Arbitrary<Json>>, { requiredKeys: [] }), boost)
    .filter(([made]) => Object.keys(made).length > 0)
    .map(([made, boost]) => (boost === undefined ? made : { ...made, $boost: boost })) as fc.Arbitrary<Json>
}

function many(of: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.array(of, { maxLength: 3 })
}

const quoted = phrase.map((text) => `"${text}"`)
const patterns = fc.constantFrom(
  'run.*',
  'l.pt.*',
  '[a-r]+',
  '.*',
  'RUN',
  'laptop|red',
  'x[0-9]{1}',
  '.*-.*',
  'nothing',
  '(?:re)?d|new?',
)

function text(): fc.Arbitrary<Json> {
  const phrased = fc.oneof(
    phrase,
    fc.record({ value: phrase }),
    fc.record({ value: phrase, slop: fc.integer({ min: 0, max: 4 }) }),
    fc.record({ value: phrase, prefix: fc.boolean() }),
  )
  const fuzzy = fc.oneof(
    phrase,
    fc.record(
      { value: phrase, distance: fc.constantFrom(1, 2), transpositionCostOne: fc.boolean(), prefix: fc.boolean() },
      { requiredKeys: ['value'] },
    ),
  )
  return fc.oneof(
    phrase,
    quoted,
    condition({ $smart: fc.oneof(phrase, quoted) }),
    condition({ $eq: phrase }),
    condition({ $in: many(phrase) }),
    condition({ $phrase: phrased as fc.Arbitrary<Json> }),
    condition({ $fuzzy: fuzzy as fc.Arbitrary<Json> }),
    condition({ $regex: patterns }),
  )
}

function ordered(of: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.oneof(
    of,
    condition({ $eq: of }),
    condition({ $in: many(of) }),
    condition({ $gt: of, $gte: of, $lt: of, $lte: of }),
  )
}

function exact(of: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.oneof(of, condition({ $eq: of, $smart: of }), condition({ $in: many(of) }))
}

const conditions: fc.Arbitrary<{ readonly [name: string]: Json }> = fc.oneof(
  fc.record({ t: text() }),
  fc.record({ 'n.s': text() }),
  fc.record({ w: text() }),
  fc.record({ k: ordered(short) }),
  fc.record({ u: ordered(fc.oneof(whole, fc.constantFrom(2.5, -1))) }),
  fc.record({ 'n.f': ordered(fraction) }),
  fc.record({ b: exact(fc.boolean()) }),
  fc.record({ d: ordered(day) }),
  fc.record({ c: exact(facet) }),
  fc.record({ u: ordered(whole), k: ordered(short) }),
)

const { filter } = fc.letrec<{ filter: { readonly [name: string]: Json }; parts: Json }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    conditions,
    fc
      .record(
        { $must: tie('parts'), $should: tie('parts'), $mustNot: tie('parts'), $boost: fc.constantFrom(2, 0.5) },
        { requiredKeys: [] },
      )
      .filter((made) => Object.keys(made).length > 0),
    fc.record({ $and: tie('parts'), $or: tie('parts'), $mustNot: tie('parts') }, { requiredKeys: [] }),
    fc
      .tuple(conditions, fc.record({ $should: tie('parts'), $mustNot: tie('parts') }, { requiredKeys: [] }))
      .map(([a, b]) => ({ ...a, ...b })),
  ) as fc.Arbitrary<{ readonly [name: string]: Json }>,
  parts: fc.oneof(fc.array(tie('filter'), { maxLength: 3 }), tie('filter')) as fc.Arbitrary<Json>,
}))

const schema =
  't TEXT n.s TEXT NOSTEM w TEXT NOTOKENIZE k KEYWORD u U64 FAST n.f F64 FAST b BOOL d DATE FAST c FACET'.split(' ')

it.each(['JSON', 'STRING'])('a filter finds the same as a check of every document: %s', async (type) => {
  const naive = new Naive(fields)
  const sandbox = await searchingSandbox()
  const run = running(sandbox)
  fc.assert(
    fc.property(
      fc.array(document, { maxLength: 8 }),
      fc.array(filter, { minLength: 1, maxLength: 6 }),
      (documents, filters) => {
        run('FLUSHDB')
        const write = (at: number, document: Json) =>
          type === 'JSON'
            ? run('JSON.SET', `x:${at}`, '$', JSON.stringify(document))
            : run('SET', `x:${at}`, JSON.stringify(document))
        // Some documents exist before the index, some are added later, some change.
        for (const [at, one] of documents.entries())
          if (at % 2 === 0) write(at, documents[documents.length - 1 - at] ?? one)
        run(`SEARCH.CREATE i ON ${type} PREFIX 1 x: SCHEMA`, ...schema)
        run('SEARCH.COUNT i', '{}')
        for (const [at, one] of documents.entries()) write(at, one)
        for (const one of filters) {
          const wanted = documents.flatMap((each, at) => (naive.finds(each, one) ? [`x:${at}`] : []))
          const text = JSON.stringify(one)
          expect(run('SEARCH.COUNT i', text), text).toBe(wanted.length)
          expect(keysOf(run('SEARCH.QUERY i', text, 'LIMIT', 100)).sort(), text).toEqual(wanted.sort())
        }
      },
    ),
    { numRuns: runs(300, 300, 3000) },
  )
})

it.each([
  ['U64', '-1', 0],
  ['U64', '-9007199254740993', 0],
  ['U64', '0', 1],
  ['U64', '-0', 1],
  ['U64', '3.0', 1],
  ['I64', '-1', 1],
  ['I64', '-9007199254740991', 1],
  ['I64', '-9223372036854775808', 1],
])('a field of type %s contains or omits %s, by the range of its type [search.md 11]', async (type, value, count) => {
  const run = running(await searchingSandbox())
  run(`SEARCH.CREATE i ON JSON PREFIX 1 x: SCHEMA n ${type} FAST`)
  run('JSON.SET x:1 $', `{"n":${value}}`)
  expect(run('SEARCH.COUNT i', '{"n":{"$lt":5}}')).toBe(count)
})
