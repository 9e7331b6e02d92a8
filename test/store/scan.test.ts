import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.js'
import { runs } from '../support/effort.js'
import { createEngine } from '../support/engine.js'
import { type Row, rows, showRows } from '../support/random-rows.js'
import { decodeReply, type RespReply } from '../support/resp.js'

// Keys that exist throughout a scan are returned once, for all commands that change others. [store.md 7.2, choice]

const texts = (reply: RespReply): string[] =>
  'array' in reply ? reply.array.map((item) => ('bulk' in item ? item.bulk : '')) : []

function scanned(run: (...argv: string[]) => RespReply, cursor: string, count: number): [string, string[]] {
  const reply = run('SCAN', cursor, 'COUNT', String(count))
  if (!('array' in reply)) throw new Error(JSON.stringify(reply))
  const [next, page] = reply.array
  return [next !== undefined && 'bulk' in next ? next.bulk : '', texts(page!)]
}

it.each([
  ['RENAME', ['RENAME', 'k5', 'k0']],
  ['COPY', ['COPY', 'k5', 'k0', 'REPLACE']],
  ['RESTORE', ['RESTORE', 'k0', '0', '<dump>', 'REPLACE']],
  ['SUNIONSTORE', ['SUNIONSTORE', 'k0', 'set']],
  ['LMOVE of the only element', ['LMOVE', 'list', 'list', 'LEFT', 'RIGHT']],
])('a key whose value %s replaces is returned once', (_, argv) => {
  const engine = createEngine()
  const run = (...words: string[]): RespReply => decodeReply(engine.execute(words))
  run('SADD', 'set', 'a')
  run('RPUSH', 'list', 'a')
  for (let number = 0; number < 6; number++) run('SET', `k${number}`, 'v')
  const dump = run('DUMP', 'k5')
  let [cursor, seen] = scanned(run, '0', 4)
  run(...argv.map((word) => (word === '<dump>' && 'bulk' in dump ? dump.bulk : word)))
  while (cursor !== '0') {
    const [next, page] = scanned(run, cursor, 2)
    cursor = next
    seen = [...seen, ...page]
  }
  expect(seen.toSorted()).toEqual([...new Set([...seen, ...texts(run('KEYS', '*'))])].toSorted())
})

it('keys that exist throughout a scan are returned once, and again in a second run', () => {
  const groups = new Set(['string', 'bitmap', 'hash', 'list', 'set', 'sorted-set', 'geo', 'hyperloglog', 'generic'])
  const only = (_: string, group: string) => groups.has(group)
  const turns = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.array(rows({ only }), { maxLength: 12 })), {
    minLength: 3,
    maxLength: 30,
    size: 'max',
  })
  fc.assert(
    fc.property(fc.array(rows({ only }), { minLength: 20, maxLength: 40, size: 'max' }), turns, (before, turns) => {
      const first = scanAmong(before, turns)
      expect(scanAmong(before, turns).replies).toEqual(first.replies)
      for (const key of first.stayed) {
        const times = first.seen.filter((other) => other === key).length
        if (times !== 1) expect.fail(`${JSON.stringify(key)} was seen ${times} times\n${showRows(first.history)}`)
      }
    }),
    { numRuns: runs(100, 100, 1000) },
  )
})

function scanAmong(before: readonly Row[], turns: readonly (readonly [number, readonly Row[]])[]) {
  const engine = createEngine()
  const replies: string[] = []
  const history: Row[] = []
  const run = (...argv: string[]): RespReply => {
    const reply = engine.execute(argv)
    replies.push(reply)
    return decodeReply(reply)
  }
  const act = (row: Row): void => {
    history.push(row)
    if ('advance' in row) engine.advance(row.advance)
    else run(...row.argv)
  }
  for (let number = 0; number < 12; number++) run('SET', `other${number}`, 'v')
  before.forEach(act)
  let stayed = texts(run('KEYS', '*'))
  let [cursor, seen] = ['0', [] as string[]]
  for (let turn = 0; turn === 0 || cursor !== '0'; turn++) {
    const [count, changes] = turns[turn] ?? [5, []]
    const [next, page] = scanned(run, cursor, count)
    cursor = next
    seen = [...seen, ...page]
    if (cursor === '0') break
    for (const row of changes) {
      act(row)
      const now = new Set(texts(run('KEYS', '*')))
      stayed = stayed.filter((key) => now.has(key))
    }
  }
  return { replies, history, stayed, seen }
}

// What the Python client's test shows about the service, and its limit of about 1000 keys per call. [store.md 7.2, 10]

