import { request } from 'node:http'
import { connect as dial } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type LoggedRequest, type RunningServer, type ServerOptions, startServer } from '../../src/server/server.js'

const running: RunningServer[] = []
const start = async (options: ServerOptions = {}): Promise<RunningServer> => {
  const server = await startServer({ port: 0, clock: 'manual', report: () => {}, ...options })
  running.push(server)
  return server
}
afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
})

interface Told {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

/** A request with headers that `fetch` keeps for browsers. */
const ask = (url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Told> =>
  new Promise((resolve, reject) => {
    request(url, { method, headers }, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (chunk) => {
        body += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, body }))
    })
      .on('error', reject)
      .end()
  })

const browser = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
}

describe('the page at the root', () => {
  test('is for browsers; others get the sentence', async () => {
    const { origin } = await start()
    const page = await ask(`${origin}/`, browser)
    expect(page.status).toBe(200)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.body).toMatch(/^<!doctype html>/i)
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const answer = await ask(`${origin}/`, headers)
      expect(answer.status).toBe(404)
      expect(JSON.parse(answer.body)).toEqual({ error: expect.stringContaining('There is nothing at /.') })
    }
  })

  test('is at /_inspector for everybody, and its editor beside it', async () => {
    const { origin } = await start()
    const root = await ask(`${origin}/`, browser)
    for (const path of ['/_inspector', '/_inspector/', '/_inspector?x=1']) {
      expect((await ask(`${origin}${path}`)).body).toBe(root.body)
    }
    const editor = await ask(`${origin}/_inspector/editor.js`)
    expect([editor.status, editor.headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8'])
    expect(editor.headers['x-content-type-options']).toBe('nosniff')
    expect((await ask(`${origin}/_inspector/other.js`)).status).toBe(404)
    expect((await ask(`${origin}/_inspectors`)).status).toBe(404)
  })

  test('has a policy that allows its own script and style, and nothing else', async () => {
    const { origin } = await start()
    const { headers } = await ask(`${origin}/`, browser)
    const policy = String(headers['content-security-policy'])
    const directives = Object.fromEntries(
      policy.split('; ').map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1).join(' ')]),
    )
    expect(directives).toEqual({
      'default-src': "'none'",
      'script-src': expect.stringMatching(/^'sha256-[\w+/]{43}=' 'strict-dynamic'$/),
      'style-src': expect.stringMatching(/^'sha256-[\w+/]{43}='$/),
      'connect-src': "'self'",
      'img-src': 'data:',
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
    })
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    })
    for (const name of ['set-cookie', 'access-control-allow-origin']) expect(headers).not.toHaveProperty(name)
  })

  test('holds no secret, and is given where other machines can call', async () => {
    const server = await start({ host: '0.0.0.0', secret: 'a secret of the server, 32 bytes' })
    const { body, status } = await ask(`${server.origin}/`, browser)
    expect(status).toBe(200)
    const { tokens } = server.tenant('main')
    for (const secret of [server.controlToken!, server.secret!, ...Object.values(tokens)]) {
      expect(body).not.toContain(secret)
    }
    expect(server.tenants).toEqual(['main'])
  })

  test('answers HEAD with the same headers, and other methods as before', async () => {
    const { origin } = await start()
    const { status, headers, body } = await ask(`${origin}/`, browser, 'HEAD')
    expect([status, body]).toEqual([200, ''])
    expect(headers['content-security-policy']).toBeDefined()
    expect((await ask(`${origin}/`, browser, 'POST')).status).toBe(404)
  })
})

describe('the link', () => {
  test('has the token in its fragment where there is one', async () => {
    const free = await start()
    expect(free.inspector).toBe(`${free.origin}/`)
    const kept = await start({ controlToken: 'a token/of +ours' })
    const { hash, search, pathname } = new URL(kept.inspector)
    expect([pathname, search]).toEqual(['/', ''])
    expect(new URLSearchParams(hash.slice(1)).get('token')).toBe('a token/of +ours')
  })
})

