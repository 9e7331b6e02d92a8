import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { writerOf } from '../../packages/server/src/control/wire-entry.js'
import { createSandbox } from '../../src/index.js'
import { type Bytes, fromBase64, latin1, text, toBase64, utf8 } from '../../src/kernel/bytes.js'
import { loadTrace, toHtml } from '../../src/report/index.js'
import { Redaction, standardRedaction } from '../../src/report/redaction.js'
import { askQueue, askStore } from '../report/worlds.js'
import { runs } from '../support/effort.js'

/** Plain and unlike anything else, so that any occurrence in an output is a leak. */
const secret = fc.stringMatching(/^Zq[a-z0-9]{14}$/)
const secretName = fc.constantFrom(
  'password',
  'dbPassword',
  'api_key',
  'X-Api-Key',
  'accessToken',
  'client_secret',
  'Cookie',
  'Set-Cookie',
  'Authorization',
  'session_id',
  'otp',
  'pwd',
  'x-auth',
  'cardNumber',
)

/** Text that contains a secret. */
const holder = fc.oneof(
  fc.tuple(secretName, secret).map(([name, value]) => [JSON.stringify({ a: 1, [name]: value }), value] as const),
  fc.tuple(secretName, secret).map(([name, value]) => [JSON.stringify({ [name]: [value] }), value] as const),
  fc.tuple(secretName, secret).map(([name, value]) => [JSON.stringify({ [name]: { x: [value] } }), value] as const),
  fc.tuple(secretName, secret).map(([name, value]) => [JSON.stringify([{ name, value }]), value] as const),
  fc.tuple(secretName, secret).map(([name, value]) => [JSON.stringify([{ value, name }]), value] as const),
  fc.tuple(secretName, secret).map(
    ([name, value]) =>
      [
        JSON.stringify([
          ['a', 'b'],
          [name, value],
        ]),
        value,
      ] as const,
  ),
  secret.map((value) => [`https://me:${value}@shop.test/a`, value] as const),
  secret.map((value) => [`https://me:it's${value}@shop.test/a`, value] as const),
  fc.tuple(secretName, secret).map(([name, value]) => [`https://shop.test/a?x=1&${name}=${value}#t`, value] as const),
  fc.tuple(secretName, secret).map(([name, value]) => [`${name}=${value}&x=1`, value] as const),
  secret.map((value) => [`<password>${value}</password>`, value] as const),
  secret.map((value) => [`user: ada\npassword: ${value}\n`, value] as const),
  secret.map((value) => [`{ user: 'ada', password: '${value}' }`, value] as const),
)

/** Adds one more layer around it. */
const layers: readonly ((inner: string) => string)[] = [
  (inner) => JSON.stringify({ text: inner }),
  (inner) => JSON.stringify({ list: ['a', { deep: [[inner]] }], number: 5 }, undefined, 2),
  (inner) => JSON.stringify(inner),
  (inner) => JSON.stringify({ sourceBody: toBase64(utf8(inner)) }),
  (inner) => JSON.stringify({ next: `https://shop.test/?data=${encodeURIComponent(inner)}` }),
  (inner) => `https://shop.test/r/${encodeURIComponent(inner)}`,
  (inner) => toBase64(utf8(JSON.stringify({ inner }))),
  (inner) => `it "failed" with ${JSON.stringify({ inner })} at 5" or so`,
  (inner) => '[{"a":'.repeat(40) + JSON.stringify({ inner }) + '}]'.repeat(40),
]
const planted = fc
  .tuple(holder, fc.array(fc.constantFrom(...layers), { maxLength: 5 }))
  .map(([[plain, value], around]) => [around.reduce((inner, layer) => layer(inner), plain), value] as const)

