import { describe, expect, it } from 'vitest'
import type { Bytes } from '../../../src/kernel/bytes.js'
import type { User } from '../../../src/store/access/user.js'
import { ReplyError } from '../../../src/store/command/reply.js'
import { createScriptStore } from './script-store.js'

/** Behavior that only the service has. Sections are those of store.md. */

describe('errors that end a script (9.4)', () => {
  const { run, failure } = createScriptStore()

  it('have the position, the message and a traceback', () => {
    expect(failure('EVAL', 'local x = nil\nreturn x.y', 0)).toBe(
      "ERR Error running script: @user_script:2: attempt to index local 'x' (a nil value)\n" +
        'stack traceback:\n\t@user_script:2: in main chunk\n\t[G]: ?',
    )
  })

  it('name the library function that raised them', () => {
    expect(failure('EVAL', "redis.call('set', 'k', 'v')\nredis.call('lpush', 'k', 1)", 0)).toBe(
      'ERR Error running script: @user_script:2: WRONGTYPE Operation against a key holding the wrong kind of value\n' +
        "stack traceback:\n\t[G]: in function 'call'\n\t@user_script:2: in main chunk\n\t[G]: ?",
    )
    expect(failure('EVAL', "error('boom')", 0)).toContain("\n\t[G]: in function 'error'\n")
  })

  it('apply to functions', () => {
    run('FUNCTION', 'LOAD', "#!lua name=lib\nredis.register_function('f', function()\nreturn redis.call('get') end)")
    expect(failure('FCALL', 'f', 0)).toBe(
      'ERR Error running script: @user_function:3: Wrong number of args calling Redis command from script\n' +
        "stack traceback:\n\t[G]: in function 'call'\n\t@user_function:3: in main chunk\n\t[G]: ?",
    )
  })

  it('show text beyond ASCII as text', () => {
    expect(failure('EVAL', "error('größer')", 0)).toContain('@user_script:1: größer\n')
    expect(failure('EVAL', "return redis.error_reply('ZU groß')", 0)).toBe('ZU groß')
  })

  it('support error values that crash a real server', () => {
    expect(failure('EVAL', 'error({code = 1})', 0)).toContain('(error object is a table value)')
    expect(failure('EVAL', 'error(print == nil or error)', 0)).toContain('nonexistent global variable')
    expect(failure('EVAL', 'error(error)', 0)).toContain('(error object is a function value)')
  })

  it('report where the source cannot be compiled', () => {
    expect(failure('EVAL', 'local a = 1\n  x local', 0)).toBe(
      "ERR Error running script: @user_script line:2(column:5) near 'local': syntax error ('=' expected)",
    )
    expect(failure('EVAL', 'return {', 0)).toBe(
      'ERR Error running script: @user_script at EOF: syntax error (unexpected symbol)',
    )
    expect(failure('SCRIPT', 'LOAD', 'x y')).toBe(
      "ERR Error compiling script (new function): user_script:1: '=' expected near 'y'",
    )
  })
})

describe('read-only scripts (9.4, 8)', () => {
  const { run, failure } = createScriptStore()
  const refusal = 'READONLY Write commands are not allowed from read-only scripts'

  it('cannot write', () => {
    expect(failure('EVAL_RO', "return redis.call('set', 'k', 1)", 0)).toContain(refusal)
    expect(failure('EVAL', "#!lua flags=no-writes\nreturn redis.call('del', 'k')", 0)).toContain(refusal)
    expect(run('EXISTS', 'k')).toBe(0)
  })

  it('can call a function without no-writes by FCALL_RO while it reads', () => {
    run(
      'FUNCTION',
      'LOAD',
      "#!lua name=lib\nredis.register_function('read', function(k) return redis.call('get', k[1]) end)\n" +
        "redis.register_function('write', function(k) return redis.call('set', k[1], 'w') end)",
    )
    run('SET', 'k', 'v')
    expect(run('FCALL_RO', 'read', 1, 'k')).toBe('v')
    expect(failure('FCALL_RO', 'write', 1, 'k')).toContain(refusal)
    expect(run('GET', 'k')).toBe('v')
  })
})

describe('key locking (9.5)', () => {
  const { run, failure } = createScriptStore()
  const locking = (body: string): string => `#!lua flags=allow-key-locking\n${body}`

  it('lets a script use its declared keys', () => {
    expect(
      run('EVAL', locking("redis.call('set', KEYS[1], ARGV[1]) return redis.call('get', KEYS[1])"), 1, 'a', 'x'),
    ).toBe('x')
    expect(run('EVAL', locking("return redis.call('mget', KEYS[1], KEYS[2])"), 2, 'a', 'b')).toEqual(['x', null])
    expect(run('EVAL', locking("return redis.call('ping')"), 0)).toMatchObject({ text: 'PONG' })
  })

  it('rejects every other key', () => {
    const text =
      "ERR Error running script: @user_script:2: Dynamic keys are not allowed in Lua scripts when 'allow-key-locking' flag is set. Key was: other"
    expect(failure('EVAL', locking("return redis.call('get', 'other')"), 1, 'a')).toContain(text)
    expect(failure('EVAL', locking("return redis.call('mget', KEYS[1], 'other')"), 1, 'a')).toContain(text)
    expect(failure('EVAL', locking("return redis.pcall('del', 'other').err"), 1, 'a')).toContain('no failure')
  })

  it('rejects commands on the whole database', () => {
    expect(failure('EVAL', locking("return redis.call('flushdb')"), 0)).toContain('FLUSHDB is not allowed')
    expect(failure('EVAL', locking("return redis.call('flushall')"), 0)).toContain('FLUSHALL is not allowed')
    expect(run('EXISTS', 'a')).toBe(1)
  })

  it('applies to functions that request it', () => {
    run(
      'FUNCTION',
      'LOAD',
      "#!lua name=lib\nredis.register_function{function_name='f', callback=function(k, a) return redis.call('get', a[1]) end, flags={'allow-key-locking'}}",
    )
    expect(run('FCALL', 'f', 1, 'a', 'a')).toBe('x')
    expect(failure('FCALL', 'f', 1, 'a', 'b')).toContain('Key was: b')
    expect(JSON.stringify(run('FUNCTION', 'LIST'))).toContain('allow-key-locking')
  })
})

