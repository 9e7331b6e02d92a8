import { Redis, type RedisOptions } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { createSandbox } from '../../../../src/index.js'
import type { StuntdoubleServer } from '../../src/server.js'
import { served } from './served.js'

function ioredis(url: string | RedisOptions): Redis {
  const options = { maxRetriesPerRequest: 0, retryStrategy: () => null }
  const redis = typeof url === 'string' ? new Redis(url, options) : new Redis({ ...options, ...url })
  redis.on('error', () => undefined)
  onTestFinished(() => redis.disconnect())
  return redis
}

/** Connects to the Redis port and signs in. */
function entered({ redisPort }: StuntdoubleServer, ...login: [string] | [string, string]): Redis {
  const [password, username] = [login.at(-1)!, login.length === 2 ? login[0] : undefined]
  return ioredis({ host: '127.0.0.1', port: redisPort!, password, ...(username !== undefined && { username }) })
}

const databases = ['eu', 'us']

test('REDIS_URL of a database reaches only this database, also in a tenant that does not exist yet', async () => {
  const server = await served({ databases, secret: 'a secret of the server' })
  const { envFor, env } = server.tenant('main')
  const [first, us] = [ioredis(env.REDIS_URL!), ioredis(envFor({ database: 'us' }).REDIS_URL!)]
  await first.set('who', 'first')
  await us.set('who', 'us')
  expect([await first.get('who'), await us.get('who')]).toEqual(['first', 'us'])
  using other = createSandbox({ databases, secret: 'a secret of the server', name: 'w7' })
  const token = other.tokens.databases.us!.store
  expect(await entered(server, 'w7/us/default', token).get('who')).toBeNull()
  expect(server.tenants).toEqual(['main', 'w7'])
})

test('a password without a user selects the database whose token it is', async () => {
  const server = await served({ databases })
  const { tokens, storeIn, store } = server.tenant('main')
  store.run('SET', 'who', 'first')
  for (const name of databases) storeIn(name).run('SET', 'who', name)
  expect(await entered(server, tokens.store).get('who')).toBe('first')
  for (const name of databases) expect(await entered(server, tokens.databases[name]!.store).get('who')).toBe(name)
  await expect(entered(server, 'default', tokens.databases.us!.store).get('who')).rejects.toThrow('WRONGPASS')
  await expect(entered(server, 'nobody').get('who')).rejects.toThrow('WRONGPASS')
})

test('another AUTH on the same connection moves it to another database', async () => {
  const server = await served({ databases })
  const { tokens, storeIn } = server.tenant('main')
  storeIn('us').run('SET', 'who', 'us')
  const redis = entered(server, tokens.store)
  expect(await redis.get('who')).toBeNull()
  expect(await redis.call('AUTH', tokens.databases.us!.store)).toBe('OK')
  expect(await redis.get('who')).toBe('us')
  expect(await redis.call('AUTH', 'main/default', tokens.store)).toBe('OK')
  expect(await redis.get('who')).toBeNull()
})

test('users of one database are unknown in the others', async () => {
  const server = await served({ databases })
  const { tokens, storeIn } = server.tenant('main')
  const us = storeIn('us')
  const [, readOnly] = (us.run('ACL', 'USERS') as string[]).sort()
  const token = us.run('ACL', 'GENTOKEN', 'ann') as string
  us.run('ACL', 'SETUSER', 'ann', 'on', '~*', '+@all', `>${token}`)
  expect(await entered(server, 'main/us/ann', token).set('a', 1)).toBe('OK')
  await expect(entered(server, 'main/ann', token).ping()).rejects.toThrow('WRONGPASS')
  await expect(entered(server, 'main/eu/ann', token).ping()).rejects.toThrow('WRONGPASS')
  const reader = entered(server, `main/us/${readOnly}`, tokens.databases.us!.storeReadonly)
  expect(await reader.get('a')).toBe('1')
  await expect(reader.set('a', 2)).rejects.toThrow('NOPERM')
})

test.each([
  'main/uss/default',
  'main/US/default',
  'main/__proto__/default',
  'us/default',
  'main//us/default',
  'main/us',
])('the user name %s is rejected', async (name) => {
  const server = await served({ databases })
  const { tokens } = server.tenant('main')
  await expect(entered(server, name, tokens.databases.us!.store).ping()).rejects.toThrow('WRONGPASS')
  expect(server.tenants).toEqual(['main'])
})

test('MONITOR, CLIENT LIST and PUBLISH see only their own database', async () => {
  const server = await served({ databases })
  const { tokens, store } = server.tenant('main')
  const us = entered(server, tokens.databases.us!.store)
  const first = entered(server, tokens.store)
  await Promise.all([us.client('SETNAME', 'of-us'), first.client('SETNAME', 'of-first')])
  expect(await us.client('LIST')).toMatch(/^(?!.*of-first).*of-us/s)
  expect(await first.client('LIST')).toMatch(/^(?!.*of-us).*of-first/s)
  const seen: string[] = []
  const monitor = await us.duplicate().monitor()
  onTestFinished(() => monitor.disconnect())
  monitor.on('monitor', (_, argv: string[]) => seen.push(argv.join(' ')))
  await first.set('a', 1)
  store.run('SET', 'b', 2)
  await us.set('c', 3)
  await expect.poll(() => seen.filter((line) => line.startsWith('set'))).toEqual(['set c 3'])
  const heard: string[] = []
  const subscriber = entered(server, tokens.databases.us!.store)
  await subscriber.subscribe('news')
  subscriber.on('message', (_, text) => heard.push(text))
  expect([await first.publish('news', 'first'), await us.publish('news', 'us')]).toEqual([0, 1])
  await expect.poll(() => heard).toEqual(['us'])
})

test('a reset keeps connections in their database', async () => {
  const server = await served({ databases })
  const sandbox = server.tenant('main')
  const us = entered(server, sandbox.tokens.databases.us!.store)
  await us.set('a', 1)
  sandbox.reset()
  expect(await us.get('a')).toBeNull()
  await us.set('a', 2)
  expect([sandbox.storeIn('us').get('a'), sandbox.store.get('a')]).toEqual(['2', null])
})
