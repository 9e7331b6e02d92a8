import { connect } from 'node:net'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSandbox, fault, type Sandbox, type SandboxOptions } from '../../../../src/index.js'
import { ioredisConnector, openRedisSocket } from '../../src/redis-port/in-process.js'
import { served } from './served.js'

// The Redis protocol with its public clients.

function ioredis(url: string, options: object = {}): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null, ...options })
  redis.on('error', () => undefined)
  onTestFinished(() => redis.disconnect())
  return redis
}

function inProcess(sandbox: Sandbox, options: object = {}): Redis {
  const redis = new Redis({ Connector: ioredisConnector(sandbox), ...options })
  redis.on('error', () => undefined)
  onTestFinished(() => redis.disconnect())
  return redis
}

function sandboxWith(options: SandboxOptions = {}): Sandbox {
  const sandbox = createSandbox(options)
  onTestFinished(() => sandbox.dispose())
  return sandbox
}

/** Returns what a server sends for these bytes, until it is silent or closes the connection. */
async function raw(port: number | string, bytes: string, until: RegExp | 'close'): Promise<string> {
  return new Promise((resolve, reject) => {
    let got = ''
    const socket = typeof port === 'number' ? connect(port, '127.0.0.1') : connect(port)
    socket.on('connect', () => socket.write(bytes, 'latin1'))
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1')
      if (until !== 'close' && until.test(got)) socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(got))
  })
}

