import type { Section } from '../support/steps.js'
import { scripts } from './scripting/cases.js'

/** Standard libraries, and cjson, cmsgpack, struct and bit. */
export const steps: readonly Section[] = [
  scripts(
    'tonumber and tostring',
    String.raw`
    local t = {} for _, s in ipairs({'10', ' 10 ', '0x10', '0X1F', '-0x10', '1e1', '1E+2', '.5', '5.', '+5', '-5', '\t7\n', '0x1.8', '0x1p4', '0x.8', '1e308', '1e309', '00012', '0x', '1e', '1e+', '.', '', ' ', '- 1', '1 2', '1_000', '0b1', '12abc', '0xg', '1.2.3', '--1', 'nil', 'abc', '1,5', '10e', 'e5', '1e5x'}) do t[#t + 1] = tostring(tonumber(s)) end return t
    return {tostring(tonumber('inf')), tostring(tonumber('-inf')), tostring(tonumber('infinity')), tostring(tonumber('INF'))}
    local t = {} for _, a in ipairs({{'10', 2}, {'ff', 16}, {'FF', 16}, {'zz', 36}, {'8', 8}, {'-ff', 16}, {' 11 ', 2}, {'0x1f', 16}, {'1.5', 10}, {'7fffffffffffffff', 16}, {'ffffffffffffffffff', 16}, {'', 16}, {'1e1', 16}, {10, 16}, {'-1', 16}, {'99999999999999999999', 10}, {'2', 2}, {'z', 36}, {'+7', 8}, {'0x', 16}, {'0x', 36}, {'1 1', 2}}) do t[#t + 1] = tostring(tonumber(a[1], a[2])) end return t
    return {tostring(tonumber(nil)), tostring(tonumber({})), tostring(tonumber(true)), tostring(tonumber('5', nil)), tonumber(5), tonumber('5')}
    return {tostring(nil), tostring(true), tostring(false), tostring(1), tostring(1.5), tostring('x'), tostring(-0.0)}
    return {tostring({}):sub(1, 9), tostring(tostring):sub(1, 12), tostring(coroutine.create(function() end)):sub(1, 10), tostring(cjson.null)}
    local t = {} return tostring(t) == tostring(t)
    return tostring({}) == tostring({})
    local t = {} for _, n in ipairs({1e14, 1e15, 1e16, 99999999999999, 999999999999999, 123456789.123456789, 1e21, 1e-7, 0.1, 1/3, 1e100, 2^63, 2^64, 2^53 + 1, 3.14159265358979, 100, 1e2, 123456.789e3, 5e-324}) do t[#t + 1] = tostring(n) end return t
    return {0.1 + 0.2 == 0.3, tostring(0.1 + 0.2), string.format('%.17g', 0.1 + 0.2)}
    local t = {} for i = -5, 20 do t[#t + 1] = tostring(10 ^ i) end return t
    local t = {} for i = 1, 20 do t[#t + 1] = tostring(1 / i) end return t
    local t = {} for i = 0, 70, 5 do t[#t + 1] = tostring(2 ^ i) end return t
    local t = {} for i = 1, 20 do t[#t + 1] = tostring(i / 8 + 1e13) end return t
    `,
  ),
  scripts(
    'string',
    String.raw`
    return {('hello'):byte(), ('hello'):byte(2), ('hello'):byte(-1), ('hello'):byte(1, 3)}
    return {('hello'):byte(10), 'none'}
    return {('hello'):byte(0), 'none'}
    return {('x\0\255'):byte(1, -1)}
    return {string.char(), string.char(72, 105), string.char(0, 255), string.char('65')}
    local s = 'hello' return {s:sub(2), s:sub(2, 3), s:sub(-3), s:sub(-3, -2), s:sub(2, -2), s:sub(0), s:sub(10), s:sub(3, 2), s:sub(-100, 2), s:sub(1, 100), s:sub(2.7)}
    return {('ab'):rep(3), ('ab'):rep(0), ('ab'):rep(-1), (''):rep(1000000000), ('x'):rep(2.9)}
    return {('abc'):reverse(), (''):reverse(), ('Abc é'):upper(), ('ABC É'):lower(), ('abc'):len(), #'a\0b'}
    return {string.len(12345), string.rep(12, 2), string.upper(1e15), string.sub(12345, 2, 3)}
    local s = 'hello world' return {s:find('wor'), s:find('o'), s:find('o', 6), s:find('xyz'), s:find(''), s:find('', 20), s:find('l+')}
    return {('a.b'):find('.', 1, true), ('a.b'):find('%.'), ('a.b'):find('.'), ('a+b'):find('+', 1, true), ('abc'):find('b', -1), ('abc'):find('b', -2)}
    return {('abc'):find('b', 10)}
    return {(''):find(''), ('abc'):find('', 4), ('abc'):find('', 5)}
    return {('hello'):find('(l)(l)'), ('hello'):find('()ll()')}
    return {('key = value'):match('^(%w+)%s*=%s*(%w+)$'), ('2024-01-15'):match('(%d+)-(%d+)-(%d+)')}
    return {('hello'):match('l+'), ('hello'):match('x'), ('hello'):match('.', 2), ('hello'):match('^e', 2), ('hello'):match('^h', 2)}
    return {('  trim  '):match('^%s*(.-)%s*$'), ('[tag]'):match('%[(.-)%]'), ('a,b,,c'):match('([^,]*),([^,]*),([^,]*),(.*)')}
    return {('THE (quick) fox'):find('%((%a+)%)'), ('f(a(b)c)d'):match('%b()'), ('[[x]]'):match('%b[]'), ('((x)'):match('%b()')}
    return {('THE (quick) fox'):gsub('%f[%a]%a+', string.lower)}
    return {('hello world'):gsub('o', '0'), ('hello world'):gsub('o', '0', 1), ('hello'):gsub('', '-'), ('hello'):gsub('x', 'y')}
    return {('abc'):gsub('%w', '%0%0'), ('abc'):gsub('(a)(b)', '%2%1'), ('abc'):gsub('b', '%%'), ('abc def'):gsub('(%w+) (%w+)', '%2 %1')}
    return {('hello'):gsub('l+', function(s) return #s end), ('hello'):gsub('l', function() end), ('hello'):gsub('(h)(e)', function(a, b) return b .. a end)}
    return {('$name is $age'):gsub('%$(%w+)', {name = 'Bob', age = 42}), ('$x'):gsub('%$(%w+)', {}), ('ab'):gsub('.', {a = 1, b = false})}
    return {('abc'):gsub('^a', 'x'), ('aaa'):gsub('^a', 'x'), ('abc'):gsub('c$', 'x'), ('a$c'):gsub('$c', 'x'), ('abc'):gsub('b*', '-')}
    return {('a b c'):gsub(' ', '%20')}
    return {('a b c'):gsub(' ', '%%20')}
    return {('x'):gsub('x', 'a%'), 'end'}
    return {('abc'):gsub('.', function(c) return c:byte() .. ',' end)}
    return {('abc'):gsub('()', '%1'), ('hello'):gsub('()l', function(p) return p end)}
    local t = {} for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do t[#t + 1] = k .. v end return t
    local t = {} for w in ('one two  three'):gmatch('%S+') do t[#t + 1] = w end return t
    local t = {} for w in ('abc'):gmatch('') do t[#t + 1] = 'x' end return #t
    local t = {} for p in ('abc'):gmatch('()') do t[#t + 1] = p end return t
    local t = {} for w in ('^a^b'):gmatch('^%a') do t[#t + 1] = w end return t
    local t = {} for w in string.gfind('a1b2', '%a%d') do t[#t + 1] = w end return t
    local out = {} for _, class in ipairs({'%a', '%c', '%d', '%l', '%p', '%s', '%u', '%w', '%x', '%z', '%A', '%D', '%S', '%W', '.', '[a-f]', '[^a-f]', '[%d_]', '[]]', '[^]]', '[a-]', '[%-x]', '[a%]]', '[%a-z]'}) do local n = 0 for i = 0, 255 do if string.char(i):find('^' .. class .. '$') then n = n + 1 end end out[#out + 1] = n end return out
    return {('aXb'):find('%u'), ('a-b'):find('[a%-]', 2), ('x]y'):find('[]]'), ('x^y'):find('[%^x]', 2), ('a.b'):find('[.]')}
    return {('aaa'):find('a-', 2), ('aaa'):match('a-$'), ('aaab'):match('a-b'), ('<<x>>'):match('<(.-)>'), ('aab'):match('^a?a?a?b')}
    return {('abab'):match('(ab)%1'), ('abcabd'):match('(%w)b.-%1b(.)'), ('"q\'s"'):match('(["\']).-%1')}
    return {('0123456789'):match('((...)(...))')}
    return {('\0a\0'):find('%z'), ('\0a\0'):find('a%z'), ('a\0b'):gsub('%z', '0'), #('a\0b'):upper()}
    return {('x'):rep(300):find(('x?'):rep(10) .. ('x'):rep(10))}
    return {string.format('%d %i %5d|%-5d|%05d|%+d|% d|%.3d', 42, -42, 42, 42, 42, 42, 42, 7)}
    return {string.format('%u %o %x %X %#x %#o %8x|%-8X|%08x', 42, 8, 255, 255, 255, 8, 255, 255, 255)}
    return {string.format('%d %d %d %x %u', 3.99, -3.99, '7', -1, -1)}
    return {string.format('%d %d %x', 2^53, -2^63, 2^40)}
    return {string.format('%d %d', 2^63, 1e300)}
    return {string.format('%e %E %.3e %.0e %12.2e|', 12345.678, 0.00012, 1.5, 2.5, 3.14159)}
    return {string.format('%f %.2f %.0f %10.3f|%-10.1f|%+f %010.2f', 3.14159, 2.675, 2.5, 3.14159, 2.25, 1, -3.14159)}
    return {string.format('%.0f %.0f %.0f %.1f %.1f %.2f %.3f', 0.5, 1.5, 2.5, 0.25, 0.35, 1.005, 1.0005)}
    return {string.format('%g %g %g %g %g %g %.3g %.10g %#g', 1e20, 1e-5, 0.0001, 123456789, 100000, 1000000, 1234.5, 1/3, 1.5)}
    return {string.format('%.14g %.17g %.20g %.3f', 0.1, 0.1, 0.1, 1e15)}
    return {string.format('%f %f', 1e22, 2^70), string.format('%.50f', 0.1), string.format('%.20f', 1/3)}
    return {string.format('%g %g %g %5.1f|%f', 1/0, -1/0, 0, 1/0, -1/0)}
    return {string.format('%c%c%c', 72, 105, 33), string.format('%5c|%-5c|', 65, 66), #string.format('%c', 0)}
    return {string.format('%s %s %s', 'a', 1, 1.5), string.format('%5s|%-5s|%.2s|%5.1s|', 'abc', 'abc', 'abc', 'abc'), string.format('%s', ('x'):rep(150)), string.format('%20s', 'x')}
    return {string.format('%q', 'a "quoted" \\ line\nbreak\r\0end'), string.format('%q', '')}
    return {string.format('%%'), string.format('100%%'), string.format('no args'), string.format('%s', 'a\0b'), string.format('%5s', 'a\0b')}
    return {string.format('%-+8.3d|%+-8d|%- 5d|', 5, 6, 7), string.format('%.f %.e %5.d', 2.5, 2.5, 3)}
    return {string.format('%5d%%|%s', 50, 'x'), string.format('%x', 3735928559), string.format('%#X', 255), string.format('%.5x', 255)}
    return {('%d'):rep(3):format(1, 2, 3), ('x'):format('unused')}
    `,
  ),
  scripts(
    'table',
    `
    return {table.concat({1, 2, 3}), table.concat({1, 2, 3}, ', '), table.concat({}, ','), table.concat({'a', 'b', 'c'}, '-', 2), table.concat({'a', 'b', 'c'}, '-', 2, 3), table.concat({1.5, 'x'}, ' '), table.concat({1, 2}, ',', 3)}
    local t = {1, 2, 3} table.insert(t, 4) table.insert(t, 1, 0) table.insert(t, 3, 'x') return t
    local t = {} table.insert(t, 'a') table.insert(t, 'b') return {#t, t[2]}
    local t = {1, 2, 3} table.insert(t, 10, 'far') return {#t, t[10]}
    local t = {1, 2, 3} return {table.remove(t), table.remove(t, 1), #t, t[1], table.remove(t), table.remove(t) == nil, #t}
    local t = {1, 2, 3} return {tostring(table.remove(t, 5)), #t}
    local t = {1, 2, 3} return {table.remove(t, 2), t[1], t[2], tostring(t[3])}
    local t = {5, 2, 8, 1, 9, 3} table.sort(t) return t
    local t = {5, 2, 8, 1, 9, 3} table.sort(t, function(a, b) return a > b end) return t
    local t = {'banana', 'apple', 'Cherry', '10', '9', ''} table.sort(t) return t
    local t = {} for i = 1, 100 do t[i] = (i * 37) % 101 end table.sort(t) for i = 2, 100 do if t[i] < t[i - 1] then return 'unsorted' end end return {t[1], t[50], t[100]}
    local t = {} for i = 1, 30 do t[i] = {k = i % 4, n = i} end table.sort(t, function(a, b) return a.k < b.k end) local s = {} for i, v in ipairs(t) do s[i] = v.n end return s
    local t = {} for i = 1, 50 do t[i] = i % 3 end local calls = 0 table.sort(t, function(a, b) calls = calls + 1 return a < b end) return calls
    local t = {3, 1, 2} table.sort(t, function(a, b) return tostring(a) < tostring(b) end) return t
    local t = setmetatable({}, {__lt = function(a, b) return a.v < b.v end}) local l = {} for i = 1, 5 do l[i] = setmetatable({v = 6 - i}, getmetatable(t)) end table.sort(l) local s = '' for _, x in ipairs(l) do s = s .. x.v end return s
    return {table.getn({1, 2, 3}), table.getn({}), table.maxn({1, 2, nil, 4}), table.maxn({[10] = 1, [2.5] = 1}), table.maxn({}), table.maxn({a = 1})}
    local s = 0 table.foreach({1, 2, 3}, function(k, v) s = s + v end) return s
    return table.foreach({a = 5}, function(k, v) return k .. v end)
    local s = '' table.foreachi({'a', 'b', 'c'}, function(i, v) s = s .. i .. v end) return s
    return table.foreachi({1, 2, 3}, function(i, v) if v == 2 then return 'found' end end)
    return {unpack({1, 2, 3})}
    local t = {} for i = 1, 200 do table.insert(t, i) end for i = 1, 100 do table.remove(t, 1) end return {#t, t[1], t[100]}
    return #{unpack({}, 1, 7990)}
    `,
  ),
  scripts(
    'math',
    `
    return {math.floor(3.7), math.floor(-3.7), math.ceil(3.2), math.ceil(-3.2), math.abs(-5), math.max(1, 5, 3), math.min(4, 2, 8), math.floor('3.9')}
    return {tostring(math.floor(-0.5)), tostring(math.ceil(-0.5)), tostring(math.abs(-0.0)), tostring(math.floor(1e300))}
    return {tostring(math.sqrt(2)), tostring(math.pow(2, 0.5)), tostring(math.exp(1)), tostring(math.log(10)), tostring(math.log10(1000)), tostring(math.log10(2))}
    return {tostring(math.sin(1)), tostring(math.cos(1)), tostring(math.tan(1)), tostring(math.asin(0.5)), tostring(math.acos(0.5)), tostring(math.atan(1)), tostring(math.atan2(1, -1)), tostring(math.sinh(1)), tostring(math.cosh(1)), tostring(math.tanh(1))}
    return {tostring(math.pi), tostring(math.huge), tostring(-math.huge), tostring(math.deg(math.pi)), tostring(math.rad(180))}
    return {math.fmod(7, 3), math.fmod(-7, 3), math.fmod(7, -3), tostring(math.fmod(5.5, 2)), math.mod(7, 3), tostring(math.fmod(1, 0)), tostring(math.fmod(1, math.huge))}
    local t = {} for _, x in ipairs({3.7, -3.7, 5, 0, math.huge, -math.huge, 1e300}) do local i, f = math.modf(x) t[#t + 1] = tostring(i) .. ' ' .. tostring(f) end return t
    local t = {} for _, x in ipairs({8, 0.1, -3, 0, 1, 1e300, 5e-324, 2^53}) do local m, e = math.frexp(x) t[#t + 1] = string.format('%.17g %d', m, e) end return t
    return {tostring(math.ldexp(0.5, 4)), tostring(math.ldexp(1, -1074)), tostring(math.ldexp(1, 2000)), tostring(math.ldexp(3, 2.9))}
    return {tostring(math.sqrt(-1)), tostring(math.log(0)), tostring(math.log(-1)), tostring(math.acos(2)), tostring(math.pow(0, 0)), tostring(math.pow(1, math.huge)), tostring(math.pow(-1, math.huge))}
    = ["-nan", "-inf", "-nan", "-nan", "1", "1", "1"] because JavaScript has one NaN, shown as x86-64 shows 0/0
    math.randomseed(0) local t = {} for i = 1, 10 do t[i] = tostring(math.random()) end return t
    math.randomseed(42) local t = {} for i = 1, 20 do t[i] = math.random(100) end return t
    math.randomseed(123456789) local t = {} for i = 1, 20 do t[i] = math.random(-10, 10) end return t
    math.randomseed(-1) return {math.random(1000), math.random(1000), tostring(math.random())}
    math.randomseed(2^31 + 5) return {math.random(1000), math.random(1000)}
    math.randomseed(-3.7) return {math.random(1000), math.random(1000)}
    math.randomseed(1) local s = 0 for i = 1, 1000 do s = s + math.random(0, 1) end return s
    math.randomseed(7) return {math.random(2^31 - 1), math.random(1, 1), math.random('5', '6')}
    return {math.max(3, '10'), math.min(1, 2, -1/0) == -1/0}
    `,
  ),
  scripts(
    'cjson.encode',
    String.raw`
    return cjson.encode({1, 2, 3})
    return cjson.encode({})
    return cjson.encode({a = 1})
    return cjson.encode({a = {b = {c = {1, {2}}}}})
    return cjson.encode('text')
    return cjson.encode(5)
    return cjson.encode(true) .. cjson.encode(false) .. cjson.encode(nil) .. cjson.encode(cjson.null)
    return cjson.encode('a/b"\\\n\r\t\b\f\127\0\1\31 é')
    return cjson.encode({1.5, -0.0, 1e15, 1e100, 1/3, 0.1, 123456789012345, 2^53, 100})
    return cjson.encode({1, 2, nil, 4})
    return cjson.encode({nil, nil, 3})
    return cjson.encode({[1] = 'a', [2] = 'b'})
    return cjson.encode({[1] = 'a', [3] = 'c'})
    return cjson.encode({[10] = 1})
    return cjson.encode({[11] = 1})
    return cjson.encode({[1] = 1, [21] = 1})
    return cjson.encode({[1000] = 1})
    return cjson.encode({[1.5] = 1})
    return cjson.encode({[0] = 1})
    return cjson.encode({[-1] = 1})
    return cjson.encode({['1'] = 'a'})
    return cjson.encode({[true] = 1})
    return cjson.encode({[{}] = 1})
    return cjson.encode({cjson.null, 1})
    return cjson.encode({a = cjson.null})
    return cjson.encode(function() end)
    return cjson.encode({function() end})
    return cjson.encode(coroutine.create(function() end))
    return cjson.encode(0/0)
    return cjson.encode({1/0})
    return cjson.encode()
    return cjson.encode(1, 2)
    return cjson.encode(setmetatable({1}, {__index = {2, 3}}))
    local t = {} for i = 1, 999 do t = {t} end return #cjson.encode(t)
    local t = {} for i = 1, 1000 do t = {t} end return #cjson.encode(t)
    local t = {} t.t = t return cjson.encode(t)
    `,
  ),
  scripts(
    'cjson.decode',
    String.raw`
    return cjson.decode('[1,2,3]')
    return cjson.decode('{"a":1}').a
    return cjson.decode('"text"')
    return cjson.decode('  [ 1 , 2 ]  ')
    return {cjson.decode('true'), cjson.decode('false'), cjson.decode('null') == cjson.null}
    return {tostring(cjson.decode('1.5')), tostring(cjson.decode('-1e3')), tostring(cjson.decode('0')), tostring(cjson.decode('12345678901234567890'))}
    return cjson.decode('[1,null,3]')
    return #cjson.decode('[null,null]')
    return cjson.decode('{"a":{"b":[{"c":"deep"}]}}').a.b[1].c
    return cjson.decode('"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\n\\t\\/\\\\\\""')
    return cjson.decode('"raw\ttab"')
    return cjson.decode('{"a":1,"a":2}').a
    return cjson.decode('{"":1}')['']
    return cjson.decode('{"1":"x"}')['1']
    return tostring(cjson.decode('{}')[1])
    return cjson.encode(cjson.decode('[]'))
    return cjson.encode(cjson.decode('{"a":[]}'))
    return cjson.encode(cjson.decode('[1,[2,[3]],{"x":null}]'))
    return {tostring(cjson.decode('0x10')), tostring(cjson.decode('inf')), tostring(cjson.decode('-Infinity')), tostring(cjson.decode('+5')), tostring(cjson.decode('01')), tostring(cjson.decode('-0x1F')), tostring(cjson.decode('1.')), tostring(cjson.decode('0x'))}
    return cjson.decode('')
    return cjson.decode(' ')
    return cjson.decode('{')
    return cjson.decode('[')
    return cjson.decode('[1,]')
    return cjson.decode('[,1]')
    return cjson.decode('{"a":1,}')
    return cjson.decode('{"a" 1}')
    return cjson.decode('{"a":}')
    return cjson.decode('{a:1}')
    return cjson.decode('{1:1}')
    return cjson.decode('{"a":1 "b":2}')
    return cjson.decode('[1 2]')
    return cjson.decode('1 2')
    return cjson.decode('[1]]')
    return cjson.decode('nul')
    return cjson.decode('nullx')
    return cjson.decode('True')
    return cjson.decode('"abc')
    return cjson.decode('"\\x"')
    return cjson.decode('"\\u12"')
    return cjson.decode('"\\ud800"')
    return cjson.decode('"\\ud800\\u0041"')
    return cjson.decode('"\\udc00"')
    return cjson.decode("'a'")
    return cjson.decode('@')
    return cjson.decode('-')
    return cjson.decode('.5')
    return cjson.decode('1\0')
    return cjson.decode('\0\0')
    return cjson.decode('12\0 garbage')
    return cjson.decode('"a\0b"')
    return cjson.decode(string.rep('[', 1001) .. string.rep(']', 1001))
    return cjson.decode(string.rep('[', 1000))
    return #cjson.decode(string.rep('[', 1000) .. string.rep(']', 1000))
    return cjson.decode({})
    return cjson.decode(5)
    return cjson.decode()
    return cjson.decode('1', '2')
    `,
  ),
  scripts(
    'cjson settings',
    `
    return {tostring(cjson.encode_sparse_array()), select(2, cjson.encode_sparse_array())}
    return {tostring(cjson.encode_invalid_numbers()), tostring(cjson.decode_invalid_numbers()), tostring(cjson.encode_keep_buffer())}
    return {cjson.encode_max_depth(), cjson.decode_max_depth(), cjson.encode_number_precision()}
    return cjson.encode_max_depth(0)
    return cjson.encode_max_depth('x')
    return cjson.encode_number_precision(15)
    return cjson.encode_number_precision(0)
    return cjson.encode_number_precision(1, 2)
    return cjson.encode_invalid_numbers('foo')
    return cjson.encode_sparse_array(1)
    return cjson.encode_sparse_array(true, 1, 2, 3)
    local c = cjson.new() c.encode_number_precision(3) return c.encode(1/3) .. cjson.encode(1/3)
    local c = cjson.new() c.encode_invalid_numbers('null') return c.encode({1/0, 0/0, -1/0})
    local c = cjson.new() c.encode_invalid_numbers(true) return c.encode({1/0, 0/0, -1/0})
    local c = cjson.new() return {tostring(c.encode_invalid_numbers('on')), tostring(c.encode_invalid_numbers('off')), c.encode_invalid_numbers('null')}
    local c = cjson.new() c.decode_invalid_numbers(false) return c.decode('0x10')
    local c = cjson.new() c.decode_invalid_numbers(false) return c.decode('[1e5,inf]')
    local c = cjson.new() c.decode_invalid_numbers(false) return tostring(c.decode('-0.5'))
    local c = cjson.new() c.encode_sparse_array(true) return c.encode({[1000] = 1})
    local c = cjson.new() c.encode_sparse_array(true, 2, 3) return c.encode({[4] = 1})
    local c = cjson.new() c.encode_sparse_array(true, 0) return #c.encode({[100] = 1})
    local c = cjson.new() c.encode_max_depth(2) return c.encode({{1}}) .. c.encode({{{}}})
    local c = cjson.new() c.decode_max_depth(2) return c.decode('[[[]]]')
    local c = cjson.new() c.x = 1 return {c.x, c._NAME, c._VERSION}
    return {cjson._NAME, cjson._VERSION}
    `,
  ),
  scripts(
    'cmsgpack',
    String.raw`
    return cmsgpack.pack(0, 1, 127, 128, 255, 256, 65535, 65536, 4294967295, 4294967296, 2^53)
    return cmsgpack.pack(-1, -32, -33, -128, -129, -32768, -32769, -2147483648, -2147483649, -2^53, -2^63)
    return cmsgpack.pack(0.5, 0.1, 1e300, 2^63, 2^64, 1/0, -1/0, 1.5, -0.0)
    return cmsgpack.pack('', 'a', ('x'):rep(31))
    return cmsgpack.pack(('x'):rep(32)) .. cmsgpack.pack(('x'):rep(255))
    return {#cmsgpack.pack(('x'):rep(256)), cmsgpack.pack(('x'):rep(256)):sub(1, 4), cmsgpack.pack(('x'):rep(65536)):sub(1, 6)}
    return cmsgpack.pack(nil, true, false)
    return cmsgpack.pack(function() end, cjson.null, coroutine.create(function() end))
    return cmsgpack.pack({}, {1, 2, 3}, {a = 1})
    return cmsgpack.pack({1, 2, nil, 4})
    return cmsgpack.pack({[1] = 1, [2] = 2})
    return cmsgpack.pack({[0] = 1})
    return cmsgpack.pack({[1.5] = 1})
    return cmsgpack.pack({[-1] = 1})
    return cmsgpack.pack({[true] = {}})
    local t = {} for i = 1, 16 do t[i] = i end return cmsgpack.pack(t)
    local t = {} for i = 1, 70000 do t[i] = 1 end return cmsgpack.pack(t):sub(1, 8)
    local t = {} for i = 1, 16 do t['k' .. i] = i end return cmsgpack.pack(t):sub(1, 3)
    local t = {} for i = 1, 20 do t = {t} end return cmsgpack.pack(t)
    return cmsgpack.pack()
    return {cmsgpack.unpack(cmsgpack.pack(1, 'a', true, nil, 'end'))}
    return {cmsgpack.unpack(cmsgpack.pack({1, {2, 'x'}, 'y'}))}
    local t = cmsgpack.unpack(cmsgpack.pack({a = 1, b = {c = 'd'}})) return {t.a, t.b.c}
    local t = {} for _, n in ipairs({0, 127, 128, 255, 256, 65536, 2^32, 2^53, -1, -32, -33, -129, -32769, -2^31 - 1, 0.5, 0.1, 1e300, -2^63}) do t[#t + 1] = cmsgpack.unpack(cmsgpack.pack(n)) == n end return t
    return {cmsgpack.unpack('\207\255\255\255\255\255\255\255\255') == 2^64}
    return {cmsgpack.unpack('')}
    return {cmsgpack.unpack('\1\2\3')}
    return {cmsgpack.unpack_one('\1\2\3')}
    return {cmsgpack.unpack_one('\1\2\3', 2)}
    return {cmsgpack.unpack_one('\1\2\3', 3)}
    return {cmsgpack.unpack_one('\1\2\3', 4)}
    return {cmsgpack.unpack_one('\1\2\3', -1)}
    return {cmsgpack.unpack_limit('\1\2\3', 2)}
    return {cmsgpack.unpack_limit('\1\2\3', 2, 1)}
    return {cmsgpack.unpack_limit('\1\2\3', 0)}
    return {cmsgpack.unpack_limit('\1\2\3', 0, 1)}
    return {cmsgpack.unpack_limit('\1\2\3', -1)}
    return {cmsgpack.unpack_limit('\1\2\3')}
    return cmsgpack.unpack('\193')
    return cmsgpack.unpack('\196\1a')
    return cmsgpack.unpack('\212\1a')
    return cmsgpack.unpack('\146\1')
    return cmsgpack.unpack('\161')
    return cmsgpack.unpack('\205\1')
    return cmsgpack.unpack('\203\1')
    return cmsgpack.unpack('\129\1')
    return cmsgpack.unpack()
    return cmsgpack.unpack({})
    return {cmsgpack.unpack(5)}
    return {cmsgpack.unpack('\217\1a\218\0\1b\219\0\0\0\1c')}
    return {cmsgpack.unpack('\220\0\2\1\2')}
    return cmsgpack.unpack(string.rep('\145', 100000))
    return {cmsgpack._NAME, cmsgpack._VERSION}
    `,
  ),
  scripts(
    'struct',
    String.raw`
    return struct.pack('bBhHlLiIT', -1, 255, -2, 65535, -3, 4, -5, 6, 7)
    return struct.pack('>bBhHlLiIT', -1, 255, -2, 65535, -3, 4, -5, 6, 7)
    return struct.pack('<i1i2i3i4i5i6i7i8', 1, 2, 3, 4, 5, 6, 7, 8)
    return struct.pack('>i1i2i3i4i5i6i7i8', 1, 2, 3, 4, 5, 6, 7, 8)
    return struct.pack('<i16>I16', 1, 2)
    return struct.pack('i4', -1) .. struct.pack('I4', -1) .. struct.pack('i8', -1) .. struct.pack('i16', -1)
    return struct.pack('bB', 300, -1)
    return struct.pack('i', 3.99) .. struct.pack('i', -3.99)
    return struct.pack('<fd', 1.5, 1.5) .. struct.pack('>fd', 0.1, 0.1)
    return struct.pack('s', 'abc') .. struct.pack('c3', 'abcdef') .. struct.pack('c0', 'abc') .. struct.pack('c', 'xyz')
    return struct.pack('!bi', 1, 2) .. '|' .. struct.pack('!4bd', 1, 2) .. '|' .. struct.pack('!8bd', 1, 2)
    return struct.pack('!2bi', 1, 2) .. '|' .. struct.pack('bi', 1, 2)
    return struct.pack('bxb', 1, 2) .. struct.pack(' b b ', 3, 4)
    return struct.pack('>h<h', 1, 1)
    return {struct.unpack('bBhH', '\255\255\254\255\255\255')}
    return {struct.unpack('>hH<hH', '\255\254\255\254\254\255\254\255')}
    return {struct.unpack('<i3', '\255\255\255')}
    return {struct.unpack('<I3', '\255\255\255')}
    return {struct.unpack('>i16', string.rep('\255', 16))}
    return {struct.unpack('<i8', string.rep('\255', 8))}
    return {tostring((struct.unpack('<I8', string.rep('\255', 8))))}
    return {struct.unpack('s', 'abc\0def')}
    return {struct.unpack('c3', 'abcdef')}
    return {struct.unpack('bc0', '\3abcd')}
    return {struct.unpack('<d', struct.pack('<d', 0.1)) == 0.1}
    return {tostring((struct.unpack('<f', struct.pack('<f', 0.1))))}
    return {struct.unpack('b', 'abc', 2)}
    return {struct.unpack('!4bi', '\1\0\0\0\2\0\0\0')}
    return {struct.unpack('xxb', 'abc')}
    return {struct.unpack('', 'abc')}
    return {struct.size('bBhHlLiIT'), struct.size('!bhild'), struct.size('!4bd'), struct.size('c10xb'), struct.size('fd'), struct.size('i3'), struct.size('')}
    return struct.size('s')
    return struct.size('c0')
    return struct.size('!3i')
    return struct.size('!0i')
    return struct.size('i33')
    return struct.pack('z', 1)
    return struct.pack('c5', 'abc')
    return struct.pack('i')
    return struct.pack('ii', 1)
    return struct.pack('i', 'x')
    return struct.pack('s', {})
    return struct.pack()
    return struct.unpack('i', 'ab')
    return struct.unpack('c0', 'ab')
    return struct.unpack('bc0', '\9a')
    return struct.unpack('i', 'abcd', 0)
    return struct.unpack('i', 'abcd', 5)
    return struct.unpack('i', 'abcd', -1)
    return struct.unpack('i', 'abcd', 1e308)
    return struct.unpack('s', 'abcd')
    return struct.unpack('!0i', 'abcd')
    return struct.unpack('q', 'abcd')
    return struct.pack('i99999999999', 1)
    `,
  ),
  scripts(
    'bit',
    `
    return {bit.band(12, 10), bit.bor(12, 10), bit.bxor(12, 10), bit.bnot(0), bit.bnot(-1), bit.bnot(5)}
    return {bit.band(255, 15, 7), bit.bor(1, 2, 4, 8), bit.bxor(1, 3, 7), bit.band(-1), bit.bor(5)}
    return {bit.lshift(1, 4), bit.lshift(1, 31), bit.lshift(1, 32), bit.lshift(1, 33), bit.lshift(-1, 4), bit.lshift(1, -1)}
    return {bit.rshift(256, 4), bit.rshift(-256, 8), bit.rshift(-1, 31), bit.rshift(-1, 0), bit.arshift(-256, 8), bit.arshift(256, 4), bit.arshift(-1, 31)}
    return {bit.rol(0x12345678, 12), bit.ror(0x12345678, 12), bit.rol(1, 0), bit.ror(1, 0), bit.rol(1, 32), bit.ror(1, 1)}
    return {bit.bswap(0x12345678), bit.bswap(255), bit.bswap(-1)}
    return {bit.tobit(1.5), bit.tobit(2.5), bit.tobit(-1.5), bit.tobit(0.5), bit.tobit(2^31), bit.tobit(2^32), bit.tobit(2^32 + 5), bit.tobit(-2^31 - 1), bit.tobit(1e15), bit.tobit('0x10'), bit.tobit('7')}
    return bit.tohex(255) .. ' ' .. bit.tohex(255, 4) .. ' ' .. bit.tohex(-1) .. ' ' .. bit.tohex(255, -4) .. ' ' .. bit.tohex(1, 0) .. ' ' .. bit.tohex(1, 100) .. ' ' .. bit.tohex(-1, -8) .. ' ' .. bit.tohex(0xabcdef, 3)
    return bit.band()
    return bit.band('x')
    return bit.band(1, {})
    return bit.band(1, nil, {})
    return bit.lshift(1)
    return bit.bnot()
    return bit.tohex()
    return bit.tobit(nil)
    `,
  ),
]
