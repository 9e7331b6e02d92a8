import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.js'
import type { CommandArg, PlainReply } from '../../../src/store/direct-store.js'
import { runs } from '../../support/effort.js'
import { searchingSandbox } from './searching.js'

// HYBRID fields and retrievers. [search.md 16]

const topics = ['cat', 'dog', 'stock']
/** Counts words, so that the similarity of two texts is easy to see. */
const embed = (texts: readonly string[]): Float32Array[] =>
  texts.map((text) => Float32Array.from(topics, (topic) => text.toLowerCase().split(topic).length - 1))

const documents = {
  'd:1': { t: 'cat cat dog', n: 1 },
  'd:2': { t: 'dog', n: 2 },
  'd:3': { t: 'stock stock', n: 3 },
  'd:4': { t: 'cat', n: 4 },
} as const

type Run = (...words: CommandArg[]) => PlainReply

async function world(
  options: SandboxOptions = { embed },
): Promise<{ run: Run; ask: (query: object, ...more: CommandArg[]) => PlainReply }> {
  const sandbox = await searchingSandbox(options)
  const run: Run = (...words) => {
    try {
      return sandbox.store.run(...(words as [string]))
    } catch (error) {
      return (error as Error).message
    }
  }
  run('SEARCH.CREATE', 'i', ...'ON HASH PREFIX 1 d: SCHEMA t HYBRID n U64 FAST'.split(' '))
  for (const [key, { t, n }] of Object.entries(documents)) run('HSET', key, 't', t, 'n', n)
  return { run, ask: (query, ...more) => run('SEARCH.QUERY', 'i', JSON.stringify(query), 'NOCONTENT', ...more) }
}

const scored = (reply: PlainReply): [string, number][] =>
  (reply as [string, string][]).map(([key, score]) => [key, Number(score)])

describe('a HYBRID field', () => {
  it('has the operators and options of TEXT, also without embed', async () => {
    const { run } = await world({})
    const keys = (filter: object): unknown => run('SEARCH.COUNT', 'i', JSON.stringify(filter))
    expect(keys({ t: 'cat' })).toBe(2)
    expect(keys({ t: { $phrase: 'cat dog' } })).toBe(1)
    expect(keys({ t: { $fuzzy: 'stok' } })).toBe(1)
    expect(run('SEARCH.DESCRIBE', 'i')).toContainEqual([
      ['t', 'HYBRID'],
      ['n', 'U64', 'FAST'],
    ])
    expect(run('SEARCH.CREATE', 'j', ...'ON JSON PREFIX 1 j: SCHEMA t HYBRID NOSTEM FROM u'.split(' '))).toBe(1)
    expect(run('SEARCH.CREATE', 'k', ...'ON JSON PREFIX 1 k: SCHEMA t HYBRID FAST'.split(' '))).toContain('FAST')
    const [[, , content]] = run('SEARCH.QUERY', 'i', '{"t":"stock"}', 'HIGHLIGHT', 'FIELDS', 1, 't') as [
      [string, string, string[][]],
    ]
    expect(content).toContainEqual(['t', '<em>stock</em> <em>stock</em>'])
  })

  it('survives dumps', async () => {
    const sandbox = await searchingSandbox({ embed })
    sandbox.store.run('SEARCH.CREATE', 'i', ...'ON HASH PREFIX 1 d: SCHEMA t HYBRID'.split(' '))
    const other = await searchingSandbox()
    other.store.load(JSON.parse(JSON.stringify(sandbox.store.dump())))
    expect(other.store.dump()).toEqual(sandbox.store.dump())
  })
})

