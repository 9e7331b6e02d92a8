import { describe, expect, it, onTestFinished, test } from 'vitest'
import { hasKey } from '../../../matchers/key-matchers.js'
import { type Bytes, latin1 } from '../../../src/kernel/bytes.js'
import { defaultPolicy } from '../../../src/policy/policy.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.js'
import type { CommandArg, PlainReply } from '../../../src/store/direct-store.js'
import type { Outlet } from '../../../src/store/resp/session.js'
import { sessionsOf } from '../../../src/store/resp/sessions.js'
import { storeInternals } from '../../../src/store/store-internals.js'
import { VectorIndex } from '../../../src/store/values/vector-index.js'
import { Rest } from '../../support/ask.js'

// A vector index is a key like any other. [vector.md 1, 4]

const start = Date.UTC(2030, 0, 1)

interface World {
  readonly sandbox: Sandbox
  readonly run: (line: string, ...words: CommandArg[]) => PlainReply
}

/** A sandbox with the index `i`: a (1, 0), b (0, 1) and c (0.1, 0.2). */
function world(options: SandboxOptions = {}): World {
  const sandbox = createSandbox({ startAt: start, ...options })
  const run: World['run'] = (line, ...words) => sandbox.store.run(...line.split(' '), ...words)
  run('VECTOR.CREATE i DIM 2 METRIC COSINE')
  for (const vector of ['a VALUES 2 1 0', 'b VALUES 2 0 1', 'c VALUES 2 0.1 0.2']) run(`VECTOR.ADD i ${vector}`)
  return { sandbox, run }
}

const nearest = 'TOPK 3 VALUES 2 1 0'
const found = [
  ['a', '1'],
  ['c', '0.7236068'],
  ['b', '0.5'],
]

describe('a key of type vector', () => {
  it('has a type for TYPE, SCAN and OBJECT ENCODING', () => {
    const { run } = world()
    run('SET s x')
    expect(run('TYPE i')).toBe('vector')
    expect(run('SCAN 0 TYPE vector')).toEqual(['0', ['i']])
    expect(run('SCAN 0 WITHTYPE')).toEqual(['0', ['i', 'vector', 's', 'string']])
    expect(run('OBJECT ENCODING i')).toBe('vector')
  })

  it('is copied, renamed, dumped and restored with its vectors', () => {
    const { sandbox, run } = world()
    expect(run('COPY i copy')).toBe(1)
    run('VECTOR.DEL copy a')
    run('VECTOR.ADD copy b VALUES 2 5 5')
    expect(run(`VECTOR.QUERY i ${nearest}`)).toEqual(found)
    expect(run('RENAME i j')).toBe('OK')
    expect(run(`VECTOR.QUERY j ${nearest}`)).toEqual(found)
    const { engine } = storeInternals.of(sandbox.store)
    const payload = engine.execute([latin1('DUMP'), latin1('j')]) as Bytes
    engine.execute([latin1('RESTORE'), latin1('k'), latin1('0'), payload])
    expect(run(`VECTOR.QUERY k ${nearest}`)).toEqual(found)
    expect(run('VECTOR.INFO k')).toEqual(['dimension', 2, 'metric', 'COSINE'])
    expect(run('VECTOR.CREATE i DIM 9 METRIC DOT')).toBe(1)
  })

  it('expires, and can be deleted', async () => {
    const { sandbox, run } = world()
    expect(run('EXPIRE i 10')).toBe(1)
    run('VECTOR.ADD i d VALUES 2 1 1')
    expect(run('TTL i')).toBe(10)
    await sandbox.clock.advance('11s')
    expect(run('VECTOR.COUNT i')).toBe(0)
    expect(run('EXISTS i')).toBe(0)
    run('VECTOR.CREATE i DIM 1 METRIC DOT')
    expect(run('UNLINK i')).toBe(1)
    expect(run('VECTOR.INFO i')).toBeNull()
  })

  it('uses memory for its ids and numbers', () => {
    const { run } = world()
    const before = Number(run('MEMORY USAGE i'))
    run('VECTOR.ADD i a-long-id VALUES 2 1 1')
    expect(Number(run('MEMORY USAGE i')) - before).toBeGreaterThanOrEqual('a-long-id'.length + 8)
    run('VECTOR.DEL i a-long-id')
    expect(run('MEMORY USAGE i')).toBe(before)
  })

  it('counts toward the limits of the storage', async () => {
    const rest = Rest.open({ policy: { maxStorageSize: 1_000 } })
    await rest.run('VECTOR.CREATE', 'i', 'DIM', 150, 'METRIC', 'DOT')
    const ones = Array.from({ length: 150 }, () => 1)
    const add = (id: string) => rest.run('VECTOR.ADD', 'i', id, 'VALUES', 150, ...ones)
    expect([await add('a'), await add('b')]).toEqual([1, 1])
    await expect(add('c')).rejects.toThrow('ERR DB capacity quota exceeded. Threshold: 1000 bytes, Usage: 1203 bytes.')
    expect(await rest.run('VECTOR.DEL', 'i', 'a')).toBe(1)
    expect(await add('c')).toBe(1)
  })

  it('causes keyspace events', () => {
    const { sandbox, run } = world()
    run('VECTOR.ADD i a VALUES 2 1 1')
    run('VECTOR.DEL i a')
    run('VECTOR.DEL i a')
    run('VECTOR.DROP i')
    const events = sandbox.traffic.filter((entry) => entry.type === 'keyspace' && entry.key === 'i')
    expect(events.map((entry) => entry.type === 'keyspace' && entry.event)).toEqual([
      'vector.create',
      ...['vector.add', 'vector.add', 'vector.add', 'vector.add'],
      ...['vector.del', 'del'],
    ])
  })

  it('publishes events of the class d', async () => {
    const { sandbox, run } = world()
    run('CONFIG SET notify-keyspace-events Kd')
    const heard: string[] = []
    const outlet: Outlet = {
      send: () => {},
      tell: ({ bytes }) => void heard.push(bytes),
      end() {},
      break() {},
    }
    const sessions = sessionsOf(sandbox.store)
    const session = sessions.open('default', { address: 'there:1', protocol: 2, known: {} }, outlet)
    sessions.run(session, ['PSUBSCRIBE', '__key*'].map(latin1), { send: () => {}, done() {}, break() {} })
    run('VECTOR.ADD i a VALUES 2 1 1')
    run('VECTOR.DROP i')
    expect(heard).toHaveLength(1)
    expect(heard[0]).toContain('vector.add')
  })
})

