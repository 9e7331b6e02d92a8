import { beforeEach, describe, expect, it } from 'vitest'
import { Rest } from '../support/ask.js'

// Forms of a request. Expectations: store.md 1.

let rest: Rest
beforeEach(() => {
  rest = Rest.open()
})

const error = (text: string) => ({ error: text })
const unavailable = (name: string) =>
  error(
    `ERR Command is not available: '${name}'. See https://docs.service.test/redis/overall/rediscompatibility for details`,
  )

describe('path form', () => {
  it.each([
    ['/set/foo/bar', ['SET', 'foo', 'bar']],
    ['/SET/foo/bar/EX/100', ['SET', 'foo', 'bar']],
    ['/set/foo/bar?EX=60', ['SET', 'foo', 'bar']],
  ])('sets foo to bar with GET %s', async (path) => {
    const answer = await rest.get(path)
    expect(answer).toMatchObject({ status: 200, json: { result: 'OK' } })
    expect(await rest.run('GET', 'foo')).toBe('bar')
  })

  it.each([
    ['a slash', '/set/k/a%2Fb', 'a/b'],
    ['a percent sign, decoded once', '/set/k/100%25', '100%'],
    ['an escape of an escape', '/set/k/%2541', '%41'],
    ['a plus stays a plus', '/set/k/a+b', 'a+b'],
    ['a space', '/set/k/a%20b', 'a b'],
    ['UTF-8', '/set/k/%E2%98%83', '☃'],
    ['text that was not encoded', '/set/k/☃', '☃'],
    ['an empty last segment', '/set/k/', ''],
    ['a question mark', '/set/k/what%3F', 'what?'],
    ['a hash', '/set/k/%23', '#'],
    ['lower-case hexadecimal digits', '/set/k/%e2%98%83', '☃'],
  ])('runs %s', async (_, path, value) => {
    expect((await rest.get(path)).json).toEqual({ result: 'OK' })
    expect(await rest.run('GET', 'k')).toBe(value)
  })

  it('keeps bytes that are not UTF-8', async () => {
    await rest.get('/set/k/%ff%00%80')
    const answer = await rest.get('/get/k', { headers: { 'service-encoding': 'base64' } })
    expect(answer.json).toEqual({ result: '/wCA' })
  })

  it.each(['/set/k/%zz', '/set/k/%', '/set/k/%2', '/get/%GG', '/get/k?%z=1'])(
    'rejects the escape in %s',
    async (path) => {
      expect(await rest.get(path)).toMatchObject({ status: 400, json: error('ERR invalid URL escape') })
    },
  )

  it('reads empty inner segments as empty arguments', async () => {
    await rest.get('/set//v')
    expect(await rest.run('GET', '')).toBe('v')
    expect((await rest.get('/get/')).json).toEqual(error("ERR wrong number of arguments for 'get' command"))
    expect((await rest.get('/mget//k/')).json).toEqual({ result: ['v', null, 'v'] })
  })

  it('drops one slash after the command name', async () => {
    expect((await rest.get('/ping/')).json).toEqual({ result: 'PONG' })
    expect((await rest.get('/dbsize/')).json).toEqual({ result: 0 })
  })

  it('accepts command names in any case', async () => {
    expect((await rest.get('/pInG')).json).toEqual({ result: 'PONG' })
    expect((await rest.get('/set/k/v/nX/eX/10')).json).toEqual({ result: 'OK' })
  })

  it('matches endpoint names exactly: others are commands', async () => {
    expect((await rest.post('/PIPELINE', [['PING']])).json).toEqual(unavailable('PIPELINE'))
    expect((await rest.post('/pipeline/', [['PING']])).json).toEqual(unavailable('PIPELINE'))
    expect((await rest.post('/Multi-Exec', [['PING']])).json).toEqual(unavailable('MULTI-EXEC'))
    expect((await rest.post('/pipeline/x', [['PING']])).json).toEqual(unavailable('PIPELINE'))
  })

  it.each(['GET', 'HEAD'])('finds no command in %s /', async (method) => {
    const answer = await rest.ask(method, '/')
    expect(answer.status).toBe(400)
    if (method === 'GET') expect(answer.json).toEqual(error('ERR empty command'))
    else expect(answer.body).toBeNull()
  })
})