describe('$ann', () => {
  it('finds the most similar texts, best first', async () => {
    const { ask } = await world()
    expect(scored(ask({ $ann: { field: 't', query: 'a cat' } }))).toEqual([
      ['d:4', 1],
      ['d:1', 0.9472136],
      ['d:2', 0.5],
      ['d:3', 0.5],
    ])
    expect(scored(ask({ $ann: { field: 't', query: 'a cat', profile: 'precise' } }, 'LIMIT', 1, 'OFFSET', 1))).toEqual([
      ['d:1', 0.9472136],
    ])
  })

  it('selects by a filter, which does not score', async () => {
    const { ask } = await world()
    const query = { $ann: { field: 't', query: 'cat', filter: { n: { $lt: 4 }, t: 'dog' } } }
    expect(scored(ask(query))).toEqual([
      ['d:1', 0.9472136],
      ['d:2', 0.5],
    ])
  })

  it('follows writes', async () => {
    const { run, ask } = await world()
    const first = (): string | undefined => scored(ask({ $ann: { field: 't', query: 'stock' } }))[0]?.[0]
    expect(first()).toBe('d:3')
    run('HSET', 'd:2', 't', 'stock')
    run('DEL', 'd:3')
    expect(first()).toBe('d:2')
    run('HDEL', 'd:2', 't')
    expect(scored(ask({ $ann: { field: 't', query: 'stock' } })).map(([key]) => key)).toEqual(['d:1', 'd:4'])
    run('HSET', 'd:3', 't', 'stock')
    expect(first()).toBe('d:3')
  })

  it('needs the option embed, and the error names it', async () => {
    const { run, ask } = await world({})
    const needs = 'ERR $ann needs embeddings, and the sandbox has no model: pass createSandbox({ embed })'
    expect(ask({ $ann: { field: 't', query: 'cat' } })).toBe(needs)
    expect(ask({ $rrf: { retrievers: [{ t: 'cat' }, { $ann: { field: 't', query: 'cat' } }] } })).toBe(needs)
    expect(scored(ask({ $rrf: { retrievers: [{ t: 'cat' }, { n: 4 }] } }))).toHaveLength(2)
    expect(run('SEARCH.COUNT', 'i', '{"$ann":{"field":"t","query":"cat"}}')).toBe(
      'ERR $ann is not allowed in SEARCH.COUNT',
    )
  })

  it.each([
    [{ $ann: { field: 'n', query: 'x' } }, "ERR Field 'n' is not HYBRID"],
    [{ $ann: { field: 'x', query: 'x' } }, 'ERR Unknown field: x'],
    [{ $ann: { field: 't', query: '' } }, 'ERR $ann.query is empty'],
    [{ $ann: { field: 't' } }, 'ERR $ann.query must be a text'],
    [{ $ann: { field: 't', query: 'x', profile: 'slow' } }, 'ERR $ann.profile must be fast, balanced or precise'],
    [{ $ann: { field: 't', query: 'x', weight: 1 } }, 'ERR $ann.weight is only allowed in $rrf'],
    [{ $ann: { field: 't', query: 'x', top: 1 } }, 'ERR Unknown member of $ann: top'],
    [{ $ann: { field: 't', query: 'x', filter: 1 } }, 'ERR $ann.filter must be an object'],
    [{ $ann: { field: 't', query: 'x' }, n: 1 }, 'ERR $ann must be the only member of a query'],
    [{ $must: { $ann: { field: 't', query: 'x' } } }, 'ERR Unknown operator: $ann'],
    [{ $standard: { query: { n: 1 }, weight: 2 } }, 'ERR $standard.weight is only allowed in $rrf'],
    [{ $standard: { n: 1 } }, 'ERR Unknown member of $standard: n'],
    [{ $standard: {} }, 'ERR $standard.query must be an object'],
    [{ $rrf: { retrievers: [{ n: 1 }] } }, 'ERR $rrf needs 2 to 10 retrievers'],
    [{ $rrf: { retrievers: Array.from({ length: 11 }, () => ({ n: 1 })) } }, 'ERR $rrf needs 2 to 10 retrievers'],
    [{ $rrf: {} }, 'ERR $rrf needs 2 to 10 retrievers'],
    [{ $rrf: { retrievers: [{ n: 1 }, 1] } }, 'ERR $rrf.retrievers must be objects'],
    [{ $rrf: { retrievers: [{ n: 1 }, { $rrf: {} }] } }, 'ERR Unknown operator: $rrf'],
    [{ $rrf: { retrievers: [{ n: 1 }, { n: 2 }], window: 0 } }, 'ERR $rrf.window must be between 1 and 11000'],
    [{ $rrf: { retrievers: [{ n: 1 }, { n: 2 }], window: 1.5 } }, 'ERR $rrf.window must be between 1 and 11000'],
    [
      { $rrf: { retrievers: [{ n: 1 }, { n: 2 }], rankConstant: null } },
      'ERR $rrf.rankConstant must be between 1 and 2147483647',
    ],
    [
      { $rrf: { retrievers: [{ n: 1 }, { n: 2 }], rankConstant: 2 ** 31 } },
      'ERR $rrf.rankConstant must be between 1 and 2147483647',
    ],
    [
      { $rrf: { retrievers: [{ n: 1 }, { $standard: { query: {}, weight: -1 } }] } },
      'ERR $standard.weight must be a number of at least 0',
    ],
  ])('rejects %j', async (query, error) => {
    const { ask } = await world()
    expect(ask(query)).toBe(error)
  })
})

