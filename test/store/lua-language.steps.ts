import type { Section } from '../support/steps.js'
import { scripts } from './scripting/cases.js'

/** The language: values, operators, statements, functions, metatables, coroutines. */
export const steps: readonly Section[] = [
  scripts(
    'values and replies',
    String.raw`
    return 1
    return -1
    return 1.9
    return -1.9
    return -0.5
    return 2^53
    return 2^63
    return -2^63
    return 1e300
    return 0/0
    return 1/0
    return 'text'
    return ''
    return 'a\0b\255'
    return nil
    return
    return true
    return false
    return {}
    return {1, 2, 3}
    return {1, 2, nil, 4}
    return {nil, 1}
    return {1, {2, {3, {}}}, 'x'}
    return {true, false, nil, 'never'}
    return {a = 1}
    return {1, 2, a = 3}
    return {[1] = 'a', [2] = 'b', [4] = 'd'}
    return {1.5, -1.5, 2.999999}
    return 1, 2, 3
    return function() end
    return {function() end, 1}
    return coroutine.create(function() end)
    return {ok = 'FINE'}
    return {ok = 'a\nb'}
    return {ok = ''}
    return {ok = 1}
    return {err = 'MY error'}
    return {err = 'foo'}
    return {err = 'a b\r\nc'}
    return {err = 1}
    return {ok = 'a', err = 'b c'}
    return {double = 3.5}
    return {double = 'x'}
    return {double = 1/0}
    return {double = 0.1}
    = "0.1" because store.md 3.4: shortest digits
    return {map = {a = 1}}
    return {map = {a = {map = {b = 'c'}}}}
    return {set = {a = true}}
    return {big_number = '12345678901234567890'}
    return {verbatim_string = {string = 'abc', format = 'txt'}}
    return {{ok = 'fine'}, {double = 1.5}, 1}
    return setmetatable({}, {__index = function(t, k) return k end})
    return cjson.null
    return {cjson.null, 1}
    `,
  ),
  scripts(
    'arithmetic',
    String.raw`
    return 7 + 3 * 2 - 4 / 2
    return tostring(7 / 2)
    return tostring(10 / 2)
    return {7 % 3, -7 % 3, 7 % -3, -7 % -3}
    return {tostring(5.5 % 2), tostring(-5.5 % 2), tostring(5 % 0), tostring(5 % math.huge), tostring(-1 % math.huge)}
    return {tostring(2 ^ 10), tostring(2 ^ 0.5), tostring(2 ^ -1), tostring((-8) ^ (1 / 3)), tostring((-2) ^ 2), tostring(-2 ^ 2)}
    return 2 ^ 3 ^ 2
    return -3 ^ 2
    return (2 + 3) * 4
    return 1 + 2 .. 3 + 4
    return not nil == true
    return {1 == 1, 1 == 2, 'a' == 'a', 1 == '1', nil == false, {} == {}}
    return {1 < 2, 2 <= 2, 'a' < 'b', 'Z' < 'a', '' < 'a', 'a' < 'ab', '10' < '9', 'a\0b' < 'a\0c'}
    return {1 ~= 1, 'a' ~= 'b', 2 >= 3, 3 > 2}
    return {'10' + 5, '3' * '4', 10 - '2', '8' / 2, '2' ^ 3, '7' % 4, -'5'}
    return {' 10 ' + 1, '0x10' + 1, '1e2' + 1, '\t5\n' * 2, '.5' + .5, '5.' + 0}
    return {1 .. '', 1.5 .. '', -1 .. '', 1e15 .. '', 2^53 .. '', 1e100 .. '', 0.1 .. '', 100000000000000 .. ''}
    return {tostring(1e14), tostring(1e15), tostring(123456789012345), tostring(1234567890123456), tostring(0.1 + 0.2)}
    return {tostring(1 / 3), tostring(-1 / 3), tostring(100 / 3), tostring(2 / 3), tostring(1e-5), tostring(1e-4), tostring(123e-7)}
    return {tostring(12345678901234.5), tostring(1234567890123.25), tostring(0.5), tostring(2.5), tostring(1e22), tostring(1e23)}
    return {tostring(1/0), tostring(-1/0), tostring(0/0), tostring(-0.0), tostring(0 * -1)}
    return {tostring(5e-324), tostring(1.7976931348623157e308), tostring(2^-1074), tostring(4.35), tostring(0.285)}
    return {0x10, 0xff, 0XAB, 1e2, 1E+2, 100e-2, .5 * 2, 3. * 2, 08}
    return 0x1p4
    return {9007199254740993, 0xffffffff, 4294967296 * 4294967296 == 2^64}
    return {1 and 2, nil and 2, false or 3, nil or false, 1 or error('not evaluated'), false and error('not evaluated')}
    return {#'abc', #'', #'a\0b', #{1, 2, 3}, #{}}
    return {not 1, not nil, not not 1, -(-3), - -3}
    return 'a' .. 'b' .. 'c' .. 1 .. 2
    return tostring(1 == 1.0) .. tostring(-0.0 == 0)
    return {tostring(0/0 == 0/0), tostring(0/0 ~= 0/0), tostring(0/0 < 1), tostring(0/0 >= 1)}
    return 10 % 3.5
    return 2^31 + 2^31
    `,
  ),
  scripts(
    'strings and comments',
    String.raw`
    return "double 'quotes'" .. 'single "quotes"'
    return 'a\tb\nc\\d\'e\"f\065\10g\x'
    return '\a\b\f\v\r' .. #'\a\b\f\v\r'
    return [[long ]] .. [==[with ]] inside]==]
    return [[⏎first line break is skipped]]
    return [[a⏎b]] .. #[[a⏎b]]
    return 'a\⏎b'
    return '\0651'
    return 'end' .. 'then' .. 'return'
    return 'end'
    return "," .. ';' .. '}'
    return 1 -- comment
    return 1 --[[ long comment ]] + 1
    return 1 --[==[ ]] ]==] + 1
    -- only a comment
    --[[ a⏎b ]] return 5
    return 'é' .. #'é'
    return [[a[[b]]
    local s = 'x' return s:upper() .. ('y'):upper() .. #s:rep(3)
    return (('x'):rep(3))
    return ("%d"):format(3)
    local a = {} a['b c'] = 1 a.d = {e = 2} return {a['b c'], a.d.e, a["d"]["e"]}
    `,
  ),
  scripts(
    'statements',
    `
    local a, b, c = 1, 2 return {a, b, tostring(c)}
    local a, b = 1, 2, 3 return {a, b}
    local a = 1 local a = a + 1 return a
    local a, b = 1, 2 a, b = b, a return {a, b}
    local t = {} local i = 1 i, t[i] = i + 1, 20 return {i, t[1], tostring(t[2])}
    local a = {1, 2, 3} local i = 1 i, a[i] = 2, 9 return {i, a[1], a[2]}
    local function f() return 1, 2, 3 end local a, b, c, d = f() return {a, b, c, tostring(d)}
    local function f() return 1, 2, 3 end local a, b = f(), 10 return {a, b}
    local function f() return 1, 2, 3 end return {f(), f()}
    local function f() return 1, 2, 3 end return {(f()), 'x'}
    local function f() return 1, 2, 3 end return {f(), nil}
    local function f() end return {f(), 1}
    local function f() end return {(f()), 1}
    local function f() return 1, 2 end local t = {f(), x = f(), f()} return {t[1], t[2], t[3], t.x}
    do local x = 1 end local x = 2 return x
    local x = 1 do local x = 2 end return x
    if nil then return 1 elseif false then return 2 else return 3 end
    if 0 then return 'zero is true' end
    if '' then return 'empty is true' end
    local x = 5 if x < 3 then return 'a' elseif x < 6 then return 'b' elseif x < 9 then return 'c' else return 'd' end
    local i, s = 1, 0 while i <= 10 do s = s + i i = i + 1 end return s
    local i = 0 while true do i = i + 1 if i > 5 then break end end return i
    local i = 0 repeat local done = i >= 3 i = i + 1 until done return i
    local i = 0 repeat i = i + 1 if i == 4 then break end until false return i
    local s = 0 for i = 1, 5 do s = s + i end return s
    local s = '' for i = 5, 1, -2 do s = s .. i end return s
    local s = '' for i = 1, 0 do s = s .. i end return s
    local s = '' for i = 1, 2, 0.5 do s = s .. i .. ' ' end return s
    local s = '' for i = '1', '3' do s = s .. type(i) end return s
    local n = 0 for i = 1, 3, 0/0 do n = n + 1 end return n
    local t = {} for i = 1, 3, 1e20 do t[#t + 1] = i end return t
    local n = 0 for i = 1, 1/0, 1/0 do n = n + 1 end return n
    local n = 0 for i = 0/0, 5 do n = n + 1 end return n
    local n = 0 for i = 1, 3, 0 do n = n + 1 break end return n
    local s = 0 for i = 1, 3 do local i = i * 2 s = s + i end return s
    local s = 0 for i = 1, 3 do i = i * 2 s = s + i end return s
    local n = 0 for i = 0.1, 1, 0.1 do n = n + 1 end return n
    local n = 0 for i = 1, math.huge do n = n + 1 if n == 100 then break end end return n
    local s = '' for i, v in ipairs({'a', 'b', nil, 'd'}) do s = s .. i .. v end return s
    local s = 0 for k, v in pairs({1, 2, x = 3}) do s = s + v end return s
    local s = 0 for k in pairs({10, 20, 30}) do s = s + k end return s
    for k, v in next, {5} do return {k, v} end
    local function iter(max, i) i = i + 1 if i <= max then return i, i * i, 'third' end end local s = '' for i, sq, t in iter, 3, 0 do s = s .. i .. sq .. t end return s
    local t = {} for w in ('a b c'):gmatch('%a') do t[#t + 1] = w end return t
    local t = {a = 1, b = 2, c = 3} for k in pairs(t) do t[k] = nil end return {next(t) == nil}
    local t = {1, 2, 3, 4, 5} for i in pairs(t) do t[i] = nil end return {#t, next(t) == nil}
    local t = {} for i = 1, 20 do t['k' .. i] = i end local n = 0 for k, v in pairs(t) do if v % 2 == 0 then t[k] = nil end end for k, v in pairs(t) do n = n + v end return n
    for i = 1, 3 do for j = 1, 3 do if j == 2 then break end if i == 2 then return {i, j} end end end
    local t = {} for i = 1, 3 do for j = 1, 3 do if j > i then break end t[#t + 1] = i * 10 + j end end return t
    while true do break; end return 'left';
    do return 1 end return 2
    local x; local y; return {tostring(x), tostring(y)};
    local t = {1; 2, 3;} return #t
    local t = {f = function(self) return self.x end, x = 9} return t:f()
    local t = {} function t.a() return 1 end function t:b(n) return self == t and n end t.c = {} function t.c.d() return 3 end function t.c:e() return self == t.c end return {t.a(), t:b(2), t.c.d(), t.c:e()}
    local s = 'x' local n = #s:rep(3) return n
    local f = type return f{} .. f'x'
    return type(type) .. type(nil) .. type({}) .. type('') .. type(1) .. type(true)
    `,
  ),
  scripts(
    'order of evaluation',
    `
    local x = 1 local function f() x = 10 return 1 end return x + f()
    local x = 1 local function f() x = 10 return 1 end return (x) + f()
    local x = 1 local function f() x = 10 return 1 end return f() + x
    local x = 1 local t = {f = function() x = 10 return 1 end} return x + t.f()
    local x = 1 local y = x + (function() x = 5 return 1 end)() return y
    local x = 1 return x + (function() x = 10 return 1 end)() + x
    local a = 1 local function f() a = 2 return 1 end return {a + f(), a - f(), a * f(), a .. f()}
    local a = 1 local function f() a = a + 1 return 2 end return {a == f(), a < f(), a <= f(), a > f(), a ~= f()}
    local a = 1 local function f() a = a + 1 return 1 end return {a, f(), a, (a), a .. f() .. a}
    local a = 5 local function f() a = 1 return 1 end local t = {[5] = 'five', 'one'} return t[a] .. t[f()] .. a
    local a = {} local b = a local function f() a = nil return 1 end a.x = f() return b.x
    local a, k = {}, 'old' local function f() k = 'new' return 1 end a[k] = f() return {tostring(a.old), tostring(a.new)}
    local a = {1} local function f() a = {2} return 1 end return a[f()]
    local i = 1 local t = {10, 20} local function f() i = 2 return 0 end return t[i] + f() + i
    local x = 1 local function f() x = 2 return x end local function g() return x + f() end return g()
    local x = 1 local function f() x = 2 end local function g(a, b) return a end return g(x, f())
    local x = 1 local function f() x = 2 return 7 end return {x, f(), x}
    local x = 1 local function f() x = 2 return 7 end local a, b, c = x, f(), x return {a, b, c}
    local i, t = 1, {} local function f() i = 5 return 'v' end t[i], t[i + 1] = f(), 'w' return {tostring(t[1]), tostring(t[2]), tostring(t[5])}
    local i, t = 1, {} i, t[i], t[i + 1] = 7, 'a', 'b' return {i, t[1], t[2]}
    local a, b, c = 1, 2, 3 a, b, c = c, a, b return {a, b, c}
    local s = '' local function f(n) s = s .. n return n end local t = {} t[f(1)], t[f(2)] = f(3), f(4) return s
    local s = '' local function f(n) s = s .. n return n end local t = {f(1), [f(2)] = f(3), f(4)} return s
    local s = '' local function f(n) s = s .. n return n end local x = f(1) + f(2) * f(3) ^ f(4) .. f(5) return s
    local s = '' local function f(n) s = s .. n return n end local x = f(1) < f(2) and f(3) > f(4) or f(5) >= f(6) return s
    local s = '' local function f(n) s = s .. n return f end f(1)(2)(3) return s
    local s = '' local o = {m = function(self, a, b) s = s .. a .. b return self end} local function f(n) s = s .. n return n end o:m(f(1), f(2)):m(f(3), f(4)) return s
    local f = coroutine.wrap(function() local x = 1 local function set() x = 10 end return x + coroutine.yield(set) end) f()() return f(5)
    `,
  ),
  scripts(
    'functions and closures',
    `
    local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(20)
    local function fact(n) return n <= 1 and 1 or n * fact(n - 1) end return tostring(fact(20))
    local f = function(...) return select('#', ...) end return {f(), f(nil), f(1, nil), f(nil, nil, nil)}
    local f = function(a, ...) return {a, ...} end return f(1, 2, 3)
    local f = function(...) local a, b = ... return {b, a} end return f(1, 2, 3)
    local f = function(...) return ... end return {f(1, 2), f(3, 4)}
    local f = function(...) return (...) end return {f(1, 2)}
    local f = function(...) local t = {n = select('#', ...), ...} return t.n end return f(nil, nil)
    local function f(...) return arg.n end return f(1, nil, 3)
    local function f(...) local x = ... return type(arg) end return f(1)
    local function f(a, b) return tostring(a) .. tostring(b) end return {f(), f(1), f(1, 2), f(1, 2, 3)}
    local function counter() local n = 0 return function() n = n + 1 return n end end local a, b = counter(), counter() return {a(), a(), b(), a()}
    local fs = {} for i = 1, 3 do fs[i] = function() i = i + 10 return i end end return {fs[1](), fs[1](), fs[2](), fs[3]()}
    local fs = {} local i = 1 while i <= 3 do local j = i fs[i] = function() j = j + 1 return j end i = i + 1 end return {fs[1](), fs[1](), fs[2]()}
    local fs = {} for _, v in ipairs({'a', 'b'}) do fs[#fs + 1] = function() return v end end return {fs[1](), fs[2]()}
    local n = 0 local get, set = function() return n end, function(v) n = v end set(5) return get()
    local function f() local x = 1 local function g() local function h() x = x + 1 return x end return h() end return g() + x end return f()
    local function f(n) if n == 0 then return 'done' end return f(n - 1) end return f(20000)
    local even, odd function even(n) if n == 0 then return true end return odd(n - 1) end function odd(n) if n == 0 then return false end return even(n - 1) end return tostring(even(10001))
    local function f(n) if n > 0 then return n, f(n - 1) end end return {f(5)}
    local t = setmetatable({}, {__call = function(self, a, b) return a + b end}) return t(1, 2)
    local t = setmetatable({}, {__call = function(self, ...) return select('#', ...) end}) return {t(), t(1), t(nil, nil)}
    return (function(...) return select('#', ...) end)(unpack({1, 2, nil, 4}, 1, 4))
    local function f(a, a) return a end return f(1, 2)
    local a = {} local function f() return a end f().x = 1 return a.x
    local function f(t) t = nil end local t = {1} f(t) return #t
    local x = 1 local function f() return x end x = 2 return f()
    local f = loadstring('return ...') return {f(1, 2)}
    local f = loadstring('local a, b = ... return a + b') return f(3, 4)
    return type(loadstring('return 1'))
    return {select(2, loadstring('return +'))}
    return {select(2, loadstring('x x', '=name'))}
    return {select(2, loadstring('x x', '@file.lua'))}
    return {select(2, loadstring('line one⏎x y'))}
    return {select(2, loadstring('return 1 1 and a very long source that does not fit into the message as a whole'))}
    local parts = {'return ', '1', ' + 2'} local i = 0 return load(function() i = i + 1 return parts[i] end)()
    return {load(function() return nil end) ~= nil}
    return {select(2, load(function() return {} end))}
    = ["user_script:1: reader function must return a string"] because an error within an array is a text
    return loadstring('return loadstring("return 7")()')()
    local f = loadstring('y = 1') return pcall(f)
    local f = loadstring('y = 1') return {pcall(f)}
    `,
  ),
  scripts(
    'tables',
    `
    local t = {} t[1.0] = 'a' t[2] = 'b' return {t[1], #t, t[2.0]}
    local t = {[1] = 'x', 'y'} return t[1]
    local t = {'y', [1] = 'x'} return t[1]
    local t = {[2] = 'b', [1] = 'a', [3] = 'c'} return {#t, t[1], t[2], t[3]}
    local t = {} for i = 10, 1, -1 do t[i] = i end return {#t, t[10]}
    local t = {1, 2, 3} t[#t] = nil return #t
    local t = {1, 2, 3} t[#t + 1] = 4 return #t
    local t = {n = 1, [true] = 2, [1.5] = 3} return {t.n, t[true], t[1.5], tostring(t[false])}
    local k = {} local t = {[k] = 'by identity'} return {t[k], tostring(t[{}])}
    local t = {} t['1'] = 'string' t[1] = 'number' return {t['1'], t[1]}
    local t = {} t[-1] = 'a' t[0] = 'b' return {t[-1], t[0], #t}
    local t = {10, 20, 30, nil} return #t
    local t = {10, 20, 30, nil, 50} return #t
    local t = {nil, nil, 3} return #t
    local t = {nil} return #t
    local t = {n = nil} return tostring(next(t))
    local function f() return 1, nil, 3 end local t = {f()} return {#t, t[3]}
    local function f() return 1, nil end local t = {f()} return #t
    local t = {{1, 2}, {3, 4}} return t[2][1]
    local t = {1, 2, 3} t[2] = nil return {#t, tostring(t[2])}
    local t = {} t.x = 1 t.x = nil return tostring(t.x) .. tostring(next(t))
    return {next({}), 'x'}
    return {next({5})}
    return {next({5}, 1), 'end'}
    local t = {a = 1} local k, v = next(t) return {k, v, tostring(next(t, k))}
    return {rawequal('a', 'a'), rawequal({}, {}), rawget({5}, 1), rawset({}, 'a', 7).a}
    local t = {} t[2^53] = 'big' return t[2^53]
    local t = {} t[1e300] = 'huge' t[math.huge] = 'inf' return {t[1e300], t[math.huge]}
    local t = {} for i = 1, 100 do t[i] = i end for i = 1, 50 do t[i] = nil end local n = 0 for k in pairs(t) do n = n + 1 end return {n, #t}
    local t = {} for i = 1, 100 do t[i] = i end for i = 100, 51, -1 do t[i] = nil end return #t
    local t = {} t[1] = 1 t[3] = 3 t[2] = 2 return #t
    return #{n = 3, 1, 2}
    return #{(unpack({1, 2, 3}))}
    return {unpack({1, 2, 3}, 2)}
    return {unpack({1, 2, 3}, 2, 3)}
    return {unpack({}, 1, 2), 'x'}
    return {unpack({1, 2, 3}, -1, 1)}
    return {unpack({1, 2}, 3)}
    return {select(2, 'a', 'b', 'c')}
    return {select(-1, 'a', 'b', 'c')}
    return {select(-2, 'a', 'b', 'c')}
    return {select('#'), select('#', nil), select('#', 1, nil)}
    return {select(5, 1, 2), 'none'}
    `,
  ),
  scripts(
    'metatables',
    `
    local t = setmetatable({}, {__index = {a = 1}}) return {t.a, tostring(t.b)}
    local t = setmetatable({}, {__index = function(t, k) return k .. '!' end}) return {t.a, t[1]}
    local a = setmetatable({}, {__index = setmetatable({x = 1}, {__index = {y = 2}})}) return {a.x, a.y, tostring(a.z)}
    local log = {} local t = setmetatable({}, {__newindex = function(t, k, v) rawset(t, k, v * 2) end}) t.a = 5 t.a = 7 return {t.a}
    local store = {} local t = setmetatable({}, {__newindex = store}) t.a = 1 return {tostring(rawget(t, 'a')), store.a}
    local mt = {__add = function() return 'add' end, __sub = function() return 'sub' end, __mul = function() return 'mul' end, __div = function() return 'div' end, __mod = function() return 'mod' end, __pow = function() return 'pow' end, __unm = function() return 'unm' end} local t = setmetatable({}, mt) return {t + 1, 1 - t, t * t, t / 2, t % 2, t ^ 2, -t}
    local mt = {__concat = function(a, b) return (type(a) == 'table' and 'T' or a) .. '|' .. (type(b) == 'table' and 'T' or b) end} local t = setmetatable({}, mt) return {t .. 'x', 'x' .. t, t .. t, 1 .. t, 'a' .. 'b' .. t, t .. 'a' .. 'b'}
    local mt = {__eq = function() return true end} local a, b = setmetatable({}, mt), setmetatable({}, mt) return {a == b, a ~= b, a == 1, rawequal(a, b)}
    local a, b = setmetatable({}, {__eq = function() return true end}), setmetatable({}, {__eq = function() return true end}) return {a == b}
    local mt = {__lt = function(a, b) return a.v < b.v end} local a, b = setmetatable({v = 1}, mt), setmetatable({v = 2}, mt) return {a < b, b < a, a > b, a <= b, b <= a, a >= b}
    local mt = {__le = function(a, b) return 'yes' end} local a, b = setmetatable({}, mt), setmetatable({}, mt) return {a <= b, a >= b}
    return #setmetatable({1, 2}, {__len = function() return 99 end})
    return tostring(setmetatable({}, {__tostring = function(t) return 'custom' end}))
    return tostring(setmetatable({}, {__tostring = function(t) return 5 end}))
    return getmetatable(setmetatable({}, {__metatable = 'locked'}))
    return getmetatable('x').__index == string
    return tostring(getmetatable({})) .. tostring(getmetatable(1)) .. tostring(getmetatable(nil))
    local c = setmetatable({}, {__call = function(self, x) return x * 2 end}) return c(21)
    local Account = {} Account.__index = Account function Account.new(b) return setmetatable({balance = b}, Account) end function Account:deposit(v) self.balance = self.balance + v return self end local a = Account.new(10) return a:deposit(5):deposit(7).balance
    local Base = {greet = function(self) return 'I am ' .. self.name end} Base.__index = Base local Derived = setmetatable({}, {__index = Base}) Derived.__index = Derived local d = setmetatable({name = 'd'}, Derived) return d:greet()
    local t = setmetatable({}, {__index = function(t, k) local v = k * k rawset(t, k, v) return v end}) return {t[3], rawget(t, 3)}
    local t = setmetatable({}, {__index = string}) return t.rep('x', 3)
    local p = setmetatable({}, {__index = function() return nil end}) return tostring(p.x)
    local t = setmetatable({10}, {__index = function() return 1 end}) return {t[1], t[2], #t}
    local n = 0 local t = setmetatable({}, {__newindex = function() n = n + 1 end}) t.a = 1 t.a = 2 return {n, tostring(t.a)}
    local t = setmetatable({}, {__add = function(a, b) return 1, 2 end}) return {t + t, (t + t)}
    local t = setmetatable({}, {__call = setmetatable({}, {__call = function() return 1 end})}) return {pcall(t)}
    local t = setmetatable({}, {__index = function(t, k) error('no ' .. k) end}) return {pcall(function() return t.x end)}
    setmetatable({}, {__gc = function() end, __mode = 'k'}) return 1
    `,
  ),
  scripts(
    'coroutines',
    `
    local co = coroutine.create(function(a, b) local c = coroutine.yield(a + b) local d, e = coroutine.yield(c * 2) return d + e end) local _, x = coroutine.resume(co, 1, 2) local _, y = coroutine.resume(co, 10) local _, z = coroutine.resume(co, 3, 4) return {x, y, z, coroutine.status(co)}
    local co = coroutine.create(function() return 1 end) coroutine.resume(co) return {coroutine.resume(co)}
    local co = coroutine.create(function() return 1 end) coroutine.resume(co) return {select(2, coroutine.resume(co))}
    local gen = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) return {gen(), gen(), gen(), gen() == nil}
    local s = 0 for v in coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i) end end) do s = s + v end return s
    local function tree(t) if t then tree(t[1]) coroutine.yield(t[2]) tree(t[3]) end end local out = {} for v in coroutine.wrap(function() tree({{nil, 1}, 2, {nil, 3}}) end) do out[#out + 1] = v end return out
    local co co = coroutine.create(function() return coroutine.status(co) end) local s0 = coroutine.status(co) local _, s1 = coroutine.resume(co) return {s0, s1, coroutine.status(co)}
    local a, b a = coroutine.create(function() return select(2, coroutine.resume(b)) end) b = coroutine.create(function() return coroutine.status(a) end) return select(2, coroutine.resume(a)) or 'none'
    local a, b a = coroutine.create(function() local _, s = coroutine.resume(b) return s end) b = coroutine.create(function() return coroutine.status(a) end) local _, s = coroutine.resume(a) return s
    local co = coroutine.create(function() error('oops') end) return {select(2, coroutine.resume(co))}
    local co = coroutine.create(function() error({code = 7}) end) local ok, e = coroutine.resume(co) return {tostring(ok), e.code, coroutine.status(co)}
    local co = coroutine.wrap(function() error('oops') end) return {select(2, pcall(co))}
    return {select(2, pcall(coroutine.yield, 1))}
    local co = coroutine.create(function() pcall(coroutine.yield, 1) end) return {select(2, coroutine.resume(co))}
    local co = coroutine.wrap(function() return pcall(function() coroutine.yield(1) end) end) return {select(2, co())}
    local co = coroutine.wrap(function() table.sort({3, 2, 1}, function() coroutine.yield() end) end) return {select(2, pcall(co))}
    local t = setmetatable({}, {__index = function() coroutine.yield(1) end}) local co = coroutine.wrap(function() return t.x end) return {select(2, pcall(co))}
    local co co = coroutine.create(function() return coroutine.resume(co) end) local _, ok, e = coroutine.resume(co) return {tostring(ok), e}
    return tostring(coroutine.running())
    local co co = coroutine.create(function() return coroutine.running() == co end) return {select(2, coroutine.resume(co))}
    local f = coroutine.wrap(function(...) local n = select('#', ...) while true do n = n + select('#', coroutine.yield(n)) end end) return {f(1, 2), f(), f(1, 2, 3), f(nil)}
    local f = coroutine.wrap(function() local t = {coroutine.yield('a'), coroutine.yield('b'), n = coroutine.yield('c')} return t[1] .. t[2] .. t.n end) return {f(), f(1), f(2), f(3)}
    local f = coroutine.wrap(function() return 1 + coroutine.yield() * 2 .. coroutine.yield() end) f() f(5) return f('!')
    local f = coroutine.wrap(function() if coroutine.yield() then return 'yes' else return 'no' end end) f() return f(true)
    local f = coroutine.wrap(function() local n = 0 while coroutine.yield(n) do n = n + 1 end return 'end' end) return {f(), f(true), f(true), f(false)}
    local f = coroutine.wrap(function() local n = 0 repeat n = n + 1 until coroutine.yield(n) return 'end' end) return {f(), f(false), f(true)}
    local f = coroutine.wrap(function() for i = coroutine.yield(), coroutine.yield(), coroutine.yield() do coroutine.yield(i) end return 'end' end) f() f(1) f(5) return {f(2), f(), f(), f()}
    local f = coroutine.wrap(function() local t = {} t[coroutine.yield(1)], t.b = coroutine.yield(2), coroutine.yield(3) return t.a .. t.b end) return {f(), f('a'), f('x'), f('y')}
    local f = coroutine.wrap(function() local o = {m = function(self, x) return coroutine.yield(x) end} return o:m(1) .. o:m(2) end) return {f(), f('a'), f('b')}
    local f = coroutine.wrap(function() return coroutine.yield(1) and coroutine.yield(2) or coroutine.yield(3) end) return {f(), f(false), f('z')}
    local f = coroutine.wrap(function() return not coroutine.yield(1), -coroutine.yield(2), #coroutine.yield(3) end) f() f(true) f(5) return {f('abc')}
    local f = coroutine.wrap(function() for k, v in pairs({coroutine.yield(1)}) do coroutine.yield(v) end return 'end' end) return {f(), f(7), f()}
    local f = coroutine.wrap(function() local fs = {} for i = 1, 2 do coroutine.yield() fs[i] = function() return i end end return fs[1]() + fs[2]() end) f() f() return f()
    local f = coroutine.wrap(function() local function g(n) if n == 0 then coroutine.yield('deep') return 0 end return 1 + g(n - 1) end return g(50) end) return {f(), f()}
    local f = coroutine.wrap(function() local function g(n) if n == 0 then return coroutine.yield('tail') end return g(n - 1) end return g(1000) end) return {f(), f('back')}
    local f = coroutine.wrap(function(a) local t = setmetatable({}, {__call = function(self, x) return coroutine.yield(x) end}) return t(a) end) return {f(1), f(2)}
    local f = coroutine.wrap(function() coroutine.yield(redis.call('ECHO', 'inside')) return redis.call('PING') end) return {f(), f()}
    local outer = coroutine.wrap(function() local inner = coroutine.wrap(function() coroutine.yield(1) coroutine.yield(2) end) coroutine.yield(inner()) coroutine.yield(inner()) end) return {outer(), outer()}
    return {pcall(coroutine.create, 1)}
    return {pcall(coroutine.create, string.len)}
    return {pcall(coroutine.resume, 1)}
    return {pcall(coroutine.status, {})}
    return {pcall(coroutine.wrap)}
    return {select(2, pcall(coroutine.wrap(function() local x = nil return x.y end)))}
    `,
  ),
]
