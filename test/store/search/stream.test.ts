import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { latin1 } from '../../../src/kernel/bytes.js'
import { createRandom } from '../../../src/kernel/random.js'
import { defaultPolicy, type Policy } from '../../../src/policy/policy.js'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'
import { AccessControl } from '../../../src/store/access/access-control.js'
import type { CommandArg, PlainReply } from '../../../src/store/direct-store.js'
import { StoreEngine } from '../../../src/store/store-engine.js'
import { SearchIndex } from '../../../src/store/values/search-index.js'
import { Stream } from '../../../src/store/values/stream-value.js'
import { Rest } from '../../support/ask.js'
import { runs } from '../../support/effort.js'
import { keysOf, running, searchingSandbox } from './searching.js'

// Indexes over streams. [search.md 15]

let sandbox: Sandbox
let run: (line: string, ...words: readonly CommandArg[]) => PlainReply

async function open(policy: Partial<Policy> = {}): Promise<void> {
  sandbox = await searchingSandbox({ policy })
  run = running(sandbox)
}

beforeEach(() => open())

const schema = 'message TEXT service KEYWORD severity U64 FAST occurredAt DATE FAST'
const create = `SEARCH.CREATE ev ON STREAM events SCHEMA ${schema}`
const failed: CommandArg[] = [
  ...['message', 'Payment authorization failed', 'service', 'checkout'],
  ...['severity', 4, 'occurredAt', '2026-08-24T09:30:00Z'],
]
const completed: CommandArg[] = [
  ...['message', 'Order completed', 'service', 'checkout'],
  ...['severity', 1, 'occurredAt', '2026-08-24T09:31:00Z'],
]
const alarming = '{"message":"authorization","severity":{"$gte":3}}'
const count = (filter = '{}') => run('SEARCH.COUNT ev', filter)
const ids = (filter = '{}') => keysOf(run('SEARCH.QUERY ev', filter))

function fill(): void {
  run(create)
  run('XADD events 1-0', ...failed)
  run('XADD events 2-0', ...completed)
}

