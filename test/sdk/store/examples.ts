import type { Redis } from '@upstash/redis'
import { expect } from 'vitest'

interface World {
  readonly redis: Redis
  /** Advances virtual time by this number of milliseconds. */
  advance(ms: number): Promise<unknown>
  /** Returns virtual time in milliseconds. */
  now(): number | Promise<number>
}

type Example = (world: World) => Promise<void>

/**
 * Calls of each method with the results that the SDK's documentation shows, by group of commands. The store is empty
 * before each example.
 */
export const examples: Readonly<Record<string, Example>> = {
  async 'String: get set'({ redis, advance }) {
    expect(await redis.set('my-key', { my: 'value' })).toBe('OK')
    expect(await redis.get('my-key')).toEqual({ my: 'value' })
    expect(await redis.set('key', 'v', { ex: 1, nx: true })).toBe('OK')
    expect(await redis.set('key', 'w', { nx: true })).toBeNull()
    expect(await redis.set('key', 'w', { xx: true, get: true })).toBe('v')
    expect(await redis.set('other', 1, { px: 1500 })).toBe('OK')
    await advance(1500)
    expect(await redis.get('other')).toBeNull()
    expect(await redis.set('kept', 1, { ex: 10 })).toBe('OK')
    expect(await redis.set('kept', 2, { keepTtl: true })).toBe('OK')
    expect(await redis.ttl('kept')).toBe(10)
    expect(await redis.get('missing')).toBeNull()
  },

  async 'String: the texts that come back'({ redis }) {
    for (const value of [
      'text',
      'ünïcode ☃',
      'OK',
      '',
      '007',
      '1e21',
      '12345678901234567890',
      '"quoted"x',
      '{broken',
    ]) {
      await redis.set('k', value)
      expect(await redis.get('k')).toBe(value)
    }
    for (const value of [1, -1.5, true, false, [1, 'two', null], { nested: { deep: [] } }]) {
      await redis.set('k', value)
      expect(await redis.get('k')).toEqual(value)
    }
  },

  async 'String: numbers'({ redis }) {
    await redis.set('key', 6)
    expect(await redis.incr('key')).toBe(7)
    expect(await redis.incrby('key', 4)).toBe(11)
    expect(await redis.decr('key')).toBe(10)
    expect(await redis.decrby('key', 4)).toBe(6)
    expect(await redis.incrbyfloat('key', 4.5)).toBe(10.5)
  },

  async 'String: parts'({ redis }) {
    expect(await redis.append('key', 'Hello')).toBe(5)
    expect(await redis.append('key', ' World')).toBe(11)
    expect(await redis.getrange('key', 0, 4)).toBe('Hello')
    expect(await redis.setrange('key', 6, 'Redis')).toBe(11)
    expect(await redis.get('key')).toBe('Hello Redis')
    expect(await redis.strlen('key')).toBe(11)
  },

  async 'String: several at once'({ redis }) {
    expect(await redis.mset({ key1: 1, key2: 'hello', key3: { foo: 'bar' } })).toBe('OK')
    expect(await redis.mget('key1', 'key2', 'key3', 'missing')).toEqual([1, 'hello', { foo: 'bar' }, null])
    expect(await redis.msetnx({ key3: 1, key4: 2 })).toBe(0)
    expect(await redis.msetnx({ key4: 1, key5: 2 })).toBe(1)
  },

  async 'String: get and more'({ redis, now }) {
    await redis.set('key', 'oldvalue')
    expect(await redis.getset('key', 'newvalue')).toBe('oldvalue')
    expect(await redis.getex('key', { ex: 100 })).toBe('newvalue')
    expect(await redis.ttl('key')).toBe(100)
    expect(await redis.getex('key', { persist: true })).toBe('newvalue')
    expect(await redis.ttl('key')).toBe(-1)
    expect(await redis.getex('key', { pxat: (await now()) - 1 })).toBe('newvalue')
    expect(await redis.getdel('key')).toBeNull()
    await redis.set('key', 'last')
    expect(await redis.getdel('key')).toBe('last')
    expect(await redis.setex('s', 10, 'v')).toBe('OK')
    expect(await redis.psetex('p', 10_000, 'v')).toBe('OK')
    expect(await redis.setnx('s', 'w')).toBe(0)
    expect(await redis.setnx('t', 'w')).toBe(1)
  },

  async Bitmap({ redis }) {
    expect(await redis.setbit('key', 7, 1)).toBe(0)
    expect(await redis.setbit('key', 7, 0)).toBe(1)
    expect(await redis.setbit('key', 4, 1)).toBe(0)
    expect(await redis.getbit('key', 4)).toBe(1)
    expect(await redis.getbit('key', 100)).toBe(0)
    expect(await redis.bitcount('key', 0, -1)).toBe(1)
    expect(await redis.bitcount('key', 0, 10)).toBe(1)
    expect(await redis.bitpos('key', 1)).toBe(4)
    expect(await redis.bitpos('key', 0, 0, 1)).toBe(0)
    await redis.setbit('key2', 4, 1)
    await redis.setbit('key2', 5, 1)
    expect(await redis.bitop('and', 'dest', 'key', 'key2')).toBe(1)
    expect(await redis.bitop('or', 'dest', 'key', 'key2')).toBe(1)
    expect(await redis.bitop('xor', 'dest', 'key', 'key2')).toBe(1)
    expect(await redis.bitcount('dest', 0, -1)).toBe(1)
    expect(await redis.bitop('not', 'dest', 'key')).toBe(1)
    expect(await redis.bitcount('dest', 0, -1)).toBe(7)
    // The automatic pipeline of the SDK does not support the chained calls of a bit field.
    const fields = redis.pipeline().bitfield('mykey').set('u4', 0, 16).incrby('u4', '#1', 1).get('u4', '#1').exec()
    expect(await fields.bitfield('mykey').overflow('SAT').incrby('i5', 100, 200).exec().exec()).toEqual([
      [0, 1, 1],
      [15],
    ])
  },

  async 'Hash: fields'({ redis }) {
    expect(await redis.hset('key', { field1: 'a', field2: 2, field3: { nested: true } })).toBe(3)
    expect(await redis.hget('key', 'field1')).toBe('a')
    expect(await redis.hget('key', 'missing')).toBeNull()
    expect(await redis.hgetall('key')).toEqual({ field1: 'a', field2: 2, field3: { nested: true } })
    expect(await redis.hgetall('missing')).toBeNull()
    expect(await redis.hmget('key', 'field1', 'missing')).toEqual({ field1: 'a', missing: null })
    expect(await redis.hmset('key', { field1: 1, field4: 'd' })).toBe('OK')
    expect(await redis.hsetnx('key', 'field1', 2)).toBe(0)
    expect(await redis.hsetnx('key', 'field5', 2)).toBe(1)
    expect(await redis.hexists('key', 'field5')).toBe(1)
    expect(await redis.hlen('key')).toBe(5)
    expect(await redis.hkeys('key')).toEqual(['field1', 'field2', 'field3', 'field4', 'field5'])
    expect(await redis.hvals('key')).toEqual([1, 2, { nested: true }, 'd', 2])
    expect(await redis.hstrlen('key', 'field4')).toBe(1)
    expect(await redis.hincrby('key', 'field1', 6)).toBe(7)
    expect(await redis.hincrbyfloat('key', 'field1', 4.5)).toBe(11.5)
    expect(await redis.hdel('key', 'field1', 'field2', 'missing')).toBe(2)
    expect(['field3', 'field4', 'field5']).toContain(await redis.hrandfield('key'))
    expect(await redis.hrandfield('key', 2)).toHaveLength(2)
    expect(Object.keys((await redis.hrandfield('key', 2, true))!)).toHaveLength(2)
    const [cursor, fields] = await redis.hscan('key', '0', { match: 'field*', count: 100 })
    expect([cursor, fields.length]).toEqual(['0', 6])
  },

  async 'Hash: deadlines of fields'({ redis, advance, now }) {
    await redis.hset('key', { a: 'x', b: 'y', c: 'z' })
    expect(await redis.hexpire('key', 'a', 1)).toEqual([1])
    expect(await redis.hexpire('key', ['a', 'b', 'missing'], 100, 'NX')).toEqual([0, 1, -2])
    expect(await redis.httl('key', ['a', 'b', 'c', 'missing'])).toEqual([1, 100, -1, -2])
    expect(await redis.hpttl('key', 'a')).toEqual([1000])
    expect(await redis.hpexpire('key', 'c', 5000)).toEqual([1])
    const start = await now()
    expect(await redis.hpexpiretime('key', 'c')).toEqual([start + 5000])
    expect(await redis.hexpiretime('key', 'c')).toEqual([Math.floor((start + 5000) / 1000)])
    expect(await redis.hpersist('key', ['b', 'b', 'missing'])).toEqual([1, -1, -2])
    await advance(1000)
    expect(await redis.hget('key', 'a')).toBeNull()
    const future = Math.floor(start / 1000) + 1000
    expect(await redis.hexpireat('key', 'b', future)).toEqual([1])
    expect(await redis.hpexpireat('key', 'b', (future + 1) * 1000)).toEqual([1])
    expect(await redis.hexpiretime('key', 'b')).toEqual([future + 1])
    expect(await redis.hsetex('key', { expiration: { ex: 10 } }, { d: 'w', e: 'v' })).toBe(1)
    expect(await redis.hsetex('key', { conditional: 'FNX' }, { d: 1 })).toBe(0)
    expect(await redis.httl('key', 'd')).toEqual([10])
    expect(await redis.hgetex('key', { ex: 60 }, 'd', 'missing')).toEqual({ d: 'w', missing: null })
    expect(await redis.httl('key', 'd')).toEqual([60])
    expect(await redis.hgetdel('key', 'd', 'missing')).toEqual({ d: 'w', missing: null })
    expect(await redis.hexists('key', 'd')).toBe(0)
  },

  async List({ redis }) {
    expect(await redis.lpush('key', 'a', 'b', 'c')).toBe(3)
    expect(await redis.rpush<unknown>('key', 'd', 5, { e: 6 })).toBe(6)
    expect(await redis.lrange('key', 0, -1)).toEqual(['c', 'b', 'a', 'd', 5, { e: 6 }])
    expect(await redis.lrange('missing', 0, -1)).toEqual([])
    expect(await redis.lpushx('missing', 'x')).toBe(0)
    expect(await redis.rpushx('missing', 'x')).toBe(0)
    expect(await redis.lindex('key', 0)).toBe('c')
    expect(await redis.linsert('key', 'before', 'b', 'x')).toBe(7)
    expect(await redis.linsert('key', 'after', 'missing', 'x')).toBe(-1)
    expect(await redis.llen('key')).toBe(7)
    expect(await redis.lset('key', 1, 'y')).toBe('OK')
    expect(await redis.lpos('key', 'd')).toBe(4)
    expect(await redis.lpos('key', 'missing')).toBeNull()
    expect(await redis.lpos('key', 'd', { count: 2 })).toEqual([4])
    expect(await redis.lrem('key', 1, 'y')).toBe(1)
    expect(await redis.lpop('key')).toBe('c')
    expect(await redis.lpop('key', 2)).toEqual(['b', 'a'])
    expect(await redis.lpop('missing')).toBeNull()
    expect(await redis.rpop('key')).toEqual({ e: 6 })
    expect(await redis.rpop('key', 5)).toEqual([5, 'd'])
    await redis.rpush('source', 'a', 'b', 'c')
    expect(await redis.lmove('source', 'destination', 'left', 'right')).toBe('a')
    expect(await redis.lmpop(2, ['missing', 'source'], 'LEFT', 2)).toEqual(['source', ['b', 'c']])
    expect(await redis.lmpop(1, ['missing'], 'RIGHT')).toBeNull()
    await redis.rpush('trim', 1, 2, 3, 4)
    expect(await redis.ltrim('trim', 1, -2)).toBe('OK')
    expect(await redis.lrange('trim', 0, -1)).toEqual([2, 3])
  },

  async Set({ redis }) {
    expect(await redis.sadd('key', 'a', 'b', 'c')).toBe(3)
    expect(await redis.sadd('key', 'a', 'b')).toBe(0)
    expect(await redis.scard('key')).toBe(3)
    expect((await redis.smembers('key')).sort()).toEqual(['a', 'b', 'c'])
    expect(await redis.smembers('missing')).toEqual([])
    expect(await redis.sismember('key', 'a')).toBe(1)
    expect(await redis.smismember('key', ['a', 'z'])).toEqual([1, 0])
    await redis.sadd('key2', 'c', 'd', 'e')
    expect((await redis.sdiff('key', 'key2')).sort()).toEqual(['a', 'b'])
    expect(await redis.sdiffstore('dest', 'key', 'key2')).toBe(2)
    expect(await redis.sinter('key', 'key2')).toEqual(['c'])
    expect(await redis.sinterstore('dest', 'key', 'key2')).toBe(1)
    expect(await redis.sintercard(['key', 'key2'])).toBe(1)
    expect(await redis.sintercard(['key', 'key'], { limit: 2 })).toBe(2)
    expect((await redis.sunion('key', 'key2')).sort()).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(await redis.sunionstore('dest', 'key', 'key2')).toBe(5)
    expect(await redis.smove('key', 'key2', 'a')).toBe(1)
    expect(await redis.srem('key2', 'a', 'missing')).toBe(1)
    expect(['b', 'c']).toContain(await redis.srandmember('key'))
    expect(await redis.srandmember('key', 5)).toHaveLength(2)
    expect(['b', 'c']).toContain(await redis.spop('key'))
    expect(await redis.spop('key', 5)).toHaveLength(1)
    const [cursor, members] = await redis.sscan('key2', 0, { match: '*', count: 10 })
    expect([cursor, members.sort()]).toEqual(['0', ['c', 'd', 'e']])
  },

  async 'Sorted set: members and scores'({ redis }) {
    expect(await redis.zadd('key', { score: 2, member: 'member' }, { score: 3, member: 'member2' })).toBe(2)
    expect(await redis.zadd('key', { nx: true }, { score: 5, member: 'member' })).toBe(0)
    expect(await redis.zadd('key', { xx: true, ch: true }, { score: 5, member: 'member' })).toBe(1)
    expect(await redis.zadd('key', { incr: true }, { score: 1.5, member: 'member' })).toBe(6.5)
    expect(await redis.zadd('key', { gt: true, ch: true }, { score: 1, member: 'member' })).toBe(0)
    expect(await redis.zscore('key', 'member')).toBe(6.5)
    expect(await redis.zscore('key', 'missing')).toBeNull()
    expect(await redis.zmscore('key', ['member', 'missing'])).toEqual([6.5, null])
    expect(await redis.zincrby('key', 2, 'member2')).toBe(5)
    expect(await redis.zcard('key')).toBe(2)
    expect(await redis.zcount('key', 5, 6)).toBe(1)
    expect(await redis.zcount('key', '(5', '+inf')).toBe(1)
    expect(await redis.zrank('key', 'member')).toBe(1)
    expect(await redis.zrevrank('key', 'member')).toBe(0)
    expect(await redis.zrank('key', 'missing')).toBeNull()
    const [cursor, items] = await redis.zscan('key', 0)
    expect([cursor, new Set(items)]).toEqual(['0', new Set(['member', 6.5, 'member2', 5])])
    expect(await redis.zrem('key', 'member', 'missing')).toBe(1)
  },

  async 'Sorted set: ranges'({ redis }) {
    for (const [at, member] of [...'abcdef'].entries()) await redis.zadd('key', { score: at, member })
    expect(await redis.zrange('key', 0, 2)).toEqual(['a', 'b', 'c'])
    expect(await redis.zrange('key', 0, 1, { withScores: true })).toEqual(['a', 0, 'b', 1])
    expect(await redis.zrange('key', 0, 1, { rev: true })).toEqual(['f', 'e'])
    expect(await redis.zrange('key', '(1', '+inf', { byScore: true, offset: 0, count: 2 })).toEqual(['c', 'd'])
    for (const member of 'abcdef') await redis.zadd('same', { score: 0, member })
    expect(await redis.zrange('same', '[b', '(e', { byLex: true })).toEqual(['b', 'c', 'd'])
    expect(await redis.zlexcount('same', '-', '+')).toBe(6)
    expect(await redis.zremrangebylex('same', '[a', '[b')).toBe(2)
    expect(await redis.zremrangebyrank('key', 4, 20)).toBe(2)
    expect(await redis.zremrangebyscore('key', 0, 1)).toBe(2)
    expect(await redis.zpopmin('key')).toEqual(['c', 2])
    expect(await redis.zpopmax('key', 5)).toEqual(['d', 3])
    expect(await redis.zpopmin('missing')).toEqual([])
  },

  async 'Sorted set: combinations'({ redis }) {
    await redis.zadd('key1', { score: 1, member: 'one' }, { score: 2, member: 'two' })
    await redis.zadd('key2', { score: 10, member: 'two' }, { score: 20, member: 'three' })
    expect(await redis.zunion(2, ['key1', 'key2'])).toEqual(['one', 'two', 'three'])
    expect(await redis.zunion(2, ['key1', 'key2'], { withScores: true })).toEqual(['one', 1, 'two', 12, 'three', 20])
    expect(await redis.zunionstore('dest', 2, ['key1', 'key2'], { weights: [2, 1], aggregate: 'max' })).toBe(3)
    expect(await redis.zrange('dest', 0, -1, { withScores: true })).toEqual(['one', 2, 'two', 10, 'three', 20])
    expect(await redis.zinterstore('dest', 2, ['key1', 'key2'], { aggregate: 'sum' })).toBe(1)
    expect(await redis.zscore('dest', 'two')).toBe(12)
    expect(await redis.zdiffstore('dest', 2, 'key1', 'key2')).toBe(1)
    expect(await redis.zrange('dest', 0, -1)).toEqual(['one'])
  },

  async Geo({ redis }) {
    const palermo = { longitude: 13.361389, latitude: 38.115556, member: 'Palermo' }
    const catania = { longitude: 15.087269, latitude: 37.502669, member: 'Catania' }
    expect(await redis.geoadd('Sicily', palermo, catania)).toBe(2)
    expect(await redis.geoadd('Sicily', { nx: true }, palermo)).toBe(0)
    expect(await redis.geodist('Sicily', 'Palermo', 'Catania')).toBe(166_274.1516)
    expect(await redis.geodist('Sicily', 'Palermo', 'Catania', 'KM')).toBe(166.2742)
    expect(await redis.geodist('Sicily', 'Palermo', 'missing')).toBeNull()
    expect(await redis.geohash('Sicily', 'Palermo', 'Catania')).toEqual(['sqc8b49rny0', 'sqdtr74hyu0'])
    const [place] = await redis.geopos('Sicily', 'Palermo', 'missing')
    expect(place!.lng).toBeCloseTo(13.361389, 5)
    expect(place!.lat).toBeCloseTo(38.115556, 5)
    const found = await redis.geosearch(
      'Sicily',
      { type: 'FROMLONLAT', coordinate: { lon: 15, lat: 37 } },
      { type: 'BYRADIUS', radius: 200, radiusType: 'KM' },
      'ASC',
      { withDist: true },
    )
    expect(found).toEqual([
      { member: 'Catania', dist: 56.4413 },
      { member: 'Palermo', dist: 190.4424 },
    ])
    expect(
      await redis.geosearchstore(
        'dest',
        'Sicily',
        { type: 'FROMMEMBER', member: 'Palermo' },
        { type: 'BYBOX', rect: { width: 10, height: 10 }, rectType: 'KM' },
        'ASC',
      ),
    ).toBe(1)
  },

  async HyperLogLog({ redis }) {
    expect(await redis.pfadd('hll', 'a', 'b', 'c', 'd', 'e', 'f', 'g')).toBe(1)
    expect(await redis.pfadd('hll', 'a')).toBe(0)
    expect(await redis.pfcount('hll')).toBe(7)
    await redis.pfadd('hll2', 'g', 'h')
    expect(await redis.pfcount('hll', 'hll2')).toBe(8)
    expect(await redis.pfmerge('dest', 'hll', 'hll2')).toBe('OK')
    expect(await redis.pfcount('dest')).toBe(8)
  },

  async 'Generic: keys'({ redis }) {
    await redis.mset({ key1: 'Hello', key2: 'World', other: 1 })
    expect(await redis.exists('key1', 'key2', 'nosuchkey')).toBe(2)
    expect(await redis.touch('key1', 'key2', 'nosuchkey')).toBe(2)
    expect((await redis.keys('key*')).sort()).toEqual(['key1', 'key2'])
    expect(['key1', 'key2', 'other']).toContain(await redis.randomkey())
    expect(await redis.type('key1')).toBe('string')
    expect(await redis.type('nosuchkey')).toBe('none')
    expect(await redis.copy('key1', 'copied')).toBe('COPIED')
    expect(await redis.copy('key1', 'copied')).toBe('NOT_COPIED')
    expect(await redis.copy('key1', 'copied', { replace: true })).toBe('COPIED')
    expect(await redis.rename('copied', 'renamed')).toBe('OK')
    expect(await redis.renamenx('renamed', 'key2')).toBe(0)
    expect(await redis.renamenx('renamed', 'new')).toBe(1)
    expect(await redis.del('key1', 'nosuchkey')).toBe(1)
    expect(await redis.unlink('key2', 'new')).toBe(2)
    expect(await redis.keys('*')).toEqual(['other'])
  },

  async 'Generic: deadlines'({ redis, advance, now }) {
    await redis.set('key', 'v')
    expect(await redis.expire('key', 10)).toBe(1)
    expect(await redis.expire('key', 5, 'GT')).toBe(0)
    expect(await redis.expire('key', 5, 'LT')).toBe(1)
    expect(await redis.ttl('key')).toBe(5)
    expect(await redis.pexpire('key', 60_000)).toBe(1)
    expect(await redis.pttl('key')).toBe(60_000)
    const start = await now()
    expect(await redis.expireat('key', Math.floor(start / 1000) + 10)).toBe(1)
    expect(await redis.pexpireat('key', start + 20_000)).toBe(1)
    expect(await redis.pttl('key')).toBe(20_000)
    expect(await redis.persist('key')).toBe(1)
    expect(await redis.persist('key')).toBe(0)
    expect(await redis.ttl('key')).toBe(-1)
    expect(await redis.ttl('nosuchkey')).toBe(-2)
    await redis.pexpire('key', 500)
    await advance(499)
    expect(await redis.exists('key')).toBe(1)
    await advance(1)
    expect(await redis.exists('key')).toBe(0)
  },

  async 'Generic: scan'({ redis }) {
    for (let at = 0; at < 25; at++) await redis.set(`key${at}`, at)
    await redis.sadd('tags', 'a')
    const seen: string[] = []
    let cursor = '0'
    do {
      const [next, keys] = await redis.scan(cursor, { match: 'key*', count: 4 })
      seen.push(...keys)
      cursor = next
    } while (cursor !== '0')
    expect(new Set(seen).size).toBe(25)
    expect(await redis.scan('0', { count: 100, type: 'set' })).toEqual(['0', ['tags']])
    expect(await redis.scan('0', { match: 'tags', count: 100, withType: true })).toEqual([
      '0',
      [{ key: 'tags', type: 'set' }],
    ])
  },

  async Server({ redis, now }) {
    await redis.mset({ a: 1, b: 2 })
    expect(await redis.dbsize()).toBe(2)
    const milliseconds = await now()
    expect(await redis.time()).toEqual([Math.floor(milliseconds / 1000), (milliseconds % 1000) * 1000])
    expect(await redis.flushdb()).toBe('OK')
    await redis.set('a', 1)
    expect(await redis.flushall()).toBe('OK')
    expect(await redis.flushall([{ async: true }])).toBe('OK')
    expect(await redis.dbsize()).toBe(0)
    expect(await redis.ping()).toBe('PONG')
    expect(await redis.ping(['hello'])).toBe('hello')
    expect(await redis.echo('Hello World')).toBe('Hello World')
    expect(await redis.exec(['SET', 'raw', 'value', 'EX', 100])).toBe('OK')
    expect(await redis.exec(['TTL', 'raw'])).toBe(100)
  },

  async 'Pipelines and transactions'({ redis }) {
    const pipeline = redis.pipeline()
    pipeline.set('key', 1)
    pipeline.incr('key')
    pipeline.hset('hash', { a: 'b' })
    pipeline.get('key')
    expect(await pipeline.exec()).toEqual(['OK', 2, 1, 2])
    expect(await redis.multi().set('key', 'text').get('key').del('key').exec()).toEqual(['OK', 'text', 1])
    await redis.set('text', 'abc')
    await expect(redis.pipeline().get('text').incr('text').exec()).rejects.toThrow(
      'Command 2 [ incr ] failed: ERR value is not an int or out of range',
    )
    expect(await redis.pipeline().incr('text').get('text').exec({ keepErrors: true })).toMatchObject([
      { error: 'ERR value is not an int or out of range' },
      { result: 'abc' },
    ])
  },

  async Errors({ redis }) {
    await redis.set('key', 'text')
    await expect(redis.incr('key')).rejects.toThrow('ERR value is not an int or out of range')
    await expect(redis.lpush('key', 'a')).rejects.toThrow(
      'WRONGTYPE Operation against a key holding the wrong kind of value',
    )
    await expect(redis.rename('nosuchkey', 'x')).rejects.toThrow('ERR no such key')
    await expect(redis.exec(['NONSENSE'])).rejects.toThrow("ERR Command is not available: 'NONSENSE'.")
    await expect(redis.set('key', undefined)).rejects.toThrow('ERR null args are not supported')
    await expect(redis.clientSetinfo('LIB-NAME', 'x')).rejects.toThrow('is not allowed in REST')
  },

  // The methods of the SDK with the replies of its own tests. [array.md 8, 9]
  async 'Array: set and get'({ redis }) {
    expect(await redis.arset('k', 0, 'a', 'b')).toBe(2)
    expect(await redis.arset('k', 1, 'B', 'c')).toBe(1)
    expect(await redis.arget('k', 1)).toBe('B')
    expect(await redis.arget('k', '5')).toBeNull()
    expect(await redis.argetrange('k', 0, 3)).toEqual(['a', 'B', 'c', null])
    expect(await redis.argetrange('k', 2, 0)).toEqual(['c', 'B', 'a'])
    expect(await redis.armset('k', { 0: 'x', 100: { v: 1 } })).toBe(1)
    expect(
      await redis.armset<unknown>('k', [
        [5, 5],
        ['18446744073709551614', 'last'],
      ]),
    ).toBe(2)
    expect(await redis.armget('k', 100, 50, 5, '18446744073709551614')).toEqual([{ v: 1 }, null, 5, 'last'])
    expect(await redis.arcount('k')).toBe(6)
    expect(await redis.arlen('k')).toBe('18446744073709551615')
    expect(await redis.arlen('missing')).toBe('0')
  },

  async 'Array: delete'({ redis }) {
    await redis.arset('k', 0, 'a', 'b', 'c', 'd', 'e')
    expect(await redis.ardel('k', 1, 1, 99)).toBe(1)
    expect(await redis.ardelrange('k', [0, 2], [4, 4])).toBe(3)
    expect(await redis.ardel('k', 3)).toBe(1)
    expect(await redis.exists('k')).toBe(0)
  },

  async 'Array: append'({ redis }) {
    expect(await redis.arnext('k')).toBe('0')
    expect(await redis.arinsert('k', 'a', 'b')).toBe('1')
    expect(await redis.arseek('k', 10)).toBe(1)
    expect(await redis.arnext('k')).toBe('10')
    expect(await redis.arinsert('k', 'c')).toBe('10')
    expect(await redis.arseek('k', '18446744073709551614')).toBe(1)
    expect(await redis.arinsert('k', 'z')).toBe('18446744073709551614')
    expect(await redis.arnext('k')).toBeNull()
    await expect(redis.arinsert('k', 'q')).rejects.toThrow('insert index overflow')
    expect(await redis.arring('ring', 3, 'a', 'b', 'c', 'd')).toBe('0')
    expect(await redis.arlastitems('ring', 3)).toEqual(['b', 'c', 'd'])
    expect(await redis.arlastitems('ring', 2, { rev: true })).toEqual(['d', 'c'])
    expect(await redis.arinfo('ring')).toMatchObject({
      count: 3,
      len: '3',
      nextInsertIndex: '1',
      sliceSize: 4096,
      slices: 1,
    })
    expect(await redis.arinfo('ring', { full: true })).toMatchObject({
      denseSlices: 0,
      sparseSlices: 1,
      avgDenseSize: 0,
      avgDenseFill: 0,
      avgSparseSize: 3,
    })
    // In a pipeline, the SDK throws while it converts the missing result, before it sees the error.
    await expect(redis.arinfo('missing')).rejects.toThrow()
  },

  async 'Array: search'({ redis }) {
    await redis.arset('k', 0, 'error: disk', 'ok', 'ERROR: net', 'apricot')
    expect(await redis.arscan('k', 0, 10, { limit: 2 })).toEqual([
      ['0', 'error: disk'],
      ['1', 'ok'],
    ])
    expect(await redis.argrep('k', '-', '+', { predicates: [{ match: 'error' }], noCase: true })).toEqual(['0', '2'])
    expect(await redis.argrep('k', '-', '+', { predicates: [{ exact: 'ok' }, { exact: 'apricot' }] })).toEqual([
      '1',
      '3',
    ])
    expect(await redis.argrep('k', '-', '+', { predicates: [{ re: '^[a-z]+$' }], withValues: true })).toEqual([
      ['1', 'ok'],
      ['3', 'apricot'],
    ])
    const both: Parameters<Redis['argrep']>[3] = {
      predicates: [{ glob: 'a*' }, { match: 'cot' }],
      combine: 'and',
      withValues: true,
      limit: 1,
    }
    expect(await redis.argrep('k', '-', '+', both)).toEqual([['3', 'apricot']])
  },

  async 'Array: operations'({ redis }) {
    await redis.arset<unknown>('k', 0, 1, 2, 'x', 4.5)
    expect(await redis.arop('k', 0, 3, 'SUM')).toBe(7.5)
    expect(await redis.arop('k', 0, 3, 'MIN')).toBe(1)
    expect(await redis.arop('k', 0, 3, 'MAX')).toBe(4.5)
    expect(await redis.arop('k', 0, 1, 'XOR')).toBe(3)
    expect(await redis.arop('k', 0, 1, 'OR')).toBe(3)
    expect(await redis.arop('k', 0, 1, 'AND')).toBe(0)
    expect(await redis.arop('k', 0, 9, 'USED')).toBe(4)
    expect(await redis.arop('k', 0, 3, { match: 'x' })).toBe(1)
    expect(await redis.arop('k', 2, 2, 'SUM')).toBeNull()
    const pipeline = redis.pipeline().arset('p', 0, 'a', 'b').arscan('p', 0, 9).arlen('p').arseek('p', 2)
    expect(await pipeline.exec()).toEqual([
      2,
      [
        ['0', 'a'],
        ['1', 'b'],
      ],
      '2',
      1,
    ])
  },
}

