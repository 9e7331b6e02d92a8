import { describe, expect, it } from 'vitest'
import { utf8 } from '../../../src/kernel/bytes.js'
import { resp2 } from '../../../src/store/rest/rest-responses.js'
import { createStore, error, noKey, noPath, reply, stories, words, wrongType } from './steps.js'

const notNumber = error('ERR value is not a valid float')
const notInt = error('ERR value is not an int or out of range')
const noArray = error('ERR Path does not exist or not an array')
const noNumber = error('ERR Path does not exist or does not contains a number')
const noString = error('ERR Path does not exist or not a string')
const outOfBounds = error('ERR index out of bounds')
const expects = (type: string) => error(`WRONGTYPE wrong type of path value - expected ${type}`)

// Expectations: store.md 7.2 (table JSON.*); the documents are those of the pages and tests it names.
describe('JSON.NUMINCRBY and JSON.NUMMULTBY', () => {
  stories({
    'return one result per match': [
      ['JSON.SET k $ {"a":"b","b":[{"a":2},{"a":5},{"a":"c"}]}', 'OK'],
      ['JSON.NUMINCRBY k $.a 2', '[null]'],
      ['JSON.NUMINCRBY k $..a 2', '[4,7,null,null]'],
      ['JSON.NUMMULTBY k $..a 2', '[8,14,null,null]'],
      ['JSON.NUMINCRBY k $.b[1].a -4', '[10]'],
      ['JSON.NUMINCRBY k $.x 1', '[]'],
      ['JSON.NUMINCRBY k b[0].a 1', '9'],
      ['JSON.NUMMULTBY k .b[0].a 3', '27'],
      ['JSON.NUMINCRBY k a 1', noNumber],
      ['JSON.NUMINCRBY k x 1', noNumber],
      ['JSON.NUMMULTBY k .b 1', noNumber],
      ['JSON.GET k', '{"a":"b","b":[{"a":27},{"a":10},{"a":"c"}]}'],
      ['JSON.NUMINCRBY none $.a 1', noKey],
      ['JSON.NUMINCRBY none a 1', noKey],
      ['JSON.NUMMULTBY none $ 1', noKey],
    ],
    'distinguish integers and floats': [
      ['JSON.SET k $ {"i":1,"f":1.5}', 'OK'],
      ['JSON.NUMINCRBY k $.i 1.5', '[2.5]'],
      ['JSON.NUMINCRBY k $.i 0.5', '[3.0]'],
      ['JSON.TYPE k $.i', ['number']],
      ['JSON.NUMINCRBY k $.f 1', '[2.5]'],
      ['JSON.NUMMULTBY k $.f 2', '[5.0]'],
      ['JSON.NUMINCRBY k $.f 1e2', '[105.0]'],
      ['JSON.SET k $ [0.1,3]', 'OK'],
      ['JSON.NUMINCRBY k $[*] 0.2', '[0.30000000000000004,3.2]'],
      ['JSON.NUMMULTBY k $[0] 0', '[0.0]'],
      ['JSON.SET k $ 5', 'OK'],
      ['JSON.NUMMULTBY k $ -1', '[-5]'],
      ['JSON.NUMMULTBY k . 0', '0'],
      ['JSON.TYPE k', 'integer'],
    ],
    'are exact up to 64 bits': [
      ['JSON.SET k $ 9223372036854775806', 'OK'],
      ['JSON.NUMINCRBY k $ 1', '[9223372036854775807]'],
      ['JSON.TYPE k', 'integer'],
      ['JSON.NUMINCRBY k $ 1', '[9223372036854775808]'],
      ['JSON.TYPE k', 'integer'],
      ['JSON.NUMINCRBY k $ 9223372036854775807', '[18446744073709551615]'],
      ['JSON.GET k', '18446744073709551615'],
      ['JSON.TYPE k', 'integer'],
      ['JSON.NUMMULTBY k . 1', '18446744073709551615'],
      ['JSON.NUMINCRBY k $ 0.0', '[1.8446744073709552e19]'],
      ['JSON.SET k $ 18446744073709551615', 'OK'],
      ['JSON.NUMINCRBY k $ 1', '[1.8446744073709552e19]'],
      ['JSON.TYPE k', 'number'],
      ['JSON.SET k $ [1.6E+308,18446744073709551615]', 'OK'],
      ['JSON.GET k', '[1.6e308,18446744073709551615]'],
      ['JSON.NUMINCRBY k $[*] 0', '[1.6e308,18446744073709551615]'],
      ['JSON.SET k $ -9223372036854775807', 'OK'],
      ['JSON.NUMINCRBY k $ -1', '[-9223372036854775808]'],
      ['JSON.NUMMULTBY k $ 2', '[-1.8446744073709552e19]'],
      ['JSON.SET k $ 9007199254740991', 'OK'],
      ['JSON.NUMINCRBY k $ 2', '[9007199254740993]'],
      ['JSON.NUMMULTBY k $ 3', '[27021597764222979]'],
    ],
    'change nothing for an infinite result': [
      ['JSON.SET k $ [1,1e308,2]', 'OK'],
      ['JSON.NUMMULTBY k $[*] 1e10', error('ERR result is not a number')],
      ['JSON.NUMINCRBY k $[1] 1.7e308', error('ERR result is not a number')],
      ['JSON.GET k', '[1,1e308,2]'],
    ],
    'change only numbers': [
      ['JSON.SET k $ 1', 'OK'],
      ['JSON.NUMINCRBY k $ abc', notNumber],
      ['JSON.NUMINCRBY k $ "1"', notNumber],
      ['JSON.NUMINCRBY k $ null', notNumber],
      ["JSON.NUMMULTBY k $ ''", notNumber],
      ['JSON.NUMMULTBY k $ [1]', notNumber],
      ['JSON.NUMMULTBY k $ inf', notNumber],
      ['JSON.GET k', '1'],
    ],
    'change a repeated match twice': [
      ['JSON.SET k $ [1]', 'OK'],
      ['JSON.NUMINCRBY k $[0,0] 1', '[2,3]'],
      ['JSON.GET k', '[3]'],
    ],
  })
})

