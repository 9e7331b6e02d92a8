import { request } from 'node:http'
import { connect as dial } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { latin1 } from '../../../src/kernel/bytes.js'
import { InspectorLinks } from '../src/inspector/inspector-links.js'
import { type RequestLogEntry, type ServerOptions, type StuntdoubleServer, startServer } from '../src/server.js'

const running: StuntdoubleServer[] = []
const start = async (options: ServerOptions = {}): Promise<StuntdoubleServer> => {
  const server = await startServer({ port: 0, clock: 'manual', onError: () => {}, ...options })
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

/** Sends a request with headers that `fetch` reserves for browsers. */
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

describe('page at the root', () => {
  test('serves the page to browsers and the hint to other clients', async () => {
    const { origin } = await start()
    const page = await ask(`${origin}/`, browser)
    expect(page.status).toBe(200)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.body).toMatch(/^<!doctype html>/i)
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const answer = await ask(`${origin}/`, headers)
      expect(answer.status).toBe(404)
      expect(JSON.parse(answer.body)).toEqual({ error: expect.stringContaining('Not found: /.') })
    }
  })

  test('serves the page and its editor at /_inspector to all clients', async () => {
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

  test('has a content security policy that allows only its own script and style', async () => {
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

  test('contains no secret, also on a server that other machines can call', async () => {
    const server = await start({ host: '0.0.0.0', secret: 'a secret of the server, 32 bytes' })
    const { body, status } = await ask(`${server.origin}/`, browser)
    expect(status).toBe(200)
    const { tokens } = server.tenant('main')
    for (const secret of [server.controlToken!, server.secret!, ...Object.values(tokens)]) {
      expect(body).not.toContain(secret)
    }
    expect(server.tenants).toEqual(['main'])
  })

  test('responds to HEAD with the same headers, and to other methods as before', async () => {
    const { origin } = await start()
    const { status, headers, body } = await ask(`${origin}/`, browser, 'HEAD')
    expect([status, body]).toEqual([200, ''])
    expect(headers['content-security-policy']).toBeDefined()
    expect((await ask(`${origin}/`, browser, 'DELETE')).status).toBe(404)
    // The store of main is at the root, too.
    expect((await ask(`${origin}/`, browser, 'POST')).status).toBe(401)
  })
})

describe('link to the inspector', () => {
  const token = 'a token/of +ours'
  const codeIn = (link: string): string => new URLSearchParams(new URL(link).hash.slice(1)).get('code')!
  const exchange = (origin: string, code: string, headers: Record<string, string> = {}): Promise<Told> =>
    ask(`${origin}/_inspector/token`, { authorization: `Bearer ${code}`, ...headers }, 'POST')

  test('has a new code in its fragment each time if there is a token', async () => {
    const free = await start()
    expect(free.inspectorUrl).toBe(`${free.origin}/`)
    const kept = await start({ controlToken: token })
    const { hash, search, pathname } = new URL(kept.inspectorUrl)
    expect([pathname, search]).toEqual(['/', ''])
    expect(hash).toMatch(/^#code=[\w-]{32}$/)
    expect(decodeURIComponent(hash)).not.toContain(token)
    expect(new URL(kept.inspectorUrl).hash).not.toBe(hash)
  })

  test('gives the token once, then an error', async () => {
    const { origin, inspectorUrl: inspector } = await start({ controlToken: token })
    const code = codeIn(inspector)
    const first = await exchange(origin, code, { origin, 'sec-fetch-site': 'same-origin' })
    expect([first.status, JSON.parse(first.body)]).toEqual([200, { token }])
    expect(first.headers['cache-control']).toBe('no-store')
    const second = await exchange(origin, code, { origin })
    expect(second.status).toBe(403)
    expect(JSON.parse(second.body).error).toMatch(
      /^This link was used already or has expired\. .*POST \/_inspector\/link[^.]*\.$/,
    )
  })

  test('rejects guesses, other methods and pages of other origins', async () => {
    const { origin, inspectorUrl: inspector } = await start({ controlToken: token })
    const code = codeIn(inspector)
    for (const guess of ['', 'x', token, code.slice(1)]) expect((await exchange(origin, guess)).status).toBe(403)
    expect((await ask(`${origin}/_inspector/token`, { authorization: `Bearer ${code}` })).status).toBe(405)
    expect((await ask(`${origin}/_inspector/token?code=${code}`, {}, 'POST')).status).toBe(403)
    const strange: Record<string, string>[] = [
      { origin: 'http://localhost:3000' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { host: 'evil.example' },
    ]
    for (const headers of strange) expect((await exchange(origin, code, headers)).status).toBe(403)
    // None of these attempts has used the code.
    expect((await exchange(origin, code)).status).toBe(200)
  })

  test('counts on one server only, and is checked before the body arrives', async () => {
    const [one, other] = [await start({ controlToken: token }), await start({ controlToken: token })]
    expect((await exchange(other.origin, codeIn(one.inspectorUrl))).status).toBe(403)
    const told = await new Promise<string>((resolve) => {
      const socket = dial(one.port, '127.0.0.1', () =>
        socket.write(
          `POST /_inspector/token HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer x\r\ncontent-length: 99999999\r\n\r\n`,
        ),
      )
      socket.setEncoding('utf8').once('data', (text: string) => {
        socket.destroy()
        resolve(text)
      })
    })
    expect(told).toMatch(/^HTTP\/1\.1 403 /)
  })

  test('is given to clients that have the token', async () => {
    const { origin } = await start({ controlToken: token })
    const link = `${origin}/_inspector/link`
    expect((await ask(link, {}, 'POST')).status).toBe(401)
    const given = await ask(link, { authorization: `Bearer ${token}` }, 'POST')
    expect(given.status).toBe(200)
    const code = codeIn(JSON.parse(given.body).link)
    expect(JSON.parse((await exchange(origin, code)).body)).toEqual({ token })
  })

  test('expires when 1,000 newer ones are unused', () => {
    const links = new InspectorLinks(token, 'http://127.0.0.1:1')
    const statusOf = (link: string): number | undefined =>
      links.answer(
        {
          method: 'POST',
          url: '',
          headers: [['authorization', `Bearer ${codeIn(link)}`]],
          body: () => latin1(''),
        },
        '/_inspector/token',
        () => false,
      )?.status
    const oldest = links.next()
    const all = Array.from({ length: 1_000 }, () => links.next())
    expect([statusOf(oldest), statusOf(all[0]!), statusOf(all.at(-1)!)]).toEqual([403, 200, 200])
  })
})

describe('access from pages of other origins', () => {
  const token = 'a-token-that-nobody-guesses'

  test.each([
    ['a page of the public web', { origin: 'https://evil.example' }],
    ['a page of the app under test on another port', { origin: 'http://127.0.0.1:3000' }],
    ['a page without an origin, such as a sandboxed frame', { origin: 'null' }],
    ['a page whose name was rebound to this machine', { host: 'evil.example' }],
    [
      'a page with a rebound name that requests its own page',
      { host: 'evil.example:4010', origin: 'http://evil.example:4010' },
    ],
  ])('rejects requests for the page and the control API from %s', async (_, headers) => {
    const { origin } = await start()
    for (const path of ['/', '/?x', '/_inspector', '/_inspector/editor.js', '/_control/main/inspector']) {
      const answer = await ask(`${origin}${path}`, { ...browser, ...headers } as Record<string, string>)
      expect([path, answer.status]).toEqual([path, 403])
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
    }
  })

  test('accepts control requests from a page of the server itself', async () => {
    const { origin } = await start()
    const answer = await ask(`${origin}/_control/main/inspector`, { origin })
    expect(answer.status).toBe(200)
  })

  test('accepts the token in a header only, not in a cookie or the address', async () => {
    const { origin } = await start({ controlToken: token })
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

  test('sets no cookie in any response', async () => {
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

  test('logs no token from an address', async () => {
    const logged: RequestLogEntry[] = []
    const { origin } = await start({ controlToken: token, onRequest: (one) => logged.push(one) })
    for (const path of [`/?token=${token}`, `/_inspector?token=${token}`, `/_control/main?control-token=${token}`]) {
      await ask(origin + path, browser)
    }
    await expect.poll(() => logged.length).toBe(3)
    expect(JSON.stringify(logged)).not.toContain(token)
  })

  test('rejects a request target that contains the fragment', async () => {
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

describe('cross-site requests without an origin, such as for an image', () => {
  const token = 'a-token-that-nobody-guesses'
  const sites = ['cross-site', 'same-site', 'made-up']

  test.each(sites)('rejects them below /_control/: %s', async (site) => {
    const { origin } = await start()
    const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
    for (const path of [
      '/_control',
      '/_control/',
      '/_control/main',
      '/_control/main/traffic',
      '/_control/openapi.json',
    ])
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE'])
        expect([path, method, (await ask(origin + path, headers, method)).status]).toEqual([path, method, 403])
  })

  test('allows reads with the token, and nothing else', async () => {
    const server = await start({ controlToken: token })
    const { origin } = server
    server.tenant('main')
    const authorization = `Bearer ${token}`
    for (const headers of [...sites.map((site) => ({ 'sec-fetch-site': site })), { origin: 'https://evil.example' }]) {
      const path = `${origin}/_control/main`
      expect((await ask(path, { ...headers, authorization })).status).toBe(200)
      expect((await ask(path, { ...headers, authorization: 'Bearer x' } as Record<string, string>)).status).toBe(403)
      expect((await ask(path, { ...headers, authorization } as Record<string, string>, 'DELETE')).status).toBe(403)
    }
    // The token does not make an external host name valid.
    expect((await ask(`${origin}/_control/main`, { host: 'evil.example', authorization })).status).toBe(403)
  })

  test.each(['same-origin', 'none'])(
    'accepts requests that the browser reports as not cross-site: %s',
    async (site) => {
      const { origin } = await start()
      expect((await ask(`${origin}/_control/main`, { 'sec-fetch-site': site })).status).toBe(200)
    },
  )

  test('serves the page, so that links in a chat or a report work', async () => {
    const { origin } = await start()
    expect((await ask(`${origin}/`, { ...browser, 'sec-fetch-site': 'cross-site' })).status).toBe(200)
  })
})

test('prevents other pages from using responses of the server as a script or an image', async () => {
  const { origin } = await start({ controlToken: 'a-token-that-nobody-guesses' })
  const authorization = 'Bearer a-token-that-nobody-guesses'
  const asks: [number, string, Record<string, string>, string?][] = [
    [200, '/_control', { authorization }],
    [200, '/_control/main', { authorization }],
    [200, '/_control/openapi.json', { authorization }],
    [404, '/_control/main/nowhere', { authorization }],
    [401, '/_control/main', {}],
    [403, '/_control/main', { origin: 'https://evil.example' }],
    [200, '/_health', {}],
    [200, '/_inspector', browser],
    [403, '/_inspector/token', {}, 'POST'],
    [404, '/_nowhere', {}],
  ]
  for (const [status, path, headers, method] of asks) {
    const answer = await ask(origin + path, headers, method)
    expect([path, answer.status]).toEqual([path, status])
    expect([path, answer.headers['x-content-type-options']]).toEqual([path, 'nosniff'])
    expect([path, answer.headers['cross-origin-resource-policy']]).toEqual([path, 'same-origin'])
  }
})

describe('requests of the page', () => {
  test('returns the facts of a sandbox', async () => {
    const server = await start({ startAt: '2030-01-01T09:00:00Z', seed: 7 })
    const { urls } = server.tenant('w1')
    const { body } = await ask(`${server.origin}/_control/w1/inspector`)
    expect(JSON.parse(body)).toMatchObject({
      name: 'w1',
      now: Date.parse('2030-01-01T09:00:00Z'),
      mode: 'manual',
      seed: 7,
      addresses: { store: urls.store },
      canGoOn: false,
    })
    expect(JSON.parse(body)).not.toHaveProperty('failure')
  })

  test('rejects continue if no test waits', async () => {
    const { origin } = await start()
    const answer = await ask(`${origin}/_control/main/continue`, {}, 'POST')
    expect(answer.status).toBe(404)
    expect(JSON.parse(answer.body).error).toMatch(/^No test waits on this server\..*STUNTDOUBLE_INSPECT=1/)
  })
})
