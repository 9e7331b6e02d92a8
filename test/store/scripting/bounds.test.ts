import { describe, expect, it } from 'vitest'
import { createScriptStore } from './script-store.js'

/** Every script ends, and the test that ran it continues. */

const killed =
  'ERR Error running script: Script killed: it took more than 100000 steps (loop iterations, calls, and processed data). If the script needs more, raise policy.maxScriptSteps and policy.maxWork.'
const bounded = createScriptStore({ maxScriptSteps: 100_000 })

describe('the step budget', () => {
  it.each([
    ['while', 'while true do end'],
    ['repeat', 'repeat until false'],
    ['for', 'for i = 1, math.huge do end'],
    ['for without a step', 'for i = 1, 2, 0 do end while true do end'],
    ['generic for', 'for _ in function() return 1 end do end'],
    ['tail calls', 'local function f() return f() end f()'],
    ['mutual tail calls', 'local a, b function a() return b() end function b() return a() end a()'],
    ['calls', 'local function f() end while f() == nil do end'],
    ['commands', "while true do redis.call('incr', 'n') end"],
    ['coroutine', 'local f = coroutine.wrap(function() while true do coroutine.yield() end end) while true do f() end'],
    ['loop in a coroutine', 'coroutine.wrap(function() while true do end end)()'],
    ['tail calls in a coroutine', 'coroutine.wrap(function() local function f() return f() end f() end)()'],
    ['pcall catches nothing', 'while true do pcall(function() while true do end end) end'],
    ['xpcall catches nothing', 'xpcall(function() while true do end end, function() end)'],
    ['a coroutine catches nothing', 'coroutine.resume(coroutine.create(function() while true do end end)) return 1'],
    [
      'metamethods',
      'local t = setmetatable({}, {__index = function(t, k) return t[k - 1] end}) while true do pcall(function() return t[1] end) end',
    ],
    ['pattern with many ends', "string.find(string.rep('a', 40), string.rep('a?', 40) .. string.rep('a', 40))"],
    ['pattern with many starts', "string.find(string.rep('a', 50000), '.-.-.-b')"],
    [
      'pattern of brackets',
      "string.find(string.rep('(', 50000), '%b()')  while true do string.find(string.rep('(', 5000), '%b()') end",
    ],
    ['gsub', "while true do string.gsub(string.rep('a', 1000), '.', 'b') end"],
    ['sort', 'local t = {} for i = 1, 5000 do t[i] = i end while true do table.sort(t) end'],
    ['reader', "load(function() return ' ' end)"],
    ['loadstring', "while true do loadstring('return 1')() end"],
    ['json', 'local t = {} for i = 1, 1000 do t[i] = {} end while true do cjson.encode(t) end'],
    ['insert at the front', 'local t = {} while true do table.insert(t, 1, 1) end'],
  ])('ends %s', (_, source) => {
    expect(bounded.failure('EVAL', source, 0)).toBe(killed)
  })

  /** Values of some size, created once. The scripts pay for using them. */
  const sizes = createScriptStore({ maxScriptSteps: 100_000 })
  sizes.run('RPUSH', 'list', ...Array.from({ length: 20_000 }, (_, at) => at))
  sizes.run('SET', 'long', 'x'.repeat(100_000))
  const turns = (body: string): string =>
    `local long, other = ARGV[1], ARGV[2] local list = {} for i = 1, 100 do list[i] = long end for i = 1, 5000 do ${body} end`

  it.each([
    ['a range', "redis.call('lrange', 'list', 0, -1)"],
    ['a range that is caught', "redis.pcall('lrange', 'list', 0, -1)"],
    ['sorting keys', "redis.call('sort', 'list')"],
    ['counting bits', "redis.call('bitcount', 'long')"],
    ['writing', "redis.call('set', 'copy', long)"],
    ['digests', 'redis.sha1hex(long)'],
    ['equality', 'local same = long == other'],
    ['inequality', 'local same = long ~= other'],
    ['order', 'local less = long < other'],
    ['order the other way round', 'local less = long >= other'],
    ['repeating', "local s = string.rep('x', 100000)"],
    ['reversing', 'local s = long:reverse()'],
    ['letters', 'local s = long:upper()'],
    ['finding a text', "local at = long:find('y', 1, true)"],
    ['finding a pattern', "local at = long:find('x*y')"],
    ['replacing', "local s = long:gsub('y', 'z')"],
    ['formatting', "local s = string.format('%s%s', long, long)"],
    ['joining', 'local s = long .. i'],
    ['joining and reading', "long = long .. 'x' local c = long:byte(1)"],
    ['gathering', 'local s = table.concat(list)'],
    ['encoding', 'local s = cjson.encode(list)'],
    ['packing', 'local s = cmsgpack.pack(list)'],
    ['structures', "local s = struct.pack('s', long)"],
    ['a long body', `local n = ${'1 + i + '.repeat(400)}1`],
    ['a long function', `local f = function() local n = ${'1 + i + '.repeat(400)}1 end f()`],
    [
      'a long body in a coroutine',
      `coroutine.wrap(function() coroutine.yield() local n = ${'1 + i + '.repeat(400)}1 end)()`,
    ],
    ['compiling', `loadstring('return ${'1,'.repeat(400)}1')`],
  ])('counts what is touched: %s', (_, body) => {
    const long = `${'x'.repeat(50_000)}`
    expect(sizes.failure('EVAL', turns(body), 0, `${long}1`, `${long}2`)).toBe(killed)
  })

  it('counts all commands of a script together, and leaves none half done', () => {
    const script = "for i = 1, 1000 do redis.call('lpush', 'moved', i) redis.call('lrange', 'list', 0, -1) end"
    expect(sizes.failure('EVAL', script, 0)).toBe(killed)
    expect(sizes.run('LLEN', 'moved')).toBe(Number(sizes.run('LINDEX', 'moved', 0)))
    expect(sizes.run('LLEN', 'moved')).toBeLessThan(10)
  })

  it('also uses the work of the request', () => {
    const small = createScriptStore({ maxWork: 100_000 })
    expect(small.failure('EVAL', 'while true do end', 0)).toContain('Script killed')
    expect(small.run('EVAL', 'for i = 1, 90000 do end return 1', 0)).toBe(1)
  })

  it('ends a function and the loading of a library', () => {
    bounded.run('FUNCTION', 'LOAD', "#!lua name=l\nredis.register_function('spin', function() while true do end end)")
    expect(bounded.failure('FCALL', 'spin', 0)).toBe(killed)
    expect(bounded.failure('FUNCTION', 'LOAD', '#!lua name=m\nwhile true do end')).toBe(killed)
    bounded.run('FUNCTION', 'FLUSH')
  })

  it('is full for every script, and keeps the writes of a stopped one', () => {
    for (let times = 0; times < 5; times++) {
      expect(bounded.run('EVAL', 'local n = 0 for i = 1, 90000 do n = n + 1 end return n', 0)).toBe(90_000)
    }
    bounded.failure('EVAL', "redis.call('set', 'kept', 'yes') while true do end", 0)
    expect(bounded.run('GET', 'kept')).toBe('yes')
  })

  it('is counted, not timed: the same script stops at the same iteration', () => {
    const turns = [1, 2].map(() => {
      bounded.run('SET', 'turns', 0)
      bounded.failure('EVAL', "while true do redis.call('incr', 'turns') end", 0)
      return bounded.run('GET', 'turns')
    })
    expect(turns[1]).toBe(turns[0])
  })
})

