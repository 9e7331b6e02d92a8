import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseUsage, writeCommand } from '../../packages/explore/src/values/command-usage.js'
import { utf8 } from '../../src/kernel/bytes.js'
import { globMatcher } from '../../src/kernel/glob.js'
import { Work } from '../../src/kernel/work.js'
import { ReplyError } from '../../src/store/command/reply.js'
import { commandTable } from '../../src/store/commands/index.js'

import { Rest } from '../support/ask.js'
import { runs } from '../support/effort.js'
import { createScriptStore } from './scripting/script-store.js'

// policy.maxWork: the cost of a request depends on the sizes that it reads and writes.

const tooMuch = expect.stringContaining('ERR max work exceeded. Limit: ')
const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `m${at}`)

function filled() {
  const small = createScriptStore()
  const { run } = small
  for (let part = 0; part < 5; part++) {
    const members = many(1000).map((member) => `${part}:${member}`)
    run('RPUSH', 'list', ...members)
    run('SADD', 'set', ...members)
    run('HSET', 'hash', ...members.flatMap((member) => [member, 'v']))
    run('ZADD', 'zset', ...members.flatMap((member, at) => [at, member]))
    run('GEOADD', 'geo', ...members.flatMap((member, at) => [(at % 90) / 10, (at % 80) / 10, member]))
    for (let at = 0; at < 200; at++) run('XADD', 'stream', '*', 'f', 'v')
  }
  run('SETRANGE', 'bits', 2_000_000, 'x')
  run('JSON.SET', 'json', '$', JSON.stringify(many(2000)))
  for (let at = 0; at < 12_000; at += 1000) run('MSET', ...many(1000).flatMap((key) => [`${at}${key}`, 'v']))
  // Less than the existing keys cost.
  Object.assign(small.store.options.policy, { maxWork: 2_000 })
  small.store.work.left = 0
  return small
}

const before = filled()

describe('work of one command', () => {
  it.each([
    'KEYS *',
    'LREM list 0 x',
    'LCS bits none',
    'SORT list ALPHA',
    'SORT list BY *-weight',
    'SORT_RO list ALPHA',
    'SUNION set set',
    'SUNIONSTORE to set',
    'SINTER set set set',
    'SINTERSTORE to set set',
    'SDIFF set set set',
    'SDIFFSTORE to set set',
    'ZUNION 1 zset',
    'ZUNIONSTORE to 1 zset',
    'ZINTERSTORE to 2 zset zset',
    'ZDIFFSTORE to 1 zset',
    'ZRANGESTORE to zset 0 -1',
    'ZRANGE zset 0 -1 WITHSCORES',
    'ZREMRANGEBYRANK zset 0 -1',
    'ZPOPMIN zset 5000',
    'HRANDFIELD hash -1000000',
    'SRANDMEMBER set -1000000',
    // 2,000 units are enough for 142 names, or for 52 with their values.
    'SRANDMEMBER set -143',
    'HRANDFIELD hash -53 WITHVALUES',
    'ZRANDMEMBER zset -53 WITHSCORES',
    'ZRANDMEMBER zset -1000000',
    'SPOP set 4000',
    'SSCAN set 0 COUNT 100000',
    'XRANGE stream - +',
    'XREVRANGE stream + -',
    'XREAD STREAMS stream 0',
    'XINFO STREAM stream FULL COUNT 0',
    'GEOSEARCH geo FROMLONLAT 0 0 BYRADIUS 20000 km',
    'GEOSEARCHSTORE to geo FROMLONLAT 0 0 BYRADIUS 20000 km',
    'BITCOUNT bits',
    'BITPOS bits 1',
    'BITOP NOT to bits',
    'PFCOUNT a b c d e f g h',
    'PFMERGE to a b c d e f g h',
    'COPY list to',
    'DUMP hash',
    'MEMORY USAGE zset',
    'INFO',
    'JSON.GET json $..*',
    'JSON.SET json $[*] [1,2,3,4,5]',
    'JSON.DEL json $[*]',
    'JSON.RESP json $',
  ])('is rejected before any effect: %s', (line) => {
    const words = line.split(' ')
    const dump = before.run('DBSIZE')
    expect(before.failure(...words)).toEqual(tooMuch)
    expect(before.run('DBSIZE')).toBe(dump)
    expect(['list', 'set', 'hash', 'zset'].map((key) => before.run('EXISTS', key))).toEqual([1, 1, 1, 1])
    expect([before.run('LLEN', 'list'), before.run('SCARD', 'set'), before.run('ZCARD', 'zset')]).toEqual([
      5000, 5000, 5000,
    ])
  })

  it('is full for each command, and ends at the same place', () => {
    for (let times = 0; times < 20; times++) {
      expect(before.run('LRANGE', 'list', 0, 1999)).toHaveLength(2000)
      expect(before.failure('LRANGE', 'list', 0, 2000)).toEqual(tooMuch)
    }
  })
})

