import { beforeEach, describe, expect, it } from 'vitest'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import type { CommandArg, PlainReply } from '../../../src/store/direct-store.js'
import { languages } from '../../../src/store/values/search-definition.js'
import { keysOf, running, searchingSandbox } from './searching.js'

// Facts of search.md 7, 11 and 12 one by one.

let sandbox: Sandbox
let run: (line: string, ...words: readonly CommandArg[]) => PlainReply

async function begin(options?: Parameters<typeof searchingSandbox>[0]): Promise<void> {
  sandbox = await searchingSandbox(options, ...languages)
  run = running(sandbox)
}

beforeEach(() => begin())

/** Returns the keys that a filter finds in an index of JSON documents. */
function find(filter: unknown, ...options: CommandArg[]): string[] {
  return keysOf(run('SEARCH.QUERY i', JSON.stringify(filter), ...options))
}

function documents(schema: string, all: Readonly<Record<string, unknown>>, clauses = ''): void {
  run(`SEARCH.CREATE i ON JSON PREFIX 1 d:${clauses} SCHEMA ${schema}`)
  for (const [name, document] of Object.entries(all)) run(`JSON.SET d:${name} $`, JSON.stringify(document))
}

function texts(schema: string, ...all: readonly string[]): void {
  documents(`t TEXT${schema}`, Object.fromEntries(all.map((t, at) => [String(at + 1), { t }])))
}

describe('texts [11]', () => {
  it('are split at blanks and punctuation, in any case', () => {
    texts('', 'Mail user@example.com about SKU-12345-BLK', 'nothing')
    for (const word of ['user', 'EXAMPLE', 'com', '12345', 'blk', 'Sku'])
      expect(find({ t: { $eq: word } })).toEqual(['d:1'])
    expect(find({ t: { $eq: 'user@example.com' } })).toEqual(['d:1'])
    expect(find({ t: { $eq: 'example user' } })).toEqual([])
  })

  it('are stemmed as by Snowball: run finds running, not runner', () => {
    texts('', 'running fast', 'runner on track', 'he runs', 'studies and studied experiments')
    expect(find({ t: { $eq: 'run' } }).sort()).toEqual(['d:1', 'd:3'])
    expect(find({ t: { $regex: 'studi' } })).toEqual(['d:4'])
    expect(find({ t: { $regex: 'experi' } })).toEqual(['d:4'])
    expect(find({ t: { $regex: 'running.*' } })).toEqual([])
  })

  it('keep their endings with NOSTEM', () => {
    texts(' NOSTEM', 'running fast', 'run')
    expect(find({ t: { $eq: 'run' } })).toEqual(['d:2'])
    expect(find({ t: { $eq: 'Running' } })).toEqual(['d:1'])
  })

  it('are one term with NOTOKENIZE', () => {
    texts(' NOTOKENIZE', 'ada@company.com', 'bob@company.org', 'ada')
    expect(find({ t: { $eq: 'ada@company.com' } })).toEqual(['d:1'])
    expect(find({ t: 'ada' })).toEqual(['d:3'])
    expect(find({ t: { $regex: '.*@company\\.com' } })).toEqual(['d:1'])
  })

  // Words that the stemmers of Snowball reduce to the same stem; arabic: the article and an ending, tamil: the plural.
  it.each([
    ['danish', 'undersøgelser', 'undersøgelse'],
    ['dutch', 'boeken', 'boek'],
    ['english', 'connections', 'connected'],
    ['finnish', 'taloissa', 'talossa'],
    ['french', 'continuellement', 'continuelle'],
    ['german', 'häuser', 'häusern'],
    ['hungarian', 'házak', 'házakat'],
    ['italian', 'propagare', 'propagata'],
    ['norwegian', 'opninger', 'opningen'],
    ['portuguese', 'meninas', 'menina'],
    ['romanian', 'copilului', 'copilul'],
    ['russian', 'книгами', 'книга'],
    ['spanish', 'chicas', 'chica'],
    ['swedish', 'flickor', 'flickorna'],
    ['turkish', 'kitaplar', 'kitap'],
    ['arabic', 'الكتاب', 'كتاب'],
    ['greek', 'εφημερίδες', 'εφημερίδα'],
    ['tamil', 'வீடுகள்', 'வீடு'],
  ])('in %s match: %s is found by %s', (language, stored, asked) => {
    documents('t TEXT', { 1: { t: stored }, 2: { t: 'xyz' } }, ` LANGUAGE ${language}`)
    expect(find({ t: { $eq: asked } })).toEqual(['d:1'])
  })
})