describe('JSON.STRAPPEND and JSON.STRLEN', () => {
  stories({
    'return the length per match': [
      ['JSON.SET k $ {"a":"foo","nested":{"a":"hello"},"nested2":{"a":31}}', 'OK'],
      ['JSON.STRAPPEND k $..a "baz"', [8, null, 6]],
      ['JSON.GET k $', '[{"a":"foobaz","nested":{"a":"hellobaz"},"nested2":{"a":31}}]'],
      ['JSON.STRLEN k $..a', [8, null, 6]],
      ['JSON.STRLEN k a', 6],
      ['JSON.STRLEN k .nested.a', 8],
      ['JSON.STRAPPEND k a "!"', 7],
      ['JSON.STRAPPEND k $.x "!"', []],
      ['JSON.STRLEN k $.x', []],
      ['JSON.STRLEN k x', noPath],
      ['JSON.STRLEN k nested', expects('string')],
      ['JSON.STRLEN k', expects('string')],
      ['JSON.STRLEN k $', [null]],
      ['JSON.STRAPPEND k nested "a"', noString],
      ['JSON.STRAPPEND k x "a"', noString],
      ['JSON.STRAPPEND none $ "a"', noKey],
      ['JSON.STRAPPEND none "a"', noKey],
      ['JSON.STRLEN none', null],
      ['JSON.STRLEN none $.a', noKey],
    ],
    'work on the root, with and without a path': [
      ['JSON.SET k $ "ab"', 'OK'],
      ['JSON.STRAPPEND k "c"', 3],
      ['JSON.STRAPPEND k . "d"', 4],
      ['JSON.STRAPPEND k $ ""', [4]],
      ['JSON.STRLEN k', 4],
      ['JSON.STRLEN k $', [4]],
      ['JSON.GET k', '"abcd"'],
    ],
    'require a JSON string as value': [
      ['JSON.SET k $ "a"', 'OK'],
      ['JSON.STRAPPEND k $ baz', error('ERR invalid JSON value')],
      ['JSON.STRAPPEND k $ 1', expects('string')],
      ['JSON.STRAPPEND k $ null', expects('string')],
      ['JSON.STRAPPEND k $ "\\n\\"\\u00e9"', [5]],
      ['JSON.GET k', '"a\\n\\"é"'],
    ],
    'return lengths in bytes': [
      ['JSON.SET k $ "é€😀"', 'OK'],
      ['JSON.STRLEN k', 9],
    ],
  })
})

