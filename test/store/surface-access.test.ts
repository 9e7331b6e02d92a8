import { beforeEach, describe, expect, it } from 'vitest'
import { commandTable } from '../../src/store/commands/index.js'
import { Rest } from '../support/ask.js'

// Tokens. Expectations: store.md 6.1 and 6.2.

let rest: Rest
beforeEach(() => {
  // The table of permissions is that of redis-server, so all commands are enabled.
  rest = Rest.open({ policy: { commands: 'all' } })
})

const wrongPass = {
  error:
    'WRONGPASS invalid or missing auth token. See https://docs.service.test/redis/troubleshooting/http_unauthorized for details.',
}

describe('position of the token', () => {
  const { store } = Rest.open().sandbox.tokens

  it.each([
    ['Bearer', `Bearer ${store}`],
    ['the word in another case', `bEARER ${store}`],
    ['several blanks', `Bearer   ${store}  `],
    ['the bare token', store],
  ])('accepts %s', async (_, authorization) => {
    expect((await rest.get('/ping', { token: null, headers: { authorization } })).status).toBe(200)
    expect((await rest.get('/ping', { token: null, headers: { AUTHORIZATION: authorization } })).status).toBe(200)
  })

  it.each([
    ['nothing', undefined],
    ['an empty header', ''],
    ['Bearer without a token', 'Bearer'],
    ['Bearer undefined', 'Bearer undefined'],
    ['another token', 'Bearer wrong'],
    ['part of the token', `Bearer ${store.slice(1)}`],
    ['another scheme', `Basic ${store}`],
    ['two tokens', `Bearer ${store} ${store}`],
  ])('rejects %s with 401', async (_, authorization) => {
    for (const path of ['/ping', '/', '/pipeline', '/multi-exec']) {
      const headers = authorization === undefined ? {} : { authorization }
      expect(await rest.post(path, [['PING']], { token: null, headers })).toMatchObject({
        status: 401,
        json: wrongPass,
        headers: { 'content-type': 'application/json' },
      })
    }
  })

  it('prefers the query over the header', async () => {
    expect((await rest.get(`/ping?_token=${store}`, { token: 'wrong' })).status).toBe(200)
    expect((await rest.get('/ping?_token=wrong')).status).toBe(401)
    expect((await rest.get('/ping?_token=')).status).toBe(401)
  })

  it('decodes the query', async () => {
    const odd = Rest.open({ tokens: { store: 'AY+/=x' } })
    expect((await odd.get('/ping?_token=AY%2B%2F%3Dx', { token: null })).status).toBe(200)
  })

  it('keeps the token out of the log', async () => {
    await rest.get(`/ping?_token=${store}&x=1`)
    const [request] = rest.sandbox.traffic.ofType('request')
    expect(JSON.stringify(request)).not.toContain(store)
  })
})

