import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createSandbox } from '../../../../src/index.js'
import { openRedisSocket } from '../../src/redis-port/in-process.js'

// The bytes that redis-server 7.0 sends for rejected lines, in and outside of transactions.

const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Returns what a connection receives until it has sent these lines and closed. */
async function heard(lines: readonly string[]): Promise<string> {
  const sandbox = createSandbox({ policy: { commands: 'all' } })
  ends.push(() => sandbox.dispose())
  const { path } = await openRedisSocket(sandbox)
  return new Promise((resolve, reject) => {
    let got = ''
    const socket = connect(path, () => socket.write(`${[...lines, 'QUIT'].join('\r\n')}\r\n`))
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1')
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(got.replace(/\+OK\r\n$/, '')))
  })
}

const aborted = '-EXECABORT Transaction discarded because of previous errors.\r\n'

describe('a transaction', () => {
  test.each([
    ['CLIENT FOO', "-ERR unknown subcommand 'FOO'. Try CLIENT HELP.\r\n"],
    ['CLIENT', "-ERR wrong number of arguments for 'client' command\r\n"],
    ['MULTI x', "-ERR wrong number of arguments for 'multi' command\r\n"],
    ['DISCARD x', "-ERR wrong number of arguments for 'discard' command\r\n"],
    ['WATCH', "-ERR wrong number of arguments for 'watch' command\r\n"],
    ['RESET x', "-ERR wrong number of arguments for 'reset' command\r\n"],
  ])('is discarded after %s', async (line, refusal) => {
    const got = await heard(['MULTI', 'SET a 1', line, 'EXEC', 'EXISTS a'])
    expect(got).toBe(`+OK\r\n+QUEUED\r\n${refusal}${aborted}:0\r\n`)
  })

  test.each([
    ['MULTI', '-ERR MULTI calls can not be nested\r\n'],
    ['WATCH a', '-ERR WATCH inside MULTI is not allowed\r\n'],
  ])('continues after %s', async (line, refusal) => {
    const got = await heard(['MULTI', 'SET a 1', line, 'EXEC'])
    expect(got).toBe(`+OK\r\n+QUEUED\r\n${refusal}*1\r\n+OK\r\n`)
  })

  test('is ended by an invalid EXEC, which also ends WATCH', async () => {
    const refusal = "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command\r\n"
    expect(await heard(['MULTI', 'SET a 1', 'EXEC x', 'EXEC'])).toBe(
      `+OK\r\n+QUEUED\r\n${refusal}-ERR EXEC without MULTI\r\n`,
    )
    expect(await heard(['WATCH a', 'EXEC x', 'SET a 1', 'MULTI', 'PING', 'EXEC'])).toBe(
      `+OK\r\n${refusal}+OK\r\n+OK\r\n+QUEUED\r\n*1\r\n+PONG\r\n`,
    )
  })
})

test('a subscriber gets errors of arity first, and of subcommands with their complete names', async () => {
  const others = 'only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context\r\n'
  expect(await heard(['SUBSCRIBE c', 'WATCH', 'GET', 'GET a', 'CLIENT GETNAME'])).toBe(
    '*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n' +
      "-ERR wrong number of arguments for 'watch' command\r\n" +
      "-ERR wrong number of arguments for 'get' command\r\n" +
      `-ERR Can't execute 'get': ${others}-ERR Can't execute 'client|getname': ${others}`,
  )
})

describe('CLIENT KILL', () => {
  test.each([
    ['TYPE normal SKIPME x', '-ERR syntax error'],
    ['ID 0', '-ERR client-id should be greater than 0'],
    ['ID x', '-ERR client-id should be greater than 0'],
    ['TYPE foo', "-ERR Unknown client type 'foo'"],
    ['TYPE master', ':0'],
    ['USER nobody', "-ERR No such user 'nobody'"],
    ['SKIPME YES ID 99999', ':0'],
    ['USER default', ':0'],
    ['ID 9 FOO', '-ERR syntax error'],
  ])('%s', async (filter, reply) => {
    expect(await heard([`CLIENT KILL ${filter}`, 'PING'])).toBe(`${reply}\r\n+PONG\r\n`)
  })

  test('of the same connection, by ID', async () => {
    expect(await heard(['CLIENT KILL ID 1 SKIPME no', 'PING'])).toBe(':1\r\n')
  })
})

describe('signing in', () => {
  test('is rejected in a transaction, which it discards', async () => {
    for (const line of ['AUTH default wrong', 'HELLO 3 AUTH default wrong', 'HELLO 9']) {
      expect(await heard(['MULTI', 'SET a 1', line, 'EXEC'])).toBe(
        `+OK\r\n+QUEUED\r\n-ERR Command not allowed inside a transaction\r\n${aborted}`,
      )
    }
  })

  test('is rejected while subscribed', async () => {
    for (const line of ['AUTH default wrong', 'HELLO 3 AUTH default wrong']) {
      const name = line.split(' ')[0]!.toLowerCase()
      expect(await heard(['SUBSCRIBE c', line])).toContain(`-ERR Can't execute '${name}': only (P|S)SUBSCRIBE`)
    }
  })
})