describe('ioredis', () => {
  test('runs commands, pipelines and transactions', async () => {
    const server = await served()
    const redis = ioredis(server.tenant('main').env.REDIS_URL!)
    expect(await redis.set('greeting', 'hello', 'EX', 60)).toBe('OK')
    expect(await redis.getBuffer('greeting')).toEqual(Buffer.from('hello'))
    expect(await redis.pipeline().incr('n').incr('n').lpush('n', 'x').exec()).toMatchObject([
      [null, 1],
      [null, 2],
      [expect.objectContaining({ message: expect.stringContaining('WRONGTYPE') })],
    ])
    expect(await redis.multi().incr('n').get('n').exec()).toEqual([
      [null, 3],
      [null, '3'],
    ])
    const binary = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    await redis.set(binary, binary)
    expect(await redis.getBuffer(binary)).toEqual(binary)
  })

  test('discards a transaction when a watched key changes or expires', async () => {
    const sandbox = sandboxWith()
    const [one, other] = [inProcess(sandbox), inProcess(sandbox)]
    await one.watch('stock')
    await other.set('stock', '1')
    expect(await one.multi().set('stock', '2').exec()).toBeNull()
    expect(await one.multi().set('stock', '3').exec()).toEqual([[null, 'OK']])
    await one.set('short', 'x', 'EX', 5)
    await one.watch('short')
    await sandbox.clock.advance('6s')
    expect(await one.multi().set('a', '1').exec()).toBeNull()
    await one.watch('absent')
    await other.flushall()
    expect(await one.multi().ping().exec()).toEqual([[null, 'PONG']])
  })

  test('receives only messages while it subscribes', async () => {
    const server = await served()
    const url = server.tenant('main').env.REDIS_URL!
    const [listener, speaker] = [ioredis(url, { protocol: 2 }), ioredis(url)]
    const heard: unknown[] = []
    listener.on('message', (channel, message) => heard.push([channel, message]))
    listener.on('pmessage', (pattern, channel, message) => heard.push([pattern, channel, message]))
    expect(await listener.subscribe('news', 'sport')).toBe(2)
    expect(await listener.psubscribe('n*')).toBe(3)
    expect(await speaker.publish('news', 'one, two')).toBe(2)
    await expect(listener.call('GET', 'a')).rejects.toThrow()
    expect(await listener.unsubscribe('news', 'sport')).toBe(1)
    expect(await speaker.publish('sport', 'unheard')).toBe(0)
    await expect
      .poll(() => heard)
      .toEqual([
        ['news', 'one, two'],
        ['n*', 'news', 'one, two'],
      ])
  })

  test('receives messages of shard channels if the policy allows them', async () => {
    const sandbox = sandboxWith({ policy: { commands: 'all' } })
    const [listener, speaker] = [inProcess(sandbox), inProcess(sandbox)]
    const heard: unknown[] = []
    listener.on('smessage', (channel, message) => heard.push([channel, message]))
    expect(await listener.ssubscribe('orders')).toBe(1)
    expect(await listener.subscribe('orders')).toBe(1)
    expect(await speaker.spublish('orders', 'one')).toBe(1)
    expect(await speaker.call('PUBSUB', 'SHARDNUMSUB', 'orders', 'others')).toEqual(['orders', 1, 'others', 0])
    expect(await speaker.call('PUBSUB', 'SHARDCHANNELS')).toEqual(['orders'])
    expect(await listener.sunsubscribe('orders')).toBe(0)
    expect(await speaker.spublish('orders', 'two')).toBe(0)
    expect(await speaker.publish('orders', 'three')).toBe(1)
    await expect.poll(() => heard).toEqual([['orders', 'one']])
  })

  test('receives all commands with MONITOR', async () => {
    const server = await served()
    const url = server.tenant('main').env.REDIS_URL!
    const monitor = await ioredis(url).monitor()
    onTestFinished(() => monitor.disconnect())
    const seen: string[][] = []
    monitor.on('monitor', (_time: string, args: string[]) => seen.push(args))
    await ioredis(url).set('a', 'b c')
    await expect.poll(() => seen).toContainEqual(['set', 'a', 'b c'])
  })

  test('receives transactions with MONITOR as from redis-server, but no administrative commands', async () => {
    const sandbox = sandboxWith()
    const monitor = await inProcess(sandbox).monitor()
    onTestFinished(() => monitor.disconnect())
    const seen: string[] = []
    monitor.on('monitor', (_time: string, args: string[]) => seen.push(args.join(' ')))
    const redis = inProcess(sandbox)
    await redis.ping()
    seen.length = 0
    await redis.watch('w')
    await redis.multi().get('a').client('ID').exec()
    await redis.client('LIST')
    await redis.exec().catch(() => undefined)
    await redis
      .multi()
      .call('GET')
      .exec()
      .catch(() => undefined)
    await redis.subscribe('news')
    await redis.ping()
    await expect.poll(() => seen.at(-1)).toBe('ping')
    expect(seen).toEqual([
      'watch w',
      'multi',
      'get a',
      'client ID',
      'exec',
      'exec',
      'multi',
      'exec',
      'subscribe news',
      'ping',
    ])
  })

  test('blocks in virtual time, and is served in order', async () => {
    const sandbox = sandboxWith()
    const [first, second] = [inProcess(sandbox), inProcess(sandbox)]
    const one = first.blpop('jobs', 10)
    await expect.poll(() => sandbox.clock.pending.length).toBe(1)
    const two = second.blpop('jobs', 20)
    await expect.poll(() => sandbox.clock.pending.length).toBe(2)
    await sandbox.clock.advance('10s')
    expect(await one).toBeNull()
    sandbox.store.run('RPUSH', 'jobs', 'a')
    expect(await two).toEqual(['jobs', 'a'])
  })

  test('stops waiting when the client disconnects', async () => {
    const sandbox = sandboxWith()
    const redis = inProcess(sandbox)
    void redis.blpop('jobs', 0).catch(() => undefined)
    await expect.poll(() => sandbox.store.run('DBSIZE')).toBe(0)
    await new Promise((resolve) => setTimeout(resolve, 30))
    redis.disconnect()
    await new Promise((resolve) => setTimeout(resolve, 30))
    sandbox.store.run('RPUSH', 'jobs', 'a')
    expect(sandbox.store.run('LLEN', 'jobs')).toBe(1)
  })
})

test('searches on a connection that loads the search engine', async () => {
  const redis = inProcess(sandboxWith())
  await redis.hset('book:1', 'title', 'Moby Dick')
  const create = ['books', 'ON', 'HASH', 'PREFIX', '1', 'book:', 'SCHEMA', 'title', 'TEXT']
  const replies = await Promise.all([
    redis.call('SEARCH.CREATE', ...create),
    redis.call('SEARCH.COUNT', 'books', '{"title":"moby"}'),
    redis.ping(),
  ])
  expect(replies).toEqual([1, 1, 'PONG'])
})

