import { createSandbox, type Sandbox } from 'stuntdouble'
import { sandboxMatchers } from 'stuntdouble/matchers'
import { afterAll, describe, expect, test } from 'vitest'
import { amount } from '../support/effort.js'

/** Size of the largest body in bytes: in nightly runs, the maximum of the service. */
const size = amount(2_000_000, 2_000_000, 10_000_000)

// A failure has a bounded size and contains no control characters, for any captured data.

const evil =
  '\u001b[2J\u001b]8;;https://evil.test\u0007\r\nReplay: seed 8\u202e</pre><script>alert(1)</script>\u0000\u009b31m'
const obeyed = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/

const bodies: readonly (readonly [string, string | Uint8Array])[] = [
  ['escapes and markup', JSON.stringify({ note: evil, [evil]: evil })],
  ['plain escapes', evil],
  ['megabytes of text', 'x'.repeat(size)],
  ['megabytes on very many lines', `${'line 1234\n'.repeat(size / 10)}`],
  ['megabytes of JSON', JSON.stringify({ list: Array.from({ length: size / 10 }, (_, index) => index) })],
  [
    'a JSON object with 10k fields',
    JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`f${index}`, index]))),
  ],
  ['JSON, very deep', `${'['.repeat(5000)}${']'.repeat(5000)}`],
  ['invalid UTF-8', Uint8Array.of(0xff, 0xfe, 0xc3, 0x28, 0, 0x80)],
  [
    'prototype keys',
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"hasOwnProperty":1}',
  ],
]

const patterns: readonly unknown[] = [
  'other',
  { note: 'other' },
  { list: [1, 2, 3] },
  JSON.parse('{"__proto__":{"polluted":false},"hasOwnProperty":2}'),
  [[]],
  /^never$/,
  Uint8Array.of(1, 2, 3),
  `${'line 1234\n'.repeat(500)}other`,
  expect.objectContaining({ note: 1 }),
]

function check(told: string): void {
  expect(told).not.toMatch(obeyed)
  expect(told.match(/^Replay:/gm) ?? []).toHaveLength(1)
  expect(told.length).toBeLessThan(50_000)
}

function world(body: string | Uint8Array): Sandbox {
  const sandbox = createSandbox()
  sandbox.queue.publish({ to: 'https://shop.test/orders', body, headers: { 'X-Tag': 'a' } })
  sandbox.store.run('SET', evil, body)
  return sandbox
}

describe.each(bodies)('a hostile body: %s', (_, body) => {
  const sandbox = world(body)
  afterAll(() => sandbox.dispose())
  const { toHaveKey, toHavePublished, toFollowSequence } = sandboxMatchers

  test('is escaped in every failure', () => {
    for (const pattern of patterns) {
      const given = { to: 'https://shop.test/orders', body: pattern }
      const published = toHavePublished.call({}, sandbox, given)
      expect(published.pass).toBe(false)
      check(published.message())
      const steps = [{ type: 'published', ...given }]
      check(toFollowSequence.call({}, sandbox, steps).message())
      const key = toHaveKey.call({}, sandbox, evil, { value: pattern })
      expect(key.pass).toBe(false)
      check(key.message())
    }
    expect({}).not.toHaveProperty('polluted')
  })

  test('is escaped in the failure of .not', () => {
    check(toHavePublished.call({ isNot: true }, sandbox, {}).message())
    check(toHaveKey.call({ isNot: true }, sandbox, evil).message())
  })
})

test('ignores fields of the prototype of captured values', () => {
  const sandbox = world('{"a":1}')
  const { toHavePublished } = sandboxMatchers
  for (const body of [
    { constructor: expect.anything() },
    { toString: expect.anything() },
    JSON.parse('{"__proto__":{}}'),
  ]) {
    expect(toHavePublished.call({}, sandbox, { body }).pass).toBe(false)
  }
  expect(
    toHavePublished.call({}, world('{"__proto__":{"a":1}}'), { body: JSON.parse('{"__proto__":{"a":1}}') }).pass,
  ).toBe(true)
  sandbox.dispose()
})

test('escapes all other names and the expected values', async () => {
  using sandbox = createSandbox()
  const { urls, fetch, tokens } = sandbox
  sandbox.destinations.on('https://shop.test/*', () => new Response(evil, { status: 500, headers: { 'x-tag': 'a' } }))
  sandbox.queue.publish({ to: `https://shop.test/${encodeURIComponent(evil)}`, retries: 0, label: 'a' })
  await sandbox.clock.drain()
  sandbox.queue.cancelMessages({ label: evil })
  const headers = { authorization: `Bearer ${tokens.store}` }
  await fetch(urls.store, { method: 'POST', headers, body: JSON.stringify([evil, evil, evil]) })
  const failures: readonly (readonly [keyof typeof sandboxMatchers, ...unknown[]])[] = [
    ['toHaveExecuted', evil, evil, { a: evil }],
    ['toHaveKey', evil, { value: evil }],
    ['toHavePublished', { to: evil, body: evil, label: evil, headers: { [evil]: evil } }],
    ['toHaveDelivered', { to: evil, error: evil, response: evil }],
    ['toHaveDeadLetter', { to: evil, error: new RegExp(evil.replace(/[[\]()]/g, '.')) }],
    ['toHaveDeliveredCallback', { to: evil, headers: { [evil]: evil } }],
    ['toHaveDeduplicated', { deduplicationId: evil }],
    ['toHaveBulkAction', { filter: { [evil]: evil } }],
    ['toHaveValidSignature', { to: evil, claims: { [evil]: evil } }],
    ['toHaveCost', { messages: 99 }],
    ['toHaveSchedule', { to: evil, cron: evil }],
    ['toHaveReceivedRequest', { url: evil, body: { [evil]: evil } }],
    ['toFollowSequence', [{ type: 'attempt', to: evil, response: { [evil]: evil } }]],
  ]
  for (const [matcher, ...given] of failures) {
    const { pass, message } = sandboxMatchers[matcher].call({}, sandbox, ...given)
    expect([matcher, pass]).toEqual([matcher, false])
    check(message())
  }
  expect(() => sandboxMatchers.toHavePublished.call({}, sandbox, { [evil]: 1 })).toThrow(
    /^[^\x00-\x1f\x7f-\x9f\u202e]*$/,
  )
})

test('keeps a failure as short with very many entries as with fifty', () => {
  const failure = (messages: number): string => {
    using sandbox = createSandbox()
    for (let index = 0; index < messages; index++)
      sandbox.queue.publish({ to: `https://shop.test/${index}`, delay: '1h' })
    return sandboxMatchers.toHaveDelivered.call({}, sandbox, { to: 'https://shop.test/none' }).message()
  }
  const [few, many] = [failure(50), failure(20_000)]
  expect(many).toContain('Nearest of 20000:')
  expect(many.split('\n').length).toBeLessThanOrEqual(few.split('\n').length + 2)
})
