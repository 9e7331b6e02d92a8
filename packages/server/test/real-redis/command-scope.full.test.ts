import { describe, expect, test } from 'vitest'
import { hasEngine, type LiveEngine, startEngine, until } from '../../../../test/support/live-engine.js'
import { createRealRedisSandbox, type RealRedisSandbox } from '../../src/real-redis/real-redis-sandbox.js'

const marker = 'stuntdouble:engine'

async function ask(sandbox: RealRedisSandbox, path: string, body: unknown): Promise<readonly [number, string]> {
  const answer = await fetch(`${sandbox.urls.store}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    body: JSON.stringify(body),
  })
  return [answer.status, await answer.text()]
}

const run = (sandbox: RealRedisSandbox, ...argv: string[]) => ask(sandbox, '', argv)

/** Stores data of another user in another database. */
async function theirs(engine: LiveEngine): Promise<void> {
  await engine.client.send(['SELECT', '1'])
  await engine.client.send(['SET', 'theirs', 'precious'])
  await engine.client.send(['SELECT', '0'])
}

async function other(engine: LiveEngine, ...argv: string[]): Promise<unknown> {
  await engine.client.send(['SELECT', '1'])
  const told = await engine.client.send(argv)
  await engine.client.send(['SELECT', '0'])
  return told
}

const library = "#!lua name=l\nredis.register_function('wipe', function() return redis.call('FLUSHALL') end)"

describe.skipIf(!hasEngine)('the scope of commands', () => {
  test('runs no script, function or flush after the marker was taken by another owner', async () => {
    await using engine = await startEngine()
    const sandbox = await createRealRedisSandbox(engine.url)
    // Connections of both kinds are open.
    expect(await run(sandbox, 'EVAL', 'return 1', '0')).toEqual([200, '{"result":1}'])
    expect((await run(sandbox, 'FUNCTION', 'LOAD', library))[0]).toBe(200)
    const [, payload] = await run(sandbox, 'SCRIPT', 'LOAD', "return redis.call('FLUSHALL')")
    const digest = (JSON.parse(payload) as { result: string }).result
    await engine.client.send(['SET', marker, 'another'])
    await engine.client.send(['SET', 'theirs', '1'])
    for (const argv of [
      ['EVAL', "return redis.call('FLUSHALL')", '0'],
      ['eval', "return redis.call('SET', KEYS[1], '2')", '1', 'theirs'],
      ['EVALSHA', digest, '0'],
      ['FCALL', 'wipe', '0'],
      ['FUNCTION', 'FLUSH'],
      ['FUNCTION', 'DELETE', 'l'],
      ['function', 'load', 'REPLACE', library],
      ['SCRIPT', 'FLUSH'],
      ['FLUSHDB'],
    ]) {
      for (const [path, body] of [
        ['', argv],
        ['/pipeline', [argv]],
        ['/multi-exec', [['GET', 'k'], argv]],
      ] as const) {
        expect([argv, path, ...(await ask(sandbox, path, body))]).toEqual([
          argv,
          path,
          503,
          expect.stringContaining('no longer belongs to this sandbox'),
        ])
      }
    }
    await sandbox.close()
    expect(await engine.client.send(['GET', 'theirs'])).toEqual({ bulk: '1' })
    expect(await engine.client.send(['SCRIPT', 'EXISTS', digest])).toEqual({ array: [{ integer: '1' }] })
    expect(await engine.client.send(['FUNCTION', 'LIST'])).toMatchObject({ array: [expect.anything()] })
  })

  test('keeps scripts from flushing or leaving their database, however they name the command', async () => {
    await using engine = await startEngine()
    const sandbox = await createRealRedisSandbox(engine.url)
    await theirs(engine)
    await run(sandbox, 'SET', 'k', 'v')
    expect((await run(sandbox, 'FUNCTION', 'LOAD', library))[0]).toBe(200)
    const script = 'return redis.call(unpack(ARGV))'
    for (const argv of [
      ['FLUSHALL'],
      ['FLUSHDB'],
      ['SWAPDB', '0', '1'],
      ['SELECT', '1'],
      ['MOVE', 'k', '1'],
      ['COPY', 'k', 'theirs', 'DB', '1', 'REPLACE'],
    ]) {
      const [status, body] = await run(sandbox, 'EVAL', script, '0', ...argv)
      expect([argv, status, body]).toEqual([argv, 400, expect.stringMatching(/can't run this command|permission/)])
    }
    expect((await run(sandbox, 'FCALL', 'wipe', '0'))[0]).toBe(400)
    expect((await ask(sandbox, '/multi-exec', [['EVAL', 'return 1', '0'], ['FLUSHALL']]))[0]).toBe(400)
    expect(await engine.keys()).toEqual(expect.arrayContaining(['k', marker]))
    expect(await other(engine, 'GET', 'theirs')).toEqual({ bulk: 'precious' })
    // Other scripts still run, also in parallel.
    const counted = Array.from({ length: 40 }, () =>
      run(sandbox, 'EVAL', "return redis.call('INCR', KEYS[1])", '1', 'n'),
    )
    expect((await Promise.all(counted)).map(([status]) => status)).toEqual(Array(40).fill(200))
    expect(await run(sandbox, 'GET', 'n')).toEqual([200, '{"result":"40"}'])
    expect(await run(sandbox, 'EVALSHA', 'f'.repeat(40), '0')).toEqual([400, expect.stringContaining('NOSCRIPT')])
    await sandbox.close()
    // The user that ran scripts was deleted.
    expect(await engine.client.send(['ACL', 'USERS'])).toEqual({ array: [{ bulk: 'default' }] })
  })

  test('keeps every command from writing to another database', async () => {
    await using engine = await startEngine()
    await using sandbox = await createRealRedisSandbox(engine.url)
    await theirs(engine)
    await run(sandbox, 'SET', 'k', 'v')
    for (const argv of [
      ['COPY', 'k', 'theirs', 'DB', '1', 'REPLACE'],
      ['copy', 'k', 'theirs', 'replace', 'db', '1'],
    ]) {
      const refused = '{"error":"ERR DB index is out of range"}'
      expect(await run(sandbox, ...argv)).toEqual([400, refused])
      expect(await ask(sandbox, '/pipeline', [argv])).toEqual([200, `[${refused}]`])
      expect(await ask(sandbox, '/multi-exec', [['SET', 'k', 'w'], argv])).toEqual([400, refused])
    }
    // These commands never reach the real Redis; each one fails as in the double.
    for (const argv of [
      ['MOVE', 'k', '1'],
      ['move', 'k', '15'],
      ['SWAPDB', '0', '1'],
    ]) {
      const refused = '{"error":"ERR DB index is out of range"}'
      expect(await run(sandbox, ...argv)).toEqual([400, refused])
      expect(await ask(sandbox, '/multi-exec', [['SET', 'k', 'v'], argv])).toEqual([
        200,
        `[{"result":"OK"},${refused}]`,
      ])
    }
    expect(await run(sandbox, 'COPY', 'k', 'DB', 'DB', '0')).toEqual([200, '{"result":1}'])
    // Redis rejects these before it checks the database.
    for (const words of ['a b c DB 2', 'k b c DB 99', 'k b REPLACE c DB 1', 'k b REPLACE DB']) {
      const argv = ['COPY', ...words.split(' ')]
      const told = await engine.client.send(argv)
      expect(await run(sandbox, ...argv)).toEqual([400, JSON.stringify(told)])
      expect(told).toEqual({ error: 'ERR syntax error' })
    }
    // Arguments after a database are checked later, and a second database counts.
    for (const words of ['k b DB 99 c', 'k theirs DB 0 DB 1', 'k theirs REPLACE DB 1 REPLACE']) {
      expect((await run(sandbox, 'COPY', ...words.split(' ')))[1]).toBe('{"error":"ERR DB index is out of range"}')
    }
    expect(await run(sandbox, 'GET', 'k')).toEqual([200, '{"result":"v"}'])
    expect(await other(engine, 'KEYS', '*')).toEqual({ array: [{ bulk: 'theirs' }] })
  })

  test('counts keys with DBSIZE, without the marker', async () => {
    await using engine = await startEngine()
    await using sandbox = await createRealRedisSandbox(engine.url)
    await run(sandbox, 'MSET', 'a', '1', 'b', '2')
    const rows = [['DBSIZE'], ['SET', 'c', '3'], ['dbsize']]
    expect(await ask(sandbox, '/multi-exec', rows)).toEqual([200, '[{"result":2},{"result":"OK"},{"result":3}]'])
    expect(await run(sandbox, 'DBSIZE')).toEqual([200, '{"result":3}'])
    expect((await run(sandbox, 'DBSIZE', 'x'))[0]).toBe(400)
    await engine.client.send(['DEL', marker])
    expect(await run(sandbox, 'DBSIZE')).toEqual([200, '{"result":3}'])
  })

  test('reports an endless script with 503, and SCRIPT KILL ends it', async () => {
    await using engine = await startEngine('--busy-reply-threshold', '50')
    await using sandbox = await createRealRedisSandbox(engine.url)
    await run(sandbox, 'SET', 'k', 'v')
    const endless = run(sandbox, 'EVAL', 'while true do end', '0')
    await until(async () => (await run(sandbox, 'GET', 'k'))[0] === 503)
    expect(await run(sandbox, 'GET', 'k')).toEqual([503, expect.stringContaining('SCRIPT KILL')])
    expect((await endless)[0]).toBe(503)
    expect(await run(sandbox, 'SCRIPT', 'KILL')).toEqual([200, '{"result":"OK"}'])
    // The script stops at its next check, so reads before it are still rejected.
    await until(async () => (await run(sandbox, 'GET', 'k'))[0] === 200)
    expect(await run(sandbox, 'GET', 'k')).toEqual([200, '{"result":"v"}'])
  }, 20_000)

  test('does not expose the passwords of a real Redis', async () => {
    await using engine = await startEngine()
    const sandbox = await createRealRedisSandbox(engine.url)
    await engine.client.send(['CONFIG', 'SET', 'masterauth', 's3cret'])
    for (const names of [
      ['*'],
      ['master*'],
      ['masterauth'],
      ['MasterAuth', 'requirepass'],
      ['m?sterauth'],
      ['[m]asterauth'],
    ])
      expect((await run(sandbox, 'CONFIG', 'GET', ...names))[1]).not.toContain('s3cret')
    expect(await run(sandbox, 'CONFIG', 'GET', '*')).toEqual([200, '{"result":["notify-keyspace-events",""]}'])
    expect(await run(sandbox, 'CONFIG', 'GET', 'maxmemory')).toEqual([200, '{"result":["maxmemory","0"]}'])
  })
})
