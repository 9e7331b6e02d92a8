import { beforeEach, describe, expect, it } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import { ReplyError } from '../../src/store/command/reply.js'
import type { CommandArg, PlainReply } from '../../src/store/direct-store.js'
import { storeInternals } from '../../src/store/store-internals.js'

let sandbox: Sandbox
let run: (...words: CommandArg[]) => PlainReply
beforeEach(() => {
  sandbox = createSandbox()
  run = (...words) => sandbox.store.run(...words)
})

const binary = new Uint8Array([0, 255, 10, 128])

/**
 * Creates one key of every type, with bytes that are not text, with expirations, and with all properties of streams.
 */
function fill(): void {
  run('SET', 'string', 'text ☃')
  run('SET', binary, binary, 'PX', 90_000)
  run('APPEND', 'raw', 'a')
  run('APPEND', 'raw', binary)
  run('SET', 'empty', '')
  run('SET', 'number', '9223372036854775807')
  run('RPUSH', 'list', 'a', binary, '', 'a')
  run('SADD', 'set', 'a', binary, '1')
  run('HSET', 'hash', 'f', 'v', binary, binary, 'short', 'lived')
  run('HPEXPIRE', 'hash', 5000, 'FIELDS', 1, 'short')
  run('ZADD', 'zset', '1.5', 'a', '-inf', binary, 'inf', 'c', '0.1', 'd', '-0', 'e')
  run('GEOADD', 'geo', '13.361389', '38.115556', 'Palermo')
  run('PFADD', 'hll', 'a', 'b', 'c')
  run('JSON.SET', 'json', '$', '{"b":[1,1.0,1e2,null,"☃"],"a":{"x":true}}')
  run('XADD', 'stream', '5-1', 'f', 'v', binary, binary)
  run('XADD', 'stream', '6-0', 'g', 'w')
  run('XADD', 'stream', '7-0', 'g', 'w')
  run('XGROUP', 'CREATE', 'stream', 'group', '0')
  run('XGROUP', 'CREATE', 'stream', 'idle', '$')
  run('XREADGROUP', 'GROUP', 'group', 'ann', 'COUNT', 2, 'STREAMS', 'stream', '>')
  run('XDEL', 'stream', '6-0')
  run('EXPIRE', 'stream', 1000)
  run('ARRING', 'array', 3, 'a', binary, '', 'd')
  run('ARSET', 'array', '18446744073709551614', 'last')
}

/** Returns the replies of the keys to all read commands. */
function answers(of: Sandbox): unknown {
  const ask = (...words: CommandArg[]) => of.store.run(...words)
  return [
    ask('KEYS', '*'),
    ask('MGET', 'string', binary, 'raw', 'empty', 'number', 'hll'),
    ask('PTTL', binary),
    ask('LRANGE', 'list', 0, -1),
    ask('SMEMBERS', 'set'),
    ask('HGETALL', 'hash'),
    ask('HPTTL', 'hash', 'FIELDS', 2, 'short', 'f'),
    ask('ZRANGE', 'zset', 0, -1, 'WITHSCORES'),
    ask('GEOPOS', 'geo', 'Palermo'),
    ask('PFCOUNT', 'hll'),
    ask('JSON.GET', 'json'),
    ask('XRANGE', 'stream', '-', '+'),
    ask('XINFO', 'STREAM', 'stream', 'FULL'),
    ask('XPENDING', 'stream', 'group', '-', '+', 10),
    ask('PTTL', 'stream'),
    ask('ARSCAN', 'array', 0, '18446744073709551614'),
    ask('ARNEXT', 'array'),
  ]
}