describe('read-only token', () => {
  const refused = (name: string) => ({
    error: `NOPERM this user has no permissions to run the '${name}' command or its subcommand`,
  })
  const asReader = (...argv: string[]) => rest.post('/', argv, { token: rest.sandbox.tokens.storeReadonly })

  it.each([
    [['GET', 'k'], null],
    [['MGET', 'k'], [null]],
    [['HGETALL', 'h'], []],
    [['ZRANGE', 'z', '0', '-1'], []],
    [['TTL', 'k'], -2],
    [['EXISTS', 'k'], 0],
    [['DBSIZE'], 0],
    [['PING'], 'PONG'],
    [['ECHO', 'x'], 'x'],
    [['TYPE', 'k'], 'none'],
    [['BITFIELD_RO', 'k', 'GET', 'u8', '0'], [0]],
    [['JSON.GET', 'k'], null],
    [['XRANGE', 'x', '-', '+'], []],
  ])('allows %j', async (argv, result) => {
    expect(await asReader(...argv)).toMatchObject({ status: 200, json: { result } })
  })

  it.each([
    ['set', 'SET', 'k', 'v'],
    ['geoadd', 'GEOADD', 'g', '1', '1', 'a'],
    ['del', 'DEL', 'k'],
    ['getex', 'GETEX', 'k'],
    ['scan', 'SCAN', '0'],
    ['keys', 'KEYS', '*'],
    ['flushall', 'FLUSHALL'],
    ['flushdb', 'FLUSHDB'],
    ['config|get', 'CONFIG', 'GET', '*'],
    ['config|set', 'CONFIG', 'SET', 'notify-keyspace-events', 'K'],
    ['publish', 'PUBLISH', 'c', 'm'],
    ['acl|whoami', 'ACL', 'WHOAMI'],
    ['sort', 'SORT', 'l'],
    ['sort_ro', 'SORT_RO', 'l'],
    ['json.set', 'JSON.SET', 'k', '$', '1'],
  ])('rejects %s', async (name, ...argv) => {
    expect(await asReader(...argv)).toMatchObject({ status: 400, json: refused(name) })
    expect(rest.sandbox.store.dump().keys).toEqual([])
  })

  it('returns the same errors for unknown commands and wrong numbers of arguments', async () => {
    expect(String(((await asReader('NONSENSE')).json as { error: string }).error)).toMatch(
      /^ERR Command is not available/,
    )
    expect((await asReader('SET')).json).toEqual({ error: "ERR wrong number of arguments for 'set' command" })
  })

  // store.md 6.2. Of the commands that redis-server 7.0 has, these are `@read` and not `@dangerous` in its COMMAND
  // INFO.
  const readable = new Set(
    `GET MGET STRLEN GETRANGE SUBSTR GETBIT BITCOUNT BITPOS BITFIELD_RO HGET HMGET HEXISTS HLEN HSTRLEN HGETALL HKEYS
    HVALS HRANDFIELD HSCAN LLEN LINDEX LRANGE LPOS SCARD SISMEMBER SMISMEMBER SMEMBERS SRANDMEMBER SSCAN SINTER SUNION
    SDIFF SINTERCARD ZCARD ZSCORE ZMSCORE ZRANK ZREVRANK ZCOUNT ZLEXCOUNT ZRANGE ZREVRANGE ZRANGEBYSCORE
    ZREVRANGEBYSCORE ZRANGEBYLEX ZREVRANGEBYLEX ZRANDMEMBER ZSCAN ZUNION ZINTER ZDIFF ZINTERCARD GEOPOS GEOHASH GEODIST
    GEOSEARCH GEORADIUS_RO GEORADIUSBYMEMBER_RO PFCOUNT XLEN XRANGE XREVRANGE XREAD XPENDING XINFO|STREAM XINFO|GROUPS
    XINFO|CONSUMERS EXISTS TOUCH TYPE RANDOMKEY TTL PTTL EXPIRETIME PEXPIRETIME DUMP OBJECT|ENCODING OBJECT|REFCOUNT
    OBJECT|IDLETIME OBJECT|FREQ MEMORY|USAGE DBSIZE
    DIGEST HTTL HPTTL HEXPIRETIME HPEXPIRETIME SUNIONCARD SDIFFCARD JSON.GET JSON.MGET JSON.TYPE JSON.STRLEN
    JSON.ARRINDEX JSON.ARRLEN JSON.OBJKEYS JSON.OBJLEN JSON.RESP JSON.DEBUG|MEMORY JSON.DEBUG|HELP PING ECHO`.split(
      /\s+/,
    ),
  )
  /** All other commands that the service documents. */
  const others =
    `SET SETNX SETEX PSETEX GETSET GETDEL GETEX MSET MSETNX MSETEX DELEX APPEND SETRANGE INCR DECR INCRBY DECRBY
    INCRBYFLOAT SETBIT BITOP BITFIELD HSET HMSET HSETNX HDEL HINCRBY HINCRBYFLOAT HEXPIRE HPEXPIRE HEXPIREAT
    HPEXPIREAT HPERSIST HGETDEL HGETEX HSETEX LPUSH RPUSH LPUSHX RPUSHX LPOP RPOP LSET LINSERT LTRIM LREM LMOVE
    RPOPLPUSH LMPOP SADD SREM SMOVE SPOP SINTERSTORE SUNIONSTORE SDIFFSTORE ZADD ZINCRBY ZREM ZRANGESTORE
    ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREMRANGEBYLEX ZPOPMIN ZPOPMAX ZMPOP ZUNIONSTORE ZINTERSTORE ZDIFFSTORE GEOADD
    GEOSEARCHSTORE GEORADIUS GEORADIUSBYMEMBER PFADD PFMERGE XADD XTRIM XDEL XDELEX XSETID XGROUP|CREATE
    XGROUP|SETID XGROUP|DESTROY XGROUP|CREATECONSUMER XGROUP|DELCONSUMER XGROUP|HELP XREADGROUP XACK XACKDEL XCLAIM
    XAUTOCLAIM XINFO|HELP JSON.SET JSON.MSET JSON.MERGE JSON.DEL JSON.FORGET JSON.CLEAR JSON.NUMINCRBY
    JSON.NUMMULTBY JSON.STRAPPEND JSON.TOGGLE JSON.ARRAPPEND JSON.ARRINSERT JSON.ARRPOP JSON.ARRTRIM EVAL EVALSHA
    EVAL_RO EVALSHA_RO SCRIPT|LOAD SCRIPT|EXISTS SCRIPT|FLUSH SCRIPT|KILL FCALL FCALL_RO FUNCTION|LOAD
    FUNCTION|DELETE FUNCTION|FLUSH FUNCTION|LIST FUNCTION|DUMP FUNCTION|RESTORE FUNCTION|STATS FUNCTION|KILL PUBLISH
    PUBSUB|CHANNELS PUBSUB|NUMSUB PUBSUB|NUMPAT DEL UNLINK KEYS SCAN RENAME RENAMENX COPY EXPIRE PEXPIRE EXPIREAT
    PEXPIREAT PERSIST RESTORE OBJECT|HELP SORT SORT_RO WAIT WAITAOF FLUSHALL FLUSHDB TIME INFO COMMAND CONFIG|GET
    CONFIG|SET SELECT ACL|SETUSER ACL|GETUSER ACL|DELUSER ACL|LIST ACL|USERS ACL|WHOAMI ACL|CAT ACL|GENPASS ACL|LOG
    ACL|LOAD ACL|SAVE ACL|RESTTOKEN ACL|GENTOKEN`.split(/\s+/)
  const all = [...readable, ...others].map((name) => {
    const command = commandTable.commands.find((one) => one.name === name.replace('|', ' '))
    return [name, command!.minWords] as const
  })

  it.each(all)('allows only reading: %s', async (name, length) => {
    const argv = [...name.split('|'), ...Array.from({ length }, () => '1')].slice(0, length)
    const { error = '' } = (await asReader(...argv)).json as { error?: string }
    expect(error === refused(name.toLowerCase()).error).toBe(!readable.has(name))
  })

  it('is logged as default_ro', async () => {
    await asReader('GET', 'k')
    expect(rest.sandbox.traffic.ofType('command')[0]).toMatchObject({ user: 'default_ro' })
  })
})

