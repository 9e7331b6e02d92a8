import { describe, expect, it } from 'vitest'
import { latin1 } from '../../../src/kernel/bytes.js'
import { Work } from '../../../src/kernel/work.js'
import { createScriptStore } from '../../../test/store/scripting/script-store.js'
import { load } from '../src/compiler/chunk.js'
import { createEnvironment, createMachine } from '../src/machine.js'
import { LuaError } from '../src/runtime/activation.js'
import { LuaTable, type LuaValue } from '../src/runtime/lua-value.js'
import { preciseText } from '../src/runtime/number-text.js'

/** Returns a budget of steps, with the same amount of work. */
const budget = (most: number) => ({ most, work: new Work(most, () => new Error('too much work')) })

describe('createMachine()', () => {
  const machine = createMachine()
  const environment = createEnvironment({
    twice: (...args: LuaValue[]) => [args[0], args[0]],
    nothing: () => [],
    fail: () => {
      throw new LuaError('from the host')
    },
  })
  const run = (source: string, ...args: LuaValue[]): readonly LuaValue[] =>
    machine.run(load(source, '=test')(), args, environment, budget(100_000))

  it('passes values in and out', () => {
    expect(run('local a, b = ... return b, a, select("#", ...)', 1, 'x', undefined)).toEqual(['x', 1, 3])
    expect(run('return')).toEqual([])
    expect(run('return nil')).toEqual([undefined])
  })

  it('calls host functions with any number of results', () => {
    expect(run('return twice(5)')).toEqual([5, 5])
    expect(run('return (twice(5))')).toEqual([5])
    expect(run('return select("#", nothing())')).toEqual([0])
    expect(run('return {pcall(fail)}')[0]).toMatchObject({ list: [false, 'from the host'] })
  })

  it('returns functions that can be called later and keep their locals', () => {
    const [counter] = run('local n = 0 return function(by) n = n + by return n end')
    const call = (by: number): readonly LuaValue[] => machine.run(counter as never, [by], environment, budget(100))
    expect([call(1), call(10)]).toEqual([[1], [11]])
  })

  it('invents addresses that are the same in every run', () => {
    const texts = [1, 2].map(() =>
      createMachine().run(
        load('return tostring({}), tostring(print)', '=t')(),
        [],
        createEnvironment({ print: () => [] }),
        budget(100),
      ),
    )
    expect(texts[1]).toEqual(texts[0])
    expect(texts[0]![0]).toMatch(/^table: 0x[0-9a-f]{12}$/)
  })

  it('shares compiled chunks but no state between machines', () => {
    const chunk = load('counter = (counter or 0) + 1 return counter', '=shared')
    const open = (): LuaTable => {
      const table = new LuaTable()
      return table
    }
    const [one, two] = [open(), open()]
    expect(machine.run(chunk(), [], one, budget(100))).toEqual([1])
    expect(machine.run(chunk(), [], one, budget(100))).toEqual([2])
    expect(machine.run(chunk(), [], two, budget(100))).toEqual([1])
  })

  it('runs inside a run of another machine', () => {
    const inner = createMachine()
    const outer = createEnvironment({
      nested: (...args: LuaValue[]) =>
        inner.run(load('return ... * 2', '=inner')(), args, createEnvironment({}), budget(100))[0],
    })
    expect(machine.run(load('local a = 1 return nested(21) + a', '=outer')(), [], outer, budget(100))).toEqual([43])
  })
})

describe('os', () => {
  it('counts the steps of the script in clock(), and has no other function', () => {
    const { run, failure } = createScriptStore()
    const source =
      'local a = os.clock() for i = 1, 100000 do end return {a < os.clock(), tostring(os.clock()), os.clock() < 1}'
    expect(run('EVAL', source, 0)).toEqual(run('EVAL', source, 0))
    expect((run('EVAL', source, 0) as unknown[])[0]).toBe(1)
    expect(run('EVAL', 'return tostring(os.time) .. tostring(os.execute)', 0)).toBe('nilnil')
    expect(failure('EVAL', 'os.clock = nil', 0)).toContain('Attempt to modify a readonly table')
  })
})