describe('body in path form', () => {
  it.each(['POST', 'PUT'])('is the last argument of a %s, without parsing', async (method) => {
    const body = '{"a": [1, 2]}'
    expect(
      (await rest.ask(method, '/set/foo', { body, headers: { 'content-type': 'application/json' } })).json,
    ).toEqual({
      result: 'OK',
    })
    expect(await rest.run('GET', 'foo')).toBe(body)
  })

  it('precedes query arguments', async () => {
    expect((await rest.post('/set/foo?EX=100', 'V')).json).toEqual({ result: 'OK' })
    expect(await rest.run('GET', 'foo')).toBe('V')
    expect(await rest.run('TTL', 'foo')).toBe(100)
  })

  it('may contain any bytes', async () => {
    await rest.post('/set/foo', new Uint8Array([0, 255, 13, 10]))
    expect(await rest.run('STRLEN', 'foo')).toBe(4)
  })

  it('adds nothing when it is empty', async () => {
    await rest.run('SET', 'foo', 'v')
    expect((await rest.post('/get/foo', '')).json).toEqual({ result: 'v' })
  })
})

describe('query', () => {
  it.each([
    ['/set/k/v?EX=60&NX', 60],
    ['/set/k/v?NX&EX=60', 60],
    ['/set/k/v?NX=&EX=60', 60],
    ['/set/k/v?&&EX=60&', 60],
    ['/set/k/v?ex=60', 60],
    ['/set/k?v&EX=60', 60],
    ['/set?k=v', -1],
  ])('is read as arguments: %s', async (path, ttl) => {
    expect((await rest.get(path)).json).toEqual({ result: 'OK' })
    expect(await rest.run('GET', 'k')).toBe('v')
    expect(await rest.run('TTL', 'k')).toBe(ttl)
  })

  it('passes unknown values on', async () => {
    expect(await rest.get('/set/k/v?NX=true&EX=60')).toMatchObject({ status: 400, json: error('ERR syntax error') })
  })

  it('keeps order, repetitions and case', async () => {
    await rest.get('/rpush/l?B=1&a=2&B=1&A=1&c')
    expect(await rest.run('LRANGE', 'l', 0, -1)).toEqual(['B', '1', 'a', '2', 'B', '1', 'A', '1', 'c'])
  })

  it('is form-encoded', async () => {
    await rest.get('/rpush/l?a+b=c%2Bd&e%3Df=%26&x=1=2')
    expect(await rest.run('LRANGE', 'l', 0, -1)).toEqual(['a b', 'c+d', 'e=f', '&', 'x', '1=2'])
  })

  it('never passes the token as an argument', async () => {
    const token = rest.sandbox.tokens.store
    expect((await rest.get(`/ping?_token=${token}`, { token: null })).json).toEqual({ result: 'PONG' })
    expect((await rest.get(`/rpush/l?a=1&_token=${token}&b=2`, { token: null })).json).toEqual({ result: 4 })
    expect((await rest.post(`/?_token=${token}`, ['PING'], { token: null })).json).toEqual({ result: 'PONG' })
    expect((await rest.post(`/pipeline?_token=${token}`, [['PING']], { token: null })).json).toEqual([
      { result: 'PONG' },
    ])
  })
})