describe('the worked example of the documentation', () => {
  // Each way removes entry 1-0 and keeps 2-0.
  it.each<[way: string, ...CommandArg[][]]>([
    ['XDEL', ['XDEL', 'events', '1-0']],
    ['XDELEX', ['XDELEX', 'events', 'IDS', 1, '1-0']],
    ['XDELEX DELREF', ['XDELEX', 'events', 'DELREF', 'IDS', 1, '1-0']],
    [
      'XACKDEL',
      ['XGROUP', 'CREATE', 'events', 'g', 0],
      ['XREADGROUP', 'GROUP', 'g', 'c', 'COUNT', 1, 'STREAMS', 'events', '>'],
      ['XACKDEL', 'events', 'g', 'IDS', 1, '1-0'],
    ],
    ['XTRIM MAXLEN', ['XTRIM', 'events', 'MAXLEN', 1]],
    ['XTRIM MINID', ['XTRIM', 'events', 'MINID', '2-0']],
    [
      'XTRIM ACKED',
      ['XGROUP', 'CREATE', 'events', 'g', 0],
      ['XREADGROUP', 'GROUP', 'g', 'c', 'COUNT', 1, 'STREAMS', 'events', '>'],
      ['XACK', 'events', 'g', '1-0'],
      ['XTRIM', 'events', 'MAXLEN', '=', 0, 'ACKED'],
    ],
    ['XADD MAXLEN', ['XADD', 'events', 'MAXLEN', 2, '3-0', 'message', 'third']],
    ['XADD MINID', ['XADD', 'events', 'MINID', '2-0', '3-0', 'message', 'third']],
    ['a script', ['EVAL', "return redis.call('XDEL', KEYS[1], '1-0')", 1, 'events']],
  ])('finds an entry until %s removes it', (_way, ...removal) => {
    expect(run(create)).toBe(1)
    expect(run('XADD events 1-0', ...failed)).toBe('1-0')
    expect(run('XADD events 2-0', ...completed)).toBe('2-0')
    expect(run('SEARCH.WAITINDEXING ev')).toBe(1)
    const query = () => run('SEARCH.QUERY ev', alarming, ...'SELECT 3 message service severity'.split(' '))
    expect(query()).toEqual([
      [
        '1-0',
        expect.any(String),
        [
          ['message', 'Payment authorization failed'],
          ['service', 'checkout'],
          ['severity', '4'],
        ],
      ],
    ])
    for (const words of removal) sandbox.store.run(...(words as [string]))
    expect(run('SEARCH.WAITINDEXING ev')).toBe(1)
    expect(query()).toEqual([])
    expect(ids('{"message":"completed"}')).toEqual(['2-0'])
    expect(() => run('SEARCH.CREATE e2 ON STREAM events SCHEMA description TEXT FROM message')).toThrow(
      'ERR Stream events is already bound to index ev',
    )
    expect(run('DEL events')).toBe(1)
    expect(count()).toBe(0)
    expect((run('SEARCH.DESCRIBE ev') as PlainReply[]).slice(0, 6)).toEqual([
      ...['name', 'ev', 'type', 'STREAM'],
      ...['prefixes', ['events']],
    ])
  })

  it.each<[way: string, ...CommandArg[][]]>([
    ['DEL', ['DEL', 'events']],
    ['UNLINK', ['UNLINK', 'events']],
    ['PEXPIRE in the past', ['PEXPIRE', 'events', -1]],
    ['SET', ['SET', 'events', 'a string']],
    ['RENAME of another key', ['HSET', 'other', 'f', 'v'], ['RENAME', 'other', 'events']],
    ['a transaction of a script', ['EVAL', "return redis.call('DEL', KEYS[1])", 1, 'events']],
  ])('finds no entry after %s, and then those of a new stream', (_way, ...removal) => {
    fill()
    expect(count()).toBe(2)
    for (const words of removal) sandbox.store.run(...(words as [string]))
    expect([count(), ids()]).toEqual([0, []])
    run('DEL events')
    // The new stream reuses an ID.
    run('XADD events 1-0 message new')
    expect([ids('{"message":"new"}'), count(alarming), count()]).toEqual([['1-0'], 0, 1])
  })

  it('finds no entry after the expiration of the stream', async () => {
    fill()
    expect(count()).toBe(2)
    run('PEXPIRE events 1000')
    await sandbox.clock.advance(999)
    expect(count()).toBe(2)
    await sandbox.clock.advance(1)
    expect([count(), run('EXISTS events')]).toEqual([0, 0])
    run('XADD events 5-0', ...failed)
    expect(ids()).toEqual(['5-0'])
  })

  it('finds the entries of a stream that RESTORE brings back or replaces', () => {
    fill()
    const restore = (options: string) =>
      sandbox.store.run('EVAL', `return redis.call('RESTORE', 'events', 0, redis.call('GET', 'kept')${options})`, 0)
    sandbox.store.run('EVAL', "return redis.call('SET', 'kept', redis.call('DUMP', 'events'))", 0)
    run('DEL events')
    expect(count()).toBe(0)
    restore('')
    expect(ids()).toEqual(['1-0', '2-0'])
    run('XADD events 3-0', ...failed)
    run('XDEL events 1-0')
    expect(ids()).toEqual(['2-0', '3-0'])
    restore(", 'REPLACE'")
    expect(ids()).toEqual(['1-0', '2-0'])
    run('XDEL events 2-0')
    expect(ids()).toEqual(['1-0'])
  })

  it('FLUSHDB deletes the index with the stream', () => {
    fill()
    run('FLUSHDB')
    expect(count()).toBe(-1)
    run('XADD events 1-0', ...failed)
    run(create)
    expect(ids()).toEqual(['1-0'])
  })
})

