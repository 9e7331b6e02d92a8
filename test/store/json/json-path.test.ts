import fc from 'fast-check'
import { jsonpath } from 'json-p3'
import { describe, expect, it } from 'vitest'
import { type Bytes, latin1, text, utf8 } from '../../../src/kernel/bytes.js'
import { Work } from '../../../src/kernel/work.js'
import {
  findValues,
  type JsonLocation,
  JsonPathBudgetError,
  locate,
  parsePath,
} from '../../../src/store/values/json-path.js'
import { JsonPathError, readPath } from '../../../src/store/values/json-path-syntax.js'
import { formatJson, parseJson } from '../../../src/store/values/json-text.js'
import type { Json } from '../../../src/store/values/json-value.js'
import { isReplay, runs, seedOr } from '../../support/effort.js'

/** As much work as the tests of results need; the tests of budgets set their own. */
const work = (units = 20_000_000): Work => new Work(units, () => new JsonPathBudgetError())

const json = (source: string): Json => parseJson(utf8(source))
const find = (path: string, document: string | Json): string => {
  const root = typeof document === 'string' ? json(document) : document
  return text(formatJson(findValues(parsePath(utf8(path)), root, work())))
}

/** Returns the position of a match, such as `/a/0`. */
function pointer(location: JsonLocation): string {
  return location.up
    ? `${pointer(location.up)}/${typeof location.key === 'number' ? location.key : text(location.key)}`
    : ''
}

function pointers(path: string, document: string): string[] {
  return locate(parsePath(utf8(path)), json(document), work()).map(pointer)
}

const store = `{"store":{"book":[
  {"category":"reference","author":"Nigel Rees","title":"Sayings of the Century","price":8.95},
  {"category":"fiction","author":"Evelyn Waugh","title":"Sword of Honour","price":12.99},
  {"category":"fiction","author":"Herman Melville","title":"Moby Dick","isbn":"0-553-21311-3","price":8.99},
  {"category":"fiction","author":"J. R. R. Tolkien","title":"The Lord of the Rings","isbn":"0-395-19395-8","price":22.99}],
  "bicycle":{"color":"red","price":399}},"limit":10}`

