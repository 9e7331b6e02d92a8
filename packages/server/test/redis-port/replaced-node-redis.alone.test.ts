import * as redis from 'redis'
import * as redis5 from 'redis5'
import { replaceNodeRedis } from 'stuntdouble/node-redis'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { resetForNextTest } from '../../../../fixtures/fixture-sandbox.js'
import { useForClients } from '../../../../src/adapters/running-sandbox.js'
import { createSandbox, type Sandbox } from '../../../../src/index.js'

// The clients of an app that is tested with `replaceNodeRedis()`. The app creates them before the first test.

const noTest = 'ERR No test with a sandbox is running'
const promptly = { interval: 2, timeout: 500 }

// An unhandled error fails a run.
const uncaught = vi.fn()
beforeEach(() => {
  uncaught.mockClear()
  const events = ['unhandledRejection', 'uncaughtException'] as const
  for (const event of events) process.on(event, uncaught)
  return async () => {
    await aWhile()
    for (const event of events) process.off(event, uncaught)
    expect(uncaught.mock.calls).toEqual([])
  }
})

function aWhile(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10))
}

let end = (): void => {}
afterEach(() => end())

/** Begins a test of the app, and ends the previous one. */
function nextTest(): Sandbox {
  end()
  const sandbox = createSandbox()
  const endUse = useForClients({ sandbox })
  end = () => {
    end = () => {}
    endUse()
    sandbox.dispose()
  }
  return sandbox
}

// Both versions have the same members, of which the types of version 6 are used.
const versions = [
  ['node-redis 6', redis],
  ['node-redis 5', redis5 as unknown as typeof redis],
] as const
const module = replaceNodeRedis(redis)

const protocols = versions.flatMap(([name, actual]) => ([2, 3] as const).map((RESP) => [name, RESP, actual] as const))

