import { Redis } from '@upstash/redis'
import { describe, expect, test } from 'vitest'
import { open } from './shop.js'

// Scripts and functions as the SDK calls them. Expected: store.md 9.

describe.each([true, false])('auto-pipelining %s', (enableAutoPipelining) => {
  function shop() {
    const world = open()
    const { UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN } = world.env
    const redis = new Redis({
      url: UPSTASH_REDIS_REST_URL!,
      token: UPSTASH_REDIS_REST_TOKEN!,
      retry: false,
      enableAutoPipelining,
    })
    return { ...world, redis }
  }

  test('run eval, evalsha, load, exists and flush', async () => {
    const { redis } = shop()
    expect(await redis.eval('return {KEYS[1], ARGV[1], ARGV[2] + 1}', ['k'], ['a', 41])).toEqual(['k', 'a', 42])
    const sha = await redis.scriptLoad('return 1')
    expect(sha).toBe('e0e1f9fabfc9d4800c877a703b823ac0578ff8db')
    expect(await redis.evalsha(sha, [], [])).toBe(1)
    expect(await redis.evalsha(sha.toUpperCase(), [], [])).toBe(1)
    expect(await redis.scriptExists(sha, 'f'.repeat(40))).toEqual([1, 0])
    expect(await redis.scriptFlush()).toBe('OK')
    await expect(redis.evalsha(sha, [], [])).rejects.toThrow('NOSCRIPT No matching script. Please use EVAL.')
  })

  test('createScript() falls back to EVAL once, then uses the hash', async () => {
    const { redis, sandbox } = shop()
    const script = redis.createScript<string>("redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])")
    expect(await script.exec(['k'], ['v1'])).toBe('v1')
    expect(await script.exec(['k'], ['v2'])).toBe('v2')
    const names = sandbox.traffic.entries.flatMap((entry) =>
      entry.type === 'command' ? [String(entry.argv[0]).toUpperCase()] : [],
    )
    expect(names.filter((name) => name.startsWith('EVAL'))).toEqual(['EVALSHA', 'EVAL', 'EVALSHA'])
    const readonly = redis.createScript<number, true>('return 7', { readonly: true })
    expect(await readonly.exec([], [])).toBe(7)
  })

  test.each<[string, unknown]>([
    ['return 1.9', 1],
    ['return -1.9', -1],
    ['return nil', null],
    ['return false', null],
    ['return true', 1],
    ["return {1, 'x', false, 2}", [1, 'x', null, 2]],
    ['return {1, nil, 3}', [1]],
    ['return {}', []],
    ["return redis.status_reply('FINE')", 'FINE'],
    ["return {ok='OK'}", 'OK'],
    ["return redis.call('PING')", 'PONG'],
    ["return {redis.call('SET', 'a', 'b'), 'OK'}", ['OK', 'OK']],
    ['return cjson.encode({a = {1, 2, cjson.null}})', { a: [1, 2, null] }],
    ['return cjson.decode(\'[1, {"x": [true, null]}]\')[2].x[1] and 1', 1],
    ["return redis.sha1hex('')", 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
    ["return {struct.unpack('>I2', struct.pack('>I2', 258))}", [258, 3]],
    ['return {bit.band(12, 10), bit.tohex(255, 4)}', [8, '00ff']],
    ["return {cmsgpack.unpack(cmsgpack.pack({1, 'x'}))}", [[1, 'x']]],
    ["return {'10' + 5, '3' * '4', 7 % '4'}", [15, 12, 3]],
    ["return tostring('1' == 1)", false],
    ["return type(redis.call('GET', 'none'))", 'boolean'],
    ["return redis.pcall('INCR', 'k', 'x').err and 'caught'", 'caught'],
    ["redis.call('SET', 'f', 3.7) return redis.call('GET', 'f')", 3.7],
    ["return string.format('%5.2f|%d|%s|%q', 3.14159, 42, 'x', 'y')", ' 3.14|42|x|"y"'],
    ["return {string.find('hello world', 'o w')}", [5, 7]],
    ["return (string.gsub('hello', 'l+', function(m) return #m end))", 'he2o'],
    ["local t = {3, 1, 2} table.sort(t) return table.concat(t, ',')", '1,2,3'],
    ["return {select('#', unpack({1, 2, 3})), math.max(1, 5), math.floor(-1.5)}", [3, 5, -2]],
  ])('%s', async (script, expected) => {
    const { redis } = shop()
    expect(await redis.eval(script, [], [])).toEqual(expected)
  })

  test.each([
    ['return redis.call("NOSUCH")', 'Unknown Redis command called from script'],
    ['return redis.call("GET")', 'Wrong number of args calling Redis command from script'],
    ['return redis.call("GET", {})', 'Lua redis lib command arguments must be strings or integers'],
    ['return redis.call()', 'Please specify at least one argument for this redis lib call'],
    ['return redis.call("MULTI")', 'This Redis command is not allowed from script'],
    ['return nothing', "Script attempted to access nonexistent global variable 'nothing'"],
    ['x = 1', 'Attempt to modify a readonly table'],
    ['return 1 < "2"', 'attempt to compare number with string'],
    ['return {} + 1', 'attempt to perform arithmetic on a table value'],
    ['local = 5', 'ERR Error running script'],
    ["return redis.error_reply('MY mistake')", 'MY mistake'],
    ["return {err='OTHER mistake'}", 'OTHER mistake'],
    ["error('thrown')", 'thrown'],
    ['#!lua flags=foo\nreturn 1', 'Unexpected flag in script shebang: foo'],
    ['#!python\nreturn 1', 'Unexpected engine in script shebang'],
    [
      "#!lua flags=no-writes\nreturn redis.call('SET','k','v')",
      'Write commands are not allowed from read-only scripts',
    ],
    [
      "#!lua flags=allow-key-locking\nreturn redis.call('GET','other')",
      "Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: other",
    ],
    ['while true do end', 'ERR'],
    ['local function f() return f() + 1 end return f()', 'ERR'],
    ["return string.rep('x', 1e10)", 'ERR'],
    ["return os.execute('ls')", 'ERR'],
    ["return require('os')", 'ERR'],
    ["return io.open('/etc/passwd')", 'ERR'],
    ["return loadstring('return _G')().nothing_here", 'ERR'],
    ['string.rep = nil', 'ERR'],
    ["getmetatable('').__index = nil", 'ERR'],
  ])('%s fails with %s', async (script, text) => {
    const { redis } = shop()
    await expect(redis.eval(script, [], [])).rejects.toThrow(text)
    // A failed script leaves the interpreter unchanged.
    expect(await redis.eval('return string.rep("x", 2)', [], [])).toBe('xx')
  })

  test('accept numkeys, read-only forms, and scripts in transactions and pipelines', async () => {
    const { redis } = shop()
    await redis.set('k', 'v')
    expect(await redis.evalRo("return redis.call('GET', KEYS[1])", ['k'], [])).toBe('v')
    await expect(redis.evalRo("return redis.call('SET', KEYS[1], 'x')", ['k'], [])).rejects.toThrow(
      'Write commands are not allowed from read-only scripts',
    )
    expect(
      await redis.multi().set('a', 1).eval("return redis.call('INCR', KEYS[1])", ['a'], []).get('a').exec(),
    ).toEqual(['OK', 2, 2])
    await expect(redis.exec(['EVAL', 'return 1', '-1'])).rejects.toThrow("Number of keys can't be negative")
    await expect(redis.exec(['EVAL', 'return 1', '2', 'a'])).rejects.toThrow(
      "Number of keys can't be greater than number of args",
    )
    await expect(redis.exec(['EVAL', 'return 1', 'x'])).rejects.toThrow('ERR value is not an int or out of range')
  })

  test('functions', async () => {
    const { redis } = shop()
    const code = `#!lua name=shop
redis.register_function('put', function(keys, args) return redis.call('SET', keys[1], args[1]) end)
redis.register_function{function_name='peek', callback=function(keys) return redis.call('GET', keys[1]) end, flags={'no-writes'}}`
    const { functions } = redis
    expect(await functions.load({ code })).toBe('shop')
    await expect(functions.load({ code })).rejects.toThrow("Library 'shop' already exists")
    expect(await functions.load({ code, replace: true })).toBe('shop')
    expect(await functions.call('put', ['k'], ['v'])).toBe('OK')
    expect(await functions.callRo('peek', ['k'])).toBe('v')
    const [library] = await functions.list({ withCode: true })
    expect(library).toMatchObject({ libraryName: 'shop', engine: 'LUA', libraryCode: code })
    expect(library!.functions.map(({ name }) => name).sort()).toEqual(['peek', 'put'])
    expect(await functions.stats()).toMatchObject({ engines: { LUA: { librariesCount: 1, functionsCount: 2 } } })
    await expect(functions.call('nothing')).rejects.toThrow('Function not found')
    expect(await functions.delete('shop')).toBe('OK')
    expect(await functions.flush()).toBe('OK')
  })
})