describe('operators [12]', () => {
  it('$smart finds one word also with a typo and as a prefix, best matches first', () => {
    texts('', 'a laptpo', 'laptops here', 'gaming laptop', 'something else', 'labtop')
    expect(find({ t: 'laptop' }).sort()).toEqual(['d:1', 'd:2', 'd:3', 'd:5'])
    expect(new Set(find({ t: 'laptop' }).slice(0, 2))).toEqual(new Set(['d:2', 'd:3']))
    expect(find({ t: 'gam' })).toEqual(['d:3'])
  })

  it('$smart finds one word only exactly if the policy requires it', async () => {
    await begin({ policy: { searchSingleWord: 'term' } })
    texts('', 'laptpo', 'laptop')
    expect(find({ t: 'laptop' })).toEqual(['d:2'])
  })

  it('$smart finds several words in any number: phrases first, then words near each other', () => {
    texts(
      '',
      'headphones without wires, wireless too',
      'shoes',
      'wireless red headphones',
      'wireless headphones',
      'wireless',
    )
    expect(find({ t: 'wireless headphones' })).toHaveLength(4)
    expect(find({ t: 'wireless headphones' }).slice(0, 2)).toEqual(['d:4', 'd:3'])
    expect(find({ t: '"wireless headphones"' })).toEqual(['d:4'])
  })

  it('$phrase counts 1 for each word in between, and 2 for two swapped words', () => {
    texts(
      '',
      'wireless headphones',
      'wireless bluetooth headphones',
      'wireless bluetooth noise-cancelling headphones',
      'headphones wireless',
    )
    const near = (slop: number) => find({ t: { $phrase: { value: 'wireless headphones', slop } } }).sort()
    expect(near(0)).toEqual(['d:1'])
    expect(near(1)).toEqual(['d:1', 'd:2'])
    expect(near(2)).toEqual(['d:1', 'd:2', 'd:4'])
    expect(near(3)).toEqual(['d:1', 'd:2', 'd:3', 'd:4'])
    expect(find({ t: { $phrase: { value: 'wireless head', prefix: true } } })).toEqual(['d:1'])
    expect(() => find({ t: { $phrase: { value: 'a b', prefix: true, slop: 1 } } })).toThrow(/^ERR /)
  })

  it('$fuzzy counts edits, with a swap as one unless configured as two', () => {
    texts(' NOSTEM', 'laptop', 'laptpo', 'lptop', 'lpto', 'laptops')
    expect(find({ t: { $fuzzy: 'laptop' } }).sort()).toEqual(['d:1', 'd:2', 'd:3', 'd:5'])
    expect(find({ t: { $fuzzy: { value: 'laptop', transpositionCostOne: false } } }).sort()).toEqual([
      'd:1',
      'd:3',
      'd:5',
    ])
    expect(find({ t: { $fuzzy: { value: 'laptop', distance: 2, transpositionCostOne: false } } })).toHaveLength(5)
    expect(find({ t: { $fuzzy: { value: 'lapt', prefix: true } } })).toHaveLength(5)
    expect(find({ t: { $fuzzy: 'laptop other' } })).toEqual([])
    for (const distance of [0, 3, 1.5, '1'])
      expect(() => find({ t: { $fuzzy: { value: 'a', distance } } })).toThrow(/^ERR /)
  })

  it('$regex matches one whole term, ignoring case', () => {
    texts('', 'Hello world', 'shell', 'Order 2024 of 7')
    expect(find({ t: { $regex: 'hel.*' } })).toEqual(['d:1'])
    expect(find({ t: { $regex: 'Hel.*' } })).toEqual(['d:1'])
    expect(find({ t: { $regex: 'hello world' } })).toEqual([])
    expect(find({ t: { $regex: '[0-9]{4}' } })).toEqual(['d:3'])
  })

  it('$eq, $in and ranges match keywords, numbers, dates and facets exactly', () => {
    documents('k KEYWORD n I64 FAST b BOOL d DATE FAST c FACET', {
      1: { k: 'Red', n: -5, b: true, d: '2024-01-15T00:00:00Z', c: '/shop/shoes' },
      2: { k: 'red shoe', n: 7, b: false, d: '2024-02-01', c: ['/shop/hats', '/new'] },
      3: { k: 5, n: '7', b: 'true', d: 'soon', c: 'shop' },
    })
    expect(find({ k: 'red' })).toEqual([])
    expect(find({ k: 'Red' })).toEqual(['d:1'])
    expect(find({ k: { $gt: 'Red', $lte: 'red shoe' } })).toEqual(['d:2'])
    expect(find({ n: { $in: [7, -5] } })).toEqual(['d:1', 'd:2'])
    expect(find({ n: { $gte: -5, $lt: 7 } })).toEqual(['d:1'])
    expect(find({ b: true })).toEqual(['d:1'])
    expect(find({ d: { $gt: '2024-01-15T00:00:00.000Z' } })).toEqual(['d:2'])
    expect(find({ d: { $eq: '2024-01-15T01:00:00+01:00' } })).toEqual(['d:1'])
    expect(find({ c: '/shop' })).toEqual(['d:1', 'd:2'])
    expect(find({ c: { $in: ['/new', '/shop/shoes'] } })).toEqual(['d:1', 'd:2'])
    expect(find({ c: '/sho' })).toEqual([])
    // A value of the wrong type is not found by its field, but the document is found.
    expect(run('SEARCH.COUNT i', '{}')).toBe(3)
  })

  it('fields of hashes are converted from their texts', () => {
    run('SEARCH.CREATE i ON HASH PREFIX 1 d: SCHEMA n U64 FAST f F64 FAST b BOOL d DATE big U64 FAST')
    run('HSET d:1 n 1542 f 2.5 b true d 2024-01-15T00:00:00Z big 18446744073709551615')
    run('HSET d:2 n -1 f x b yes d soon')
    for (const filter of [{ n: 1542 }, { f: { $gt: 2 } }, { b: true }, { d: { $lt: '2025-01-01' } }])
      expect(find(filter)).toEqual(['d:1'])
    expect(run('SEARCH.QUERY i', '{"big":18446744073709551615}', 'NOCONTENT')).toHaveLength(1)
    expect(run('SEARCH.QUERY i', '{"big":18446744073709551614}', 'NOCONTENT')).toHaveLength(0)
  })

  it('FROM reads another field, whose name filters do not know', () => {
    documents('t TEXT exact TEXT NOTOKENIZE FROM t deep KEYWORD FROM a.b', { 1: { t: 'Red shoe', a: { b: 'x' } } })
    expect(find({ exact: 'Red shoe' })).toEqual(['d:1'])
    expect(find({ exact: 'shoe' })).toEqual([])
    expect(find({ deep: 'x' })).toEqual(['d:1'])
    expect(() => find({ 'a.b': 'x' })).toThrow(/^ERR /)
  })

  it('$mustNot alone finds nothing, or all other documents if the policy allows it', async () => {
    texts('', 'red', 'blue')
    expect(find({ $mustNot: { t: 'red' } })).toEqual([])
    expect(find({ $must: {}, $mustNot: { t: 'red' } })).toEqual(['d:2'])
    await begin({ policy: { searchLoneMustNot: 'rest' } })
    texts('', 'red', 'blue')
    expect(find({ $mustNot: { t: 'red' } })).toEqual(['d:2'])
  })

  it('$boost changes the order, but not what is found', () => {
    texts('', 'red', 'blue')
    expect(find({ $should: [{ t: { $eq: 'red' } }, { t: { $eq: 'blue', $boost: 5 } }] })).toEqual(['d:2', 'd:1'])
    expect(find({ $should: [{ t: { $eq: 'red' }, $boost: 5 }, { t: { $eq: 'blue' } }] })).toEqual(['d:1', 'd:2'])
    expect(find({ $should: [{ t: { $eq: 'red', $boost: -2 } }, { t: { $eq: 'blue' } }] })).toEqual(['d:2', 'd:1'])
  })

  it('$should next to $must only raises the score', () => {
    texts('', 'red shoe', 'shoe', 'red')
    expect(find({ $must: { t: { $eq: 'shoe' } }, $should: { t: { $eq: 'red' } } })).toEqual(['d:1', 'd:2'])
  })

  it('scores prefer rarer words, shorter texts and repeated words; ties keep the order of insertion', () => {
    texts('', 'common', 'common rare', 'common common', 'common and a very long text behind it')
    expect(find({ t: { $eq: 'common' } })).toEqual(['d:3', 'd:1', 'd:2', 'd:4'])
    expect(find({ $should: [{ t: { $eq: 'common' } }, { t: { $eq: 'rare' } }] })[0]).toBe('d:2')
    expect(find({})).toEqual(['d:1', 'd:2', 'd:3', 'd:4'])
  })

  it('rows have the order of insertion if the policy requires it', async () => {
    await begin({ policy: { searchScore: 'constant' } })
    texts('', 'common', 'common common')
    expect(run('SEARCH.QUERY i', '{"t":{"$eq":"common"}}', 'NOCONTENT')).toEqual([
      ['d:1', '1'],
      ['d:2', '1'],
    ])
  })

  it.each([
    ['not json', 'not'],
    ['no object', '[]'],
    ['an unknown field', '{"x":1}'],
    ['an unknown operator of all', '{"$nor":[]}'],
    ['an operator that is not for the type', '{"n":{"$phrase":"x"}}'],
    ['a range over texts', '{"t":{"$gt":"x"}}'],
    ['a range over booleans', '{"b":{"$gt":false}}'],
    ['a range over facets', '{"c":{"$gt":"/a"}}'],
    ['a value of another type', '{"n":"x"}'],
    ['null', '{"t":null}'],
    ['a list', '{"t":["x"]}'],
    ['no operator', '{"t":{}}'],
    ['$in without a list', '{"t":{"$in":"x"}}'],
    ['a condition that is no object', '{"$must":[1]}'],
    ['a boost that is no number', '{"t":{"$eq":"x","$boost":"2"}}'],
    ['a pattern that is none', '{"t":{"$regex":"("}}'],
    ['a pattern that closes what it has not opened', '{"t":{"$regex":"a)|(b"}}'],
    ['a phrase with an option that is none', '{"t":{"$phrase":{"value":"x","speed":1}}}'],
    ['a phrase without a value', '{"t":{"$phrase":{"slop":1}}}'],
    ['a date that is none', '{"d":{"$gt":"soon"}}'],
    ['a facet that is none', '{"c":"shop"}'],
  ])('rejects %s', (_what, filter) => {
    run('SEARCH.CREATE i ON JSON PREFIX 1 d: SCHEMA t TEXT n U64 FAST b BOOL d DATE c FACET')
    expect(() => run('SEARCH.COUNT i', filter)).toThrow(/^ERR /)
    expect(() => run('SEARCH.QUERY i', filter)).toThrow(/^ERR /)
  })

  it('names the unknown operator in the error', () => {
    texts('', 'x')
    expect(() => find({ t: { $not: 'x' } })).toThrow('ERR Unknown field operator: $not')
  })

  it('finds nothing for empty values', () => {
    texts('', 'red')
    for (const filter of [{ t: '' }, { t: ' - ' }, { t: { $in: [] } }, { $or: [] }, { $should: [] }])
      expect(find(filter)).toEqual([])
    for (const filter of [{}, { $must: [] }, { $and: {} }, { $must: [{}] }]) expect(find(filter)).toEqual(['d:1'])
  })
})