describe('run() and get()', () => {
  it('accept texts, numbers and bytes, and return plain values', () => {
    expect(run('SET', 'n', 41)).toBe('OK')
    expect(run('INCRBY', 'n', 9_007_199_254_740_993n)).toBe(9007199254741034n)
    expect(run('MGET', 'n', 'missing')).toEqual(['9007199254741034', null])
    expect(run('SET', binary, binary)).toBe('OK')
    expect(run('STRLEN', binary)).toBe(4)
    expect(sandbox.store.get('n')).toBe('9007199254741034')
    expect(sandbox.store.get('missing')).toBeNull()
    expect(sandbox.store.get(binary)).toBe('\0\ufffd\n\ufffd')
  })

  it('throw error replies', () => {
    expect(() => run('NONSENSE')).toThrow(ReplyError)
    run('RPUSH', 'l', 'a')
    expect(() => run('GET', 'l')).toThrow('WRONGTYPE Operation against a key holding the wrong kind of value')
    expect(() => sandbox.store.get('l')).toThrow('WRONGTYPE')
  })

  it('log what they run, but not what get() reads', () => {
    run('SET', 'k', 'v')
    expect(() => run('INCR', 'k')).toThrow()
    sandbox.store.get('k')
    expect(sandbox.traffic.ofType('command')).toMatchObject([
      { argv: ['SET', 'k', 'v'], via: 'direct', user: 'default' },
      { argv: ['INCR', 'k'], via: 'direct', error: 'ERR value is not an int or out of range' },
    ])
  })
})

describe('dump() and load()', () => {
  it('preserve every type through JSON text into another sandbox', () => {
    fill()
    const dump = JSON.parse(JSON.stringify(sandbox.store.dump()))
    const other = createSandbox()
    other.store.run('SET', 'goes', 'away')
    other.store.load(dump)
    expect(other.store.dump()).toEqual(dump)
    expect(answers(other)).toEqual(answers(sandbox))
  })

  it('use readable text where possible', () => {
    run('SET', 'k', 'v ☃')
    run('SET', binary, binary, 'PX', 1000)
    run('ZADD', 'z', 'inf', 'a')
    expect(sandbox.store.dump()).toEqual({
      format: 'stuntdouble/store',
      version: 1,
      keys: [
        { key: 'k', type: 'string', value: 'v ☃' },
        {
          key: { base64: 'AP8KgA==' },
          type: 'string',
          value: { base64: 'AP8KgA==' },
          expiresAt: sandbox.clock.now() + 1000,
        },
        { key: 'z', type: 'zset', members: [['a', 'inf']] },
      ],
    })
  })

  it('keep expirations: a key whose time has passed does not exist after loading', async () => {
    fill()
    const dump = sandbox.store.dump()
    await sandbox.clock.advance('2m')
    sandbox.store.load(dump)
    expect(run('EXISTS', binary)).toBe(0)
    expect(run('HEXISTS', 'hash', 'short')).toBe(0)
    expect(run('EXISTS', 'string', 'stream')).toBe(2)
  })

  it('do not share values with the store', () => {
    run('RPUSH', 'l', 'a')
    const dump = sandbox.store.dump()
    run('RPUSH', 'l', 'b')
    expect(dump.keys).toEqual([{ key: 'l', type: 'list', elements: ['a'] }])
    sandbox.store.load(dump)
    run('RPUSH', 'l', 'c')
    expect(dump.keys).toEqual([{ key: 'l', type: 'list', elements: ['a'] }])
  })

  it.each([
    ['nothing', undefined],
    ['another version', { format: 'stuntdouble/store', version: 2, keys: [] }],
    ['another format', { version: 1, keys: [] }],
    ['no keys', { format: 'stuntdouble/store', version: 1 }],
    ['an unknown type', { format: 'stuntdouble/store', version: 1, keys: [{ key: 'k', type: 'tree' }] }],
    ['no text', { format: 'stuntdouble/store', version: 1, keys: [{ key: 5, type: 'string', value: 'v' }] }],
    [
      'broken base64',
      { format: 'stuntdouble/store', version: 1, keys: [{ key: { base64: '*' }, type: 'string', value: 'v' }] },
    ],
    [
      'a score that is none',
      { format: 'stuntdouble/store', version: 1, keys: [{ key: 'z', type: 'zset', members: [['a', 'x']] }] },
    ],
    [
      'an expiration that is not a time',
      { format: 'stuntdouble/store', version: 1, keys: [{ key: 'a', type: 'string', value: 'v', expiresAt: 'soon' }] },
    ],
    [
      'a list of nothing, which no store can hold',
      { format: 'stuntdouble/store', version: 1, keys: [{ key: 'l', type: 'list', elements: [] }] },
    ],
    ['JSON that is none', { format: 'stuntdouble/store', version: 1, keys: [{ key: 'j', type: 'json', value: '{' }] }],
  ])('reject %s and change nothing', (_, dump) => {
    run('SET', 'k', 'v')
    expect(() => sandbox.store.load(dump as never)).toThrow()
    expect(sandbox.store.get('k')).toBe('v')
  })
})

