import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'
import type { CommandArg, PlainReply } from '../../../src/store/direct-store.js'
import { keysOf, running, searchingSandbox } from './searching.js'

// Numbers of sections are those of search.md.

let sandbox: Sandbox
let run: (line: string, ...words: readonly CommandArg[]) => PlainReply

beforeEach(async () => {
  sandbox = await searchingSandbox()
  run = running(sandbox)
})

const books = 'SEARCH.CREATE books ON JSON PREFIX 1 book:'

describe('SEARCH.CREATE [1]', () => {
  it('replies 1, and 0 with EXISTSOK for the same index', () => {
    expect(run(`${books} SCHEMA title TEXT pages U64 FAST`)).toBe(1)
    expect(run(`${books} EXISTSOK SCHEMA title TEXT pages U64 FAST`)).toBe(0)
    // The language is not compared.
    expect(run(`${books} LANGUAGE german EXISTSOK SCHEMA title TEXT pages U64 FAST`)).toBe(0)
    expect(() => run(`${books} SCHEMA title TEXT pages U64 FAST`)).toThrow('ERR Index books already exists')
    expect(() => run(`${books} EXISTSOK SCHEMA title TEXT`)).toThrow(/^ERR /)
    expect(() => run('SEARCH.CREATE books ON HASH PREFIX 1 book: EXISTSOK SCHEMA title TEXT pages U64 FAST')).toThrow(
      /^ERR /,
    )
  })

  it('accepts its clauses in any order and case, with the schema last', () => {
    expect(run('search.create a on json prefix 1 x: schema t text')).toBe(1)
    expect(run('SEARCH.CREATE b SKIPINITIALSCAN EXISTSOK ON HASH PREFIX 2 x: y: LANGUAGE english SCHEMA t TEXT')).toBe(
      1,
    )
    expect(
      run('SEARCH.CREATE c LANGUAGE english PREFIX 1 x: ON string SCHEMA t TEXT FROM u NOSTEM v TEXT NOSTEM FROM u'),
    ).toBe(1)
    expect(() => run('SEARCH.CREATE d ON JSON SCHEMA t TEXT PREFIX 1 x:')).toThrow(/^ERR /)
    expect(() => run('SEARCH.CREATE d ON JSON PREFIX 1 x: SCHEMA')).toThrow(/^ERR /)
    expect(() => run('SEARCH.CREATE d ON LIST PREFIX 1 x: SCHEMA t TEXT')).toThrow(/^ERR /)
    expect(() => run('SEARCH.CREATE d ON JSON PREFIX 1 x: LANGUAGE klingon SCHEMA t TEXT')).toThrow(/^ERR /)
    expect(() => run('SEARCH.CREATE d ON JSON PREFIX 3 x: y: SCHEMA t TEXT')).toThrow(/^ERR /)
    expect(() => run('SEARCH.CREATE')).toThrow("ERR wrong number of arguments for 'search.create' command")
  })

  it.each([
    ['FAST', ['U64', 'I64', 'F64', 'BOOL', 'DATE']],
    ['NOSTEM', ['TEXT']],
    ['NOTOKENIZE', ['TEXT']],
    ['FROM source', ['TEXT', 'KEYWORD', 'U64', 'I64', 'F64', 'BOOL', 'DATE', 'FACET']],
  ])('%s is allowed only for %s', (option, allowed) => {
    for (const type of ['TEXT', 'KEYWORD', 'U64', 'I64', 'F64', 'BOOL', 'DATE', 'FACET']) {
      const create = () => run(`SEARCH.CREATE one ON JSON PREFIX 1 x: SCHEMA f ${type} ${option}`)
      if (!allowed.includes(type)) expect(create, type).toThrow(/^ERR /)
      else expect(create(), type).toBe(1)
      run('SEARCH.DROP one')
    }
  })

  it('allows FAST for KEYWORD if the policy does', async () => {
    run = running(await searchingSandbox({ policy: { searchKeywordFast: 'accept' } }))
    expect(run('SEARCH.CREATE one ON JSON PREFIX 1 x: SCHEMA f KEYWORD FAST')).toBe(1)
  })

  it('rejects prefixes that are equal or overlap, and accepts several others', () => {
    for (const prefixes of ['2 user: user:', '2 user: user:admin:', '2 user:admin: user:']) {
      expect(() => run(`SEARCH.CREATE one ON JSON PREFIX ${prefixes} SCHEMA t TEXT`)).toThrow(/^ERR /)
    }
    expect(run('SEARCH.CREATE one ON JSON PREFIX 2 user: admin: SCHEMA t TEXT')).toBe(1)
    expect(run('SEARCH.CREATE two ON JSON PREFIX 1 user: SCHEMA t TEXT')).toBe(1)
  })

  it('rejects the name of another key', () => {
    run('SET books x')
    expect(() => run(`${books} SCHEMA t TEXT`)).toThrow()
    expect(run('GET books')).toBe('x')
  })

  it('rejects the eleventh index, unless the policy allows more', async () => {
    for (let at = 1; at <= 10; at++) expect(run(`SEARCH.CREATE i${at} ON JSON PREFIX 1 x: SCHEMA t TEXT`)).toBe(1)
    expect(() => run('SEARCH.CREATE i11 ON JSON PREFIX 1 x: SCHEMA t TEXT')).toThrow(
      'ERR Exceeded max index count of 10',
    )
    run('SEARCH.DROP i1')
    expect(run('SEARCH.CREATE i11 ON JSON PREFIX 1 x: SCHEMA t TEXT')).toBe(1)
    run = running(await searchingSandbox({ policy: { maxSearchIndexes: undefined } }))
    for (let at = 1; at <= 12; at++) expect(run(`SEARCH.CREATE i${at} ON JSON PREFIX 1 x: SCHEMA t TEXT`)).toBe(1)
  })

  it('scans the existing keys, unless SKIPINITIALSCAN is given', () => {
    run('JSON.SET book:1 $', '{"title":"one"}')
    run(`${books} SCHEMA title TEXT`)
    run('SEARCH.CREATE skipped ON JSON PREFIX 1 book: SKIPINITIALSCAN SCHEMA title TEXT')
    run('JSON.SET book:2 $', '{"title":"two"}')
    expect(run('SEARCH.COUNT books', '{}')).toBe(2)
    expect(keysOf(run('SEARCH.QUERY skipped', '{}'))).toEqual(['book:2'])
  })
})

