import { setImmediate as hostTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Rest } from '../../support/ask.js'
import { running, searchingSandbox } from './searching.js'

// The work of indexes and searches is counted, and no request waits for more than a slice of it. [choice]

const tooMuch = expect.stringContaining('ERR max work exceeded. Limit: ')
const words = (from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `w${(from + at).toString(36)}`).join(' ')

/**
 * Each document has 10,000 different words, which are more than half a slice. Together they are more than
 * `policy.maxWork`.
 */
const documents = 8

/** Counts the turns of the event loop while something is awaited. */
async function turnsDuring(something: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  void something.finally(() => {
    isOver = true
  })
  while (!isOver) {
    await hostTurn()
    turns++
  }
  return turns
}

async function open(schema: string, policy: Record<string, number> = {}) {
  const sandbox = await searchingSandbox({ policy })
  const run = running(sandbox)
  run(`SEARCH.CREATE i ON HASH PREFIX 1 d: SCHEMA ${schema}`)
  return { sandbox, run, rest: new Rest(sandbox) }
}

describe('writes before a search', () => {
  it('are indexed in slices, between which other work runs', async () => {
    const { run, rest } = await open('t TEXT')
    for (let at = 0; at < documents; at++) run(`HSET d:${at} t`, words(at * 10_000, 10_000))
    const plain = await turnsDuring(rest.post('', ['PING']))
    const first = rest.post('', ['SEARCH.COUNT', 'i', '{"t":{"$eq":"w0"}}'])
    expect(await turnsDuring(first)).toBeGreaterThan(plain + 1)
    expect((await first).json).toEqual({ result: 1 })
    // The next search after a rebuild, which a previously loaded script hides, also waits.
    const loaded = await rest.post('', ['SCRIPT', 'LOAD', "return redis.call('SEARCH.COUNT', 'i', '{}')"])
    run('SEARCH.REINDEX i')
    const asked = rest.post('', ['EVALSHA', (loaded.json as { result: string }).result, '0'])
    expect(await turnsDuring(asked)).toBeGreaterThan(plain + 1)
    expect((await asked).json).toEqual({ result: documents })
  })

  it('cost a search in the same process nothing', async () => {
    const { run } = await open('t TEXT')
    for (let at = 0; at < documents; at++) run(`HSET d:${at} t`, words(at * 10_000, 10_000))
    expect(run('SEARCH.COUNT i', '{"t":{"$eq":"w0"}}')).toBe(1)
  })
})

describe('one long text', () => {
  const text = words(0, 80_000)

  it('is also indexed in slices', async () => {
    const { run, rest } = await open('t TEXT')
    const plain = await turnsDuring(rest.post('', ['PING']))
    run('HSET d:1 t', text)
    const asked = rest.post('', ['SEARCH.COUNT', 'i', '{"t":{"$eq":"wun3"}}'])
    expect(await turnsDuring(asked)).toBeGreaterThan(plain + 1)
    expect((await asked).json).toEqual({ result: 1 })
  })

  it('has each of its words and each phrase of two, at all boundaries of slices', async () => {
    for (const separator of [' ', '、', '-']) {
      const { run } = await open('t TEXT')
      const all = text.replaceAll(' ', separator)
      run('HSET d:1 t', all)
      for (let at = 16_384; at < all.length; at += 16_384) {
        // More than one word around each possible boundary.
        const near = all
          .slice(at - 30, at + 40)
          .split(separator)
          .slice(1, -1)
        for (let first = 0; first + 1 < near.length; first++) {
          const phrase = JSON.stringify({ t: { $phrase: near.slice(first, first + 2).join(' ') } })
          expect(run('SEARCH.COUNT i', phrase), phrase).toBe(1)
          const turned = JSON.stringify({
            t: {
              $phrase: near
                .slice(first, first + 2)
                .reverse()
                .join(' '),
            },
          })
          expect(run('SEARCH.COUNT i', turned), turned).toBe(0)
        }
      }
    }
  })

  it('is found in its latest version if it is replaced or deleted while it is indexed', async () => {
    const { run, rest } = await open('t TEXT')
    run('HSET d:1 t', `${text} end`)
    run('HSET d:2 t', `${text} end`)
    const asked = rest.post('', ['SEARCH.COUNT', 'i', '{}'])
    await hostTurn()
    run('HSET d:1 t', 'short')
    run('DEL d:2')
    await asked
    expect(run('SEARCH.COUNT i', '{"t":{"$eq":"end"}}')).toBe(0)
    expect(run('SEARCH.COUNT i', '{"t":{"$eq":"short"}}')).toBe(1)
    expect(run('SEARCH.COUNT i', '{}')).toBe(1)
  })
})

