import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasEngine, type LiveEngine, startEngine } from '../../../../test/support/live-engine.js'
import { createShadowSandbox, type ShadowSandbox } from '../../src/real-redis/real-redis-sandbox.js'

describe.skipIf(!hasEngine)('a double and its shadow', () => {
  let engine: LiveEngine
  let sandbox: ShadowSandbox
  let before = 0
  beforeAll(async () => {
    engine = await startEngine()
    sandbox = await createShadowSandbox(engine.url)
  })
  afterAll(async () => {
    await sandbox?.close()
    await engine?.stop()
  })
  beforeEach(async () => {
    await sandbox.reset()
    before = (await sandbox.differences()).length
  })

  const run = async (...rows: (string | number)[][]): Promise<void> => {
    await fetch(`${sandbox.urls.store}/pipeline`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
      body: JSON.stringify(rows.map((row) => row.map(String))),
    }).then((answer) => answer.text())
  }
  /** Returns the command and the known difference of each difference. */
  const seen = async (): Promise<[string, string | undefined][]> =>
    (await sandbox.differences()).slice(before).map(({ argv, known: named }) => [argv.join(' '), named?.name])

  test('report no difference for equal replies', async () => {
    await run(
      ['SET', 'k', 'v', 'EX', 100],
      ['TTL', 'k'],
      ['PTTL', 'k'],
      ['EXPIRETIME', 'k'],
      ['GET', 'none'],
      ['LPUSH', 'k', 'a'],
      ['SADD', 's', 'a', 'b', 'c'],
      ['SMEMBERS', 's'],
      ['HSET', 'h', 'a', 1, 'b', 2],
      ['HGETALL', 'h'],
      ['TIME'],
      ['SCAN', 0],
      ['ZADD', 'z', 1, 'a', 2, 'b'],
      ['ZRANGE', 'z', 0, -1, 'WITHSCORES'],
      ['DBSIZE'],
      ['KEYS', '*'],
      ['TYPE', 'h'],
      ['EVAL', "return {KEYS[1], redis.call('INCR', 'n')}", 1, 'x'],
    )
    expect(await seen()).toEqual([])
    expect((await engine.keys()).length).toBe(6)
  })

  test('make the same random choices', async () => {
    await run(['SADD', 's', ...Array.from({ length: 50 }, (_, at) => at)])
    for (let round = 0; round < 10; round++) {
      await run(
        ['SPOP', 's', 3],
        ['SPOP', 's'],
        ['SRANDMEMBER', 's'],
        ['SMEMBERS', 's'],
        ['XADD', 'x', '*', 'n', round],
        ['XADD', 'x', 'MAXLEN', 5, '*', 'n', '*'],
        ['XRANGE', 'x', '-', '+'],
        ['RANDOMKEY'],
      )
    }
    expect(await seen()).toEqual([])
  })

  test('report each known difference with its name and both replies', async () => {
    await run(
      ['INCR', 'k'],
      ['SET', 'k', 'x'],
      ['INCR', 'k'],
      ['ZADD', 'z', '0.1', 'a'],
      ['ZSCORE', 'z', 'a'],
      ['INCRBYFLOAT', 'f', '0.1'],
      ['INCRBYFLOAT', 'f', '0.2'],
      ['COPY', 'k', 'k'],
      ['ZRANK', 'z', 'a', 'WITHSCORE'],
      ['ZRANGE', 'z', 0, -1, 'LIMIT', 0, 1],
      ['JSON.SET', 'j', '$', '1'],
      ['HSET', 'h', 'f', 'v'],
      ['HEXPIRE', 'h', 100, 'FIELDS', 1, 'f'],
      ['EVAL', 'return nosuch.thing', 0],
    )
    expect(await seen()).toEqual([
      ['INCR k', 'int or integer'],
      ['ZSCORE z a', 'shortest digits'],
      ['INCRBYFLOAT f 0.2', 'double precision'],
      ['COPY k k', 'passed over'],
      ['ZRANK z a WITHSCORE', 'newer options'],
      ['ZRANGE z 0 -1 LIMIT 0 1', 'LIMIT with ranks'],
      ['JSON.SET j $ 1', 'newer commands'],
      ['HEXPIRE h 100 FIELDS 1 f', 'newer commands'],
      ['EVAL return nosuch.thing 0', 'frame of script errors'],
    ])
    const [first] = (await sandbox.differences()).slice(before)
    expect(first).toMatchObject({
      double: { error: 'ERR value is not an int or out of range' },
      redis: { error: 'ERR value is not an integer or out of range' },
    })
  })

  test('report an unknown difference', async () => {
    await run(['SET', 'k', 'v'], ['SADD', 's', 'a'])
    await sandbox.differences()
    await engine.client.send(['SET', 'k', 'other'])
    await engine.client.send(['SREM', 's', 'a'])
    await run(['GET', 'k'], ['SPOP', 's'], ['GET', 'k'])
    expect(await seen()).toEqual([
      ['GET k', undefined],
      ['SPOP s', undefined],
      ['GET k', undefined],
    ])
  })

  test('do not run commands on the shadow that the double rejects', async () => {
    await run(
      ['SHUTDOWN'],
      ['DEBUG', 'SLEEP', 9],
      ['ACL', 'WHOAMI'],
      ['CONFIG', 'SET', 'notify-keyspace-events', 'KEA'],
      ['GET', 'k'],
    )
    expect(await seen()).toEqual([])
    expect(await engine.client.send(['CONFIG', 'GET', 'notify-keyspace-events'])).toEqual({
      array: [{ bulk: 'notify-keyspace-events' }, { bulk: '' }],
    })
  })

  test('report no unknown difference for a thousand random commands', async () => {
    const { createRandom } = await import('../../../../src/kernel/random.js')
    const random = createRandom(7)
    const pick = (words: string): string => words.split(' ')[random.int(words.split(' ').length)]!
    const forms =
      'SET k v|GET k|APPEND k v|INCR k|INCRBY k n|DECR k|STRLEN k|SETRANGE k n v|GETRANGE k n n|DEL k|EXISTS k k|TYPE k|EXPIRE k 1000|TTL k|PERSIST k|RENAME k k|COPY k k|HSET k v v|HGET k v|HGETALL k|HDEL k v|HINCRBY k v n|LPUSH k v v|RPUSH k v|LPOP k|RPOP k n|LRANGE k n n|LLEN k|LSET k n v|LREM k n v|SADD k v v|SREM k v|SPOP k|SPOP k n|SMEMBERS k|SISMEMBER k v|SINTER k k|SUNIONSTORE k k k|SRANDMEMBER k|ZADD k n v|ZADD k n v n v|ZINCRBY k n v|ZRANGE k n n|ZRANGE k n n WITHSCORES|ZRANK k v|ZPOPMIN k|ZRANGEBYSCORE k n n|XADD k * f v|XLEN k|XRANGE k - +|PFADD k v|PFCOUNT k|SETBIT k n 1|BITCOUNT k|GETDEL k|GETEX k|RANDOMKEY|DBSIZE|KEYS *|FLUSHALL'.split(
        '|',
      )
    const words: Record<string, string> = { k: 'a b c d e', v: 'x y z 1 2', n: '0 1 2 -1 5 10' }
    for (let batch = 0; batch < 10; batch++) {
      await run(
        ...Array.from({ length: 100 }, () =>
          forms[random.int(forms.length)]!.split(' ').map((word) =>
            words[word] === undefined ? word : pick(words[word]),
          ),
        ),
      )
    }
    expect((await seen()).filter(([, name]) => name === undefined)).toEqual([])
  })
})