describe('rows of SEARCH.QUERY [7]', () => {
  const products = {
    1: {
      name: 'Gaming Laptop',
      price: 1200,
      made: '2024-01-01T00:00:00Z',
      maker: { city: 'Oslo', size: 5 },
      tags: ['new', 'laptop'],
    },
    2: { name: 'Desk', price: 300.5, maker: { city: 'Rome' }, sold: true },
    3: { name: 'laptop bag', made: '2023-01-01T00:00:00Z' },
  }
  const schema =
    'name TEXT price F64 FAST made DATE FAST maker.city TEXT city TEXT NOTOKENIZE FROM maker.city tags TEXT slow F64'

  it('have the key, the score and the whole document in its type', () => {
    documents(schema, { 2: products[2] })
    expect(run('SEARCH.QUERY i', '{"price":{"$gt":1}}')).toEqual([['d:2', '1', [['$', JSON.stringify(products[2])]]]])
    run('SEARCH.CREATE h ON HASH PREFIX 1 h: SCHEMA name TEXT')
    run('HSET h:1 name Desk other 1')
    expect(run('SEARCH.QUERY h', '{"name":{"$regex":"desk"}}')).toEqual([
      [
        'h:1',
        '1',
        [
          ['name', 'Desk'],
          ['other', '1'],
        ],
      ],
    ])
    run('SEARCH.CREATE s ON STRING PREFIX 1 s: SCHEMA name TEXT')
    run('SET s:1', '{ "name": "Desk" }')
    expect(run('SEARCH.QUERY s', '{}')).toEqual([['s:1', '1', [['$', '{"name":"Desk"}']]]])
  })

  it('have less content with NOCONTENT and SELECT', () => {
    documents(schema, products)
    expect(run('SEARCH.QUERY i', '{"price":{"$gt":1}}', 'NOCONTENT')).toEqual([
      ['d:1', '1'],
      ['d:2', '1'],
    ])
    expect(run('SEARCH.QUERY i', '{"price":{"$gt":1}}', 'SELECT', 4, 'maker.city', 'price', 'sold', 'none')).toEqual([
      [
        'd:1',
        '1',
        [
          ['maker.city', 'Oslo'],
          ['price', '1200'],
        ],
      ],
      [
        'd:2',
        '1',
        [
          ['maker.city', 'Rome'],
          ['price', '300.5'],
          ['sold', 'true'],
        ],
      ],
    ])
    expect(() => run('SEARCH.QUERY i {} NOCONTENT SELECT 1 name')).toThrow(/^ERR /)
    expect(() => run('SEARCH.QUERY i {} NOCONTENT HIGHLIGHT FIELDS 1 name')).toThrow(/^ERR /)
  })

  it('are returned in pages', () => {
    documents('n U64 FAST', Object.fromEntries(Array.from({ length: 25 }, (_, n) => [n, { n }])))
    expect(find({})).toHaveLength(10)
    expect(find({}, 'OFFSET', 20)).toEqual(['d:20', 'd:21', 'd:22', 'd:23', 'd:24'])
    expect(find({}, 'LIMIT', 3, 'OFFSET', 5, 'ORDERBY', 'n')).toEqual(['d:19', 'd:18', 'd:17'])
    expect(find({}, 'LIMIT', 1000)).toHaveLength(25)
    expect(find({}, 'OFFSET', 10_000)).toEqual([])
    for (const limit of [0, 1001, -1]) {
      expect(() => find({}, 'LIMIT', limit)).toThrow('ERR limit should be a positive number less than 1000')
    }
    for (const words of [
      ['OFFSET', -1],
      ['OFFSET', 10_001],
      ['LIMIT', 'x'],
      ['LIMIT', 20, 10],
      ['LIMIT', 0, 10],
      ['LIMIT'],
    ])
      expect(() => find({}, ...words), words.join(' ')).toThrow(/^ERR /)
  })

  it('have the order of a FAST field, which is also their score; those without it come last', () => {
    documents(schema, products)
    expect(run('SEARCH.QUERY i {} NOCONTENT ORDERBY price')).toEqual([
      ['d:1', '1200'],
      ['d:2', '300.5'],
      ['d:3', expect.any(String)],
    ])
    expect(run('SEARCH.QUERY i {} NOCONTENT ORDERBY price asc LIMIT 2')).toEqual([
      ['d:2', '300.5'],
      ['d:1', '1200'],
    ])
    expect(find({}, 'ORDERBY', 'made', 'ASC')).toEqual(['d:3', 'd:1', 'd:2'])
    for (const field of ['slow', 'name', 'none']) expect(() => find({}, 'ORDERBY', field)).toThrow(/^ERR /)
  })

  it('BOOL and DATE are FAST by default if the policy allows it', async () => {
    await begin({ policy: { searchFastByDefault: true } })
    documents('made DATE sold BOOL', products)
    expect(find({}, 'ORDERBY', 'made', 'ASC')).toEqual(['d:3', 'd:1', 'd:2'])
    await begin()
    documents('made DATE sold BOOL', products)
    expect(() => find({}, 'ORDERBY', 'made')).toThrow(/^ERR /)
  })

  it('have marks around the requested words, in their own case', () => {
    documents(schema, products)
    const marked = (filter: unknown, ...words: CommandArg[]) =>
      (
        run(
          'SEARCH.QUERY i',
          JSON.stringify(filter),
          'SELECT',
          3,
          'name',
          'tags',
          'maker.city',
          'HIGHLIGHT',
          'FIELDS',
          ...words,
        ) as PlainReply[][]
      ).map((row) => Object.fromEntries(row[2] as [string, string][]))
    expect(
      marked({ name: 'laptop' }, 1, 'name', 'TAGS', '<mark>', '</mark>')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['<mark>laptop</mark> bag', 'Gaming <mark>Laptop</mark>'])
    expect(marked({ name: { $phrase: 'gaming laptops' }, tags: 'laptop' }, 2, 'name', 'tags')).toEqual([
      { name: '<em>Gaming</em> <em>Laptop</em>', tags: '["new","<em>laptop</em>"]', 'maker.city': 'Oslo' },
    ])
    expect(marked({ city: 'Oslo' }, 1, 'city')[0]!['maker.city']).toBe('<em>Oslo</em>')
    expect(marked({ name: { $fuzzy: 'laptpo' } }, 1, 'name')[0]!.name).toBe('Gaming Laptop')
    expect(marked({ price: { $gt: 1000 }, $mustNot: { name: { $eq: 'desk' } } }, 1, 'name')[0]!.name).toBe(
      'Gaming Laptop',
    )
    expect(marked({ name: 'desk' }, 0)[0]!.name).toBe('Desk')
    expect(() => marked({ name: 'desk' }, 1, 'none')).toThrow(/^ERR /)
    // The stored document does not change.
    expect(run('JSON.GET d:1 $.name')).toBe('["Gaming Laptop"]')
    const whole = run('SEARCH.QUERY i', '{"name":{"$eq":"desk"}}', 'HIGHLIGHT', 'FIELDS', 1, 'name') as [
      [string, string, [[string, string]]],
    ]
    expect(JSON.parse(whole[0][2][0][1])).toEqual({ ...products[2], name: '<em>Desk</em>' })
  })

  it('have the score of field values', () => {
    documents('t TEXT p F64 FAST q U64 FAST d DATE FAST', {
      1: { t: 'red', p: 100, q: 3 },
      2: { t: 'red', p: 4, q: 1 },
      3: { t: 'red' },
      4: { t: 'red', p: -1, q: 0 },
    })
    const scores = (words: string) => {
      const rows = run(`SEARCH.QUERY i {} NOCONTENT ${words}`) as [string, string][]
      return [1, 2, 3, 4].map((at) => Number(rows.find(([key]) => key === `d:${at}`)![1]))
    }
    // All documents have score 1 for {}.
    expect(scores('SCOREFUNC FIELDVALUE p')).toEqual([100, 4, 0, -1])
    expect(scores('SCOREFUNC FIELDVALUE p SCOREMODE SUM')).toEqual([101, 5, 1, 0])
    expect(scores('SCOREFUNC SCOREMODE replace FIELDVALUE p MODIFIER log FACTOR 2 MISSING 10')).toEqual([
      4,
      2 * Math.log10(4),
      2,
      2,
    ])
    expect(scores('SCOREFUNC FIELDVALUE p MODIFIER SQRT MISSING -3')).toEqual([10, 2, -3, -3])
    expect(scores('SCOREFUNC FIELDVALUE q MODIFIER reciprocal')).toEqual([1 / 3, 1, 0, 0])
    expect(scores('SCOREFUNC COMBINEMODE SUM FIELDVALUE p FIELDVALUE q MODIFIER SQUARE SCOREMODE REPLACE')).toEqual([
      109, 5, 0, -1,
    ])
    expect(scores('SCOREFUNC FIELDVALUE p FIELDVALUE q COMBINEMODE multiply')).toEqual([300, 4, 0, 0])
    const [ln, log1p, ln2p] = [Math.log(100), Math.log10(101), Math.log(102)]
    expect(scores('SCOREFUNC FIELDVALUE p MODIFIER ln')[0]).toBeCloseTo(ln)
    expect(scores('SCOREFUNC FIELDVALUE p MODIFIER log1p')[0]).toBeCloseTo(log1p)
    expect(scores('SCOREFUNC FIELDVALUE p MODIFIER ln2p')[0]).toBeCloseTo(ln2p)
    for (const words of [
      'SCOREFUNC',
      'SCOREFUNC FIELDVALUE t',
      'SCOREFUNC FIELDVALUE d',
      'SCOREFUNC FIELDVALUE p ORDERBY p',
      'SCOREFUNC FIELDVALUE p MODIFIER cube',
      'SCOREFUNC SCOREMODE SUM',
    ])
      expect(() => scores(words), words).toThrow()
  })

  it('add values to the relevance if the policy requires it', async () => {
    await begin({ policy: { searchScoreMode: 'sum' } })
    documents('p F64 FAST', { 1: { p: 5 } })
    expect(run('SEARCH.QUERY i {} NOCONTENT SCOREFUNC FIELDVALUE p FIELDVALUE p')).toEqual([['d:1', '11']])
  })
})

