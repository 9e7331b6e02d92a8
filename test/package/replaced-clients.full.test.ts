import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'

// The documented lines that replace ioredis and node-redis, in a separate project. Modules of the app create the
// clients when they are imported.

const consumer = inject('consumer')

/** Runs the files in a folder of the separate project, and returns the output of the command. */
function run(folder: string, files: Readonly<Record<string, string>>, command: readonly string[]): string {
  const place = join(consumer, folder)
  mkdirSync(place, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text)
  const [program = '', ...args] = command
  const { stdout, stderr } = spawnSync(process.execPath, [join(consumer, 'node_modules', program), ...args], {
    cwd: place,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
    timeout: 120_000,
  })
  return stdout + stderr
}

test('Jest replaces them in CommonJS, in a setup file, also after modules were reset', () => {
  const printed = run(
    'replaced-jest',
    {
      'jest.config.cjs': "module.exports = { testEnvironment: 'node', setupFilesAfterEnv: ['./setup.cjs'] }",
      'setup.cjs': `
require('stuntdouble/ioredis')
require('stuntdouble/node-redis')
jest.mock('ioredis', () => require('stuntdouble/ioredis').replaceIoredis(jest.requireActual('ioredis')))
jest.mock('redis', () => require('stuntdouble/node-redis').replaceNodeRedis(jest.requireActual('redis')))
const { useSandbox } = require('stuntdouble/jest')
module.exports = { sandbox: useSandbox() }`,
      'visits.cjs': `
const Redis = require('ioredis')
const { createClient } = require('redis')
class Visits {
  static redis = new Redis('rediss://default:secret@db.shop.test:6380')
  static client = createClient({ url: 'redis://db.shop.test' })
  count() {
    return Visits.redis.incr('visits')
  }
}
module.exports = { Redis, Visits }`,
      'visits.test.cjs': `
const { sandbox } = require('./setup.cjs')
const { Redis, Visits } = require('./visits.cjs')
afterAll(async () => {
  await Visits.redis.quit()
  await Visits.client.close()
})
test.each([1, 2])('begins anew %i', async () => {
  expect(await new Visits().count()).toBe(1)
  if (!Visits.client.isOpen) await Visits.client.connect()
  expect(await Visits.client.incr('visits')).toBe(2)
  expect(sandbox.store.run('GET', 'visits')).toBe('2')
  expect(Visits.redis).toBeInstanceOf(Redis)
})
test('has the sandbox after modules were reset', async () => {
  jest.resetModules()
  const { Visits: fresh } = require('./visits.cjs')
  expect(await new fresh().count()).toBe(1)
  await fresh.redis.quit()
})`,
    },
    ['jest/bin/jest.js', '--rootDir=.', '--testMatch=**/*.test.cjs'],
  )
  expect(printed).toContain('Tests:       3 passed, 3 total')
  expect(printed).not.toContain('did not exit')
})

test('useSandbox() of Jest keeps subscriptions, and ends blocked commands that tests leave', () => {
  const printed = run(
    'replaced-left',
    {
      'jest.config.cjs': "module.exports = { testEnvironment: 'node', setupFilesAfterEnv: ['./setup.cjs'] }",
      'setup.cjs': `
jest.mock('ioredis', () => require('stuntdouble/ioredis').replaceIoredis(jest.requireActual('ioredis')))
jest.mock('redis5', () => require('stuntdouble/node-redis').replaceNodeRedis(jest.requireActual('redis5')))
const { useSandbox } = require('stuntdouble/jest')
module.exports = { sandbox: useSandbox() }`,
      'left.test.cjs': `
const Redis = require('ioredis')
const { createClient } = require('redis5')
const { sandbox } = require('./setup.cjs')
const redis = new Redis()
const closed = jest.fn()
redis.on('close', closed)
const client = createClient({ url: 'redis://:secret@db.shop.test' })
afterAll(() => client.destroy())
const sub = new Redis()
sub.subscribe('c')
const heard = jest.fn()
sub.on('message', (_, message) => heard(message))
test.each(['m', 'n'])('hears %s', async (message) => {
  expect(await new Redis().publish('c', message)).toBe(1)
  expect(heard).toHaveBeenLastCalledWith(message)
})
test('leaves blocked commands', async () => {
  await redis.ping()
  await client.connect()
  void redis.blpop('jobs', 0)
  void client.blPop('jobs', 0)
  // The command of node-redis arrives over a socket. If it arrived in the next test, it would belong to that test.
  await new Promise((resolve) => setTimeout(resolve, 50))
})
test.each([1, 2, 3])('can use the clients %i', async () => {
  expect(await redis.rpush('jobs', 'x')).toBe(1)
  expect(await client.lLen('jobs')).toBe(1)
  expect(closed).not.toHaveBeenCalled()
})
test('leaves subscriptions after the last test, also of a client that reconnects', async () => {
  await client.subscribe('c', () => {})
  await new Redis({ retryStrategy: () => 1 }).subscribe('c')
  sandbox.reset()
  await new Redis().psubscribe('c*')
})
afterAll(() => new Promise((resolve) => setTimeout(resolve, 100)))`,
    },
    ['jest/bin/jest.js', '--rootDir=.', '--testMatch=**/*.test.cjs'],
  )
  expect(printed).toContain('Tests:       7 passed, 7 total')
  expect(printed).not.toContain('No test with a sandbox is running')
})

