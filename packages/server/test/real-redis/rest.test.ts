import 'stuntdouble/vitest/extend'
import { createHash } from 'node:crypto'
import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from '@upstash/redis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect } from '../../../../src/client/connect.js'
import * as fault from '../../../../src/faults/constructors.js'
import { EventReader } from '../../../../test/support/event-reader.js'
import { hasEngine, type LiveEngine, noEngine, startEngine, until } from '../../../../test/support/live-engine.js'
import { createRealRedisSandbox, type RealRedisSandbox } from '../../src/real-redis/real-redis-sandbox.js'
import { startServer } from '../../src/server.js'

if (!hasEngine) console.warn(`packages/server/test/real-redis: ${noEngine}`)

describe.skipIf(!hasEngine)('the REST interface with a real Redis', () => {
  let engine: LiveEngine
  let sandbox: RealRedisSandbox
  beforeAll(async () => {
    engine = await startEngine()
    sandbox = await createRealRedisSandbox(engine.url)
  })
  afterAll(async () => {
    await sandbox?.close()
    await engine?.stop()
  })
  beforeEach(() => sandbox.reset())

  const ask = async (
    path: string,
    body?: unknown,
    { token = sandbox.tokens.store, ...headers }: Record<string, string> = {},
  ): Promise<{ status: number; text: string; headers: Headers }> => {
    const answer = await fetch(sandbox.urls.store + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text(), headers: answer.headers }
  }
  const errorOf = (text: string): string => (JSON.parse(text) as { error: string }).error

  test('works with the SDK', async () => {
    const redis = new Redis({ url: sandbox.urls.store, token: sandbox.tokens.store })
    expect(await redis.set('user:1', { name: 'Ann' })).toBe('OK')
    expect(await redis.get('user:1')).toEqual({ name: 'Ann' })
    expect(await Promise.all([redis.incr('n'), redis.incr('n'), redis.hset('h', { a: 1, b: 2 })])).toEqual([1, 2, 2])
    expect(await redis.hgetall('h')).toEqual({ a: 1, b: 2 })
    expect(await redis.multi().set('x', 1).incr('x').get('x').exec()).toEqual(['OK', 2, 2])
    expect(await redis.eval('return {KEYS[1], ARGV[1]}', ['k'], ['v'])).toEqual(['k', 'v'])
    await expect(redis.lpush('n', 'a')).rejects.toThrow(
      'WRONGTYPE Operation against a key holding the wrong kind of value',
    )
    // The data is in the real Redis.
    expect(await engine.client.send(['GET', 'n'])).toEqual({ bulk: '2' })
  })

  test('keeps the types of replies: statuses, exact integers, and both kinds of nil', async () => {
    await engine.client.send(['SET', 'max', '9223372036854775807'])
    await engine.client.send(['SET', 'bytes', '\xff\x00é'])
    const base64 = { 'service-encoding': 'base64' }
    const resp2 = { 'service-response-format': 'resp2' }
    expect((await ask('/set/k/OK', undefined, base64)).text).toBe('{"result":"OK"}')
    expect((await ask('/get/k', undefined, base64)).text).toBe('{"result":"T0s="}')
    expect((await ask('/type/k', undefined, base64)).text).toBe('{"result":"c3RyaW5n"}')
    expect((await ask('/decr/max')).text).toBe('{"result":9223372036854775806}')
    expect((await ask('/getrange/bytes/0/1', undefined, base64)).text).toBe('{"result":"/wA="}')
    expect((await ask('/get/none', undefined, resp2)).text).toBe('$-1\r\n')
    expect((await ask('/lpop/none/2', undefined, resp2)).text).toBe('*-1\r\n')
    expect((await ask('/type/none', undefined, resp2)).text).toBe('+none\r\n')
    const nested = await ask('/', ['EVAL', "return {1, 'two', {3, {false, redis.status_reply('4')}}}", 0], resp2)
    expect(nested.text).toBe('*3\r\n:1\r\n$3\r\ntwo\r\n*2\r\n:3\r\n*2\r\n$-1\r\n+4\r\n')
  })

  test('returns the errors of the real Redis unchanged', async () => {
    for (const argv of [
      ['INCRBY', 'k', 'x'],
      ['LSET', 'none', '0', 'v'],
      ['GET'],
      ['NOSUCH', 'a'],
      ['EVAL', 'return redis.error_reply("MINE ünd dein")', '0'],
    ]) {
      const told = await engine.client.send(argv.map((word) => Buffer.from(word).toString('latin1')))
      const theirs = 'error' in told ? Buffer.from(told.error, 'latin1').toString() : undefined
      const { status, text } = await ask('/', argv)
      expect([argv[0], status, errorOf(text)]).toEqual([argv[0], 400, theirs])
    }
  })

  test('continues a pipeline after an error, and runs a transaction completely or not at all', async () => {
    const rows = [
      ['SET', 'k', 'v'],
      ['INCR', 'k'],
      ['GET', 'k'],
    ]
    const not = 'ERR value is not an integer or out of range'
    expect((await ask('/pipeline', rows)).text).toBe(`[{"result":"OK"},{"error":"${not}"},{"result":"v"}]`)
    expect((await ask('/multi-exec', rows)).text).toBe(`[{"result":"OK"},{"error":"${not}"},{"result":"v"}]`)
    const refused = await ask('/multi-exec', [['SET', 'k', 'other'], ['GET']])
    expect([refused.status, errorOf(refused.text)]).toEqual([400, "ERR wrong number of arguments for 'get' command"])
    expect(await sandbox.store.get('k')).toBe('v')
  })

  test('runs fifty simultaneous transactions one after another', async () => {
    const add = "local n = tonumber(redis.call('GET', KEYS[1]) or '0') redis.call('SET', KEYS[1], n + 1) return n"
    await Promise.all(
      Array.from({ length: 50 }, () =>
        ask('/multi-exec', [
          ['EVAL', add, '1', 'n'],
          ['INCR', 'm'],
        ]),
      ),
    )
    expect([await sandbox.store.get('n'), await sandbox.store.get('m')]).toEqual(['50', '50'])
  })

  test('rejects commands that need a connection, block or manage the server, and passes unknown ones on', async () => {
    const refused = async (...argv: string[]): Promise<string> => errorOf((await ask('/', argv)).text)
    expect(await refused('MULTI')).toBe('ERR Command "MULTI" is not allowed in REST or it has a special context path')
    for (const argv of [
      ['BLPOP', 'k', '0'],
      ['SHUTDOWN'],
      ['CONFIG', 'REWRITE'],
      ['DEBUG', 'SLEEP', '9'],
      ['REPLICAOF', 'NO', 'ONE'],
      ['MIGRATE', 'h', '1', 'k', '0', '9'],
      ['QUIT'],
      ['SSUBSCRIBE', 'c'],
      ['CLUSTER', 'RESET'],
      // The real Redis disconnects after the first two, and debugs the next script after the third.
      ['Host:', '1'],
      ['POST'],
      ['SCRIPT', 'DEBUG', 'YES'],
    ]) {
      expect(await refused(...argv)).toMatch(/is not available|is not allowed in REST/)
    }
    expect(await refused('SWAPDB', '0', '1')).toBe('ERR DB index is out of range')
    expect(await refused('MOVE', 'k', '1')).toBe('ERR DB index is out of range')
    // The sandbox itself replies to commands that manage the server or show its other clients.
    expect((await ask('/slowlog/get')).text).toBe('{"result":[]}')
    expect((await ask('/memory/stats')).text).not.toContain('allocator')
    expect(await refused('CONFIG', 'SET', 'dir', '/tmp')).toContain(
      'Unknown option or number of arguments for CONFIG SET',
    )
    expect((await ask('/object/encoding/none')).text).toBe('{"result":null}')
    expect((await ask('/', ['XREAD', 'BLOCK', '0', 'STREAMS', 'none', '0'])).text).toBe('{"result":null}')
  })

  test('never blocks when it reads a stream, for any names of groups and consumers', async () => {
    await ask('/', ['XGROUP', 'CREATE', 'x', 'streams', '$', 'MKSTREAM'])
    await ask('/', ['XGROUP', 'CREATE', 'x', 'block', '$'])
    for (const argv of [
      ['XREADGROUP', 'GROUP', 'streams', 'c', 'BLOCK', '0', 'STREAMS', 'x', '>'],
      ['XREADGROUP', 'GROUP', 'block', 'block', 'NOACK', 'BLOCK', '0', 'STREAMS', 'x', '>'],
      ['XREAD', 'BLOCK', '0', 'COUNT', '1', 'block', '9223372036854775807', 'STREAMS', 'x', '$'],
    ]) {
      expect([argv, (await ask('/', argv)).text]).toEqual([argv, '{"result":null}'])
    }
    for (const milliseconds of ['x', '-1', '9223372036854775808', '01', '']) {
      const argv = ['XREAD', 'BLOCK', milliseconds, 'STREAMS', 'x', '$']
      const told = (await engine.client.send(argv)) as { readonly error: string }
      expect(errorOf((await ask('/', argv)).text)).toBe(told.error)
    }
  })

  test('returns nested lists, or rejects them as the double does', async () => {
    const nested = (depth: number): string[] => ['EVAL', `local t = 1 for i = 1, ${depth} do t = {t} end return t`, '0']
    expect((await ask('/', nested(1000))).text).toBe(`{"result":${'['.repeat(1000)}1${']'.repeat(1000)}}`)
    expect(errorOf((await ask('/', nested(5000))).text)).toBe('ERR reached lua stack limit')
  })

  test('works with the rate limiter of the vendor', async () => {
    const redis = new Redis({ url: sandbox.urls.store, token: sandbox.tokens.store })
    for (const limiter of [
      Ratelimit.slidingWindow(2, '1 h'),
      Ratelimit.fixedWindow(2, '1 h'),
      Ratelimit.tokenBucket(2, '1 h', 2),
    ]) {
      await sandbox.reset()
      const limit = new Ratelimit({ redis, limiter, ephemeralCache: false })
      const allowed: boolean[] = []
      for (let round = 0; round < 3; round++) allowed.push((await limit.limit('ann')).success)
      expect(allowed).toEqual([true, true, false])
    }
  })

  test('runs a script with a flag of the service, and keeps its digest, other flags and lines', async () => {
    const source = "#!lua flags=allow-key-locking,no-writes\nreturn redis.call('SET', KEYS[1], 1)"
    const digest = createHash('sha1').update(source).digest('hex')
    const told = errorOf((await ask('/', ['EVAL', source, '1', 'k'])).text)
    expect(told).toContain('Write commands are not allowed from read-only scripts')
    expect(errorOf((await ask('/', ['EVALSHA', digest, '1', 'k'])).text)).toContain('Write commands are not allowed')
    expect((await ask('/', ['SCRIPT', 'EXISTS', digest.toUpperCase(), 'none'])).text).toBe('{"result":[1,0]}')
    const rows = [['EVALSHA', digest, '1', 'k'], ['PING']]
    expect((await ask('/multi-exec', rows)).text).toContain('Write commands are not allowed')
  })

  test('limits the read-only token by the facts that the real Redis has about a command', async () => {
    const token = sandbox.tokens.storeReadonly
    await ask('/set/k/v')
    expect((await ask('/get/k', undefined, { token })).text).toBe('{"result":"v"}')
    expect((await ask('/', ['LOLWUT'], { token })).status).toBe(200)
    for (const argv of [
      ['SET', 'k', 'w'],
      ['RESTORE-ASKING', 'k', '0', 'x'],
      ['MOVE', 'k', '1'],
      ['EVAL', 'return 1', '0'],
      ['FLUSHALL'],
    ]) {
      const { status, text } = await ask('/', argv, { token })
      expect([argv[0], status, text]).toEqual([argv[0], 400, expect.stringMatching(/NOPERM|not available/)])
    }
    const rows = await ask(
      '/multi-exec',
      [
        ['GET', 'k'],
        ['SET', 'k', 'w'],
      ],
      { token },
    )
    expect(errorOf(rows.text)).toContain('NOPERM')
    expect(await sandbox.store.get('k')).toBe('v')
    expect((await ask('/get/k', undefined, { token: 'nobody' })).status).toBe(401)
  })

  test('injects faults into requests and commands, before and after they ran', async () => {
    {
      await using _ = await sandbox.faults.add({
        on: 'store.command',
        match: { command: 'SET' },
        fault: fault.errorReply('OOM no'),
      })
      expect(errorOf((await ask('/set/k/v')).text)).toBe('OOM no')
      expect(await sandbox.store.get('k')).toBe(null)
      expect(
        (
          await ask('/multi-exec', [
            ['SET', 'k', '1'],
            ['INCR', 'n'],
          ])
        ).text,
      ).toBe('[{"error":"OOM no"},{"result":1}]')
    }
    {
      await using _ = await sandbox.faults.add({
        on: 'store.command',
        phase: 'after',
        match: { command: 'SET' },
        fault: fault.errorReply('OOM no'),
      })
      expect(errorOf((await ask('/set/k/v')).text)).toBe('OOM no')
      expect(await sandbox.store.get('k')).toBe('v')
      expect(
        (
          await ask('/multi-exec', [
            ['SET', 'k', '1'],
            ['INCR', 'k'],
          ])
        ).text,
      ).toBe('[{"error":"OOM no"},{"result":2}]')
    }
    {
      await using _ = await sandbox.faults.add({ on: 'store.request', fault: fault.lostAck(), times: 1 })
      await expect(ask('/set/lost/v')).rejects.toThrow()
      expect(await sandbox.store.get('lost')).toBe('v')
    }
    {
      await using _ = await sandbox.faults.add([
        { on: 'store.request', fault: fault.status(503), times: 1 },
        { on: 'store.command', fault: fault.reset(), times: 1 },
      ])
      expect((await ask('/set/never/v')).status).toBe(503)
      await expect(ask('/set/never/v')).rejects.toThrow()
      expect(await sandbox.store.get('never')).toBe(null)
    }
  })

  test('captures traffic, and matchers read it and the real Redis', async () => {
    await ask('/pipeline', [
      ['SET', 'cart', 'full', 'EX', '3600'],
      ['HSET', 'h', 'f', 'v'],
      ['INCR', 'cart'],
    ])
    await ask('/', ['RPUSH', 'l', 'a', 'b'])
    const snapshot = await sandbox.snapshot()
    expect(snapshot).toHaveExecuted('SET', 'cart', { times: 1 })
    expect(snapshot).toHaveKey('cart', { value: 'full', type: 'string' })
    expect(snapshot).toHaveKey('l', { value: ['a', 'b'] })
    expect(snapshot).not.toHaveKey('none')
    const commands = snapshot.traffic.entries.filter(({ type }) => type === 'command')
    expect(commands.map((entry) => ('error' in entry ? entry.error : 'reply' in entry ? 'reply' : undefined))).toEqual([
      'reply',
      'reply',
      'ERR value is not an integer or out of range',
      'reply',
    ])
    expect((await sandbox.store.cost()).commands).toBe(4)
  })

  test('changes the sync token with every write only', async () => {
    const token = async (path: string) =>
      (await ask(path)).headers.get('upstash-sync-token') ?? (await ask(path)).headers.get('service-sync-token')
    const first = await token('/set/k/v')
    expect(await token('/get/k')).not.toBe(undefined)
    expect(await token('/get/k')).toBe(await token('/get/k'))
    expect(await token('/set/k/v')).not.toBe(first)
  })

  test('streams messages of the real Redis', async () => {
    const open = async (path: string) =>
      new EventReader(
        await fetch(sandbox.urls.store + path, { headers: { authorization: `Bearer ${sandbox.tokens.store}` } }),
      )
    const [one, all, monitor] = await Promise.all([open('/subscribe/news'), open('/psubscribe/n*'), open('/monitor')])
    expect(await one.next()).toBe('data: subscribe,news,1')
    expect(await all.next()).toBe('data: psubscribe,n*,1')
    expect(await monitor.next()).toBe('data: "OK"')
    // Both streams are subscribers of the real Redis, which counts them itself.
    expect((await ask('/publish/news/hello')).text).toBe('{"result":2}')
    expect(await one.next()).toBe('data: message,news,hello')
    expect(await all.next()).toBe('data: pmessage,n*,news,hello')
    let line = await monitor.next()
    while (line?.includes('"COMMAND"') === true) line = await monitor.next()
    expect(line).toMatch(/^data: \d+\.\d+ \[0 127\.0\.0\.1:\d+\] "publish" "news" "hello"$/)
    await one.cancel()
    await until(async () => (await ask('/publish/news/again')).text === '{"result":1}')
    await Promise.all([all.cancel(), monitor.cancel()])
  })
})

describe.skipIf(!hasEngine)('a sandbox with a real Redis', () => {
  test('rejects methods that need past instants, on the server and in its process', async () => {
    await using engine = await startEngine()
    await using server = await startServer({ port: 0, realRedis: engine.url })
    const remote = await connect(server.origin)
    const sentence = 'has no dumps, loads or past instants'
    await expect(remote.dump()).rejects.toThrow(sentence)
    await expect(remote.store.dump()).rejects.toThrow(sentence)
    await expect(remote.fork()).rejects.toThrow(sentence)
    await expect(remote.asOf('-1s').store.get('k')).rejects.toThrow(sentence)
    const sandbox = server.tenant('main')
    expect(() => sandbox.store.run('GET', 'k')).toThrow('not in this process')
    expect(() => sandbox.dump()).toThrow('not in this process')
    expect(() => sandbox.asOf('-1s')).toThrow()
    await expect(sandbox.fork()).rejects.toThrow()
    expect(sandbox.clock.mode).toBe('real')
  })
})
