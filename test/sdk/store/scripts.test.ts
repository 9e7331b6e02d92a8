import { Redis } from '@upstash/redis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { replaceFetch } from '../../../src/adapters/fetch.js'
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.js'
import { setups } from './examples.js'

// Every method of the SDK for scripts and functions, with each of its settings. Replies: store.md 9.

let sandbox: Sandbox
beforeEach(() => {
  sandbox = createSandbox()
  replaceFetch(sandbox)
})
afterEach(() => sandbox.dispose())

const get = "return redis.call('GET', KEYS[1])"
const getDigest = 'd3c21d0c2b9ca22f82737626a27bcaf5d288f99f'
const set = "return redis.call('SET', KEYS[1], ARGV[1])"

describe.each(setups)('pipelining $enableAutoPipelining, encoding $responseEncoding', (setup) => {
  let redis: Redis
  beforeEach(() => {
    const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = sandbox.env
    redis = new Redis({ url: url!, token: token!, retry: false, ...setup })
  })

  it('eval() and evalRo() run a script', async () => {
    expect(await redis.eval(set, ['k'], ['grüße'])).toBe('OK')
    expect(await redis.eval(get, ['k'], [])).toBe('grüße')
    expect(await redis.evalRo(get, ['k'], [])).toBe('grüße')
    await expect(redis.evalRo(set, ['k'], ['v'])).rejects.toThrow('READONLY Write commands are not allowed')
    expect(await redis.eval('return {#KEYS, #ARGV, ARGV[1]}', ['k', 'l'], [{ a: [1] }, 'x', 7])).toEqual([
      2,
      3,
      { a: [1] },
    ])
  })

  it('scriptLoad(), scriptExists(), scriptFlush(), evalsha() and evalshaRo() use its digest', async () => {
    await redis.set('k', 'v')
    expect(await redis.scriptLoad(get)).toBe(getDigest)
    expect(await redis.scriptExists(getDigest, 'f'.repeat(40))).toEqual([1, 0])
    expect(await redis.evalsha(getDigest, ['k'], [])).toBe('v')
    expect(await redis.evalshaRo(getDigest, ['k'], [])).toBe('v')
    const writing = await redis.scriptLoad(set)
    await expect(redis.evalshaRo(writing, ['k'], ['w'])).rejects.toThrow('READONLY Write commands are not allowed')
    for (const options of [{ sync: true }, { async: true }] as const) {
      await redis.scriptLoad(get)
      expect(await redis.scriptFlush(options)).toBe('OK')
      expect(await redis.scriptExists(getDigest)).toEqual([0])
    }
    for (const run of [() => redis.evalsha(getDigest, ['k'], []), () => redis.evalshaRo(getDigest, ['k'], [])]) {
      await expect(run()).rejects.toThrow('NOSCRIPT No matching script. Please use EVAL.')
    }
  })

  it('createScript() runs by digest, by source, and by digest with a fallback to the source', async () => {
    await redis.set('k', 'v')
    const writing = redis.createScript<string>(get)
    await expect(writing.evalsha(['k'], [])).rejects.toThrow('NOSCRIPT')
    expect(await writing.eval(['k'], [])).toBe('v')
    expect(await writing.evalsha(['k'], [])).toBe('v')
    await redis.scriptFlush()
    expect(await writing.exec(['k'], [])).toBe('v')
    await redis.scriptFlush()
    const reading = redis.createScript<string, true>(get, { readonly: true })
    await expect(reading.evalshaRo(['k'], [])).rejects.toThrow('NOSCRIPT')
    expect(await reading.exec(['k'], [])).toBe('v')
    expect(await reading.evalshaRo(['k'], [])).toBe('v')
    expect(await reading.evalRo(['k'], [])).toBe('v')
  })

  it('functions are loaded, listed, called and deleted', async () => {
    const { functions } = redis
    const code = `#!lua name=shop
redis.register_function('put', function(keys, args) return redis.call('SET', keys[1], args[1]) end)
redis.register_function{function_name='peek', description='reads', flags={'no-writes'},
  callback=function(keys) return redis.call('GET', keys[1]) end}`
    expect(await functions.load({ code })).toBe('shop')
    await expect(functions.load({ code, replace: false })).rejects.toThrow("ERR Library 'shop' already exists")
    expect(await functions.load({ code, replace: true })).toBe('shop')
    expect(await functions.call('put', ['k'], ['v'])).toBe('OK')
    expect(await functions.call('peek', ['k'])).toBe('v')
    expect(await functions.callRo('peek', ['k'])).toBe('v')
    await expect(functions.callRo('put', ['k'], ['w'])).rejects.toThrow('READONLY Write commands are not allowed')
    const listed = { libraryName: 'shop', engine: 'LUA' }
    const [library, ...others] = await functions.list()
    expect(others).toEqual([])
    expect(library).toMatchObject(listed)
    expect(library!.functions).toContainEqual({ name: 'peek', description: 'reads', flags: ['no-writes'] })
    expect(await functions.list({ libraryName: 'sh*', withCode: true })).toMatchObject([
      { ...listed, libraryCode: code },
    ])
    expect(await functions.list({ libraryName: 'none' })).toEqual([])
    expect(await functions.stats()).toMatchObject({ engines: { LUA: { librariesCount: 1, functionsCount: 2 } } })
    expect(await functions.delete('shop')).toBe('OK')
    await expect(functions.delete('shop')).rejects.toThrow('ERR Library not found')
    expect(await functions.load({ code })).toBe('shop')
    expect(await functions.flush()).toBe('OK')
    await expect(functions.call('peek', ['k'])).rejects.toThrow('ERR Function not found')
  })

  it.each(['pipeline', 'multi'] as const)('a %s contains scripts and functions', async (kind) => {
    const rows = redis[kind]()
    rows.eval(set, ['k'], ['v'])
    rows.scriptLoad(get)
    rows.evalsha(getDigest, ['k'], [])
    rows.evalRo(get, ['k'], [])
    rows.evalshaRo(getDigest, ['k'], [])
    rows.scriptExists(getDigest)
    rows.scriptFlush()
    expect(await rows.exec()).toEqual(['OK', getDigest, 'v', 'v', 'v', [1], 'OK'])
  })
})