describe('dumps, forks and the past', () => {
  it('keep the vectors', async () => {
    const { sandbox, run } = world()
    const dump = JSON.parse(JSON.stringify(sandbox.store.dump())) as ReturnType<typeof sandbox.store.dump>
    expect(dump.keys).toEqual([
      {
        key: 'i',
        type: 'vector',
        dimension: 2,
        metric: 'COSINE',
        vectors: [
          ['a', 'AACAPwAAAAA='],
          ['b', 'AAAAAAAAgD8='],
          ['c', 'zczMPc3MTD4='],
        ],
      },
    ])
    const other = createSandbox()
    other.store.load(dump)
    expect(other.store.run(...`VECTOR.QUERY i ${nearest}`.split(' '))).toEqual(found)
    expect(other.store.dump()).toEqual(dump)

    const then = sandbox.clock.now()
    await sandbox.clock.advance('1s')
    run('VECTOR.DEL i c')
    const past = sandbox.asOf(then)
    expect(past.store.dump()).toEqual(dump)
    const fork = await sandbox.fork({ at: then })
    expect(fork.store.run(...`VECTOR.QUERY i ${nearest}`.split(' '))).toEqual(found)
    expect(run(`VECTOR.QUERY i ${nearest}`)).toEqual([found[0], found[2]])
  })

  it('load vectors that are written as numbers', () => {
    const { store } = createSandbox()
    const key = { key: 'i', type: 'vector', dimension: 2, metric: 'DOT' } as const
    const load = (...vectors: [string, string | number[]][]): void =>
      store.load({ format: 'stuntdouble/store', version: 1, keys: [{ ...key, vectors }] })
    load(['a', [0.1, 2]], ['b', 'AACAPwAAAAA='])
    expect(store.run('VECTOR.GET', 'i', 'a')).toEqual(['0.1', '2'])
    expect(() => load(['a', [1]])).toThrow('vector "a" must have 2 elements (got 1)')
    expect(() => load(['a', '!'])).toThrow('vector "a" must be numbers, or 32-bit floats in base64')
    expect(() => load(['a', [1e39, 0]])).toThrow('vector "a" must be numbers')
    expect(() => load(['', [1, 0]])).toThrow('the ID of a vector must not be empty')
    expect(() => load(['a', [1, 0]], ['a', [1, 0]])).toThrow('vector "a" is listed twice')
    expect(store.run('VECTOR.GET', 'i', 'a')).toEqual(['0.1', '2'])
  })

  it('are equal for the same vectors in another order', () => {
    const one = world()
    const other = world()
    one.run('VECTOR.DEL i a')
    one.run('VECTOR.ADD i a VALUES 2 1 0')
    const dump = other.sandbox.store.dump()
    expect(one.sandbox.store.dump()).not.toEqual(dump)
    expect(one.sandbox.store.diff(dump)).toEqual({ added: [], removed: [], changed: [] })
    one.run('VECTOR.ADD i a VALUES 2 1 1')
    expect(one.sandbox.store.diff(dump).changed).toHaveLength(1)
  })
})

