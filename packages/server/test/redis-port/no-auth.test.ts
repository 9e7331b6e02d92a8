import { connect } from 'node:net'
import { Redis as UpstashRedis } from '@upstash/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSandbox } from '../../../../src/index.js'
import { type ServerOptions, startServer } from '../../src/server.js'
import { served } from './served.js'

// The Redis port without a password: `--redis-no-auth`, as a redis-server that has no password.

const open = (options: ServerOptions = {}) => served({ redisNoAuth: true, ...options })

/** Sends lines, and returns everything that arrives until the other side closes the connection. */
function said(port: number, ...lines: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(lines.map((line) => `${line}\r\n`).join('')))
    let heard = ''
    socket.on('data', (chunk) => (heard += chunk.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(heard))
    onTestFinished(() => void socket.destroy())
  })
}

const unneeded =
  '-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?'
const wrong = '-WRONGPASS invalid username-password pair or user is disabled.'

describe('without a password', () => {
  test('ioredis and node-redis use main, and REDIS_URL contains no password', async () => {
    const server = await open()
    const url = `redis://127.0.0.1:${server.redisPort}`
    const { store, env, tokens } = server.tenant('main')
    expect(env.REDIS_URL).toBe(url)
    expect(server.describeTenant('main').env.REDIS_URL).toBe(url)
    const other = new URL(server.describeTenant('w1').env.REDIS_URL!)
    expect([decodeURIComponent(other.username), decodeURIComponent(other.password)]).toEqual([
      'w1/default',
      tokens.store,
    ])

    const io = new Redis(url)
    onTestFinished(() => io.disconnect())
    expect(await io.set('a', 'b')).toBe('OK')
    const node = createClient({ url, RESP: 3 })
    await node.connect()
    onTestFinished(() => node.destroy())
    expect(await node.get('a')).toBe('b')
    expect(store.get('a')).toBe('b')
    const elsewhere = new Redis(other.href)
    onTestFinished(() => elsewhere.disconnect())
    expect(await elsewhere.get('a')).toBeNull()
    const rest = new UpstashRedis({ url: server.origin, token: tokens.store, retry: false })
    expect(await rest.get('a')).toBe('b')
  })

  // Recorded from a redis-server 7.0 that has no password.
  test('AUTH has the replies of redis-server', async () => {
    const { redisPort } = await open()
    const lines = [
      'AUTH x',
      'AUTH default x',
      'ACL WHOAMI',
      'AUTH nobody x',
      'HELLO 2 AUTH nobody y',
      'AUTH',
      'AUTH a b c',
    ]
    expect((await said(redisPort!, ...lines, 'RESET', 'ACL WHOAMI', 'QUIT')).split('\r\n')).toEqual([
      unneeded,
      '+OK',
      '$7',
      'default',
      wrong,
      wrong,
      "-ERR wrong number of arguments for 'auth' command",
      '-ERR syntax error',
      '+RESET',
      '$7',
      'default',
      '+OK',
      '',
    ])
  })

  test('the tokens and the users of the store still sign in', async () => {
    const server = await open()
    const { tokens, store } = server.tenant('main')
    const alice = String(store.run('ACL', 'GENTOKEN', 'alice'))
    store.run('ACL', 'SETUSER', 'alice', 'on', `>${alice}`, '~*', '+@all')
    const w1 = server.describeTenant('w1').env.UPSTASH_REDIS_REST_TOKEN
    const heard = await said(
      server.redisPort!,
      `AUTH ${tokens.store}`,
      `AUTH default_ro ${tokens.storeReadonly}`,
      'SET a b',
      'RESET',
      `AUTH alice ${alice}`,
      'ACL WHOAMI',
      `AUTH w1/default ${w1}`,
      'SET only-in w1',
      'AUTH w1/default no',
      'AUTH main/default no',
      'EXISTS only-in',
      'QUIT',
    )
    expect(heard).toMatch(
      /^\+OK\r\n\+OK\r\n-NOPERM .*\r\n\+RESET\r\n\+OK\r\n\$5\r\nalice\r\n\+OK\r\n\+OK\r\n-WRONGPASS .*\r\n\+OK\r\n:0\r\n\+OK\r\n$/,
    )
    expect(server.tenant('w1').store.get('only-in')).toBe('w1')
  })

  test('a wrong password without a user is never delayed, and one of a user is', async () => {
    const { redisPort } = await open()
    const heard = await said(redisPort!, ...Array.from({ length: 30 }, () => 'AUTH no'), 'QUIT')
    expect(heard.split(unneeded)).toHaveLength(31)
  })

  test('main is created, also again after it was dropped', async () => {
    const server = await open()
    expect(server.tenants).toEqual([])
    expect(await said(server.redisPort!, 'SET a 1', 'QUIT')).toBe('+OK\r\n+OK\r\n')
    expect(server.tenants).toEqual(['main'])
    server.drop('main')
    expect(await said(server.redisPort!, 'EXISTS a', 'QUIT')).toBe(':0\r\n+OK\r\n')
    server.tenant('main').reset()
    expect(await said(server.redisPort!, 'PING', 'QUIT')).toBe('+PONG\r\n+OK\r\n')
    const own = createSandbox()
    server.adopt('main', own)
    expect(await said(server.redisPort!, 'SET a 2', 'QUIT')).toBe('+OK\r\n+OK\r\n')
    expect(own.store.get('a')).toBe('2')
  })

  test('a connection outlives a reset of main, and RESET signs in again', async () => {
    const server = await open()
    const redis = new Redis(server.tenant('main').env.REDIS_URL!)
    onTestFinished(() => redis.disconnect())
    await redis.set('a', 1)
    server.tenant('main').reset()
    expect(await redis.get('a')).toBeNull()
    await redis.call('RESET')
    expect(await redis.set('b', 2)).toBe('OK')
    expect(server.tenant('main').store.get('b')).toBe('2')
  })

  test('a server without room for main says so and closes the connection', async () => {
    const server = await open({ limits: { maxTenants: 1 } })
    server.tenant('w1')
    expect(await said(server.redisPort!, 'PING')).toMatch(/^-ERR The server has 1 tenants.*\r\n$/)
    expect(server.tenants).toEqual(['w1'])
  })
})