describe.each(protocols)('createClient() of %s with RESP%i', (_, RESP, actual) => {
  const module = replaceNodeRedis(actual)

  async function client(options: redis.RedisClientOptions = {}): Promise<redis.RedisClientType> {
    const created = module.createClient({ RESP, ...options }) as unknown as redis.RedisClientType
    onTestFinished(() => (created.isOpen ? created.destroy() : undefined))
    await created.connect()
    return created
  }

  test('each test has its own keys, and commands outside of a test are rejected', async () => {
    const app = await client()
    await expect(app.get('a')).rejects.toThrow(noTest)
    const first = nextTest()
    await app.set('a', '1')
    expect(first.store.run('GET', 'a')).toBe('1')
    nextTest()
    expect(await app.get('a')).toBe(null)
    end()
    await expect(app.get('a')).rejects.toThrow(noTest)
  })

  test.each<[string, redis.RedisClientOptions]>([
    ['a URL with a password', { url: 'rediss://default:secret@db.shop.test:6380/0' }],
    ['a URL with an encoded password', { url: 'redis://app:s%C3%A9c%2Fret@db.shop.test', password: 'other' }],
    ['a URL and a password', { url: 'redis://app@db.shop.test', password: 'secret' }],
    ['a URL and TLS', { url: 'rediss://db.shop.test', socket: { tls: true } }],
    ['a host and a port', { socket: { host: 'db.shop.test', port: 6379 } }],
    ['TLS', { socket: { host: 'db.shop.test', tls: true } }],
    ['a path', { socket: { path: '/run/redis.sock', tls: false } }],
    ['a user and a password', { username: 'app', password: 'sécret' }],
  ])('connects with %s', async (_, options) => {
    const { store } = nextTest()
    const app = await client(options)
    await app.set('a', '1')
    expect(store.run('GET', 'a')).toBe('1')
  })

  test('rejects the URLs that node-redis rejects', () => {
    expect(() => module.createClient({ url: 'http://db.shop.test' })).toThrow(TypeError)
    expect(() => module.createClient({ url: 'redis://db.shop.test/one' })).toThrow('Invalid pathname')
    expect(() => module.createClient({ url: 'rediss://db.shop.test', socket: { tls: false } } as object)).toThrow('tls')
  })

  test('duplicates and pools follow the tests, too', async () => {
    const copy = (await client()).duplicate({ url: 'redis://:secret@db.shop.test' } as object)
    const pool = module.createClientPool({ RESP, url: 'redis://db.shop.test' })
    await pool.connect()
    await copy.connect()
    onTestFinished(() => {
      copy.destroy()
      pool.destroy()
    })
    nextTest()
    await copy.set('a', '1')
    expect(await pool.get('a')).toBe('1')
    nextTest()
    expect(await pool.get('a')).toBe(null)
  })

  test('runs transactions, scripts and iterators', async () => {
    nextTest()
    const app = await client()
    expect(await app.multi().incr('n').incr('n').exec()).toEqual([1, 2])
    expect(await app.eval("return redis.call('INCRBY', KEYS[1], ARGV[1])", { keys: ['n'], arguments: ['2'] })).toBe(4)
    const keys: string[] = []
    for await (const page of app.scanIterator()) keys.push(...page)
    expect(keys).toEqual(['n'])
  })

  test('subscriptions go along to the next test, also those from before the first test', async () => {
    const [sub, pub] = [await client(), await client()]
    const heard = vi.fn()
    await sub.subscribe('news', (message) => heard(message))
    nextTest()
    expect(await pub.publish('news', 'one')).toBe(1)
    await sub.pSubscribe('n*', (message) => heard(`${message}, too`))
    nextTest()
    expect(await pub.publish('news', 'two')).toBe(2)
    await expect.poll(() => heard.mock.calls, promptly).toEqual([['one'], ['two'], ['two, too']])
    await sub.unsubscribe('news')
    nextTest()
    expect(await pub.publish('news', 'three')).toBe(1)
  })

  test('a reset before the next test keeps subscriptions, ends blocked commands, and closes no connection', async () => {
    const [sub, app] = [await client(), await client()]
    const closed = vi.fn()
    for (const one of [sub, app]) one.on('reconnecting', closed)
    const sandbox = nextTest()
    const heard = vi.fn()
    await sub.subscribe('news', (message) => heard(message))
    const job = app.blPop('jobs', 0)
    await aWhile()
    resetForNextTest(sandbox)
    expect(sandbox.store.run('PUBLISH', 'news', 'one')).toBe(1)
    expect(await job).toBe(null)
    expect(await app.rPush('jobs', 'x')).toBe(1)
    await expect.poll(() => heard.mock.calls, promptly).toEqual([['one']])
    expect(closed).not.toHaveBeenCalled()
  })

  test('subscribes again after a reset', async () => {
    const sub = await client({ socket: { reconnectStrategy: 1 } })
    const sandbox = nextTest()
    const heard = vi.fn()
    await sub.subscribe('news', (message) => heard(message))
    sandbox.reset()
    await expect.poll(() => sandbox.store.run('PUBLISH', 'news', 'one'), promptly).toBe(1)
    await expect.poll(() => heard.mock.calls, promptly).toEqual([['one']])
  })

  test('a client that reconnects outside of a test works in the next test', async () => {
    const sub = await client({ socket: { reconnectStrategy: 1 } })
    const sandbox = nextTest()
    await sub.subscribe('news', () => {})
    sandbox.reset()
    end()
    await aWhile()
    nextTest()
    await expect.poll(() => sub.isReady, promptly).toBe(true)
    if (sub.isPubSubActive) await sub.unsubscribe('news')
    expect(String(await sub.set('a', '1'))).toBe('OK')
  })

  test('a blocked command ends with its test as if its timeout had expired', async () => {
    const app = await client()
    nextTest()
    const job = app.blPop('jobs', 0)
    await aWhile()
    nextTest().store.run('RPUSH', 'jobs', 'x')
    expect(await job).toBe(null)
    expect(await app.lLen('jobs')).toBe(1)
  })

  test('a client that was closed stays closed, and close() works outside of a test', async () => {
    const app = await client()
    nextTest()
    await app.set('a', '1')
    end()
    await app.close()
    nextTest()
    await expect(app.get('a')).rejects.toThrow('closed')
  })

  test('another database is rejected as by the service', async () => {
    nextTest()
    const app = await client()
    await expect(app.select(1)).rejects.toThrow('ERR DB index is out of range')
    const other = client({ url: 'redis://db.shop.test/1', socket: { reconnectStrategy: false } })
    await expect(other).rejects.toThrow('ERR DB index is out of range')
  })
})

test('createCluster() and createSentinel() throw', () => {
  expect(() => module.createCluster({ rootNodes: [] })).toThrow('createCluster(): neither the service')
  expect(() => module.createSentinel({ name: 'main', sentinelRootNodes: [] })).toThrow('createSentinel(): neither')
})

test.each(versions)('has all exports of %s, in both forms', (_, actual) => {
  const module = replaceNodeRedis(actual)
  expect(Object.keys(module).sort()).toEqual([...new Set(['default', ...Object.keys(actual)])].sort())
  const common = (actual as unknown as { default: typeof redis }).default
  expect(Object.keys(replaceNodeRedis(common)).sort()).toEqual(Object.keys(common).sort())
  expect(module.defineScript).toBe(actual.defineScript)
})

test('rejects another module', () => {
  for (const wrong of [undefined, null, {}, 1]) {
    expect(() => replaceNodeRedis(wrong as never)).toThrow('replaceNodeRedis(): the argument must be the module redis')
  }
  const old = { createClient: () => {} }
  expect(() => replaceNodeRedis(old)).toThrow('stuntdouble/node-redis needs redis 5 or newer')
})
