import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { utf8 } from '../../../src/kernel/bytes.js'
import { runs } from '../../support/effort.js'
import { createStore, error, reply, type Step, words } from './steps.js'

const nested = (levels: number, inside = '') => '['.repeat(levels) + inside + ']'.repeat(levels)
const tooDeep = error('ERR JSON value is nested deeper than 128 levels')

describe('limits of JSON commands', () => {
  it('allow at most 128 levels in a document, for every command that adds one', () => {
    const store = createStore()
    const run = (line: string) => reply(store, words(line))
    expect(run(`JSON.SET k $ ${nested(129)}`)).toEqual(tooDeep)
    expect(run(`JSON.SET k $ ${nested(128)}`)).toBe('OK')
    expect(run(`JSON.GET k`)).toBe(nested(128))
    const deepest = `$${'[0]'.repeat(127)}`
    expect(run(`JSON.ARRAPPEND k ${deepest} 1`)).toEqual([1])
    expect(run(`JSON.ARRAPPEND k ${deepest} []`)).toEqual(tooDeep)
    expect(run(`JSON.ARRINSERT k ${deepest} 0 {}`)).toEqual(tooDeep)
    expect(run(`JSON.SET k ${deepest}[0] []`)).toEqual(tooDeep)
    expect(run(`JSON.MERGE k ${deepest}[0] {"a":1}`)).toEqual(tooDeep)
    expect(run(`JSON.MSET j $ 1 k ${deepest}[0] {}`)).toEqual(tooDeep)
    expect(run('EXISTS j')).toBe(0)
    expect(run(`JSON.SET k ${deepest}[0] 2`)).toBe('OK')
    expect(run(`JSON.GET k`)).toBe(nested(128, '2'))
    expect(run(`JSON.SET o $ ${nested(127, '{}')}`)).toBe('OK')
    expect(run(`JSON.SET o $${'[0]'.repeat(127)}.a []`)).toEqual(tooDeep)
    expect(run(`JSON.SET o $${'[0]'.repeat(127)}.a 1`)).toBe('OK')
  })

  it('keep all matching arrays unchanged if one would become too deep', () => {
    const store = createStore()
    reply(store, words(`JSON.SET k $ ${nested(127, '[],[]')}`))
    expect(reply(store, words('JSON.ARRAPPEND k $..* {"a":[]}'))).toEqual(tooDeep)
    expect(reply(store, words('JSON.GET k'))).toBe(nested(127, '[],[]'))
  })

  it('reject a reply that repeats the same values without limit', () => {
    const store = createStore()
    reply(store, ['JSON.SET', 'k', '$', nested(128, JSON.stringify('x'.repeat(600_000)))])
    const refused = {
      error: expect.stringMatching(/^ERR max request size exceeded. Limit: 67108864 bytes, Actual: \d+ bytes/),
    }
    expect(reply(store, words('JSON.GET k $..*'))).toEqual(refused)
    expect(reply(store, words('JSON.GET k INDENT x $..*'))).toEqual(refused)
    expect(reply(store, words('JSON.MGET k $..*'))).toEqual(refused)
    expect(reply(store, words('JSON.STRLEN k $..*'))).toHaveLength(128)
  })

  it('reject a path whose matches multiply without limit', () => {
    const store = createStore()
    reply(store, ['JSON.SET', 'k', '$', nested(100)])
    const refused = error(
      'ERR max work exceeded. Limit: 4000000 units for one request. Request less work per request, or raise policy.maxWork',
    )
    expect(reply(store, words(`JSON.GET k $${'..*'.repeat(20)}`))).toEqual(refused)
    expect(reply(store, words(`JSON.DEL k $${'..*'.repeat(20)}`))).toEqual(refused)
    expect(reply(store, words('JSON.GET k'))).toBe(nested(100))
  })

  it('accept hundreds of thousands of values in one command', () => {
    const store = createStore()
    reply(store, words('JSON.SET k $ [0,1]'))
    const many = Array.from({ length: 130_000 }, () => '7')
    expect(reply(store, ['JSON.ARRINSERT', 'k', '$', '1', ...many])).toEqual([130_002])
    expect(reply(store, ['JSON.ARRAPPEND', 'k', '.', ...many])).toBe(260_002)
    expect(reply(store, words('JSON.ARRINDEX k $ 1'))).toEqual([130_001])
    expect(reply(store, words('JSON.RESP k'))).toHaveLength(260_003)
    expect(reply(store, words('JSON.DEL k $[1:-1]'))).toBe(260_000)
  })

  it('count memory in proportion to the stored values', () => {
    const store = createStore()
    const memory = (document: string) => {
      reply(store, ['JSON.SET', 'k', '$', document])
      return Number(reply(store, words('JSON.DEBUG MEMORY k')))
    }
    expect(memory('[]')).toBeGreaterThan(0)
    expect(memory('[1]')).toBeGreaterThan(memory('[]'))
    expect(memory('{"abc":1}')).toBeGreaterThan(memory('{"a":1}'))
    expect(memory('["a long text"]')).toBeGreaterThan(memory('["a"]'))
    const whole = memory('{"a":[1,2,3],"b":{"a":"x"}}')
    const parts = reply(store, words('JSON.DEBUG MEMORY k $.*')) as number[]
    expect(whole).toBeGreaterThan(parts.reduce((sum, part) => sum + part, 0))
  })
})