describe('SEARCH.CREATE … ON STREAM', () => {
  it('accepts its clauses in any order, and no prefixes', () => {
    expect(run('search.create a SKIPINITIALSCAN EXISTSOK on stream s1 LANGUAGE english schema t TEXT')).toBe(1)
    expect(run('SEARCH.CREATE b LANGUAGE english ON STREAM s2 SCHEMA t TEXT FROM u')).toBe(1)
    for (const clauses of ['ON STREAM s3 PREFIX 1 s3', 'PREFIX 1 s3 ON STREAM s3'])
      expect(() => run(`SEARCH.CREATE c ${clauses} SCHEMA t TEXT`)).toThrow('ERR syntax error')
    expect(() => run('SEARCH.CREATE c ON STREAM SCHEMA t TEXT')).toThrow(/^ERR /)
    expect(() => run('SEARCH.CREATE c ON STREAM s3')).toThrow('wrong number of arguments')
    expect(() => run('SEARCH.CREATE c ON STREAM s3 SCHEMA t')).toThrow(/^ERR /)
    expect(run('SEARCH.LISTINDEXES')).toEqual([
      ['name', 'a', 'type', 'STREAM'],
      ['name', 'b', 'type', 'STREAM'],
    ])
  })

  it('takes the entries that exist, unless SKIPINITIALSCAN is given, and REINDEX takes all', () => {
    run('XADD events 1-0', ...failed)
    expect(run(`SEARCH.CREATE ev ON STREAM events SKIPINITIALSCAN SCHEMA ${schema}`)).toBe(1)
    run('XADD events 2-0', ...completed)
    expect(ids()).toEqual(['2-0'])
    // The skipped entry is not a document, and its deletion is no change.
    run('XDEL events 2-0')
    expect(ids()).toEqual([])
    expect(run('SEARCH.REINDEX ev')).toBe(1)
    expect(ids()).toEqual(['1-0'])
    run('SEARCH.DROP ev')
    run(create)
    expect(ids()).toEqual(['1-0'])
  })

  it('takes the key of a value of another type, and covers a later stream', () => {
    run('HSET events message order')
    run(create)
    expect(count()).toBe(0)
    run('HSET events message failed')
    expect(count()).toBe(0)
    run('DEL events')
    run('XADD events 1-0', ...failed)
    expect(ids()).toEqual(['1-0'])
    expect(run('COMMAND GETKEYS', ...create.split(' '))).toEqual(['ev', 'events'])
  })

  it('EXISTSOK compares the type, the stream and the schema', () => {
    expect(run(create)).toBe(1)
    const again = (on: string, fields = schema) => run(`SEARCH.CREATE ev ${on} EXISTSOK SCHEMA ${fields}`)
    expect(again('ON STREAM events')).toBe(0)
    expect(() => run(create)).toThrow('ERR Index ev already exists')
    for (const on of ['ON STREAM other', 'ON HASH PREFIX 1 events'])
      expect(() => again(on)).toThrow('ERR Index ev already exists with a different configuration')
    expect(() => again('ON STREAM events', 'message TEXT')).toThrow('different configuration')
  })

  it('allows a second index after SEARCH.DROP, and after the index key is deleted or expires', async () => {
    fill()
    const second = () => run('SEARCH.CREATE e2 ON STREAM events SCHEMA message TEXT')
    const bound = 'ERR Stream events is already bound to index '
    for (const end of [() => run('SEARCH.DROP ev'), () => run('DEL ev'), () => run('PEXPIRE ev -1')]) {
      expect(second).toThrow(`${bound}ev`)
      end()
      expect(second()).toBe(1)
      expect(run('SEARCH.COUNT e2', '{"message":"order"}')).toBe(1)
      run('DEL e2')
      run(create)
    }
    run('PEXPIRE ev 1000')
    expect(second).toThrow(bound)
    await sandbox.clock.advance('2s')
    expect(second()).toBe(1)
    // Other streams are free.
    expect(run('SEARCH.CREATE e3 ON STREAM other SCHEMA message TEXT')).toBe(1)
  })

  it('also rejects a second index by COPY and RESTORE, but not RENAME of the index', () => {
    fill()
    expect(() => run('COPY ev e2')).toThrow('ERR Stream events is already bound to index ev')
    const restore = "return redis.call('RESTORE', KEYS[1], 0, redis.call('DUMP', 'ev'), 'REPLACE')"
    expect(() => run('EVAL', restore, 1, 'e2')).toThrow('Stream events is already bound to index ev')
    expect(run('EVAL', restore, 1, 'ev')).toBe('OK')
    run('XADD events 3-0', ...failed)
    expect(ids()).toEqual(['1-0', '2-0', '3-0'])
    run('RENAME ev moved')
    run('XADD events 4-0', ...failed)
    run('XDEL events 1-0')
    expect(keysOf(run('SEARCH.QUERY moved', '{}'))).toEqual(['2-0', '3-0', '4-0'])
    expect(() => run(create)).toThrow('ERR Stream events is already bound to index moved')
  })

  it('needs the right to read the stream', async () => {
    const token = run('ACL GENTOKEN ada') as string
    run(`ACL SETUSER ada on >${token} +@all ~ev`)
    const rest = new Rest(sandbox)
    const ask = () => rest.post('', create.split(' '), { token })
    expect((await ask()).json).toEqual({ error: expect.stringContaining('NOPERM') })
    run('ACL SETUSER ada %R~events')
    expect((await ask()).json).toEqual({ result: 1 })
  })
})