it('diff() returns added, removed and changed keys', () => {
  run('MSET', 'same', 1, 'changed', 1, 'gone', 1, 'deadline', 1)
  run('RPUSH', 'list', 'a')
  const before = sandbox.store.dump()
  run('SET', 'changed', 2)
  run('DEL', 'gone')
  run('SET', 'new', 1)
  run('PEXPIRE', 'deadline', 1000)
  run('RPUSH', 'list', 'b')
  const expiresAt = sandbox.clock.now() + 1000
  expect(sandbox.store.diff(before)).toEqual({
    added: [{ key: 'new', type: 'string', value: '1' }],
    removed: [{ key: 'gone', type: 'string', value: '1' }],
    changed: [
      {
        key: 'changed',
        before: { key: 'changed', type: 'string', value: '1' },
        after: { key: 'changed', type: 'string', value: '2' },
      },
      {
        key: 'deadline',
        before: { key: 'deadline', type: 'string', value: '1' },
        after: { key: 'deadline', expiresAt, type: 'string', value: '1' },
      },
      {
        key: 'list',
        before: { key: 'list', type: 'list', elements: ['a'] },
        after: { key: 'list', type: 'list', elements: ['a', 'b'] },
      },
    ],
  })
  expect(sandbox.store.diff(sandbox.store.dump())).toEqual({ added: [], removed: [], changed: [] })
})

describe('DUMP and RESTORE', () => {
  const bytes = (reply: string) => Uint8Array.from(reply, (char) => char.charCodeAt(0))
  /** Returns the payload as bytes: a plain reply would lose bytes that are not text. */
  const payloadOf = (key: string | Uint8Array): Uint8Array => {
    const words = ['DUMP', key].map((word) => (typeof word === 'string' ? word : String.fromCharCode(...word)))
    return bytes(storeInternals.of(sandbox.store).engine.execute(words as never) as string)
  }

  it('preserve every type', () => {
    fill()
    const before = sandbox.store.dump()
    for (const key of [
      'string',
      'raw',
      'empty',
      'number',
      'list',
      'set',
      'hash',
      'zset',
      'geo',
      'hll',
      'json',
      'stream',
    ]) {
      const payload = payloadOf(key)
      const ttl = Math.max(Number(run('PTTL', key)), 0)
      expect(run('RESTORE', 'copy', ttl, payload), key).toBe('OK')
      const value = (name: string) => sandbox.store.dump().keys.find((each) => each.key === name)
      expect({ ...value('copy'), key }, key).toEqual(before.keys.find((each) => each.key === key))
      run('DEL', 'copy')
    }
  })

  it('set the requested expiration', () => {
    run('SET', 'k', 'v')
    const payload = payloadOf('k')
    run('RESTORE', 'relative', 1000, payload)
    expect(run('PTTL', 'relative')).toBe(1000)
    run('RESTORE', 'absolute', sandbox.clock.now() + 5000, payload, 'ABSTTL')
    expect(run('PTTL', 'absolute')).toBe(5000)
    run('RESTORE', 'never', 0, payload)
    expect(run('PTTL', 'never')).toBe(-1)
    expect(run('RESTORE', 'past', 1, payload, 'ABSTTL')).toBe('OK')
    expect(run('EXISTS', 'past')).toBe(0)
    run('SET', 'old', 'x', 'EX', 100)
    expect(() => run('RESTORE', 'old', 0, payload)).toThrow('BUSYKEY Target key name already exists.')
    expect(run('RESTORE', 'old', 0, payload, 'REPLACE')).toBe('OK')
    expect([sandbox.store.get('old'), run('PTTL', 'old')]).toEqual(['v', -1])
  })

  it('preserve the idle time, as redis-server 7.0.15 does', () => {
    sandbox = createSandbox({ policy: { commands: 'all' } })
    run('SET', 'k', 'v')
    const payload = payloadOf('k')
    run('RESTORE', 'idle', 0, payload, 'IDLETIME', 100)
    expect(run('OBJECT', 'IDLETIME', 'idle')).toBe(100)
    run('GET', 'idle')
    expect(run('OBJECT', 'IDLETIME', 'idle')).toBe(0)
    run('RESTORE', 'idle', 0, payload, 'REPLACE')
    expect(run('OBJECT', 'IDLETIME', 'idle')).toBe(0)
  })

  it('reject a payload with any flipped bit', () => {
    run('RPUSH', 'l', 'a', 'b')
    const payload = payloadOf('l')
    for (let at = 0; at < payload.length; at++) {
      const damaged = payload.with(at, payload[at]! ^ 1)
      expect(() => run('RESTORE', 'copy', 0, damaged)).toThrow('ERR DUMP payload version or checksum are wrong')
    }
    expect(() => run('RESTORE', 'copy', 0, payload.slice(1))).toThrow('ERR DUMP payload')
    expect(run('EXISTS', 'copy')).toBe(0)
  })
})

