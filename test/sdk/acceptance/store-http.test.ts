import { describe, expect, test } from 'vitest'
import { open } from './shop.js'

// The store's HTTP interface without an SDK. Expected: store.md 1 to 4, 6, 7.4, 10, 12.

interface Init {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  token?: string | null
}

function wire() {
  const { sandbox } = open()
  const send = (
    path: string,
    { method = 'GET', headers = {}, body, token = sandbox.tokens.store }: Init = {},
  ): Promise<Response> =>
    sandbox.fetch(`${sandbox.urls.store}${path}`, {
      method,
      headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined ? {} : { body: body as string }),
    })
  /** Returns status and JSON body. */
  const json = async (path: string, init?: Init): Promise<[number, unknown]> => {
    const answer = await send(path, init)
    return [answer.status, await answer.json()]
  }
  const post = (body: unknown, path = '/'): Promise<[number, unknown]> =>
    json(path, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })
  return { sandbox, send, json, post }
}

describe('the path form', () => {
  test.each([
    ['/set/k/v/EX/100', { result: 'OK' }],
    ['/set/k/v?EX=60', { result: 'OK' }],
    ['/set/k/v?NX&EX=60', { result: 'OK' }],
    ['/set/k/v?NX=&EX=60', { result: 'OK' }],
    ['/SeT/k/v/eX/100', { result: 'OK' }],
    ['/ping/', { result: 'PONG' }],
    ['/echo/a%2Fb', { result: 'a/b' }],
    ['/echo/a%25b', { result: 'a%b' }],
    ['/echo/a+b', { result: 'a+b' }],
    ['/echo/', 'arity'],
    ['/set/k/', { result: 'OK' }],
    ['/mget/a//b', { result: [null, null, null] }],
    ['/lpush/l?x=y&x=z', { result: 4 }],
    ['/echo?a+b', { result: 'a b' }],
    ['/echo?a%2Bb', { result: 'a+b' }],
  ])('%s', async (path, expected) => {
    const { json } = wire()
    expect(await json(path)).toEqual(
      expected === 'arity' ? [400, { error: "ERR wrong number of arguments for 'echo' command" }] : [200, expected],
    )
  })

  test('rejects unknown options, bad escapes, an empty command and PIPELINE', async () => {
    const { json } = wire()
    expect(await json('/set/k/v?NX=true&EX=60')).toEqual([400, { error: 'ERR syntax error' }])
    expect(await json('/get/%zz')).toEqual([400, { error: 'ERR invalid URL escape' }])
    expect(await json('/')).toEqual([400, { error: 'ERR empty command' }])
    expect(await json('/PIPELINE')).toEqual([
      400,
      { error: expect.stringMatching(/^ERR Command is not available: 'PIPELINE'\. See https:\/\//) },
    ])
  })

  test('appends a body as the last path argument, before the query, byte for byte', async () => {
    const { sandbox, json, send } = wire()
    expect(await json('/set/k?EX=100', { method: 'POST', body: '["not","parsed"]' })).toEqual([200, { result: 'OK' }])
    expect(await json('/get/k')).toEqual([200, { result: '["not","parsed"]' }])
    expect(await json('/ttl/k')).toEqual([200, { result: 100 }])
    const bytes = new Uint8Array([0, 255, 128, 10, 13, 34])
    expect(await json('/set/bin', { method: 'PUT', body: bytes })).toEqual([200, { result: 'OK' }])
    expect(await json('/strlen/bin')).toEqual([200, { result: 6 }])
    expect(await json('/get/bin', { headers: { 'Upstash-Encoding': 'base64' } })).toEqual([
      200,
      { result: Buffer.from(bytes).toString('base64') },
    ])
    expect(await json('/get/bin')).toEqual([200, { result: '\u0000\ufffd\ufffd\n\r"' }])
    const raw = new Uint8Array(
      await (await send('/get/bin', { headers: { 'Upstash-Response-Format': 'resp2' } })).arrayBuffer(),
    )
    expect([...raw]).toEqual([36, 54, 13, 10, ...bytes, 13, 10])
    // These bytes in the path are not UTF-8.
    expect(await json('/set/%ff/x')).toEqual([200, { result: 'OK' }])
    expect(await json('/keys/%ff', { headers: { 'Upstash-Encoding': 'base64' } })).toEqual([200, { result: ['/w=='] }])
    expect(await json('/get/k', { method: 'POST', body: '' })).toEqual([200, { result: '["not","parsed"]' }])
    expect(sandbox.store.run('EXISTS', 'bin')).toBe(1)
  })
})

describe('methods', () => {
  test('run a command for HEAD, without a body in the response', async () => {
    const { sandbox, send } = wire()
    const answer = await send('/incr/n', { method: 'HEAD' })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    expect(sandbox.store.get('n')).toBe('1')
    expect((await send('/', { method: 'HEAD' })).status).toBe(400)
  })

  test('respond to the preflight OPTIONS without a token', async () => {
    const { send } = wire()
    const answer = await send('/', { method: 'OPTIONS', token: null, headers: { origin: 'https://app.test' } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.test')
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true')
    expect(answer.headers.get('access-control-allow-methods')?.split(', ').sort()).toEqual([
      'GET',
      'HEAD',
      'POST',
      'PUT',
    ])
    const get = await send('/ping', { headers: { origin: 'https://app.test' } })
    expect(get.headers.get('access-control-allow-origin')).toBe('https://app.test')
  })

  test.each(['DELETE', 'PATCH', 'FOO'])('reject %s as 405 with an empty body, even without a token', async (method) => {
    const { send } = wire()
    const answer = await send('/get/k', { method, token: null })
    expect([answer.status, await answer.text()]).toEqual([405, ''])
  })
})

describe('tokens', () => {
  test('are required: a wrong or missing one gets a 401 with a JSON body, even for resp2', async () => {
    const { json, sandbox } = wire()
    const refusal = [401, { error: expect.stringMatching(/^WRONGPASS invalid or missing auth token\. See https:\/\//) }]
    expect(await json('/ping', { token: null })).toEqual(refusal)
    expect(await json('/ping', { token: 'undefined' })).toEqual(refusal)
    expect(await json('/ping', { token: '__proto__' })).toEqual(refusal)
    expect(await json('/ping', { token: 'x', headers: { 'Upstash-Response-Format': 'resp2' } })).toEqual(refusal)
    expect(await json('/ping?_token=wrong')).toEqual(refusal)
    const token = encodeURIComponent(sandbox.tokens.store)
    expect(await json(`/echo/x?_token=${token}`, { token: 'wrong' })).toEqual([200, { result: 'x' }])
    expect(await json('/ping', { token: null, headers: { authorization: sandbox.tokens.store } })).toEqual([
      200,
      { result: 'PONG' },
    ])
    expect(await json('/ping', { token: null, headers: { authorization: `bEaReR ${sandbox.tokens.store}` } })).toEqual([
      200,
      { result: 'PONG' },
    ])
  })

  test('permit only reads when they are read-only: no writes, SCAN, KEYS, scripts or admin commands', async () => {
    const { json, sandbox, send } = wire()
    const token = sandbox.tokens.storeReadonly
    for (const path of ['/get/k', '/ping', '/echo/x', '/hgetall/h', '/zrange/z/0/-1']) {
      expect((await send(path, { token })).status).toBe(200)
    }
    for (const path of [
      '/set/k/v',
      '/del/k',
      '/scan/0',
      '/keys/*',
      '/flushall',
      '/config/get/x',
      '/publish/c/m',
      '/acl/whoami',
    ]) {
      const [status, body] = await json(path, { token })
      expect([path, status]).toEqual([path, 400])
      expect((body as { error: string }).error).toMatch(
        /^NOPERM this user has no permissions to run the '[a-z|]+' command or its subcommand$/,
      )
    }
    expect(await json('/pipeline', { method: 'POST', token, body: '[["get","k"],["set","k","v"]]' })).toEqual([
      200,
      [{ result: null }, { error: "NOPERM this user has no permissions to run the 'set' command or its subcommand" }],
    ])
    expect((await send('/multi-exec', { method: 'POST', token, body: '[["get","k"],["set","k","v"]]' })).status).toBe(
      400,
    )
  })
})

describe('JSON bodies', () => {
  test('keep the spelling of numbers and convert booleans to text', async () => {
    const { sandbox, send } = wire()
    const body = '["rpush","l",100,1.50,1e3,12345678901234567890,-0,true,false,"ü"]'
    expect((await send('/', { method: 'POST', body })).status).toBe(200)
    expect(sandbox.store.run('LRANGE', 'l', '0', '-1')).toEqual([
      '100',
      '1.50',
      '1e3',
      '12345678901234567890',
      '-0',
      'true',
      'false',
      'ü',
    ])
  })

  test.each([
    ['', 'EOF'],
    ['{}', 'expected JSON array'],
    ['"x"', 'expected JSON array'],
    ['1', 'expected JSON array'],
    ['[]', 'ERR empty command'],
    ['[1,', 'ERR invalid JSON'],
    ['["set","k",null]', 'ERR null args are not supported'],
    ['["set","k",["v"]]', 'ERR unsupported arg type: "[": json.Delim'],
    ['["set","k",{"a":1}]', 'ERR unsupported arg type: "{": json.Delim'],
    ['[["set","k","v"]]', 'ERR unsupported arg type: "[": json.Delim'],
  ])('reject %s as 400 %s', async (body, error) => {
    const { post } = wire()
    expect(await post(body)).toEqual([400, { error }])
  })

  test('name the command in the error for [""]', async () => {
    const { post } = wire()
    expect(await post('[""]')).toEqual([400, { error: expect.stringContaining("ERR Command is not available: ''") }])
  })

  test.each([
    'AUTH',
    'MULTI',
    'EXEC',
    'DISCARD',
    'WATCH',
    'UNWATCH',
    'HELLO',
    'RESET',
    'SUBSCRIBE',
    'PSUBSCRIBE',
    'CLIENT',
    'MONITOR',
  ])('reject %s, which needs a connection', async (name) => {
    const { post } = wire()
    expect(await post([name.toLowerCase(), 'x'])).toEqual([
      400,
      { error: `ERR Command "${name}" is not allowed in REST or it has a special context path` },
    ])
  })

  test.each(['BLPOP', 'MIGRATE', 'SHUTDOWN', 'CLUSTER', 'DEBUG', 'REPLICAOF', '__PROTO__', 'CONSTRUCTOR'])(
    'reject %s as not available',
    async (name) => {
      const { post } = wire()
      expect(await post([name.toLowerCase(), 'x', 'y'])).toEqual([
        400,
        { error: expect.stringMatching(new RegExp(`^ERR Command is not available: '${name}[^']*'\\. See https://`)) },
      ])
    },
  )
})

describe('pipelines and transactions', () => {
  const sample = [
    ['SET', 'key1', 'valuex'],
    ['SETEX', 'key2', 13, 'valuez'],
    ['INCR', 'key1'],
    ['ZADD', 'myset', 11, 'item1', 22, 'item2'],
  ]

  test.each(['/pipeline', '/multi-exec'])('return the sample of the documentation on %s', async (path) => {
    const { post } = wire()
    expect(await post(sample, path)).toEqual([
      200,
      [{ result: 'OK' }, { result: 'OK' }, { error: 'ERR value is not an int or out of range' }, { result: 2 }],
    ])
  })

  test('return a wrong command as an item of a pipeline, and discard a transaction', async () => {
    const { post, sandbox } = wire()
    const rows = [['set', 'k', 'v'], ['nosuch'], ['get', 'k']]
    expect(await post(rows, '/pipeline')).toEqual([
      200,
      [{ result: 'OK' }, { error: expect.stringContaining("'NOSUCH'") }, { result: 'v' }],
    ])
    sandbox.store.run('DEL', 'k')
    const [status, body] = await post(rows, '/multi-exec')
    expect(status).toBe(400)
    expect(body).toEqual({ error: expect.stringMatching(/^ERR/) })
    expect(sandbox.store.get('k')).toBeNull()
    expect((await post([['set', 'k', 'v'], ['get']], '/multi-exec'))[0]).toBe(400)
    expect((await post([['set', 'k', 'v'], ['exec']], '/multi-exec'))[0]).toBe(400)
    expect(sandbox.store.get('k')).toBeNull()
  })

  test.each(['/pipeline', '/multi-exec'])('fail as a whole for malformed rows of %s', async (path) => {
    const { post, sandbox } = wire()
    for (const body of [
      '[]',
      '',
      '{}',
      '[["set","k","v"],["set","k",null]]',
      '[["set","k","v"],"x"]',
      '[["set","k","v"],["a",{}]]',
      '[["set","k","v"],[]]',
      '[[',
    ]) {
      const [status, answer] = await post(body, path)
      expect([body, status]).toEqual([body, 400])
      expect(answer).toEqual({ error: expect.any(String) })
    }
    expect(sandbox.store.get('k')).toBeNull()
  })

  test('encode everything in base64 but the status OK of an item', async () => {
    const { sandbox, send } = wire()
    sandbox.store.run('SET', 's', 'OK')
    sandbox.store.run('RPUSH', 'l', 'OK', 'x')
    const rows = [
      ['set', 'a', 'b'],
      ['get', 's'],
      ['lrange', 'l', 0, -1],
      ['ping'],
      ['type', 'l'],
      ['get', 'none'],
      ['incr', 's'],
    ]
    const answer = await send('/pipeline', {
      method: 'POST',
      body: JSON.stringify(rows),
      headers: { 'Upstash-Encoding': 'base64' },
    })
    expect(await answer.json()).toEqual([
      { result: 'OK' },
      { result: 'T0s=' },
      { result: ['T0s=', 'eA=='] },
      { result: 'UE9ORw==' },
      { result: 'bGlzdA==' },
      { result: null },
      { error: 'ERR value is not an int or out of range' },
    ])
  })
})

describe('resp2', () => {
  const format = { 'Upstash-Response-Format': 'resp2' }
  test.each([
    [['set', 'k', 'v'], '+OK\r\n'],
    [['ping'], '+PONG\r\n'],
    [['incr', 'n'], ':1\r\n'],
    [['get', 'none'], '$-1\r\n'],
    [['mget', 'none', 'none'], '*2\r\n$-1\r\n$-1\r\n'],
    [['echo', 'ü'], '$2\r\nü\r\n'],
    [['lmpop', 1, 'none', 'left'], '*-1\r\n'],
    [['xread', 'streams', 'none', 0], '*-1\r\n'],
    [['geopos', 'none', 'm'], '*1\r\n*-1\r\n'],
    [['lrange', 'none', 0, -1], '*0\r\n'],
  ])('encodes the reply to %j', async (command, expected) => {
    const { send } = wire()
    const answer = await send('/', { method: 'POST', body: JSON.stringify(command), headers: format })
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      200,
      'application/octet-stream',
      expected,
    ])
  })

  test('encodes errors and pipelines, and rejects unknown formats and combinations', async () => {
    const { send, json } = wire()
    const failed = await send('/get', { headers: format })
    expect([failed.status, await failed.text()]).toEqual([400, "-ERR wrong number of arguments for 'get' command\r\n"])
    const rows = JSON.stringify([['set', 'k', 'v'], ['get'], ['get', 'k']])
    const piped = await send('/pipeline', { method: 'POST', body: rows, headers: format })
    expect(await piped.text()).toBe("+OK\r\n-ERR wrong number of arguments for 'get' command\r\n$1\r\nv\r\n")
    const tx = await send('/multi-exec', { method: 'POST', body: '[["get","k"]]', headers: format })
    expect(await tx.json()).toEqual([{ result: 'v' }])
    expect(await json('/ping', { headers: { 'Upstash-Response-Format': 'resp3' } })).toEqual([
      400,
      { error: 'ERR invalid response format' },
    ])
    expect(await json('/ping', { headers: { ...format, 'Upstash-Encoding': 'base64' } })).toEqual([
      400,
      { error: 'ERR base64 encoding is not allowed with resp2 format' },
    ])
    expect(await json('/ping', { headers: { 'Upstash-Encoding': 'rot13' } })).toEqual([200, { result: 'PONG' }])
  })
})

describe('sync tokens', () => {
  test('change with every write and stay with every read; an empty one is accepted', async () => {
    const { send } = wire()
    const token = async (path: string): Promise<string | null> =>
      (await send(path, { headers: { 'upstash-sync-token': '' } })).headers.get('upstash-sync-token')
    const first = await token('/set/k/v')
    const second = await token('/set/k/v')
    expect(first).not.toBeNull()
    expect(second).not.toBe(first)
    expect(await token('/get/k')).toBe(second)
    expect(await token('/del/none')).not.toBeNull()
  })
})

describe('limits', () => {
  test('reject an oversized command with 413, or as an item of a pipeline', async () => {
    const { sandbox } = open({ policy: { maxRequestSize: 100 } })
    const send = (path: string, body: unknown): Promise<Response> =>
      sandbox.fetch(`${sandbox.urls.store}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sandbox.tokens.store}` },
        body: JSON.stringify(body),
      })
    const big = 'x'.repeat(200)
    const alone = await send('/', ['set', 'k', big])
    expect(alone.status).toBe(413)
    expect(((await alone.json()) as { error: string }).error).toMatch(
      /^ERR max request size exceeded\. Limit: 100 bytes, Actual: \d+ bytes\. See https:\/\//,
    )
    const piped = await send('/pipeline', [['set', 'k', big], ['ping']])
    expect(piped.status).toBe(200)
    expect(await piped.json()).toEqual([
      { error: expect.stringMatching(/^ERR max request size exceeded/) },
      { result: 'PONG' },
    ])
  })

  test('reject requests beyond the daily limit', async () => {
    const { redis, clock } = open({ policy: { dailyRequestLimit: 2 } })
    await redis.set('a', 1)
    await redis.get('a')
    await expect(redis.get('a')).rejects.toThrow('ERR max daily request limit exceeded. Limit: 2, Usage: 3.')
    await clock.advance('1d')
    expect(await redis.get('a')).toBe(1)
  })
})