// Expectations of RFC 9535: its table 2 over its own document, the examples of 2.3 and 2.5; below `..` in the double's
// order.
describe('paths with $', () => {
  it.each([
    ['$.store.book[*].author', '["Nigel Rees","Evelyn Waugh","Herman Melville","J. R. R. Tolkien"]'],
    ['$..author', '["Nigel Rees","Evelyn Waugh","Herman Melville","J. R. R. Tolkien"]'],
    ['$.store..price', '[8.95,12.99,8.99,22.99,399]'],
    ['$..book[2].title', '["Moby Dick"]'],
    ['$..book[2].publisher', '[]'],
    ['$..book[-1].title', '["The Lord of the Rings"]'],
    ['$..book[0,1].title', '["Sayings of the Century","Sword of Honour"]'],
    ['$..book[:2].title', '["Sayings of the Century","Sword of Honour"]'],
    ['$..book[?@.isbn].title', '["Moby Dick","The Lord of the Rings"]'],
    ['$..book[?(@.isbn)].title', '["Moby Dick","The Lord of the Rings"]'],
    ['$..book[?@.price<10].title', '["Sayings of the Century","Moby Dick"]'],
    ['$..book[?(@.price < $.limit)].title', '["Sayings of the Century","Moby Dick"]'],
    ['$.store.book[?(@.price > 8.95 && @.category == "fiction" && !@.isbn)].title', '["Sword of Honour"]'],
    ["$.store.book[?(@.author == 'Nigel Rees' || @.price >= 22.99)].price", '[8.95,22.99]'],
    ['$.store.book[?(!(@.price < 12) && (@.isbn || @.price == 12.99))].price', '[12.99,22.99]'],
    ['$.store.book[?(@.price != 8.95)].price', '[12.99,8.99,22.99]'],
    ['$.store.book[?(10 <= @.price)].price', '[12.99,22.99]'],
    ['$.store.book[?(@["isbn"])][\'price\']', '[8.99,22.99]'],
    ['$.store.*.color', '["red"]'],
    ['$.store["book"][0]["price"]', '[8.95]'],
    ["$['store']['bicycle']['color','price']", '["red",399]'],
    [
      '$.store.book[*]["price","title"]',
      '[8.95,"Sayings of the Century",12.99,"Sword of Honour",8.99,"Moby Dick",22.99,"The Lord of the Rings"]',
    ],
    ['$.store.book[?(@.title =~ "^S")].price', '[8.95,12.99]'],
    ['$.store.book[?(@.title =~ "(?i)MOBY")].price', '[8.99]'],
    ["$.store.book[?(@.isbn =~ '\\\\d-\\\\d{3}-')].price", '[8.99,22.99]'],
    ["$.store.book[?(@.isbn =~ '\\d-\\d{3}-')].price", '[8.99,22.99]'],
    ['$.store.bicycle[?(@ == "red")]', '["red"]'],
    ['$.store.book[5]', '[]'],
    ['$.store.book[-5]', '[]'],
    ['$.store.book.title', '[]'],
    ['$.limit.x', '[]'],
    ['$.limit[0]', '[]'],
    ['$.limit[*]', '[]'],
    ['$.limit', '[10]'],
  ])('match as in RFC 9535: %s', (path, expected) => {
    expect(find(path, store)).toBe(expected)
  })

  it.each([
    ['$[1:3]', '["b","c"]'],
    ['$[5:]', '["f","g"]'],
    ['$[1:5:2]', '["b","d"]'],
    ['$[5:1:-2]', '["f","d"]'],
    ['$[::-1]', '["g","f","e","d","c","b","a"]'],
    ['$[:]', '["a","b","c","d","e","f","g"]'],
    ['$[-2:]', '["f","g"]'],
    ['$[:-5]', '["a","b"]'],
    ['$[-100:100]', '["a","b","c","d","e","f","g"]'],
    ['$[::0]', '[]'],
    ['$[3:1]', '[]'],
    ['$[0,3]', '["a","d"]'],
    ['$[0:2,5]', '["a","b","f"]'],
    ['$[0,0]', '["a","a"]'],
    ['$[ 1 , -1 ]', '["b","g"]'],
    ['$[ 1 : 3 : 1 ]', '["b","c"]'],
    ['$[6:-8:-3]', '["g","d","a"]'],
    ['$[?@ == "b" || @ > "f"]', '["b","g"]'],
    ['$.[1]', '["b"]'],
  ])('select %s of an array', (path, expected) => {
    expect(find(path, '["a","b","c","d","e","f","g"]')).toBe(expected)
  })

  it.each([
    ["$['a b']", '{"a b":1}', '[1]'],
    ["$['it\\'s']", '{"it\'s":1}', '[1]'],
    ['$["say \\"hi\\""]', '{"say \\"hi\\"":1}', '[1]'],
    ['$[\'say "hi"\']', '{"say \\"hi\\"":1}', '[1]'],
    ['$["it\'s"]', '{"it\'s":1}', '[1]'],
    ["$['a\\\\b']", '{"a\\\\b":1}', '[1]'],
    ["$['\\u263a']", '{"☺":1}', '[1]'],
    ['$.☺', '{"☺":1}', '[1]'],
    ["$['a.b']", '{"a.b":1}', '[1]'],
    ["$['']", '{"":1}', '[1]'],
    ["$['*']", '{"*":1,"a":2}', '[1]'],
    ['$.foo-bar', '{"foo-bar":1}', '[1]'],
    ['$.0', '{"0":1}', '[1]'],
    ['$.0', '[1]', '[]'],
    ['$["0"]', '[1]', '[]'],
    ['$[0]', '{"0":1}', '[]'],
    ['$.__proto__', '{}', '[]'],
    ['$.length', '[1,2]', '[]'],
    ['$.constructor', '{}', '[]'],
    ['$.$', '{"$":1}', '[1]'],
    ['$ .a [ 0 ]', '{"a":[1]}', '[1]'],
    ['$["a"] ["b"]', '{"a":{"b":1}}', '[1]'],
  ])('select %s in %s', (path, document, expected) => {
    expect(find(path, document)).toBe(expected)
  })

  const mixed = '[1,1.0,2,"1","a",true,false,null,[1],{"a":1},{"a":null},{"a":[1]}]'
  it.each([
    ['@ == 1', '[1,1.0]'],
    ['@ == 1.0', '[1,1.0]'],
    ['@ == "1"', '["1"]'],
    ['@ == true', '[true]'],
    ['@ == false', '[false]'],
    ['@ == null', '[null]'],
    ['@ != null', '[1,1.0,2,"1","a",true,false,[1],{"a":1},{"a":null},{"a":[1]}]'],
    ['@ < 2', '[1,1.0]'],
    ['@ >= 1', '[1,1.0,2]'],
    ['@ > "1"', '["a"]'],
    ['@ <= true', '[true]'],
    ['@ < true', '[]'],
    ['@ <= null', '[null]'],
    ['@.a', '[{"a":1},{"a":null},{"a":[1]}]'],
    ['@.a == null', '[{"a":null}]'],
    ['@.a == 1', '[{"a":1}]'],
    ['@.a[0] == 1', '[{"a":[1]}]'],
    ['@.a == @.b', '[1,1.0,2,"1","a",true,false,null,[1]]'],
    ['@ == $[8]', '[[1]]'],
    ['@ == $[9]', '[{"a":1}]'],
    ['@.a == $[8]', '[{"a":[1]}]'],
    ['@..[0] == 1', '[[1],{"a":[1]}]'],
    ['@[*] == 1', '[[1],{"a":1}]'],
    ['@ > -1 && @ < 1e1', '[1,1.0,2]'],
    ['!@.a && @ == 2', '[2]'],
    ['!!@.a', '[{"a":1},{"a":null},{"a":[1]}]'],
    ['true', mixed],
    ['false', '[]'],
    ['@ =~ "."', '["1","a"]'],
    ['@ =~ $[4]', '["a"]'],
    ['@ =~ 1', '[]'],
    ['@ =~ "("', '[]'],
    ['@.a[?@ == 1]', '[{"a":[1]}]'],
  ])('filter with [?%s]', (test, expected) => {
    const spelled = text(formatJson(json(expected)))
    expect(find(`$[?${test}]`, mixed)).toBe(spelled)
    expect(find(`$[?(${test})]`, mixed)).toBe(spelled)
    expect(find(`$[? ( ${test} ) ]`, mixed)).toBe(spelled)
  })

  it('compare integers beyond 2^53 exactly', () => {
    const document = '[9007199254740992,9007199254740993,9007199254740994.0]'
    expect(find('$[?@ == 9007199254740993]', document)).toBe('[9007199254740993]')
    expect(find('$[?@ > 9007199254740992]', document)).toBe('[9007199254740993,9007199254740994.0]')
  })

  it('test the members of an object with a filter', () => {
    expect(find('$[?@ > 1]', '{"a":1,"b":2,"c":3}')).toBe('[2,3]')
  })
})