describe('$rrf and $standard', () => {
  /** A = [d1, d2], B = [d2, d3], as in search.md 16. */
  async function lists(): Promise<(rrf: object, ...more: CommandArg[]) => PlainReply> {
    const { store } = await searchingSandbox({ policy: { searchScore: 'constant' } })
    store.run('SEARCH.CREATE', 'i', ...'ON HASH PREFIX 1 d SCHEMA a KEYWORD b KEYWORD'.split(' '))
    store.run('HSET', 'd1', 'a', 'x')
    store.run('HSET', 'd2', 'a', 'x', 'b', 'y')
    store.run('HSET', 'd3', 'b', 'y')
    return (rrf, ...more) => store.run('SEARCH.QUERY', 'i', JSON.stringify({ $rrf: rrf }), 'NOCONTENT', ...more)
  }
  const a = { a: 'x' }
  const b = { b: 'y' }
  const rounded = (reply: PlainReply): unknown => scored(reply).map(([key, score]) => [key, score.toFixed(8)])

  it('add up 1 / (60 + rank)', async () => {
    const ask = await lists()
    expect(rounded(ask({ retrievers: [a, b] }))).toEqual([
      ['d2', '0.03252247'],
      ['d1', '0.01639344'],
      ['d3', '0.01612903'],
    ])
    expect(rounded(ask({ retrievers: [a, { $standard: { query: b, weight: 0 } }] }))).toEqual([
      ['d1', '0.01639344'],
      ['d2', '0.01612903'],
      ['d3', '0.00000000'],
    ])
    expect(rounded(ask({ retrievers: [a, b], window: 1 }))).toEqual([
      ['d1', '0.01639344'],
      ['d2', '0.01639344'],
    ])
    expect(ask({ retrievers: [a, b], window: 2 }, 'OFFSET', 2)).toEqual([])
    expect(rounded(ask({ retrievers: [a, b], rankConstant: 1 }, 'LIMIT', 1))).toEqual([['d1', '0.50000000']])
  })

  it('work in COUNT and AGGREGATE', async () => {
    const { run } = await world({})
    const query = JSON.stringify({ $rrf: { retrievers: [{ t: 'cat' }, { $standard: { query: { n: { $gte: 3 } } } }] } })
    expect(run('SEARCH.COUNT', 'i', query)).toBe(3)
    expect(run('SEARCH.AGGREGATE', 'i', query, '{"sum":{"$sum":{"field":"n"}}}')).toEqual(['sum', ['value', 8]])
    expect(run('SEARCH.COUNT', 'i', '{"$standard":{"query":{"t":"cat"}}}')).toBe(2)
    expect(run('SEARCH.AGGREGATE', 'i', '{"$ann":{"field":"t","query":"x"}}', '{"sum":{"$sum":{"field":"n"}}}')).toBe(
      'ERR $ann is not allowed in SEARCH.AGGREGATE',
    )
  })

  it('$standard is the same as its query', async () => {
    const { ask } = await world({})
    const filter = { t: 'cat dog' }
    expect(ask({ $standard: { query: filter } })).toEqual(ask(filter))
    expect(ask({ $standard: { query: filter } }, 'ORDERBY', 'n')).toEqual(ask(filter, 'ORDERBY', 'n'))
  })

  it('equal the formula over lists that are asked one by one', async () => {
    const word = fc.constantFrom('cat', 'dog', 'stock', 'bird')
    const text = fc.array(word, { maxLength: 5 }).map((words) => words.join(' '))
    const part = fc.oneof(
      fc.record({ filter: fc.record({ t: word }), weight: fc.constantFrom(undefined, 0, 1, 2.5) }),
      fc.record({ ann: word, weight: fc.constantFrom(undefined, 0, 0.5) }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { maxLength: 12 }),
        fc.array(part, { minLength: 2, maxLength: 4 }),
        fc.option(fc.integer({ min: 1, max: 15 }), { nil: undefined }),
        fc.constantFrom(undefined, 1, 10),
        fc.integer({ min: 1, max: 15 }),
        async (texts, parts, window, rankConstant, limit) => {
          const { store } = await searchingSandbox({ embed })
          store.run('SEARCH.CREATE', 'i', ...'ON HASH PREFIX 1 d: SCHEMA t HYBRID'.split(' '))
          for (const [at, t] of texts.entries()) store.run('HSET', `d:${String(at).padStart(2, '0')}`, 't', t)
          const ask = (query: object, most: number): [string, number][] =>
            scored(store.run('SEARCH.QUERY', 'i', JSON.stringify(query), 'LIMIT', most, 'NOCONTENT'))
          const retrievers = parts.map((one) =>
            'filter' in one
              ? one.weight === undefined
                ? one.filter
                : { $standard: { query: one.filter, weight: one.weight } }
              : { $ann: { field: 't', query: one.ann, ...(one.weight !== undefined && { weight: one.weight }) } },
          )
          const scores = new Map<string, number>()
          for (const one of parts) {
            const alone = 'filter' in one ? one.filter : { $ann: { field: 't', query: one.ann } }
            for (const [at, [key]] of ask(alone, window ?? limit).entries())
              scores.set(key, (scores.get(key) ?? 0) + (one.weight ?? 1) / ((rankConstant ?? 60) + at + 1))
          }
          // Documents of equal score are in the order of arrival, which is the order of their keys here.
          const expected = [...scores].sort(([one, x], [other, y]) => y - x || (one < other ? -1 : 1)).slice(0, limit)
          expect(ask({ $rrf: { retrievers, window, rankConstant } }, limit)).toEqual(expected)
        },
      ),
      { numRuns: runs(40, 500, 5_000) },
    )
  })
})