describe('node-redis', () => {
  test.each([2, 3] as const)('uses RESP%d on a private socket', async (RESP) => {
    const sandbox = sandboxWith()
    const { path } = await openRedisSocket(sandbox)
    const client = createClient({ socket: { path, reconnectStrategy: false }, RESP })
    client.on('error', () => undefined)
    await client.connect()
    onTestFinished(() => client.destroy())
    await client.hSet('user', { name: 'Ada', age: '36' })
    expect({ ...(await client.hGetAll('user')) }).toEqual({ name: 'Ada', age: '36' })
    await client.zAdd('scores', [
      { score: 1.5, value: 'a' },
      { score: Number.POSITIVE_INFINITY, value: 'b' },
    ])
    expect(await client.zRangeWithScores('scores', 0, -1)).toEqual([
      { value: 'a', score: 1.5 },
      { value: 'b', score: Number.POSITIVE_INFINITY },
    ])
    expect(await client.sAdd('set', ['x', 'y'])).toBe(2)
    expect([...(await client.sMembers('set'))].sort()).toEqual(['x', 'y'])
    expect(await client.multi().incr('n').incr('n').exec()).toEqual([1, 2])
    await client.xAdd('stream', '1-1', { field: 'value' })
    expect(await client.xRead({ key: 'stream', id: '0' })).toMatchObject([
      { name: 'stream', messages: [{ id: '1-1', message: { field: 'value' } }] },
    ])
    const listener = client.duplicate()
    await listener.connect()
    onTestFinished(() => listener.destroy())
    const heard: string[] = []
    await listener.subscribe('news', (message) => heard.push(message))
    // In RESP3 a subscriber may still send commands.
    if (RESP === 3) expect(await listener.get('nothing')).toBeNull()
    await client.publish('news', 'hello')
    await expect.poll(() => heard).toEqual(['hello'])
  })

  // array.md 7 and vector.md 2: what is a number or a map in RESP3 only.
  test.each([
    [2, ['18446744073709551613', '18446744073709551614'], ['0.1', '2'], ['dimension', 2, 'metric', 'DOT']],
    [3, [18446744073709551613n, 18446744073709551614n], [0.1, 2], { dimension: 2, metric: 'DOT' }],
  ] as const)('reads arrays and vectors over RESP%d', async (RESP, [last, length], elements, info) => {
    const sandbox = sandboxWith()
    const { path } = await openRedisSocket(sandbox)
    const client = createClient({ socket: { path, reconnectStrategy: false }, RESP })
    client.on('error', () => undefined)
    await client.connect()
    onTestFinished(() => client.destroy())
    expect(await client.arRing('ring', 3, ['1', '2', '3', '4'])).toBe(0)
    expect(await client.arLastItems('ring', 3)).toEqual(['2', '3', '4'])
    expect(await client.arSeek('ring', '18446744073709551613')).toBe(1)
    expect(await client.arInsert('ring', 'x')).toEqual(last)
    expect(await client.arLen('ring')).toEqual(length)
    expect(await client.arScan('ring', 0, '18446744073709551614')).toEqual([
      { index: 0, value: '4' },
      { index: 1, value: '2' },
      { index: 2, value: '3' },
      { index: last, value: 'x' },
    ])
    expect(await client.arInfo('ring')).toMatchObject({ count: 4, len: length })
    const send = (line: string) => client.sendCommand(line.split(' '))
    expect(await send('VECTOR.CREATE near DIM 2 METRIC DOT')).toBe(1)
    expect(await send('VECTOR.ADD near a VALUES 2 0.1 2')).toBe(1)
    expect(await send('VECTOR.GET near a')).toEqual(elements)
    expect(await send('VECTOR.GET near none')).toBeNull()
    const reply = await send('VECTOR.INFO near')
    expect(RESP === 3 ? { ...(reply as unknown as object) } : reply).toEqual(info)
    expect(await send('VECTOR.QUERY near TOPK 1 VALUES 2 0.5 0')).toEqual([['a', RESP === 3 ? 0.525 : '0.525']])
  })
})

