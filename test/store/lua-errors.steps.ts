import type { Section } from '../support/steps.js'
import { scripts } from './scripting/cases.js'

/** Errors: texts and lines of run-time and syntax errors, levels, protected calls, the protection of globals. */
export const steps: readonly Section[] = [
  scripts(
    'operands',
    `
    local x return x.y
    local x return x.y.z
    local t = {} return t.x.y
    local t = {} return t[1][2]
    local t = {} local k = 'x' return t[k].y
    local t = {} t.x.y = 1
    local x x.y = 1
    local x x.y.z = 1
    local function f() end return f().x
    return ('x').y.z
    local x = 5 return x.y
    local x = true x.y = 1
    local x = 1 local function f() return x.y end return f()
    local x local function f() x.y = 1 end f()
    return KEYS.x.y
    return (1)()
    local x x()
    local t = {} t.f()
    local t = {} t.f.g()
    local t = {} t:f()
    local t = {} t[1]()
    local x = 'str' x()
    local x = 1 local function f() x() end f()
    return ('x'):bad()
    local x x:f()
    return 1 + nil
    return nil + 1
    return {} + 1
    return 1 - {}
    local a return a * 2
    local a return 2 * a
    local t = {} return t.x / 2
    local t = {} return t[1] % 2
    local a, b = 1 return a ^ b
    local x = 1 local y local function f() return x + y end return f()
    return 'abc' + 1
    return 1 + 'abc'
    return 1 + ''
    return -{}
    local a return -a
    local b = {} return -(true and b)
    local b = {} return (false or b) + 1
    local b = {} return (b or 1) + 1
    return -'abc'
    return 'x' .. nil
    return nil .. 'x'
    return {} .. 'x'
    return 'x' .. {}
    return 1 .. {}
    local a return 'x' .. a
    local a return a .. 'x'
    local t = {} return 'x' .. t.y .. 'z'
    return 'x' .. true
    return #5
    return #nil
    local x return #x
    return #redis.call
    return 1 < 'x'
    return 'x' < 1
    return {} < {}
    return {} < 1
    return nil > 1
    return 1 >= nil
    return nil <= nil
    return true < false
    return function() end < function() end
    local a, b = {}, setmetatable({}, {__lt = function() return true end}) return a < b
    for i = 'a', 2 do end
    for i = 1, 'a' do end
    for i = 1, 2, 'a' do end
    for i = 1, 2, {} do end
    for i = nil, 2 do end
    for k in 5 do end
    for k in nil do end
    for k, v in {} do end
    for k in pairs(nil) do end
    for k in ipairs() do end
    local t = {} t[nil] = 1
    local t = {} t[0/0] = 1
    return {[nil] = 1}
    local t = {} t[0/0] = nil
    return next({}, 'x')
    local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x
    local t = setmetatable({}, {}) getmetatable(t).__newindex = t t.x = 1
    local t = setmetatable({}, {__index = 5}) return t.x
    local t = setmetatable({}, {__add = 5}) return t + 1
    `,
  ),
  scripts(
    'lines',
    String.raw`
    ⏎⏎return nil + 1
    return 1 +⏎ nil
    local t = {}⏎t.x⏎.y⏎.z = 1
    local t = {}⏎local y = t.x.⏎y
    local f⏎f(⏎1,⏎2⏎)
    local a = 1⏎local b = {}⏎local c = a ..⏎ b ..⏎ 'x'
    local a = 1⏎if a <⏎ 'x' then⏎end
    for i = 1,⏎ 'x' do⏎end
    local t = nil⏎t.x = {⏎1,⏎2⏎}
    local s = 'x'⏎return s⏎:rep(⏎{}⏎)
    return -⏎{}
    return #⏎5
    local a⏎local b = 1 +⏎2 *⏎a
    error('one')
    ⏎error('two')
    local function f()⏎ error('in f')⏎end⏎f()
    local function f()⏎ error('at caller', 2)⏎end⏎⏎f()
    local function f() error('x', 2) end⏎local function g() f() end⏎g()
    local function f() error('x', 2) end⏎local function g() return f() end⏎g()
    local function f() error('x', 3) end⏎local function g() f() end⏎g()
    error('x', 0)
    error('x', 2)
    return error('tail')
    return error('tail', 2)
    pcall(error, 'x')⏎error('y')
    local t = setmetatable({}, {__index = function(t, k)⏎ error('idx')⏎end})⏎return t.x
    local t = setmetatable({}, {__add = function(a, b)⏎ return a.x.y⏎end})⏎⏎return t + 1
    local f = function()⏎local x⏎return x.y⏎end⏎f()
    --[[⏎⏎]] error('after comment')
    local s = [[⏎⏎]] error('after string')
    local s = 'a\⏎b' error('after escape')
    local x = 1 error(⏎'spread'⏎)
    redis.call('get')
    ⏎⏎redis.call('get')
    local function f()⏎redis.call('get')⏎end⏎f()
    `,
  ),
  scripts(
    'error values',
    String.raw`
    error()
    error(nil)
    error(5)
    error('')
    error('MYCODE something')
    error('line\nbreak')
    error({err = 'MY problem'})
    error({err = 'problem'})
    error({err = 'ERR known'})
    error(redis.error_reply('MY problem'))
    error(redis.error_reply('oneword'))
    return error(redis.error_reply('MY problem'))
    return redis.error_reply('MY problem')
    return {pcall(error, 'x')}
    return {pcall(error)}
    return {select(2, pcall(error, 'x', 0))}
    return {select(2, pcall(error, 'x', 1))}
    return {select(2, pcall(error, 'x', 2))}
    return {select(2, pcall(function() error('x') end))}
    return {select(2, pcall(function() error('x', 0) end))}
    return {select(2, pcall(function() error({err = 'aaa'}) end))}
    return cjson.encode({pcall(function() error({code = 1}) end)})
    return cjson.encode({pcall(function() error({err = 5}) end)})
    return cjson.encode({pcall(function() error({err = {}}) end)})
    return cjson.encode({pcall(function() error(5) end)})
    return cjson.encode({pcall(function() error(true) end)})
    return cjson.encode({pcall(function() error(nil) end)})
    return cjson.encode({pcall(function() return 1, 2, 3 end)})
    return cjson.encode({pcall(function() end)})
    return cjson.encode({pcall(tostring, 5)})
    return cjson.encode({pcall(pcall, error, 'x')})
    return {select(2, pcall())}
    return {select(2, pcall(5))}
    return {select(2, pcall(nil))}
    return cjson.encode({xpcall(function() error('x') end, function(e) return 'handled ' .. e end)})
    return cjson.encode({xpcall(function() return 1, 2 end, function(e) return e end)})
    return cjson.encode({xpcall(function() error({err = 'zz'}) end, function(e) return e.err end)})
    return cjson.encode({xpcall(function() local x = nil return x.y end, function(e) return e end)})
    return {xpcall(1)}
    return assert(1, 2)
    return {assert(1, 2, 3)}
    return assert(false)
    return assert(nil, 'message')
    return assert(nil, 5)
    return assert(false, {err = 'table'})
    return assert()
    return {select(2, pcall(assert, false, 'm'))}
    local ok, e = pcall(redis.call, 'get') return {tostring(ok), type(e), e}
    local ok, e = pcall(function() return redis.call('get') end) return {tostring(ok), type(e), e}
    local ok, e = pcall(function() local t = {} t.x.y = 1 end) return {tostring(ok), e}
    local ok = pcall(function() error('x') end) return redis.call('ECHO', tostring(ok))
    local function f() return pcall(f) end return cjson.encode({f()})
    local n = 0 local function f() n = n + 1 if n < 10 then error('again') end return n end local ok, v repeat ok, v = pcall(f) until ok return v
    local t = {} for i = 1, 3 do local ok, e = pcall(error, i) t[i] = e end return t
    local function f() return f() + 1 end return {select(2, pcall(f))}
    local function f() return f() + 1 end f()
    `,
  ),
  scripts(
    'arguments of library functions',
    `
    return string.rep()
    return string.rep('x')
    return ('x'):rep({})
    return string.rep({}, 1)
    local r = string.rep return r()
    local t = {r = string.rep} return t.r()
    return {select(2, pcall(string.rep))}
    return string.sub()
    return ('x'):sub()
    return ('x'):sub({})
    return string.byte({})
    return string.char('x')
    return string.char(256)
    return string.char(-1)
    return string.find('x')
    return string.gsub('x', 'y')
    return string.gsub('x', 'x', true)
    return ('x'):gsub('x', function() return {} end)
    return string.format()
    return string.format('%d')
    return string.format('%d', 'x')
    return string.format('%s')
    return string.format('%s', {})
    return string.format('%y', 1)
    return string.format('%')
    return string.format('%10.123f', 1)
    return string.format('%0000000d', 1)
    return table.concat()
    return table.concat({{}})
    return table.concat({1, 2}, ',', 1, 3)
    return table.concat({true})
    return table.insert({})
    return table.insert({}, 1, 2, 3)
    return table.insert(nil, 1)
    return table.insert({}, 'x', 1)
    return table.remove(5)
    return table.sort(5)
    return table.sort({}, 5)
    return table.sort({1, 'x'})
    return table.sort({3, 1, nil, 2})
    return table.sort({{}, {}})
    local t = {} for i = 1, 100 do t[i] = i end table.sort(t, function(a, b) return true end)
    return table.setn({}, 1)
    return table.getn(5)
    return math.floor()
    return math.floor('x')
    return math.floor({})
    return math.max()
    return math.random(0)
    return math.random(5, 1)
    return math.random(1, 2, 3)
    return math.random('x')
    return tonumber()
    return tonumber('1', 1)
    return tonumber('1', 37)
    return tonumber({}, 16)
    return tostring()
    return type()
    return ipairs(5)
    return pairs(5)
    return next(5)
    return rawget(1, 2)
    return rawset({}, 1)
    return rawset({}, nil, 1)
    return rawequal(1)
    return setmetatable(1, {})
    return setmetatable({}, 1)
    return setmetatable({})
    return setmetatable(setmetatable({}, {__metatable = 'x'}), {})
    return getmetatable()
    return select()
    return select(0)
    return select(-5, 1)
    return select('x')
    return unpack(5)
    return unpack({}, 1, 1e8)
    return unpack({}, 1, 7998)
    return loadstring()
    return loadstring({})
    return load(5)
    return load(5, {})
    return math.fmod({}, {})
    return math.ldexp(1)
    return math.pow()
    return collectgarbage('foo')
    return ({pcall(string.rep, 'x', -1)})[2]
    for k in next, 5 do end
    local t = setmetatable({}, {__index = string.rep}) return t.x
    local t = setmetatable({}, {__tostring = function() error('ts') end}) return tostring(t)
    return table.foreach({1})
    return string.gmatch('x')
    return ('x'):find('[')
    return ('x'):find('%')
    return ('x'):find('(')
    return ('x'):find(')')
    return ('x'):find('%b')
    return ('x'):find('%f')
    return ('x'):find('%1')
    return ('x'):find('(x%1)')
    return ('x'):gsub('x', '%2')
    return ('x'):find('[a')
    return ('x'):find('[%')
    return ('x'):match('((')
    return ('x'):rep(10):find(('(.)'):rep(33))
    `,
  ),
  scripts(
    'syntax errors',
    String.raw`
    x = }
    x y
    return return
    return 1 2
    return f 5
    local 5
    local function 5
    a.b
    a.b, c
    a.b:c = 1
    (a) = 1
    (a).b
    f() = 1
    x, f() = 1, 2
    x = = 2
    = 1
    if x
    if x then
    if x then else elseif end
    if x then y
    while true
    while true do
    for
    for i
    for i in 1
    for i = 1 do
    for i = 1, 2, 3, 4 do
    for a.b = 1 do
    for a, do
    repeat
    repeat until
    do
    end
    until
    else
    break
    do break end
    function() end
    function f( end
    function f(a
    function f(a, ..., b) end
    function f(a b) end
    function f.a:b.c() end
    local function f.a() end
    return function() return ... end
    f(
    f(1
    f(1,)
    f(⏎(1)
    f⏎(1)
    local f = redis.call⏎(1)
    if x then⏎⏎
    for i = 1, 2 do⏎ f(⏎
    function f()⏎⏎ return {⏎
    local t = {1 2}
    local t = {[1] 2}
    local t = {a = }
    local t = {1,,2}
    t.5 = 1
    t:x = 1
    t:5()
    return 'abc
    return "abc⏎"
    return 'abc\
    return [[abc
    return [==[abc]]
    return [=x
    --[[ abc
    return '\400'
    return 'ab\999cd'
    return 0x
    return 0xg
    return 1e
    return 1e+
    return 1.2.3
    return 3x
    return 1..2
    return 08a
    return 3and 4
    return ~1
    return 1 // 2
    return 1 != 2
    return 1 & 2
    return a ? b
    return @
    return $
    return !x
    return \x
    local x <const> = 1
    goto x
    ::x::
    return 1;;
    ;
    local x; ; local y
    while true do break return 1 end
    return 1 return 2
    # comment
    x = 'abc' 'def'
    return "\q" .. y z
    return not
    return -
    return #
    return ..
    return (1
    return )
    return {
    return 1 +
    return a.
    return a:b
    return a[
    return a[1
    = 5
    local a, = 1
    local = 1
    and
    return and
    nil = 1
    true()
    'x'()
    5()
    {}()
    `,
  ),
  scripts(
    'sandbox',
    `
    x = 1
    return x
    x.y = 1
    function f() end
    local function f() y = 1 end f()
    return print
    return print('x')
    return require('x')
    return dofile
    return loadfile
    return io
    return debug
    return getfenv
    return setfenv
    return newproxy
    return module
    return package
    string.foo = 1
    math.pi = 3
    table.insert = nil
    redis.call = nil
    cjson.null = nil
    _G.x = 1
    _G.print = 1
    return rawset(_G, 'x', 1)
    rawset(string, 'x', 1)
    setmetatable(_G, {})
    setmetatable(string, nil)
    getmetatable('').__index = nil
    getmetatable(_G).__index = nil
    return rawget(_G, 'x')
    return rawget(_G, 'string') == string
    return _G._G == _G
    return _G.x
    return tostring(_G['nope'])
    KEYS = 1
    KEYS[1] = 'x' ARGV.y = 2 return {KEYS[1], ARGV.y}
    table.insert(string, 1)
    table.sort(string)
    table.remove(string)
    local ok, e = pcall(function() x = 1 end) return e
    local ok, e = pcall(function() return undefined_thing end) return e
    for k in pairs(_G) do if k == 'print' or k == 'require' or k == 'io' then return 'found ' .. k end end return 'none'
    local names = {} for k, v in pairs(string) do names[#names + 1] = k end table.sort(names) return names
    local names = {} for k, v in pairs(table) do names[#names + 1] = k end table.sort(names) return names
    local names = {} for k, v in pairs(math) do names[#names + 1] = k end table.sort(names) return names
    local names = {} for k, v in pairs(coroutine) do names[#names + 1] = k end table.sort(names) return names
    local names = {} for k, v in pairs(redis) do names[#names + 1] = k end table.sort(names) return names
    local names = {} for k, v in pairs(cjson) do names[#names + 1] = k end table.sort(names) return names
    local names = {} for k, v in pairs(cmsgpack) do names[#names + 1] = k end table.sort(names) return names
    local names = {} for k, v in pairs(struct) do names[#names + 1] = k end table.sort(names) return names
    local names = {} for k, v in pairs(bit) do names[#names + 1] = k end table.sort(names) return names
    return _VERSION
    return {type(string.dump), type(string.gfind), type(math.mod), type(gcinfo), type(collectgarbage)}
    return {type(collectgarbage('count')), collectgarbage(), collectgarbage('collect'), collectgarbage('stop'), collectgarbage('restart')}
    `,
  ),
]