describe('other commands of an index', () => {
  it('do not fail for a missing index [0]', () => {
    expect(run('SEARCH.QUERY none', '{}')).toBeNull()
    expect(run('SEARCH.COUNT none', '{}')).toBe(-1)
    expect(run('SEARCH.AGGREGATE none', '{}', '{}')).toBeNull()
    expect(run('SEARCH.DESCRIBE none')).toBeNull()
    expect(run('SEARCH.WAITINDEXING none')).toBe(0)
    expect(run('SEARCH.REINDEX none')).toBe(0)
    expect(run('SEARCH.DROP none')).toBe(0)
  })

  it('DESCRIBE returns the whole definition [4]', () => {
    run(
      'SEARCH.CREATE books ON HASH PREFIX 2 book: novel: LANGUAGE english SCHEMA title TEXT NOSTEM NOTOKENIZE pages U64 FAST by.name KEYWORD FROM author',
    )
    run('HSET book:1 title Dune pages 412 author Herbert')
    const reply = run('SEARCH.DESCRIBE books') as PlainReply[]
    const told = Object.fromEntries(
      Array.from({ length: reply.length / 2 }, (_, at) => reply.slice(2 * at, 2 * at + 2)),
    )
    expect(told).toEqual({
      name: 'books',
      type: 'HASH',
      prefixes: ['book:', 'novel:'],
      language: 'english',
      indexSize: expect.any(Number),
      pendingUpdates: 0,
      schema: [
        ['title', 'TEXT', 'NOSTEM', 'NOTOKENIZE'],
        ['pages', 'U64', 'FAST'],
        ['by.name', 'KEYWORD', 'FROM', 'author'],
      ],
    })
    expect(reply.filter((_, at) => at % 2 === 0)).toEqual([
      'name',
      'type',
      'prefixes',
      'language',
      'indexSize',
      'pendingUpdates',
      'schema',
    ])
    expect(told.indexSize).toBeGreaterThan(0)
  })

  it('DROP keeps the keys, and rejects an alias [3]', () => {
    run('JSON.SET book:1 $', '{"title":"one"}')
    run(`${books} SCHEMA title TEXT`)
    run('SEARCH.ALIASADD b books')
    expect(run('SEARCH.DROP b')).toBe(0)
    expect(run('SEARCH.DROP books')).toBe(1)
    expect(run('EXISTS book:1 books')).toBe(1)
    expect(run('SEARCH.LISTALIASES')).toEqual([['b', 'books']])
    expect(run('SEARCH.COUNT b', '{}')).toBe(-1)
  })

  it('LISTINDEXES sorts, filters and pages [6]', () => {
    for (const [name, type] of [
      ['c', 'HASH'],
      ['a', 'JSON'],
      ['ab', 'STRING'],
    ]) {
      run(`SEARCH.CREATE ${name} ON ${type} PREFIX 1 x: SCHEMA t TEXT`)
    }
    const [a, ab, c] = [
      ['name', 'a', 'type', 'JSON'],
      ['name', 'ab', 'type', 'STRING'],
      ['name', 'c', 'type', 'HASH'],
    ]
    expect(run('SEARCH.LISTINDEXES')).toEqual([a, ab, c])
    expect(run('SEARCH.LISTINDEXES MATCH a*')).toEqual([a, ab])
    expect(run('SEARCH.LISTINDEXES LIMIT 1 OFFSET 1')).toEqual([ab])
    expect(run('SEARCH.LISTINDEXES LIMIT 0 OFFSET 2')).toEqual([c])
    expect(run('SEARCH.LISTINDEXES MATCH a* LIMIT 5 OFFSET 1')).toEqual([ab])
    expect(() => run('SEARCH.LISTINDEXES LIMIT -1')).toThrow(/^ERR /)
  })

  it('REINDEX finds what the initial scan skipped [2]', () => {
    run('JSON.SET book:1 $', '{"title":"one"}')
    run(`${books} SKIPINITIALSCAN SCHEMA title TEXT`)
    expect(run('SEARCH.COUNT books', '{}')).toBe(0)
    expect(run('SEARCH.REINDEX books')).toBe(1)
    expect(run('SEARCH.COUNT books', '{}')).toBe(1)
  })
})