/** Reference implementation: decodes every escape, percent sign and base64 run until nothing changes. */
function* textsIn(shown: string, depth = 0, seen = new Set<string>()): Generator<string> {
  if (depth > 13 || seen.has(shown)) return
  seen.add(shown)
  yield shown
  yield* textsIn(shown.replace(/\\+(["/\\])/g, '$1'), depth + 1, seen)
  const runs = [...(shown.match(/[\w+/-]{16,}={0,2}/g) ?? []), ...(shown.match(/[\w+-]{16,}={0,2}/g) ?? [])]
  for (const run of runs) yield* textsIn(fromBase64(run) ?? '', depth + 1, seen)
  for (const run of shown.match(/[\w.~*()!'-]*(?:%[\da-f]{2}[\w.~*()!'-]*)+/gi) ?? []) {
    const bytes = run.replace(/%(..)/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    yield* textsIn(text(latin1(bytes)), depth + 1, seen)
  }
}

function reveals(shown: string, ...values: readonly string[]): boolean {
  for (const each of textsIn(shown)) if (values.some((value) => each.includes(value))) return true
  return false
}

test('the reference implementation finds planted secrets', () => {
  fc.assert(
    fc.property(planted, ([given, value]) => reveals(given, value)),
    { numRuns: runs(300, 300, 3000) },
  )
})

describe('a secret at any depth', () => {
  test('is redacted in any text', () => {
    fc.assert(
      fc.property(planted, ([given, value]) => {
        const shown = standardRedaction.text(given)
        expect(reveals(shown, value)).toBe(false)
        // Redacting again changes nothing.
        expect(standardRedaction.text(shown)).toBe(shown)
      }),
      { numRuns: runs(1500, 1500, 15_000) },
    )
  })

  test('is redacted in any body, even if the rest is not text', () => {
    fc.assert(
      fc.property(planted, fc.constantFrom('', '\xff', '\xc3', '\x00\x01'), ([given, value], junk) => {
        const shown = standardRedaction.body((junk + utf8(given) + junk) as Bytes)
        expect(reveals(shown, value)).toBe(false)
      }),
      { numRuns: runs(500, 500, 5000) },
    )
  })

  test('is redacted if it belongs to the sandbox, regardless of its name', () => {
    const own = 'a-secret-of-the-world'
    const redaction = new Redaction({ secrets: [own] })
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...layers), { maxLength: 5 }), (around) => {
        const given = around.reduce((inner, layer) => layer(inner), `said ${own} aloud`)
        expect(reveals(redaction.text(given), own)).toBe(false)
      }),
      { numRuns: runs(500, 500, 5000) },
    )
  })
})

describe('text without secrets', () => {
  test('stays the same byte for byte, at any depth', () => {
    const word = fc.constantFrom('id', 'name', 'tokenCount', 'secretary', 'keyboard', 'passenger', 'design')
    const value = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(null))
    const ordinary = fc
      .dictionary(word, value)
      .filter((given) => !/[:=/<>]|ba(?:sic|earer)/i.test(JSON.stringify(Object.values(given))))
    fc.assert(
      fc.property(ordinary, fc.array(fc.constantFrom(...layers), { maxLength: 4 }), (given, around) => {
        const whole = around.reduce((inner, layer) => layer(inner), JSON.stringify(given))
        expect(standardRedaction.text(whole)).toBe(whole)
      }),
      { numRuns: runs(500, 500, 5000) },
    )
  })

  test.each([
    'The secretary kept the keys of the passenger in a basket.',
    'A token of thanks: the author signs with a pin on the session.',
    '{"usage":{"input_tokens":12,"output_tokens":5,"total_tokens":17},"secure_cookie":true}',
    'GET /v2/publish/https://shop.test/orders?page=2&sort=name',
    "don't: 'it' = 'that'",
    'select * from users where name = "ada"',
  ])('stays the same: %s', (given) => {
    expect(standardRedaction.text(given)).toBe(given)
  })
})