it('diff() ignores the order in which members and fields were added', () => {
  run('SADD', 'set', 'a', 'b', 'c')
  run('HSET', 'hash', 'a', 1, 'b', 2)
  const before = sandbox.store.dump()
  for (const command of [
    ['SREM', 'set', 'a'],
    ['SADD', 'set', 'a'],
    ['HDEL', 'hash', 'a'],
    ['HSET', 'hash', 'a', 1],
  ])
    run(...command)
  expect(sandbox.store.diff(before).changed).toEqual([])
  run('HPEXPIRE', 'hash', 1000, 'FIELDS', 1, 'b')
  expect(sandbox.store.diff(before).changed.map(({ key }) => key)).toEqual(['hash'])
})

it('random replies depend on the seed', () => {
  const picks = (seed: number) => {
    const { store } = createSandbox({ seed })
    for (let at = 0; at < 50; at++) {
      store.run('SADD', 's', at)
      store.run('HSET', 'h', at, at)
      store.run('ZADD', 'z', at, at)
      store.run('SET', `k${at}`, at)
    }
    return [
      store.run('RANDOMKEY'),
      store.run('SRANDMEMBER', 's', 5),
      store.run('SPOP', 's'),
      store.run('HRANDFIELD', 'h', -5),
      store.run('ZRANDMEMBER', 'z', 5),
    ]
  }
  expect(picks(1)).toEqual(picks(1))
  expect(picks(1)).not.toEqual(picks(2))
})

describe('SCAN', () => {
  const keysOf = (page: PlainReply) => (page as [string, string[]])[1]

  it('visits at most 1000 keys per call', () => {
    for (let at = 0; at < 2500; at++) run('SET', `k${at}`, at)
    const pages: number[] = []
    let cursor = '0'
    do {
      const page = run('SCAN', cursor, 'COUNT', 100_000)
      pages.push(keysOf(page).length)
      cursor = (page as [string, string[]])[0]
    } while (cursor !== '0')
    expect(pages).toEqual([1000, 1000, 500])
  })

  it('returns every lasting key exactly once', () => {
    for (let at = 0; at < 300; at++) run('SET', `stay${at}`, at)
    for (let at = 0; at < 300; at++) run('SET', `go${at}`, at)
    const seen: string[] = []
    let cursor = '0'
    let round = 0
    do {
      const page = run('SCAN', cursor, 'COUNT', 7)
      seen.push(...keysOf(page))
      cursor = (page as [string, string[]])[0]
      for (let at = 0; at < 20; at++) run('DEL', `go${round * 20 + at}`)
      for (let at = 0; at < 3; at++) run('SET', `new${round}-${at}`, at)
      if (++round > 500) throw new Error('the scan does not end')
    } while (cursor !== '0')
    const stayed = seen.filter((key) => key.startsWith('stay'))
    expect(stayed).toHaveLength(300)
    expect(new Set(stayed).size).toBe(300)
  })
})