describe('access control of JSON commands', () => {
  it.each([
    ['JSON.MGET a b $.x', ['a', 'b']],
    ['JSON.MSET a $ 1 b $.c 2', ['a', 'b']],
    ['JSON.GET a b c', ['a']],
    ['JSON.ARRINDEX a $ 1 2 3', ['a']],
    ['JSON.DEBUG MEMORY a $', ['a']],
    ['JSON.DEBUG HELP', []],
  ])('%s names the keys %j', (line, keys) => {
    const argv = words(line).map(utf8)
    expect(createStore().lookup(argv).keysOf(argv)).toEqual(keys)
  })

  it('lets the read-only user read documents but not change them', () => {
    const store = createStore()
    const readOnly = store.access.userOf('readonly')
    const run = (line: string) => () => store.execute(words(line).map(utf8), readOnly)
    reply(store, words('JSON.SET k $ {"a":[1]}'))
    const reads = ['GET', 'TYPE', 'STRLEN', 'ARRLEN', 'OBJKEYS', 'OBJLEN', 'RESP', 'DEBUG MEMORY']
    for (const name of reads) expect(run(`JSON.${name} k $`), name).not.toThrow()
    for (const line of ['MGET k $', 'ARRINDEX k $ 1']) expect(run(`JSON.${line}`), line).not.toThrow()
    const writes = [
      'SET k $ 1',
      'MSET k $ 1',
      'MERGE k $ 1',
      'DEL k',
      'FORGET k',
      'CLEAR k',
      'TOGGLE k $',
      'ARRPOP k',
      'ARRTRIM k $ 0 0',
    ]
    const more = ['NUMINCRBY k $ 1', 'NUMMULTBY k $ 1', 'STRAPPEND k $ "a"', 'ARRAPPEND k $ 1', 'ARRINSERT k $ 0 1']
    for (const line of [...writes, ...more]) expect(run(`JSON.${line}`), line).toThrow(/^NOPERM/)
    expect(reply(store, words('JSON.GET k'))).toBe('{"a":[1]}')
  })
})

describe('keyspace events of JSON commands', () => {
  const eventsOf = (before: Step[0][], line: string): string[] => {
    const store = createStore()
    for (const one of before) reply(store, words(one))
    const events: string[] = []
    store.listen({ keyspace: (eventClass, event, key) => events.push(`${eventClass} ${event} ${key}`) })
    reply(store, words(line))
    return events
  }
  const document = 'JSON.SET k $ {"a":[1,2],"b":true,"n":1,"s":"x"}'

  it.each([
    ['JSON.SET k $.n 2', 'd json.set k'],
    ['JSON.MSET k $.n 2', 'd json.mset k'],
    ['JSON.MERGE k $ {"n":2}', 'd json.merge k'],
    ['JSON.DEL k $.n', 'd json.del k'],
    ['JSON.CLEAR k $.n', 'd json.clear k'],
    ['JSON.NUMINCRBY k $.n 2', 'd json.numincrby k'],
    ['JSON.NUMMULTBY k n 2', 'd json.nummultby k'],
    ['JSON.STRAPPEND k $.s "y"', 'd json.strappend k'],
    ['JSON.TOGGLE k b', 'd json.toggle k'],
    ['JSON.ARRAPPEND k $.a 1', 'd json.arrappend k'],
    ['JSON.ARRINSERT k $.a 0 1', 'd json.arrinsert k'],
    ['JSON.ARRPOP k $.a', 'd json.arrpop k'],
    ['JSON.ARRTRIM k $.a 0 0', 'd json.arrtrim k'],
  ])('%s publishes "%s"', (line, event) => {
    expect(eventsOf([document], line)).toEqual([event])
  })

  it.each([
    'JSON.GET k',
    'JSON.SET k $.n 1 NX',
    'JSON.SET k $.x.y 1',
    'JSON.MERGE k $.x.y 1',
    'JSON.DEL k $.x',
    'JSON.CLEAR k $.s',
    'JSON.NUMINCRBY k $.s 1',
    'JSON.TOGGLE k $.x',
    'JSON.ARRAPPEND k $.s 1',
    'JSON.ARRAPPEND k s 1',
    'JSON.STRLEN k $.s',
    'JSON.MSET k $.x.y 1',
  ])('%s publishes nothing', (line) => {
    expect(eventsOf([document], line)).toEqual([])
  })
})

