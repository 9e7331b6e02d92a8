import { beforeEach, describe, expect, it } from 'vitest'
import { Rest } from '../support/ask.js'

// Content and format of replies. Expectations: store.md 1.5, 2.2 and 3.

let rest: Rest
beforeEach(() => {
  rest = Rest.open()
})

const base64 = { 'service-encoding': 'base64' }
const resp2 = { 'service-response-format': 'resp2' }

describe('statuses and content types', () => {
  it('are {"result": …} and nothing else for success', async () => {
    const answer = await rest.get('/set/k/v')
    expect(answer.status).toBe(200)
    expect(answer.body).toBe('{"result":"OK"}')
    expect(answer.headers['content-type']).toBe('application/json')
  })

  it('are {"error": …} with 400 for an error', async () => {
    const answer = await rest.get('/set/k')
    expect(answer.status).toBe(400)
    expect(answer.body).toBe(`{"error":"ERR wrong number of arguments for 'set' command"}`)
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.headers).not.toHaveProperty('service-sync-token')
  })

  it.each(['xml', '', 'json2', 'resp3'])('reject the response format %j', async (format) => {
    expect(await rest.get('/ping', { headers: { 'service-response-format': format } })).toMatchObject({
      status: 400,
      json: { error: 'ERR invalid response format' },
    })
  })

  it('ignore case in formats and encodings', async () => {
    expect((await rest.get('/ping', { headers: { 'Service-Response-Format': 'JSON' } })).json).toEqual({
      result: 'PONG',
    })
    expect((await rest.get('/ping', { headers: { 'SERVICE-RESPONSE-FORMAT': 'Resp2' } })).body).toBe('+PONG\r\n')
    expect((await rest.get('/ping', { headers: { 'service-encoding': 'BASE64' } })).json).toEqual({
      result: 'UE9ORw==',
    })
  })

  it('reject base64 with resp2', async () => {
    expect(await rest.get('/ping', { headers: { ...base64, ...resp2 } })).toMatchObject({
      status: 400,
      json: { error: 'ERR base64 encoding is not allowed with resp2 format' },
    })
  })

  it.each(['plain', 'gzip', ''])('ignore the encoding %j', async (encoding) => {
    expect((await rest.get('/ping', { headers: { 'service-encoding': encoding } })).json).toEqual({ result: 'PONG' })
  })

  it('use the header names of the dialect', async () => {
    const upstash = Rest.open({ dialect: 'upstash' })
    const answer = await upstash.get('/ping', { headers: { 'Upstash-Encoding': 'base64' } })
    expect(answer.json).toEqual({ result: 'UE9ORw==' })
    expect(answer.headers).toHaveProperty('upstash-sync-token')
    expect((await upstash.get('/ping', { headers: base64 })).json).toEqual({ result: 'PONG' })
    expect((await upstash.get('/nonsense')).json).toEqual({
      error:
        "ERR Command is not available: 'NONSENSE'. See https://upstash.com/docs/redis/overall/rediscompatibility for details",
    })
  })

  it('include the origin for browsers', async () => {
    const { headers } = await rest.get('/ping', { headers: { origin: 'https://app.test' } })
    expect(headers).toMatchObject({
      'access-control-allow-origin': 'https://app.test',
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'service-sync-token',
    })
    expect((await rest.get('/ping')).headers).not.toHaveProperty('access-control-allow-origin')
    // A browser hides the sync token unless the response exposes it under its sent name.
    const upstash = await Rest.open({ dialect: 'upstash' }).get('/ping', { headers: { origin: 'https://app.test' } })
    expect(upstash.headers['access-control-expose-headers']).toBe('upstash-sync-token')
  })
})

/** Creates one key for each kind of reply. */
async function fill(): Promise<void> {
  await rest.post('/pipeline', [
    ['SET', 'k', 'bar'],
    ['SET', 'ok', 'OK'],
    ['SET', 'empty', ''],
    ['RPUSH', 'l', 'a', 'OK', ''],
    ['HSET', 'h', 'f', 'v'],
    ['ZADD', 'z', '1.5', 'a', '-inf', 'b', 'inf', 'c', '3', 'd', '0.1', 'e'],
    ['GEOADD', 'g', '13.361389', '38.115556', 'Palermo', '15.087269', '37.502669', 'Catania'],
    ['XADD', 'x', '1-1', 'f', 'OK'],
  ])
}