describe('command lines', () => {
  test.each([
    ['HSET user:1 name Ada password pw-1', 'HSET user:1 name Ada password ***'],
    ['HSETNX user:1 api_key pw-1', 'HSETNX user:1 api_key ***'],
    ['HMSET password name Ada', 'HMSET password name Ada'],
    ['XADD log * user ada token pw-1', 'XADD log * user ada token ***'],
    ['JSON.SET user:1 $.password "pw-1"', 'JSON.SET user:1 $.password ***'],
    ['JSON.SET user:1 $ {"a":{"password":"pw-1"}}', 'JSON.SET user:1 $ {"a":{"password":"***"}}'],
    ['JSON.MSET a $.secret "pw-1" b $.name "Ada"', 'JSON.MSET a $.secret *** b $.name "Ada"'],
    ['AUTH bob pw-1', 'AUTH *** ***'],
    ['ACL SETUSER bob on >pw-1 ~*', 'ACL SETUSER bob on >*** ~*'],
    ['SET token pw-1', 'SET token pw-1'],
  ])('redacts secret arguments: %s', (given, expected) => {
    expect(standardRedaction.words(given.split(' ')).join(' ')).toBe(expected)
  })

  test('redacts values after secret names in replies', () => {
    expect(standardRedaction.reply(['HGETALL', 'u'], ['name', 'Ada', 'password', 'pw-1'])).toEqual([
      'name',
      'Ada',
      'password',
      '***',
    ])
    expect(standardRedaction.hidesReply(['HGET', 'u', 'password'])).toBe(true)
    expect(standardRedaction.hidesReply(['JSON.GET', 'u', '$.user.password'])).toBe(true)
    expect(standardRedaction.hidesReply(['HGET', 'u', 'name'])).toBe(false)
  })
})

test('no rendering of a sandbox shows a planted secret', async () => {
  await fc.assert(
    fc.asyncProperty(planted, planted, secret, async ([given, one], [other, two], three) => {
      const sandbox = createSandbox({ dialect: 'upstash' })
      const { store, queue, destinations, clock, traffic } = sandbox
      destinations.respond('https://*', () => ({
        status: 500,
        body: utf8(other),
        headers: { 'x-said': 'no', 'set-cookie': three },
      }))
      queue.publish({
        to: `https://me:${three}@shop.test/a?api_key=${three}`,
        body: given,
        retries: 1,
        label: `token=${three}`,
        headers: { Cookie: three, 'X-Api-Key': three },
        callback: `https://shop.test/cb?token=${three}`,
        failureCallback: `https://shop.test/failed?token=${three}`,
      })
      await askQueue(sandbox, `/v2/publish/https://me:${three}@shop.test/a?api_key=${three}`, {
        body: other,
        headers: {
          'upstash-forward-x-api-key': three,
          'upstash-retries': '0',
          'upstash-failure-callback': 'https://shop.test/f',
        },
      })
      store.run('SET', 'plain', given)
      store.run('HSET', 'user', 'name', 'Ada', 'password', three)
      store.run('HGETALL', 'user')
      store.run('JSON.SET', 'doc', '$', JSON.stringify({ deep: { password: three } }))
      store.run('JSON.SET', 'doc', '$.deep.password', JSON.stringify(three))
      await askStore(sandbox, '/', ['HSET', 'user', 'api_key', three])
      await askStore(sandbox, '/', ['HGETALL', 'user'])
      await askStore(sandbox, '/pipeline', [
        ['HGET', 'user', 'password'],
        ['SET', 'x', other],
      ])
      await askStore(sandbox, `/hset/user/password/${three}`)
      await askStore(sandbox, `/get/plain`)
      await clock.drain()
      const trace = traffic.toTrace()
      const writer = writerOf(sandbox)
      const shown = {
        timeline: traffic.timeline({ bodies: 10_000, keyspace: true }),
        diagram: traffic.diagram(),
        mermaid: traffic.diagram({ format: 'mermaid' }),
        trees: traffic
          .ofType('published')
          .map(({ messageId }) => String(traffic.tree(messageId)))
          .join('\n'),
        har: JSON.stringify(traffic.toHar()),
        trace: JSON.stringify(trace),
        loaded: loadTrace(JSON.stringify(trace)).timeline({ bodies: 10_000 }),
        normalized: JSON.stringify(traffic.normalized()),
        html: toHtml(traffic),
        wire: JSON.stringify(traffic.entries.map((entry) => writer.entry(entry))),
      }
      for (const [name, rendering] of Object.entries(shown))
        expect([name, reveals(rendering, one, two, three)]).toEqual([name, false])
      sandbox.dispose()
    }),
    { numRuns: runs(12, 12, 100) },
  )
})
