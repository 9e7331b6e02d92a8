import type { Duplex } from 'node:stream'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ioredisConnector } from '../../packages/server/src/redis-port/in-process.js'
import { Rest } from '../support/ask.js'
import type { RespReply } from '../support/resp.js'
import { decodeReply } from '../support/resp.js'
import { skeletonOf } from '../support/resp3.js'
import { replay } from '../support/transcript.js'
import { examples, steps } from './array.steps.js'

replay('array', steps)

/** Returns the JSON of a reply over REST. */
function jsonOf(reply: RespReply): string {
  if ('error' in reply) return JSON.stringify({ error: reply.error })
  return `{"result":${jsonValue(reply)}}`
}

function jsonValue(reply: RespReply): string {
  if ('status' in reply) return JSON.stringify(reply.status)
  if ('bulk' in reply) return JSON.stringify(reply.bulk)
  if ('integer' in reply) return reply.integer
  if ('array' in reply) return `[${reply.array.map(jsonValue).join(',')}]`
  return 'null'
}

describe('worked examples over REST', () => {
  it.each(examples.map(({ title, steps }) => [title, steps] as const))('%s', async (_, steps) => {
    const rest = Rest.open()
    for (const { argv, text, ours } of steps) {
      const { body } = await rest.post('/', argv)
      expect(body, text).toBe(jsonOf(ours!.reply))
    }
  })
})

/** Opens a connection of the Redis protocol, and returns a function that sends a command and returns the raw reply. */
async function connected(sandbox: Sandbox): Promise<(argv: readonly string[]) => Promise<string>> {
  const stream: Duplex = await new (ioredisConnector(sandbox))({}).connect()
  onTestFinished(() => void stream.destroy())
  let received = ''
  stream.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1')
  })
  return async (argv) => {
    received = ''
    stream.write(`*${argv.length}\r\n${argv.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`)
    await expect.poll(() => skeletonOf(received)?.end, { interval: 1 }).toBeDefined()
    return received
  }
}

function sandboxOfTest(): Sandbox {
  const sandbox = createSandbox({ onWarning: () => {} })
  onTestFinished(() => sandbox.dispose())
  return sandbox
}

it('worked examples over the Redis protocol', async () => {
  const send = await connected(sandboxOfTest())
  for (const { title, steps } of examples) {
    await send(['FLUSHALL'])
    for (const { argv, text, ours } of steps)
      expect(decodeReply(await send(argv)), `${title}: ${text}`).toEqual(ours!.reply)
  }
})

it('RESP3 has maps, doubles and big numbers', async () => {
  const send = await connected(sandboxOfTest())
  await send(['HELLO', '3'])
  await send(['ARMSET', 'k', '1', 'a', '18446744073709551613', 'b'])
  const big = '(18446744073709551613\r\n'
  expect(await send(['ARLEN', 'k'])).toBe('(18446744073709551614\r\n')
  expect(await send(['ARSCAN', 'k', '0', '18446744073709551614'])).toBe(
    `*2\r\n*2\r\n:1\r\n$1\r\na\r\n*2\r\n${big}$1\r\nb\r\n`,
  )
  expect(await send(['ARGREP', 'k', '-', '+', 'EXACT', 'b'])).toBe(`*1\r\n${big}`)
  expect(await send(['ARSEEK', 'k', '18446744073709551613'])).toBe(':1\r\n')
  expect(await send(['ARNEXT', 'k'])).toBe(big)
  expect(await send(['ARINSERT', 'k', 'c'])).toBe(big)
  expect(await send(['ARGET', 'k', '5'])).toBe('_\r\n')
  expect(await send(['AROP', 'k', '0', '5', 'SUM'])).toBe('_\r\n')
  const info = await send(['ARINFO', 'k', 'FULL'])
  expect(skeletonOf(info)?.skeleton).toBe('%[$ : $ ( $ ( $ : $ : $ : $ : $ : $ : $ , $ , $ ,]')
})

/**
 * Name, arity and flags of each command in `@ioredis/commands`, which is generated from redis-server. The arity of ARGREP
 * is -6 there. On the service, ARGREP without a predicate is a syntax error. [array.md 6]
 */
const commandFlags = [
  ['arcount', 2, 'readonly', 'fast'],
  ['ardel', -3, 'write', 'fast'],
  ['ardelrange', -4, 'write'],
  ['arget', 3, 'readonly', 'fast'],
  ['argetrange', 4, 'readonly'],
  ['argrep', -4, 'readonly'],
  ['arinfo', -2, 'readonly'],
  ['arinsert', -3, 'write', 'denyoom', 'fast'],
  ['arlastitems', -3, 'readonly'],
  ['arlen', 2, 'readonly', 'fast'],
  ['armget', -3, 'readonly', 'fast'],
  ['armset', -4, 'write', 'denyoom', 'fast'],
  ['arnext', 2, 'readonly', 'fast'],
  ['arop', -5, 'readonly'],
  ['arring', -4, 'write', 'denyoom'],
  ['arscan', -4, 'readonly'],
  ['arseek', 3, 'write', 'fast'],
  ['arset', -4, 'write', 'denyoom', 'fast'],
] as const

describe('COMMAND INFO', () => {
  it.each(commandFlags)('of %s has the flags and keys of redis-server', (name, arity, ...flags) => {
    const { store } = createSandbox({ onWarning: () => {} })
    const [[, shownArity, shown, first, last, step, categories]] = store.run('COMMAND', 'INFO', name) as never as [
      [string, number, string[], number, number, number, string[]],
    ]
    expect([shownArity, first, last, step]).toEqual([arity, 1, 1, 1])
    expect([...shown].sort()).toEqual([...flags].sort())
    expect(categories).toContain('@array')
    expect(categories).toContain(flags.includes('write') ? '@write' : '@read')
  })
})
