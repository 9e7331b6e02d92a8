import type { Section } from '../support/steps.js'
import { commands, scripts } from './scripting/cases.js'

const one = 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db'

/** redis.*, EVAL and SCRIPT. */
export const steps: readonly Section[] = [
  scripts(
    'redis.call',
    String.raw`
    return redis.call('set', 'str', 'v')
    return redis.call('get', 'str')
    return redis.call('GET', 'missing')
    return type(redis.call('GET', 'missing'))
    return {redis.call('get', 'missing'), 1}
    return redis.call('ping')
    return redis.call('ping').ok
    return redis.call('PING', 'hello')
    return redis.call('incrby', 'n', 5)
    return type(redis.call('incr', 'n'))
    return redis.call('rpush', 'list', 1, 2, 'three', 4.5)
    return redis.call('lrange', 'list', 0, -1)
    return redis.call('lrange', 'list', 0, 1)
    return #redis.call('lrange', 'list', 0, -1)
    return redis.call('hset', 'h', 'a', 1, 'b', '2')
    return redis.call('hmget', 'h', 'a', 'none', 'b')
    return type(redis.call('hmget', 'h', 'none')[1])
    return redis.call('hgetall', 'missing')
    return redis.call('lpop', 'missing', 2)
    return type(redis.call('lpop', 'missing', 2))
    return redis.call('mget', 'str', 'missing', 'n')
    return redis.call('exists', 'str', 'missing', 'str')
    return redis.call('del', 'str')
    return redis.call(unpack({'set', 'str', 'again'}))
    return redis.call('set', 'str', 'x', 'nx')
    return redis.call('set', 'str', 'x', 'get')
    return redis.call('zadd', 'z', 1, 'a', 2, 'b')
    return redis.call('zrange', 'z', 0, -1, 'withscores')
    return redis.call('zscore', 'z', 'a')
    return redis.call('type', 'z')
    return redis.call('type', 'z').ok
    return redis.call('scan', '0', 'match', 'nothing*')
    return type(redis.call('scan', 0)[1])
    return redis.call('ttl', 'str')
    return redis.call('pexpire', 'str', 100000)
    return redis.call('set', 'bin', 'a\0b\255') and redis.call('strlen', 'bin')
    return redis.call('get', 'bin')
    return redis.call('echo', 100)
    return {redis.call('echo', -5), redis.call('echo', 1e15), redis.call('echo', 1e16), redis.call('echo', 1e17), redis.call('echo', 2^53), redis.call('echo', 1e100), redis.call('echo', 1/0), redis.call('echo', 0.5)}
    return redis.call('echo', 3.7)
    = "3.7" because store.md 9.3: a number as an argument has its shortest text
    return redis.call('echo', 0.1)
    = "0.1" because store.md 9.3: a number as an argument has its shortest text
    return redis.call('echo', 1234567890123456789)
    = "1.2345678901234568e+18" because store.md 9.3: a number as an argument has its shortest text
    return redis.call()
    = -ERR Error running script: @user_script:1: Please specify at least one argument for this redis lib call because the frame of the service
    return redis.call(nil)
    return redis.call({})
    return redis.call('set', 'a', nil)
    return redis.call('set', 'a', true)
    return redis.call('set', 'a', {})
    return redis.call('set', 'a', function() end)
    return redis.call('get')
    return redis.call('get', 'a', 'b')
    return redis.call('nope')
    return redis.call('')
    return redis.call('lpush', 'str', 1)
    return redis.call('incr', 'str')
    return redis.call('set', 'a', 'b', 'xx', 'nx')
    return redis.call('eval', 'return 1', 0)
    return redis.call('evalsha', 'abc', 0)
    return redis.call('script', 'exists', 'a')
    return redis.call('fcall', 'f', 0)
    return redis.call('function', 'list')
    return redis.call('subscribe', 'a')
    return redis.call('multi')
    return redis.call('exec')
    return redis.call('watch', 'a')
    return redis.call('auth', 'x')
    return redis.call('blpop', 'a', 0)
    return redis.call('brpop', 'a', 0)
    return redis.call('config', 'get', '*')
    return redis.call('client', 'id')
    return redis.call('acl', 'whoami')
    return redis.call('monitor')
    return redis.call('config', 'set', 'maxmemory', '0')
    return redis.call('wait', 0, 0)
    return redis.pcall('wait', 0, 0)
    return redis.call('publish', 'channel', 'message')
    return redis.call('select', 0)
    return redis.call('dbsize') >= 0
    return redis.pcall('get')
    return redis.pcall('nope')
    return redis.pcall('lpush', 'str', 1)
    return redis.pcall()
    return redis.pcall({})
    return redis.pcall('get', 'str')
    return cjson.encode(redis.pcall('nope'))
    return cjson.encode(redis.pcall('lpush', 'str', 1))
    return cjson.encode(redis.pcall())
    return cjson.encode(redis.pcall({}))
    return cjson.encode(redis.call('set', 'x', 'y'))
    local r = redis.pcall('lpush', 'str', 1) if r.err then return 'handled: ' .. r.err end
    local ok, r = pcall(redis.call, 'lpush', 'str', 1) return {tostring(ok), r}
    local ok, r = pcall(redis.pcall, 'lpush', 'str', 1) return {tostring(ok), type(r), r.err}
    return cjson.encode({select(2, xpcall(function() redis.call('lpush', 'str', 1) end, function(e) return e end))})
    for i = 1, 100 do redis.call('incr', 'counter') end return redis.call('get', 'counter')
    redis.call('set', 'kept', '1') error('after the write')
    return redis.call('get', 'kept')
    redis.call('set', 'kept', '2') redis.call('incr', 'str')
    return redis.call('get', 'kept')
    redis.call('set', 'kept', '3') return redis.call('nope')
    return redis.call('get', 'kept')
    local s = redis.call('get', 'n') + 1 return s
    local v = tonumber(redis.call('get', 'n')) return v * 2
    return redis.call('zunionstore', 'zz', 1, 'z') + redis.call('zcard', 'zz')
    local all = redis.call('hgetall', 'h') local n = 0 for i = 1, #all, 2 do n = n + tonumber(all[i + 1]) end return n
    return {redis.call('get', 'n') == '6', redis.call('get', 'n') == 6, redis.call('incrby', 'n', 0) == 6}
    `,
  ),
  scripts(
    'redis.*',
    String.raw`
    return redis.error_reply('foo')
    return redis.error_reply('-foo')
    return redis.error_reply('FOO bar')
    return redis.error_reply('x y')
    return redis.error_reply('-x y')
    return redis.error_reply('')
    return redis.error_reply('-')
    return redis.error_reply('a b\r\n')
    return redis.error_reply()
    return redis.error_reply({})
    return redis.error_reply('a', 'b')
    return cjson.encode(redis.error_reply('foo'))
    return cjson.encode(redis.error_reply())
    return redis.status_reply('FINE')
    return redis.status_reply()
    return redis.status_reply(5)
    return cjson.encode(redis.status_reply('foo'))
    return redis.sha1hex('')
    return redis.sha1hex('return 1')
    return redis.sha1hex('\0\255')
    return redis.sha1hex(5)
    return redis.sha1hex(nil)
    return redis.sha1hex()
    return redis.sha1hex('a', 'b')
    return {redis.log(redis.LOG_WARNING, 'x'), 1}
    redis.log(redis.LOG_NOTICE, 'x', 'y', 5)
    redis.log(9, 'x')
    redis.log(-1, 'x')
    redis.log('x', 'x')
    redis.log(1)
    return {redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING}
    return {redis.REPL_ALL, redis.REPL_AOF, redis.REPL_REPLICA, redis.REPL_SLAVE, redis.REPL_NONE}
    return {redis.set_repl(redis.REPL_ALL), 'none'}
    redis.set_repl()
    redis.set_repl(9)
    redis.set_repl('x')
    return {tostring(redis.replicate_commands()), tostring(redis.breakpoint())}
    return {redis.debug('x'), 'none'}
    return redis.acl_check_cmd('set', 'a', 'b')
    return redis.acl_check_cmd('get')
    return redis.acl_check_cmd('nope')
    return redis.acl_check_cmd()
    return redis.setresp(2)
    redis.setresp(4)
    redis.setresp()
    redis.setresp('x')
    redis.setresp(3) return redis.call('get', 'missing') == nil
    redis.setresp(3) return redis.call('hgetall', 'missing')
    redis.call('hset', 'h', 'a', '1') redis.setresp(3) return cjson.encode(redis.call('hgetall', 'h'))
    redis.call('sadd', 's', 'a') redis.setresp(3) return cjson.encode(redis.call('smembers', 's'))
    redis.call('zadd', 'z', 1.5, 'a') redis.setresp(3) return cjson.encode({redis.call('zscore', 'z', 'a'), redis.call('zrange', 'z', 0, -1, 'withscores')})
    redis.setresp(3) return redis.call('hgetall', 'h')
    redis.setresp(3) return redis.call('smembers', 's')
    redis.setresp(3) redis.setresp(2) return cjson.encode(redis.call('hgetall', 'h'))
    return redis.REDIS_VERSION
    return redis.REDIS_VERSION_NUM
    return tostring(redis.foo)
    return redis.register_function('a', function() end)
    `,
  ),
  commands('EVAL', [
    ['EVAL', 'return 1'],
    ['EVAL'],
    ['EVAL', 'return 1', 'x'],
    ['EVAL', 'return 1', '-1'],
    ['EVAL', 'return 1', '1'],
    ['EVAL', 'return 1', '1.5', 'a'],
    ['EVAL', 'return 1', '0', 'a', 'b'],
    ['EVAL', 'return {KEYS[1], KEYS[2], ARGV[1], #KEYS, #ARGV, ARGV[2]}', '2', 'k1', 'k2', 'a'],
    ['EVAL', 'return {#KEYS, #ARGV}', '0'],
    ['EVAL', 'return KEYS', '3', 'a', 'b', 'c'],
    ['EVAL', 'return ARGV', '1', 'a', 'b', 'c'],
    ['EVAL', 'return {type(KEYS[1]), type(ARGV[1]), tostring(ARGV[9])}', '1', '1', '2'],
    ['EVAL', 'return ARGV[1] + ARGV[2]', '0', '1.5', '2'],
    ['EVAL', 'return ARGV[1] == 1', '0', '1'],
    ['EVAL', 'return ARGV[1] < 2', '0', '1'],
    ['EVAL', 'return {ARGV[1] % ARGV[2], ARGV[1] * 2 + 1000}', '0', '17', '5'],
    ['EVAL', '', '0'],
    ['EVAL', '   ', '0'],
    ['EVAL', '-- nothing', '0'],
    ['EVALSHA', one, '0'],
    ['EVAL', 'return 1', '0'],
    ['EVALSHA', one, '0'],
    ['EVALSHA', one.toUpperCase(), '0'],
    ['EVALSHA', one, '1'],
    ['EVALSHA', one],
    ['EVALSHA', 'abc', '0'],
    ['EVALSHA', 'abc', '1'],
    ['EVALSHA', 'abc', 'x'],
    ['EVALSHA', 'f'.repeat(40), '1'],
    ['EVALSHA', 'f'.repeat(41), '1'],
    ['EVALSHA_RO', 'abc', '-1'],
    ['EVALSHA', '', '0'],
    ['EVALSHA_RO', one, '0'],
    ['EVALSHA_RO', 'abc', '0'],
    ['EVAL_RO', 'return 1', '0'],
    ['EVAL_RO', "return redis.call('get', KEYS[1])", '1', 'none'],
    ['EVAL_RO', "return redis.call('set', 'a', 1)", '0'],
    ['EVAL_RO', "return redis.pcall('del', 'a')", '0'],
    ['EVAL_RO', "redis.call('set', 'ro', '1')", '0'],
    ['EXISTS', 'ro'],
  ]),
  commands('SCRIPT', [
    ['SCRIPT', 'FLUSH'],
    ['SCRIPT', 'EXISTS', one],
    ['SCRIPT', 'LOAD', 'return 1'],
    ['SCRIPT', 'LOAD', 'return 1'],
    ['SCRIPT', 'EXISTS', one, 'abc', one.toUpperCase()],
    ['SCRIPT', 'EXISTS'],
    ['SCRIPT', 'LOAD', "return redis.call('get', KEYS[1])"],
    ['SCRIPT', 'LOAD', 'return x y'],
    ['SCRIPT', 'LOAD', "return 'abc"],
    ['SCRIPT', 'LOAD'],
    ['SCRIPT', 'LOAD', 'a', 'b'],
    ['SCRIPT', 'LOAD', '#!python\nreturn 1'],
    ['SCRIPT', 'LOAD', '#!lua flags=no-writes\nreturn 1'],
    ['SCRIPT', 'LOAD', '#!lua'],
    ['EVALSHA', one, '0'],
    ['SCRIPT', 'FLUSH', 'foo'],
    ['SCRIPT', 'FLUSH', 'sync'],
    ['EVALSHA', one, '0'],
    ['SCRIPT', 'FLUSH', 'ASYNC'],
    ['SCRIPT', 'FLUSH', 'async', 'x'],
    ['SCRIPT', 'KILL'],
    ['SCRIPT', 'KILL', 'x'],
    ['SCRIPT'],
    ['SCRIPT', 'LOAD', ''],
  ]),
  commands('shebang', [
    ['EVAL', "#!lua flags=no-writes\nreturn redis.call('set', 'a', 1)", '0'],
    ['EVAL', "#!lua\nreturn redis.call('set', 'a', 1)", '0'],
    ['EVAL_RO', '#!lua\nreturn 1', '0'],
    ['EVAL_RO', '#!lua flags=no-writes\nreturn 1', '0'],
    ['EVAL', '#!lua flags=foo\nreturn 1', '0'],
    ['EVAL', '#!lua flags=\nreturn 1', '0'],
    ['EVAL', '#!lua flags=no-writes,allow-oom,allow-stale,no-cluster,allow-cross-slot-keys\nreturn 1', '0'],
    ['EVAL', '#!lua flags=no-writes, allow-oom\nreturn 1', '0'],
    ['EVAL', '#!lua flags=no-writes,\nreturn 1', '0'],
    ['EVAL', '#!lua name=x\nreturn 1', '0'],
    ['EVAL', '#!lua flags\nreturn 1', '0'],
    ['EVAL', '#!lua flags=no-writes flags=allow-oom\nreturn 1', '0'],
    ['EVAL', '#!python\nreturn 1', '0'],
    ['EVAL', '#!\nreturn 1', '0'],
    ['EVAL', '#! lua\nreturn 1', '0'],
    ['EVAL', '#!LUA\nreturn 1', '0'],
    ['EVAL', '#!lua', '0'],
    ['EVAL', '#!lua \nreturn 1', '0'],
    ['EVAL', "#!lua 'flags=no-writes'\nreturn 1", '0'],
    ['EVAL', '#!lua "flags=no\nreturn 1', '0'],
    ['EVAL', '#!lua\nlocal x = nil\nreturn x.y', '0'],
    ['EVAL', '#!lua\n\n\nreturn x y', '0'],
    ['EVAL', '# comment\nreturn 1', '0'],
    ['EVAL', '#!lua\nreturn {KEYS[1], ARGV[1]}', '1', 'k', 'a'],
  ]),
]