describe('JSON values', () => {
  const replies: [argv: (string | number)[], result: unknown][] = [
    [['PING'], 'PONG'],
    [['TYPE', 'k'], 'string'],
    [['GET', 'k'], 'bar'],
    [['GET', 'missing'], null],
    [['STRLEN', 'k'], 3],
    [
      ['LRANGE', 'l', 0, -1],
      ['a', 'OK', ''],
    ],
    [['LRANGE', 'missing', 0, -1], []],
    [
      ['MGET', 'k', 'missing'],
      ['bar', null],
    ],
    [
      ['HGETALL', 'h'],
      ['f', 'v'],
    ],
    [['HGETALL', 'missing'], []],
    [['ZSCORE', 'z', 'a'], '1.5'],
    [['ZSCORE', 'z', 'b'], '-inf'],
    [['ZSCORE', 'z', 'c'], 'inf'],
    [['ZSCORE', 'z', 'd'], '3'],
    [['ZSCORE', 'z', 'e'], '0.1'],
    [
      ['ZRANGE', 'z', 0, 1, 'WITHSCORES'],
      ['b', '-inf', 'e', '0.1'],
    ],
    [['INCRBYFLOAT', 'n', '3.0e3'], '3000'],
    [['GEODIST', 'g', 'Palermo', 'Catania'], '166274.1516'],
    [['LPOP', 'missing', 2], null],
    [['XREAD', 'STREAMS', 'missing', '0'], null],
    [['XRANGE', 'x', '-', '+'], [['1-1', ['f', 'OK']]]],
    [
      ['SCAN', 0, 'MATCH', 'k'],
      ['0', ['k']],
    ],
    [['EXISTS', 'k'], 1],
    [
      ['CONFIG', 'GET', 'notify-keyspace-events'],
      ['notify-keyspace-events', ''],
    ],
    [['SETEX', 'k', 10, 'v'], 'OK'],
  ]
  it.each(replies)('are returned for %j', async (argv, result) => {
    await fill()
    expect((await rest.post('/', argv)).json).toEqual({ result })
  })

  it('have all digits of integers', async () => {
    await rest.run('SET', 'n', '9223372036854775806')
    expect((await rest.get('/incr/n')).body).toBe('{"result":9223372036854775807}')
    await rest.run('SET', 'n', '-9223372036854775807')
    expect((await rest.get('/decr/n')).body).toBe('{"result":-9223372036854775808}')
    await rest.run('SET', 'n', '9007199254740992')
    expect((await rest.get('/incr/n')).body).toBe('{"result":9007199254740993}')
  })

  it('replace each byte that is not UTF-8', async () => {
    await rest.post('/set/k', new Uint8Array([0x61, 0xff, 0xfe, 0xe2, 0x98, 0x62]))
    expect((await rest.get('/get/k')).json).toEqual({ result: 'a\ufffd\ufffd\ufffd\ufffdb' })
    await rest.post('/set/k', new Uint8Array([0xe2, 0x98, 0x83]))
    expect((await rest.get('/get/k')).json).toEqual({ result: '☃' })
  })

  it('escape what JSON requires', async () => {
    const value = '"\\\u0000\u0001\b\f\n\r\t\u2028/'
    await rest.post('/', ['SET', 'k', value])
    expect((await rest.get('/get/k')).json).toEqual({ result: value })
  })
})

