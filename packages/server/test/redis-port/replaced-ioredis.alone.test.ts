import * as ioredis5 from 'ioredis'
import * as ioredis6 from 'ioredis6'
import { replaceIoredis } from 'stuntdouble/ioredis'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { resetForNextTest } from '../../../../fixtures/fixture-sandbox.js'
import { useForClients } from '../../../../src/adapters/running-sandbox.js'
import { createSandbox, type Sandbox } from '../../../../src/index.js'

// The clients of an app that is tested with `replaceIoredis()`. The app creates them before the first test.

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
  return new Promise((resolve) => setTimeout(resolve, 5))
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

// Both versions have the same members, of which the types of version 5 are used.
const versions = [
  ['ioredis 5', ioredis5, {}],
  ['ioredis 6', ioredis6 as unknown as typeof ioredis5, {}],
  ['ioredis 6 with RESP2', ioredis6 as unknown as typeof ioredis5, { protocol: 2 }],
] as const

describe.each(versions)('%s', (_, actual, defaults) => {
  const module = replaceIoredis(actual)

  function client(options: ioredis5.RedisOptions = {}): ioredis5.Redis {
    const redis = new module.Redis({ ...defaults, ...options })
    onTestFinished(() => redis.disconnect())
    return redis
  }

  test('each test has its own keys', async () => {
    const redis = client()
    const first = nextTest()
    await redis.set('a', '1')
    expect(first.store.run('GET', 'a')).toBe('1')
    const second = nextTest()
    expect(await redis.get('a')).toBe(null)
    await redis.set('b', '2')
    expect(second.store.run('KEYS', '*')).toEqual(['b'])
  })

  test('rejects commands outside of a test, and works in the next test', async () => {
    const redis = client()
    await expect(redis.get('a')).rejects.toThrow(noTest)
    nextTest()
    expect(await redis.set('a', '1')).toBe('OK')
    end()
    await expect(redis.get('a')).rejects.toThrow(noTest)
    nextTest()
    expect(await redis.get('a')).toBe(null)
  })

  test('needs no queue of commands once it is ready', async () => {
    const redis = client({ enableOfflineQueue: false })
    await expect(redis.get('a')).rejects.toThrow('enableOfflineQueue')
    await expect.poll(() => redis.status, promptly).toBe('ready')
    await expect(redis.get('a')).rejects.toThrow(noTest)
    nextTest()
    expect(await redis.get('a')).toBe(null)
  })

  test.each<[string, readonly unknown[]]>([
    ['no arguments', []],
    ['a port', [6379]],
    ['a port and a host', [6379, 'db.shop.test']],
    ['a port, a host and options', [6379, 'db.shop.test', { lazyConnect: true }]],
    ['a port, a host and undefined', [6379, 'db.shop.test', undefined]],
    ['a URL with a password', ['rediss://default:secret@db.shop.test:6380']],
    ['a URL and options', ['redis://db.shop.test', { maxRetriesPerRequest: null }]],
    ['a path', ['/run/redis.sock']],
    ['a host', [{ host: 'db.shop.test' }]],
    ['undefined connectors', [{ host: 'db.shop.test', Connector: undefined }]],
    ['TLS', [{ host: 'db.shop.test', tls: {} }]],
    ['sentinels', [{ sentinels: [{ host: 's.shop.test', port: 26379 }], name: 'main' }]],
    ['a user and a password', [{ username: 'app', password: 'sécret' }]],
  ])('connects with %s', async (_, args) => {
    const { store } = nextTest()
    const redis: ioredis5.Redis = Reflect.construct(module.Redis, args)
    onTestFinished(() => redis.disconnect())
    await redis.set('a', '1')
    expect(store.run('GET', 'a')).toBe('1')
  })

  test('accepts only its own password and those of the users of the store', async () => {
    const { store } = nextTest()
    store.run('ACL', 'SETUSER', 'alice', 'on', '~*', '+get', '+acl', '+info', '+client')
    const token = store.run('ACL', 'GENTOKEN', 'alice') as string
    store.run('ACL', 'SETUSER', 'alice', `>${token}`)
    const redis = client({ password: 'secret' })
    expect(await redis.auth('secret')).toBe('OK')
    await expect(redis.auth('other')).rejects.toThrow('WRONGPASS')
    expect(await redis.auth('alice', token)).toBe('OK')
    expect(await redis.acl('WHOAMI')).toBe('alice')
    // The next test does not have this user.
    nextTest()
    await expect.poll(() => redis.acl('WHOAMI').catch(() => undefined), promptly).toBe('default')
  })

  test('passes keyPrefix, scripts, pipelines, transactions and streams on', async () => {
    const { store } = nextTest()
    const redis = client({ keyPrefix: 'app:' })
    redis.defineCommand('double', { numberOfKeys: 1, lua: "return redis.call('INCRBY', KEYS[1], ARGV[1] * 2)" })
    expect(await (redis as unknown as { double(key: string, by: number): Promise<number> }).double('n', 2)).toBe(4)
    expect(await redis.pipeline().incr('n').get('n').exec()).toEqual([
      [null, 5],
      [null, '5'],
    ])
    expect(await redis.multi().incr('n').incr('n').exec()).toEqual([
      [null, 6],
      [null, 7],
    ])
    const keys = (await redis.scanStream({ match: 'app:*' }).toArray()) as string[][]
    expect(keys.flat()).toEqual(['app:n'])
    expect(store.run('GET', 'app:n')).toBe('7')
  })

  test('duplicates, subclasses and lazy clients follow the tests, too', async () => {
    class Store extends module.Redis {
      greet(): Promise<string | null> {
        return this.get('greeting')
      }
    }
    const store = new Store({ lazyConnect: true })
    const copy = client().duplicate({ keyPrefix: 'copy:' })
    onTestFinished(() => {
      store.disconnect()
      copy.disconnect()
    })
    expect(store.status).toBe('wait')
    expect(store).toBeInstanceOf(actual.Redis)
    expect(copy).toBeInstanceOf(module.Redis)
    nextTest().store.run('SET', 'greeting', 'hello')
    await store.connect()
    expect(await store.greet()).toBe('hello')
    await copy.set('a', '1')
    const { store: next } = nextTest()
    await copy.set('b', '1')
    expect(next.run('KEYS', '*')).toEqual(['copy:b'])
  })

  test('subscriptions go along to the next test, also those from before the first test', async () => {
    const [sub, pub] = [client(), client()]
    const heard = vi.fn()
    sub.on('message', (...words) => heard(...words))
    sub.on('pmessage', (...words) => heard(...words))
    await sub.subscribe('news')
    const first = nextTest()
    expect(await pub.publish('news', 'one')).toBe(1)
    await sub.psubscribe('n*')
    const { store } = nextTest()
    expect(await pub.publish('news', 'two')).toBe(2)
    expect(first.store.run('PUBLISH', 'news', 'missed')).toBe(0)
    await expect
      .poll(() => heard.mock.calls, promptly)
      .toEqual([
        ['news', 'one'],
        ['news', 'two'],
        ['n*', 'news', 'two'],
      ])
    await sub.unsubscribe('news')
    await sub.punsubscribe('n*')
    expect(await sub.set('a', '1')).toBe('OK')
    expect(store.run('PUBLISH', 'news', 'three')).toBe(0)
    nextTest()
    expect(await pub.publish('news', 'four')).toBe(0)
  })

  test('a reset before the next test keeps subscriptions, ends blocked commands, and closes no connection', async () => {
    const [sub, redis] = [client(), client()]
    const sandbox = nextTest()
    const closed = vi.fn()
    for (const one of [sub, redis]) one.on('close', closed)
    const heard = vi.fn()
    sub.on('message', (...words) => heard(...words))
    await sub.subscribe('news')
    await redis.ping()
    const job = redis.blpop('jobs', 0)
    resetForNextTest(sandbox)
    expect(sandbox.store.run('PUBLISH', 'news', 'one')).toBe(1)
    expect(await job).toBe(null)
    expect(await redis.rpush('jobs', 'x')).toBe(1)
    await expect.poll(() => heard.mock.calls, promptly).toEqual([['news', 'one']])
    await sub.unsubscribe('news')
    expect(await sub.set('a', '1')).toBe('OK')
    expect(closed).not.toHaveBeenCalled()
  })

  test('the subscriptions of the next test are a part of its traffic and of its forks', async () => {
    const [sub, pub] = [client(), client()]
    nextTest()
    await sub.subscribe('news')
    const sandbox = nextTest()
    expect(await pub.publish('news', 'one')).toBe(1)
    expect(sandbox.traffic.ofType('command').map(({ argv }) => argv.join(' '))).toContain('SUBSCRIBE news')
    using fork = await sandbox.fork()
    expect(fork.traffic.ofType('command').map(({ argv, reply }) => [argv[0], reply])).toEqual(
      sandbox.traffic.ofType('command').map(({ argv, reply }) => [argv[0], reply]),
    )
  })

  test('the reset of a sandbox that clients do not use leaves them alone', async () => {
    const sub = client()
    const other = createSandbox()
    const { store } = nextTest()
    await sub.subscribe('news')
    resetForNextTest(other)
    other.dispose()
    expect(store.run('PUBLISH', 'news', 'one')).toBe(1)
  })

  test('a client that reconnects outside of a test subscribes again without an error', async () => {
    const sub = client({ retryStrategy: () => 1 })
    nextTest()
    await sub.subscribe('news')
    await sub.psubscribe('n*')
    const ready = new Promise((resolve) => sub.once('close', () => sub.once('ready', resolve)))
    sub.disconnect(true)
    end()
    await ready
    await aWhile()
    const { store } = nextTest()
    expect(store.run('PUBLISH', 'news', 'one')).toBe(2)
    end()
    await sub.unsubscribe('news')
    await sub.punsubscribe('n*')
    await expect(sub.get('a')).rejects.toThrow(noTest)
  })

  test('subscribes again after a reset, and sends a blocked command again', async () => {
    const [sub, redis] = [client({ retryStrategy: () => 1 }), client({ retryStrategy: () => 1 })]
    const sandbox = nextTest()
    const heard = vi.fn()
    sub.on('message', (...words) => heard(...words))
    await sub.subscribe('news')
    await redis.ping()
    const job = redis.blpop('jobs', 0)
    sandbox.reset()
    await expect.poll(() => sandbox.store.run('PUBLISH', 'news', 'one'), promptly).toBe(1)
    await expect.poll(() => heard.mock.calls, promptly).toEqual([['news', 'one']])
    sandbox.store.run('RPUSH', 'jobs', 'x')
    expect(await job).toEqual(['jobs', 'x'])
  })

  test('a blocked command ends with its test as if its timeout had expired', async () => {
    const redis = client()
    nextTest()
    const job = redis.blpop('jobs', 0)
    const behind = redis.get('a')
    await expect.poll(() => redis.status, promptly).toBe('ready')
    await aWhile()
    const { store } = nextTest()
    expect(await job).toBe(null)
    expect(await behind).toBe(null)
    store.run('RPUSH', 'jobs', 'x')
    expect(await redis.llen('jobs')).toBe(1)
    expect(await redis.blpop('jobs', 0)).toEqual(['jobs', 'x'])
  })

  test('a transaction and watched keys end with their test', async () => {
    const redis = client()
    nextTest()
    await redis.watch('stock')
    await redis.multi({ pipeline: false })
    nextTest()
    await expect(redis.exec()).rejects.toThrow('EXEC without MULTI')
  })

  test('a client that has quit stays closed', async () => {
    const redis = client()
    nextTest()
    expect(await redis.quit()).toBe('OK')
    nextTest()
    await expect(redis.get('a')).rejects.toThrow('Connection is closed')
  })

  test('another database is rejected as by the service', async () => {
    const redis = client({ db: 1 })
    const failed = vi.fn()
    redis.on('error', ({ message }) => failed(message))
    nextTest()
    await expect(redis.select(2)).rejects.toThrow('ERR DB index is out of range')
    expect(await redis.select(0)).toBe('OK')
    expect(failed).toHaveBeenCalledWith('ERR DB index is out of range')
  })

  test('MONITOR lists the commands of the test', async () => {
    nextTest()
    const redis = client()
    const monitor = await redis.monitor()
    onTestFinished(() => monitor.disconnect())
    const heard = vi.fn()
    monitor.on('monitor', (_time, args) => heard(args))
    await redis.set('a', '1')
    await expect.poll(() => heard.mock.calls, promptly).toEqual([[['set', 'a', '1']]])
  })

  test('reconnects after disconnect(true) and after a fault', async () => {
    const { store } = nextTest()
    const redis = client({ retryStrategy: () => 1 })
    await redis.set('a', '1')
    redis.disconnect(true)
    expect(await redis.get('a')).toBe('1')
    expect(store.run('GET', 'a')).toBe('1')
  })

  test('works under fake timers', async () => {
    const redis = client()
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    nextTest()
    await redis.set('a', '1')
    nextTest()
    expect(await redis.get('a')).toBe(null)
    vi.useRealTimers()
  })

  test('commands in a loop outside of a test let timers run', async () => {
    const redis = client()
    let isOver = false
    setTimeout(() => {
      isOver = true
    }, 20)
    while (!isOver) await redis.get('a').catch(() => {})
    expect(isOver).toBe(true)
  })

  test('clients of a cluster are rejected with a reason', async () => {
    nextTest()
    const cluster = new module.Cluster([{ host: 'db.shop.test' }])
    const reason = 'new Cluster(): neither the service'
    await expect(cluster.get('a')).rejects.toThrow(reason)
    await expect(cluster.connect()).rejects.toThrow(reason)
    await expect(cluster.pipeline().get('a').exec()).rejects.toThrow(reason)
    expect(cluster).toBeInstanceOf(actual.Cluster)
    cluster.disconnect()
  })

  test('concurrent tests get the reason why a shared client belongs to none', async () => {
    const redis = client()
    nextTest()
    const endRefusal = useForClients({ refusal: 'Several concurrent tests are running.' })
    await expect(redis.get('a')).rejects.toThrow('ERR Several concurrent tests are running.')
    endRefusal()
    expect(await redis.get('a')).toBe(null)
  })

  test('has all exports of the actual module, in both forms', () => {
    expect(Object.keys(module).sort()).toEqual(Object.keys(actual).sort())
    expect(module.default).toBe(module.Redis)
    expect(module.Command).toBe(actual.Command)
    expect((module.Redis as unknown as typeof module).Cluster).toBe(module.Cluster)
    const common = replaceIoredis(actual.default) as unknown as Record<string, unknown>
    expect(typeof common).toBe('function')
    expect(common.default).toBe(common)
    expect(common.Redis).toBe(common)
    expect(common.Cluster).not.toBe(actual.Cluster)
    for (const name of Object.keys(actual.default)) expect(Object.keys(common)).toContain(name)
  })
})

test('rejects another module', () => {
  for (const wrong of [undefined, null, {}, { default: {} }]) {
    expect(() => replaceIoredis(wrong as never)).toThrow('replaceIoredis(): the argument must be the module ioredis')
  }
  const old = Object.assign(class {}, { Cluster: class {} })
  expect(() => replaceIoredis(old)).toThrow('stuntdouble/ioredis needs ioredis 5 or newer')
})