describe('documents of a stream', () => {
  it('have all fields of the entry as texts, in every kind of query', () => {
    run(create)
    run('XADD events 1-0', ...failed, 'trace', '{"id":7}')
    run('XADD events 2-0', ...completed)
    const rows = (...words: CommandArg[]) => run('SEARCH.QUERY ev', '{"service":"checkout"}', ...words)
    expect(rows('LIMIT', 1)).toEqual([
      [
        '1-0',
        '1',
        [
          ['message', 'Payment authorization failed'],
          ['service', 'checkout'],
          ['severity', '4'],
          ['occurredAt', '2026-08-24T09:30:00Z'],
          ['trace', '{"id":7}'],
        ],
      ],
    ])
    expect(rows('NOCONTENT', 'OFFSET', 1)).toEqual([['2-0', '1']])
    expect(rows('ORDERBY', 'severity', 'ASC', 'SELECT', 2, 'severity', 'none')).toEqual([
      ['2-0', '1', [['severity', '1']]],
      ['1-0', '4', [['severity', '4']]],
    ])
    expect(keysOf(rows('SCOREFUNC', 'SCOREMODE', 'REPLACE', 'FIELDVALUE', 'severity'))).toEqual(['1-0', '2-0'])
    expect(
      run('SEARCH.QUERY ev', '{"message":"order"}', ...'SELECT 1 message HIGHLIGHT FIELDS 1 message'.split(' ')),
    ).toEqual([['2-0', expect.any(String), [['message', '<em>Order</em> completed']]]])
    expect(run('SEARCH.AGGREGATE ev', '{}', '{"by":{"$terms":{"field":"service"}}}')).toEqual([
      'by',
      ['buckets', [['key', 'checkout', 'docCount', 2]], 'sumOtherDocCount', 0, 'docCountErrorUpperBound', 0],
    ])
  })

  it('have the names of FROM in filters, and those of the entry in SELECT', () => {
    run('SEARCH.CREATE ev ON STREAM events SCHEMA text TEXT FROM a.b exact KEYWORD FROM a.b')
    run('XADD events 1-0 a.b', 'Red Shoe')
    expect([count('{"text":"shoe"}'), count('{"exact":"Red Shoe"}'), count('{"exact":"shoe"}')]).toEqual([1, 1, 0])
    expect(run('SEARCH.QUERY ev', '{"text":"shoe"}', 'SELECT', 2, 'text', 'a.b')).toEqual([
      ['1-0', expect.any(String), [['a.b', 'Red Shoe']]],
    ])
  })

  it.each<[type: string, value: string, filter: unknown, isFound: boolean]>([
    ['U64', '4', 4, true],
    ['U64', '-4', { $lte: 0 }, false],
    ['U64', 'four', { $gte: 0 }, false],
    ['U64', '18446744073709551615', { $gt: 9 }, true],
    ['I64', '-4', -4, true],
    ['F64', '2.5', { $gt: 2, $lt: 3 }, true],
    ['F64', '', { $gte: 0 }, false],
    ['BOOL', 'true', true, true],
    ['BOOL', 'false', false, true],
    ['BOOL', 'TRUE', true, false],
    ['BOOL', '1', true, false],
    ['DATE', '2026-08-24T09:30:00Z', '2026-08-24T09:30:00Z', true],
    ['DATE', '2026-08-24T11:30:00+02:00', '2026-08-24T09:30:00Z', true],
    ['DATE', 'yesterday', { $gte: '0001-01-01' }, false],
    ['KEYWORD', 'Red Shoe', 'Red Shoe', true],
    ['KEYWORD', '', '', false],
    ['FACET', '/a/b', '/a', true],
    ['FACET', 'a', '/', false],
    ['TEXT', 'Red shoes', 'shoe', true],
    ['TEXT', '', 'shoe', false],
  ])('%s reads the text "%s", and leaves out what it cannot read', (type, value, filter, isFound) => {
    run(`SEARCH.CREATE ev ON STREAM events SCHEMA f ${type} other KEYWORD`)
    run('XADD events 1-0 other x f', value)
    expect(count(JSON.stringify({ f: filter }))).toBe(Number(isFound))
    expect(count('{"other":"x"}')).toBe(1)
    // Without any value of the schema, the entry is no document.
    run('XADD events 2-0 more x f', value)
    run('XADD events 3-0 more x')
    expect(ids()).toEqual(isFound ? ['1-0', '2-0'] : ['1-0'])
  })

  it('have the last value of a repeated field', () => {
    run('SEARCH.CREATE ev ON STREAM events SCHEMA k KEYWORD')
    run('XADD events 1-0 k a k b')
    expect([count('{"k":"a"}'), count('{"k":"b"}')]).toEqual([0, 1])
  })

  it('can use an ID again after XSETID', () => {
    run('SEARCH.CREATE ev ON STREAM events SCHEMA k KEYWORD')
    run('XADD events 1-0 k old')
    run('XADD events 2-0 k old')
    expect(count()).toBe(2)
    run('XDEL events 2-0')
    run('XSETID events 1-0')
    run('XADD events 2-0 k new')
    expect([ids('{"k":"new"}'), count('{"k":"old"}')]).toEqual([['2-0'], 1])
  })
})

