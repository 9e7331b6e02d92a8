import { createRequire } from 'node:module'
import { Redis } from 'ioredis6'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSandbox } from '../../../../src/index.js'
import { ioredisConnector } from '../../src/redis-port/in-process.js'

/** The commands that a version of ioredis knows. */
function commandsOf(version: string): readonly string[] {
  const require = createRequire(createRequire(import.meta.url).resolve(version))
  const commands = '@ioredis/commands'
  return (require(commands) as { readonly list: readonly string[] }).list
}

const before = commandsOf('ioredis')
const added = commandsOf('ioredis6').filter((name) => !before.includes(name))

/** Commands that the documentation of the service lists. [store.md 7.1] */
const documented = ['delex', 'digest', 'sdiffcard', 'sunioncard', 'waitaof', 'xackdel']

function client(options: object = {}): Redis {
  const sandbox = createSandbox({ policy: { commands: 'documented' } })
  const redis = new Redis({ Connector: ioredisConnector(sandbox), ...options })
  onTestFinished(() => {
    redis.disconnect()
    sandbox.dispose()
  })
  return redis
}

describe('the commands that are new in ioredis 6', () => {
  test('include these', () => {
    expect(added).toEqual(expect.arrayContaining([...documented, 'himport', 'lmovem', 'hotkeys']))
  })

  test.each(added)('%s gets a reply of the command, or the error of the service for an unknown one', async (name) => {
    const error = await client()
      .call(name)
      .catch((thrown: Error) => thrown)
    const unknown = `ERR Command is not available: '${name.toUpperCase()}'.`
    const expected = documented.includes(name) ? 'ERR wrong number of arguments' : unknown
    expect((error as Error).message).toContain(expected)
  })
})

describe('RESP3 of ioredis 6', () => {
  test('is the default, and replies have the shapes of RESP2', async () => {
    const redis = client()
    await redis.hset('user', { name: 'Ada' })
    await redis.zadd('scores', 1.5, 'ada')
    expect(await redis.hgetall('user')).toEqual({ name: 'Ada' })
    expect(await redis.zscore('scores', 'ada')).toBe('1.5')
    expect(await redis.zrange('scores', '0', '-1', 'WITHSCORES')).toEqual(['ada', '1.5'])
    expect(await redis.client('INFO')).toContain('resp=3')
  })

  test('has its own shapes with replyMapping', async () => {
    const redis = client({ replyMapping: 'resp3' })
    await redis.hset('user', { name: 'Ada' })
    await redis.zadd('scores', 1.5, 'ada')
    expect(await redis.hgetall('user')).toEqual({ name: 'Ada' })
    expect(await redis.zscore('scores', 'ada')).toBe(1.5)
    expect(await redis.zrange('scores', '0', '-1', 'WITHSCORES')).toEqual([['ada', 1.5]])
  })

  test('is off with protocol: 2', async () => {
    const redis = client({ protocol: 2 })
    await redis.zadd('scores', 1.5, 'ada')
    expect(await redis.zscore('scores', 'ada')).toBe('1.5')
    expect(await redis.client('INFO')).toContain('resp=2')
  })
})