describe('writes of a request that then searches', () => {
  it('are charged to it, and found by the next request', async () => {
    const { rest } = await open('t TEXT')
    const rows = Array.from({ length: documents }, (_, at) => ['HSET', `d:${at}`, 't', words(at * 10_000, 10_000)])
    const count = ['SEARCH.COUNT', 'i', '{}']
    const { json } = await rest.post('/pipeline', [...rows, count, count])
    expect((json as unknown[]).slice(-2)).toEqual([{ error: tooMuch }, { error: tooMuch }])
    expect((json as unknown[]).slice(0, documents)).toEqual(rows.map(() => ({ result: 1 })))
    expect(await rest.run(...count)).toBe(documents)
  })

  it('are found immediately for the amount that a test creates', async () => {
    const { rest } = await open('t TEXT')
    const rows = Array.from({ length: 500 }, (_, at) => ['HSET', `d:${at}`, 't', words(at, 100)])
    const { json } = await rest.post('/pipeline', [...rows, ['SEARCH.COUNT', 'i', '{}']])
    expect((json as unknown[]).at(-1)).toEqual({ result: 500 })
  })
})

describe('policy.maxSearchDocument', () => {
  it('cuts a text after a word, and omits other values', async () => {
    const { run } = await open('t TEXT w TEXT NOTOKENIZE k KEYWORD', { maxSearchDocument: 40 })
    run('HSET d:1 t', `first ${'second '.repeat(4)}hidden${'x'.repeat(50)}`)
    run(`HSET d:2 w ${'w'.repeat(41)} k k`)
    run(`HSET d:3 k ${'k'.repeat(41)}`)
    run('HSET d:4 t', 'y'.repeat(41))
    const count = (filter: unknown) => run('SEARCH.COUNT i', JSON.stringify(filter))
    expect(['first', 'second'].map((word) => count({ t: { $eq: word } }))).toEqual([1, 1])
    expect(count({ t: { $regex: 'h.*|y.*' } })).toBe(0)
    expect(count({ w: { $regex: 'w.*' } })).toBe(0)
    expect([count({ k: 'k' }), count({ k: { $gte: 'k' } }), count({})]).toEqual([0, 0, 4])
    // The stored value is complete.
    expect(run('HGET d:4 t')).toBe('y'.repeat(41))
  })

  it('counts every element of a list on the path to a value', async () => {
    const { run, sandbox } = await open('t TEXT', { maxSearchDocument: 8_000 })
    run('SEARCH.CREATE j ON JSON PREFIX 1 j: SCHEMA n U64 FAST m U64 FAST')
    run('JSON.SET j:1 $', JSON.stringify({ n: Array.from({ length: 2000 }, (_, n) => n), m: [1] }))
    run('JSON.SET j:2 $', '{"n":[[1],[2,3]],"m":[1]}')
    const count = (filter: unknown) => run('SEARCH.COUNT j', JSON.stringify(filter))
    expect([0, 900, 1999].map((n) => count({ n }))).toEqual([1, 1, 0])
    expect([count({ n: 3 }), count({ m: 1 })]).toEqual([2, 1])
    run('SEARCH.CREATE s ON STRING PREFIX 1 s: SCHEMA n U64 FAST')
    run('SET s:1', `{"n":1,"more":"${'x'.repeat(8000)}"}`)
    run('SET s:2 {"n":1}')
    expect(run('SEARCH.COUNT s {"n":1}')).toBe(1)
    await sandbox.dispose()
  })

  it('reads a long text completely by default', async () => {
    const { run } = await open('t TEXT')
    run('HSET d:1 t', `${'some words of a book '.repeat(20_000)}end`)
    expect(run('SEARCH.COUNT i', '{"t":{"$eq":"end"}}')).toBe(1)
  })
})

