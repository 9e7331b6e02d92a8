import { Redis } from '@upstash/redis'
import { describe, expect, test } from 'vitest'
import { open } from './shop.js'

// Common methods of the store's SDK with the results that its documentation shows, for each setting of the client: with
// and without automatic pipelining, with and without base64.

const setups = [
  { enableAutoPipelining: true, responseEncoding: 'base64' },
  { enableAutoPipelining: true, responseEncoding: false },
  { enableAutoPipelining: false, responseEncoding: 'base64' },
  { enableAutoPipelining: false, responseEncoding: false },
] as const

describe.each(setups)('auto-pipelining $enableAutoPipelining, encoding $responseEncoding', (setup) => {
  function shop() {
    const world = open()
    const { UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN } = world.env
    const redis = new Redis({ url: UPSTASH_REDIS_REST_URL!, token: UPSTASH_REDIS_REST_TOKEN!, retry: false, ...setup })
    return { ...world, redis }
  }

  test('strings', async () => {
    const { redis, clock } = shop()
    expect(await redis.set('k', 'v')).toBe('OK')
    expect(await redis.get('k')).toBe('v')
    expect(await redis.get('missing')).toBeNull()
    expect(await redis.set('k', 'w', { nx: true })).toBeNull()
    expect(await redis.set('k', 'w', { get: true })).toBe('v')
    expect(await redis.set('k', { a: [1, 'x', null] }, { xx: true, ex: 60 })).toBe('OK')
    expect(await redis.get('k')).toEqual({ a: [1, 'x', null] })
    expect(await redis.ttl('k')).toBe(60)
    expect(await redis.set('k', 1, { keepTtl: true })).toBe('OK')
    await clock.advance('59s')
    expect(await redis.pttl('k')).toBe(1000)
    await clock.advance('1s')
    expect(await redis.get('k')).toBeNull()
    expect(await redis.mset({ a: 1, b: 'two', c: { three: 3 } })).toBe('OK')
    expect(await redis.mget('a', 'b', 'c', 'd')).toEqual([1, 'two', { three: 3 }, null])
    expect(await redis.msetnx({ a: 1, e: 2 })).toBe(0)
    expect(await redis.incr('a')).toBe(2)
    expect(await redis.incrby('a', 40)).toBe(42)
    expect(await redis.decrby('a', 2)).toBe(40)
    expect(await redis.decr('a')).toBe(39)
    expect(await redis.incrbyfloat('a', 0.5)).toBe(39.5)
    expect(await redis.append('b', '!')).toBe(4)
    expect(await redis.strlen('b')).toBe(4)
    expect(await redis.getrange('b', 0, 1)).toBe('tw')
    expect(await redis.setrange('b', 1, 'WO')).toBe(4)
    expect(await redis.getset('b', 'new')).toBe('tWO!')
    expect(await redis.getdel('b')).toBe('new')
    expect(await redis.exists('b', 'a', 'a')).toBe(2)
    expect(await redis.setex('s', 10, 'x')).toBe('OK')
    expect(await redis.psetex('p', 10_000, 'x')).toBe('OK')
    expect(await redis.setnx('s', 'y')).toBe(0)
    expect(await redis.getex('s', { persist: true })).toBe('x')
    expect(await redis.ttl('s')).toBe(-1)
    expect(await redis.ttl('nothing')).toBe(-2)
  })

  test('keeps texts that look like protocol: OK, numbers, JSON, emptiness, Unicode', async () => {
    const { redis } = shop()
    for (const value of [
      'OK',
      '',
      ' ',
      'PONG',
      'T0s=',
      'ü€😀',
      '\u0000\n\r\t"\\',
      'a'.repeat(10_000),
      '0123',
      '1e21',
      '1.0',
    ]) {
      await redis.set('k', value)
      expect(await redis.get('k')).toBe(value)
    }
    expect(await redis.rpush('l', 'OK', 'T0s=')).toBe(2)
    expect(await redis.lrange('l', 0, -1)).toEqual(['OK', 'T0s='])
    await redis.set('big', '9007199254740993')
    expect(await redis.get('big')).toBe('9007199254740993')
    expect(await redis.ping()).toBe('PONG')
    expect(await redis.ping(['hello'])).toBe('hello')
    expect(await redis.echo('OK')).toBe('OK')
    expect(await redis.type('l')).toBe('list')
  })

  test('hashes', async () => {
    const { redis, clock } = shop()
    expect(await redis.hset('h', { a: 1, b: 'two', c: { x: 1 } })).toBe(3)
    expect(await redis.hget('h', 'c')).toEqual({ x: 1 })
    expect(await redis.hgetall('h')).toEqual({ a: 1, b: 'two', c: { x: 1 } })
    expect(await redis.hgetall('none')).toBeNull()
    expect(await redis.hmget('h', 'a', 'zz')).toEqual({ a: 1, zz: null })
    expect(await redis.hkeys('h')).toEqual(['a', 'b', 'c'])
    expect(await redis.hvals('h')).toEqual([1, 'two', { x: 1 }])
    expect(await redis.hlen('h')).toBe(3)
    expect(await redis.hexists('h', 'a')).toBe(1)
    expect(await redis.hincrby('h', 'a', 4)).toBe(5)
    expect(await redis.hincrbyfloat('h', 'a', 0.5)).toBe(5.5)
    expect(await redis.hsetnx('h', 'a', 1)).toBe(0)
    expect(await redis.hstrlen('h', 'b')).toBe(3)
    expect(await redis.hdel('h', 'a', 'zz')).toBe(1)
    expect(await redis.hmset('h', { d: 4 })).toBe('OK')
    expect(await redis.hrandfield('h', 10)).toEqual(expect.arrayContaining(['b', 'c', 'd']))
    expect(await redis.hrandfield('h', 1, true)).toBeTypeOf('object')
    const [cursor, fields] = await redis.hscan('h', 0)
    expect([cursor, fields.length]).toEqual(['0', 6])
    expect(await redis.hexpire('h', ['b', 'none'], 10)).toEqual([1, -2])
    expect(await redis.httl('h', ['b', 'c'])).toEqual([10, -1])
    expect(await redis.hpersist('h', 'b')).toEqual([1])
    expect(await redis.hpexpire('h', 'b', 500)).toEqual([1])
    await clock.advance('1s')
    expect(await redis.hget('h', 'b')).toBeNull()
    expect(await redis.hsetex('h', { expiration: { ex: 5 } }, { n: 1 })).toBe(1)
    expect(await redis.hgetex('h', { persist: true }, 'n')).toEqual({ n: 1 })
    expect(await redis.hgetdel('h', 'n')).toEqual({ n: 1 })
    expect(await redis.hget('h', 'n')).toBeNull()
  })

  test('lists', async () => {
    const { redis } = shop()
    expect(await redis.rpush<unknown>('l', 'a', 2, { c: 3 })).toBe(3)
    expect(await redis.lpush('l', 'z')).toBe(4)
    expect(await redis.lrange('l', 0, -1)).toEqual(['z', 'a', 2, { c: 3 }])
    expect(await redis.llen('l')).toBe(4)
    expect(await redis.lindex('l', -1)).toEqual({ c: 3 })
    expect(await redis.linsert('l', 'before', 'a', 'y')).toBe(5)
    expect(await redis.lpos('l', 'a')).toBe(2)
    expect(await redis.lpos('l', 'a', { count: 0 })).toEqual([2])
    expect(await redis.lset('l', 0, 'Z')).toBe('OK')
    expect(await redis.lrem('l', 0, 'y')).toBe(1)
    expect(await redis.ltrim('l', 0, 2)).toBe('OK')
    expect(await redis.lmove('l', 'm', 'left', 'right')).toBe('Z')
    expect(await redis.lmpop(2, ['none', 'l'], 'RIGHT', 5)).toEqual(['l', [2, 'a']])
    expect(await redis.lmpop(1, ['none'], 'LEFT')).toBeNull()
    expect(await redis.lpop('m')).toBe('Z')
    expect(await redis.lpop('m')).toBeNull()
    expect(await redis.rpop('m', 2)).toBeNull()
    expect(await redis.lpushx('m', 'x')).toBe(0)
  })

  test('sets', async () => {
    const { redis } = shop()
    expect(await redis.sadd<unknown>('s', 'a', 'b', 3)).toBe(3)
    expect(await redis.sadd<unknown>('t', 'b', 4)).toBe(2)
    expect((await redis.smembers('s')).sort()).toEqual([3, 'a', 'b'])
    expect(await redis.scard('s')).toBe(3)
    expect(await redis.sismember('s', 3)).toBe(1)
    expect(await redis.smismember('s', ['a', 'x'])).toEqual([1, 0])
    expect(await redis.sinter('s', 't')).toEqual(['b'])
    expect(await redis.sintercard(['s', 't'])).toBe(1)
    expect((await redis.sdiff('s', 't')).sort()).toEqual([3, 'a'])
    expect(await redis.sunionstore('u', 's', 't')).toBe(4)
    expect(await redis.smove('s', 't', 'a')).toBe(1)
    expect(await redis.srem('t', 'a', 'none')).toBe(1)
    expect(await redis.srandmember('s', 5)).toHaveLength(2)
    expect(['b', 3]).toContainEqual(await redis.spop('s'))
    const [cursor, members] = await redis.sscan('u', 0, { match: '*' })
    expect([cursor, members.length]).toEqual(['0', 4])
  })

  test('sorted sets', async () => {
    const { redis } = shop()
    expect(
      await redis.zadd<unknown>(
        'z',
        { score: 1, member: 'a' },
        { score: 2.5, member: 'b' },
        { score: 3, member: { c: 1 } },
      ),
    ).toBe(3)
    expect(await redis.zadd('z', { gt: true, ch: true }, { score: 0, member: 'a' }, { score: 9, member: 'b' })).toBe(1)
    expect(await redis.zadd('z', { nx: true, incr: true }, { score: 1, member: 'a' })).toBeNull()
    expect(await redis.zscore('z', 'b')).toBe(9)
    expect(await redis.zrange('z', 0, -1, { withScores: true })).toEqual(['a', 1, { c: 1 }, 3, 'b', 9])
    expect(await redis.zrange('z', '(1', '+inf', { byScore: true, offset: 0, count: 1 })).toEqual([{ c: 1 }])
    expect(await redis.zrange('z', 0, 0, { rev: true })).toEqual(['b'])
    expect(await redis.zrank('z', 'b')).toBe(2)
    expect(await redis.zrevrank('z', 'b')).toBe(0)
    expect(await redis.zincrby('z', 0.5, 'a')).toBe(1.5)
    expect(await redis.zmscore('z', ['a', 'none'])).toEqual([1.5, null])
    expect(await redis.zcount('z', 1, 3)).toBe(2)
    expect(await redis.zcard('z')).toBe(3)
    expect(await redis.zunion(2, ['z', 'none'], { weights: [2, 1], withScores: true })).toEqual([
      'a',
      3,
      { c: 1 },
      6,
      'b',
      18,
    ])
    expect(await redis.zunionstore('y', 2, ['z', 'z'], { aggregate: 'max' })).toBe(3)
    expect(await redis.zinterstore('x', 1, ['z'])).toBe(3)
    expect(await redis.zdiffstore('w', 2, 'z', 'none')).toBe(3)
    expect(await redis.zpopmax('y')).toEqual(['b', 9])
    expect(await redis.zpopmin('y', 2)).toEqual(['a', 1.5, { c: 1 }, 3])
    expect(await redis.zremrangebyrank('x', 0, 0)).toBe(1)
    expect(await redis.zremrangebyscore('x', '-inf', 3)).toBe(1)
    expect(await redis.zrem('x', 'b')).toBe(1)
    await redis.zadd('lex', { score: 0, member: 'a' }, { score: 0, member: 'b' }, { score: 0, member: 'c' })
    expect(await redis.zlexcount('lex', '[a', '(c')).toBe(2)
    expect(await redis.zrange('lex', '-', '[b', { byLex: true })).toEqual(['a', 'b'])
    expect(await redis.zremrangebylex('lex', '[b', '+')).toBe(2)
    const [cursor, found] = await redis.zscan('z', 0)
    expect(cursor).toBe('0')
    expect(found).toHaveLength(6)
    expect(found[found.indexOf('b') + 1]).toBe(9)
  })

  test('bits, geo, HyperLogLog', async () => {
    const { redis, env } = shop()
    expect(await redis.setbit('b', 7, 1)).toBe(0)
    expect(await redis.getbit('b', 7)).toBe(1)
    expect(await redis.bitcount('b', 0, -1)).toBe(1)
    expect(await redis.bitpos('b', 1)).toBe(7)
    expect(await redis.bitop('not', 'c', 'b')).toBe(1)
    // The client's automatic pipelining cannot chain this command.
    const plain = new Redis({
      url: env.UPSTASH_REDIS_REST_URL!,
      token: env.UPSTASH_REDIS_REST_TOKEN!,
      enableAutoPipelining: false,
    })
    expect(
      await plain.bitfield('f').set('u8', 0, 255).incrby('u8', 0, 10).overflow('FAIL').incrby('u8', 0, 255).exec(),
    ).toEqual([0, 9, null])
    expect(
      await redis.geoadd(
        'g',
        { longitude: 13.361389, latitude: 38.115556, member: 'Palermo' },
        { longitude: 15.087269, latitude: 37.502669, member: 'Catania' },
      ),
    ).toBe(2)
    expect(await redis.geodist('g', 'Palermo', 'Catania', 'KM')).toBe(166.2742)
    expect(await redis.geohash('g', 'Palermo')).toEqual(['sqc8b49rny0'])
    const [position] = await redis.geopos('g', 'Palermo')
    expect(position!.lng).toBeCloseTo(13.361389, 5)
    expect(
      await redis.geosearch(
        'g',
        { type: 'FROMLONLAT', coordinate: { lon: 15, lat: 37 } },
        { type: 'BYRADIUS', radius: 200, radiusType: 'KM' },
        'ASC',
        { withDist: true },
      ),
    ).toEqual(
      [
        { member: 'Catania', dist: '56.4413' },
        { member: 'Palermo', dist: '190.4424' },
      ].map((item) => ({ ...item, dist: Number(item.dist) })),
    )
    expect(await redis.pfadd('p', 'a', 'b', 'c')).toBe(1)
    expect(await redis.pfcount('p')).toBe(3)
    expect(await redis.pfmerge('q', 'p')).toBe('OK')
  })

  test('streams', async () => {
    const { redis, clock } = shop()
    const id = await redis.xadd('x', '*', { name: 'Jane', n: 1 })
    expect(id).toBe(`${clock.now()}-0`)
    await redis.xadd('x', '*', { name: 'Joe' })
    expect(await redis.xlen('x')).toBe(2)
    expect(await redis.xrange('x', '-', '+')).toEqual({
      [id]: { name: 'Jane', n: 1 },
      [`${clock.now()}-1`]: { name: 'Joe' },
    })
    expect(Object.keys(await redis.xrevrange('x', '+', '-', 1))).toEqual([`${clock.now()}-1`])
    expect(await redis.xgroup('x', { type: 'CREATE', group: 'g', id: '0' })).toBe('OK')
    expect(await redis.xreadgroup('g', 'c', 'x', '>', { count: 1 })).toEqual([['x', [[id, ['name', 'Jane', 'n', 1]]]]])
    expect(await redis.xpending('x', 'g', '-', '+', 10)).toEqual([[id, 'c', 0, 1]])
    expect(await redis.xack('x', 'g', id)).toBe(1)
    expect(await redis.xread('x', '$')).toBeNull()
    expect(await redis.xread(['x'], ['0-0'], { count: 1 })).toEqual([['x', [[id, ['name', 'Jane', 'n', 1]]]]])
    expect(await redis.xinfo('x', { type: 'GROUPS' })).toHaveLength(1)
    expect(await redis.xautoclaim('x', 'g', 'c', 0, '0-0')).toEqual(['0-0', [], []])
    expect(await redis.xtrim('x', { strategy: 'MAXLEN', threshold: 1 })).toBe(0) // `~` is the client's default, so the length is approximate.
    expect(await redis.xtrim('x', { strategy: 'MAXLEN', threshold: 1, exactness: '=' })).toBe(1)
    expect(await redis.xdel('x', id)).toBe(0)
  })

  test('keys, scan, copy, rename, expiry', async () => {
    const { redis, clock } = shop()
    for (let n = 0; n < 25; n++) await redis.set(`k:${n}`, n)
    await redis.hset('h', { a: 1 })
    expect(await redis.dbsize()).toBe(26)
    expect((await redis.keys('k:1*')).sort()).toEqual(['k:1', ...Array.from({ length: 10 }, (_, n) => `k:1${n}`)])
    const seen: string[] = []
    let cursor: string | number = 0
    do {
      const [next, keys]: [string, string[]] = await redis.scan(cursor, { match: 'k:*', count: 4 })
      seen.push(...keys)
      cursor = next
      expect(cursor).toBeTypeOf('string')
    } while (cursor !== '0')
    expect(new Set(seen).size).toBe(25)
    const [, typed] = await redis.scan(0, { withType: true, match: 'h', count: 100 })
    expect(typed).toEqual([{ key: 'h', type: 'hash' }])
    expect(await redis.copy('k:1', 'copied')).toBe('COPIED')
    expect(await redis.copy('k:1', 'copied')).toBe('NOT_COPIED')
    expect(await redis.rename('copied', 'moved')).toBe('OK')
    expect(await redis.renamenx('moved', 'k:2')).toBe(0)
    expect(await redis.touch('moved', 'none')).toBe(1)
    expect(await redis.unlink('moved')).toBe(1)
    expect(await redis.expire('k:1', 10)).toBe(1)
    expect(await redis.expire('k:1', 5, 'GT')).toBe(0)
    expect(await redis.persist('k:1')).toBe(1)
    expect(await redis.expireat('k:1', clock.now() / 1000 + 3)).toBe(1)
    expect(await redis.pexpireat('k:2', clock.now() + 1500)).toBe(1)
    await clock.advance('3s')
    expect(await redis.exists('k:1', 'k:2')).toBe(0)
    expect(await redis.randomkey()).toBeTypeOf('string')
    expect(await redis.time()).toEqual([clock.now() / 1000, 0])
    expect(await redis.del('k:3', 'none')).toBe(1)
    expect(await redis.flushdb()).toBe('OK')
    expect(await redis.flushall([{ async: true }])).toBe('OK')
    expect(await redis.dbsize()).toBe(0)
  })

  test('JSON documents', async () => {
    const { redis } = shop()
    expect(await redis.json.set('d', '$', { a: 2, b: 3, nested: { a: 4, b: null }, list: [1, 'x'] })).toBe('OK')
    expect(await redis.json.get('d', '$..a')).toEqual([4, 2])
    expect(await redis.json.get('d', '$..b')).toEqual([null, 3])
    expect(await redis.json.numincrby('d', '$.a', 3)).toEqual([5])
    expect(await redis.json.arrappend('d', '$.list', { y: 1 })).toEqual([3])
    expect(await redis.json.arrpop('d', '$.list')).toEqual([{ y: 1 }])
    expect(await redis.json.type('d', '$.nested')).toEqual(['object'])
    expect(await redis.json.objkeys('d', '$')).toEqual([['a', 'b', 'nested', 'list']])
    expect(await redis.json.merge('d', '$', { b: null })).toBe('OK')
    expect(await redis.json.get('d')).toEqual({ a: 5, nested: { a: 4, b: null }, list: [1, 'x'] })
    expect(await redis.json.mget(['d', 'none'], '$.a')).toEqual([[5], null])
    expect(await redis.json.del('d', '$.nested')).toBe(1)
    expect(await redis.json.set('d', '$.a', 1, { nx: true })).toBeNull()
    expect(await redis.type('d')).toBe('json')
  })

  test('pipelines and transactions', async () => {
    const { redis } = shop()
    const pipeline = redis
      .pipeline()
      .set('a', 1)
      .incr('a')
      .get('none')
      .lrange('none', 0, -1)
      .hset('h', { x: 'OK' })
      .hgetall('h')
    expect(await pipeline.exec()).toEqual(['OK', 2, null, [], 1, { x: 'OK' }])
    const tx = redis.multi().set('t', 'OK').get('t').incrby('a', 8)
    expect(await tx.exec()).toEqual(['OK', 'OK', 10])
    const failing = redis.pipeline().set('s', 'text').incr('s').get('s')
    await expect(failing.exec()).rejects.toThrow('Command 2 [ incr ] failed: ERR value is not an int or out of range')
    const kept = await redis.pipeline().incr('s').get('s').exec({ keepErrors: true })
    expect(kept[0]).toMatchObject({ error: 'ERR value is not an int or out of range' })
    expect(kept[1]).toMatchObject({ result: 'text' })
  })

  test('throws errors as the SDK formats them', async () => {
    const { redis, env } = shop()
    const prefix = setup.enableAutoPipelining ? 'Command failed: ' : ''
    await redis.set('s', 'text')
    await expect(redis.incr('s')).rejects.toThrow(`${prefix}ERR value is not an int or out of range`)
    await expect(redis.lpush('s', 'x')).rejects.toThrow(
      `${prefix}WRONGTYPE Operation against a key holding the wrong kind of value`,
    )
    await expect(redis.exec(['NOSUCH', 'x'] as never)).rejects.toThrow(
      "ERR Command is not available: 'NOSUCH'. See https://",
    )
    await expect(redis.set('k', undefined as never)).rejects.toThrow('ERR null args are not supported')
    const stranger = new Redis({ url: env.UPSTASH_REDIS_REST_URL!, token: 'wrong', retry: false, ...setup })
    await expect(stranger.get('k')).rejects.toThrow('WRONGPASS invalid or missing auth token')
  })
})