describe('policy.vectorRecall', () => {
  it('makes $ann miss the same keys after the index is built again', async () => {
    const { run, ask } = await world({ embed, policy: { vectorRecall: 0.5 } })
    for (let at = 10; at < 40; at++) run('HSET', `d:${at}`, 't', 'cat')
    const keys = (): string[] => scored(ask({ $ann: { field: 't', query: 'cat' } }, 'LIMIT', 100)).map(([key]) => key)
    const deleted = ['d:1', 'd:2', 'd:10', 'd:11', 'd:12']
    const before = keys().filter((key) => !deleted.includes(key))
    expect(before.length).toBeGreaterThan(5)
    expect(before.length).toBeLessThan(25)
    run('DEL', ...deleted)
    run('SEARCH.REINDEX', 'i')
    expect(keys()).toEqual(before)
  })
})

describe('createSandbox({ embed })', () => {
  it('calls the function once for each text', async () => {
    const asked: string[] = []
    const counting = (texts: readonly string[]): Float32Array[] => {
      asked.push(...texts)
      return embed(texts)
    }
    const { run, ask } = await world({ embed: counting })
    const query = { $ann: { field: 't', query: 'cat' } }
    ask(query)
    ask(query)
    run('HSET', 'd:9', 't', 'dog')
    run('HSET', 'd:1', 't', 'bird')
    ask(query)
    expect(asked.toSorted()).toEqual(['bird', 'cat', 'cat cat dog', 'dog', 'stock stock'])
  })

  it.each([
    [() => [], 'must return one Float32Array for each text (texts: 1, vectors: 0)'],
    [() => 'x', 'must return one Float32Array for each text, in an array (got a string)'],
    [() => undefined, 'must return one Float32Array for each text, in an array (got undefined)'],
    [() => new Float32Array(3), 'must return one Float32Array for each text, in an array (got a Float32Array)'],
    [
      (texts: readonly string[]) => texts.map(() => [1]),
      'must return one Float32Array for each text (got an array as vector 1 of 1). Convert arrays with Float32Array.from()',
    ],
    [(texts: readonly string[]) => texts.map(() => new Float64Array(2)), '(got a Float64Array as vector 1 of 1)'],
    [(texts: readonly string[]) => texts.map(() => null), '(got null as vector 1 of 1)'],
    [
      (texts: readonly string[]) => texts.map(() => new Float32Array(0)),
      'must return vectors of 1 to 32768 numbers (got 0)',
    ],
    [(texts: readonly string[]) => texts.map(() => new Float32Array([Number.NaN])), 'must return finite numbers'],
    [(texts: readonly string[]) => texts.map(({ length }) => new Float32Array(length)), 'vectors of the same length'],
    [
      () => {
        throw new Error('no model')
      },
      'embed() threw Error: no model',
    ],
    [
      () => {
        throw Object.create(null)
      },
      'embed() threw a value that cannot be shown as text',
    ],
    // The rejection of the promise must not end the process.
    [() => Promise.reject(new Error('no model')), 'embed() must be synchronous (got a promise)'],
  ])('reports a wrong result: %#', async (wrong, error) => {
    const { run, ask } = await world({ embed: wrong as never })
    const reply = ask({ $ann: { field: 't', query: 'a text' } }) as string
    expect(reply).toContain('ERR createSandbox({ embed }): embed() ')
    expect(reply).toContain(error)
    // The words are found nevertheless.
    expect(run('SEARCH.COUNT', 'i', '{"t":"cat"}')).toBe(2)
  })

  it('reports a length that changes later', async () => {
    let length = 2
    const { run, ask } = await world({ embed: (texts) => texts.map(() => new Float32Array(length).fill(1)) })
    expect(ask({ $ann: { field: 't', query: 'one' } })).toHaveLength(4)
    length = 3
    run('HSET', 'd:9', 't', 'another text')
    expect(ask({ $ann: { field: 't', query: 'one' } })).toContain('(got 2 and 3)')
  })

  it('must be a function', () => {
    expect(() => createSandbox({ embed: 'model' as never })).toThrow('embed must be a function (got "model")')
  })

  test('is passed on to forks, to replays and to the past', async () => {
    const sandbox = await searchingSandbox({ embed })
    const query = ['SEARCH.QUERY', 'i', '{"$ann":{"field":"t","query":"cat"}}', 'NOCONTENT'] as const
    sandbox.store.run('SEARCH.CREATE', 'i', ...'ON HASH PREFIX 1 d: SCHEMA t HYBRID'.split(' '))
    sandbox.store.run('HSET', 'd:1', 't', 'cat')
    sandbox.store.run(...query)
    const then = sandbox.clock.now()
    await sandbox.clock.advance('1s')
    sandbox.store.run('HSET', 'd:2', 't', 'cat')
    const fork = await sandbox.fork({ at: then })
    expect(scored(fork.store.run(...query))).toEqual([['d:1', 1]])
    expect(scored((await fork.fork()).store.run(...query))).toEqual([['d:1', 1]])
    sandbox.reset()
    await sandbox.store.loadSearch()
    sandbox.store.run('SEARCH.CREATE', 'i', ...'ON HASH PREFIX 1 d: SCHEMA t HYBRID'.split(' '))
    expect(sandbox.store.run(...query)).toEqual([])
  })
})