describe('LuaTable', () => {
  const keysOf = (table: LuaTable): LuaValue[] => {
    const keys: LuaValue[] = []
    for (const cursor = table.cursor(); cursor.advance(); ) keys.push(cursor.key)
    return keys
  }

  it('agrees with a Map under random changes', () => {
    let seed = 1
    const next = (below: number): number => {
      seed = (seed * 48271) % 2147483647
      return seed % below
    }
    const table = new LuaTable()
    const model = new Map<LuaValue, number>()
    for (let count = 0; count < 50_000; count++) {
      const key = next(2) === 0 ? next(40) + 1 : `k${next(40)}`
      if (next(3) === 0) {
        table.set(key, undefined)
        model.delete(key)
      } else {
        table.set(key, count)
        model.set(key, count)
      }
      if (count % 500 !== 0) continue
      expect(new Set(keysOf(table))).toEqual(new Set(model.keys()))
      for (const [each, value] of model) expect(table.get(each)).toBe(value)
      const border = table.length()
      expect(border === 0 || table.get(border) !== undefined).toBe(true)
      expect(table.get(border + 1)).toBeUndefined()
    }
  })

  it('visits the same elements with next and with a cursor while elements are deleted', () => {
    const filled = (): LuaTable => {
      const table = new LuaTable()
      for (let at = 1; at <= 20; at++) table.set(at, at)
      for (let at = 1; at <= 20; at++) table.set(`k${at}`, at)
      return table
    }
    const byNext: LuaValue[] = []
    const one = filled()
    for (let key = one.nextKey(undefined); key !== undefined && key !== null; key = one.nextKey(key)) {
      byNext.push(key)
      one.set(key, undefined)
    }
    const byCursor: LuaValue[] = []
    const two = filled()
    for (const cursor = two.cursor(); cursor.advance(); ) {
      byCursor.push(cursor.key)
      two.set(cursor.key, undefined)
    }
    expect(byNext).toHaveLength(40)
    expect(byCursor).toEqual(byNext)
  })
})

describe('preciseText()', () => {
  it.each([
    [0.1, '0.1'],
    [-0, '-0'],
    [1e16, '10000000000000000'],
    [1e17, '1e+17'],
    [5e-324, '5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
    [0.0001, '0.0001'],
    [0.00001234, '1.234e-05'],
    [Number.POSITIVE_INFINITY, 'inf'],
  ])('formats %d as %s', (value, text) => {
    expect(preciseText(value)).toBe(text)
    if (Number.isFinite(value)) expect(Number(text)).toBe(value)
  })
})

describe('Scripts', () => {
  it('shares only compiled sources between stores', () => {
    const [one, two] = [createScriptStore(), createScriptStore()]
    one.run('EVAL', 'cjson.encode_number_precision(3) math.randomseed(5)', 0)
    expect(one.run('EVAL', 'return cjson.encode(1 / 3)', 0)).toBe('0.333')
    expect(two.run('EVAL', 'return cjson.encode(1 / 3)', 0)).toBe('0.33333333333333')
    const digest = one.run('SCRIPT', 'LOAD', 'return 7')
    expect(two.failure('EVALSHA', String(digest), 0)).toMatch(/^NOSCRIPT /)
  })

  it('draws the random numbers of a new server, in alternating scripts and functions', () => {
    const { run, store } = createScriptStore()
    run('FUNCTION', 'LOAD', "#!lua name=l\nredis.register_function('f', function() return math.random(100) end)")
    // Recorded from a newly started redis-server 7.0.15.
    expect(run('FCALL', 'f', 0)).toBe(40)
    expect(run('EVAL', 'return math.random(100)', 0)).toBe(85)
    store.reset()
    expect(
      run('EVAL', 'return {tostring(math.random()), tostring(math.random()), math.random(10), math.random(5, 10)}', 0),
    ).toEqual(['0.39646477363839', '0.84048536971234', 4, 7])
  })

  it('keeps scripts and functions on FLUSHALL and deletes them on reset()', () => {
    const { run, failure, store } = createScriptStore()
    const digest = String(run('SCRIPT', 'LOAD', 'return 7'))
    run('FUNCTION', 'LOAD', "#!lua name=l\nredis.register_function('f', function() return 1 end)")
    run('FLUSHALL')
    expect([run('EVALSHA', digest, 0), run('FCALL', 'f', 0)]).toEqual([7, 1])
    store.reset()
    expect(failure('EVALSHA', digest, 0)).toMatch(/^NOSCRIPT /)
    expect(failure('FCALL', 'f', 0)).toBe('ERR Function not found')
  })

  it('runs scripts of listeners while another script runs', () => {
    const { run, store } = createScriptStore()
    const seen: unknown[] = []
    store.listen({
      keyspace: (_, event, key) => {
        if (key === 'outer')
          seen.push(event, run('EVAL', "redis.call('set', 'inner', ARGV[1]) return KEYS[1]", 1, 'x', 'y'))
      },
    })
    expect(run('EVAL', "redis.call('set', 'outer', 1) return {KEYS[1], ARGV[1]}", 1, 'k', 'a')).toEqual(['k', 'a'])
    expect(seen).toContain('x')
    expect(run('GET', 'inner')).toBe('y')
  })

  it('preserves all bytes that pass through a script', () => {
    const { execute } = createScriptStore()
    const all = latin1(Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join(''))
    expect(
      execute(['EVAL', "redis.call('set', KEYS[1], ARGV[1]) return redis.call('get', KEYS[1])", '1', all, all]),
    ).toBe(`$256\r\n${all}\r\n`)
    expect(execute(['EVAL', `return '${all.replace(/['\\\n\r]/g, '')}'`, '0'])).toBe(
      `$252\r\n${all.replace(/['\\\n\r]/g, '')}\r\n`,
    )
  })
})