describe('JSON.TOGGLE', () => {
  stories({
    'toggles the nested match first': [
      ['JSON.SET k $ {"bool":true}', 'OK'],
      ['JSON.TOGGLE k $.bool', [0]],
      ['JSON.GET k $', '[{"bool":false}]'],
      ['JSON.TOGGLE k $.bool', [1]],
      ['JSON.SET k $ {"bool":true,"nested":{"bool":false},"x":{"bool":1}}', 'OK'],
      ['JSON.TOGGLE k $..bool', [1, null, 0]],
      ['JSON.GET k', '{"bool":false,"nested":{"bool":true},"x":{"bool":1}}'],
      ['JSON.TOGGLE k bool', 'true'],
      ['JSON.TOGGLE k .bool', 'false'],
      ['JSON.TOGGLE k $.none', []],
      ['JSON.TOGGLE k none', error('ERR Path does not exist or not a bool')],
      ['JSON.TOGGLE k nested', error('ERR Path does not exist or not a bool')],
      ['JSON.TOGGLE none $.a', noKey],
      ['JSON.TOGGLE none .', noKey],
      ['JSON.SET k $ false', 'OK'],
      ['JSON.TOGGLE k $', [1]],
      ['JSON.GET k', 'true'],
    ],
  })
})

describe('JSON.ARRAPPEND', () => {
  stories({
    'returns the new lengths': [
      ['JSON.SET k $ {"name":"Noise","colors":["black","silver"],"nested":{"colors":1}}', 'OK'],
      ['JSON.ARRAPPEND k $.colors "blue"', [3]],
      ['JSON.ARRAPPEND k $..colors 1 null {"a":[]}', [null, 6]],
      ['JSON.GET k $.colors', '[["black","silver","blue",1,null,{"a":[]}]]'],
      ['JSON.ARRAPPEND k colors true', 7],
      ['JSON.ARRAPPEND k $.name 1', [null]],
      ['JSON.ARRAPPEND k $.none 1', []],
      ['JSON.ARRAPPEND k name 1', noArray],
      ['JSON.ARRAPPEND k none 1', noArray],
      ['JSON.ARRAPPEND k $.colors blue', error('ERR invalid JSON value')],
      ['JSON.ARRAPPEND none $.a 1', noKey],
      ['JSON.ARRAPPEND none . 1', noKey],
      ['JSON.SET k $ [[1],[2]]', 'OK'],
      ['JSON.ARRAPPEND k $[*] {"a":1}', [2, 2]],
      ['JSON.SET k $[0][1].a 2', 'OK'],
      ['JSON.GET k', '[[1,{"a":2}],[2,{"a":1}]]'],
      ['JSON.ARRAPPEND k $ 3', [3]],
      ['JSON.ARRAPPEND k . 4', 4],
    ],
  })
})

describe('JSON.ARRINSERT', () => {
  stories({
    'inserts before an index': [
      ['JSON.SET k $ {"a":[1,4],"nested":{"a":[1,2,3]},"x":{"a":1}}', 'OK'],
      ['JSON.ARRINSERT k $..a 1 2 3', [5, null, 4]],
      ['JSON.GET k $..a', '[[1,2,3,2,3],1,[1,2,3,4]]'],
      ['JSON.ARRINSERT k a 0 0', 5],
      ['JSON.ARRINSERT k a -1 9', 6],
      ['JSON.GET k a', '[0,1,2,3,9,4]'],
      ['JSON.ARRINSERT k a 6 "end"', 7],
      ['JSON.ARRINSERT k a -7 "start"', 8],
      ['JSON.GET k a', '["start",0,1,2,3,9,4,"end"]'],
      ['JSON.ARRINSERT k a 9 1', outOfBounds],
      ['JSON.ARRINSERT k $.a -9 1', outOfBounds],
      ['JSON.ARRINSERT k $..a 6 1', outOfBounds],
      ['JSON.ARRLEN k $..a', [5, null, 8]],
      ['JSON.ARRINSERT k a x 1', notInt],
      ['JSON.ARRINSERT k a 1.5 1', notInt],
      ['JSON.ARRINSERT k $.a 0 x', error('ERR invalid JSON value')],
      ['JSON.ARRINSERT k x 0 1', noArray],
      ['JSON.ARRINSERT k none 0 1', noArray],
      ['JSON.ARRINSERT k $.none 0 1', []],
      ['JSON.ARRINSERT none $ 0 1', noKey],
      ['JSON.SET k $ []', 'OK'],
      ['JSON.ARRINSERT k $ 0 1', [1]],
    ],
  })
})