describe('hostile filters', () => {
  it('are rejected if nested too deeply', () => {
    texts('', 'x')
    const deep = (levels: number) => `${'{"$must":['.repeat(levels)}{}${']}'.repeat(levels)}`
    expect(run('SEARCH.COUNT i', deep(20))).toBe(1)
    for (const levels of [100, 10_000]) expect(() => run('SEARCH.COUNT i', deep(levels))).toThrow(/^ERR /)
  })

  it('take linear time for patterns', () => {
    texts(' NOTOKENIZE', `${'a'.repeat(5000)}!`)
    for (const pattern of ['(a*)*b', '(a|aa)+b', '((a+)+)+b', `${'a?'.repeat(50)}${'a'.repeat(50)}`]) {
      expect(() => run('SEARCH.COUNT i', JSON.stringify({ t: { $regex: pattern } }))).not.toThrow(/Maximum|stack/)
    }
  })

  it('end with an error if they would take too long', () => {
    documents('n U64 FAST', Object.fromEntries(Array.from({ length: 400 }, (_, n) => [n, { n }])))
    const wide = { $or: Array.from({ length: 20_000 }, () => ({ n: { $gte: 0 } })) }
    expect(() => run('SEARCH.COUNT i', JSON.stringify(wide))).toThrow(/maxWork|max/)
    const crossed = { $and: Array.from({ length: 20_000 }, () => ({ n: { $gte: 0 } })) }
    expect(() => run('SEARCH.COUNT i', JSON.stringify(crossed))).toThrow(/maxWork|max/)
  })

  it('can contain long words and unusual names', () => {
    run('SEARCH.CREATE i ON JSON PREFIX 1 d: SCHEMA t TEXT __proto__ TEXT constructor.name TEXT')
    run('JSON.SET d:1 $', JSON.stringify({ t: 'aeiou'.repeat(100_000), constructor: { name: 'x' } }))
    run('JSON.SET d:2 $', '{"__proto__":"constructor"}')
    expect(find({ t: { $fuzzy: 'aeiou' } })).toEqual([])
    expect(find({ 'constructor.name': 'x' })).toEqual(['d:1'])
    expect(keysOf(run('SEARCH.QUERY i', '{"__proto__":"constructor"}'))).toEqual(['d:2'])
  })

  it('have finite scores for all factors', async () => {
    const { store } = await searchingSandbox()
    const run = running({ store })
    run('SEARCH.CREATE i ON HASH PREFIX 1 d: SCHEMA t TEXT n F64 FAST')
    for (const n of [-1, 0, 1, 1e308]) run(`HSET d:${n} t x n ${n}`)
    const high = '{"t":{"$eq":"x","$boost":1e308},"$boost":1e308}'
    for (const [filter, words] of [
      ['{}', 'FACTOR inf'],
      ['{}', 'FACTOR -inf MODIFIER SQUARE'],
      ['{}', 'MODIFIER LOG MISSING -inf FIELDVALUE n FACTOR inf COMBINEMODE SUM'],
      [high, ''],
    ] as const) {
      const order = `NOCONTENT SCOREFUNC FIELDVALUE n ${words}`.trim().split(' ')
      const rows = run('SEARCH.QUERY i', filter, ...order) as [string, string][]
      const scores = rows.map(([, score]) => Number(score))
      expect(scores).toHaveLength(4)
      expect(scores.every(Number.isFinite), String(scores)).toBe(true)
      expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    }
  })
})
