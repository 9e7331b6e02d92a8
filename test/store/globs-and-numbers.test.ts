import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Bytes } from '../../src/kernel/bytes.js'
import { globMatcher } from '../../src/kernel/glob.js'
import {
  clampRange,
  formatCoordinate,
  formatDecimal,
  formatDistance,
  formatScore,
  parseDouble,
  parseInt64,
  parseLexRange,
  parseScoreRange,
} from '../../src/store/command/text.js'

const bytes = (text: string) => text as Bytes

/** Replies of redis-server 7.0.15 to SSCAN … MATCH for these members. */
const members = ['', 'a', 'ab', '[', 'a]b', '^', 'x-z']
const globs: [pattern: string, matches: string[]][] = [
  ['*', members],
  ['**', ['a', 'ab', '[', 'a]b', '^', 'x-z']],
  ['***a', ['a']],
  ['[', []],
  ['[^', ['a', '[', '^']],
  ['[]', []],
  ['[^]', ['a', '[', '^']],
  ['[a', ['a']],
  ['[a-', ['a']],
  ['[a-]', ['a', '^']],
  ['\\', []],
  ['a\\', []],
  ['[\\]', []],
  ['[z-a]', ['a']],
  ['?', ['a', '[', '^']],
  ['??', ['ab']],
  ['a*', ['a', 'ab', 'a]b']],
  ['*b', ['ab', 'a]b']],
  ['[x]*', ['x-z']],
  ['x[a--]z', ['x-z']],
  ['[a\\-z]', ['a']],
  ['a\\]b', ['a]b']],
  ['', ['']],
]

describe('globMatcher()', () => {
  it.each(globs)('matches %s as redis-server does', (pattern, expected) => {
    const matches = globMatcher(bytes(pattern))
    expect(members.filter((member) => matches(bytes(member))).sort()).toEqual(expected.toSorted())
  })

  it('agrees with an equivalent regular expression', () => {
    const part = fc.constantFrom('*', '?', 'a', 'b', '[ab]', '[^a]', '\\*')
    const toRegExp: Record<string, string> = { '*': '[^]*', '?': '[^]', '[^a]': '[^a]', '\\*': '\\*' }
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }),
        fc.string({ unit: fc.constantFrom('a', 'b', '*'), minLength: 1 }),
        (parts, text) => {
          const expected = new RegExp(`^${parts.map((each) => toRegExp[each] ?? each).join('')}$`).test(text)
          expect(globMatcher(bytes(parts.join('')))(bytes(text))).toBe(expected)
        },
      ),
    )
  })

  it('ends quickly for a pattern with many runs', () => {
    expect(globMatcher(bytes(`${'*a'.repeat(2000)}b`))(bytes('a'.repeat(20_000)))).toBe(false)
  })
})

describe('parseInt64()', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    ['-1', -1],
    ['999999999999999', 999_999_999_999_999],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['-9007199254740991', Number.MIN_SAFE_INTEGER],
    ['9007199254740992', 2n ** 53n],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
  ])('parses %s', (text, value) => {
    expect(parseInt64(bytes(text))).toBe(value)
  })

  it.each([
    '',
    '-',
    '+1',
    '-0',
    '00',
    '01',
    ' 1',
    '1 ',
    '1.0',
    '1e3',
    '0x10',
    '1\0',
    '9223372036854775808',
    '-9223372036854775809',
    '1'.repeat(21),
  ])('rejects %j', (text) => {
    expect(parseInt64(bytes(text))).toBeUndefined()
  })

  it('parses every formatted 64-bit integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const parsed = parseInt64(bytes(String(value)))
        expect(BigInt(parsed!)).toBe(value)
        expect(typeof parsed).toBe(Number.isSafeInteger(Number(value)) ? 'number' : 'bigint')
      }),
    )
  })
})

