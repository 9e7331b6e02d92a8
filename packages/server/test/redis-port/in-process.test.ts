import type { Duplex } from 'node:stream'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import 'stuntdouble/vitest/extend'
import { createSandbox, fault, type Sandbox } from '../../../../src/index.js'
import { ioredisConnector, openRedisSocket } from '../../src/redis-port/in-process.js'

// ioredisConnector() creates a stream in this process that behaves like a socket, which delivers nothing during a call
// of write().

const ok = '+OK\r\n'
const promptly = { interval: 2 }

function sandboxOfTest(): Sandbox {
  const sandbox = createSandbox()
  onTestFinished(() => sandbox.dispose())
  return sandbox
}

/** Returns the client's end of a connection that is in use, with what it has received since. */
async function connection(
  sandbox: Sandbox,
  user = 'default',
): Promise<{ readonly stream: Duplex; readonly brought: string[] }> {
  const Connector = ioredisConnector(sandbox, { user })
  const stream: Duplex = await new Connector({}).connect()
  onTestFinished(() => void stream.destroy())
  const brought: string[] = []
  stream.on('data', (chunk: Buffer) => brought.push(chunk.toString('latin1')))
  for (const event of ['end', 'close', 'error']) stream.on(event, () => brought.push(event))
  stream.write('PING\r\n')
  await expect.poll(() => brought.splice(0), promptly).toEqual(['+PONG\r\n'])
  return { stream, brought }
}

describe('write() of a client returns before the result of', () => {
  test.each([
    ['a command', 'SET a 1\r\n', [ok]],
    ['an error', 'GET\r\n', [expect.stringContaining('-ERR wrong number')]],
    ['a pipeline that ends in QUIT', 'SET a 1\r\nGET a\r\nQUIT\r\n', [`${ok}$1\r\n1\r\n${ok}`, 'end', 'close']],
    ['QUIT of a listener', 'SUBSCRIBE c\r\nQUIT\r\n', [expect.stringMatching(/:1\r\n\+OK\r\n$/), 'end', 'close']],
    ['QUIT within MULTI', 'MULTI\r\nQUIT\r\n', [`${ok}${ok}`, 'end', 'close']],
    ['a protocol error', 'PING\r\n*1\r\n$-5\r\n', [expect.stringMatching(/^\+PONG\r\n-ERR/), 'end', 'close']],
    ['a POST request of a browser', 'POST / HTTP/1.1\r\n', ['close']],
    ['the deletion of its user', 'ACL DELUSER alice\r\n', [':1\r\n', 'end', 'close']],
  ])('%s', async (_, bytes, expected) => {
    const sandbox = sandboxOfTest()
    sandbox.store.run('ACL', 'SETUSER', 'alice', 'on', '~*', '&*', '+@all')
    const { stream, brought } = await connection(sandbox, 'alice')
    stream.write(bytes)
    expect(brought).toEqual([])
    await expect.poll(() => brought, promptly).toEqual(expected)
  })

  test.each([
    ['a reset', fault.reset(), ['close']],
    ['half a reply', fault.truncate(3), ['$1\r', 'close']],
  ])('%s by a fault, after another reply', async (_, fault, expected) => {
    const sandbox = sandboxOfTest()
    sandbox.faults.add({ on: 'store.request', match: { command: 'GET' }, fault })
    const { stream, brought } = await connection(sandbox)
    stream.write('SET a 1\r\nGET a\r\n')
    expect(brought).toEqual([])
    await expect.poll(() => brought, promptly).toEqual([ok, ...expected])
  })

  test('does not throw errors of a listener of the test', async () => {
    const sandbox = sandboxOfTest()
    const { stream, brought } = await connection(sandbox)
    const thrown = vi.fn()
    process.on('unhandledRejection', thrown)
    onTestFinished(() => void process.off('unhandledRejection', thrown))
    const stop = sandbox.traffic.subscribe(() => {
      throw new Error('a listener')
    })
    stream.write('SET a 1\r\n')
    stop()
    await expect.poll(() => brought, promptly).toEqual(['close'])
    expect(thrown.mock.calls).toMatchObject([[{ message: 'a listener' }, {}]])
  })
})