describe('work of a search', () => {
  const many = (count: number, of: (at: number) => unknown) => Array.from({ length: count }, (_, at) => of(at))
  it.each([
    ['$in of words', { k: { $in: many(100_000, (at) => `k${at}`) } }],
    ['$in of numbers', { n: { $in: many(100_000, (at) => at) } }],
    ['$in of texts', { t: { $in: many(100_000, (at) => `w${at}`) } }],
    ['a phrase of many words', { t: { $phrase: { value: 'a '.repeat(1_000_000), slop: 3 } } }],
  ])('has a limit: %s', async (_name, filter) => {
    const { run } = await open('t TEXT k KEYWORD n U64 FAST')
    run('HSET d:1 t w1 k k1 n 1')
    expect(() => run('SEARCH.COUNT i', JSON.stringify(filter))).toThrow(/max work exceeded/)
  })

  it('allows plain words in many documents and terms: the default suffices for twenty times as many', async () => {
    const { run } = await open('t TEXT', { maxWork: 200_000 })
    for (let at = 0; at < 5000; at++) run(`HSET d:${at} t`, `order o${at} of customer c${(at * 7919) % 5000}`)
    const count = (t: unknown) => run('SEARCH.COUNT i', JSON.stringify({ t }))
    expect(['order customer', 'ordre', 'c1234 o123', 'hello'].map(count)).toEqual([5000, 5000, expect.any(Number), 0])
    expect(count({ $fuzzy: { value: 'ordre', distance: 2 } })).toBe(5000)
    expect(count({ $phrase: { value: 'of cust', prefix: true } })).toBe(5000)
  })

  it('allows usual filters', async () => {
    const { run } = await open('t TEXT k KEYWORD n U64 FAST')
    for (let at = 0; at < 3000; at++) run(`HSET d:${at} k k${at} n ${at} t`, `some text number w${at}`)
    const count = (filter: unknown) => run('SEARCH.COUNT i', JSON.stringify(filter))
    expect(count({ k: { $in: many(10_000, (at) => `k${at}`) } })).toBe(3000)
    expect(count({ n: { $in: many(10_000, (at) => at) } })).toBe(3000)
    expect(count({ t: { $regex: 'w.*9' } })).toBe(300)
    expect(count({ t: { $regex: '(a|b){900}' } })).toBe(0)
    expect(count({ t: { $fuzzy: { value: 'w1234', distance: 2 } } })).toBeGreaterThan(100)
    expect(count({ t: { $phrase: { value: 'text number w', prefix: true } } })).toBe(3000)
  })
})