describe('base64', () => {
  const encoded: [argv: (string | number)[], result: unknown][] = [
    [['SET', 'k2', 'v'], 'OK'],
    [['MSET', 'a', '1'], 'OK'],
    [['GET', 'k'], 'YmFy'],
    [['GET', 'ok'], 'T0s='],
    [['GET', 'empty'], ''],
    [['GET', 'missing'], null],
    [['ECHO', 'OK'], 'T0s='],
    [['PING'], 'UE9ORw=='],
    [['TYPE', 'k'], 'c3RyaW5n'],
    [['TYPE', 'missing'], 'bm9uZQ=='],
    [['STRLEN', 'k'], 3],
    [
      ['LRANGE', 'l', 0, -1],
      ['YQ==', 'T0s=', ''],
    ],
    [
      ['MGET', 'k', 'missing'],
      ['YmFy', null],
    ],
    [
      ['HGETALL', 'h'],
      ['Zg==', 'dg=='],
    ],
    [['ZSCORE', 'z', 'a'], 'MS41'],
    [['XRANGE', 'x', '-', '+'], [['MS0x', ['Zg==', 'T0s=']]]],
    [
      ['SCAN', 0, 'MATCH', 'k'],
      ['MA==', ['aw==']],
    ],
  ]
  it.each(encoded)('encodes the reply to %j', async (argv, result) => {
    await fill()
    expect((await rest.post('/', argv, { headers: base64 })).json).toEqual({ result })
  })

  it('uses the standard alphabet with padding', async () => {
    await rest.post('/set/k', new Uint8Array([0xfb, 0xff, 0xfe, 0xff]))
    expect((await rest.get('/get/k', { headers: base64 })).json).toEqual({ result: '+//+/w==' })
  })

  it('never encodes errors', async () => {
    expect((await rest.get('/get', { headers: base64 })).json).toEqual({
      error: "ERR wrong number of arguments for 'get' command",
    })
    expect((await rest.get('/get/k', { headers: base64, token: 'wrong' })).json).toMatchObject({
      error: expect.stringMatching(/^WRONGPASS /),
    })
  })

  it.each(['/pipeline', '/multi-exec'])('encodes each item of %s like a separate reply', async (path) => {
    await fill()
    const rows = [['SET', 'k', 'bar'], ['GET', 'k'], ['GET', 'ok'], ['PING'], ['INCR', 'k'], ['LRANGE', 'l', '1', '1']]
    expect((await rest.post(path, rows, { headers: base64 })).json).toEqual([
      { result: 'OK' },
      { result: 'YmFy' },
      { result: 'T0s=' },
      { result: 'UE9ORw==' },
      { error: 'ERR value is not an int or out of range' },
      { result: ['T0s='] },
    ])
  })
})

