import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createSandbox, fault, type Sandbox } from '../../../../src/index.js'
import { ioredisConnector, openRedisSocket } from '../../src/redis-port/in-process.js'

// A disposed sandbox closes no connection, so that a client that a failed test left open fails no other test.

/** A client as tests use it. */
interface Client {
  send(...words: [string, ...string[]]): Promise<unknown>
  listen(): Promise<unknown>
  quit(): Promise<unknown>
  readonly errors: readonly string[]
  readonly isOpen: boolean
}

function ioredis(options: object): Client {
  const redis = new Redis({ ...options, maxRetriesPerRequest: 0 })
  const errors: string[] = []
  for (const event of ['error', 'close', 'end', 'reconnecting']) redis.on(event, () => errors.push(event))
  onTestFinished(() => redis.disconnect())
  return {
    send: (name, ...args) => redis.call(name, ...args),
    listen: () => redis.subscribe('news'),
    quit: () => redis.quit(),
    errors,
    get isOpen() {
      return redis.status === 'ready'
    },
  }
}

async function nodeRedis(path: string, RESP: 2 | 3): Promise<Client> {
  const client = createClient({ socket: { path, tls: false }, RESP })
  const errors: string[] = []
  for (const event of ['error', 'end', 'reconnecting']) client.on(event, () => errors.push(event))
  await client.connect()
  onTestFinished(() => (client.isOpen ? client.destroy() : undefined))
  return {
    send: (...words) => client.sendCommand(words),
    listen: () => client.subscribe('news', () => undefined),
    quit: () => client.close(),
    errors,
    get isOpen() {
      return client.isReady
    },
  }
}

const ways: readonly (readonly [string, (sandbox: Sandbox) => Promise<Client>])[] = [
  ['ioredis with ioredisConnector()', async (sandbox) => ioredis({ Connector: ioredisConnector(sandbox) })],
  ['ioredis with openRedisSocket()', async (sandbox) => ioredis(await openRedisSocket(sandbox))],
  ['node-redis with RESP2', async (sandbox) => nodeRedis((await openRedisSocket(sandbox)).path, 2)],
  ['node-redis with RESP3', async (sandbox) => nodeRedis((await openRedisSocket(sandbox)).path, 3)],
]

/** Waits until the host has delivered everything that was sent. */
function aWhile(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}

const isDisposed = /^ERR .*disposed/

const promptly = { interval: 2 }

// An unhandled error fails a run, as a client without an error listener does.
const uncaught = vi.fn()
beforeEach(() => {
  uncaught.mockClear()
  const events = ['unhandledRejection', 'uncaughtException'] as const
  for (const event of events) process.on(event, uncaught)
  return () => {
    for (const event of events) process.off(event, uncaught)
    expect(uncaught.mock.calls).toEqual([])
  }
})

describe.each(ways)('%s after its sandbox was disposed', (_, clientOf) => {
  test('stays connected, and each command gets an error with the reason', async () => {
    const sandbox = createSandbox()
    const client = await clientOf(sandbox)
    await client.send('SET', 'a', '1')
    sandbox.dispose()
    await aWhile()
    expect(client.isOpen).toBe(true)
    await expect(client.send('GET', 'a')).rejects.toThrow(isDisposed)
    const errors = await Promise.allSettled([client.send('MULTI'), client.send('PING')])
    expect(errors).toMatchObject(Array(2).fill({ reason: { message: expect.stringMatching(isDisposed) } }))
    expect(client.isOpen).toBe(true)
    expect(client.errors).toEqual([])
    await client.quit()
  })

  test('stays connected while it subscribes', async () => {
    const sandbox = createSandbox()
    const client = await clientOf(sandbox)
    await client.listen()
    sandbox.dispose()
    await aWhile()
    expect(client.isOpen).toBe(true)
    expect(client.errors).toEqual([])
  })

  test.each([
    ['waits', (_sandbox: Sandbox, client: Client) => client.send('BLPOP', 'jobs', '60')],
    [
      'is late',
      (sandbox: Sandbox, client: Client) => {
        sandbox.faults.add({ on: 'store.request', fault: fault.latency('1m') })
        return client.send('GET', 'a')
      },
    ],
  ])('gets no reply to a command that %s until the client sends another one', async (_, begin) => {
    const sandbox = createSandbox()
    const client = await clientOf(sandbox)
    await client.send('PING')
    const ended = vi.fn()
    void begin(sandbox, client).then(ended, ({ message }) => ended(message))
    await expect.poll(() => sandbox.clock.pending.length, promptly).toBe(1)
    sandbox.dispose()
    await aWhile()
    expect(ended.mock.calls).toEqual([])
    await expect(client.send('GET', 'a')).rejects.toThrow(isDisposed)
    expect(ended.mock.calls).toEqual([[expect.stringMatching(isDisposed)]])
    expect(client.errors).toEqual([])
  })
})