describe('JSON.ARRINDEX', () => {
  stories({
    'returns the first index or -1': [
      ['JSON.SET k $ {"colors":["black","silver","gold","silver"],"nested":{"colors":"silver"}}', 'OK'],
      ['JSON.ARRINDEX k $..colors "silver"', [null, 1]],
      ['JSON.ARRINDEX k $.colors "silver" 2', [3]],
      ['JSON.ARRINDEX k $.colors "silver" 2 3', [-1]],
      ['JSON.ARRINDEX k $.colors "silver" 2 0', [3]],
      ['JSON.ARRINDEX k $.colors "silver" -1', [3]],
      ['JSON.ARRINDEX k $.colors "silver" -2 -1', [-1]],
      ['JSON.ARRINDEX k $.colors "black" 0 -1', [0]],
      ['JSON.ARRINDEX k $.colors "black" -100', [0]],
      ['JSON.ARRINDEX k $.colors "black" 1 100', [-1]],
      ['JSON.ARRINDEX k $.colors "black" 3 1', [-1]],
      ['JSON.ARRINDEX k $.colors "blue"', [-1]],
      ['JSON.ARRINDEX k colors "gold"', 2],
      ['JSON.ARRINDEX k colors "blue"', -1],
      ['JSON.ARRINDEX k nested "blue"', expects('array')],
      ['JSON.ARRINDEX k none "blue"', noPath],
      ['JSON.ARRINDEX k $.none 1', []],
      ['JSON.ARRINDEX k colors gold', error('ERR invalid JSON value')],
      ['JSON.ARRINDEX k colors "gold" x', notInt],
      ['JSON.ARRINDEX none $ 1', noKey],
      ['JSON.ARRINDEX none . 1', noKey],
    ],
    'finds any JSON value': [
      ['JSON.SET k $ [null,true,1,"1",[1],{"a":1,"b":2},[]]', 'OK'],
      ['JSON.ARRINDEX k $ null', [0]],
      ['JSON.ARRINDEX k $ true', [1]],
      ['JSON.ARRINDEX k $ 1', [2]],
      ['JSON.ARRINDEX k $ "1"', [3]],
      ['JSON.ARRINDEX k $ [1]', [4]],
      ['JSON.ARRINDEX k $ {"b":2,"a":1}', [5]],
      ['JSON.ARRINDEX k $ []', [6]],
      ['JSON.ARRINDEX k $ {}', [-1]],
      ['JSON.ARRINDEX k $ false', [-1]],
      ['JSON.SET k $ []', 'OK'],
      ['JSON.ARRINDEX k $ 1', [-1]],
      ['JSON.ARRINDEX k . 1', -1],
    ],
  })
})

describe('JSON.ARRLEN', () => {
  stories({
    lengths: [
      ['JSON.SET k $ {"a":[3],"nested":{"a":[4,5]},"x":{"a":1}}', 'OK'],
      ['JSON.ARRLEN k $..a', [2, null, 1]],
      ['JSON.ARRLEN k a', 1],
      ['JSON.ARRLEN k $.none', []],
      ['JSON.ARRLEN k $', [null]],
      ['JSON.ARRLEN k', noArray],
      ['JSON.ARRLEN k none', noArray],
      ['JSON.ARRLEN k x.a', noArray],
      ['JSON.ARRLEN none', null],
      ['JSON.ARRLEN none a', null],
      ['JSON.ARRLEN none $', noKey],
      ['JSON.ARRLEN none $.a', noKey],
      ['JSON.SET k $ []', 'OK'],
      ['JSON.ARRLEN k', 0],
      ['JSON.ARRLEN k $', [0]],
    ],
  })
})

