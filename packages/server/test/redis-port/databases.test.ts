import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { expect, onTestFinished, test } from 'vitest'
import { createSandbox, fault, type Sandbox } from '../../../../src/index.js'
import { ioredisConnector, openRedisSocket } from '../../src/redis-port/in-process.js'

function sandboxOfTest(): Sandbox {
  const sandbox = createSandbox({ databases: ['eu', 'us'] })
  onTestFinished(() => sandbox.dispose())
  return sandbox
}

function clientOf(sandbox: Sandbox, database?: string): Redis {
  const redis = new Redis({
    Connector: ioredisConnector(sandbox, database === undefined ? {} : { database }),
    retryStrategy: null,
  })
  redis.on('error', () => {})
  onTestFinished(() => redis.disconnect())
  return redis
}

test('ioredisConnector() connects to a database, with its own keys, channels and users', async () => {
  const sandbox = sandboxOfTest()
  const [first, us] = [clientOf(sandbox), clientOf(sandbox, 'us')]
  await us.set('greeting', 'hello')
  expect([await us.get('greeting'), await first.get('greeting')]).toEqual(['hello', null])
  expect(sandbox.storeIn('us').get('greeting')).toBe('hello')
  const reader = clientOf(sandbox, 'us')
  const heard: string[] = []
  reader.on('message', (_channel, message) => heard.push(message))
  await reader.subscribe('news')
  expect([await first.publish('news', 'a'), await us.publish('news', 'b')]).toEqual([0, 1])
  await expect.poll(() => heard, { interval: 2 }).toEqual(['b'])
  const entries = sandbox.traffic.ofType('command').filter(({ via }) => via === 'resp')
  expect(entries.filter(({ argv }) => argv[0] === 'set').map(({ database }) => database)).toEqual(['us'])
  await us.acl('SETUSER', 'ann', 'on', '~*', '+@all')
  expect(() => ioredisConnector(sandbox, { database: 'us', user: 'ann' })).not.toThrow()
  expect(() => ioredisConnector(sandbox, { user: 'ann' })).toThrow(/no user "ann"/)
})

test('a client waits only for elements of its database', async () => {
  const sandbox = sandboxOfTest()
  const waiting = clientOf(sandbox, 'us').blpop('jobs', 0)
  await clientOf(sandbox).rpush('jobs', 'wrong')
  await clientOf(sandbox, 'eu').rpush('jobs', 'wrong')
  await clientOf(sandbox, 'us').rpush('jobs', 'right')
  expect(await waiting).toEqual(['jobs', 'right'])
})

test('openRedisSocket() opens a database', async () => {
  const sandbox = sandboxOfTest()
  await using socket = await openRedisSocket(sandbox, { database: 'eu' })
  const client = await createClient({ socket: { path: socket.path, tls: false } }).connect()
  await client.set('greeting', 'hallo')
  expect(sandbox.stores.map((store) => store.get('greeting'))).toEqual([null, 'hallo', null])
  await client.close()
})

test('a user name with a database signs in to this database', async () => {
  const sandbox = sandboxOfTest()
  const redis = clientOf(sandbox)
  expect(await redis.auth('us/default', sandbox.tokens.databases.us!.store)).toBe('OK')
  await redis.set('greeting', 'hello')
  expect(sandbox.storeIn('us').get('greeting')).toBe('hello')
  await expect(redis.auth('eu/default', sandbox.tokens.databases.us!.store)).rejects.toThrow(/WRONGPASS/)
})

test('a restart of a database breaks only its connections', async () => {
  const sandbox = sandboxOfTest()
  const [eu, us] = [clientOf(sandbox, 'eu'), clientOf(sandbox, 'us')]
  await Promise.all([eu.set('a', 1), us.set('a', 1)])
  sandbox.faults.add({ on: 'store.request', match: { database: 'us' }, times: 1, fault: fault.restart('1m') })
  await expect(us.set('a', 2)).rejects.toThrow()
  await expect(clientOf(sandbox, 'us').get('a')).rejects.toThrow()
  expect(await eu.get('a')).toBe('1')
  expect(await clientOf(sandbox).get('a')).toBeNull()
  await sandbox.clock.advance('1m')
  expect(await clientOf(sandbox, 'us').get('a')).toBe('2')
})

test('a fork has the commands of the connections of each database', async () => {
  const sandbox = sandboxOfTest()
  await clientOf(sandbox, 'us').multi().set('a', 1).incr('a').exec()
  await clientOf(sandbox, 'eu').set('a', 5)
  using fork = await sandbox.fork()
  expect(fork.stores.map((store) => store.get('a'))).toEqual([null, '5', '2'])
  expect(fork.dump()).toEqual(sandbox.dump())
})

test('an unknown database throws a RangeError with the nearest name', async () => {
  const sandbox = sandboxOfTest()
  const sentence = 'There is no database "uss". Did you mean "us"? The added databases are eu, us.'
  expect(() => ioredisConnector(sandbox, { database: 'uss' })).toThrow(new RangeError(sentence))
  await expect(openRedisSocket(sandbox, { database: 'uss' })).rejects.toThrow(new RangeError(sentence))
})