describe('random JSON commands', () => {
  const value = fc.oneof(
    fc.json({ maxDepth: 2, stringUnit: fc.constantFrom('a', 'b', '"', '\\', 'é', '\n') }),
    fc.constantFrom('[1,[2],{"a":3}]', '{"a":{"b":[1.5]}}', '"x"', '{', '1e308'),
  )
  const path = fc.constantFrom(
    '$',
    '.',
    '$.a',
    'a',
    '$..a',
    '$..*',
    '$[*]',
    '$[0]',
    '[-1]',
    '$.a[1:]',
    '$..[?(@>1)]',
    '$.b',
    'a.b',
    '$..[0,0]',
    '$.*.new',
    '$.new',
  )
  const integer = fc.integer({ min: -4, max: 4 }).map(String)
  const command = fc.oneof(
    fc.tuple(
      fc.constantFrom('SET', 'MERGE', 'ARRAPPEND', 'STRAPPEND', 'ARRINDEX', 'NUMINCRBY', 'NUMMULTBY'),
      path,
      value,
    ),
    fc.tuple(
      fc.constantFrom(
        'GET',
        'DEL',
        'CLEAR',
        'TYPE',
        'TOGGLE',
        'STRLEN',
        'ARRLEN',
        'ARRPOP',
        'OBJKEYS',
        'OBJLEN',
        'RESP',
        'FORGET',
      ),
      path,
    ),
    fc.tuple(fc.constant('ARRINSERT'), path, integer, value),
    fc.tuple(fc.constant('ARRTRIM'), path, integer, integer),
    fc.tuple(fc.constant('ARRPOP'), path, integer),
    fc.tuple(fc.constantFrom('NUMINCRBY', 'NUMMULTBY'), path, integer),
  )

  it('return a reply or an error, and leave a document that can be parsed from its text', () => {
    fc.assert(
      fc.property(value, fc.array(command, { minLength: 1, maxLength: 12 }), (document, commands) => {
        const store = createStore()
        reply(store, ['JSON.SET', 'k', '$', document])
        for (const [name, ...rest] of commands) {
          const before = reply(store, ['JSON.GET', 'k'])
          const answer = reply(store, [`JSON.${name}`, 'k', ...rest])
          const after = reply(store, ['JSON.GET', 'k'])
          // An error changes nothing.
          if (typeof answer === 'object' && answer !== null && 'error' in answer) expect(after).toEqual(before)
          if (after === null) continue
          expect(() => JSON.parse(String(after))).not.toThrow()
          reply(store, ['JSON.SET', 'copy', '$', String(after)])
          expect(reply(store, ['JSON.GET', 'copy'])).toBe(after)
        }
      }),
      { numRuns: runs(1500, 1500, 15_000) },
    )
  })

  it('change arrays as JavaScript does', () => {
    const change = fc.oneof(
      fc.tuple(fc.constant('ARRAPPEND'), integer),
      fc.tuple(fc.constant('ARRPOP'), integer),
      fc.tuple(fc.constant('ARRINSERT'), integer, integer),
      fc.tuple(fc.constant('ARRTRIM'), integer, integer),
      fc.tuple(fc.constant('DEL'), integer),
    )
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        const store = createStore()
        let model: number[] = [1, 2, 3]
        reply(store, ['JSON.SET', 'k', '$', '[1,2,3]'])
        for (const [name, first, second] of changes) {
          model = changed(model, name, Number(first), Number(second))
          const target = name === 'DEL' ? [`$[${first}]`] : ['$', first, ...(second === undefined ? [] : [second])]
          reply(store, [`JSON.${name}`, 'k', ...(target as string[])])
          expect(reply(store, ['JSON.GET', 'k'])).toBe(JSON.stringify(model))
        }
      }),
      { numRuns: runs(500, 500, 5000) },
    )
  })
})

/** Makes the same change with JavaScript arrays. */
function changed(array: readonly number[], name: string, first: number, second: number): number[] {
  const at = first < 0 ? first + array.length : first
  if (name === 'ARRAPPEND') return [...array, first]
  if (name === 'ARRPOP') return array.filter((_, index) => index !== Math.max(0, Math.min(at, array.length - 1)))
  if (name === 'ARRINSERT') return at < 0 || at > array.length ? [...array] : array.toSpliced(at, 0, second)
  if (name === 'DEL') return array.filter((_, index) => index !== at)
  const last = second < 0 ? second + array.length : second
  return array.filter((_, index) => index >= at && index <= last)
}
