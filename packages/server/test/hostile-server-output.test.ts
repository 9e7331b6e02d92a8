import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { run } from './command-line.js'

// A server of another program that tries to write to a terminal.
const evil = '\x1b]0;owned\x07\x1b[31m\x9b2J\u202egnp\u2028\r\n'
const unsafe = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]/

let rogue: Server
afterEach(() => {
  rogue.closeAllConnections()
  rogue.close()
})

async function serving(answer: (path: string) => unknown): Promise<string> {
  rogue = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer(request.url!)))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => rogue.once('listening', resolve))
  return `http://127.0.0.1:${(rogue.address() as AddressInfo).port}`
}

const facts = (env: Record<string, unknown>) => ({
  tenant: evil,
  addresses: { store: 'http://x', queue: 'http://x', mgmt: 'http://x', regions: {} },
  tokens: {},
  env,
  mark: 3,
})

test.each([
  ['a value with escapes', { STORE_URL: evil }],
  ['a value with a line break', { STORE_URL: 'a\nPATH=/tmp' }],
  ['a name that contains a command', { 'X=1; rm -rf ~ #': 'a' }],
  ['a name with escapes', { [evil]: 'a' }],
  ['a value that is not a text', { STORE_URL: { a: evil } }],
])(
  'env rejects %s',
  async (_, env) => {
    const url = await serving(() => facts(env))
    for (const format of ['shell', 'dotenv', 'github', 'powershell', 'json']) {
      const { code, out, err } = await run('env', '--url', url, '--format', format)
      expect([format, code, out]).toEqual([format, 2, ''])
      expect(err.trimEnd()).not.toMatch(unsafe)
    }
  },
  30_000,
)

test.each(['tail', 'env'])('%s prints no escape sequence of an error', async (name) => {
  const url = await serving(() => ({ error: evil, message: evil }))
  const { out, err } = await run(name, '--url', url, ...(name === 'tail' ? ['--once'] : []))
  expect(out + err).not.toMatch(unsafe)
})

test('tail prints no escape sequence of a field with a wrong type', async () => {
  const entries = [
    {
      type: 'attempt',
      seq: 1,
      at: 0,
      messageId: evil,
      kind: evil,
      url: evil,
      method: evil,
      retried: evil,
      maxRetries: evil,
      reason: evil,
      headers: [],
      body: evil,
      outcome: { at: 1, status: evil, error: evil, headers: [], body: evil, state: evil, note: evil },
    },
    { type: 'command', seq: 2, at: 0, argv: [evil], user: evil, via: evil, reply: { status: evil } },
    { type: evil, seq: 3, at: 0, [evil]: evil },
    { type: 'dropped', seq: 4, at: 0, count: evil, limit: evil, unit: evil },
  ]
  const url = await serving((path) =>
    path.includes('/traffic/mark') ? { mark: 4 } : path.includes('/traffic') ? { entries } : facts({}),
  )
  const { out, err } = await run('tail', '--url', url, '--once', '--lines', 'all')
  expect(out + err).not.toBe('')
  expect(out + err).not.toMatch(unsafe)
})
