import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { connect } from '../../../../src/client/connect.js'
import { type Bytes, latin1 } from '../../../../src/kernel/bytes.js'
import { hasEngine, startEngine, until } from '../../../../test/support/live-engine.js'
import { Marker } from '../../src/real-redis/marker.js'
import { RealRedis } from '../../src/real-redis/real-redis.js'
import { createRealRedisSandbox, type RealRedisSandbox } from '../../src/real-redis/real-redis-sandbox.js'
import { EngineConnection } from '../../src/real-redis/redis-connection.js'
import { engineUrl } from '../../src/real-redis/redis-urls.js'
import { startServer } from '../../src/server.js'

const marker = 'stuntdouble:engine'

/** A command as an app sends it. */
async function run(sandbox: RealRedisSandbox, ...argv: string[]): Promise<{ status: number; body: string }> {
  const answer = await fetch(sandbox.urls.store, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    body: JSON.stringify(argv),
  })
  return { status: answer.status, body: await answer.text() }
}

describe.skipIf(!hasEngine)('nothing of anybody else is ever deleted', () => {
  test('an engine that holds anything is refused, and left as it is', async () => {
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
      await expect(createRealRedisSandbox(engine.url)).rejects.toThrow(/is not empty|libraries of functions/)
      expect(await engine.client.send(['GET', marker])).toEqual({ nil: 'bulk' })
      await engine.client.send(undo)
    }
    const sandbox = await createRealRedisSandbox(engine.url)
    await sandbox.close()
  })

  test('of twenty that begin at once one has it, and the others leave no trace', async () => {
    await using engine = await startEngine()
    const begun = await Promise.allSettled(Array.from({ length: 20 }, () => RealRedis.open(engine.url)))
    const [winner, ...others] = begun.filter(({ status }) => status === 'fulfilled')
    expect(others).toEqual([])
    for (const each of begun) {
      if (each.status === 'rejected') expect((each.reason as Error).message).toContain('one engine is for one tenant')
    }
    expect(await engine.keys()).toEqual([marker])
    await (winner as PromiseFulfilledResult<RealRedis>).value.close()
    expect(await engine.keys()).toEqual([])
  })

  test('a second tenant is refused with a sentence', async () => {
    await using engine = await startEngine()
    await using server = await startServer({ port: 0, realRedis: engine.url })
    server.tenant('main')
    const sentence = /One engine is for one tenant, and "main" has it/
    expect(() => server.tenant('w1')).toThrow(sentence)
    await expect(connect(server.origin, { tenant: 'w2' })).rejects.toThrow(sentence)
    expect(() => server.drop('main')).toThrow('reset it with POST /_control/main/reset')
    expect(server.drop('w1')).toBe(false)
  })

  test('the marker is nobody’s to see, to read or to change', async () => {
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
      expect([status, body]).toEqual([400, expect.stringContaining('marks the engine as taken')])
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

  test('a setting that the app changed is what it was', async () => {
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
    ['flushed with the rest', (steal: (...argv: string[]) => Promise<unknown>) => steal('FLUSHALL')],
  ])('a marker that was %s: neither reset nor FLUSHALL nor close flushes', async (_, steal) => {
    await using engine = await startEngine()
    const sandbox = await createRealRedisSandbox(engine.url)
    await run(sandbox, 'SET', 'ours', '1')
    // A connection that a flush will use is open, and was ours when it was opened.
    expect((await run(sandbox, 'FLUSHALL')).status).toBe(200)
    await steal((...argv) => engine.client.send(argv))
    await engine.client.send(['SET', 'theirs', '1'])
    const before = await engine.keys()
    const flush = await run(sandbox, 'FLUSHALL')
    expect([flush.status, flush.body]).toEqual([503, expect.stringContaining('nothing was flushed')])
    await expect(sandbox.reset()).rejects.toThrow(/not empty|Another sandbox/)
    await sandbox.close()
    expect(await engine.keys()).toEqual(before)
    expect(await engine.client.send(['GET', 'theirs'])).toEqual({ bulk: '1' })
  })

  test('a marker that is taken between the look and the flush stops the flush', async () => {
    await using engine = await startEngine()
    const connection = await EngineConnection.open({
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
    } as EngineConnection
    expect(await ours.under(slow, [[latin1('FLUSHALL')]])).toBe(undefined)
    expect(await engine.client.send(['GET', marker])).toEqual({ bulk: 'another' })
    connection.close()
  })

  test('an engine that was lost is asked nothing more, until it is empty and taken again', async () => {
    await using engine = await startEngine()
    await using sandbox = await createRealRedisSandbox(engine.url)
    await engine.client.send(['SET', marker, 'another'])
    await expect(sandbox.reset()).rejects.toThrow('Another sandbox has the engine')
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
  test.each(everyForm)('a second after a flush by others no key of theirs is deleted: %s', async (_, path, body) => {
    await using engine = await startEngine()
    await using sandbox = await createRealRedisSandbox(engine.url)
    const send = (): Promise<Response> =>
      fetch(`${sandbox.urls.store}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sandbox.tokens.store}` },
        body: JSON.stringify(body),
      })
    // A transaction has its connection from here on.
    await run(sandbox, 'MSET', ...foreign.flatMap((key) => [key, 'ours']))
    expect((await send()).status).toBe(200)
    await engine.client.send(['FLUSHALL'])
    await engine.client.send(['MSET', ...foreign.flatMap((key) => [key, 'theirs'])])
    await wait(1_100)
    const answer = await send()
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('no longer')])
    expect((await engine.keys()).length).toBe(foreign.length)
    // It stays so, whatever comes.
    expect((await run(sandbox, 'SET', 'k', 'v')).status).toBe(503)
    expect(await engine.client.send(['GET', foreign[0]!])).toEqual({ bulk: 'theirs' })
  })

  test('commands that never pause stop within a second of the loss', async () => {
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
    // The rest is for a machine that is busy.
    expect(latest - lost).toBeLessThan(2_500)
    await expect(held.run(words('INCR', 'n'))).rejects.toThrow("no longer this sandbox's own")
    expect(await engine.client.send(['GET', 'n'])).toEqual(done)
    await held.close()
  })

  test('a look at the marker changes neither the order of commands nor what they see', async () => {
    await using engine = await startEngine()
    const held = await RealRedis.open(engine.url)
    const sent: Promise<unknown>[] = []
    for (let number = 0; number < 600; number++) {
      // Before and behind a look, and while one is under way.
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

  test('an engine that takes no writes answers reads, and one that runs a script takes its end', async () => {
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

  test('a new connection asks whose the engine is before it sends anything', async () => {
    await using engine = await startEngine()
    const held = await RealRedis.open(engine.url)
    await engine.client.send(['SET', marker, 'another'])
    // The first transaction opens one.
    await expect(held.transact([['SET', 'k', 'v'] as never])).rejects.toThrow("no longer this sandbox's own")
    expect(await engine.keys()).toEqual([marker])
    await held.close()
  })

  test('the lease is renewed while it lives; one that was not is over, and nobody goes on with it', async () => {
    await using engine = await startEngine()
    const held = await RealRedis.open(engine.url, { lease: 300 })
    const words = (...argv: string[]) => argv as never
    // More than three leases: only renewals keep it.
    await until(async () => {
      const uptime = await engine.client.send(['INFO', 'commandstats'])
      return 'bulk' in uptime && Number(/cmdstat_pexpire:calls=(\d+)/.exec(uptime.bulk)?.[1] ?? 0) >= 10
    })
    expect(await held.run(words('SET', 'k', 'v'))).toMatchObject({ text: 'OK' })
    // As after a pause of the process, in which somebody else came.
    await engine.client.send(['SET', marker, 'another'])
    await until(async () =>
      held.run(words('GET', 'k')).then(
        () => false,
        () => true,
      ),
    )
    await expect(held.run(words('SET', 'k', 'w'))).rejects.toThrow("no longer this sandbox's own")
    await held.close()
    expect(await engine.keys()).toEqual(['k', marker])
  })

  test('an engine that goes away is told with 503, and a restarted one is not ours', async () => {
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
    expect(await away.text()).toMatch(/^\{"error":"The engine at 127\.0\.0\.1:\d+ is away: /)
    await engine.restart()
    await engine.client.send(['SET', 'theirs', '1'])
    await until(async () => (await run(sandbox, 'GET', 'k')).body.includes('no longer'))
    await expect(sandbox.reset()).rejects.toThrow('is not empty')
    // The one who restarted it made room: it is taken again.
    await engine.client.send(['FLUSHALL'])
    await sandbox.reset()
    expect((await run(sandbox, 'GET', 'k')).body).toBe('{"result":null}')
  })

  test('an engine that is frozen is told as well, and goes on where it was', async () => {
    await using engine = await startEngine()
    const held = await RealRedis.open(engine.url, { patience: 300 })
    await held.run(['SET', 'k', 'v'] as never)
    engine.child.kill('SIGSTOP')
    await expect(held.run(['GET', 'k'] as never)).rejects.toThrow('has not answered for 300 ms')
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

describe('where an engine may be', () => {
  test.each([
    ['redis://192.0.2.1:6379', /192\.0\.2\.1 is not on this machine.*--allow-engine 192\.0\.2\.1/],
    ['redis://[2001:db8::1]:6379', /2001:db8::1 is not on this machine/],
    ['redis://0.0.0.0:6379', /0\.0\.0\.0 is not on this machine/],
    ['http://127.0.0.1', /begins with redis:\/\/ or rediss:\/\//],
    ['127.0.0.1', /is no url/],
    ['redis://127.0.0.1/3', /the database is 0/],
  ])('%s is refused', async (url, sentence) => {
    await expect(createRealRedisSandbox(url)).rejects.toThrow(sentence)
  })

  test('nobody listens: a sentence, and soon', async () => {
    await expect(createRealRedisSandbox('redis://user:s3cret@127.0.0.1:1')).rejects.toThrow(
      /^The engine at 127\.0\.0\.1:1 is away: /,
    )
  })

  test('what listens there is no engine', async () => {
    const server = createServer((socket) => socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    await expect(createRealRedisSandbox(`redis://127.0.0.1:${port}`)).rejects.toThrow(
      'does not speak the protocol of Redis',
    )
    await new Promise((resolve) => server.close(resolve))
  })

  test('a name is judged by the address that it resolves to, and an allowed one may be elsewhere', async () => {
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

  test('a password that is no text of a url is told, and not shown', async () => {
    const refused = createRealRedisSandbox('redis://u:ge%heim@127.0.0.1:1')
    await expect(refused).rejects.toThrow(/realRedis \(--store\).*%25/)
    await expect(refused).rejects.not.toThrow('heim')
  })

  test('what an engine cannot have is refused, with what to do', async () => {
    const url = 'redis://127.0.0.1:1'
    await expect(createRealRedisSandbox(url, { clock: 'manual' })).rejects.toThrow(
      /has no clock: 'manual'.*engine's own clock/,
    )
    await expect(startServer({ port: 0, realRedis: url, redisPort: 0 })).rejects.toThrow('has no redisPort')
    await expect(startServer({ port: 0, realRedis: url, state: '/nowhere' })).rejects.toThrow('has no state')
  })
})