describe('policy.searchIndexingDelay', () => {
  const pending = () => (run('SEARCH.DESCRIBE ev') as PlainReply[])[11]

  it('delays added, trimmed and deleted entries, and whole streams', async () => {
    await open({ searchIndexingDelay: 500 })
    run('XADD events 1-0', ...failed)
    run(create)
    expect([pending(), count()]).toEqual([1, 0])
    run('XADD events 2-0', ...completed)
    run('SEARCH.WAITINDEXING ev')
    expect([pending(), count()]).toEqual([0, 2])
    run('XDEL events 1-0')
    await sandbox.clock.advance(300)
    run('XADD events 3-0', ...completed)
    // The document is counted, but its entry cannot be shown.
    expect([pending(), count(), ids()]).toEqual([2, 2, ['2-0']])
    await sandbox.clock.advance(200)
    expect([pending(), count()]).toEqual([1, 1])
    run('DEL events')
    expect([count(), ids()]).toEqual([1, []])
    await sandbox.clock.advance(499)
    expect(count()).toBe(1)
    run('XADD events 9-0', ...failed)
    await sandbox.clock.advance(1)
    expect([pending(), count()]).toEqual([1, 0])
    await sandbox.clock.advance(499)
    expect(ids()).toEqual(['9-0'])
    run('XADD events 10-0', ...failed)
    run('XTRIM events MAXLEN 1')
    expect(ids()).toEqual([])
    run('SEARCH.WAITINDEXING ev')
    expect(ids()).toEqual(['10-0'])
  })

  it('has nothing to wait for after XACK, XCLAIM, XGROUP and reads', async () => {
    await open({ searchIndexingDelay: 500 })
    fill()
    run('SEARCH.WAITINDEXING ev')
    run('XGROUP CREATE events g 0')
    run('XREADGROUP GROUP g c STREAMS events >')
    run('XACK events g 1-0')
    run('XCLAIM events g d 0 2-0')
    run('XGROUP SETID events g 0')
    run('XGROUP DELCONSUMER events g d')
    run('XGROUP DESTROY events g')
    run('EXPIRE events 100')
    run('XADD other 1-0 message order')
    expect([pending(), count()]).toEqual([0, 2])
  })
})

describe('RENAME, RENAMENX and COPY of streams', () => {
  const all = ['RENAME events to', 'RENAMENX events to', 'COPY events to']
  const refusal = (line: string) => `ERR ${line.split(' ')[0]} is not supported for stream keys`

  beforeEach(() => {
    fill()
    run('XADD free 7-0', ...failed)
  })

  it('are rejected for streams with an index', () => {
    for (const line of all) expect(() => run(line), line).toThrow(refusal(line))
    // Also onto the key of such a stream, but not for other streams and other types.
    for (const line of ['RENAME free events', 'COPY free events REPLACE'])
      expect(() => run(line), line).toThrow(refusal(line))
    expect(run('COPY free other')).toBe(1)
    expect(run('RENAME free to')).toBe('OK')
    expect(() => run('RENAME none to')).toThrow('ERR no such key')
    expect(run('COPY none to')).toBe(0)
    run('SEARCH.DROP ev')
    expect(run('RENAME events more')).toBe('OK')
    expect(run('SET string x')).toBe('OK')
    expect(run('RENAME string events')).toBe('OK')
  })

  it('are rejected for all streams under refuse', async () => {
    await open({ streamRename: 'refuse' })
    run('XADD events 1-0 a b')
    for (const line of all) expect(() => run(line), line).toThrow(refusal(line))
    run('SET string x')
    expect(run('RENAME string events')).toBe('OK')
  })

  it('move entries out of and into an index under allow', async () => {
    await open({ streamRename: 'allow' })
    fill()
    run('XADD free 7-0', ...failed)
    expect(run('COPY events copied')).toBe(1)
    run('XADD copied 3-0', ...failed)
    expect(count()).toBe(2)
    expect(run('RENAME events moved')).toBe('OK')
    expect(count()).toBe(0)
    run('XADD moved 8-0', ...failed)
    expect(count()).toBe(0)
    expect(run('RENAME free events')).toBe('OK')
    run('XADD events 9-0', ...failed)
    expect(ids()).toEqual(['7-0', '9-0'])
    expect(run('COPY moved events REPLACE')).toBe(1)
    expect(ids()).toEqual(['1-0', '2-0', '8-0'])
    run('XADD moved 10-0', ...failed)
    expect(count()).toBe(3)
  })
})

