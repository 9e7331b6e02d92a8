import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ioredisConnector } from '../../packages/server/src/redis-port/in-process.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'

let sandbox: Sandbox

beforeEach(() => {
  sandbox = createSandbox()
})

afterEach(() => sandbox.dispose())

type Row = readonly (string | number)[]
type Item = { result?: unknown; error?: string }

const request = (rows: readonly Row[], body: BodyInit = JSON.stringify(rows), token = sandbox.tokens.store) =>
  sandbox.fetch(`${sandbox.urls.store}/multi-exec`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${token}` },
    ...(typeof body === 'string' ? {} : { duplex: 'half' }),
  } as RequestInit)

const execute = async (rows: readonly Row[], token?: string): Promise<Item[]> => {
  const response = await request(rows, undefined, token)
  expect(response.status).toBe(200)
  return (await response.json()) as Item[]
}

const results = async (rows: readonly Row[]) => (await execute(rows)).map(({ result, error }) => error ?? result)

/** Returns a body that arrives in pieces, each in a later turn of the event loop. */
const slowly = (text: string, pieces: number): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  const size = Math.ceil(bytes.length / pieces)
  let sent = 0
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 0))
      controller.enqueue(bytes.slice(sent, sent + size))
      sent += size
      if (sent >= bytes.length) controller.close()
    },
  })
}

describe('isolation of transactions', () => {
  // hiett/serverless-redis-http#25: concurrent transactions shared a connection and mixed their commands.
  it.each(['at once', 'in pieces'])('keeps ten concurrent transactions separate, sent %s', async (how) => {
    const rowsOf = (client: number): Row[] => [
      ['GET', 'owner'],
      ['SET', 'owner', client],
      ...Array.from({ length: 20 }, (_, step): Row => ['RPUSH', 'log', `${client}:${step}`]),
      ['GET', 'owner'],
      ['INCR', 'done'],
    ]
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, client) => {
        const rows = rowsOf(client)
        const body = how === 'at once' ? undefined : slowly(JSON.stringify(rows), 1 + ((client * 7) % 5))
        return (await (await request(rows, body)).json()) as Item[]
      }),
    )
    for (const [client, items] of answers.entries()) {
      expect(items).toHaveLength(24)
      const lengths = items.slice(2, 22).map(({ result }) => Number(result))
      expect(lengths).toEqual(lengths.map((_, step) => lengths[0]! + step))
      expect(items[22]).toEqual({ result: String(client) })
    }
    expect(answers.map((items) => items[23]!.result).sort((a, b) => Number(a) - Number(b))).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ])
    const log = sandbox.store.run('LRANGE', 'log', 0, -1) as string[]
    const owners = log.map((entry) => entry.split(':')[0])
    for (let at = 0; at < 200; at += 20) expect(new Set(owners.slice(at, at + 20)).size).toBe(1)
    expect(new Set(owners).size).toBe(10)
  })

  it('is not broken by a pipeline and single commands that arrive meanwhile', async () => {
    const increments = Array.from({ length: 50 }, (): Row => ['INCR', 'n'])
    const post = (path: string, body: BodyInit) =>
      sandbox.fetch(sandbox.urls.store + path, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${sandbox.tokens.store}` },
        duplex: 'half',
      } as RequestInit)
    const transaction = request(increments, slowly(JSON.stringify(increments), 4))
    await Promise.all([
      post('/pipeline', slowly(JSON.stringify(increments), 3)),
      ...Array.from({ length: 20 }, () => post('/incr/n', '')),
    ])
    const numbers = ((await (await transaction).json()) as Item[]).map(({ result }) => Number(result))
    expect(numbers).toEqual(numbers.map((_, step) => numbers[0]! + step))
    expect(sandbox.store.run('GET', 'n')).toBe('120')
  })
})

