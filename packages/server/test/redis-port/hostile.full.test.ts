import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../../../src/index.js'
import { storeInternals } from '../../../../src/store/store-internals.js'
import { runs } from '../../../../test/support/effort.js'
import { openRedisSocket } from '../../src/redis-port/in-process.js'
import { type ServerOptions, type StuntdoubleServer, startServer } from '../../src/server.js'
import { served } from './served.js'

// Inputs that no client sends, and actions that no client does: nothing crashes, hangs, or stays open.

/** A connection that collects what it receives, and never fails the test itself. */
class Peer {
  got = ''
  isClosed = false
  readonly socket: Socket

  constructor(to: number | string) {
    this.socket = typeof to === 'number' ? connect({ port: to, host: '127.0.0.1', allowHalfOpen: true }) : connect(to)
    this.socket.on('data', (chunk) => {
      this.got += chunk.toString('latin1')
    })
    this.socket.on('error', () => undefined)
    // It keeps its own end open, and notices that the other end is closed when it sends more.
    let going: NodeJS.Timeout | undefined
    this.socket.on('end', () => {
      going = setInterval(() => this.send('\r\n'), 50)
    })
    this.socket.on('close', () => {
      clearInterval(going)
      this.isClosed = true
    })
    onTestFinished(() => void this.socket.destroy())
  }

  send(bytes: string | Uint8Array): this {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    return this
  }

  async hears(what: RegExp | string): Promise<void> {
    await expect.poll(() => this.got, { timeout: 20_000 }).toMatch(what)
  }

  async isSentAway(): Promise<void> {
    await expect.poll(() => this.isClosed, { timeout: 20_000 }).toBe(true)
  }
}

/** Opens a connection with all permissions. */
function signedIn(server: StuntdoubleServer): Peer {
  return new Peer(server.redisPort!).send(`AUTH ${server.tenant('main').tokens.store}\r\n`)
}

async function stillServes(server: StuntdoubleServer): Promise<void> {
  const peer = signedIn(server).send('ECHO still-here\r\n')
  await peer.hears(/\+OK\r\n\$10\r\nstill-here\r\n/)
  peer.socket.destroy()
}

function connections(sandbox: Sandbox): number {
  return Number(/connected_clients:(\d+)/.exec(String(sandbox.store.run('INFO', 'clients')))![1])
}

describe('bytes', () => {
  const pieces = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.constantFrom(
      '*1\r\n$4\r\nPING\r\n',
      '*3\r\n$3\r\nSET\r\n$1\r\na\r\n$5\r\nhello\r\n',
      '*-1\r\n',
      '*0\r\n',
      '*1048577\r\n',
      '*99999999999999999999\r\n',
      '*2\r\n$3\r\nGET\r\n',
      '$5\r\nhello\r\n',
      '*1\r\n$-1\r\n',
      '*1\r\n$536870913\r\n',
      '*1\r\n$0\r\n\r\n',
      '*1\r\n*1\r\n',
      '\r\n',
      '\n',
      '"unbalanced',
      "'",
      'GET a\r\n',
      'MULTI\r\n',
      'EXEC\r\n',
      'SUBSCRIBE c\r\n',
      'MONITOR\r\n',
      'BLPOP q 0\r\n',
      'HELLO 3\r\n',
      'HELLO 3 SETNAME\r\n',
      'CLIENT LIST\r\n',
      'CLIENT\r\n',
      'RESET\r\n',
      'QUIT\r\n',
      '__proto__ constructor\r\n',
      'EVAL "return redis.call(\'MULTI\')" 0\r\n',
    ),
  )

  test('of any kind, cut anywhere, leave the server running', async () => {
    const server = await served()
    const scripts = fc.record({ knows: fc.boolean(), parts: fc.array(pieces, { maxLength: 12 }), cut: fc.nat(50) })
    await fc.assert(
      fc.asyncProperty(scripts, async ({ knows, parts, cut }) => {
        const peer = knows ? signedIn(server) : new Peer(server.redisPort!)
        const bytes = parts.join('')
        peer.send(bytes.slice(0, cut))
        await new Promise((resolve) => setImmediate(resolve))
        peer.send(bytes.slice(cut))
        // A peer that has sent everything is disconnected.
        peer.socket.end()
        await peer.isSentAway()
      }),
      { numRuns: runs(30, 60, 600) },
    )
    await stillServes(server)
    await expect.poll(() => connections(server.tenant('main'))).toBe(1)
  })

  test('with endless lines and counts get an error, and the connection is closed', async () => {
    const server = await served()
    for (const begin of ['', '*', '*3\r\n$']) {
      const peer = signedIn(server).send(begin + '9'.repeat(70_000))
      await peer.hears(/-ERR Protocol error: (too big|invalid)/)
      // The peer continues to send, and does not close its own end.
      const go = setInterval(() => peer.send('payload'.repeat(1_000)), 1)
      await peer.isSentAway().finally(() => clearInterval(go))
    }
    await stillServes(server)
  })

  test('with only a large announced size cost no memory', async () => {
    const server = await served()
    const before = process.memoryUsage().arrayBuffers
    const peers = Array.from({ length: 50 }, () => signedIn(server).send('*1048576\r\n$536870912\r\nabc'))
    for (const peer of peers) await peer.hears('OK')
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000)
    await stillServes(server)
  })

  test('one at a time are one command', async () => {
    const server = await served()
    const peer = signedIn(server)
    for (const byte of '*3\r\n$3\r\nSET\r\n$1\r\na\r\n$5\r\nhello\r\n') {
      peer.send(byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await peer.hears(/\+OK\r\n\+OK\r\n/)
    expect(server.tenant('main').store.get('a')).toBe('hello')
  })
})