describe('access', () => {
  it('of a read-only token is limited to GET, QUERY, COUNT and INFO', async () => {
    const rest = Rest.open()
    const lines: Readonly<Record<string, string>> = {
      'VECTOR.CREATE': 'i DIM 1 METRIC DOT',
      'VECTOR.ADD': 'i a VALUES 1 1',
      'VECTOR.GET': 'i a',
      'VECTOR.QUERY': 'i TOPK 1 VALUES 1 1',
      'VECTOR.COUNT': 'i',
      'VECTOR.INFO': 'i',
      'VECTOR.DEL': 'i a',
      'VECTOR.DROP': 'i',
    }
    await rest.run('VECTOR.CREATE', 'i', 'DIM', 1, 'METRIC', 'DOT')
    const { storeReadonly: token } = rest.sandbox.tokens
    const allowed: string[] = []
    for (const [name, words] of Object.entries(lines)) {
      const { status } = await rest.post('/', [name, ...words.split(' ')], { token })
      if (status === 200) allowed.push(name)
    }
    expect(allowed).toEqual(['VECTOR.GET', 'VECTOR.QUERY', 'VECTOR.COUNT', 'VECTOR.INFO'])
  })

  it('has the category @vector', () => {
    const { run } = world()
    expect(run('ACL CAT')).toContain('vector')
    expect((run('ACL CAT vector') as string[]).sort()).toEqual(
      ['add', 'count', 'create', 'del', 'drop', 'get', 'info', 'query'].map((name) => `vector.${name}`),
    )
    const reads = run('ACL CAT read') as string[]
    expect(reads.filter((name) => name.startsWith('vector.')).sort()).toEqual(
      ['count', 'get', 'info', 'query'].map((name) => `vector.${name}`),
    )
    run('ACL SETUSER ann on ~i +@vector -vector.drop')
    expect(run('ACL DRYRUN ann VECTOR.COUNT i')).toBe('OK')
    expect(run('ACL DRYRUN ann VECTOR.DROP i')).toContain('no permissions')
    expect(run('ACL DRYRUN ann VECTOR.COUNT j')).toContain('no permissions')
  })
})

describe('transports', () => {
  it('run VECTOR commands in pipelines, transactions and scripts', async () => {
    const rest = Rest.open()
    const rows = [
      ['VECTOR.CREATE', 'i', 'DIM', 2, 'METRIC', 'DOT'],
      ['VECTOR.ADD', 'i', 'a', 'VALUES', 2, 0.5, 0],
      ['VECTOR.QUERY', 'i', 'TOPK', 1, 'VALUES', 2, 1, 0],
      ['VECTOR.GET', 'none', 'a'],
    ]
    const expected = [{ result: 1 }, { result: 1 }, { result: [['a', '0.75']] }]
    for (const path of ['/pipeline', '/multi-exec']) {
      expect((await rest.post(path, rows)).json).toEqual([...expected, { error: 'ERR Index none is not found' }])
      await rest.run('DEL', 'i')
    }
    await rest.post('/pipeline', rows)
    const script = "return redis.call('VECTOR.QUERY', KEYS[1], 'TOPK', '1', 'VALUES', '2', '1', '0')"
    expect(await rest.run('EVAL', script, 1, 'i')).toEqual([['a', '0.75']])
    // The request of docs/protocol/vector.md, and a command in the path.
    await rest.run('VECTOR.CREATE', 'my-index', 'DIM', 3, 'METRIC', 'COSINE')
    await rest.run('VECTOR.ADD', 'my-index', 'x', 'BASE64-FP32', 'zczMPc3MTD6amZk+')
    const query = ['VECTOR.QUERY', 'my-index', 'TOPK', '5', 'BASE64-FP32', 'zczMPc3MTD6amZk+']
    expect((await rest.post('/', query)).json).toEqual({ result: [['x', '1']] })
    expect((await rest.get('/vector.get/my-index/x')).json).toEqual({ result: ['0.1', '0.2', '0.3'] })
  })

  test.each([
    [2, ['*2\r\n$1\r\n1\r\n$1\r\n0\r\n', '*-1\r\n', '*1\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n']],
    [3, ['*2\r\n,1\r\n,0\r\n', '_\r\n', '*1\r\n*2\r\n$1\r\na\r\n,1\r\n']],
  ] as const)('reply in RESP%i with its types', (protocol, [numbers, missing, neighbors]) => {
    const { sandbox } = world()
    onTestFinished(() => sandbox.dispose())
    let got = ''
    const put = (bytes: Bytes): void => {
      got += bytes
    }
    const sessions = sessionsOf(sandbox.store)
    const outlet: Outlet = { send: put, tell: ({ bytes }) => put(bytes), end() {}, break() {} }
    const session = sessions.open('default', { address: 'there:1', protocol, known: {} }, outlet)
    const say = (...argv: string[]): string => {
      got = ''
      sessions.run(session, argv.map(latin1), { send: put, done() {}, break() {} })
      return got
    }
    const blob = String.fromCharCode(0, 0, 128, 63, 0, 0, 0, 0)
    expect(say('VECTOR.GET', 'i', 'a')).toBe(numbers)
    expect(say('VECTOR.GET', 'i', 'none')).toBe(missing)
    expect(say('VECTOR.QUERY', 'i', 'TOPK', '1', 'FP32', blob)).toBe(neighbors)
    expect(say('VECTOR.INFO', 'i')).toBe(
      `${protocol === 3 ? '%2' : '*4'}\r\n$9\r\ndimension\r\n:2\r\n$6\r\nmetric\r\n$6\r\nCOSINE\r\n`,
    )
    expect(say('VECTOR.ADD', 'i', 'a', 'FP32', blob)).toBe(':0\r\n')
  })
})