describe('parseDouble() and formatting', () => {
  // ZADD of redis-server 7.0.15 accepts or rejects these.
  it.each([
    ['1', 1],
    ['+5', 5],
    ['.5', 0.5],
    ['5.', 5],
    ['1e5', 1e5],
    ['-0', 0],
    ['5e-324', 5e-324],
    ['0x10', 16],
    ['0x1p3', 8],
    ['0x1.8p1', 3],
    ['0x.8', 0.5],
    ['-0x8.', -8],
    ['inf', Infinity],
    ['+INF', Infinity],
    ['-Infinity', -Infinity],
    ['123456789012345678901234567890', 1.2345678901234568e29],
    ['0e999', 0],
  ])('parses %s', (text, value) => {
    expect(parseDouble(bytes(text))! + 0).toBe(value)
  })

  it.each([
    '',
    ' 1',
    '1 ',
    'nan',
    '1e400',
    '-1e400',
    '1e-400',
    '0x',
    '0x1p',
    '.',
    '+',
    '1e',
    '1_0',
    '1d',
    'infinit',
    '1\0',
    '0b1',
    '0o7',
    '0x1p99999',
    '0x1p-99999',
  ])('rejects %j', (text) => {
    expect(parseDouble(bytes(text))).toBeUndefined()
  })

  it('formats scores in their shortest form', () => {
    expect([0.1, 1, -0, 1e21, Infinity, -Infinity, 4.9e-324].map(formatScore)).toEqual([
      '0.1',
      '1',
      '0',
      '1e+21',
      'inf',
      '-inf',
      '5e-324',
    ])
  })

  it.each([
    [3000, '3000'],
    [10.6, '10.6'],
    [5.2e3, '5200'],
    [1e21, '1000000000000000000000'],
    [-1.5e22, '-15000000000000000000000'],
    [1e-7, '0.0000001'],
    [-1.25e-7, '-0.000000125'],
    [1e-17, '0.00000000000000001'],
    [1e-18, '0'],
    [-1e-18, '0'],
    [0.1 + 0.2, '0.30000000000000004'],
    [1.25e-5 / 7, '0.00000178571428571'],
    [-0, '0'],
  ])('formats the sum %d without exponent', (value, text) => {
    expect(formatDecimal(value)).toBe(text)
  })

  it('formats sums that parse to the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = formatDecimal(value)
        expect(text).toMatch(/^-?\d+(\.\d*[1-9])?$/)
        if (Math.abs(value) >= 1 || value === 0) expect(Number(text)).toBe(value + 0)
        // Half a unit of the 17th decimal, plus the rounding of parsing it.
        else expect(Math.abs(Number(text) - value)).toBeLessThan(5.1e-18 + 2 ** -54)
      }),
    )
  })

  it('rounds exact halves to the even digit, as C does', () => {
    // printf("%.4f") of 1/32 and 3/32, printf("%.17f") of 2^-18 and 3 * 2^-18
    expect([1 / 32, 3 / 32, -3 / 32, 166274.1516].map(formatDistance)).toEqual([
      '0.0312',
      '0.0938',
      '-0.0938',
      '166274.1516',
    ])
    expect([2 ** -18, 3 * 2 ** -18, 180, -0].map(formatCoordinate)).toEqual([
      '0.00000381469726562',
      '0.00001144409179688',
      '180',
      '0',
    ])
  })
})

describe('parseScoreRange()', () => {
  // ZCOUNT of redis-server 7.0.15 accepts or rejects these bounds.
  it.each([
    ['1', 1, false],
    ['(1', 1, true],
    ['-inf', -Infinity, false],
    ['(+inf', Infinity, true],
    ['', 0, false],
    ['(', 0, true],
    [' 1', 1, false],
    ['( 2', 2, true],
    ['\n2', 2, false],
    ['1e400', Infinity, false],
    ['0x2', 2, false],
    ['1\0zz', 1, false],
  ])('parses %j', (bound, value, exclusive) => {
    expect(parseScoreRange(bytes(bound), bytes('0'))).toEqual({
      min: value,
      minExclusive: exclusive,
      max: 0,
      maxExclusive: false,
    })
    expect(parseScoreRange(bytes('0'), bytes(bound))).toEqual({
      min: 0,
      minExclusive: false,
      max: value,
      maxExclusive: exclusive,
    })
  })

  it.each(['((1', '1 ', 'nan', '-', '+', ' ', '( ', '0x', '1e', '[1', 'a'])('rejects %j', (bound) => {
    expect(parseScoreRange(bytes(bound), bytes('0'))).toBeUndefined()
    expect(parseScoreRange(bytes('0'), bytes(bound))).toBeUndefined()
  })
})

describe('parseLexRange()', () => {
  it('parses both kinds of bounds', () => {
    expect(parseLexRange(bytes('-'), bytes('+'))).toEqual({ min: '-', max: '+' })
    expect(parseLexRange(bytes('[a'), bytes('('))).toEqual({
      min: { member: 'a', exclusive: false },
      max: { member: '', exclusive: true },
    })
    expect(parseLexRange(bytes('-\0zz'), bytes('+\0'))).toEqual({ min: '-', max: '+' })
  })

  it.each(['', 'a', '1', '--', '+a', ' ['])('rejects %j', (bound) => {
    expect(parseLexRange(bytes(bound), bytes('+'))).toBeUndefined()
    expect(parseLexRange(bytes('-'), bytes(bound))).toBeUndefined()
  })
})

describe('clampRange()', () => {
  it('selects what inclusive indexes as in Python select', () => {
    const index = fc.integer({ min: -12, max: 12 })
    fc.assert(
      fc.property(index, index, fc.nat(8), (start, stop, length) => {
        const items = Array.from({ length }, (_, at) => at)
        const low = start < 0 ? Math.max(0, length + start) : start
        const high = stop < 0 ? length + stop : stop
        const { from, to } = clampRange(start, stop, length)
        expect(items.slice(from, to)).toEqual(items.filter((at) => at >= low && at <= high))
      }),
    )
  })

  it('accepts 64-bit integers', () => {
    expect(clampRange(-(2n ** 63n), 2n ** 63n - 1n, 5)).toEqual({ from: 0, to: 5 })
    expect(clampRange(0, -(2n ** 63n), 5)).toEqual({ from: 0, to: 0 })
  })
})
