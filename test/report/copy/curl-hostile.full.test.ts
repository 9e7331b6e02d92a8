import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { curlOf } from '../../../src/report/copy/curl.js'
import type { TraceEntry } from '../../../src/report/trace.js'
import { hostile, randomHostile } from './hostile-texts.js'
import { recording, run } from './loopback.js'

const at = Date.parse('2030-01-01T00:00:00Z')
const call = (fields: object): TraceEntry =>
  ({ type: 'outbound', seq: 1, at, method: 'POST', headers: [], body: '', ...fields }) as TraceEntry
const copied = (entry: TraceEntry, context = {}): string => curlOf({ entries: [entry], entry: 1 }, context)

/** Runs each command in its own bash and returns the requests that arrived. The folder must stay empty. */
async function sent(make: (origin: string) => readonly string[], env: Record<string, string> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'copied-'))
  try {
    return await recording(async (origin, arrived) => {
      for (const command of make(origin)) {
        const { code, stderr } = await run('bash', ['--noprofile', '--norc'], { cwd, env, input: command })
        expect({ code, stderr, command }).toEqual({ code: 0, stderr: '', command })
      }
      expect(readdirSync(cwd)).toEqual([])
      return arrived
    })
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

const legalHeader = (text: string): boolean => !/[\r\n\0]/.test(text)

test('a hostile body arrives byte for byte, and nothing is executed', async () => {
  const texts = [...hostile, ...randomHostile(40)]
  const arrived = await sent((origin) => texts.map((body) => copied(call({ url: `${origin}/`, body }))))
  expect(arrived.map(({ body }) => body.toString())).toEqual(texts.map((text) => Buffer.from(text).toString()))
})

test('bytes that are not text and very long bodies arrive byte for byte', async () => {
  const bodies = [
    Buffer.from([0xff, 0xfe, 0x27, 0x24, 0x28]),
    Buffer.from('\0a$(touch x)\0'),
    Buffer.from("'$(touch x)".repeat(20_000)),
    Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
  ]
  const arrived = await sent((origin) =>
    bodies.map((body) => copied(call({ url: `${origin}/`, body: { base64: body.toString('base64') } }))),
  )
  expect(arrived.map(({ body }) => body.equals(bodies[arrived.findIndex((one) => one.body === body)]!))).toEqual(
    bodies.map(() => true),
  )
})

test('a hostile header value arrives byte for byte, and a hostile name is omitted', async () => {
  const texts = [...hostile, ...randomHostile(40)].filter(
    (text) => legalHeader(text) && text.trim() === text && text !== '' && !/[\x00-\x1f\x7f]/.test(text),
  )
  const arrived = await sent((origin) =>
    texts.map((value) =>
      copied(
        call({
          url: `${origin}/`,
          headers: [
            ['x-a', value],
            [value, 'b'],
          ],
        }),
      ),
    ),
  )
  const values = arrived.map(({ headers }) => headers.find(([name]) => name === 'x-a')![1])
  expect(values.map((value) => Buffer.from(value, 'latin1').toString('latin1'))).toEqual(
    texts.map((text) => (/[^\x00-\xff]/.test(text) ? Buffer.from(text).toString('latin1') : text)),
  )
  const crlf = copied(
    call({
      url: 'http://a.test/',
      headers: [
        ['x-a', 'b\r\nx-evil: 1'],
        ['@/etc/passwd', 'x'],
      ],
    }),
  )
  expect(crlf).not.toContain('evil')
  expect(crlf).toMatch(/^# .*: 2 header/)
})

test('a hostile path arrives percent-encoded where a URL requires it', async () => {
  const texts = [...hostile, ...randomHostile(40)].filter((text) => !/[#?]/.test(text) && text !== '')
  const arrived = await sent((origin) => texts.map((text) => copied(call({ url: `${origin}/${text}` }))))
  const decoded = (url: string): string =>
    url.replace(/%([0-9A-F]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
  expect(arrived.map(({ url }) => decoded(url))).toEqual(
    texts.map((text) => decoded(`/${Buffer.from(text).toString('latin1')}`)),
  )
})

test('an invalid URL or method becomes a comment', async () => {
  for (const url of [...hostile, 'file:///etc/passwd', '@list', '--output=x'].filter(
    (text) => !text.startsWith('http'),
  ))
    expect(copied(call({ url }))).toMatch(/^#[^\n]*$/)
  for (const method of [...hostile].filter((text) => !/^[\w!#$%&'*+.^`|~-]+$/.test(text)))
    expect(copied(call({ url: 'http://a.test', method }))).toMatch(/^#[^\n]*$/)
})

test('a secret becomes a variable: the token if its place identifies it, else SECRET', async () => {
  const entry = {
    ...call({ type: 'request', service: 'queue', body: '{"password":"***"}' }),
    headers: [
      ['authorization', 'Bearer ***'],
      ['Upstash-Forward-X-Key', '***'],
    ],
  } as TraceEntry
  const arrived = await sent(
    (origin) => [
      copied({ ...entry, url: `${origin}/v2/publish/https://a.test` } as TraceEntry, {
        addresses: { queue: origin },
      }).replace('"$QSTASH_URL"', origin),
    ],
    { QSTASH_TOKEN: 'it\'s $(touch x) a "secret"', SECRET: 'pass' },
  )
  const { headers, body, url } = arrived[0]!
  expect(url).toBe('/v2/publish/https://a.test')
  expect(headers).toContainEqual(['authorization', 'Bearer it\'s $(touch x) a "secret"'])
  expect(headers).toContainEqual(['Upstash-Forward-X-Key', 'pass'])
  expect(String(body)).toBe('{"password":"pass"}')
})
