import type { Redis } from '@upstash/redis'
import { s as schemas } from '@upstash/redis'

/** How one method of the client is checked. */
export interface MethodRow {
  /** Name as `methodsOfClient()` returns it. */
  readonly method: string
  /** Commands that fill the store first, one in each line, with words separated by spaces. */
  readonly before: string
  readonly call: (redis: Redis) => unknown
  /** Result that the method must return. */
  readonly reply: unknown
  /** Set if the method sends no command: why. */
  readonly sendsNothing?: string
  /** Set if the service rejects the command over REST: a part of its error. */
  readonly rejects?: string
}

const row = (method: string, before: string, call: MethodRow['call'], reply: unknown): MethodRow => ({
  method,
  before,
  call,
  reply,
})
const local = (method: string, call: MethodRow['call'], reply: unknown, sendsNothing: string): MethodRow => ({
  ...row(method, '', call, reply),
  sendsNothing,
})

/** 2030-01-01 00:00 UTC, at which each sandbox of the table begins. */
export const startAt = 1_893_456_000_000

const sha = 'a9b1689a4a3a32ad2a3d9c1d5a7e2f1c5a0f1a00'
const library =
  '#!lua name=lib\nredis.register_function{function_name="f", callback=function(k, a) return a[1] end, flags={"no-writes"}}'

/** Keys of two sets: {a,b,c} and {c,d}. */
const sets = 'SADD s1 a b c\nSADD s2 c d'
const scores = 'ZADD z 1 a 2 b 3 c'
const hash = 'HSET h f 1 g 2'
const list = 'RPUSH l a b c'
const stream = 'XADD s 1-1 f v\nXADD s 2-1 f w'
const group = `${stream}\nXGROUP CREATE s g 0`
const taken = `${group}\nXREADGROUP GROUP g c STREAMS s >`
const json = 'JSON.SET j $ {"n":1,"s":"ab","a":[1,2,3],"b":true,"o":{"x":1}}'
const cities = 'GEOADD geo 13.361389 38.115556 Palermo 15.087269 37.502669 Catania'
const filled = 'ARSET ar 0 a b c'
const numbers = 'ARSET ar 0 1 2 x 4'
const vectors = 'VECTOR.CREATE v DIM 3 METRIC COSINE\nVECTOR.ADD v a VALUES 3 1 0 0\nVECTOR.ADD v b VALUES 3 0 1 0'

const withField = hash
const expiring = `${hash}\nHEXPIRE h 100 FIELDS 1 f`
const expiry = startAt / 1000 + 100
const fields = schemas.object({ title: schemas.string(), n: schemas.number() })
const search =
  'SEARCH.CREATE idx ON JSON PREFIX 1 doc: SCHEMA title TEXT n F64 FAST\nJSON.SET doc:1 $ {"title":"red","n":1}\nJSON.SET doc:2 $ {"title":"blue","n":3}'
const index = (redis: Redis) => redis.search.index({ name: 'idx', schema: fields })

