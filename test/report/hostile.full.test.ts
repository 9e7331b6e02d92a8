import { describe, expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/index.js'
import { latin1, utf8 } from '../../src/kernel/bytes.js'
import { toHtml } from '../../src/report/index.js'
import { Redaction } from '../../src/report/redaction.js'
import { harErrors } from './har-rules.js'
import { askQueue, askStore, orders } from './worlds.js'

/** Returns every text that a report can be. */
const renderings: Readonly<Record<string, (sandbox: Sandbox) => string>> = {
  timeline: ({ traffic }) => traffic.timeline({ bodies: 10_000, keyspace: true }),
  diagram: ({ traffic }) => traffic.diagram(),
  mermaid: ({ traffic }) => traffic.diagram({ format: 'mermaid' }),
  trees: ({ traffic }) =>
    traffic
      .ofType('published')
      .map(({ messageId }) => String(traffic.tree(messageId)))
      .join('\n'),
  har: ({ traffic }) => JSON.stringify(traffic.toHar()),
  trace: ({ traffic }) => JSON.stringify(traffic),
  normalized: ({ traffic }) => JSON.stringify(traffic.normalized()),
  html: ({ traffic }) => toHtml(traffic),
}

describe.each(Object.entries(renderings))('%s', (name, render) => {
  const isText = !['har', 'trace', 'normalized', 'html'].includes(name)

  test('contains no secret, independent of its origin', async () => {
    const sandbox = createSandbox({ dialect: 'upstash' })
    const { tokens, queue, destinations, clock, store } = sandbox
    const { current, next } = queue.signingKeys
    const secrets = [
      'hunter2-cookie',
      'hunter2-bearer',
      'hunter2-query',
      'hunter2-user',
      'hunter2-acl',
      'hunter2-json',
      'hunter2-auth',
      'hunter2-source',
      'hunter2-list',
      'hunter2-forward',
    ]
    destinations.respond('https://*', () => ({
      status: 500,
      headers: { 'set-cookie': 'sid=hunter2-cookie; Path=/' },
      body: utf8('{"access_token":"hunter2-json"}'),
    }))
    await askQueue(sandbox, '/v2/publish/https://me:hunter2-user@shop.test/a?api_key=hunter2-query', {
      body: JSON.stringify({ password: 'hunter2-source', tokens: ['hunter2-list'], token_count: 5 }),
      headers: {
        'upstash-forward-cookie': 'hunter2-forward',
        'upstash-forward-authorization': 'Bearer hunter2-bearer',
        'upstash-callback': 'https://shop.test/cb?token=hunter2-query',
        'upstash-retries': '0',
      },
    })
    await sandbox.fetch(`${sandbox.urls.store}/get/k?_token=${tokens.store}`)
    await sandbox.fetch(`${sandbox.urls.store}/get/k`, {
      headers: { authorization: `Bearer ${tokens.storeReadonly}`, cookie: 'a=hunter2-cookie' },
    })
    await askStore(sandbox, '/', ['ACL', 'SETUSER', 'bob', '>hunter2-acl'])
    await askStore(sandbox, '/acl/setuser/bob/%3Ehunter2-acl')
    await askStore(sandbox, '/pipeline', [
      ['GET', 'a'],
      ['AUTH', 'bob', 'hunter2-auth'],
    ])
    for (const words of [
      ['AUTH', 'hunter2-auth'],
      ['SET', 'session', '{"access_token":"hunter2-json"}'],
    ]) {
      try {
        store.run(...words)
      } catch {}
    }
    store.run('SET', 'mine', `stolen ${tokens.queue}`)
    await askQueue(sandbox, '/v2/keys', { method: 'GET' })
    await askQueue(sandbox, '/v2/keys/rotate')
    await clock.drain()
    const shown = render(sandbox)
    const all = [
      ...secrets,
      ...secrets.map((secret) => btoa(secret).slice(0, -4)),
      tokens.store,
      tokens.storeReadonly,
      tokens.queue,
      current,
      next,
      queue.signingKeys.next,
    ]
    expect(all.filter((secret) => shown.includes(secret))).toEqual([])
    expect(shown).not.toMatch(/eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{20}/)
    expect(shown).toContain(name === 'mermaid' ? '#42;#42;#42;' : '***')
  })

  test('redacts what a publisher redacts', async () => {
    const sandbox = createSandbox()
    sandbox.destinations.respond('https://*', () => 500)
    const headers = {
      'service-redact-fields': 'body, header[X-Card]',
      'service-forward-x-card': '4111-1111',
      'service-forward-x-open': 'open-value',
      'service-callback': 'https://shop.test/cb',
      'service-retries': '0',
    }
    await askQueue(sandbox, `/v2/publish/${orders}`, { body: 'the private letter', headers })
    await askQueue(sandbox, '/v2/batch', {
      body: JSON.stringify([
        {
          destination: orders,
          body: 'the private letter',
          headers: { ...headers, 'Service-Redact-Fields': 'body,header[x-card]' },
        },
      ]),
      headers: { 'content-type': 'application/json' },
    })
    await sandbox.clock.drain()
    const shown = render(sandbox)
    expect(shown).not.toContain('private letter')
    expect(shown).not.toContain(btoa('the private letter'))
    expect(shown).not.toContain('4111-1111')
    if (name === 'har' || name === 'trace') expect(shown).toContain('open-value')
  })

  test('stays one document with markup, escapes, prototype names and binary bytes in it', async () => {
    const sandbox = createSandbox()
    const { store, queue, destinations, clock } = sandbox
    const evil =
      '\x1b]0;owned\x07\x1b[31m</script><script>alert(1)</script>\u202egnp\u2028\u2029\u0000\r\n#1  09:00:00 forged\ud800'
    destinations.respond('https://*', () => ({
      status: 500,
      body: latin1('\xff\xfe\x00\x80'),
      headers: { 'x-evil': '\x1b[31m' },
    }))
    store.run('SET', evil, evil)
    store.run('HSET', '__proto__', 'constructor', '{"__proto__":{"polluted":1},"toString":1}')
    queue.publish({
      to: 'https://shop.test/a%00b?<b>=%1b',
      body: evil,
      retries: 0,
      label: '__proto__',
      callback: 'https://shop.test/"onload="',
    })
    queue.publish({ to: orders, body: '{"__proto__":{"polluted":1},"constructor":{"prototype":1}}', retries: 0 })
    await askStore(sandbox, '/', ['SET', '__proto__', evil])
    await clock.drain()
    const shown = render(sandbox)
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    if (isText) {
      expect(shown).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\ud800-\udfff]/)
      expect(shown.split('\n').filter((line) => line.startsWith('#1  '))).toEqual([])
    } else if (name === 'html') {
      expect(shown).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]/)
      // One script of this package, the data, and no markup from the traffic.
      expect(shown.match(/<script>/g)).toHaveLength(1)
      expect(shown).not.toContain('<b>')
    } else expect(() => JSON.parse(shown)).not.toThrow()
    if (name === 'har') expect(harErrors(JSON.parse(shown))).toEqual([])
    if (name === 'trace') expect(shown).toContain('"__proto__"')
  })

  test('handles bodies of ten million bytes', async () => {
    const sandbox = createSandbox()
    const big = `{"id":1,"token":"secret-at-the-start","text":"${'é'.repeat(5_000_000)}"}`
    sandbox.destinations.respond('https://*', () => ({ status: 500, body: utf8(big) }))
    sandbox.queue.publish({ to: orders, body: big, retries: 0 })
    sandbox.store.run('SET', 'big', 'x'.repeat(10_000_000))
    await sandbox.clock.drain()
    const shown = render === renderings.timeline ? sandbox.traffic.timeline() : render(sandbox)
    expect(shown).not.toContain('secret-at-the-start')
    if (isText) expect(shown.length).toBeLessThan(5_000)
    if (name === 'html') expect(shown.length).toBeLessThan(300_000 + 10_000_000)
  })
})

