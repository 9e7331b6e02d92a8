import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Rest } from '../support/ask.js'
import { runs } from '../support/effort.js'

// Replies in plain JSON, the default of SDKs from 1.40 on, and in base64, their earlier default. Expectations:
// store.md 3.1, 3.2.

const inBase64 = { headers: { 'service-encoding': 'base64' } }

/** Value of a reply: bytes, an integer, a status or a list. */
type Value = Uint8Array | number | 'OK' | null | readonly Value[]

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => new TextEncoder().encode(text)),
  fc
    .constantFrom(
      [0xff, 0xfe, 0x61],
      [0xef, 0xbb, 0xbf, 0x7b],
      [0xe2, 0x82],
      [0xf0, 0x9f, 0x98],
      [0xed, 0xa0, 0x80],
      [0x4f, 0x4b],
    )
    .map((codes) => Uint8Array.from(codes)),
)
const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    bytes,
    fc.integer(),
    fc.constant('OK' as const),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
  ),
}))

/** Returns Lua that evaluates to a value. In Lua, nil ends a list, so a missing value is false. */
function luaOf(value: Value): string {
  if (value === null) return 'false'
  if (value === 'OK') return "redis.status_reply('OK')"
  if (typeof value === 'number') return String(value)
  if (value instanceof Uint8Array) return `'${[...value].map((code) => `\\${String(code).padStart(3, '0')}`).join('')}'`
  return `{${value.map(luaOf).join(',')}}`
}

/** Decodes bytes as Go does for JSON: each byte that is not part of valid UTF-8 becomes U+FFFD. */
function textOf(given: Uint8Array): string {
  let text = ''
  for (let at = 0; at < given.length; ) {
    const length = [1, 2, 3, 4].find((size) => {
      try {
        const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
        return at + size <= given.length && decoder.decode(given.subarray(at, at + size)).length > 0
      } catch {
        return false
      }
    })
    text += length === undefined ? '\uFFFD' : Buffer.from(given.subarray(at, at + length)).toString('utf8')
    at += length ?? 1
  }
  return text
}

const base64Of = (given: Uint8Array): string => Buffer.from(given).toString('base64')

/** Returns the JSON of a value. `status` is the form of an OK inside a list. */
function jsonOf(value: Value, ofBytes: (bytes: Uint8Array) => string, status: string): unknown {
  if (value === 'OK') return status
  if (value === null || typeof value === 'number') return value
  return value instanceof Uint8Array ? ofBytes(value) : value.map((item) => jsonOf(item, ofBytes, status))
}

describe('a random reply', () => {
  test.each([
    ['encoded', 'T0s='],
    ['raw', 'OK'],
  ] as const)('is the same in both encodings, with a nested status %s', async (nestedStatus, nested) => {
    const rest = Rest.open({ policy: { nestedStatus } })
    await fc.assert(
      fc.asyncProperty(value, async (given) => {
        const row = ['EVAL', `return ${luaOf(given)}`, 0]
        const [plain, encoded] = [await rest.post('/', row), await rest.post('/', row, inBase64)]
        expect(plain.json).toEqual({ result: jsonOf(given, textOf, 'OK') })
        expect(encoded.json).toEqual({ result: jsonOf(given, base64Of, given === 'OK' ? 'OK' : nested) })
      }),
      { numRuns: runs(150, 500, 5000) },
    )
  })

  test('is the same as a stored value, an item of a pipeline and a row of a transaction', async () => {
    const rest = Rest.open()
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { minLength: 1, maxLength: 4 }), async (values) => {
        await rest.run('FLUSHALL')
        for (const [index, one] of values.entries()) await rest.post(`/set/k${index}`, one)
        // An empty body adds no argument, so an empty value was not stored.
        const stored = values.map((one) => (one.length === 0 ? null : one))
        const rows = [
          ['MGET', ...values.keys()].map((name) => (typeof name === 'number' ? `k${name}` : name)),
          ['GET', 'k0'],
        ]
        for (const path of ['/pipeline', '/multi-exec']) {
          const plain = stored.map((one) => one && textOf(one))
          const encoded = stored.map((one) => one && base64Of(one))
          expect((await rest.post(path, rows)).json).toEqual([{ result: plain }, { result: plain[0] }])
          expect((await rest.post(path, rows, inBase64)).json).toEqual([{ result: encoded }, { result: encoded[0] }])
        }
      }),
      { numRuns: runs(60, 200, 2000) },
    )
  })
})

describe('policy.nestedStatus', () => {
  test('changes nested statuses only, and only in base64', async () => {
    const rest = Rest.open({ policy: { nestedStatus: 'raw' } })
    await rest.run('SET', 'q', 'OK')
    const script = "return {redis.call('SET','p','1'), redis.call('GET','q'), {redis.call('TYPE','q')}}"
    const row = ['EVAL', script, 0]
    expect((await rest.post('/', row, inBase64)).json).toEqual({ result: ['OK', 'T0s=', ['c3RyaW5n']] })
    expect((await rest.post('/', row)).json).toEqual({ result: ['OK', 'OK', ['string']] })
    expect((await rest.post('/', ['PING'], inBase64)).json).toEqual({ result: 'UE9ORw==' })
    expect((await rest.post('/', ['GET', 'q'], inBase64)).json).toEqual({ result: 'T0s=' })
  })
})