it('SCAN without COUNT returns a keyspace of 41 in one page, also with MATCH and TYPE', () => {
  const engine = createEngine()
  const run = (...argv: string[]): RespReply => decodeReply(engine.execute(argv))
  for (let number = 0; number < 40; number++) run('SET', `key${number}`, 'v')
  run('HSET', 'hash', 'f', 'v')
  const page = (...options: string[]): unknown => {
    const reply = run('SCAN', '0', ...options)
    return 'array' in reply ? [reply.array[0], texts(reply.array[1]!)] : reply
  }
  const end = { bulk: '0' }
  expect(page()).toEqual([end, texts(run('KEYS', '*'))])
  expect(page('MATCH', 'hash')).toEqual([end, ['hash']])
  expect(page('TYPE', 'hash')).toEqual([end, ['hash']])
  expect(page('WITHTYPE', 'MATCH', 'h*')).toEqual([end, ['hash', 'hash']])
  expect(page('COUNT', '10', 'MATCH', 'hash')).not.toEqual([end, ['hash']])
})

const scans = {
  SCAN: { fill: (names: string[]) => ['MSET', ...names.flatMap((name) => [name, 'v'])], key: [], width: 1 },
  HSCAN: { fill: (names: string[]) => ['HSET', 'k', ...names.flatMap((name) => [name, 'v'])], key: ['k'], width: 2 },
  SSCAN: { fill: (names: string[]) => ['SADD', 'k', ...names], key: ['k'], width: 1 },
  ZSCAN: { fill: (names: string[]) => ['ZADD', 'k', ...names.flatMap((name) => ['1', name])], key: ['k'], width: 2 },
}

it.each(Object.entries(scans))('%s without COUNT visits a thousand per call', (scan, { fill, key, width }) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2500 }), (size) => {
      const engine = createEngine()
      engine.execute(fill(Array.from({ length: size }, (_, number) => `${'x'.repeat(65)}${number}`)))
      const pages: number[] = []
      let cursor = '0'
      do {
        const reply = decodeReply(engine.execute([scan, ...key, cursor]))
        const [next, page] = 'array' in reply ? reply.array : []
        cursor = texts({ array: [next!] })[0]!
        pages.push(texts(page!).length / width)
      } while (cursor !== '0')
      const full = Array.from({ length: Math.ceil(size / 1000) - 1 }, () => 1000)
      expect(pages).toEqual([...full, size - full.length * 1000])
    }),
    { numRuns: runs(20, 20, 200) },
  )
})

it.each(Object.entries(scans))('%s uses pages of policy.scanPageSize', (scan, { fill, key, width }) => {
  const { store } = createSandbox({ policy: { scanPageSize: 10 } })
  store.run(...fill(Array.from({ length: 25 }, (_, number) => `${'x'.repeat(65)}${number}`)))
  const [cursor, page] = store.run(scan, ...key, '0') as [string, string[]]
  expect([cursor !== '0', page.length / width]).toEqual([true, 10])
})

// The service's cursors of SCAN are opaque and "can be quite big", beyond the numbers of JSON; those of scans of one
// key are small. [upstash/redis-py#51; the page of SCAN: "The cursor is opaque."]