export const table: readonly MethodRow[] = [
  // String
  row('append', 'SET k Hello', (r) => r.append('k', '!'), 6),
  row('decr', 'SET k 10', (r) => r.decr('k'), 9),
  row('decrby', 'SET k 10', (r) => r.decrby('k', 4), 6),
  row('get', 'SET k {"my":"value"}', (r) => r.get('k'), { my: 'value' }),
  row('getdel', 'SET k v', (r) => r.getdel('k'), 'v'),
  row('getex', 'SET k v', (r) => r.getex('k', { ex: 10 }), 'v'),
  row('getrange', 'SET k Hello', (r) => r.getrange('k', 1, 3), 'ell'),
  row('getset', 'SET k old', (r) => r.getset('k', 'new'), 'old'),
  row('incr', 'SET k 10', (r) => r.incr('k'), 11),
  row('incrby', 'SET k 10', (r) => r.incrby('k', 4), 14),
  row('incrbyfloat', 'SET k 10', (r) => r.incrbyfloat('k', 0.5), 10.5),
  row('mget', 'MSET a 1 b two', (r) => r.mget('a', 'b', 'none'), [1, 'two', null]),
  row('mset', '', (r) => r.mset({ a: 1, b: 'two' }), 'OK'),
  row('msetnx', 'SET a 1', (r) => r.msetnx({ a: 1, b: 2 }), 0),
  row('psetex', '', (r) => r.psetex('k', 1000, 'v'), 'OK'),
  row('set', 'SET k old', (r) => r.set('k', 'new', { get: true, ex: 10 }), 'old'),
  row('setex', '', (r) => r.setex('k', 10, 'v'), 'OK'),
  row('setnx', 'SET k v', (r) => r.setnx('k', 'w'), 0),
  row('setrange', 'SET k Hello', (r) => r.setrange('k', 6, 'you'), 9),
  row('strlen', 'SET k Hello', (r) => r.strlen('k'), 5),
  // Bitmap
  row('bitcount', 'SETBIT k 7 1', (r) => r.bitcount('k', 0, -1), 1),
  row('bitfield', '', (r) => r.bitfield('k').set('u4', 0, 15).get('u4', 0).exec(), [0, 15]),
  row('bitop', 'SET a x\nSET b xy', (r) => r.bitop('and', 'd', 'a', 'b'), 2),
  row('bitpos', 'SETBIT k 4 1', (r) => r.bitpos('k', 1), 4),
  row('getbit', 'SETBIT k 4 1', (r) => r.getbit('k', 4), 1),
  row('setbit', 'SETBIT k 4 1', (r) => r.setbit('k', 4, 0), 1),
  // Keys
  row('copy', 'SET k v', (r) => r.copy('k', 'l'), 'COPIED'),
  row('del', 'MSET a 1 b 2', (r) => r.del('a', 'b', 'c'), 2),
  row('exists', 'MSET a 1 b 2', (r) => r.exists('a', 'b', 'c'), 2),
  row('expire', 'SET k v', (r) => r.expire('k', 10), 1),
  row('expireat', 'SET k v', (r) => r.expireat('k', expiry), 1),
  row('keys', 'MSET a1 1 b1 2', (r) => r.keys('a*'), ['a1']),
  row('persist', 'SET k v EX 10', (r) => r.persist('k'), 1),
  row('pexpire', 'SET k v', (r) => r.pexpire('k', 1000), 1),
  row('pexpireat', 'SET k v', (r) => r.pexpireat('k', startAt + 1000), 1),
  row('pttl', 'SET k v PX 1500', (r) => r.pttl('k'), 1500),
  row('randomkey', 'SET k v', (r) => r.randomkey(), 'k'),
  row('rename', 'SET k v', (r) => r.rename('k', 'l'), 'OK'),
  row('renamenx', 'MSET k 1 l 2', (r) => r.renamenx('k', 'l'), 0),
  row('scan', 'SET k v', (r) => r.scan(0, { match: 'k' }), ['0', ['k']]),
  row('touch', 'SET k v', (r) => r.touch('k', 'l'), 1),
  row('ttl', 'SET k v EX 10', (r) => r.ttl('k'), 10),
  row('type', 'SET k v', (r) => r.type('k'), 'string'),
  row('unlink', 'MSET a 1 b 2', (r) => r.unlink('a', 'b'), 2),
  // Hash
  row('hdel', hash, (r) => r.hdel('h', 'f', 'none'), 1),
  row('hexists', hash, (r) => r.hexists('h', 'f'), 1),
  row('hexpire', hash, (r) => r.hexpire('h', 'f', 10), [1]),
  row('hexpireat', hash, (r) => r.hexpireat('h', 'f', expiry), [1]),
  row('hexpiretime', expiring, (r) => r.hexpiretime('h', ['f', 'g']), [expiry, -1]),
  row('hget', hash, (r) => r.hget('h', 'f'), 1),
  row('hgetall', hash, (r) => r.hgetall('h'), { f: 1, g: 2 }),
  row('hgetdel', withField, (r) => r.hgetdel('h', 'f'), { f: 1 }),
  row('hgetex', withField, (r) => r.hgetex('h', { ex: 10 }, 'f'), { f: 1 }),
  row('hincrby', hash, (r) => r.hincrby('h', 'f', 4), 5),
  row('hincrbyfloat', hash, (r) => r.hincrbyfloat('h', 'f', 0.5), 1.5),
  row('hkeys', hash, (r) => r.hkeys('h'), ['f', 'g']),
  row('hlen', hash, (r) => r.hlen('h'), 2),
  row('hmget', hash, (r) => r.hmget('h', 'f', 'none'), { f: 1, none: null }),
  row('hmset', '', (r) => r.hmset('h', { f: 1 }), 'OK'),
  row('hpersist', expiring, (r) => r.hpersist('h', ['f', 'g']), [1, -1]),
  row('hpexpire', hash, (r) => r.hpexpire('h', 'f', 1000), [1]),
  row('hpexpireat', hash, (r) => r.hpexpireat('h', 'f', startAt + 1000), [1]),
  row('hpexpiretime', expiring, (r) => r.hpexpiretime('h', 'f'), [expiry * 1000]),
  row('hpttl', expiring, (r) => r.hpttl('h', 'f'), [100_000]),
  row('hrandfield', 'HSET h f 1', (r) => r.hrandfield('h'), 'f'),
  row('hscan', hash, (r) => r.hscan('h', 0), ['0', ['f', 1, 'g', 2]]),
  row('hset', hash, (r) => r.hset('h', { f: 5, i: 6 }), 1),
  row('hsetex', '', (r) => r.hsetex('h', { expiration: { ex: 10 } }, { f: 1 }), 1),
  row('hsetnx', hash, (r) => r.hsetnx('h', 'f', 9), 0),
  row('hstrlen', hash, (r) => r.hstrlen('h', 'f'), 1),
  row('httl', expiring, (r) => r.httl('h', 'f'), [100]),
  row('hvals', hash, (r) => r.hvals('h'), [1, 2]),
  // List
  row('lindex', list, (r) => r.lindex('l', -1), 'c'),
  row('linsert', list, (r) => r.linsert('l', 'before', 'b', 'x'), 4),
  row('llen', list, (r) => r.llen('l'), 3),
  row('lmove', list, (r) => r.lmove('l', 'm', 'left', 'right'), 'a'),
  row('lmpop', list, (r) => r.lmpop(2, ['none', 'l'], 'LEFT', 2), ['l', ['a', 'b']]),
  row('lpop', list, (r) => r.lpop('l'), 'a'),
  row('lpos', list, (r) => r.lpos('l', 'c'), 2),
  row('lpush', list, (r) => r.lpush('l', 'x', 'y'), 5),
  row('lpushx', '', (r) => r.lpushx('l', 'x'), 0),
  row('lrange', list, (r) => r.lrange('l', 0, 1), ['a', 'b']),
  row('lrem', list, (r) => r.lrem('l', 0, 'b'), 1),
  row('lset', list, (r) => r.lset('l', 0, 'x'), 'OK'),
  row('ltrim', list, (r) => r.ltrim('l', 0, 1), 'OK'),
  row('rpop', list, (r) => r.rpop('l'), 'c'),
  row('rpush', list, (r) => r.rpush('l', 'x'), 4),
  row('rpushx', list, (r) => r.rpushx('l', 'x'), 4),
  // Set
  row('sadd', sets, (r) => r.sadd('s1', 'a', 'x'), 1),
  row('scard', sets, (r) => r.scard('s1'), 3),
  row('sdiff', sets, (r) => r.sdiff('s2', 's1'), ['d']),
  row('sdiffstore', sets, (r) => r.sdiffstore('d', 's1', 's2'), 2),
  row('sinter', sets, (r) => r.sinter('s1', 's2'), ['c']),
  row('sintercard', sets, (r) => r.sintercard(['s1', 's2']), 1),
  row('sinterstore', sets, (r) => r.sinterstore('d', 's1', 's2'), 1),
  row('sismember', sets, (r) => r.sismember('s1', 'a'), 1),
  row('smembers', 'SADD s a', (r) => r.smembers('s'), ['a']),
  row('smismember', sets, (r) => r.smismember('s1', ['a', 'd']), [1, 0]),
  row('smove', sets, (r) => r.smove('s1', 's2', 'a'), 1),
  row('spop', 'SADD s a', (r) => r.spop('s'), 'a'),
  row('srandmember', 'SADD s a', (r) => r.srandmember('s'), 'a'),
  row('srem', sets, (r) => r.srem('s1', 'a', 'none'), 1),
  row('sscan', 'SADD s a', (r) => r.sscan('s', 0), ['0', ['a']]),
  row('sunion', 'SADD s a', (r) => r.sunion('s', 'none'), ['a']),
  row('sunionstore', sets, (r) => r.sunionstore('d', 's1', 's2'), 4),
  // Sorted set
  row('zadd', scores, (r) => r.zadd('z', { score: 4, member: 'd' }), 1),
  row('zcard', scores, (r) => r.zcard('z'), 3),
  row('zcount', scores, (r) => r.zcount('z', 2, '+inf'), 2),
  row('zdiffstore', `${scores}\nZADD y 1 a`, (r) => r.zdiffstore('d', 2, 'z', 'y'), 2),
  row('zincrby', scores, (r) => r.zincrby('z', 2.5, 'a'), 3.5),
  row('zinterstore', `${scores}\nZADD y 1 a`, (r) => r.zinterstore('d', 2, ['z', 'y']), 1),
  row('zlexcount', 'ZADD z 0 a 0 b 0 c', (r) => r.zlexcount('z', '-', '[b'), 2),
  row('zmscore', scores, (r) => r.zmscore('z', ['a', 'none']), [1, null]),
  row('zpopmax', scores, (r) => r.zpopmax('z'), ['c', 3]),
  row('zpopmin', scores, (r) => r.zpopmin('z'), ['a', 1]),
  row('zrange', scores, (r) => r.zrange('z', 0, 1, { withScores: true }), ['a', 1, 'b', 2]),
  row('zrank', scores, (r) => r.zrank('z', 'b'), 1),
  row('zrem', scores, (r) => r.zrem('z', 'a', 'none'), 1),
  row('zremrangebylex', 'ZADD z 0 a 0 b 0 c', (r) => r.zremrangebylex('z', '-', '[b'), 2),
  row('zremrangebyrank', scores, (r) => r.zremrangebyrank('z', 0, 0), 1),
  row('zremrangebyscore', scores, (r) => r.zremrangebyscore('z', 2, 3), 2),
  row('zrevrank', scores, (r) => r.zrevrank('z', 'c'), 0),
  row('zscan', 'ZADD z 1 a', (r) => r.zscan('z', 0), ['0', ['a', 1]]),
  row('zscore', scores, (r) => r.zscore('z', 'b'), 2),
  row('zunion', `${scores}\nZADD y 5 a`, (r) => r.zunion(2, ['z', 'y'], { withScores: true }), [
    'b',
    2,
    'c',
    3,
    'a',
    6,
  ]),
  row('zunionstore', `${scores}\nZADD y 5 x`, (r) => r.zunionstore('d', 2, ['z', 'y']), 4),
  // Geo and HyperLogLog
  row('geoadd', '', (r) => r.geoadd('geo', { longitude: 13.361389, latitude: 38.115556, member: 'Palermo' }), 1),
  row('geodist', cities, (r) => r.geodist('geo', 'Palermo', 'Catania'), 166274.1516),
  row('geohash', cities, (r) => r.geohash('geo', 'Palermo'), ['sqc8b49rny0']),
  row('geopos', cities, (r) => r.geopos('geo', 'Palermo'), [{ lng: 13.361389338970184, lat: 38.1155563954963 }]),
  row(
    'geosearch',
    cities,
    (r) =>
      r.geosearch(
        'geo',
        { type: 'FROMLONLAT', coordinate: { lon: 15, lat: 37 } },
        { type: 'BYRADIUS', radius: 100, radiusType: 'KM' },
        'ASC',
      ),
    [{ member: 'Catania' }],
  ),
  row(
    'geosearchstore',
    cities,
    (r) =>
      r.geosearchstore(
        'd',
        'geo',
        { type: 'FROMLONLAT', coordinate: { lon: 15, lat: 37 } },
        { type: 'BYRADIUS', radius: 200, radiusType: 'KM' },
        'ASC',
      ),
    2,
  ),
  row('pfadd', '', (r) => r.pfadd('p', 'a', 'b'), 1),
  row('pfcount', 'PFADD p a b', (r) => r.pfcount('p'), 2),
  row('pfmerge', 'PFADD p a', (r) => r.pfmerge('d', 'p'), 'OK'),
  // Streams
  row('xack', taken, (r) => r.xack('s', 'g', '1-1'), 1),
  row('xackdel', taken, (r) => r.xackdel('s', 'g', 'KEEPREF', '1-1', '9-9'), [1, -1]),
  row('xadd', stream, (r) => r.xadd('s', '3-1', { f: 'x' }), '3-1'),
  row('xautoclaim', taken, (r) => r.xautoclaim('s', 'g', 'd', 0, '0', { count: 1 }), [
    '2-1',
    [['1-1', ['f', 'v']]],
    [],
  ]),
  row('xclaim', taken, (r) => r.xclaim('s', 'g', 'd', 0, '1-1', { justId: true }), ['1-1']),
  row('xdel', stream, (r) => r.xdel('s', ['1-1', '1-1']), 1),
  row('xdelex', stream, (r) => r.xdelex('s', 'KEEPREF', '1-1', '9-9'), [1, -1]),
  row('xgroup', stream, (r) => r.xgroup('s', { type: 'CREATE', group: 'g', id: '0' }), 'OK'),
  row('xinfo', group, (r) => r.xinfo('s', { type: 'GROUPS' }), [
    ['name', 'g', 'consumers', 0, 'pending', 0, 'last-delivered-id', '0-0', 'entries-read', null, 'lag', 2],
  ]),
  row('xlen', stream, (r) => r.xlen('s'), 2),
  row('xpending', taken, (r) => r.xpending('s', 'g', '-', '+', 10), [
    ['1-1', 'c', 0, 1],
    ['2-1', 'c', 0, 1],
  ]),
  row('xrange', stream, (r) => r.xrange('s', '-', '+'), { '1-1': { f: 'v' }, '2-1': { f: 'w' } }),
  row('xread', stream, (r) => r.xread('s', '1-1'), [['s', [['2-1', ['f', 'w']]]]]),
  row('xreadgroup', group, (r) => r.xreadgroup('g', 'c', 's', '>', { count: 1 }), [['s', [['1-1', ['f', 'v']]]]]),
  row('xrevrange', stream, (r) => r.xrevrange('s', '+', '-', 1), { '2-1': { f: 'w' } }),
  row('xtrim', stream, (r) => r.xtrim('s', { strategy: 'MAXLEN', threshold: 1, exactness: '=' }), 1),
  // JSON
  row('json.arrappend', json, (r) => r.json.arrappend('j', '$.a', 4), [4]),
  row('json.arrindex', json, (r) => r.json.arrindex('j', '$.a', 2), [1]),
  row('json.arrinsert', json, (r) => r.json.arrinsert('j', '$.a', 0, 9), [4]),
  row('json.arrlen', json, (r) => r.json.arrlen('j', '$.a'), [3]),
  row('json.arrpop', json, (r) => r.json.arrpop('j', '$.a'), [3]),
  row('json.arrtrim', json, (r) => r.json.arrtrim('j', '$.a', 0, 1), [2]),
  row('json.clear', json, (r) => r.json.clear('j', '$.a'), 1),
  row('json.del', json, (r) => r.json.del('j', '$.a'), 1),
  row('json.forget', json, (r) => r.json.forget('j', '$.a'), 1),
  row('json.get', json, (r) => r.json.get('j', '$.a'), [[1, 2, 3]]),
  row('json.merge', json, (r) => r.json.merge('j', '$.o', { y: 2 }), 'OK'),
  row('json.mget', json, (r) => r.json.mget(['j', 'none'], '$.n'), [[1], null]),
  row('json.mset', '', (r) => r.json.mset({ key: 'j', path: '$', value: { a: 1 } }), 'OK'),
  row('json.numincrby', json, (r) => r.json.numincrby('j', '$.n', 4), [5]),
  row('json.nummultby', json, (r) => r.json.nummultby('j', '$.n', 4), [4]),
  row('json.objkeys', json, (r) => r.json.objkeys('j', '$.o'), [['x']]),
  row('json.objlen', json, (r) => r.json.objlen('j', '$.o'), [1]),
  row('json.resp', json, (r) => r.json.resp('j', '$.a'), [['[', 1, 2, 3]]),
  row('json.set', '', (r) => r.json.set('j', '$', { a: 1 }), 'OK'),
  row('json.strappend', json, (r) => r.json.strappend('j', '$.s', '"cd"'), [4]),
  row('json.strlen', json, (r) => r.json.strlen('j', '$.s'), [2]),
  row('json.toggle', json, (r) => r.json.toggle('j', '$.b'), [0]),
  row('json.type', json, (r) => r.json.type('j', '$.n'), ['integer']),
  // Scripts and functions
  row('eval', '', (r) => r.eval('return ARGV[1]', [], ['hello']), 'hello'),
  row('evalRo', 'SET k v', (r) => r.evalRo("return redis.call('GET', KEYS[1])", ['k'], []), 'v'),
  row('evalsha', '', async (r) => r.evalsha(await r.scriptLoad('return 1'), [], []), 1),
  row('evalshaRo', '', async (r) => r.evalshaRo(await r.scriptLoad('return 1'), [], []), 1),
  row('scriptExists', '', (r) => r.scriptExists(sha), [0]),
  row('scriptFlush', '', (r) => r.scriptFlush(), 'OK'),
  row('scriptLoad', '', (r) => r.scriptLoad('return 1'), 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db'),
  local('createScript', (r) => r.createScript('return 1').script, 'return 1', 'the script is sent when it runs'),
  row('script.eval', '', (r) => r.createScript('return 1').eval([], []), 1),
  row('script.evalsha', 'SCRIPT|LOAD|return 1', (r) => r.createScript('return 1').evalsha([], []), 1),
  row('script.exec', '', (r) => r.createScript('return 1').exec([], []), 1),
  row('scriptRo.evalRo', '', (r) => r.createScript('return 1', { readonly: true }).evalRo([], []), 1),
  row(
    'scriptRo.evalshaRo',
    'SCRIPT|LOAD|return 1',
    (r) => r.createScript('return 1', { readonly: true }).evalshaRo([], []),
    1,
  ),
  row('scriptRo.exec', '', (r) => r.createScript('return 1', { readonly: true }).exec([], []), 1),
  row('functions.load', '', (r) => r.functions.load({ code: library }), 'lib'),
  row('functions.list', `FUNCTION|LOAD|${library}`, (r) => r.functions.list(), [
    { libraryName: 'lib', engine: 'LUA', functions: [{ name: 'f', flags: ['no-writes'] }] },
  ]),
  row('functions.delete', `FUNCTION|LOAD|${library}`, (r) => r.functions.delete('lib'), 'OK'),
  row('functions.flush', '', (r) => r.functions.flush(), 'OK'),
  row('functions.stats', `FUNCTION|LOAD|${library}`, (r) => r.functions.stats(), {
    engines: { LUA: { librariesCount: 1, functionsCount: 1 } },
  }),
  row('functions.call', `FUNCTION|LOAD|${library}`, (r) => r.functions.call('f', [], ['x']), 'x'),
  row('functions.callRo', `FUNCTION|LOAD|${library}`, (r) => r.functions.callRo('f', [], ['x']), 'x'),
  // Server, connection, Pub/Sub
  row('dbsize', 'SET k v', (r) => r.dbsize(), 1),
  row('echo', '', (r) => r.echo('hello'), 'hello'),
  row('exec', '', (r) => r.exec(['SET', 'k', 'v']), 'OK'),
  row('flushall', '', (r) => r.flushall(), 'OK'),
  row('flushdb', '', (r) => r.flushdb(), 'OK'),
  row('ping', '', (r) => r.ping(), 'PONG'),
  row('time', '', (r) => r.time(), [startAt / 1000, 0]),
  {
    ...row('clientSetinfo', '', (r) => r.clientSetinfo('LIB-NAME', 'x'), undefined),
    rejects: 'is not allowed in REST',
  },
  row('multi', '', (r) => r.multi().set('k', 'v').get('k').exec(), ['OK', 'v']),
  row('pipeline', '', (r) => r.pipeline().set('k', 'v').get('k').exec(), ['OK', 'v']),
  row('publish', '', (r) => r.publish('news', 'hello'), 0),
  row('subscribe', '', (r) => heard(r, r.subscribe('news')), { n: 1 }),
  row('psubscribe', '', (r) => heard(r, r.psubscribe('n*')), { n: 1 }),
  local('use', (r) => r.use((request, next) => next(request)), undefined, 'the function is called with later requests'),
  local(
    'subscriber.on',
    (r) => typeof r.subscribe('news').on,
    'function',
    'the listener is called with later messages',
  ),
  local(
    'subscriber.getSubscribedChannels',
    (r) => r.subscribe('news').getSubscribedChannels(),
    ['news'],
    'the client keeps the list',
  ),
  local(
    'subscriber.removeAllListeners',
    (r) => r.subscribe('news').removeAllListeners(),
    undefined,
    'the listeners are in the client',
  ),
  local(
    'subscriber.unsubscribe',
    async (r) => r.subscribe('news').unsubscribe(),
    undefined,
    'the client aborts its request',
  ),
  // Search
  row(
    'search.createIndex',
    '',
    async (r) => (await r.search.createIndex({ name: 'idx', schema: fields, dataType: 'json', prefix: 'doc:' })).name,
    'idx',
  ),
  local('search.index', (r) => index(r).name, 'idx', 'the methods of the index send commands'),
  row('search.alias.list', `${search}\nSEARCH.ALIASADD al idx`, (r) => r.search.alias.list(), { al: 'idx' }),
  row('search.alias.add', search, (r) => r.search.alias.add({ indexName: 'idx', alias: 'al' }), 1),
  row('search.alias.delete', `${search}\nSEARCH.ALIASADD al idx`, (r) => r.search.alias.delete({ alias: 'al' }), 1),
  row('searchIndex.addAlias', search, (r) => index(r).addAlias({ alias: 'al' }), 1),
  row(
    'searchIndex.aggregate',
    search,
    (r) => index(r).aggregate({ aggregations: { mean: { $avg: { field: 'n' } } } }),
    {
      mean: { value: 2 },
    },
  ),
  row('searchIndex.count', search, (r) => index(r).count({ filter: { title: 'red' } }), { count: 1 }),
  row('searchIndex.describe', search, async (r) => (await index(r).describe())?.name, 'idx'),
  row('searchIndex.drop', search, (r) => index(r).drop(), 1),
  row(
    'searchIndex.query',
    search,
    async (r) => (await index(r).query({ filter: { title: 'red' } })).map(({ key }) => key),
    ['doc:1'],
  ),
  row('searchIndex.waitIndexing', search, (r) => index(r).waitIndexing(), 1),
  // Arrays
  row('arset', '', (r) => r.arset('ar', 0, 'a', 'b'), 2),
  row('armset', '', (r) => r.armset('ar', { 0: 'a', 100: 'b' }), 2),
  row('arget', filled, (r) => r.arget('ar', 1), 'b'),
  row('armget', filled, (r) => r.armget('ar', 2, 50, 0), ['c', null, 'a']),
  row('argetrange', filled, (r) => r.argetrange('ar', 2, 0), ['c', 'b', 'a']),
  row('arscan', filled, (r) => r.arscan('ar', 0, 10, { limit: 2 }), [
    ['0', 'a'],
    ['1', 'b'],
  ]),
  row(
    'argrep',
    filled,
    (r) => r.argrep('ar', '-', '+', { predicates: [{ exact: 'b' }, { glob: 'c*' }], withValues: true }),
    [
      ['1', 'b'],
      ['2', 'c'],
    ],
  ),
  row('ardel', filled, (r) => r.ardel('ar', 1, 1, 99), 1),
  row('ardelrange', filled, (r) => r.ardelrange('ar', [0, 1], [1, 2]), 3),
  row('arcount', filled, (r) => r.arcount('ar'), 3),
  row('arlen', 'ARSET ar 100 a', (r) => r.arlen('ar'), '101'),
  row('arinsert', '', (r) => r.arinsert('ar', 'a', 'b'), '1'),
  row('arring', 'ARRING ar 3 a b c', (r) => r.arring('ar', 3, 'd'), '0'),
  row('arlastitems', 'ARRING ar 3 a b c d', (r) => r.arlastitems('ar', 3, { rev: true }), ['d', 'c', 'b']),
  row('arnext', 'ARINSERT ar a b', (r) => r.arnext('ar'), '2'),
  row('arseek', filled, (r) => r.arseek('ar', 10), 1),
  row('arop', numbers, (r) => r.arop('ar', 0, 3, 'SUM'), 7),
  row(
    'arinfo',
    'ARINSERT ar a b c',
    async (r) => {
      const { count, len, nextInsertIndex } = await r.arinfo('ar')
      return { count, len, nextInsertIndex }
    },
    { count: 3, len: '3', nextInsertIndex: '3' },
  ),
  // Vectors
  row(
    'vector.createIndex',
    '',
    async (r) => (await r.vector.createIndex({ name: 'v', dimension: 3, metric: 'COSINE' })) !== undefined,
    true,
  ),
  local('vector.index', (r) => r.vector.index('v') !== undefined, true, 'the methods of the index send commands'),
  row('vectorIndex.add', vectors, (r) => r.vector.index('v').add('a', [0, 0, 1]), 0),
  row('vectorIndex.count', vectors, (r) => r.vector.index('v').count(), 2),
  row('vectorIndex.delete', vectors, (r) => r.vector.index('v').delete('a'), 1),
  row('vectorIndex.drop', vectors, (r) => r.vector.index('v').drop(), 1),
  row('vectorIndex.get', vectors, (r) => r.vector.index('v').get('a'), [1, 0, 0]),
  row('vectorIndex.info', vectors, (r) => r.vector.index('v').info(), { dimension: 3, metric: 'COSINE' }),
  row('vectorIndex.query', vectors, (r) => r.vector.index('v').query({ vector: [1, 0, 0], topK: 1 }), [
    { id: 'a', score: 1 },
  ]),
]

/** Publishes a message after a subscription began, and returns the message that the subscriber hears. */
async function heard(redis: Redis, subscriber: ReturnType<Redis['subscribe']>): Promise<unknown> {
  const message = new Promise((resolve, reject) => {
    subscriber.on('message' as never, ((event: { message: unknown }) => resolve(event.message)) as never)
    subscriber.on('pmessage' as never, ((event: { message: unknown }) => resolve(event.message)) as never)
    subscriber.on('error' as never, reject as never)
    for (const began of ['subscribe', 'psubscribe']) {
      subscriber.on(began as never, (() => redis.publish('news', { n: 1 }).catch(reject)) as never)
    }
  })
  try {
    return await message
  } finally {
    await subscriber.unsubscribe()
  }
}