test('a partial reply is never completed: the connection closes when its client continues', async () => {
  const sandbox = createSandbox()
  const { path } = await openRedisSocket(sandbox)
  const { got, socket } = await peer(path)
  sandbox.faults.add({ on: 'store.request', fault: fault.slowBody(1) })
  socket.write('PING\r\n')
  await expect.poll(() => sandbox.clock.pending.length, promptly).toBe(1)
  await sandbox.clock.advance('3s')
  sandbox.dispose()
  await aWhile()
  expect(got()).toMatch(/^\+P/)
  const begun = got()
  socket.write('GET a\r\n')
  await expect.poll(() => socket.destroyed, promptly).toBe(true)
  expect(got()).toBe(begun)
})

test('QUIT ends a connection, and so does its client', async () => {
  const sandbox = createSandbox()
  const { path } = await openRedisSocket(sandbox)
  const [one, other] = [await peer(path), await peer(path)]
  sandbox.dispose()
  one.socket.write('GET a\r\nQUIT\r\n')
  await expect.poll(() => one.socket.destroyed, promptly).toBe(true)
  expect(one.got()).toMatch(/^-ERR .*disposed.*\r\n\+OK\r\n$/)
  other.socket.end()
  await expect.poll(() => other.socket.destroyed, promptly).toBe(true)
})

test('commands behind a blocked one get no reply of another command', async () => {
  const sandbox = createSandbox()
  const { path } = await openRedisSocket(sandbox)
  const { got, socket } = await peer(path)
  socket.write('BLPOP jobs 0\r\nGET a\r\n')
  await aWhile()
  sandbox.dispose()
  socket.write('QUIT\r\n')
  await expect.poll(() => socket.destroyed, promptly).toBe(true)
  expect(got()).toMatch(/^(?:-ERR .*disposed.*\r\n){2}\+OK\r\n$/)
})

test('a private socket accepts no more connections and deletes its file', async () => {
  const sandbox = createSandbox()
  const { path, close } = await openRedisSocket(sandbox)
  const { socket } = await peer(path)
  sandbox.dispose()
  await expect.poll(() => existsSync(dirname(path)), promptly).toBe(false)
  await expect(peer(path)).rejects.toThrow('ENOENT')
  expect(socket.destroyed).toBe(false)
  // close() also closes its connections.
  await close()
  await expect.poll(() => socket.destroyed, promptly).toBe(true)
})

test('remaining connections do not keep the process alive', async () => {
  const pipes = (): number => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length
  const before = pipes()
  const sandbox = createSandbox()
  const { path } = await openRedisSocket(sandbox)
  const { socket } = await peer(path)
  expect(pipes()).toBeGreaterThan(before)
  sandbox.dispose()
  // Only the client decides about its own end.
  socket.unref()
  expect(pipes()).toBe(before)
})

test('faults and resets close connections as before', async () => {
  const sandbox = createSandbox()
  const { path } = await openRedisSocket(sandbox)
  const [broken, waiting] = [await peer(path), await peer(path)]
  waiting.socket.write('BLPOP jobs 0\r\n')
  sandbox.faults.add({ on: 'store.request', match: { command: 'GET' }, fault: fault.reset() })
  broken.socket.write('GET a\r\n')
  await expect.poll(() => broken.socket.destroyed, promptly).toBe(true)
  await aWhile()
  sandbox.reset()
  await expect.poll(() => waiting.socket.destroyed, promptly).toBe(true)
  sandbox.dispose()
})

/** Opens a connection, and collects what it receives. */
async function peer(path: string): Promise<{ socket: ReturnType<typeof connect>; got: () => string }> {
  let got = ''
  const socket = connect(path)
  onTestFinished(() => void socket.destroy())
  socket.on('data', (chunk) => {
    got += chunk.toString('latin1')
  })
  await new Promise((resolve, reject) => socket.on('connect', resolve).on('error', reject))
  socket.write('PING\r\n')
  await expect.poll(() => got, promptly).toBe('+PONG\r\n')
  got = ''
  return { socket, got: () => got }
}