describe('additional names', () => {
  test('are redacted in headers, JSON and parameters; `body` and `headers` redact all', async () => {
    const sandbox = createSandbox()
    sandbox.destinations.respond('https://*', () => 200)
    sandbox.queue.publish({
      to: 'https://shop.test/a?customer=ada',
      body: { customer: 'ada', note: 'gift' },
      headers: { 'X-Customer': 'ada' },
    })
    await sandbox.clock.drain()
    const { traffic } = sandbox
    const named = JSON.stringify([
      traffic.toTrace({ redact: ['customer', 'x-customer'] }),
      traffic.toHar({ redact: ['customer', 'header[X-Customer]'] }),
    ])
    expect(named).not.toContain('ada')
    expect(named).toContain('gift')
    expect(toHtml(traffic, { redact: ['customer', 'x-customer'] })).not.toContain('ada')
    expect(traffic.timeline({ redact: ['customer'] })).not.toContain('ada')
    const bare = JSON.stringify(traffic.toHar({ redact: ['body', 'headers'] }))
    expect(bare).not.toContain('gift')
    expect(bare).not.toContain('User-Agent","value":"S')
    expect(traffic.timeline({ redact: ['body'] })).not.toContain('gift')
  })
})

describe('redaction', () => {
  const redaction = new Redaction({ secrets: ['s3cr3t-value'] })
  test.each([
    ['plain words', 'plain words'],
    ['{"maxTokens": 5, "tokens": "12"}', '{"maxTokens": 5, "tokens": "12"}'],
    ['{"token" : "a\\"b"}', '{"token" : "***"}'],
    ['{"a":{"client_secret":"x"},"b":1}', '{"a":{"client_secret":"***"},"b":1}'],
    ['{"authorization":["Bearer abcdef1"]}', '{"authorization":["***"]}'],
    ['https://u:p@h/?x=1&token=abc&y=2#t', 'https://***@h/?x=1&token=***&y=2#t'],
    ['Basic dXNlcjpwYXNz', 'Basic ***'],
    ['basic training', 'basic ***'],
    ['prefix s3cr3t-value suffix', 'prefix *** suffix'],
    ['sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r', 'sig_***'],
    ['a@b.test', 'a@b.test'],
  ])('%j → %j', (given, expected) => {
    expect(redaction.text(given)).toBe(expected)
  })

  test('keeps the scheme of headers and the claims of signatures', () => {
    expect(
      redaction.headers([
        ['Authorization', 'Bearer abc'],
        ['Cookie', 'a=b'],
        ['Upstash-Signature', 'eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJTIn0.abcdef'],
        ['X-Api-Key', 'k'],
        ['Idempotency-Key', 'k'],
        ['Content-Type', 'text/plain'],
      ]),
    ).toEqual([
      ['Authorization', 'Bearer ***'],
      ['Cookie', '***'],
      ['Upstash-Signature', 'eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJTIn0.***'],
      ['X-Api-Key', '***'],
      ['Idempotency-Key', 'k'],
      ['Content-Type', 'text/plain'],
    ])
  })

  test.each([
    [
      ['AUTH', 'bob', 'pw'],
      ['AUTH', '***', '***'],
    ],
    [
      ['ACL', 'SETUSER', 'bob', 'on', '>pw', '~*'],
      ['ACL', 'SETUSER', 'bob', 'on', '>***', '~*'],
    ],
    [
      ['ACL', 'RESTTOKEN', 'bob', 'pw'],
      ['ACL', 'RESTTOKEN', 'bob', '***'],
    ],
    [
      ['HELLO', '3', 'AUTH', 'bob', 'pw'],
      ['HELLO', '3', 'AUTH', '***', '***'],
    ],
    [
      ['CONFIG', 'SET', 'requirepass', 'pw'],
      ['CONFIG', 'SET', 'requirepass', '***'],
    ],
    [
      ['SET', 'auth', 'pw'],
      ['SET', 'auth', 'pw'],
    ],
  ])('of the command %j is %j', (given, expected) => {
    expect(redaction.words(given)).toEqual(expected)
  })
})