describe('signing in', () => {
  test('accepts a tenant by its name, with its own tokens', async () => {
    const server = await served({ secret: 'sixteen characters, and more' })
    const url = server.tenant('w1').env.REDIS_URL!
    expect(new URL(url).username).toBe('w1%2Fdefault')
    await ioredis(url).set('whose', 'w1')
    expect(await ioredis(server.tenant('main').env.REDIS_URL!).get('whose')).toBeNull()
    expect(server.tenant('w1').store.get('whose')).toBe('w1')
  })

  test('creates a tenant only for its own token', async () => {
    const server = await served()
    const port = server.redisPort!
    expect(await raw(port, 'AUTH w9/default wrong\r\n', /\n/)).toMatch(/^-WRONGPASS /)
    expect(server.tenants).not.toContain('w9')
    const token = server.tenant('main').tokens.store
    expect(await raw(port, `AUTH w9/default ${token}\r\nSET a 1\r\n`, /OK\r\n\+OK/)).toBe('+OK\r\n+OK\r\n')
    expect(server.tenants).toContain('w9')
  })

  test('requires a password, and accepts the read-only token only for its own user', async () => {
    const server = await served()
    const port = server.redisPort!
    const { store, storeReadonly: readonly } = server.tenant('main').tokens
    expect(await raw(port, 'GET a\r\nHELLO 3\r\nQUIT\r\n', 'close')).toBe(
      '-NOAUTH Authentication required.\r\n' +
        '-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time\r\n' +
        '+OK\r\n',
    )
    expect(await raw(port, `AUTH ${readonly}\r\n`, /\n/)).toMatch(/^-WRONGPASS /)
    expect(await raw(port, `AUTH default ${readonly}\r\n`, /\n/)).toMatch(/^-WRONGPASS /)
    expect(await raw(port, `AUTH default_ro ${readonly}\r\nSET a 1\r\n`, /NOPERM/)).toMatch(/^\+OK\r\n-NOPERM /)
    expect(await raw(port, `AUTH ${store}\r\nRESET\r\nGET a\r\nQUIT\r\n`, 'close')).toBe(
      '+OK\r\n+RESET\r\n-NOAUTH Authentication required.\r\n+OK\r\n',
    )
  })

  test('accepts an ACL user with a token until the user is deleted', async () => {
    const sandbox = sandboxWith()
    const run = (...words: string[]): unknown => sandbox.store.run(...words)
    run('ACL', 'SETUSER', 'alice', 'on', '~own:*', '+@all')
    const token = run('ACL', 'GENTOKEN', 'alice') as string
    run('ACL', 'SETUSER', 'alice', `>${token}`)
    const redis = inProcess(sandbox, { username: 'alice', password: token, retryStrategy: () => null })
    expect(await redis.call('ACL', 'WHOAMI')).toBe('alice')
    await expect(redis.get('foreign')).rejects.toThrow('NOPERM')
    run('ACL', 'DELUSER', 'alice')
    await expect.poll(() => redis.status).toBe('end')
  })

  test('rejects a page of a browser, whose POST is not read as commands', async () => {
    const server = await served()
    const { store } = server.tenant('main').tokens
    const body = `AUTH ${store}\r\nSET planted 1\r\n`
    const request = `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    expect(await raw(server.redisPort!, request, 'close').catch(() => '')).toBe('')
    expect(server.tenant('main').store.get('planted')).toBeNull()
  })
})

describe('a fault', () => {
  const rule = (fault: object, more: object = {}): never =>
    ({ on: 'store.command', match: { command: 'INCR' }, times: 1, fault, ...more }) as never

  test.each([
    'LOADING Redis is loading the dataset in memory',
    "READONLY You can't write against a read only replica.",
    'MOVED 3999 127.0.0.1:6381',
  ])('replies with an error: %s', async (text) => {
    const sandbox = sandboxWith()
    const redis = inProcess(sandbox)
    sandbox.faults.add(rule(fault.errorReply(text)))
    await expect(redis.incr('n')).rejects.toThrow(text)
    expect(await redis.incr('n')).toBe(1)
  })

  test.each(['before', 'after'] as const)('breaks the connection %s the work', async (phase) => {
    const sandbox = sandboxWith()
    const redis = inProcess(sandbox, { maxRetriesPerRequest: 0, retryStrategy: () => 1 })
    await redis.ping()
    sandbox.faults.add(rule(fault.reset(), { phase }))
    await expect(redis.incr('n')).rejects.toThrow()
    expect(sandbox.store.get('n')).toBe(phase === 'after' ? '1' : null)
    await expect.poll(() => redis.status).toBe('ready')
    expect(await redis.incr('n')).toBe(phase === 'after' ? 2 : 1)
  })

  test('sends half a reply and closes the connection', async () => {
    const server = await served()
    const { store } = server.tenant('main').tokens
    server.tenant('main').faults.add(rule(fault.truncate(3), { on: 'store.request', match: { command: 'GET' } }))
    const got = await raw(server.redisPort!, `AUTH ${store}\r\nSET a hello\r\nGET a\r\n`, 'close').catch(
      (error) => error,
    )
    expect(String(got)).toBe('+OK\r\n+OK\r\n$5\r')
  })

  test('delays a reply in virtual time, and the commands behind it wait', async () => {
    const sandbox = sandboxWith()
    const redis = inProcess(sandbox)
    await redis.ping()
    sandbox.faults.add(rule(fault.latency('3s'), { on: 'store.request' }))
    const order: string[] = []
    const slow = redis.incr('n').then(() => order.push('incr'))
    const next = redis.get('n').then((n) => order.push(`get ${n}`))
    await expect.poll(() => sandbox.clock.pending.length).toBe(1)
    expect(order).toEqual([])
    await sandbox.clock.advance('3s')
    await Promise.all([slow, next])
    expect(order).toEqual(['incr', 'get 1'])
  })

  test.each([
    ['a slow reply', [fault.slowBody(1)]],
    ['a late and slow reply', [fault.latency('2s'), fault.slowBody(1)]],
    ['a slow reply that another fault would cut', [fault.truncate(3), fault.slowBody(1)]],
  ])('sends %s slowly in virtual time', async (_, faults) => {
    const sandbox = sandboxWith()
    const redis = inProcess(sandbox)
    await redis.ping()
    sandbox.faults.add(faults.map((fault) => rule(fault, { on: 'store.request' })))
    const reply = redis.incr('n')
    await expect.poll(() => sandbox.clock.pending.length).toBe(1)
    await sandbox.clock.advance('10s')
    expect(await reply).toBe(1)
    expect(await redis.get('n')).toBe('1')
  })

  test('leaves nothing running when the client disconnects during a slow reply', async () => {
    const sandbox = sandboxWith()
    const redis = inProcess(sandbox)
    await redis.ping()
    sandbox.faults.add(rule(fault.slowBody(1), { on: 'store.request' }))
    void redis.incr('n').catch(() => undefined)
    await expect.poll(() => sandbox.clock.pending.length).toBe(1)
    redis.disconnect()
    await expect.poll(() => sandbox.clock.pending.length).toBe(0)
  })

  test('does the work without a reply, so that the client times out on its own clock', async () => {
    const sandbox = sandboxWith()
    const redis = inProcess(sandbox, { commandTimeout: 50 })
    await redis.ping()
    sandbox.faults.add(rule(fault.hang(), { on: 'store.request', phase: 'after' }))
    await expect(redis.incr('n')).rejects.toThrow('Command timed out')
    expect(sandbox.store.get('n')).toBe('1')
  })

  test('converts an HTTP status to an error reply', async () => {
    const sandbox = sandboxWith()
    const redis = inProcess(sandbox)
    sandbox.faults.add(rule(fault.status(503), { on: 'store.request' }))
    await expect(redis.incr('n')).rejects.toThrow('ERR service unavailable')
  })

  test('a command that is too large is rejected, and the connection continues', async () => {
    const sandbox = sandboxWith({ policy: { maxRequestSize: 1000 } })
    const redis = inProcess(sandbox)
    await expect(redis.set('a', 'x'.repeat(5000))).rejects.toThrow('ERR max request size exceeded. Limit: 1000 bytes')
    expect(await redis.get('a')).toBeNull()
  })
})

describe('a connection', () => {
  test('continues after a reset, with the new store', async () => {
    const sandbox = sandboxWith()
    const redis = inProcess(sandbox)
    await redis.set('a', '1')
    sandbox.reset()
    expect(await redis.get('a')).toBeNull()
    expect(redis.status).toBe('ready')
  })

  test('closes with a reset if it blocks or subscribes', async () => {
    const sandbox = sandboxWith()
    const [waiting, listening] = [0, 1].map(() => inProcess(sandbox, { retryStrategy: () => null }))
    const popped = waiting!.blpop('jobs', 0)
    await listening!.subscribe('news')
    await expect.poll(() => sandbox.store.run('PUBSUB', 'CHANNELS')).toEqual(['news'])
    sandbox.reset()
    await expect(popped).rejects.toThrow()
    await expect.poll(() => listening!.status).toBe('end')
  })

  test('is signed in again after RESET, unless its user was deleted', async () => {
    const sandbox = sandboxWith()
    const run = (...words: string[]): unknown => sandbox.store.run(...words)
    run('ACL', 'SETUSER', 'alice', 'on', '~*', '+@all')
    const { path } = await openRedisSocket(sandbox, { user: 'alice' })
    const lines = ['CLIENT SETNAME x', 'HELLO 3', 'MULTI', 'RESET', 'CLIENT GETNAME', 'ACL WHOAMI']
    const got = await raw(path, `${lines.join('\r\n')}\r\n`, /alice\r\n$/)
    expect(got).toMatch(/\+RESET\r\n\$-1\r\n\$5\r\nalice\r\n$/)
    expect(await raw(path, 'ACL DELUSER alice\r\nRESET\r\nACL WHOAMI\r\n', 'close')).toBe(':1\r\n')
  })

  test('is recorded with every command, but without passwords', async () => {
    const server = await served()
    const { traffic, env, tokens } = server.tenant('main')
    await ioredis(env.REDIS_URL!).multi().set('a', '1').exec()
    const lines = traffic.entries.flatMap((entry) =>
      entry.type === 'command' ? [`${entry.argv.join(' ')} (${entry.via})`] : [],
    )
    expect(lines).toContain('multi (resp)')
    expect(lines).toContain('set a 1 (transaction)')
    expect(JSON.stringify(traffic.entries)).not.toContain(tokens.store)
  })

  test('is not part of a fork, which has its effects', async () => {
    const sandbox = sandboxWith()
    const redis = inProcess(sandbox)
    const listener = inProcess(sandbox)
    await listener.subscribe('news')
    expect(await redis.publish('news', 'x')).toBe(1)
    await redis.multi().incr('n').incr('n').exec()
    const waiting = redis.blpop('jobs', 5)
    await expect.poll(() => sandbox.clock.pending.length).toBe(1)
    await sandbox.clock.advance('5s')
    expect(await waiting).toBeNull()
    using fork = await sandbox.fork()
    expect(fork.store.dump()).toEqual(sandbox.store.dump())
    expect(fork.traffic.timeline()).toBe(sandbox.traffic.timeline())
    expect(fork.store.run('PUBLISH', 'news', 'y')).toBe(0)
    using again = await fork.fork()
    expect(again.store.run('PUBLISH', 'news', 'y')).toBe(0)
  })
})

describe('a command of redis-server only', () => {
  test('CLIENT REPLY turns replies off or skips one, but not messages', async () => {
    const sandbox = sandboxWith({ policy: { commands: 'all' } })
    const { path } = await openRedisSocket(sandbox)
    const words = [
      'CLIENT REPLY OFF',
      'SET a 1',
      'nonsense',
      'CLIENT REPLY SKIP',
      'CLIENT REPLY ON',
      'CLIENT REPLY SKIP',
      'ECHO skipped',
      'ECHO told',
      'CLIENT REPLY SKIP',
      'CLIENT REPLY ON',
      'CLIENT REPLY maybe',
      'GET a',
      'CLIENT REPLY OFF',
      'SUBSCRIBE news',
      'QUIT',
    ]
    // The replies of redis-server 7.0.
    expect(await raw(path, `${words.join('\r\n')}\r\n`, 'close')).toBe(
      '+OK\r\n$4\r\ntold\r\n+OK\r\n-ERR syntax error\r\n$1\r\n1\r\n*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n',
    )
  })
})