describe('connections', () => {
  test('without sign-in do not block other clients, and are closed after a timeout', {
    timeout: 30_000,
  }, async () => {
    const server = await served({ limits: { requestTimeout: 2_000 } } as ServerOptions)
    const silent = Array.from({ length: 1_000 }, () => new Peer(server.redisPort!))
    await stillServes(server)
    await Promise.all(silent.map((peer) => peer.isSentAway()))
  })

  test('that send without signing in are closed, too', async () => {
    const server = await served({ limits: { requestTimeout: 500 } } as ServerOptions)
    const peer = new Peer(server.redisPort!)
    const go = setInterval(() => peer.send('\r\n'), 20)
    await peer.isSentAway().finally(() => clearInterval(go))
  })

  test('above the limit get an error, and are closed even if they stay', async () => {
    const server = await served({ limits: { maxConnections: 3 } } as ServerOptions)
    const friends = [1, 2, 3].map(() => signedIn(server))
    for (const friend of friends) await friend.hears('OK')
    const late = new Peer(server.redisPort!)
    await late.hears('-ERR max concurrent connections exceeded')
    await late.isSentAway()
    friends[0]!.socket.destroy()
    await expect.poll(() => connections(server.tenant('main'))).toBe(2)
    await stillServes(server)
  })

  test('are closed after QUIT even if the client keeps its end open', async () => {
    const server = await served()
    const peer = signedIn(server).send('QUIT\r\n')
    await peer.hears(/\+OK\r\n\+OK\r\n/)
    await peer.isSentAway()
  })

  test('do not keep the server from closing, even if they read nothing, block, or are half open', async () => {
    const server = await startServer({ port: 0, redisPort: 0, clock: 'manual' })
    server.tenant('main').store.run('SET', 'large', 'x'.repeat(900_000))
    const deaf = signedIn(server)
    deaf.socket.pause()
    deaf.send('GET large\r\n'.repeat(100))
    const waiting = signedIn(server).send('BLPOP q 0\r\n')
    const half = signedIn(server).send('*2\r\n$3\r\nGET\r\n')
    await waiting.hears('OK')
    await half.hears('OK')
    const start = performance.now()
    await server.close({ grace: 300 })
    expect(performance.now() - start).toBeLessThan(5_000)
  })

  test('that are killed while they block take no elements', async () => {
    const server = await served()
    const { store } = server.tenant('main')
    const waiting = Array.from({ length: 50 }, () => signedIn(server).send('BLPOP q 0\r\n'))
    const blocked = (): string => /blocked_clients:\d+/.exec(String(store.run('INFO', 'clients')))![0]
    await expect.poll(blocked).toBe('blocked_clients:50')
    for (const peer of waiting.slice(1)) peer.socket.resetAndDestroy()
    await expect.poll(blocked).toBe('blocked_clients:1')
    store.run('RPUSH', 'q', 'one', 'two')
    await waiting[0]!.hears(/\$3\r\none\r\n/)
    expect(store.run('LRANGE', 'q', 0, -1)).toEqual(['two'])
    expect(connections(server.tenant('main'))).toBe(1)
  })
})