describe('errors in transactions', () => {
  // The sample of the documentation. [store.md 4]
  it('concern only the item of a command that ran', async () => {
    expect(
      await execute([
        ['SET', 'key1', 'valuex'],
        ['SETEX', 'key2', 13, 'valuez'],
        ['INCR', 'key1'],
        ['ZADD', 'myset', 11, 'item1', 22, 'item2'],
      ]),
    ).toEqual([{ result: 'OK' }, { result: 'OK' }, { error: 'ERR value is not an int or out of range' }, { result: 2 }])
  })

  it.each([
    [['NOPE', 'x'], /^ERR Command is not available: 'NOPE'/],
    [['MODULE', 'LOAD'], /^ERR Command is not available: 'MODULE LOAD'/],
    [['GET'], /^ERR wrong number of arguments for 'get' command$/],
    [['GET', 'a', 'b'], /^ERR wrong number of arguments for 'get' command$/],
    [['XGROUP', 'CREATE', 's'], /^ERR wrong number of arguments for 'xgroup\|create' command$/],
    [['XGROUP', 'FOO', 's'], /^ERR unknown subcommand 'FOO'. Try XGROUP HELP.$/],
    [['MULTI'], /^ERR Command "MULTI" is not allowed in REST/],
    [['EXEC'], /^ERR Command "EXEC" is not allowed in REST/],
    [['WATCH', 'k'], /^ERR Command "WATCH" is not allowed in REST/],
    [['SUBSCRIBE', 'c'], /^ERR Command "SUBSCRIBE" is not allowed in REST/],
    [['BLPOP', 'l', '0'], /^ERR Command is not available: 'BLPOP'/],
    [['ACL', 'NOPE', 'u', 'get'], /^ERR Command is not available: 'ACL NOPE'/],
  ])('discard everything for %j at any position', async (row, text) => {
    for (const rows of [
      [['SET', 'k', 'v'], row],
      [row, ['SET', 'k', 'v']],
    ]) {
      const response = await request(rows)
      expect(response.status).toBe(400)
      const body = (await response.json()) as Item
      expect(Object.keys(body)).toEqual(['error'])
      expect(body.error).toMatch(text)
      expect(sandbox.store.run('EXISTS', 'k')).toBe(0)
    }
  })

  it.each([
    ['[["SET","k","v"],["SET","j",null]]', 'ERR null args are not supported'],
    ['[["SET","k","v"],["SET","j",[1]]]', 'ERR unsupported arg type: "[": json.Delim'],
    ['[["SET","k","v"],"GET"]', 'expected JSON array'],
    ['[["SET","k","v"],[]]', 'ERR empty command'],
    ['[["SET","k","v"]', 'ERR invalid JSON'],
    ['[]', 'ERR empty command'],
    ['', 'EOF'],
  ])('%s runs nothing', async (body, text) => {
    const response = await request([], body)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ error: text })
    expect(sandbox.store.run('DBSIZE')).toBe(0)
  })

  it.each([
    [['SET', 'k', 'v'], "NOPERM this user has no permissions to run the 'set' command or its subcommand"],
    [['GET', 'other'], 'NOPERM this user has no permissions to access one of the keys used as arguments'],
    [['PUBLISH', 'c', 'm'], 'NOPERM this user has no permissions to access one of the channels used as arguments'],
  ])('discard everything without permission for %j', async (row, text) => {
    const token = String(sandbox.store.run('ACL', 'GENTOKEN', 'ann'))
    sandbox.store.run('ACL', 'SETUSER', 'ann', 'on', `>${token}`, '+get', '+incr', '+publish', '~n')
    const response = await request([['INCR', 'n'], row], undefined, token)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ error: text })
    expect(sandbox.store.run('EXISTS', 'n')).toBe(0)
    expect(
      await execute(
        [
          ['INCR', 'n'],
          ['GET', 'n'],
        ],
        token,
      ),
    ).toEqual([{ result: 1 }, { result: '1' }])
  })
})