describe('JSON.ARRPOP', () => {
  stories({
    'returns popped elements as JSON': [
      ['JSON.SET k $ {"a":[3,"x",{"b":[1]}],"nested":{"a":[]},"n":{"a":1}}', 'OK'],
      ['JSON.ARRPOP k $..a', [null, null, '{"b":[1]}']],
      ['JSON.ARRPOP k a', '"x"'],
      ['JSON.ARRPOP k a', '3'],
      ['JSON.ARRPOP k a', null],
      ['JSON.ARRPOP k $.a', [null]],
      ['JSON.ARRPOP k n.a', noArray],
      ['JSON.ARRPOP k none', noArray],
      ['JSON.ARRPOP k $.none', []],
      ['JSON.ARRPOP k', noArray],
      ['JSON.ARRPOP none', noKey],
      ['JSON.ARRPOP none $.a', noKey],
    ],
    'clamps the index': [
      ['JSON.SET k $ [0,1,2,3,4,5,6]', 'OK'],
      ['JSON.ARRPOP k $ 0', ['0']],
      ['JSON.ARRPOP k $ 2', ['3']],
      ['JSON.ARRPOP k $ -2', ['5']],
      ['JSON.ARRPOP k $ 100', ['6']],
      ['JSON.ARRPOP k $ -100', ['1']],
      ['JSON.ARRPOP k . -1', '4'],
      ['JSON.GET k', '[2]'],
      ['JSON.ARRPOP k', '2'],
      ['JSON.ARRPOP k $ x', notInt],
      ['JSON.GET k', '[]'],
    ],
  })
})

describe('JSON.ARRTRIM', () => {
  stories({
    'returns the new lengths': [
      ['JSON.SET k $ {"a":[0,1,2,3,4,5],"nested":{"a":[9]},"n":{"a":1}}', 'OK'],
      ['JSON.ARRTRIM k $..a 1 4', [0, null, 4]],
      ['JSON.GET k a', '[1,2,3,4]'],
      ['JSON.ARRTRIM k a -3 -2', 2],
      ['JSON.GET k a', '[2,3]'],
      ['JSON.ARRTRIM k a 0 100', 2],
      ['JSON.ARRTRIM k a -100 100', 2],
      ['JSON.ARRTRIM k $.a 0 0', [1]],
      ['JSON.GET k a', '[2]'],
      ['JSON.ARRTRIM k n.a 0 1', noArray],
      ['JSON.ARRTRIM k none 0 1', noArray],
      ['JSON.ARRTRIM k $.none 0 1', []],
      ['JSON.ARRTRIM k a x 1', notInt],
      ['JSON.ARRTRIM k a 0 x', notInt],
      ['JSON.ARRTRIM none $ 0 1', noKey],
    ],
    ...Object.fromEntries(
      // Results of the inclusive, clamped range of [0,1,2,3].
      [
        ['0 3', '[0,1,2,3]'],
        ['1 1', '[1]'],
        ['2 1', '[]'],
        ['4 9', '[]'],
        ['3 9', '[3]'],
        ['-1 -1', '[3]'],
        ['-2 3', '[2,3]'],
        ['0 -2', '[0,1,2]'],
        ['0 -4', '[0]'],
        ['0 -5', '[]'],
        ['-9 0', '[0]'],
        ['-9 -9', '[]'],
        ['-1 1', '[]'],
      ].map(([range, left]) => [
        `${range} leaves ${left}`,
        [
          ['JSON.SET k $ [0,1,2,3]', 'OK'],
          [`JSON.ARRTRIM k $ ${range}`, [JSON.parse(left as string).length]],
          ['JSON.GET k', left as string],
        ] as const,
      ]),
    ),
  })
})