describe('cursors of SCAN', () => {
  const filled = (seed?: number) => {
    const sandbox = createSandbox(seed === undefined ? {} : { seed })
    sandbox.store.run('MSET', ...Array.from({ length: 300 }, (_, number) => [`user:${number}`, 'v']).flat())
    return sandbox
  }
  type Reader = { run(...argv: (string | number)[]): unknown }
  const page = (store: Reader, cursor: string, count = 10) =>
    store.run('SCAN', cursor, 'COUNT', count) as [string, string[]]
  /** Returns all cursors of a scan up to the "0" at its end, and all keys. */
  function whole(store: Reader, sent: (cursor: string) => string = (cursor) => cursor, from = '0') {
    const cursors: string[] = []
    const keys: string[] = []
    let cursor = from
    do {
      const [next, found] = page(store, cursor)
      keys.push(...found)
      cursors.push(next)
      cursor = sent(next)
    } while (cursor !== '0' && cursors.length < 100)
    return { cursors, keys }
  }

  it('are unsigned 64-bit numbers, hardly any of which is exact as a float', () => {
    const { cursors, keys } = whole(filled().store)
    expect([cursors.pop(), cursors.length, new Set(keys).size]).toEqual(['0', 29, 300])
    expect(new Set(cursors).size).toBe(29)
    for (const cursor of cursors) expect(cursor).toMatch(/^[1-9]\d{0,19}$/)
    expect(cursors.every((cursor) => BigInt(cursor) < 2n ** 64n)).toBe(true)
    expect(cursors.filter((cursor) => BigInt(cursor) > 2n ** 53n && String(Number(cursor)) !== cursor)).toEqual(cursors)
    // Neither their order nor their last digits reveal the position of the scan.
    expect(cursors).not.toEqual(cursors.toSorted((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1)))
    expect(new Set(cursors.map((cursor) => BigInt(cursor) % 1024n)).size).toBeGreaterThan(20)
  })

  it('depend on the seed', () => {
    expect(whole(filled(7).store)).toEqual(whole(filled(7).store))
    expect(whole(filled(7).store).cursors).not.toEqual(whole(filled(8).store).cursors)
  })

  it.each([
    ['JavaScript', (cursor: string) => String(Number(cursor))],
    ['Python and Go', (cursor: string) => String(BigInt(Number(cursor)))],
  ])('end the scan when they are rounded as in %s', (_, round) => {
    for (let seed = 1; seed <= 20; seed++) {
      const { cursors, keys } = whole(filled(seed).store, round)
      expect([cursors.length, new Set(keys).size]).toEqual([100, 10])
    }
  })

  it('end the scan if they are any other number', () => {
    const { store } = filled()
    const [own] = page(store, '0')
    const [ofAnother] = page(filled(8).store, '0')
    const foreign = [
      ofAnother,
      String(BigInt(own) + 1n),
      String(BigInt(own) - 1n),
      '1',
      '10',
      '-1',
      '+5',
      String(2n ** 64n - 1n),
    ]
    expect(foreign.map((cursor) => page(store, cursor))).toEqual(foreign.map(() => ['0', []]))
    for (const text of ['abc', '1.5', '1e3', String(Number(own) * 10), '0x10', '-', `${own} `]) {
      expect(() => page(store, text)).toThrow('ERR invalid cursor')
    }
  })

  it('stay valid in forks and in reads of the past', async () => {
    const sandbox = filled()
    const [cursor] = page(sandbox.store, '0', 100)
    const { seq } = sandbox.traffic.entries.at(-1)!
    const rest = whole(sandbox.store, undefined, cursor)
    expect(rest.keys).toHaveLength(200)
    using fork = await sandbox.fork()
    expect(whole(fork.store, undefined, cursor)).toEqual(rest)
    expect(whole(sandbox.asOf({ seq }).store, undefined, cursor)).toEqual(rest)
  })

  it('restart the scan after a load, for all earlier deletions, and continue otherwise', async () => {
    const sandbox = filled()
    const [before] = page(sandbox.store, '0', 100)
    sandbox.store.run('DEL', ...Array.from({ length: 50 }, (_, number) => `user:${number}`))
    const left = sandbox.store.run('KEYS', '*')
    for (let loads = 1; loads <= 3; loads++) {
      sandbox.load(sandbox.dump())
      expect(whole(sandbox.store, undefined, before).keys).toEqual(left)
    }
    const other = createSandbox()
    other.load(sandbox.dump())
    expect(whole(other.store, undefined, before).keys).toEqual(left)
    other.store.load(sandbox.dump().store)
    expect(whole(other.store, undefined, before).keys).toEqual(left)

    const [after] = page(sandbox.store, '0', 100)
    expect(after).not.toBe(before)
    expect(page(filled(8).store, after)).toEqual(['0', []])
    const { seq } = sandbox.traffic.entries.at(-1)!
    const rest = whole(sandbox.store, undefined, after)
    expect(rest.keys).toHaveLength(150)
    using fork = await sandbox.fork()
    expect(whole(fork.store, undefined, after)).toEqual(rest)
    expect(whole(sandbox.asOf({ seq }).store, undefined, after)).toEqual(rest)
  })

  it('are texts over REST, in scripts and on connections', async () => {
    const sandbox = filled()
    const [cursor] = page(sandbox.store, '0')
    const response = await sandbox.fetch(`${sandbox.env.UPSTASH_REDIS_REST_URL}/scan/0/count/10`, {
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    })
    expect(((await response.json()) as { result: [unknown] }).result[0]).toBe(cursor)
    expect(sandbox.store.run('EVAL', "return redis.call('SCAN', '0', 'COUNT', '10')[1]", 0)).toBe(cursor)
    const connection = sandbox.store.connect()
    expect(await connection.run('SCAN', '0', 'COUNT', '10')).toEqual([cursor, page(sandbox.store, '0')[1]])
  })

  it('are small only for the scans of one key', () => {
    const { store } = createSandbox()
    for (const [scan, { fill, key }] of Object.entries(scans)) {
      store.run('FLUSHALL')
      store.run(...fill(Array.from({ length: 25 }, (_, number) => `${'x'.repeat(65)}${number}`)))
      const [cursor] = store.run(scan, ...key, '0', 'COUNT', 10) as [string]
      expect([scan, cursor === '10']).toEqual([scan, scan !== 'SCAN'])
    }
  })
})