// [store.md 7.2, JSON.*]: the service's own examples.
describe('matches below ".."', () => {
  it.each([
    ['$..a', '{"a":2,"b":3,"nested":{"a":4,"b":null}}', ['/nested/a', '/a']],
    ['$..b', '{"a":2,"b":3,"nested":{"a":4,"b":null}}', ['/nested/b', '/b']],
    ['$..a', '{"a":1,"nested":{"a":3}}', ['/nested/a', '/a']],
    ['$..a', '{"a":[3],"nested":{"a":{"b":2,"c":1}}}', ['/nested/a', '/a']],
    ['$..a', '{"a":{"a":{"a":1}}}', ['/a/a/a', '/a/a', '/a']],
    ['$..a', '{"x":{"a":1},"a":2,"y":{"a":3}}', ['/x/a', '/y/a', '/a']],
    ['$..*', '{"a":[1,{"b":2}]}', ['/a/1/b', '/a/0', '/a/1', '/a']],
    ['$..[0]', '[[1,[2]],[3]]', ['/0/1/0', '/0/0', '/1/0', '/0']],
    ['$..x.y', '{"x":{"y":1,"x":{"y":2}}}', ['/x/x/y', '/x/y']],
    ['$..["a","b"]', '{"b":1,"n":{"a":2,"b":3},"a":4}', ['/n/a', '/n/b', '/a', '/b']],
    ['$..[?@.a]', '{"n":{"m":{"a":1}},"o":{"a":2}}', ['/n/m', '/o']],
  ])('%s in %s are ordered deepest first', (path, document, expected) => {
    expect(pointers(path, document)).toEqual(expected)
  })
})