describe('JSON bodies', () => {
  it.each([
    ['["ECHO", "text"]', 'text'],
    ['["ECHO", 100]', '100'],
    ['["ECHO", 1.50]', '1.50'],
    ['["ECHO", 1e3]', '1e3'],
    ['["ECHO", -0]', '-0'],
    ['["ECHO", 12345678901234567890]', '12345678901234567890'],
    ['["ECHO", 0.1000]', '0.1000'],
    ['["ECHO", 1E+2]', '1E+2'],
    ['["ECHO", true]', 'true'],
    ['["ECHO", false]', 'false'],
    ['["ECHO", ""]', ''],
    ['["ECHO", "\\u2603"]', '☃'],
    ['["ECHO", "\\ud83d\\ude00"]', '😀'],
    ['["ECHO", "😀"]', '😀'],
    ['["ECHO", "\\"\\\\\\/\\b\\f\\n\\r\\t"]', '"\\/\b\f\n\r\t'],
    ['["ECHO", "\\u0000"]', '\0'],
    [' \n\t[ "ECHO" ,\r\n "x" ] ', 'x'],
    ['["echo", "{\\"a\\":null}"]', '{"a":null}'],
  ])('run %s', async (body, echo) => {
    expect(await rest.post('/', body)).toMatchObject({ status: 200, json: { result: echo } })
  })

  const wrong: [body: string, text: string][] = [
    ['["SET","k",null]', 'ERR null args are not supported'],
    ['[null]', 'ERR null args are not supported'],
    ['[["SET","k","v"]]', 'ERR unsupported arg type: "[": json.Delim'],
    ['["SET","k",[]]', 'ERR unsupported arg type: "[": json.Delim'],
    ['["SET","k",{"a":1}]', 'ERR unsupported arg type: "{": json.Delim'],
    ['', 'EOF'],
    ['{}', 'expected JSON array'],
    ['{"command":"PING"}', 'expected JSON array'],
    ['"x"', 'expected JSON array'],
    ['1', 'expected JSON array'],
    ['true', 'expected JSON array'],
    ['null', 'expected JSON array'],
    ['[]', 'ERR empty command'],
    ['[1,', 'ERR invalid JSON'],
    ['[', 'ERR invalid JSON'],
    ['["PING"', 'ERR invalid JSON'],
    ['["PING",]', 'ERR invalid JSON'],
    ['[,"PING"]', 'ERR invalid JSON'],
    ['["PING" "x"]', 'ERR invalid JSON'],
    ['["PING\n"]', 'ERR invalid JSON'],
    ['["\\x"]', 'ERR invalid JSON'],
    ['["\\u12"]', 'ERR invalid JSON'],
    ['[nul]', 'ERR invalid JSON'],
    ['[01]', 'ERR invalid JSON'],
    ['[+1]', 'ERR invalid JSON'],
    ["['PING']", 'ERR invalid JSON'],
    ['PING', 'ERR invalid JSON'],
    // store.md, last section: bytes after the array.
    ['["ECHO","x"] and more', 'ERR invalid JSON'],
    ['["ECHO","x"]]', 'ERR invalid JSON'],
    ['["ECHO","x"]["ECHO","y"]', 'ERR invalid JSON'],
    ['["ECHO","x"],', 'ERR invalid JSON'],
  ]
  it.each(wrong)('rejects %s', async (body, text) => {
    expect(await rest.post('/', body)).toMatchObject({ status: 400, json: error(text) })
  })

  // store.md 10: a single command may have 10 MB with any content.
  it.each([
    ['quotes', '"'.repeat(2_000_000)],
    ['line ends', 'line\n'.repeat(1_000_000)],
    ['plain text', 'x'.repeat(5_000_000)],
  ])('accepts millions of %s in one argument', async (_, word) => {
    expect(await rest.run('ECHO', word)).toBe(word)
  })

  it('accepts a million escaped code units in one argument, in pairs and alone', async () => {
    const body = `["ECHO","${'\\uD83D\\uDE00\\u00e9\\ud800'.repeat(250_000)}"]`
    expect((await rest.post('/', body)).json).toEqual({ result: '😀é\ufffd'.repeat(250_000) })
  })

  it('rejects an empty command name', async () => {
    expect(await rest.post('/', [''])).toMatchObject({ status: 400, json: unavailable('') })
  })

  it.each(['/pipeline', '/multi-exec'])('runs no row of %s when one is malformed', async (path) => {
    for (const body of ['[["SET","k","v"],["SET","l",null]]', '[["SET","k","v"]]]', '[["SET","k","v"]] x'])
      expect(await rest.post(path, body)).toMatchObject({ status: 400 })
    expect(await rest.run('EXISTS', 'k')).toBe(0)
  })

  it.each(['/pipeline', '/multi-exec'])('%s requires an array of arrays', async (path) => {
    const texts: [unknown, string][] = [
      ['', 'EOF'],
      ['{}', 'expected JSON array'],
      ['"PING"', 'expected JSON array'],
      ['[]', 'ERR empty command'],
      ['["PING"]', 'expected JSON array'],
      ['[{}]', 'expected JSON array'],
      ['[1]', 'expected JSON array'],
      ['[[]]', 'ERR empty command'],
      ['[["PING"],[]]', 'ERR empty command'],
      ['[["PING"]', 'ERR invalid JSON'],
      ['[["PING"],', 'ERR invalid JSON'],
      ['[["PING"] ["PING"]]', 'ERR invalid JSON'],
      ['[["SET","k",null]]', 'ERR null args are not supported'],
      ['[["SET","k",[1]]]', 'ERR unsupported arg type: "[": json.Delim'],
      ['[["SET","k",{}]]', 'ERR unsupported arg type: "{": json.Delim'],
    ]
    for (const [body, text] of texts) {
      expect(await rest.post(path, body), String(body)).toMatchObject({ status: 400, json: error(text) })
    }
    expect((await rest.get(path)).json).toEqual(error('EOF'))
  })
})