it('returns fewer members with their positions and distances than without', () => {
  const { run, store } = createScriptStore()
  run('GEOADD', 'geo', ...many(1000).flatMap((member, at) => [(at % 90) / 10, (at % 80) / 10, member]))
  Object.assign(store.options.policy, { maxWork: 40_000 })
  const near = ['GEOSEARCH', 'geo', 'FROMLONLAT', 0, 0, 'BYRADIUS', 20_000, 'km', 'ASC']
  expect(run(...near)).toHaveLength(1000)
  expect(run(...near, 'WITHDIST')).toHaveLength(1000)
  expect(() => run(...near, 'WITHCOORD', 'WITHDIST')).toThrow(/max work exceeded/)
})

describe('work of one request', () => {
  const open = () => {
    // Reading and sending the list five times, and the cost of the rows.
    const rest = Rest.open({ policy: { maxWork: 62_000 } })
    rest.sandbox.store.run('RPUSH', 'list', ...many(4000))
    return rest
  }

  it('is shared by the commands of a pipeline', async () => {
    const rest = open()
    const { json } = await rest.post(
      '/pipeline',
      Array.from({ length: 7 }, () => ['LRANGE', 'list', '0', '-1']),
    )
    expect((json as { error?: string }[]).map(({ error }) => error === undefined)).toEqual([
      // 4,000 elements that are read, and as many that are sent, with their bytes.
      true,
      true,
      true,
      true,
      true,
      false,
      false,
    ])
  })

  it('rejects a transaction before its first command, if the sum is predictable', async () => {
    const rest = open()
    const rows = [['INCR', 'n'], ...Array.from({ length: 16 }, () => ['LRANGE', 'list', '0', '-1'])]
    expect(await rest.post('/multi-exec', rows)).toMatchObject({ status: 400, json: { error: tooMuch } })
    expect(await rest.run('EXISTS', 'n')).toBe(0)
    const freed = [['DEL', 'list'], ...Array.from({ length: 16 }, () => ['LRANGE', 'list', '0', '-1'])]
    expect((await rest.post('/multi-exec', freed)).status).toBe(200)
  })

  it('limits the rows of a pipeline', async () => {
    const rest = open()
    const rows = Array.from({ length: 1034 }, () => ['INCR', 'n'])
    for (const path of ['/pipeline', '/multi-exec']) {
      expect(await rest.post(path, rows)).toMatchObject({ status: 400, json: { error: tooMuch } })
    }
    expect(await rest.run('EXISTS', 'n')).toBe(0)
    expect((await rest.post('/pipeline', rows.slice(100))).status).toBe(200)
  })

  it('covers reading the body: its bytes, arguments and rows', async () => {
    const rest = open()
    const long = 'x'.repeat(1_100_000)
    const words = ['DEL', ...many(31_000)]
    const bodies: [string, unknown][] = [
      ['/', ['SET', 'long', long]],
      ['/', words],
      ['/pipeline', [words]],
      [
        '/pipeline',
        [
          ['GET', 'n'],
          ['SET', 'long', long],
        ],
      ],
      ['/', `["SET","long","${'\\u0001'.repeat(90_000)}"]`],
      ['/multi-exec', `[["INCR","n"],["SET","long","${'\\u0001'.repeat(90_000)}"]]`],
    ]
    for (const [path, body] of bodies) {
      expect(await rest.post(path, body)).toMatchObject({ status: 400, json: { error: tooMuch } })
    }
    expect(await rest.run('EXISTS', 'long', 'n')).toBe(0)
  })

  it('rejects a command by the length of its body if no command is that long', async () => {
    const rest = Rest.open({ policy: { maxRequestSize: 1000 } })
    const { status, json } = await rest.post('/', `["SET","k","${'x'.repeat(1_100_000)}"`)
    expect(status).toBe(413)
    expect(json).toEqual({ error: expect.stringContaining('ERR max request size exceeded. Limit: 1000 bytes') })
  })

  it('covers encoding the response: a reply that costs too much is withheld, and no further commands run', async () => {
    const rest = Rest.open({ policy: { maxWork: 100_000 } })
    rest.sandbox.store.run('SET', 'long', 'x'.repeat(1_000_000))
    rest.sandbox.store.run('SET', 'controls', '\x01'.repeat(300_000))
    rest.sandbox.store.run('RPUSH', 'list', ...Array.from({ length: 40_000 }, () => ''))
    const withheld = {
      error: expect.stringMatching(/^ERR max work exceeded.*The command ran, but its reply is not sent/),
    }
    const notRun = { error: expect.stringMatching(/^ERR max work exceeded.*The command was not run/) }
    const rows = [
      ['GET', 'long'],
      ['GETEX', 'long'],
      ['INCR', 'n'],
    ]
    expect((await rest.post('/pipeline', rows)).json).toEqual([{ result: 'x'.repeat(1_000_000) }, withheld, notRun])
    const counts = [
      ['GET', 'long'],
      ['GET', 'long'],
      ['INCR', 'n'],
    ]
    const headers = { 'service-response-format': 'resp2' }
    expect((await rest.post('/pipeline', counts, { headers })).body).toMatch(/-ERR max work exceeded.*not run/)
    expect(await rest.run('EXISTS', 'n')).toBe(0)
    expect((await rest.post('/multi-exec', counts)).json).toEqual([expect.anything(), withheld, withheld])
    expect(await rest.run('GET', 'n')).toBe('1')
    expect((await rest.get('/get/controls')).json).toEqual(withheld)
    expect((await rest.get('/lrange/list/0/-1')).json).toEqual(withheld)
    await rest.post('/set/binary', new Uint8Array(90_000).fill(0xff))
    expect((await rest.get('/get/binary')).json).toEqual(withheld)
    const asBase64 = await rest.get('/get/binary', { headers: { 'service-encoding': 'base64' } })
    expect(asBase64.json).toEqual({ result: expect.stringMatching(/^\/{100}/) })
  })
})