describe('the stack', () => {
  const { run, failure } = createScriptStore()
  const overflow = /stack overflow/

  it.each([
    ['recursion', 'local function f() return 1 + f() end return f()'],
    [
      'recursion through a metamethod',
      'local t = setmetatable({}, {__index = function(t, k) return 1 + t[k] end}) return t.x',
    ],
    [
      'recursion through __tostring',
      'local t = setmetatable({}, {__tostring = function(t) return "x" .. tostring(t) end}) return tostring(t)',
    ],
    ['recursion through sort', 'local function f() table.sort({3, 2, 1}, f) end f()'],
    ['recursion through gsub', "local function f() return (string.gsub('a', '.', f)) end return f()"],
    [
      'coroutines in coroutines',
      'local function f() local c = coroutine.create(f) local ok, e = coroutine.resume(c) if not ok then error(e, 0) end return 1 end return f()',
    ],
    [
      'recursion in a coroutine',
      'return coroutine.wrap(function() local function f() return 1 + f() end return f() end)()',
    ],
  ])('ends %s in an error', (_, source) => {
    expect(failure('EVAL', source, 0)).toMatch(overflow)
    expect(run('EVAL', 'return 1', 0)).toBe(1)
  })

  it('overflows at the same depth every time', () => {
    const source = 'local d = 0 local function f() d = d + 1 return 1 + f() end pcall(f) return d'
    const depth = run('EVAL', source, 0) as number
    expect(depth).toBeGreaterThan(700)
    for (let times = 0; times < 20; times++) expect(run('EVAL', source, 0)).toBe(depth)
  })

  it('supports endless tail calls', () => {
    expect(
      run('EVAL', 'local function f(n) if n == 0 then return "end" end return f(n - 1) end return f(1000000)', 0),
    ).toBe('end')
  })
})