describe('commands of all groups in transactions', () => {
  it('run in order and see the results of earlier ones', async () => {
    expect(
      await results([
        ['SET', 's', 'abc'],
        ['APPEND', 's', 'd'],
        ['SETBIT', 'bits', 7, 1],
        ['GET', 'bits'],
        ['HSET', 'h', 'f', 1],
        ['HINCRBY', 'h', 'f', 4],
        ['RPUSH', 'l', 'x', 'y'],
        ['LMOVE', 'l', 'm', 'LEFT', 'RIGHT'],
        ['LRANGE', 'm', 0, -1],
        ['SADD', 'set', 'a', 'b'],
        ['SCARD', 'set'],
        ['ZADD', 'z', 1.5, 'a'],
        ['ZSCORE', 'z', 'a'],
        ['GEOADD', 'geo', 13.361389, 38.115556, 'Palermo'],
        ['GEOHASH', 'geo', 'Palermo'],
        ['PFADD', 'hll', 'a'],
        ['PFCOUNT', 'hll'],
        ['XADD', 'x', '1-1', 'f', 'v'],
        ['XGROUP', 'CREATE', 'x', 'g', 0],
        ['XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', 'x', '>'],
        ['XACK', 'x', 'g', '1-1'],
        ['JSON.SET', 'j', '$', '{"a":[1]}'],
        ['JSON.ARRAPPEND', 'j', '$.a', 2],
        ['JSON.GET', 'j', '$.a'],
        ['EXPIRE', 's', 100],
        ['TTL', 's'],
        ['RENAME', 's', 't'],
        ['GET', 's'],
        ['GET', 't'],
        ['PUBLISH', 'c', 'm'],
        ['ACL', 'WHOAMI'],
        ['DBSIZE'],
      ]),
    ).toEqual([
      ...['OK', 4, 0, '\x01', 1, 5, 2, 'x', ['x'], 2, 2, 1, '1.5', 1, ['sqc8b49rny0'], 1, 1, '1-1', 'OK'],
      ...[[['x', [['1-1', ['f', 'v']]]]], 1, 'OK', [2], '[[1,2]]', 1, 100, 'OK', null, 'abcd', 0, 'default'],
      11,
    ])
  })

  it('run scripts among others, which see earlier results and may fail alone', async () => {
    const move = "redis.call('RPUSH', KEYS[2], redis.call('GET', KEYS[1])); return redis.call('LLEN', KEYS[2])"
    expect(
      await results([
        ['SET', 'k', 'v'],
        ['EVAL', move, 2, 'k', 'l'],
        ['EVAL', "return redis.call('INCR', KEYS[1])", 1, 'k'],
        ['EVAL', "redis.call('SET', KEYS[1], 'half'); error('stop')", 1, 'k'],
        ['LRANGE', 'l', 0, -1],
        ['GET', 'k'],
      ]),
    ).toEqual([
      ...['OK', 1, expect.stringContaining('value is not an int'), expect.stringContaining('stop'), ['v'], 'half'],
    ])
  })

  it('never wait', async () => {
    expect(
      await results([
        ['XADD', 'x', '1-1', 'f', 'v'],
        ['XREAD', 'BLOCK', 0, 'STREAMS', 'x', '$'],
        ['XREAD', 'BLOCK', 0, 'STREAMS', 'x', 0],
      ]),
    ).toEqual(['1-1', null, [['x', [['1-1', ['f', 'v']]]]]])
  })
})

// [redis 7.0: MULTI, SAVE, EXEC]
describe('SAVE in transactions', () => {
  const refusal = 'ERR Command not allowed inside a transaction'

  it('is rejected by /multi-exec, and nothing runs', async () => {
    const response = await request([['SET', 'a', 1], ['save']])
    expect([response.status, await response.json()]).toEqual([400, { error: refusal }])
    expect(sandbox.store.run('EXISTS', 'a')).toBe(0)
  })

  it('is rejected between MULTI and EXEC, and invalidates the transaction', async () => {
    const connection = sandbox.store.connect()
    await expect(connection.run('SAVE')).resolves.toBe('OK')
    const Connector = ioredisConnector(sandbox)
    const stream = await new Connector({}).connect()
    let brought = ''
    stream.on('data', (chunk: Buffer) => {
      brought += chunk.toString('latin1')
    })
    stream.write('SAVE\r\nMULTI\r\nSET a 1\r\nSAVE\r\nSAVE x\r\nEXEC\r\n')
    await expect.poll(() => brought, { interval: 2 }).toContain('EXECABORT')
    stream.destroy()
    expect(brought.split('\r\n').slice(0, -1)).toEqual([
      ...['+OK', '+OK', '+QUEUED', `-${refusal}`, "-ERR wrong number of arguments for 'save' command"],
      '-EXECABORT Transaction discarded because of previous errors.',
    ])
    expect(sandbox.store.run('EXISTS', 'a')).toBe(0)
  })
})