describe('those that read nothing', () => {
  test.each(['SUBSCRIBE news', 'MONITOR'])(
    '%s: a reader that takes nothing is dropped, and the others receive everything',
    async (how) => {
      const sandbox = createSandbox()
      onTestFinished(() => sandbox.dispose())
      const { path } = await openRedisSocket(sandbox)
      const [deaf, keen] = [new Peer(path), new Peer(path)]
      for (const peer of [deaf, keen]) {
        peer.send(`${how}\r\n`)
        await peer.hears(/\r\n/)
      }
      deaf.socket.pause()
      const message = 'x'.repeat(5_000_000)
      for (let at = 0; at < 10; at++) {
        sandbox.store.run('PUBLISH', 'news', `${at}:${message}`)
        await keen.hears(new RegExp(`[^0-9]${at}:x{10}`))
      }
      await expect.poll(() => connections(sandbox)).toBe(1)
      deaf.socket.resume()
      await deaf.isSentAway()
      expect(keen.isClosed).toBe(false)
    },
  )

  test('get no further replies before they have received the earlier ones', async () => {
    const sandbox = createSandbox()
    onTestFinished(() => sandbox.dispose())
    sandbox.store.run('SET', 'large', 'x'.repeat(500_000))
    const { path } = await openRedisSocket(sandbox)
    const deaf = new Peer(path)
    deaf.socket.pause()
    deaf.send('GET large\r\nINCR n\r\n'.repeat(1_000))
    await expect.poll(() => sandbox.store.get('n')).not.toBeNull()
    for (let at = 0; at < 50; at++) await new Promise((resolve) => setImmediate(resolve))
    expect(Number(sandbox.store.get('n'))).toBeLessThan(50)
    deaf.socket.resume()
    await expect.poll(() => sandbox.store.get('n'), { timeout: 20_000 }).toBe('1000')
  })
})

describe('many commands at once', () => {
  test('in a pipeline of 100,000 leave other clients their turn', async () => {
    const server = await served()
    const { store } = server.tenant('main')
    const greedy = signedIn(server)
    const modest = signedIn(server)
    await modest.hears('OK')
    greedy.send('INCR n\r\n'.repeat(100_000))
    const seen: number[] = []
    while (!greedy.got.endsWith(':100000\r\n')) {
      const from = modest.got.length
      modest.send('PING\r\n')
      await expect.poll(() => modest.got.slice(from), { interval: 1, timeout: 20_000 }).toBe('+PONG\r\n')
      seen.push(Number(store.get('n')))
    }
    // Other clients got replies long before the pipeline was done, and many times.
    expect(seen.filter((n) => n < 100_000).length).toBeGreaterThan(10)
    const replies = greedy.got.split('\r\n')
    expect(replies.slice(1, -1)).toEqual(Array.from({ length: 100_000 }, (_, at) => `:${at + 1}`))
  })
})

describe('a bug', () => {
  // A table of commands that throws represents any bug: immediately, behind a blocked command, and in a long pipeline.
  test.each([
    ['immediately', 'SET boom 1\r\n'],
    ['behind a blocked command', 'BLPOP q 0\r\nSET boom 1\r\n'],
    ['in a long pipeline', `${'PING\r\n'.repeat(1_000)}SET boom 1\r\n`],
  ])('%s breaks one connection and no other', async (_, bytes) => {
    const told: string[] = []
    const server = await served({ onError: (line: string) => void told.push(line) })
    const { engine } = storeInternals.of(server.tenant('main').store)
    const lookup = engine.lookup.bind(engine)
    engine.lookup = (argv) => {
      if (argv[1] === 'boom') throw new RangeError('a bug')
      return lookup(argv)
    }
    const peer = signedIn(server).send(bytes)
    await new Promise((resolve) => setTimeout(resolve, 50))
    server.tenant('main').store.run('RPUSH', 'q', 'one')
    await peer.isSentAway()
    expect(told.join('')).toMatch(/the Redis port failed: RangeError: a bug/)
    await stillServes(server)
    await expect.poll(() => connections(server.tenant('main'))).toBe(1)
  })
})