describe('memory of scripts', () => {
  // Created values are charged, so a normal budget would end most of these before the memory limit.
  const { run, failure } = createScriptStore({ maxScriptSteps: 1e9, maxWork: 1e9 })

  it.each([
    ['rep', "return #string.rep('x', 1e9)"],
    ['doubling', "local s = 'x' while true do s = s .. s end"],
    ['concat', "local t = {} for i = 1, 1000 do t[i] = string.rep('x', 1000000) end return #table.concat(t)"],
    ['gsub', "return #string.gsub(string.rep('x', 100000), '.', string.rep('y', 100000))"],
    [
      'format',
      "local s = string.rep('x', 1000000) return #string.format(string.rep('%s', 100), unpack((function() local t = {} for i = 1, 100 do t[i] = s end return t end)()))",
    ],
    ['many strings', "local t = {} while true do t[#t + 1] = string.rep('x', 1000000) .. #t end"],
    ['json', "local s = string.rep('x', 1000000) local t = {} for i = 1, 200 do t[i] = s end return #cjson.encode(t)"],
    [
      'msgpack',
      "local s = string.rep('x', 1000000) local t = {} for i = 1, 200 do t[i] = s end return #cmsgpack.pack(t)",
    ],
  ])('ends %s in an error', (_, source) => {
    expect(failure('EVAL', source, 0)).toContain('not enough memory')
  })

  it('is sufficient for ordinary scripts', () => {
    expect(run('EVAL', "local s = '' for i = 1, 100000 do s = s .. 'x' end return #s", 0)).toBe(100_000)
    expect(run('EVAL', "return #string.rep('x', 10000000)", 0)).toBe(10_000_000)
  })
})

describe('sources of scripts', () => {
  const { run, failure } = createScriptStore()
  const tooDeep = /too many syntax levels|too complex/

  it.each([
    ['parentheses', `return ${'('.repeat(100_000)}1${')'.repeat(100_000)}`],
    ['tables', `return ${'{'.repeat(100_000)}${'}'.repeat(100_000)}`],
    ['functions', `${'return function() '.repeat(10_000)}${'end '.repeat(10_000)}`],
    ['blocks', `${'do '.repeat(100_000)}${'end '.repeat(100_000)}`],
    ['minus', `return ${'- '.repeat(100_000)}1`],
    ['not', `return ${'not '.repeat(100_000)}1`],
    ['powers', `return 1${' ^ 1'.repeat(100_000)}`],
    ['concatenation', `return ''${" .. ''".repeat(100_000)}`],
    ['sums', `return a${' + 1'.repeat(100_000)}`],
    ['fields', `return a${'.b'.repeat(100_000)}`],
    ['calls', `return a${'()'.repeat(100_000)}`],
    ['targets', `a${', a'.repeat(100_000)} = 1`],
  ])('%s nested without limit are a syntax error', (_, source) => {
    expect(failure('EVAL', source, 0)).toMatch(tooDeep)
  })

  it('can be long if they are flat', () => {
    expect(run('EVAL', `local n = 0 ${'n = n + 1 '.repeat(20_000)}return n`, 0)).toBe(20_000)
    expect(run('EVAL', `return #{${'1, '.repeat(50_000)}}`, 0)).toBe(50_000)
    expect(run('EVAL', `if false then ${'elseif false then '.repeat(5000)}else return 'end' end`, 0)).toBe('end')
    expect(run('EVAL', `return 1${' + 1'.repeat(900)}`, 0)).toBe(901)
    expect(run('EVAL', `return ${'('.repeat(150)}1${')'.repeat(150)}`, 0)).toBe(1)
  })

  it('have the limits of locals and upvalues of the reference implementation', () => {
    const locals = (count: number): string => Array.from({ length: count }, (_, at) => `local a${at} = ${at}`).join(' ')
    expect(run('EVAL', `${locals(200)} return a199`, 0)).toBe(199)
    expect(failure('EVAL', `${locals(201)} return 1`, 0)).toContain('main function has more than 200 local variables')
    const uses = (count: number): string => Array.from({ length: count }, (_, at) => `a${at}`).join(' + ')
    expect(run('EVAL', `${locals(100)} return (function() return ${uses(60)} end)()`, 0)).toBe(1770)
    expect(failure('EVAL', `${locals(100)} return (function() return ${uses(61)} end)()`, 0)).toContain(
      'function at line 1 has more than 60 upvalues',
    )
  })
})