describe('a glob pattern', () => {
  it('costs at most pattern times text for a test, for all contents', () => {
    const letters = fc.array(fc.constantFrom('a', 'b', '*', '?', '[ab]', '\\*'), { maxLength: 60 })
    fc.assert(
      fc.property(letters, fc.integer({ min: 0, max: 400 }), fc.constantFrom('a', 'ab', 'b'), (parts, times, unit) => {
        const pattern = utf8(parts.join(''))
        const text = utf8(unit.repeat(times))
        const work = new Work(Number.POSITIVE_INFINITY, () => new Error())
        let spent = 0
        work.charge = (units) => {
          spent += units
        }
        const matches = globMatcher(pattern, work)
        spent = 0
        matches(text)
        expect(spent).toBeLessThanOrEqual(1 + (pattern.length + 1) * (text.length + 1))
      }),
    )
  })

  it.each([
    ['KEYS', '$'],
    ['SCAN', '0', 'MATCH', '$'],
    ['HSCAN', 'hash', '0', 'MATCH', '$'],
    ['ARGREP', 'array', '-', '+', 'GLOB', '$'],
    ['PUBSUB', 'CHANNELS', '$'],
    ['CONFIG', 'GET', '$'],
    ['ACL', 'SETUSER', 'ann', '~$'],
  ])('is not parsed without work: %s', (...argv) => {
    const store = createScriptStore()
    store.run('HSET', 'hash', 'f', 'v')
    store.run('ARSET', 'array', 0, 'v')
    // Each set of the pattern needs more than two hundred bytes.
    const pattern = '[]'.repeat(1_000_000)
    const before = process.memoryUsage().arrayBuffers
    expect(store.execute(argv.map((word) => word.replace('$', pattern)))).toContain('max work exceeded')
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(80_000_000)
  })

  it('ends when the work is used up', () => {
    const work = new Work(10_000, () => new Error('enough'))
    const matches = globMatcher(utf8(`*${'a'.repeat(5000)}b`), work)
    expect(() => matches(utf8('a'.repeat(30_000)))).toThrow('enough')
  })
})