describe('aliases [10]', () => {
  it('are added, changed, listed and deleted', () => {
    expect(run('SEARCH.LISTALIASES')).toEqual([])
    expect(run('SEARCH.ALIASADD now books')).toBe(1)
    expect(run('SEARCH.ALIASADD now books')).toBe(2)
    expect(run('SEARCH.ALIASADD now other')).toBe(2)
    expect(run('SEARCH.ALIASADD too other')).toBe(1)
    expect(run('SEARCH.LISTALIASES')).toEqual(
      expect.arrayContaining([
        ['now', 'other'],
        ['too', 'other'],
      ]),
    )
    expect(run('SEARCH.ALIASDEL now')).toBe(1)
    expect(run('SEARCH.ALIASDEL now')).toBe(0)
    expect(run('SEARCH.LISTALIASES')).toEqual([['too', 'other']])
  })

  it('refer to the index in every command except DROP', () => {
    run('JSON.SET book:1 $', '{"title":"one"}')
    run(`${books} SCHEMA title TEXT`)
    run('SEARCH.ALIASADD b books')
    expect(run('SEARCH.COUNT b', '{}')).toBe(1)
    expect(keysOf(run('SEARCH.QUERY b', '{"title":"one"}'))).toEqual(['book:1'])
    expect((run('SEARCH.DESCRIBE b') as PlainReply[])[1]).toBe('books')
    expect(run('SEARCH.WAITINDEXING b')).toBe(1)
    expect(run('SEARCH.REINDEX b')).toBe(1)
  })

  it('can change from an old index to a new one', () => {
    run('JSON.SET book:1 $', '{"title":"one","year":1965}')
    run(`${books} SCHEMA title TEXT`)
    run('SEARCH.ALIASADD b books')
    run('SEARCH.CREATE v2 ON JSON PREFIX 1 book: SCHEMA title TEXT year U64 FAST')
    expect(run('SEARCH.WAITINDEXING v2')).toBe(1)
    expect(run('SEARCH.ALIASADD b v2')).toBe(2)
    expect(run('SEARCH.DROP books')).toBe(1)
    expect(run('SEARCH.COUNT b', '{"year":{"$gte":1965}}')).toBe(1)
  })
})

