import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { connect } from '../../../../src/client/connect.js'
import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import { hasEngine, startEngine, until } from '../../../../test/support/live-engine.js'
import { Marker } from '../../src/real-redis/marker.js'
import { RealRedis } from '../../src/real-redis/real-redis.js'
import { createRealRedisSandbox, type RealRedisSandbox } from '../../src/real-redis/real-redis-sandbox.js'
import { connectTo } from '../../src/real-redis/redis-access.js'
import { engineUrl } from '../../src/real-redis/redis-urls.js'
import type { RedisConnection } from '../../src/redis-client/redis-connection.js'
import { startServer } from '../../src/server.js'

const marker = 'stuntdouble:engine'

/** Runs a command as an app does. */
async function run(sandbox: RealRedisSandbox, ...argv: string[]): Promise<{ status: number; body: string }> {
  const answer = await fetch(sandbox.urls.store, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    body: JSON.stringify(argv),
  })
  return { status: answer.status, body: await answer.text() }
}

describe.skipIf(!hasEngine)('data of others is never deleted', () => {
  test('a Redis that is not empty is rejected and not changed', async () => {
    await using engine = await startEngine()
    for (const [words, undo] of [
      [
        ['SET', 'theirs', '1'],
        ['DEL', 'theirs'],
      ],
      [['MOVE', 'theirs', '3'], ['FLUSHALL']],
      [
        ['FUNCTION', 'LOAD', "#!lua name=l\nredis.register_function('f', function() return 1 end)"],
        ['FUNCTION', 'FLUSH'],
      ],
    ] as const) {
      if (words[0] === 'MOVE') await engine.client.send(['SET', 'theirs', '1'])
      await engine.client.send(words)
      await expect(createRealRedisSandbox(engine.url)).rejects.toThrow(/is not empty|function libraries/)
      expect(await engine.client.send(['GET', marker])).toEqual({ nil: 'bulk' })
      await engine.client.send(undo)
    }
    const sandbox = await createRealRedisSandbox(engine.url)
    await sandbox.close()
  })

  test('only one of twenty simultaneous starts takes it, and the others change nothing', async () => {
    await using engine = await startEngine()
    const begun = await Promise.allSettled(Array.from({ length: 20 }, () => RealRedis.open(engine.url)))
    const [winner, ...others] = begun.filter(({ status }) => status === 'fulfilled')
    expect(others).toEqual([])
    for (const each of begun) {
      if (each.status === 'rejected') expect((each.reason as Error).message).toContain('is used by another sandbox')
    }
    expect(await engine.keys()).toEqual([marker])
    await (winner as PromiseFulfilledResult<RealRedis>).value.close()
    expect(await engine.keys()).toEqual([])
  })

  test('a second tenant is rejected', async () => {
    await using engine = await startEngine()
    await using server = await startServer({ port: 0, realRedis: engine.url })
    server.tenant('main')
    const sentence = /is used by tenant "main"/
    expect(() => server.tenant('w1')).toThrow(sentence)
    await expect(connect(server.origin, { tenant: 'w2' })).rejects.toThrow(sentence)
    expect(() => server.drop('main')).toThrow('Reset it with POST /_control/main/reset')
    expect(server.drop('w1')).toBe(false)
  })

  test('the marker cannot be seen, read or changed', async () => {
    await using engine = await startEngine()
    await using sandbox = await createRealRedisSandbox(engine.url)
    await run(sandbox, 'SET', 'k', 'v')
    expect(await engine.keys()).toEqual(['k', marker])
    expect((await run(sandbox, 'KEYS', '*')).body).toBe('{"result":["k"]}')
    expect((await run(sandbox, 'DBSIZE')).body).toBe('{"result":1}')
    expect((await run(sandbox, 'SCAN', '0')).body).toBe('{"result":["0",["k"]]}')
    for (const argv of [
      ['DEL', marker],
      ['GET', marker],
      ['SET', marker, 'x'],
      ['EVAL', 'return 1', '1', marker],
      ['RENAME', 'k', marker],
    ]) {
      const { status, body } = await run(sandbox, ...argv)
      expect([status, body]).toEqual([400, expect.stringContaining('marks the real Redis as used')])
    }
    expect((await run(sandbox, 'FLUSHALL')).body).toBe('{"result":"OK"}')
    expect(await engine.keys()).toEqual([marker])
    const rows = await fetch(`${sandbox.urls.store}/multi-exec`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
      body: JSON.stringify([['SET', 'a', '1'], ['FLUSHDB'], ['SET', 'b', '2'], ['DBSIZE']]),
    })
    expect(await rows.text()).toBe('[{"result":"OK"},{"result":"OK"},{"result":"OK"},{"result":1}]')
    expect(await engine.keys()).toEqual(['b', marker])
  })

  test('a setting that the app changed is restored', async () => {
    await using engine = await startEngine('--notify-keyspace-events', 'Kg')
    const flags = async (): Promise<unknown> => engine.client.send(['CONFIG', 'GET', 'notify-keyspace-events'])
    const before = await flags()
    const sandbox = await createRealRedisSandbox(engine.url)
    await run(sandbox, 'CONFIG', 'SET', 'notify-keyspace-events', 'KEA')
    expect(await flags()).not.toEqual(before)
    await sandbox.reset()
    expect(await flags()).toEqual(before)
    await run(sandbox, 'CONFIG', 'SET', 'notify-keyspace-events', 'Ex')
    await sandbox.close()
    expect(await flags()).toEqual(before)
  })

  test.each([
    ['stolen', (steal: (...argv: string[]) => Promise<unknown>) => steal('SET', marker, 'another')],
    ['deleted', (steal: (...argv: string[]) => Promise<unknown>) => steal('DEL', marker)],
    ['flushed with all keys', (steal: (...argv: string[]) => Promise<unknown>) => steal('FLUSHALL')],
  ])('a marker that was %s: reset, FLUSHALL and close do not flush', async (_, steal) => {
    await using engine = await startEngine()
    const sandbox = await createRealRedisSandbox(engine.url)
    await run(sandbox, 'SET', 'ours', '1')
    // A connection that a flush will use is open, and had the marker when it was opened.
    expect((await run(sandbox, 'FLUSHALL')).status).toBe(200)
    await steal((...argv) => engine.client.send(argv))
    await engine.client.send(['SET', 'theirs', '1'])
    const before = await engine.keys()
    const flush = await run(sandbox, 'FLUSHALL')
    expect([flush.status, flush.body]).toEqual([503, expect.stringContaining('nothing was flushed')])
    await expect(sandbox.reset()).rejects.toThrow(/not empty|used by another sandbox/)
    await sandbox.close()
    expect(await engine.keys()).toEqual(before)
    expect(await engine.client.send(['GET', 'theirs'])).toEqual({ bulk: '1' })
  })

  test('a marker that is taken between the check and the flush prevents the flush', async () => {
    await using engine = await startEngine()
    const connection = await connectTo({
      url: engineUrl(engine.url, 'engine'),
      allowed: [],
      patience: 5_000,
    })
    const ours = new Marker(latin1(marker), { owner: 'ours', span: 60_000 })
    await ours.take(connection, 'here')
    let turn: Promise<unknown> = Promise.resolve()
    const slow = {
      send: (argv: readonly Bytes[]) =>
        (turn = turn.then(async () => {
          if (argv[0] === 'MULTI') await engine.client.send(['SET', marker, 'another'])
          return connection.send(argv)
        })),
    } as RedisConnection
    expect(await ours.under(slow, [[latin1('FLUSHALL')]])).toBe(undefined)
    expect(await engine.client.send(['GET', marker])).toEqual({ bulk: 'another' })
    connection.close()
  })

  test('a lost Redis is not used any more, until it is empty and taken again', async () => {
    await using engine = await startEngine()
    await using sandbox = await createRealRedisSandbox(engine.url)
    await engine.client.send(['SET', marker, 'another'])
    await expect(sandbox.reset()).rejects.toThrow('is used by another sandbox')
    const transaction = await fetch(`${sandbox.urls.store}/multi-exec`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
      body: '[["SET","k","v"]]',
    })
    expect(transaction.status).toBe(503)
    expect((await run(sandbox, 'SET', 'k', 'v')).status).toBe(503)
    expect(await engine.keys()).toEqual([marker])
    await engine.client.send(['FLUSHALL'])
    await sandbox.reset()
    expect((await run(sandbox, 'SET', 'k', 'v')).status).toBe(200)
  })

  const foreign = Array.from({ length: 33 }, (_, number) => `user:${number}`)
  const everyForm: readonly (readonly [string, string, unknown])[] = [
    ['one command', '', ['DEL', ...foreign]],
    ['a pipeline', '/pipeline', foreign.map((key) => ['DEL', key])],
    ['a transaction', '/multi-exec', foreign.map((key) => ['DEL', key])],
    ['a command that moves keys', '', ['RENAME', foreign[0], foreign[1]]],
  ]
  test.each(everyForm)(
    'a second after a flush by another client, none of its keys is deleted: %s',
    async (_, path, body) => {
      await using engine = await startEngine()
      await using sandbox = await createRealRedisSandbox(engine.url)
      const send = (): Promise<Response> =>
        fetch(`${sandbox.urls.store}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${sandbox.tokens.store}` },
          body: JSON.stringify(body),
        })
      // The transaction has its own connection from here on.
      await run(sandbox, 'MSET', ...foreign.flatMap((key) => [key, 'ours']))
      expect((await send()).status).toBe(200)
      await engine.client.send(['FLUSHALL'])
      await engine.client.send(['MSET', ...foreign.flatMap((key) => [key, 'theirs'])])
      await wait(1_100)
      const answer = await send()
      expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('no longer')])
      expect((await engine.keys()).length).toBe(foreign.length)
      // It stays rejected.
      expect((await run(sandbox, 'SET', 'k', 'v')).status).toBe(503)
      expect(await engine.client.send(['GET', foreign[0]!])).toEqual({ bulk: 'theirs' })
    },
  )

  test('continuous commands stop within a second of the loss', async () => {
    await using engine = await startEngine()
    const held = await RealRedis.open(engine.url)
    const words = (...argv: string[]) => argv as never
    await held.run(words('SET', 'k', 'v'))
    await engine.client.send(['SET', marker, 'another'])
    const lost = performance.now()
    let latest = lost
    for (;;) {
      const sent = performance.now()
      const isOver = await held.run(words('INCR', 'n')).then(
        () => false,
        () => true,
      )
      if (isOver) break
      latest = sent
    }
    const done = await engine.client.send(['GET', 'n'])
    // The additional time is for a busy machine.
    expect(latest - lost).toBeLessThan(2_500)
    await expect(held.run(words('INCR', 'n'))).rejects.toThrow('no longer belongs to this sandbox')
    expect(await engine.client.send(['GET', 'n'])).toEqual(done)
    await held.close()
  })

  test('a check of the marker changes neither the order of commands nor their results', async () => {
    await using engine = await startEngine()
    const held = await RealRedis.open(engine.url)
    const sent: Promise<unknown>[] = []
    for (let number = 0; number < 600; number++) {
      // Before and after a check, and during one.
      if (number % 200 === 100) await wait(1_100)
      if (number % 10 === 0) await Promise.resolve()
      sent.push(held.run(['RPUSH', 'list', String(number)] as never))
    }
    expect(await Promise.all(sent)).toEqual(Array.from({ length: 600 }, (_, index) => index + 1))
    expect(await held.run(['LRANGE', 'list', '0', '-1'] as never)).toEqual(
      Array.from({ length: 600 }, (_, number) => String(number)),
    )
    await held.close()
  })

  test('a Redis that accepts no writes serves reads, and a busy one accepts SCRIPT KILL', async () => {
    await using engine = await startEngine('--busy-reply-threshold', '50')
    await using sandbox = await createRealRedisSandbox(engine.url)
    await run(sandbox, 'SET', 'k', 'v')
    await engine.client.send(['CONFIG', 'SET', 'min-replicas-to-write', '1'])
    await wait(1_100)
    expect(await run(sandbox, 'GET', 'k')).toEqual({ status: 200, body: '{"result":"v"}' })
    expect((await run(sandbox, 'SET', 'k', 'w')).body).toContain('NOREPLICAS')
    await engine.client.send(['CONFIG', 'SET', 'min-replicas-to-write', '0'])
    const script = run(sandbox, 'EVAL', 'while true do end', '0')
    await wait(1_100)
    const busy = await run(sandbox, 'DEL', 'k')
    expect([busy.status, busy.body]).toEqual([503, expect.stringContaining('SCRIPT KILL')])
    expect((await run(sandbox, 'SCRIPT', 'KILL')).body).toBe('{"result":"OK"}')
    expect((await script).body).toContain('Script killed')
    expect(await run(sandbox, 'GET', 'k')).toEqual({ status: 200, body: '{"result":"v"}' })
  })

  test('a new connection checks the marker before it sends a command', async () => {
    await using engine = await startEngine()
    const held = await RealRedis.open(engine.url)
    await engine.client.send(['SET', marker, 'another'])
    // The first transaction opens a new connection.
    await expect(held.transact([['SET', 'k', 'v'] as never])).rejects.toThrow('no longer belongs to this sandbox')
    expect(await engine.keys()).toEqual([marker])
    await held.close()
  })

  test('the lease is renewed while the process runs; an expired one ends the ownership', async () => {
    await using engine = await startEngine()
    const held = await RealRedis.open(engine.url, { lease: 300 })
    const words = (...argv: string[]) => argv as never
    // This takes more than three leases, so only renewals keep it.
    await until(async () => {
      const uptime = await engine.client.send(['INFO', 'commandstats'])
      return 'bulk' in uptime && Number(/cmdstat_pexpire:calls=(\d+)/.exec(uptime.bulk)?.[1] ?? 0) >= 10
    })
    expect(await held.run(words('SET', 'k', 'v'))).toMatchObject({ text: 'OK' })
    // Simulates a pause of the process in which another owner took the marker.
    await engine.client.send(['SET', marker, 'another'])
    await until(async () =>
      held.run(words('GET', 'k')).then(
        () => false,
        () => true,
      ),
    )
    await expect(held.run(words('SET', 'k', 'w'))).rejects.toThrow('no longer belongs to this sandbox')
    await held.close()
    expect(await engine.keys()).toEqual(['k', marker])
  })

  test('a stopped Redis is reported with 503, and a restarted one does not belong to the sandbox', async () => {
    await using engine = await startEngine()
    await using sandbox = await createRealRedisSandbox(engine.url)
    await run(sandbox, 'SET', 'k', 'v')
    engine.child.kill('SIGKILL')
    await until(async () => (await run(sandbox, 'GET', 'k')).status === 503)
    const away = await fetch(`${sandbox.urls.store}/pipeline`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
      body: '[["GET","k"]]',
    })
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await away.text()).toMatch(/^\{"error":"The real Redis at 127\.0\.0\.1:\d+ is unavailable: /)
    await engine.restart()
    await engine.client.send(['SET', 'theirs', '1'])
    await until(async () => (await run(sandbox, 'GET', 'k')).body.includes('no longer'))
    await expect(sandbox.reset()).rejects.toThrow('is not empty')
    // The user emptied it, so it can be taken again.
    await engine.client.send(['FLUSHALL'])
    await sandbox.reset()
    expect((await run(sandbox, 'GET', 'k')).body).toBe('{"result":null}')
  })

  test('a frozen Redis is reported, and continues later', async () => {
    await using engine = await startEngine()
    const held = await RealRedis.open(engine.url, { patience: 300 })
    await held.run(['SET', 'k', 'v'] as never)
    engine.child.kill('SIGSTOP')
    await expect(held.run(['GET', 'k'] as never)).rejects.toThrow('has not replied for 300 ms')
    engine.child.kill('SIGCONT')
    await until(async () =>
      held.run(['GET', 'k'] as never).then(
        (value) => value === 'v',
        () => false,
      ),
    )
    await held.close()
  })
})