describe('legacy paths', () => {
  it.each([
    ['.', '$'],
    ['a', '$.a'],
    ['.a', '$.a'],
    ['a.b', '$.a.b'],
    ['.a.b', '$.a.b'],
    ['[0]', '$[0]'],
    ['.[0]', '$[0]'],
    ['a[0]', '$.a[0]'],
    ['.a[-1].b', '$.a[-1].b'],
    ["['a']", "$['a']"],
    ['["a"].b', '$.a.b'],
    ['..a', '$..a'],
    ['*', '$.*'],
    ['.*', '$.*'],
    ['a[?(@.b>1)]', '$.a[?@.b>1]'],
    ['foo-bar', '$.foo-bar'],
    // store.md, last section
    ['$a', '$.$a'],
    ['$a.$b', '$.$a.$b'],
    ['$$', '$.$$'],
  ])('read %s as %s', (legacy, dollar) => {
    const [ours, theirs] = [readPath(utf8(legacy)), readPath(utf8(dollar))]
    expect(ours.segments).toEqual(theirs.segments)
    expect([ours.legacy, theirs.legacy]).toEqual([true, false])
  })
})

describe('invalid paths', () => {
  it.each([
    '',
    ' ',
    '$.',
    '$..',
    '$...a',
    '$.a.',
    '$[',
    '$[]',
    '$[a]',
    '$.a]',
    '$[1',
    '$["a]',
    '$[\'a"]',
    '$[1.5]',
    '$[1:2:3:4]',
    '$[?]',
    '$[?()]',
    '$[?(@.a]',
    '$[?@.a)]',
    '$[?@.a ==]',
    '$[?== 1]',
    '$[?@.a = 1]',
    '$[?@.a === 1]',
    '$[?1]',
    '$["a",]',
    '$[,]',
    '$[?@.a == 1 &&]',
    '$[?@.a &&& @.b]',
    '$[?@.a & @.b]',
    '$[?(@.a == 01)]',
    '$[?@.a == {}]',
    '$[?@ == "\\x"]',
    '$[99999999999999999999]',
    '$ a',
    '..',
    '. a',
    'a b',
    'a..',
    '@',
    '@.a',
    '$["\\u12"]',
    '$.a b',
    '$[?@.a == 1e999]',
    '$[?__import__("os")]',
    '$[?(alert(1))]',
  ])('reject %j', (path) => {
    expect(() => readPath(utf8(path))).toThrow(JsonPathError)
  })

  it('report the position of the error', () => {
    expect(() => readPath(latin1('$.a[?@.b == ]'))).toThrow(/expected a path.*position 12/)
    expect(() => readPath(latin1('$.a!'))).toThrow('unexpected "!" at position 3')
  })

  it('reject nesting that would overflow the stack', () => {
    for (const path of [`$[?${'('.repeat(1e5)}`, `$[?${'!'.repeat(1e5)}@]`, `$${'[?@'.repeat(1e5)}`]) {
      expect(() => readPath(latin1(path))).toThrow('nested too deeply')
    }
    expect(readPath(latin1(`$${'.a'.repeat(1e5)}`)).segments).toHaveLength(1e5)
  })
})

/** Both syntaxes of a path, so that generated paths need no parser in the test. */
function compareWithOracle(path: string, document: unknown): boolean {
  let theirs: { location: (string | number)[] }[]
  try {
    theirs = [...jsonpath.query(path, document as never).nodes] as never
  } catch {
    return false
  }
  const ours = locate(parsePath(utf8(path)), json(JSON.stringify(document)), work())
  const places = (lists: string[]) => lists.sort()
  expect(places(ours.map(pointer)), path).toEqual(places(theirs.map(({ location }) => ['', ...location].join('/'))))
  return true
}

const documents = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<unknown>(0, 1, 2, -1, 1.5, 'a', 'b', '', true, false, null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd e', '0'), tie('value'), { maxKeys: 4 }),
  ),
})).value