describe('largest arguments of a command', () => {
  const huge = 'y'.repeat(1_000_000)
  const numbers = [
    '0',
    '-1',
    '1',
    '9223372036854775807',
    '-9223372036854775808',
    '536870911',
    '4294967295',
    '1e308',
    '-1000000000',
  ]
  const wordFor = (name: string, choose: (count: number) => number): string => {
    if (/key|source|destination|dest/.test(name))
      return ['big', 'list', 'set', 'hash', 'zset', 'stream', 'json', 'new'][choose(8)]!
    if (/pattern/.test(name)) return ['*', `*${'y*'.repeat(5000)}`, `*${huge}`][choose(3)]!
    if (/path/.test(name)) return ['$', '$..*', `$${'..*'.repeat(9)}`][choose(3)]!
    return [...numbers, huge, '*', '$', ''][choose(numbers.length + 4)]!
  }

  it.each(commandTable.commands.map((command) => [command.name, command.usage] as const))(
    'end %s in a reply or an error',
    (name, usage) => {
      const { store, run } = createScriptStore({ maxWork: 200_000, maxScriptSteps: 200_000 })
      Object.assign(store.options.policy, { maxWork: 10_000_000 })
      run('SETRANGE', 'big', 200_000_000, 'x')
      Object.assign(store.options.policy, { maxWork: 200_000 })
      run('RPUSH', 'list', ...many(500))
      run('SADD', 'set', ...many(500))
      run('HSET', 'hash', ...many(500))
      run('ZADD', 'zset', ...many(500).flatMap((member, at) => [at, member]))
      run('XADD', 'stream', '*', 'f', 'v')
      run('JSON.SET', 'json', '$', JSON.stringify({ a: many(100) }))
      const parsed = parseUsage(usage.slice(name.length))
      fc.assert(
        fc.property(fc.infiniteStream(fc.nat()), (stream) => {
          const choose = (count: number): number => stream.next().value! % count
          const argv = [...name.split(' '), ...writeCommand(parsed, choose, wordFor)].map(utf8)
          try {
            store.execute(argv)
          } catch (error) {
            if (!(error instanceof ReplyError)) throw error
          }
        }),
        { numRuns: runs(12, 12, 120) },
      )
    },
  )
})

describe('a hundred thousand members', () => {
  const names = many(100_000)

  it.each<[string, (name: string, at: number) => (string | number)[], unknown]>([
    ['HSET key', (name, at) => [name, at], 100_000],
    ['SADD key', (name) => [name], 100_000],
    ['ZADD key', (name, at) => [(at * 7919) % 100_000, name], 100_000],
    ['MSET', (name, at) => [name, at], 'OK'],
    ['RPUSH key', (name) => [name], 100_000],
  ])('are added at once: %s', async (command, words, reply) => {
    const rest = Rest.open()
    expect((await rest.post('/', [...command.split(' '), ...names.flatMap(words)])).json).toEqual({ result: reply })
  })

  it.each([
    { options: [], first: ['0', '1', '2'] },
    { options: ['ALPHA'], first: ['0', '1', '10'] },
    { options: ['DESC', 'LIMIT', 0, 10], first: ['99999', '99998', '99997'] },
  ])('are sorted: SORT key $options', async ({ options, first }) => {
    const rest = Rest.open({ onWarning: () => undefined })
    await rest.run('RPUSH', 'key', ...names.map((_, at) => (at * 7919) % 100_000))
    const sorted = (await rest.run('SORT', 'key', ...options)) as string[]
    expect([sorted.length, sorted.slice(0, 3)]).toEqual([options.includes('LIMIT') ? 10 : 100_000, first])
  })
})

it('SORT sorts fewer long texts than short ones, as elements or by a pattern', () => {
  const { run, failure, store } = createScriptStore()
  const far = 'x'.repeat(2_000)
  for (const name of many(1000)) {
    run('RPUSH', 'short', name)
    run('RPUSH', 'long', far + name)
    run('SET', `weight:${name}`, far + name)
  }
  Object.assign(store.options.policy, { maxWork: 100_000 })
  expect(run('SORT', 'short', 'ALPHA')).toHaveLength(1000)
  expect(run('SORT', 'short', 'BY', 'none:*')).toHaveLength(1000)
  expect(failure('SORT', 'long', 'ALPHA')).toEqual(tooMuch)
  expect(failure('SORT', 'long', 'BY', 'none:*')).toEqual(tooMuch)
  expect(failure('SORT', 'short', 'BY', 'weight:*', 'ALPHA')).toEqual(tooMuch)
  expect(failure('SORT', 'long', 'ALPHA', 'STORE', 'to')).toEqual(tooMuch)
  expect(run('EXISTS', 'to')).toBe(0)
})

it.each(['plain', 'base64'])('returns 63 MB of strings, but not 72 MB: %s', async (encoding) => {
  const rest = Rest.open()
  await rest.run('SET', 'key', 'abcdefgh!'.repeat(1_000_000))
  const asked = (times: number) =>
    rest.post('/pipeline', Array(times).fill(['GET', 'key']), { headers: { 'service-encoding': encoding } })
  const kinds = ({ json }: { json: unknown }) => (json as object[]).flatMap((item) => Object.keys(item))
  expect(kinds(await asked(7))).toEqual(Array(7).fill('result'))
  expect(kinds(await asked(8))).toContain('error')
})