describe('an index as a key [1]', () => {
  it('has the type search, which a scan finds', () => {
    run('SET x y')
    run(`${books} SCHEMA title TEXT`)
    expect(run('TYPE books')).toBe('search')
    expect(run('SCAN 0 TYPE search')).toEqual(['0', ['books']])
    expect(() => run('GET books')).toThrow('WRONGTYPE')
  })

  it('is deleted, renamed and expires like any key', async () => {
    run('JSON.SET book:1 $', '{"title":"one"}')
    run(`${books} SCHEMA title TEXT`)
    run('RENAME books moved')
    expect(run('SEARCH.COUNT books', '{}')).toBe(-1)
    expect(run('SEARCH.COUNT moved', '{}')).toBe(1)
    run('COPY moved books')
    run('JSON.SET book:2 $', '{"title":"two"}')
    expect([run('SEARCH.COUNT books', '{}'), run('SEARCH.COUNT moved', '{}')]).toEqual([2, 2])
    run('EXPIRE moved 10')
    await sandbox.clock.advance('11s')
    expect(run('SEARCH.COUNT moved', '{}')).toBe(-1)
    expect(run('DEL books')).toBe(1)
    expect(run('SEARCH.LISTINDEXES')).toEqual([])
    run(`${books} SCHEMA title TEXT`)
    run('SEARCH.ALIASADD b books')
    run('FLUSHDB')
    expect([run('SEARCH.LISTINDEXES'), run('SEARCH.LISTALIASES')]).toEqual([[], []])
  })

  it('keeps its content with DUMP and RESTORE', () => {
    run('HSET book:1 title one')
    run('SEARCH.CREATE books ON HASH PREFIX 1 book: LANGUAGE english SCHEMA title TEXT by KEYWORD FROM author')
    const before = run('SEARCH.DESCRIBE books')
    sandbox.store.run('EVAL', "return redis.call('RESTORE', 'again', 0, redis.call('DUMP', 'books'))", 0)
    expect((run('SEARCH.DESCRIBE again') as PlainReply[]).slice(2)).toEqual((before as PlainReply[]).slice(2))
  })
})

describe('loading the search engine', () => {
  it('is awaited by REST in every form', async () => {
    const { urls, tokens, fetch } = createSandbox()
    const send = async (path: string, body: unknown) => {
      const answer = await fetch(urls.store + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${tokens.store}` },
        body: JSON.stringify(body),
      })
      return answer.json()
    }
    const create = (name: string, language: string) =>
      `SEARCH.CREATE ${name} ON JSON PREFIX 1 x: LANGUAGE ${language} SCHEMA t TEXT`.split(' ')
    expect(await send('', create('one', 'finnish'))).toEqual({ result: 1 })
    expect(await send('/pipeline', [['PING'], create('two', 'swedish')])).toEqual([{ result: 'PONG' }, { result: 1 }])
    expect(await send('/multi-exec', [create('three', 'tamil')])).toEqual([{ result: 1 }])
    expect(await send('/search.create/four/ON/JSON/PREFIX/1/x:/LANGUAGE/turkish/SCHEMA/t/TEXT', undefined)).toEqual({
      result: 1,
    })
    const script =
      'return redis.call("SEARCH.CREATE", "five", "ON", "JSON", "PREFIX", "1", "x:", "LANGUAGE", "romanian", "SCHEMA", "t", "TEXT")'
    expect(await send('', ['EVAL', script, 0])).toEqual({ result: 1 })
  })

  it('is awaited by a connection, in order', async () => {
    const { store } = createSandbox()
    const connection = store.connect()
    const replies = [
      connection.run('SET', 'x', '1'),
      connection.run(...'SEARCH.CREATE i ON JSON PREFIX 1 x: LANGUAGE hungarian SCHEMA t TEXT'.split(' ')),
      connection.run('SEARCH.COUNT', 'i', '{}'),
      connection.run('GET', 'x'),
    ]
    expect(await Promise.all(replies)).toEqual(['OK', 1, 0, '1'])
  })

  it('throws an error in run() with the required call', async () => {
    // As in a process that has not searched before.
    vi.resetModules()
    const { createSandbox } = await import('../../../src/sandbox/sandbox.js')
    const { store } = createSandbox()
    const create = 'SEARCH.CREATE i ON JSON PREFIX 1 x: LANGUAGE norwegian SCHEMA t TEXT'.split(' ')
    expect(() => store.run(...create)).toThrow("await sandbox.store.loadSearch('norwegian')")
    expect(store.run('EXISTS', 'i')).toBe(0)
    await store.loadSearch('norwegian')
    expect(store.run(...create)).toBe(1)
  })

  it('does not affect forks from before', async () => {
    vi.resetModules()
    const { createSandbox } = await import('../../../src/sandbox/sandbox.js')
    const sandbox = createSandbox()
    const create = 'SEARCH.CREATE i ON JSON PREFIX 1 x: SCHEMA t TEXT'.split(' ')
    const script = `redis.call("SET", "half", "done") return redis.call("${create.join('", "')}")`
    expect(() => sandbox.store.run(...create)).toThrow(TypeError)
    expect(() => sandbox.store.run('EVAL', script, 0)).toThrow(TypeError)
    await sandbox.store.loadSearch()
    sandbox.store.run('SET', 'later', 1)
    const fork = await sandbox.fork()
    expect(fork.store.run('EXISTS', 'i', 'half', 'later')).toBe(2)
    expect(fork.store.run(...create)).toBe(1)
  })
})