describe('the host of a real Redis', () => {
  test.each([
    ['redis://192.0.2.1:6379', /192\.0\.2\.1 is not on this machine.*--allow-redis-host 192\.0\.2\.1/],
    ['redis://[2001:db8::1]:6379', /2001:db8::1 is not on this machine/],
    ['redis://0.0.0.0:6379', /0\.0\.0\.0 is not on this machine/],
    ['http://127.0.0.1', /must begin with redis:\/\/ or rediss:\/\//],
    ['127.0.0.1', /is not a URL/],
    ['redis://127.0.0.1/3', /must use database 0/],
  ])('%s is rejected', async (url, sentence) => {
    await expect(createRealRedisSandbox(url)).rejects.toThrow(sentence)
  })

  test('nothing listens: rejects soon with one message', async () => {
    await expect(createRealRedisSandbox('redis://user:s3cret@127.0.0.1:1')).rejects.toThrow(
      /^The real Redis at 127\.0\.0\.1:1 is unavailable: /,
    )
  })

  test('another program listens: rejects', async () => {
    const server = createServer((socket) => socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    await expect(createRealRedisSandbox(`redis://127.0.0.1:${port}`)).rejects.toThrow(
      'does not speak the Redis protocol',
    )
    await new Promise((resolve) => server.close(resolve))
  })

  test('a name is checked by its address, and an allowed one may be on another host', async () => {
    const { judged } = await import('../../src/real-redis/redis-urls.js')
    expect(await judged({ host: 'localhost', port: 1 }, [])).toEqual({
      host: expect.stringMatching(/^(?:127\.0\.0\.1|::1)$/),
      port: 1,
    })
    expect(await judged({ host: '::ffff:127.0.0.1', port: 1 }, [])).toEqual({ host: '::ffff:127.0.0.1', port: 1 })
    expect(await judged({ host: '192.0.2.1', port: 1 }, ['192.0.2.1'])).toEqual({ host: '192.0.2.1', port: 1 })
    await expect(judged({ host: '192.0.2.2', port: 1 }, ['192.0.2.1'])).rejects.toThrow(
      '192.0.2.2 is not on this machine',
    )
    await expect(judged({ host: '::ffff:192.0.2.2', port: 1 }, [])).rejects.toThrow('is not on this machine')
  })

  test('an invalid escape in a password is reported without the password', async () => {
    const refused = createRealRedisSandbox('redis://u:ge%heim@127.0.0.1:1')
    await expect(refused).rejects.toThrow(/realRedis \(--real-redis\).*%25/)
    await expect(refused).rejects.not.toThrow('heim')
  })

  test('options that are not possible with a real Redis are rejected', async () => {
    const url = 'redis://127.0.0.1:1'
    await expect(createRealRedisSandbox(url, { clock: 'manual' })).rejects.toThrow(
      /cannot have clock: 'manual'.*clock of the real Redis/,
    )
    await expect(startServer({ port: 0, realRedis: url, redisPort: 0 })).rejects.toThrow('cannot have redisPort')
    await expect(startServer({ port: 0, realRedis: url, state: '/nowhere' })).rejects.toThrow('cannot have state')
  })
})