describe('store.resetPassword()', () => {
  it('revokes both tokens and returns two new ones', async () => {
    const before = rest.sandbox.tokens
    const { standard, readOnly } = rest.sandbox.store.resetPassword()
    expect(new Set([standard, readOnly, before.store, before.storeReadonly]).size).toBe(4)
    expect(standard).toMatch(/^[A-Za-z0-9+/]{60,}=*$/)
    for (const token of [before.store, before.storeReadonly]) {
      expect(await rest.get('/ping', { token })).toMatchObject({ status: 401, json: wrongPass })
    }
    expect((await rest.get('/set/k/v', { token: standard })).status).toBe(200)
    expect((await rest.get('/get/k', { token: readOnly })).json).toEqual({ result: 'v' })
    expect((await rest.get('/set/k/v', { token: readOnly })).status).toBe(400)
  })

  it('changes the tokens of the sandbox, and a reset of the sandbox restores them', () => {
    const before = rest.sandbox.tokens
    const fresh = rest.sandbox.store.resetPassword()
    expect(rest.sandbox.tokens).toMatchObject({ store: fresh.standard, storeReadonly: fresh.readOnly })
    rest.sandbox.reset()
    expect(rest.sandbox.tokens).toEqual(before)
  })

  it('depends on the seed', () => {
    const twin = Rest.open().sandbox.store.resetPassword()
    expect(rest.sandbox.store.resetPassword()).toEqual(twin)
    expect(rest.sandbox.store.resetPassword()).not.toEqual(twin)
  })
})
