import type { Duplex } from 'node:stream'
import { createSandbox, type Fault, quota, type SandboxOptions } from 'stuntdouble'
import { connector } from 'stuntdouble/redis'
import { describe, expect, onTestFinished, test } from 'vitest'

// Clients of the native protocol have no words of a vendor: the addresses in texts are the vendor's, as over REST with an SDK.

/** What a connection answers to these lines, from the last of them on. */
async function answered(options: SandboxOptions, lines: readonly string[], fault?: Fault): Promise<string> {
  const sandbox = createSandbox(options)
  onTestFinished(() => sandbox.dispose())
  if (fault !== undefined) sandbox.faults.add({ on: 'store.request', match: { command: 'GET' }, fault })
  const stream: Duplex = await new (connector(sandbox))({}).connect()
  let got = ''
  stream.on('data', (chunk: Buffer) => {
    got += chunk.toString('latin1')
  })
  stream.write(`${[...lines, 'QUIT'].join('\r\n')}\r\n`)
  await new Promise((resolve) => stream.on('close', resolve))
  return got
}

const cases: readonly (readonly [string, SandboxOptions, readonly string[], Fault?])[] = [
  ['an unknown command', {}, ['NONSENSE']],
  ['an unknown command within MULTI', {}, ['MULTI', 'NONSENSE']],
  ['an unknown subcommand', {}, ['COMMAND NONSENSE']],
  ['a command that is too large', { policy: { maxRequestSize: 50 } }, [`SET a ${'x'.repeat(100)}`]],
  ['the limit of a day', { policy: { dailyRequestLimit: 1 } }, ['PING', 'PING']],
  ['the limit of a day, by EXEC', { policy: { dailyRequestLimit: 1 } }, ['MULTI', 'PING', 'GET a', 'EXEC']],
  ['the limit of a month', { policy: { monthlyRequestLimit: 1 } }, ['GET a', 'GET a']],
  ['a full data store', { policy: { maxStorage: 10 } }, ['SET a 12345678901', 'SET b 12345678901']],
  ['a fault', {}, ['GET a'], quota()],
]

describe.each(cases)('%s', (_, options, lines, fault) => {
  test.each([
    ['auto', 'https://upstash.com/docs'],
    ['upstash', 'https://upstash.com/docs'],
    ['service', 'https://docs.service.test'],
  ] as const)('with vocabulary %s points to %s', async (vocabulary, docs) => {
    const got = await answered({ ...options, vocabulary }, lines, fault)
    expect(got.match(/https:\/\/(?:[\w.-]+)(?:\/docs)?/g)).toEqual([docs])
  })
})

test('a request over REST after it is answered in its own words', async () => {
  const sandbox = createSandbox()
  onTestFinished(() => sandbox.dispose())
  const stream: Duplex = await new (connector(sandbox))({}).connect()
  onTestFinished(() => void stream.destroy())
  const told = new Promise((resolve) => stream.once('data', resolve))
  stream.write('NONSENSE\r\n')
  expect(String(await told)).toContain('https://upstash.com/docs')
  const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
  const answer = await sandbox.fetch(`${sandbox.addresses.store}/nonsense`, { headers })
  expect(await answer.text()).toContain('https://docs.service.test')
  expect(() => sandbox.store.run('NONSENSE')).toThrow('https://docs.service.test')
})