describe('a connection in this process', () => {
  test('has run a command when write() returns, before the test advances the clock', async () => {
    const sandbox = sandboxOfTest()
    const { stream, brought } = await connection(sandbox)
    stream.write('BLPOP jobs 30\r\n')
    await sandbox.clock.advance('30s')
    await expect.poll(() => brought, promptly).toEqual(['*-1\r\n'])
  })

  test('delivers data of several connections in the order in which it was sent', async () => {
    const sandbox = sandboxOfTest()
    const [one, other] = [await connection(sandbox), await connection(sandbox)]
    const order: string[] = []
    one.stream.on('data', (chunk) => order.push(`one ${chunk}`.trim()))
    other.stream.on('data', (chunk) => order.push(`other ${chunk}`.trim()))
    other.stream.write('INCR n\r\n')
    one.stream.write('INCR n\r\n')
    void Promise.resolve().then(() => order.push('a continuation of the test'))
    one.stream.write('INCR n\r\n')
    await expect.poll(() => order, promptly).toEqual(['other :1', 'one :2', 'a continuation of the test', 'one :3'])
  })

  test('delivers everything that was sent before a reset closes it', async () => {
    const sandbox = sandboxOfTest()
    const { stream, brought } = await connection(sandbox)
    stream.write('SUBSCRIBE c\r\n')
    for (const word of ['first', 'second', 'third']) sandbox.store.run('PUBLISH', 'c', word)
    sandbox.reset()
    await expect.poll(() => brought.at(-1), promptly).toBe('close')
    expect(brought.join('')).toMatch(/first\r\n.*second\r\n.*third\r\n/s)
  })

  test('carries more data than its buffers hold in both directions', async () => {
    const redis = new Redis({ Connector: ioredisConnector(sandboxOfTest()) })
    onTestFinished(() => redis.disconnect())
    const large = 'x'.repeat(3_000_000)
    await redis.set('large', large)
    const replies = await Promise.all(Array.from({ length: 5 }, () => redis.get('large')))
    expect(replies.every((reply) => reply === large)).toBe(true)
  })

  test('closes under fake timers, too', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const sandbox = sandboxOfTest()
    const { stream, brought } = await connection(sandbox)
    const closed = new Promise((resolve) => stream.on('close', resolve))
    sandbox.faults.add({ on: 'store.request', fault: fault.reset() })
    stream.write('GET a\r\n')
    await closed
    expect(brought).toEqual(['close'])
  })
})

describe.each(['ioredisConnector()', 'openRedisSocket()'])('ioredis with %s', (way) => {
  async function client(): Promise<{ redis: Redis; sandbox: Sandbox; errors: string[] }> {
    const sandbox = sandboxOfTest()
    const to =
      way === 'ioredisConnector()'
        ? { Connector: ioredisConnector(sandbox) }
        : { path: (await openRedisSocket(sandbox)).path }
    const redis = new Redis({ ...to, retryStrategy: () => null })
    const errors: string[] = []
    redis.on('error', ({ message }) => errors.push(message))
    onTestFinished(() => redis.disconnect())
    return { redis, sandbox, errors }
  }

  test('quits', async () => {
    const { redis, errors } = await client()
    await redis.set('a', '1')
    expect(await redis.quit()).toBe('OK')
    await expect.poll(() => redis.status, promptly).toBe('end')
    expect(errors).toEqual([])
  })

  test('quits at the end of a pipeline', async () => {
    const { redis, errors } = await client()
    await redis.ping()
    const replies = await redis.pipeline().incr('n').incr('n').quit().exec()
    expect(replies).toEqual([
      [null, 1],
      [null, 2],
      [null, 'OK'],
    ])
    expect(errors).toEqual([])
  })

  test('quits while it subscribes', async () => {
    const { redis, errors } = await client()
    await redis.subscribe('news')
    expect(await redis.quit()).toBe('OK')
    expect(errors).toEqual([])
  })

  test('quits behind a delayed command', async () => {
    const { redis, sandbox, errors } = await client()
    await redis.ping()
    sandbox.faults.add({ on: 'store.request', match: { command: 'INCR' }, fault: fault.latency('3s') })
    const replies = Promise.all([redis.incr('n'), redis.quit()])
    await expect.poll(() => sandbox.clock.pending.length, promptly).toBe(1)
    await sandbox.clock.advance('3s')
    expect(await replies).toEqual([1, 'OK'])
    expect(errors).toEqual([])
  })
})

test('a sequence tells commands over a connection from those of the test', async () => {
  const sandbox = sandboxOfTest()
  sandbox.store.run('SET', 'stock', 3)
  const { stream, brought } = await connection(sandbox)
  stream.write('DECR stock\r\n')
  await expect.poll(() => brought, promptly).toEqual([':2\r\n'])
  expect(sandbox).toFollowSequence([
    { type: 'command', argv: ['SET', 'stock', '3'], via: 'direct' },
    { type: 'command', argv: ['DECR', 'stock'], via: 'resp' },
  ])
})