describe('arrays of very many elements', () => {
  const many = (count: number, of: (at: number) => unknown) =>
    JSON.stringify(Array.from({ length: count }, (_, at) => of(at)))

  it('are indexed in slices, and only as far as policy.maxSearchDocument allows', async () => {
    const { run, rest } = await open('t TEXT k KEYWORD')
    const plain = await turnsDuring(rest.post('', ['PING']))
    run(
      'HSET d:1 t',
      many(60_000, (at) => at.toString(36)),
    )
    const asked = rest.post('', ['SEARCH.COUNT', 'i', '{"t":{"$eq":"xyz"}}'])
    expect(await turnsDuring(asked)).toBeGreaterThan(plain + 1)
    expect((await asked).json).toEqual({ result: 1 })
    // A text beyond the limit is no array.
    run(
      'HSET d:2 k',
      many(1_000_000, () => 'a'),
    )
    run(
      'HSET d:3 k',
      many(100_000, () => 'a'),
    )
    expect(run('SEARCH.COUNT i', '{"k":"a"}')).toBe(1)
  })

  it.each([
    ['brackets without an end', '['.repeat(900_000)],
    ['brackets that nest too deeply', '['.repeat(400_000) + ']'.repeat(400_000)],
    ['an array that is cut', `[${'1,'.repeat(400_000)}`],
    ['blanks', ' '.repeat(900_000)],
  ])('are texts if they are no JSON: %s', async (_name, text) => {
    const { run } = await open(Array.from({ length: 500 }, (_, at) => `f${at} KEYWORD FROM k`).join(' '))
    run('HSET d:1 k', text)
    expect(run('SEARCH.COUNT i', JSON.stringify({ f0: { $gte: '' } }))).toBe(1)
  })

  it('count toward the work of conditions and aggregations that read them', async () => {
    const { run } = await open('o KEYWORD')
    run('SEARCH.CREATE s ON STREAM x SCHEMA n U64 FAST')
    for (let at = 0; at < 3; at++)
      run(
        'XADD x * n',
        many(60_000, (at) => at),
      )
    const excluded = Array.from({ length: 500 }, (_, at) => ({ n: { $gt: 100_000 + at, $lt: 200_000 } }))
    expect(() => run('SEARCH.COUNT s', JSON.stringify({ n: { $gte: 0 }, $mustNot: excluded }))).toThrow('max work')
    const aggregate = (asked: unknown) => run('SEARCH.AGGREGATE s', '{}', JSON.stringify(asked))
    const ranges = Array.from({ length: 500 }, (_, at) => ({ from: 100_000 + at }))
    for (const args of [{ $range: { field: 'n', ranges } }, { $terms: { field: 'n', order: { key: 'asc' } } }])
      expect(() => aggregate({ a: args, b: args, c: args, d: args, e: args })).toThrow('max work')
    expect(aggregate({ a: { $max: { field: 'n' } } })).toEqual(['a', ['value', 59_999]])
  })
})

describe('$composite', () => {
  const source = { $terms: { field: 'n' } }
  const sources = (count: number, of: unknown = source) =>
    Array.from({ length: count }, (_, at) => ({ [`s${at}`]: of }))
  const asked = async (composite: unknown) => {
    const { run } = await open('o KEYWORD')
    run('SEARCH.CREATE s ON STREAM x SCHEMA n U64 FAST m U64 FAST')
    run('XADD x 1-0 n', JSON.stringify(Array.from({ length: 20_000 }, (_, at) => at)), 'm', 1)
    return run('SEARCH.AGGREGATE s', '{}', JSON.stringify({ a: { $composite: composite } }))
  }

  it.each([
    ['combinations of two sources', { sources: sources(2) }],
    ['combinations of 64 sources', { sources: sources(64) }],
    ['combinations beyond all numbers', { sources: sources(200) }],
    ['very many sources', { sources: sources(200_000, { $terms: { field: 'm' } }) }],
    ['a long list of keys', { sources: sources(1), after: Array.from({ length: 900_000 }, (_, at) => `s${at}`) }],
  ])('has a limit of work: %s', async (_name, composite) => {
    await expect(asked(composite)).rejects.toThrow('max work')
  })

  it.each([
    ['a very long key', { s0: `u64:${'9'.repeat(500_000)}` }],
    ['many keys', Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`s${at}`, 'u64:1']))],
  ])('rejects a cursor with %s', async (_name, after) => {
    await expect(asked({ sources: sources(1), after })).rejects.toThrow("for 'after'")
  })

  it('has the values as keys if the interval is smaller than their precision', async () => {
    for (const interval of [1e-300, 5e-324]) {
      const histogram = { $histogram: { field: 'm', interval } }
      expect(await asked({ sources: [{ s: histogram }] })).toEqual([
        'a',
        ['buckets', [['key', ['s', 1], 'docCount', 1]]],
      ])
    }
    const wide = { $histogram: { field: 'm', interval: 1e308 } }
    expect(await asked({ sources: [{ s: wide }] })).toEqual(['a', ['buckets', [['key', ['s', 0], 'docCount', 1]]]])
  })
})