describe('pages of a browser', () => {
  // A page can send these bytes: the method and the path of its request, and its body. DNS rebinding changes only `Host`.
  test.each([
    'POST / HTTP/1.1\r\nHost: 127.0.0.1:6379\r\nContent-Type: text/plain\r\n\r\nSET planted 1',
    'GET /planted HTTP/1.1\r\nHost: evil.example:6379\r\n\r\nSET planted 1',
    'OPTIONS / HTTP/1.1\r\nHost: evil.example\r\n\r\nSET planted 1',
    'SET planted HTTP/1.1\r\nHost:evil.example\r\n\r\nSET planted 1',
    'post / HTTP/1.0\r\n\r\nSET planted 1',
    'Host: evil.example\r\nSET planted 1',
    '\x16\x03\x01\r\nSET planted 1',
  ])('%j is disconnected, and runs nothing from its body', async (bytes) => {
    const server = await open({ onError: () => {} })
    expect(await said(server.redisPort!, bytes, 'SET planted 1')).not.toContain('+OK\r\n+OK')
    expect(server.tenant('main').store.get('planted')).not.toBe('1')
  })
})

test.each<[ServerOptions, RegExp]>([
  [{ redisPort: 0, host: '0.0.0.0' }, /^redisNoAuth \(--redis-no-auth\) is not possible with host "0.0.0.0", because/],
  [{ redisPort: 0, host: '::' }, /is not possible with host "::"/],
  [{}, /^redisNoAuth \(--redis-no-auth\) needs redisPort/],
  [{ redisPort: 0, realRedis: 'redis://127.0.0.1:1' }, /^With a real Redis .* cannot have redisPort/],
  [{ redisPort: 0, shadowRedis: 'redis://127.0.0.1:1' }, /^With a real Redis .* cannot have redisPort/],
  [{ realRedis: 'redis://127.0.0.1:1' }, /needs redisPort/],
  [
    { redisPort: 0, cluster: { url: 'redis://127.0.0.1:1', secret: 'a secret of all nodes' } },
    /^A cluster forwards only/,
  ],
  [{ redisPort: 0, redisNoAuth: 'yes' as never }, /^redisNoAuth must be true or false \(got "yes"\)/],
])('%j is rejected with one message', async (options, sentence) => {
  await expect(startServer({ port: 0, redisNoAuth: true, ...options })).rejects.toThrow(sentence)
})