describe('methods', () => {
  it.each(['GET', 'HEAD', 'POST', 'PUT'])('allow %s', async (method) => {
    expect((await rest.ask(method, '/ping')).status).toBe(200)
  })

  it('HEAD runs the command and responds like GET without a body', async () => {
    const head = await rest.ask('HEAD', '/set/k/v')
    expect(await rest.run('GET', 'k')).toBe('v')
    const get = await rest.ask('GET', '/set/k/v')
    expect(head.status).toBe(200)
    expect(head.body).toBeNull()
    expect(Object.keys(head.headers)).toEqual(Object.keys(get.headers))
    expect(await rest.ask('HEAD', '/nonsense')).toMatchObject({ status: 400, body: null })
    expect(await rest.ask('HEAD', '/ping', { token: 'wrong' })).toMatchObject({ status: 401 })
  })

  it.each(['DELETE', 'PATCH', 'TRACE', 'PROPFIND'])('%s is rejected with 405 and nothing else', async (method) => {
    for (const path of ['/', '/ping', '/pipeline', '/multi-exec']) {
      const answer = await rest.ask(method, path, { token: null })
      expect(answer).toMatchObject({ status: 405, body: null })
      expect(answer.headers).not.toHaveProperty('content-type')
    }
  })

  it('OPTIONS is a preflight, without a token', async () => {
    const headers = {
      origin: 'https://app.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,service-encoding',
    }
    for (const path of ['/', '/set/k/v', '/pipeline', '/multi-exec', '/subscribe/c']) {
      expect(await rest.ask('OPTIONS', path, { token: null, headers })).toMatchObject({
        status: 200,
        body: null,
        headers: {
          'access-control-allow-origin': 'https://app.test',
          'access-control-allow-credentials': 'true',
          'access-control-allow-methods': 'HEAD, GET, POST, PUT',
          'access-control-allow-headers': 'authorization,service-encoding',
        },
      })
    }
    expect(await rest.run('EXISTS', 'k')).toBe(0)
  })
})

describe('order of checks', () => {
  const badFormat = { 'service-response-format': 'xml' }

  it('has the method before the token', async () => {
    expect((await rest.ask('DELETE', '/ping', { token: 'wrong' })).status).toBe(405)
  })

  it('has the token before headers and body', async () => {
    expect((await rest.post('/', '[', { token: 'wrong', headers: badFormat })).status).toBe(401)
    expect((await rest.get('/set/%zz', { token: 'wrong' })).status).toBe(401)
  })

  it('has the headers before the body', async () => {
    expect((await rest.post('/', '[', { headers: badFormat })).json).toEqual(error('ERR invalid response format'))
  })

  it('has the body before permissions', async () => {
    const token = rest.sandbox.tokens.storeReadonly
    expect((await rest.post('/', '["SET","k",null]', { token })).json).toEqual(error('ERR null args are not supported'))
  })

  it('has permissions before the arguments of the command', async () => {
    const token = rest.sandbox.tokens.storeReadonly
    const answer = await rest.post('/', ['SET', 'k', 'v', 'NONSENSE'], { token })
    expect(String((answer.json as { error: string }).error)).toMatch(/^NOPERM /)
  })
})
