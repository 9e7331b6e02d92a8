import { beforeEach, describe, expect, it } from 'vitest'
import { Rest } from '../support/ask.js'

// Pipelines and transactions. Expectations: store.md 4.

let rest: Rest
beforeEach(() => {
  rest = Rest.open()
})

const notInteger = { error: 'ERR value is not an int or out of range' }
const unavailable = (name: string) => ({
  error: `ERR Command is not available: '${name}'. See https://docs.service.test/redis/overall/rediscompatibility for details`,
})

describe.each(['/pipeline', '/multi-exec'])('%s', (path) => {
  it('replies to the sample of the documentation', async () => {
    const rows = [
      ['SET', 'key1', 'valuex'],
      ['SETEX', 'key2', 13, 'valuez'],
      ['INCR', 'key1'],
      ['ZADD', 'myset', 11, 'item1', 22, 'item2'],
    ]
    expect(await rest.post(path, rows)).toMatchObject({
      status: 200,
      json: [{ result: 'OK' }, { result: 'OK' }, notInteger, { result: 2 }],
    })
  })

  it('runs rows in order', async () => {
    const rows = [
      ['RPUSH', 'l', 'a'],
      ['RPUSH', 'l', 'b'],
      ['LRANGE', 'l', '0', '-1'],
      ['LPOP', 'l'],
      ['GET', 'l'],
    ]
    expect((await rest.post(path, rows)).json).toEqual([
      { result: 1 },
      { result: 2 },
      { result: ['a', 'b'] },
      { result: 'a' },
      { error: 'WRONGTYPE Operation against a key holding the wrong kind of value' },
    ])
  })

  it('accepts a PUT', async () => {
    expect((await rest.ask('PUT', path, { body: '[["PING"]]' })).json).toEqual([{ result: 'PONG' }])
  })

  it('accepts a thousand rows', async () => {
    const rows = Array.from({ length: 1000 }, () => ['INCR', 'n'])
    const items = (await rest.post(path, rows)).json as unknown[]
    expect(items).toHaveLength(1000)
    expect(items[999]).toEqual({ result: 1000 })
  })

  it('does not read the query as arguments', async () => {
    expect((await rest.post(`${path}?EX=10`, [['SET', 'k', 'v']])).json).toEqual([{ result: 'OK' }])
    expect(await rest.run('TTL', 'k')).toBe(-1)
  })
})

describe('a row that cannot run', () => {
  const rows: [row: (string | number)[], text: string][] = [
    [['NONSENSE', 'x'], unavailable('NONSENSE').error],
    [['CONFIG', 'REWRITE'], unavailable('CONFIG REWRITE').error],
    [[''], unavailable('').error],
    [['BLPOP', 'l', 0], unavailable('BLPOP').error],
    [['SET', 'k'], "ERR wrong number of arguments for 'set' command"],
    [['GET', 'k', 'l'], "ERR wrong number of arguments for 'get' command"],
    [['WATCH', 'k'], 'ERR Command "WATCH" is not allowed in REST or it has a special context path'],
    [['UNWATCH'], 'ERR Command "UNWATCH" is not allowed in REST or it has a special context path'],
    [['MULTI'], 'ERR Command "MULTI" is not allowed in REST or it has a special context path'],
    [['EXEC'], 'ERR Command "EXEC" is not allowed in REST or it has a special context path'],
    [['DISCARD'], 'ERR Command "DISCARD" is not allowed in REST or it has a special context path'],
    [['SUBSCRIBE', 'c'], 'ERR Command "SUBSCRIBE" is not allowed in REST or it has a special context path'],
  ]

  it.each(rows)('is an error item of a pipeline for %j, and the others run', async (row, text) => {
    const answer = await rest.post('/pipeline', [['SET', 'a', 1], row, ['GET', 'a']])
    expect(answer).toMatchObject({ status: 200, json: [{ result: 'OK' }, { error: text }, { result: '1' }] })
  })

  it.each(rows)('discards a transaction for %j', async (row, text) => {
    expect(await rest.post('/multi-exec', [['SET', 'a', 1], row, ['GET', 'a']])).toMatchObject({
      status: 400,
      json: { error: text },
    })
    expect(await rest.run('EXISTS', 'a')).toBe(0)
  })

  it('is an error item for the read-only token in a pipeline, and discards a transaction', async () => {
    const token = rest.sandbox.tokens.storeReadonly
    const refusal = { error: "NOPERM this user has no permissions to run the 'set' command or its subcommand" }
    const body = [
      ['GET', 'a'],
      ['SET', 'a', 1],
    ]
    expect(await rest.post('/pipeline', body, { token })).toMatchObject({
      status: 200,
      json: [{ result: null }, refusal],
    })
    expect(await rest.post('/multi-exec', body, { token })).toMatchObject({ status: 400, json: refusal })
  })
})

it('fails alone in an accepted transaction, and the others run', async () => {
  const rows = [
    ['SET', 'k', 'v'],
    ['INCR', 'k'],
    ['LPUSH', 'k', 'a'],
    ['EXPIRE', 'k', '10', 'NONSENSE'],
    ['APPEND', 'k', 'w'],
  ]
  expect((await rest.post('/multi-exec', rows)).json).toEqual([
    { result: 'OK' },
    notInteger,
    { error: 'WRONGTYPE Operation against a key holding the wrong kind of value' },
    { error: 'ERR Unsupported option NONSENSE' },
    { result: 2 },
  ])
})

it('rows are logged with the request as their cause', async () => {
  await rest.post('/pipeline', [
    ['SET', 'k', 'v', 'EX', 10],
    ['GET', 'k'],
    ['INCR', 'k'],
  ])
  await rest.post('/multi-exec', [['DEL', 'k']])
  const { traffic } = rest.sandbox
  const [pipeline, transaction] = traffic.ofType('request')
  const commands = traffic.ofType('command').map(({ argv, via, cause, user }) => [argv.join(' '), via, cause, user])
  expect(commands).toEqual([
    ['SET k v EX 10', 'pipeline', pipeline!.seq, 'default'],
    ['GET k', 'pipeline', pipeline!.seq, 'default'],
    ['INCR k', 'pipeline', pipeline!.seq, 'default'],
    ['DEL k', 'transaction', transaction!.seq, 'default'],
  ])
  expect(traffic.ofType('keyspace').map(({ event, key, cause }) => [event, key, cause])).toEqual([
    ['set', 'k', pipeline!.seq],
    ['expire', 'k', pipeline!.seq],
    ['del', 'k', transaction!.seq],
  ])
})

it('the log shows which key has expired when a command reads it', async () => {
  await rest.run('SET', 'k', 'v', 'PX', 100)
  await rest.sandbox.clock.advance(99)
  expect(await rest.run('GET', 'k')).toBe('v')
  await rest.sandbox.clock.advance(1)
  expect(await rest.run('GET', 'k')).toBeNull()
  expect(rest.sandbox.traffic.ofType('keyspace').map(({ event, at }) => [event, at - Date.UTC(2030, 0, 1)])).toEqual([
    ['set', 0],
    ['expire', 0],
    ['expired', 100],
  ])
})
