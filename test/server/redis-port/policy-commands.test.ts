import { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../../src/index.js'
import { connector } from '../../../src/server/redis-port/in-process.js'
import { documentedCommands } from '../../support/documented-commands.js'

// policy.commands, as clients of the native protocol see it. Which commands have no page: docs/protocol/commands.json.

/** What a connection answers, errors as text; each command on a connection of its own. */
async function answers(options: SandboxOptions, lines: readonly string[]): Promise<readonly unknown[]> {
  using sandbox = createSandbox(options)
  for (const line of ['MSET a 1 b 12', 'RPUSH l 2 1', 'XADD s 1-1 f v']) sandbox.store.run(...line.split(' '))
  const got: unknown[] = []
  for (const line of lines) {
    const redis = new Redis({ Connector: connector(sandbox), maxRetriesPerRequest: 0 })
    redis.on('error', () => undefined)
    const [name, ...args] = line.split(' ')
    got.push(await redis.call(name!, ...args).catch((error: Error) => `error: ${error.message}`))
    redis.disconnect()
  }
  return got
}

const undocumented = documentedCommands().filter(({ name, status }) => status !== 'documented' && !name.endsWith('*'))
const refused = /^error: ERR (?:Command is not available: |Unknown subcommand|unknown subcommand|unknown command)/

describe('a connection', () => {
  test('has none of the commands without a page', async () => {
    const got = await answers(
      {},
      undocumented.map(({ name }) => name),
    )
    const answered = undocumented.filter((_, at) => !refused.test(String(got[at]))).map(({ name }) => name)
    expect(answered).toEqual([])
  })

  test('has those that are built under the policy', async () => {
    const lines = ['LCS a b', 'SORT l', 'OBJECT ENCODING a', 'SUBSTR b 0 0', 'CLIENT GETREDIR', 'CLIENT NO-EVICT ON']
    expect(await answers({ policy: { commands: 'all' } }, lines)).toEqual(['1', ['1', '2'], 'int', '1', -1, 'OK'])
  })

  test('queues none of them in a transaction', async () => {
    using sandbox = createSandbox()
    const redis = new Redis({ Connector: connector(sandbox), maxRetriesPerRequest: 0 })
    redis.on('error', () => undefined)
    await redis.call('MULTI')
    await expect(redis.call('SORT', 'l')).rejects.toThrow(/not available/)
    await expect(redis.call('EXEC')).rejects.toThrow(/^EXECABORT/)
    redis.disconnect()
  })
})