const index = fc.integer({ min: -5, max: 5 })
const bound = fc.oneof(fc.constant(''), index.map(String))
const selector = fc.oneof(
  fc.constantFrom('*', '"a"', "'b'", '"d e"', "'0'", '"\\u0061"'),
  index.map(String),
  fc.tuple(bound, bound, bound).map(([start, stop, step]) => `${start}:${stop}:${step}`),
)
const plainSegment = fc.oneof(
  fc.constantFrom('.a', '.b', '.c', '.*', '..a', '..*', "['d e']"),
  fc.array(selector, { minLength: 1, maxLength: 3 }).map((list) => `[${list.join(',')}]`),
  fc.array(selector, { minLength: 1, maxLength: 2 }).map((list) => `..[${list.join(',')}]`),
)
const operand = fc.oneof(
  fc.constantFrom('@', '@.a', '@.b', '@[0]', '@.a.b', '$.a', '$[1]', '@["c"]'),
  fc.constantFrom('0', '1', '-1', '1.5', '1e0', '"a"', "'b'", '""', 'true', 'false', 'null'),
)
const test = fc.letrec<{ test: string }>((tie) => ({
  test: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(operand, fc.constantFrom('==', '!=', '<', '<=', '>', '>='), operand).map((words) => words.join(' ')),
    fc.constantFrom('@.a', '@..b', '@[*]', '$.c', '!@.a', '@[?@ > 0]'),
    fc.tuple(tie('test'), fc.constantFrom('&&', '||'), tie('test')).map((words) => words.join(' ')),
    tie('test').map((inner) => `!(${inner})`),
    tie('test').map((inner) => `(${inner})`),
  ),
})).test
const filterSegment = fc.tuple(fc.constantFrom('', '..'), test).map(([dots, inner]) => `${dots}[?${inner}]`)
const path = fc
  .array(fc.oneof({ weight: 3, arbitrary: plainSegment }, filterSegment), { maxLength: 4 })
  .map((list) => `$${list.join('')}`)

describe('paths compared with json-p3', () => {
  it('match the same locations', () => {
    let compared = 0
    fc.assert(
      fc.property(documents, fc.array(path, { minLength: 1, maxLength: 5 }), (document, paths) => {
        for (const one of paths) if (compareWithOracle(one, document)) compared++
      }),
      { numRuns: runs(1500, 1500, 15_000), seed: seedOr(20) },
    )
    if (!isReplay) expect(compared).toBeGreaterThan(3000)
  })
})

describe('10,000 random paths', () => {
  const document = json(store)
  const outcome = (path: Bytes): 'result' | 'error' => {
    try {
      locate(readPath(path), document, work())
      return 'result'
    } catch (error) {
      if (error instanceof JsonPathError || error instanceof JsonPathBudgetError) return 'error'
      throw error
    }
  }

  it('end in a result or an error', () => {
    const token = fc.constantFrom(
      ...[
        '$',
        '.',
        '..',
        '*',
        '[',
        ']',
        '?',
        '(',
        ')',
        '@',
        ',',
        ':',
        '-',
        '0',
        '7',
        '"',
        "'",
        '\\',
        ' ',
        '&&',
        '||',
        '!',
        '==',
        '!=',
      ],
      ...[
        '<',
        '<=',
        '>',
        '=~',
        'store',
        'book',
        'price',
        'true',
        'null',
        '"a"',
        "'b.*'",
        '"(a+)+$"',
        '1e9',
        '\u00e9',
        '\\u0041',
        '[?(@',
        '{',
        '/',
      ],
    )
    const outcomes = { result: 0, error: 0 }
    const paths = fc.array(token, { maxLength: 12 }).map((tokens) => utf8(tokens.join('')))
    fc.assert(
      fc.property(
        fc.oneof(
          paths,
          paths.map((tail) => latin1(`$.store${tail}`)),
          path.map(utf8),
        ),
        (any) => {
          outcomes[outcome(any)]++
        },
      ),
      { numRuns: runs(10_000, 10_000, 100_000) },
    )
    if (!isReplay) expect(outcomes.result).toBeGreaterThan(500)
    if (!isReplay) expect(outcomes.error).toBeGreaterThan(500)
  })

  it('stop when their matches would multiply without limit', () => {
    const nested = json('['.repeat(100) + ']'.repeat(100))
    expect(() => locate(readPath(latin1(`$${'..*'.repeat(30)}`)), nested, work())).toThrow(JsonPathBudgetError)
    const list = json(`[${'1,'.repeat(20_000)}1]`)
    expect(() => locate(readPath(latin1('$[?$[?@ == 2]]')), list, work())).toThrow(JsonPathBudgetError)
    const text = json(`["${'a'.repeat(50_000)}"]`)
    expect(() => locate(readPath(latin1('$[?@ =~ "(a?){900}b"]')), text, work())).toThrow(JsonPathBudgetError)
  })
})

describe('cache of parsed paths', () => {
  it('returns the same parsed path again, and drops the least recently used one', () => {
    const first = parsePath(latin1('$.first'))
    const kept = parsePath(latin1('$.kept'))
    for (let count = 0; count < 255; count++) {
      parsePath(latin1(`$.n${count}`))
      expect(parsePath(latin1('$.kept'))).toBe(kept)
    }
    expect(parsePath(latin1('$.first'))).not.toBe(first)
  })
})