test('toHaveKey() shows and compares vectors as 32-bit floats', () => {
  const { sandbox } = world()
  const holds = (pattern: object): boolean => hasKey(sandbox, 'i', pattern).pass
  expect(holds({ type: 'vector', ttl: null })).toBe(true)
  expect(holds({ value: { a: [1, 0], b: new Float32Array([0, 1]), c: [0.1, 0.2] } })).toBe(true)
  expect(holds({ value: { c: [0.10000000149011612, 0.2000000001] } })).toBe(true)
  expect(holds({ value: { c: [0.1, 0.20001] } })).toBe(false)
  expect(holds({ value: { d: [1, 0] } })).toBe(false)
  expect(holds({ value: { c: expect.any(Array) } })).toBe(true)
})

describe('work', () => {
  it('is one unit for 64 numbers of a query, so that a long query is rejected', async () => {
    // 50 vectors of 32,768 numbers are 25,600 units.
    const rest = Rest.open({ policy: { maxWork: 200_000 } })
    const ones = Buffer.from(new Float32Array(32_768).fill(1).buffer).toString('base64')
    rest.sandbox.store.run('VECTOR.CREATE', 'i', 'DIM', 32_768, 'METRIC', 'DOT')
    for (let at = 0; at < 50; at++) rest.sandbox.store.run('VECTOR.ADD', 'i', `v${at}`, 'BASE64-FP32', ones)
    const { engine } = storeInternals.of(rest.sandbox.store)
    const before = engine.work.spent
    expect(await rest.run('VECTOR.QUERY', 'i', 'TOPK', 1, 'BASE64-FP32', ones)).toEqual([['v0', '1']])
    expect(engine.work.spent - before).toBeGreaterThan(25_600)
    for (let at = 50; at < 400; at++) rest.sandbox.store.run('VECTOR.ADD', 'i', `v${at}`, 'BASE64-FP32', ones)
    await expect(rest.run('VECTOR.QUERY', 'i', 'TOPK', 1, 'BASE64-FP32', ones)).rejects.toThrow('max work exceeded')
    await expect(rest.run('COPY', 'i', 'copy')).rejects.toThrow('max work exceeded')
    await expect(rest.run('DUMP', 'i')).rejects.toThrow('max work exceeded')
    expect(await rest.run('EXISTS', 'copy')).toBe(0)
  })

  it('of 100,000 vectors with 384 numbers is below the default limit', () => {
    const index = new VectorIndex(384, 'COSINE')
    const zeros = new Float32Array(384)
    for (let at = 0; at < 100; at++) index.set(latin1(String(at)), zeros)
    expect(1_000 * index.cost).toBe(600_000)
    expect(defaultPolicy.maxWork).toBeGreaterThan(2 * 600_000)
  })
})