describe('policy.maxSearchDocuments', () => {
  it('rejects XADD for a stream with an index', async () => {
    await open({ maxSearchDocuments: 2 })
    fill()
    const add = (key: string) => run(`XADD ${key} *`, ...failed)
    expect(() => add('events')).toThrow('ERR Index ev has reached its document limit')
    for (let at = 0; at < 3; at++) expect(add('other')).toEqual(expect.any(String))
    run('XDEL events 1-0')
    expect(add('events')).toEqual(expect.any(String))
    expect(() => add('events')).toThrow('document limit')
    run('SEARCH.DROP ev')
    expect(add('events')).toEqual(expect.any(String))
    expect(run('XLEN events')).toBe(3)
  })

  it('creates no stream that XADD may not fill', async () => {
    await open({ maxSearchDocuments: 0 })
    run(create)
    expect(() => run('XADD events 1-0', ...failed)).toThrow('document limit')
    expect(run('EXISTS events')).toBe(0)
    run('SET events x')
    expect(() => run('XADD events 1-0', ...failed)).toThrow('WRONGTYPE')
  })
})

describe('an index over a stream as part of the store', () => {
  it('is part of snapshots, forks and reads of the past', async () => {
    fill()
    run('SEARCH.ALIASADD alias ev')
    await sandbox.clock.advance('1m')
    const then = sandbox.clock.now()
    const kept = sandbox.dump()
    await sandbox.clock.advance('1m')
    run('XDEL events 1-0')
    run('XADD events 3-0', ...failed)
    const fork = await sandbox.fork()
    expect(keysOf(fork.store.run('SEARCH.QUERY', 'ev', '{}'))).toEqual(['2-0', '3-0'])
    fork.store.run('XADD', 'events', '4-0', ...failed)
    fork.store.run('XDEL', 'events', '2-0')
    expect(keysOf(fork.store.run('SEARCH.QUERY', 'alias', '{}'))).toEqual(['3-0', '4-0'])
    expect(ids()).toEqual(['2-0', '3-0'])
    expect(keysOf(sandbox.asOf(then).store.run('SEARCH.QUERY', 'ev', '{}'))).toEqual(['1-0', '2-0'])
    const again = createSandbox()
    again.load(JSON.parse(JSON.stringify(kept)))
    expect(keysOf(again.store.run('SEARCH.QUERY', 'alias', '{}'))).toEqual(['1-0', '2-0'])
    again.store.run('XADD', 'events', '5-0', ...failed)
    expect(keysOf(again.store.run('SEARCH.QUERY', 'ev', '{}'))).toEqual(['1-0', '2-0', '5-0'])
    expect(sandbox.store.dump().keys.find(({ key }) => key === 'ev')).toMatchObject({
      type: 'search',
      on: 'STREAM',
      prefixes: ['events'],
    })
  })

  it('is rejected in a dump that binds a stream twice, or to several keys', () => {
    fill()
    const dump = sandbox.store.dump()
    const index = dump.keys.find(({ key }) => key === 'ev')!
    const load = (...keys: unknown[]) => createSandbox().store.load({ ...dump, keys: keys as never })
    expect(() => load(index, { ...index, key: 'second' })).toThrow(/^load\(\): .*"events"/)
    expect(() => load({ ...index, prefixes: ['a', 'b'] })).toThrow(/^load\(\): /)
    expect(() => load({ ...index, prefixes: [] })).toThrow(TypeError)
  })

  it('follows transactions, whose queries have no content', async () => {
    const rest = new Rest(sandbox)
    run(create)
    const { json } = await rest.post('/multi-exec', [
      ['XADD', 'events', '1-0', ...failed],
      ['SEARCH.COUNT', 'ev', '{}'],
      ['DEL', 'events'],
      ['SEARCH.COUNT', 'ev', '{}'],
      ['XADD', 'events', '1-0', ...completed],
      ['SEARCH.QUERY', 'ev', '{}', 'NOCONTENT'],
    ])
    expect((json as { result: unknown }[]).map(({ result }) => result)).toEqual([
      ...['1-0', 1, 1, 0, '1-0'],
      [['1-0', '1']],
    ])
  })

  it('has the same replies on a connection', async () => {
    const connection = sandbox.store.connect()
    await connection.run(...(create.split(' ') as [string]))
    await connection.run('XADD', 'events', '1-0', 'message', 'order')
    const rows = [['1-0', '1', [['message', 'order']]]]
    expect(await connection.run('SEARCH.QUERY', 'ev', '{}')).toEqual(rows)
    expect(await connection.run('SEARCH.LISTINDEXES')).toEqual([['name', 'ev', 'type', 'STREAM']])
  })
})