/** Methods of the groups above, as the SDK spells them. */
export const methods = (
  'append decr decrby get getdel getex getrange getset incr incrby incrbyfloat mget mset msetnx psetex set setex setnx ' +
  'setrange strlen bitcount bitop bitpos getbit setbit copy del exists expire expireat keys persist pexpire ' +
  'pexpireat pttl randomkey rename renamenx scan touch ttl type unlink hdel hexists hget hgetall hincrby hincrbyfloat ' +
  'hkeys hlen hmget hmset hrandfield hscan hset hsetnx hstrlen hvals hexpire hexpireat hexpiretime hpexpire hpexpireat ' +
  'hpexpiretime httl hpttl hpersist hgetdel hgetex hsetex lindex linsert llen lmove lmpop lpop lpos lpush lpushx lrange ' +
  'lrem lset ltrim rpop rpush rpushx sadd scard sdiff sdiffstore sinter sintercard sinterstore sismember smembers ' +
  'smismember smove spop srandmember srem sscan sunion sunionstore zadd zcard zcount zdiffstore zincrby zinterstore ' +
  'zlexcount zmscore zpopmax zpopmin zrange zrank zrem zremrangebylex zremrangebyrank zremrangebyscore zrevrank zscan ' +
  'zscore zunion zunionstore geoadd geodist geohash geopos geosearch geosearchstore pfadd pfcount pfmerge dbsize flushall ' +
  'flushdb time ping echo exec clientSetinfo pipeline multi arset armset arget armget argetrange arscan argrep ardel ' +
  'ardelrange arcount arlen arinsert arring arlastitems arnext arseek arop arinfo'
).split(' ')

export const setups = [
  { enableAutoPipelining: true, responseEncoding: 'base64' },
  { enableAutoPipelining: true, responseEncoding: false },
  { enableAutoPipelining: false, responseEncoding: 'base64' },
  { enableAutoPipelining: false, responseEncoding: false },
] as const