describe('who is kept out', () => {
  const token = 'a-token-that-nobody-guesses'

  test.each([
    ['a page of the public web', { origin: 'https://evil.example' }],
    ['a page of the app under test, at another port', { origin: 'http://127.0.0.1:3000' }],
    ['a page without an origin, such as a sandboxed frame', { origin: 'null' }],
    ['a page whose name was rebound to this machine', { host: 'evil.example' }],
    ['the same, asking for its own page', { host: 'evil.example:4010', origin: 'http://evil.example:4010' }],
  ])('%s gets neither the page nor an order', async (_, headers) => {
    const { origin } = await start()
    for (const path of ['/', '/?x', '/_inspector', '/_inspector/editor.js', '/_control/main/inspector']) {
      const answer = await ask(`${origin}${path}`, { ...browser, ...headers } as Record<string, string>)
      expect([path, answer.status]).toEqual([path, 403])
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
    }
  })

  test('a page of the server itself may call, as before', async () => {
    const { origin } = await start()
    const answer = await ask(`${origin}/_control/main/inspector`, { origin })
    expect(answer.status).toBe(200)
  })

  test('the token counts as a header only: not as a cookie, not in the address', async () => {
    const { origin, inspector } = await start({ controlToken: token })
    expect(inspector).toBe(`${origin}/#token=${token}`)
    const wrong: [string, Record<string, string>][] = [
      ['', {}],
      ['', { cookie: `token=${token}; authorization=Bearer ${token}` }],
      ['', { authorization: token }],
      ['', { authorization: `Basic ${btoa(`:${token}`)}` }],
      [`?token=${token}`, {}],
      [`?authorization=Bearer%20${token}`, {}],
      [`?access_token=${token}`, {}],
    ]
    for (const [query, headers] of wrong) {
      expect((await ask(`${origin}/_control/main/inspector${query}`, headers)).status).toBe(401)
    }
    const good = await ask(`${origin}/_control/main/inspector`, { authorization: `Bearer ${token}`, origin })
    expect(good.status).toBe(200)
  })

  test('no answer sets a cookie', async () => {
    const server = await start({ controlToken: token })
    const { tokens } = server.tenant('main')
    const paths: [string, string][] = [
      ['/', token],
      ['/_health', token],
      ['/_control', token],
      ['/_control/main', token],
      ['/_control/main/inspector', token],
      ['/_control/main/traffic/html', token],
      ['/main/store/ping', tokens.store],
      ['/main/queue/v2/events', tokens.queue],
    ]
    for (const [path, bearer] of paths) {
      const { headers } = await ask(server.origin + path, { ...browser, authorization: `Bearer ${bearer}` })
      expect([path, headers['set-cookie']]).toEqual([path, undefined])
    }
  })

  test('a token that somebody puts into an address is in no log', async () => {
    const logged: LoggedRequest[] = []
    const { origin } = await start({ controlToken: token, log: (one) => logged.push(one) })
    for (const path of [`/?token=${token}`, `/_inspector?token=${token}`, `/_control/main?control-token=${token}`]) {
      await ask(origin + path, browser)
    }
    await expect.poll(() => logged.length).toBe(3)
    expect(JSON.stringify(logged)).not.toContain(token)
  })

  test('a client that sends the fragment as part of its target gets no further', async () => {
    const { origin, port } = await start({ controlToken: token })
    const told = await new Promise<string>((resolve) => {
      const socket = dial(port, '127.0.0.1', () => {
        socket.end(`GET /_control/main#token=${token} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`)
      })
      let all = ''
      socket.setEncoding('utf8').on('data', (text) => {
        all += text
      })
      socket.on('close', () => resolve(all))
    })
    expect(told).toMatch(/^HTTP\/1\.1 401 /)
    expect(origin).toContain(String(port))
  })
})

describe('what the page asks for', () => {
  test('facts of a world that runs', async () => {
    const server = await start({ startAt: '2030-01-01T09:00:00Z', seed: 7 })
    const { addresses } = server.tenant('w1')
    const { body } = await ask(`${server.origin}/_control/w1/inspector`)
    expect(JSON.parse(body)).toMatchObject({
      name: 'w1',
      now: Date.parse('2030-01-01T09:00:00Z'),
      mode: 'manual',
      seed: 7,
      addresses: { store: addresses.store },
      canGoOn: false,
    })
    expect(JSON.parse(body)).not.toHaveProperty('failure')
  })

  test('nothing goes on where nothing waits', async () => {
    const { origin } = await start()
    const answer = await ask(`${origin}/_control/main/go-on`, {}, 'POST')
    expect(answer.status).toBe(404)
    expect(JSON.parse(answer.body).error).toMatch(/^No test waits here\..*STUNTDOUBLE_INSPECT=1/)
  })
})
