import type { Duplex } from 'node:stream'
import { createSandbox, type FaultAt, fault, type SandboxOptions } from 'stuntdouble'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ioredisConnector } from '../../packages/server/src/redis-port/in-process.js'

// Clients of the Redis protocol have no dialect, so URLs in texts are the vendor's, as over REST with an SDK.

/** Returns the replies of a connection to these lines, from the last line on. */
async function answered(
  options: SandboxOptions,
  lines: readonly string[],
  fault?: FaultAt<'store.request'>,
): Promise<string> {
  const sandbox = createSandbox(options)
  onTestFinished(() => sandbox.dispose())
  if (fault !== undefined) sandbox.faults.add({ on: 'store.request', match: { command: 'GET' }, fault })
  const stream: Duplex = await new (ioredisConnector(sandbox))({}).connect()
  let got = ''
  stream.on('data', (chunk: Buffer) => {
    got += chunk.toString('latin1')
  })
  stream.write(`${[...lines, 'QUIT'].join('\r\n')}\r\n`)
  await new Promise((resolve) => stream.on('close', resolve))
  return got
}

interface Case {
  readonly what: string
  readonly lines: readonly string[]
  readonly options?: SandboxOptions
  readonly fault?: FaultAt<'store.request'>
}

const cases: readonly Case[] = [
  { what: 'an unknown command', lines: ['NONSENSE'] },
  { what: 'an unknown command within MULTI', lines: ['MULTI', 'NONSENSE'] },
  { what: 'an unknown subcommand', lines: ['COMMAND NONSENSE'] },
  {
    what: 'a command that is too large',
    options: { policy: { maxRequestSize: 50 } },
    lines: [`SET a ${'x'.repeat(100)}`],
  },
  { what: 'the limit of a day', options: { policy: { dailyRequestLimit: 1 } }, lines: ['PING', 'PING'] },
  {
    what: 'the limit of a day, by EXEC',
    options: { policy: { dailyRequestLimit: 1 } },
    lines: ['MULTI', 'PING', 'GET a', 'EXEC'],
  },
  { what: 'the limit of a month', options: { policy: { monthlyRequestLimit: 1 } }, lines: ['GET a', 'GET a'] },
  {
    what: 'a full data store',
    options: { policy: { maxStorageSize: 10 } },
    lines: ['SET a 12345678901', 'SET b 12345678901'],
  },
  { what: 'a fault', lines: ['GET a'], fault: fault.quotaExceeded() },
]

describe.each(cases)('$what', ({ options, lines, fault }) => {
  test.each([
    ['auto', 'https://upstash.com/docs'],
    ['upstash', 'https://upstash.com/docs'],
    ['neutral', 'https://docs.service.test'],
  ] as const)('points to the documentation with dialect %s: %s', async (dialect, docs) => {
    const got = await answered({ ...options, dialect }, lines, fault)
    expect(got.match(/https:\/\/(?:[\w.-]+)(?:\/docs)?/g)).toEqual([docs])
  })
})

test('a later REST request gets a response in its own dialect', async () => {
  const sandbox = createSandbox()
  onTestFinished(() => sandbox.dispose())
  const stream: Duplex = await new (ioredisConnector(sandbox))({}).connect()
  onTestFinished(() => void stream.destroy())
  const told = new Promise((resolve) => stream.once('data', resolve))
  stream.write('NONSENSE\r\n')
  expect(String(await told)).toContain('https://upstash.com/docs')
  const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
  const answer = await sandbox.fetch(`${sandbox.urls.store}/nonsense`, { headers })
  expect(await answer.text()).toContain('https://docs.service.test')
  expect(() => sandbox.store.run('NONSENSE')).toThrow('https://docs.service.test')
})