describe('the notes of an index without searches', () => {
  it('do not grow with a stream that is trimmed', () => {
    const definition = { dataType: 'STREAM', prefixes: [latin1('s')], language: 'english', fields: [] } as const
    const index = new SearchIndex(definition)
    const stream = new Stream()
    index.follow(stream, () => 0)
    for (let at = 1; at <= 5000; at++) {
      stream.append({ ms: at, seq: 0 }, [latin1('f'), latin1('v')])
      stream.trim({ to: { length: 10 }, approximate: false, limit: 100, references: 'keep' })
    }
    expect([...index.pending.keys()]).toEqual(Array.from({ length: 10 }, (_, at) => `${4991 + at}-0`))
    index.follow(undefined, () => 0)
    stream.append({ ms: 6000, seq: 0 }, [])
    expect(index.pending.size).toBe(0)
  })

  it('end with the index', () => {
    const store = new StoreEngine({
      clock: { now: () => 0 },
      random: createRandom('stream'),
      access: new AccessControl({ standard: 'standard', readOnly: 'read-only' }),
      policy: defaultPolicy,
      docs: 'docs.test',
    })
    for (const end of ['SEARCH.DROP ev', 'DEL ev', 'PEXPIRE ev -1', 'DEL events']) {
      store.run(...create.split(' '))
      store.run('XADD', 'events', '*', ...(failed as string[]))
      const stream = store.db.peek(latin1('events')) as Stream
      expect(stream.follower).toBeInstanceOf(SearchIndex)
      store.run(...end.split(' '))
      expect(stream.follower, end).toBeUndefined()
    }
  })
})

// ---- Against a naive model --------------------------------------------------------------------------------------

interface Entry {
  readonly id: string
  readonly fields: Readonly<Record<string, string>>
}

function entriesOf({ store }: Pick<Sandbox, 'store'>, key: string): Entry[] {
  if (store.run('TYPE', key) !== 'stream') return []
  return (store.run('XRANGE', key, '-', '+') as [string, string[]][]).map(([id, words]) => ({
    id,
    fields: Object.fromEntries(
      Array.from({ length: words.length / 2 }, (_, at) => [words[2 * at], words[2 * at + 1]]),
    ) as never,
  }))
}

const number = (text: string | undefined) => (text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined)
const filters: [filter: string, holds: (entry: Entry['fields']) => boolean][] = [
  ['{}', () => true],
  ['{"t":{"$eq":"red"}}', ({ t }) => t?.split(' ').includes('red') ?? false],
  ['{"k":"red"}', ({ k }) => k === 'red'],
  ['{"n":{"$gte":2}}', ({ n }) => (number(n) ?? 0) >= 2],
]

/** Returns what the documentation says that each filter finds among the entries of a stream. */
function expected(entries: readonly Entry[]): unknown[] {
  const documents = entries.filter(({ fields: { t, k, n } }) => t || k || number(n) !== undefined)
  return filters.map(([, holds]) => {
    const found = documents.filter(({ fields }) => holds(fields))
    return [found.length, found.map(({ id, fields }) => [id, Object.entries(fields)])]
  })
}

function seen({ store }: Pick<Sandbox, 'store'>): unknown[] {
  return filters.map(([filter]) => {
    const rows = store.run('SEARCH.QUERY', 'i', filter, 'LIMIT', 100) as [string, string, unknown][]
    const sorted = rows.map(([id, , content]) => [id, content] as const).sort(([a], [b]) => order(a) - order(b))
    return [store.run('SEARCH.COUNT', 'i', filter), sorted]
  })
}

function order(id: string): number {
  const [ms, seq] = id.split('-').map(Number)
  return ms! * 1000 + seq!
}

const stream = fc.constantFrom('x', 'x', 'y')
const entryId = fc.integer({ min: 1, max: 9 }).map((ms) => `${ms}-0`)
const fields = fc
  .array(
    fc.tuple(fc.constantFrom('t', 'k', 'n', 'more'), fc.constantFrom('red', 'blue', 'red shoe', '1', '2', '30', '')),
    { minLength: 1, maxLength: 3 },
  )
  .map((all) => Object.entries(Object.fromEntries(all)).flat())
