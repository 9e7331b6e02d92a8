import { Redis } from 'ioredis'
import { describe, expect, test } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../../../src/index.js'
import { documentedCommands } from '../../../../test/support/documented-commands.js'
import { ioredisConnector } from '../../src/redis-port/in-process.js'

// policy.commands for clients of the Redis protocol. docs/protocol/commands.json lists the undocumented commands.

/** Returns the replies of a connection, with errors as text. Each command has its own connection. */
async function answers(options: SandboxOptions, lines: readonly string[]): Promise<readonly unknown[]> {
  using sandbox = createSandbox(options)
  for (const line of ['MSET a 1 b 12', 'RPUSH l 2 1', 'XADD s 1-1 f v']) sandbox.store.run(...line.split(' '))
  const got: unknown[] = []
  for (const line of lines) {
    const redis = new Redis({ Connector: ioredisConnector(sandbox), maxRetriesPerRequest: 0 })
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
  test('rejects all undocumented commands if the policy requires that', async () => {
    const got = await answers(
      { policy: { commands: 'documented' } },
      undocumented.map(({ name }) => name),
    )
    const answered = undocumented.filter((_, at) => !refused.test(String(got[at]))).map(({ name }) => name)
    expect(answered).toEqual([])
  })

  test('runs implemented undocumented commands, with a diagnostic for each', async () => {
    const lines = ['LCS a b', 'SORT l', 'OBJECT ENCODING a', 'SUBSTR b 0 0', 'CLIENT GETREDIR', 'CLIENT NO-EVICT ON']
    const heard: string[] = []
    const got = await answers({ onWarning: (text) => heard.push(text) }, lines)
    expect(got).toEqual(['1', ['1', '2'], 'int', '1', -1, 'OK'])
    const names = ['LCS', 'SORT', 'OBJECT ENCODING', 'SUBSTR', 'CLIENT GETREDIR', 'CLIENT NO-EVICT']
    expect(heard.map((text) => text.split(' has no page')[0])).toEqual(names)
  })

  test('queues none of them in a transaction if the policy rejects them', async () => {
    using sandbox = createSandbox({ policy: { commands: 'documented' } })
    const redis = new Redis({ Connector: ioredisConnector(sandbox), maxRetriesPerRequest: 0 })
    redis.on('error', () => undefined)
    await redis.call('MULTI')
    await expect(redis.call('SORT', 'l')).rejects.toThrow(/not available/)
    await expect(redis.call('EXEC')).rejects.toThrow(/^EXECABORT/)
    redis.disconnect()
  })

  test('blocks with XREAD BLOCK without a diagnostic', async () => {
    using sandbox = createSandbox()
    const redis = new Redis({ Connector: ioredisConnector(sandbox), maxRetriesPerRequest: 0 })
    redis.on('error', () => undefined)
    const reply = redis.call('XREAD', 'BLOCK', '1000', 'STREAMS', 's', '$')
    await expect.poll(() => sandbox.store.run('INFO', 'clients')).toContain('blocked_clients:1')
    await sandbox.clock.advance('2s')
    expect(await reply).toBeNull()
    expect(sandbox.store.diagnostics).toEqual([])
    redis.disconnect()
  })

  test("signs in with a password under policy.aclRules: 'redis', and applies the selectors", async () => {
    using sandbox = createSandbox({ policy: { aclRules: 'redis' } })
    const rules = ['on', '>hunter22', '+ping', '+info', '+get', '~a', '(+set ~b)', '(+subscribe &news)', '-client|list']
    sandbox.store.run('ACL', 'SETUSER', 'ann', ...rules)
    const redis = new Redis({ Connector: ioredisConnector(sandbox), maxRetriesPerRequest: 0 })
    redis.on('error', () => undefined)
    expect(await redis.call('AUTH', 'ann', 'wrong').catch((error: Error) => error.message)).toMatch(/^WRONGPASS/)
    expect(await redis.call('AUTH', 'ann', 'hunter22')).toBe('OK')
    const attempt = (...argv: [string, ...string[]]) => redis.call(...argv).catch((error: Error) => error.message)
    expect(await attempt('GET', 'a')).toBeNull()
    expect(await attempt('SET', 'b', '1')).toBe('OK')
    expect(await attempt('SET', 'a', '1')).toMatch(/one of the keys/)
    expect(await attempt('CLIENT', 'LIST')).toMatch(/no permissions to run the 'client\|list' command/)
    expect(await attempt('SUBSCRIBE', 'other')).toMatch(/one of the channels/)
    redis.disconnect()
  })
})