describe('JSON.OBJKEYS and JSON.OBJLEN', () => {
  stories({
    'return names and counts': [
      ['JSON.SET k $ {"a":[3],"nested":{"a":{"b":2,"c":1}}}', 'OK'],
      ['JSON.OBJKEYS k $..a', [['b', 'c'], null]],
      ['JSON.OBJLEN k $..a', [2, null]],
      ['JSON.OBJKEYS k $', [['a', 'nested']]],
      ['JSON.OBJKEYS k', ['a', 'nested']],
      ['JSON.OBJKEYS k nested.a', ['b', 'c']],
      ['JSON.OBJLEN k', 2],
      ['JSON.OBJLEN k .nested', 1],
      ['JSON.OBJLEN k $.nested.a', [2]],
      ['JSON.OBJKEYS k a', expects('object')],
      ['JSON.OBJLEN k a', expects('object')],
      ['JSON.OBJKEYS k none', null],
      ['JSON.OBJLEN k none', null],
      ['JSON.OBJKEYS k $.none', []],
      ['JSON.OBJLEN k $.none', []],
      ['JSON.OBJKEYS none', null],
      ['JSON.OBJLEN none', null],
      ['JSON.OBJKEYS none .a', null],
      ['JSON.OBJKEYS none $', noKey],
      ['JSON.OBJLEN none $.a', noKey],
      ['JSON.SET k $ {"2":0,"1":0,"é":0,"":0}', 'OK'],
      ['JSON.OBJKEYS k', ['2', '1', 'é', '']],
      ['JSON.SET k $ {}', 'OK'],
      ['JSON.OBJKEYS k $', [[]]],
      ['JSON.OBJLEN k', 0],
    ],
  })
})

describe('JSON.RESP', () => {
  stories({
    'returns the types of the protocol': [
      ['JSON.SET k $ {"name":"x","wet":true,"dry":false,"n":[1,2.50,null],"o":{"big":18446744073709551615}}', 'OK'],
      [
        'JSON.RESP k',
        [
          '{',
          'name',
          'x',
          'wet',
          'true',
          'dry',
          'false',
          'n',
          ['[', 1, '2.50', null],
          'o',
          ['{', 'big', '18446744073709551615'],
        ],
      ],
      ['JSON.RESP k $.n', [['[', 1, '2.50', null]]],
      ['JSON.RESP k n', ['[', 1, '2.50', null]],
      [
        'JSON.RESP k $..*',
        [
          1,
          '2.50',
          null,
          '18446744073709551615',
          'x',
          'true',
          'false',
          ['[', 1, '2.50', null],
          ['{', 'big', '18446744073709551615'],
        ],
      ],
      ['JSON.RESP k wet', 'true'],
      ['JSON.RESP k $.name', ['x']],
      ['JSON.RESP k $.none', []],
      ['JSON.RESP k none', noPath],
      ['JSON.RESP none', null],
      ['JSON.RESP none $', null],
      ['JSON.SET k $ [9223372036854775807,-9223372036854775808,9223372036854775808]', 'OK'],
      ['JSON.RESP k', ['[', 9223372036854775807n, -9223372036854775808n, '9223372036854775808']],
      ['JSON.SET k $ {}', 'OK'],
      ['JSON.RESP k', ['{']],
      ['JSON.RESP k $', [['{']]],
      ['JSON.SET k $ []', 'OK'],
      ['JSON.RESP k', ['[']],
    ],
  })
})

describe('JSON.RESP on the wire', () => {
  it('has simple strings for booleans and bulk strings for floats', () => {
    const store = createStore()
    reply(store, words('JSON.SET k $ [true,1,2.5,"true",null,{"a":false}]'))
    const written = resp2(store.execute(words('JSON.RESP k').map(utf8)))
    expect(written.replaceAll('\r\n', ' ')).toBe('*7 $1 [ +true :1 $3 2.5 $4 true $-1 *3 $1 { $1 a +false ')
  })
})

describe('JSON.DEBUG', () => {
  stories({
    'returns help and reports missing keys': [
      ['JSON.DEBUG HELP', ['MEMORY <key> [path] - reports memory usage', 'HELP                - this message']],
      ['JSON.DEBUG MEMORY none', 0],
      ['JSON.DEBUG MEMORY none $', []],
      ['SET s x', 'OK'],
      ['JSON.DEBUG MEMORY s', wrongType],
      ['JSON.SET k $ {"a":1}', 'OK'],
      ['JSON.DEBUG MEMORY k $.none', []],
      ['JSON.DEBUG MEMORY k none', noPath],
    ],
  })
})