const maxLength = fc.integer({ min: 0, max: 4 })
const marks = fc.constantFrom('KEEPREF', 'DELREF', 'ACKED')

const change: fc.Arbitrary<CommandArg[]> = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(stream, fields).map(([key, all]) => ['XADD', key, '*', ...all]) },
  fc.tuple(stream, entryId, fields).map(([key, id, all]) => ['XADD', key, id, ...all]),
  fc.tuple(stream, marks, maxLength, fields).map(([key, ref, n, all]) => ['XADD', key, ref, 'MAXLEN', n, '*', ...all]),
  fc.tuple(stream, maxLength, marks).map(([key, n, ref]) => ['XTRIM', key, 'MAXLEN', n, ref]),
  fc.tuple(stream, entryId).map(([key, id]) => ['XTRIM', key, 'MINID', id]),
  fc.tuple(fc.constant('XDEL'), stream, entryId),
  fc.tuple(stream, marks, entryId).map(([key, ref, id]) => ['XDELEX', key, ref, 'IDS', 1, id]),
  fc.tuple(stream, marks, entryId).map(([key, ref, id]) => ['XACKDEL', key, 'g', ref, 'IDS', 1, id]),
  fc.tuple(stream).map(([key]) => ['XGROUP', 'CREATE', key, 'g', 0, 'MKSTREAM']),
  fc.tuple(stream).map(([key]) => ['XREADGROUP', 'GROUP', 'g', 'c', 'COUNT', 2, 'STREAMS', key, '>']),
  fc.tuple(stream, entryId).map(([key, id]) => ['XACK', key, 'g', id]),
  fc.tuple(stream, entryId).map(([key, id]) => ['XSETID', key, id]),
  fc.tuple(fc.constantFrom('DEL', 'UNLINK', 'PERSIST'), stream),
  fc.tuple(fc.constant('PEXPIRE'), stream, fc.integer({ min: -1, max: 3000 })),
  fc.tuple(fc.constantFrom('RENAME', 'RENAMENX', 'COPY'), stream, stream),
  fc.tuple(stream, stream).map(([from, to]) => ['COPY', from, to, 'REPLACE']),
  fc.tuple(fc.constant('SET'), stream, fc.constant('v')),
  fc
    .tuple(stream, stream)
    .map(([from, to]) => [
      'EVAL',
      "return redis.call('RESTORE', KEYS[2], 0, redis.call('DUMP', KEYS[1]), 'REPLACE')",
      2,
      from,
      to,
    ]),
  fc.tuple(fc.constant('EVAL'), fc.constant("return redis.call('XDEL', KEYS[1], '1-0')"), fc.constant(1), stream),
  fc.constantFrom<CommandArg[]>(
    ['RENAME', 'i', 'i'],
    ['SEARCH.REINDEX', 'i'],
    ['SEARCH.COUNT', 'i', '{}'],
    ['FLUSHDB'],
  ),
)

it('an index finds, after any changes, what the entries of its stream contain', async () => {
  const step = fc.oneof(
    { weight: 10, arbitrary: change },
    { weight: 1, arbitrary: fc.record({ wait: fc.integer({ min: 1, max: 2000 }) }) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.constantFrom(0, 700), async (steps, delay) => {
      const sandbox = await searchingSandbox({ policy: { streamRename: 'allow', searchIndexingDelay: delay } })
      const { store } = sandbox
      const begin = 'SEARCH.CREATE i ON STREAM x SCHEMA t TEXT k KEYWORD n U64 FAST'.split(' ') as [string]
      store.run(...begin)
      for (const one of steps) {
        if (!Array.isArray(one)) await sandbox.clock.advance(one.wait)
        else {
          try {
            store.run(...(one as [string]))
          } catch {
            // The key has another type, does not exist, or the ID is too small.
          }
        }
        if (store.run('EXISTS', 'i') === 0) store.run(...begin)
      }
      store.run('SEARCH.WAITINDEXING', 'i')
      const model = expected(entriesOf(sandbox, 'x'))
      expect(seen(sandbox)).toEqual(model)
      const other = createSandbox({ startAt: sandbox.clock.now() })
      other.store.load(JSON.parse(JSON.stringify(store.dump())))
      expect(seen(other)).toEqual(model)
      store.run('SEARCH.REINDEX', 'i')
      store.run('SEARCH.WAITINDEXING', 'i')
      expect(seen(sandbox)).toEqual(model)
      for (const one of [sandbox, other]) await one.dispose()
    }),
    { numRuns: runs(150, 300, 3000) },
  )
})