describe('conversion (9.3)', () => {
  const { run } = createScriptStore()

  it.each([
    [3.7, '3.7'],
    [0.1, '0.1'],
    [100, '100'],
    [-5, '-5'],
    [1e15, '1000000000000000'],
    [123456789012345680, '1.2345678901234568e+17'],
    [1e21, '1e+21'],
    [0.00001, '1e-05'],
    [1 / 3, '0.3333333333333333'],
  ])('converts the number %d as an argument to %s', (number, text) => {
    expect(run('EVAL', `return redis.call('ECHO', ${number})`, 0)).toBe(text)
  })

  it('converts an error within an array to its text', () => {
    expect(run('EVAL', "return {1, {err = 'MY error'}, 3}", 0)).toEqual([1, 'MY error', 3])
  })

  it('converts values beyond 64 bits to the lowest integer, and others exactly', () => {
    expect(run('EVAL', 'return {2^53, 2^62, -2^63, 2^63, 1e300, 0/0}', 0)).toEqual([
      9007199254740992n,
      4611686018427387904n,
      -9223372036854775808n,
      -9223372036854775808n,
      -9223372036854775808n,
      -9223372036854775808n,
    ])
  })

  it('cuts a table that contains itself', () => {
    expect(() => run('EVAL', 'local t = {} t[1] = t return t', 0)).toThrow(ReplyError)
  })
})

describe('commands without permission', () => {
  const limited: User = {
    name: 'limited',
    unrestricted: false,
    mayRun: ({ name }) => name !== 'DEL',
    denial: ({ name }, { keys = [], channels = [] }) => {
      if (name === 'DEL') return { of: 'command' }
      const key = keys.find((one) => !one.name.startsWith('own:'))
      if (key !== undefined) return { of: 'key', name: key.name }
      const channel = channels.find((one) => one !== 'own')
      return channel === undefined ? undefined : { of: 'channel', name: channel }
    },
  }
  const { store } = createScriptStore()
  const evaluate = (script: string): unknown =>
    store.execute(['EVAL', script, '0'] as unknown as readonly Bytes[], limited)

  it('fail inside a script with a different text (6.2)', () => {
    expect(() => evaluate("return redis.call('del', 'own:a')")).toThrow(
      "ACL failure in script: The user executing the script can't run this command or subcommand",
    )
    expect(() => evaluate("return redis.call('get', 'foreign')")).toThrow(
      "ACL failure in script: The user executing the script can't access at least one of the keys mentioned in the command arguments",
    )
    expect(() => evaluate("return redis.call('publish', 'foreign', 'm')")).toThrow(
      "ACL failure in script: The user executing the script can't publish to the channel mentioned in the command",
    )
    expect(evaluate("return redis.call('set', 'own:a', 1)")).toMatchObject({ text: 'OK' })
    expect(evaluate("return redis.pcall('del', 'own:a').err")).toContain("can't run this command")
  })

  it('are reported by redis.acl_check_cmd', () => {
    expect(evaluate("return redis.acl_check_cmd('del', 'own:a')")).toBeNull()
    expect(evaluate("return redis.acl_check_cmd('get', 'foreign')")).toBeNull()
    expect(evaluate("return redis.acl_check_cmd('get', 'own:a')")).toBe(1)
  })

  it('are rejected for keys of the call before the script runs', () => {
    const words = ['EVAL', 'return 1', '1', 'foreign'] as unknown as readonly Bytes[]
    expect(() => store.execute(words, limited)).toThrow(/^NOPERM /)
  })
})

describe('the read-only token', () => {
  it('cannot run scripts, not even read-only ones', () => {
    const { store } = createScriptStore()
    const reader = store.access.userOf('read-only-token')!
    for (const name of ['EVAL', 'EVAL_RO', 'EVALSHA', 'FCALL', 'FCALL_RO']) {
      const words = [name, 'return 1', '0'] as unknown as readonly Bytes[]
      expect(() => store.execute(words, reader)).toThrow(/^NOPERM /)
    }
  })
})

// Newer than the server of the transcripts, which only has WAIT.
it('WAITAOF cannot be called by scripts, like WAIT', () => {
  const { failure } = createScriptStore()
  expect(failure('EVAL', "return redis.call('WAITAOF', 0, 0, 0)", 0)).toContain(
    'This Redis command is not allowed from script',
  )
})

describe('subcommands that the service lacks', () => {
  it.each([
    ['FUNCTION', 'NONSENSE'],
    ['SCRIPT', 'DEBUG', 'YES'],
  ])('rejects %s %s as not available', (...words) => {
    expect(createScriptStore().failure(...words)).toMatch(/^ERR Command is not available: '(?:FUNCTION|SCRIPT) [A-Z]+'/)
  })
})