describe('RESP2', () => {
  const raw: [argv: (string | number)[], body: string][] = [
    [['SET', 'k', 'v'], '+OK\r\n'],
    [['PING'], '+PONG\r\n'],
    [['GET', 'k'], '$3\r\nbar\r\n'],
    [['GET', 'empty'], '$0\r\n\r\n'],
    [['GET', 'missing'], '$-1\r\n'],
    [['STRLEN', 'k'], ':3\r\n'],
    [['MGET', 'k', 'missing'], '*2\r\n$3\r\nbar\r\n$-1\r\n'],
    [['LRANGE', 'missing', 0, -1], '*0\r\n'],
    [['LPOP', 'missing'], '$-1\r\n'],
    [['LPOP', 'missing', 2], '*-1\r\n'],
    [['LMPOP', 1, 'missing', 'LEFT'], '*-1\r\n'],
    [['ZMPOP', 1, 'missing', 'MIN'], '*-1\r\n'],
    [['XREAD', 'STREAMS', 'missing', '0'], '*-1\r\n'],
    [['GEOPOS', 'g', 'nowhere'], '*1\r\n*-1\r\n'],
    [['ZSCORE', 'z', 'c'], '$3\r\ninf\r\n'],
    [['SET', 'k', 'v', 'XX', 'NX'], '-ERR syntax error\r\n'],
  ]
  it.each(raw)('encodes the reply to %j', async (argv, body) => {
    await fill()
    const answer = await rest.post('/', argv, { headers: resp2 })
    expect(answer.body).toBe(body)
    expect(answer.status).toBe(body.startsWith('-') ? 400 : 200)
    expect(answer.headers['content-type']).toBe('application/octet-stream')
  })

  it('preserves all bytes', async () => {
    await rest.post('/set/k', new Uint8Array([0, 255, 13, 10]))
    expect((await rest.get('/get/k', { headers: resp2 })).body).toBe('$4\r\n\x00\xff\r\n\r\n')
  })

  it('concatenates replies of a pipeline', async () => {
    const rows = [['SET', 'k', 'v'], ['GET', 'k'], ['INCR', 'k'], ['NONSENSE']]
    const answer = await rest.post('/pipeline', rows, { headers: resp2 })
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe('application/octet-stream')
    expect(answer.body).toBe(
      "+OK\r\n$1\r\nv\r\n-ERR value is not an int or out of range\r\n-ERR Command is not available: 'NONSENSE'. See https://docs.service.test/redis/overall/rediscompatibility for details\r\n",
    )
  })

  it('is not supported for transactions', async () => {
    const answer = await rest.post('/multi-exec', [['PING']], { headers: resp2 })
    expect(answer).toMatchObject({ status: 200, json: [{ result: 'PONG' }] })
    expect((await rest.post('/multi-exec', [['NONSENSE']], { headers: resp2 })).headers['content-type']).toBe(
      'application/json',
    )
    // The header is validated even though it is ignored: service.md Errors rejects any other value everywhere, and
    // base64 with it.
    const base64 = { ...resp2, 'service-encoding': 'base64' }
    expect(await rest.post('/multi-exec', [['SET', 'k', 'v']], { headers: base64 })).toMatchObject({
      status: 400,
      json: { error: 'ERR base64 encoding is not allowed with resp2 format' },
    })
    expect(await rest.run('EXISTS', 'k')).toBe(0)
    const xml = { 'service-response-format': 'xml' }
    expect(await rest.post('/multi-exec', [['SET', 'k', 'v']], { headers: xml })).toMatchObject({
      status: 400,
      json: { error: 'ERR invalid response format' },
    })
  })

  it.each(['/subscribe/news', '/psubscribe/n*', '/monitor'])('is rejected in invalid forms by %s', async (path) => {
    const base64 = { ...resp2, 'service-encoding': 'base64' }
    expect(await rest.post(path, undefined, { headers: base64 })).toMatchObject({
      status: 400,
      json: { error: 'ERR base64 encoding is not allowed with resp2 format' },
    })
    const xml = { 'service-response-format': 'xml' }
    expect(await rest.post(path, undefined, { headers: xml })).toMatchObject({
      status: 400,
      json: { error: 'ERR invalid response format' },
    })
  })

  it('is not used for rejected tokens', async () => {
    const answer = await rest.get('/ping', { headers: resp2, token: 'wrong' })
    expect(answer).toMatchObject({ status: 401, headers: { 'content-type': 'application/json' } })
  })
})

describe('sync token', () => {
  const token = async (path: string, body?: unknown) => (await rest.post(path, body)).headers['service-sync-token']

  it('is part of every 2xx response', async () => {
    expect(await token('/', ['PING'])).toMatch(/^[0-9a-v]+$/)
    expect(await token('/pipeline', [['NONSENSE']])).toMatch(/^[0-9a-v]+$/)
    expect(await token('/multi-exec', [['PING']])).toMatch(/^[0-9a-v]+$/)
  })

  it('changes with every write and with nothing else', async () => {
    const seen: (string | undefined)[] = []
    const write = async (path: string, body: unknown) => {
      const next = await token(path, body)
      expect(seen, JSON.stringify(body)).not.toContain(next)
      seen.push(next)
    }
    await write('/', ['SET', 'k', 'v'])
    await write('/', ['SET', 'k', 'v'])
    await write('/', ['DEL', 'missing'])
    await write('/pipeline', [
      ['SET', 'k', 'w'],
      ['GET', 'k'],
    ])
    await write('/multi-exec', [['SET', 'k', 'w']])
    for (const argv of [['GET', 'k'], ['PING'], ['KEYS', '*'], ['NONSENSE'], ['INCR', 'k'], ['EXISTS', 'k']]) {
      await rest.post('/', argv)
      expect(await token('/', ['PING'])).toBe(seen.at(-1))
    }
  })

  it('may be sent back old or empty', async () => {
    for (const value of ['', '0', 'zzzz', 'anything at all']) {
      expect((await rest.get('/ping', { headers: { 'service-sync-token': value } })).status).toBe(200)
    }
  })

  it('telemetry headers are ignored', async () => {
    const headers = {
      'service-telemetry-sdk': 'x@v1',
      'service-telemetry-runtime': 'node',
      'service-telemetry-retry': '2',
    }
    expect((await rest.get('/ping', { headers })).json).toEqual({ result: 'PONG' })
  })
})