const vitestFiles = {
  'visits.mjs': `
import Redis, { Redis as Named } from 'ioredis6'
import { createClient } from 'redis'
export const redis = new Redis({ host: 'db.shop.test' })
export const named = new Named()
export const client = createClient({ url: 'redis://db.shop.test' })`,
  'visits.test.mjs': `
import { vi } from 'vitest'
import { expect, test } from 'stuntdouble/vitest'
import { client, named, redis } from './visits.mjs'
vi.mock('ioredis6', async (actual) => (await import('stuntdouble/ioredis')).replaceIoredis(await actual()))
vi.mock('redis', async (actual) => (await import('stuntdouble/node-redis')).replaceNodeRedis(await actual()))
for (const name of ['one', 'two']) {
  test(name, async ({ sandbox }) => {
    expect(await redis.incr('visits')).toBe(1)
    expect(await named.incr('visits')).toBe(2)
    if (!client.isOpen) await client.connect()
    expect(await client.incr('visits')).toBe(3)
    expect(sandbox.store.run('GET', 'visits')).toBe('3')
  })
}
test('a test without a sandbox', async () => {
  await expect(redis.get('visits')).rejects.toThrow('No test with a sandbox is running')
})
for (const name of ['one', 'two']) {
  test.concurrent('concurrent ' + name, async ({ sandbox }) => {
    expect(sandbox.store.run('DBSIZE')).toBe(0)
    await expect(redis.get('visits')).rejects.toThrow('Several concurrent tests are running')
  })
}`,
}

test.each(['forks', 'vmThreads'])('Vitest replaces them in a test file, with the pool %s', (pool) => {
  const printed = run('replaced-vitest', vitestFiles, ['vitest/vitest.mjs', 'run', '--root=.', `--pool=${pool}`])
  expect(printed).toContain('5 passed (5)')
  expect(printed).not.toContain('Error')
})

test('useSandbox() of Vitest keeps subscriptions, and ends blocked commands that tests leave', () => {
  const printed = run(
    'replaced-left-vitest',
    {
      'vitest.config.mjs': "export default { test: { setupFiles: ['./setup.mjs'] } }",
      'setup.mjs': `
import { useSandbox } from 'stuntdouble/vitest'
useSandbox()`,
      'left.test.mjs': `
import Redis from 'ioredis'
import { afterAll, expect, test, vi } from 'vitest'
vi.mock('ioredis', async (actual) => (await import('stuntdouble/ioredis')).replaceIoredis(await actual()))
const redis = new Redis()
const sub = new Redis()
const closed = vi.fn()
for (const one of [redis, sub]) one.on('close', closed)
test('leaves a subscription and a blocked command', async () => {
  await Promise.all([redis.ping(), sub.ping()])
  await sub.subscribe('c')
  void redis.blpop('jobs', 0)
})
test.each([1, 2])('can use the clients %i', async () => {
  expect(await redis.rpush('jobs', 'x')).toBe(1)
  expect(await redis.publish('c', 'm')).toBe(1)
  expect(closed).not.toHaveBeenCalled()
})
afterAll(() => new Promise((resolve) => setTimeout(resolve, 100)))`,
    },
    ['vitest/vitest.mjs', 'run', '--root=.'],
  )
  expect(printed).toContain('3 passed (3)')
  expect(printed).not.toContain('Error')
})
