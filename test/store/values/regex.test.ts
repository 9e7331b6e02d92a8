import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileRegex } from '../../../src/store/values/regex.js'
import { runs } from '../../support/effort.js'

const free = () => {}
const matches = (pattern: string, subject: string): boolean | undefined => compileRegex(pattern)?.test(subject, free)

// Expectations: the syntax pages of the Rust and Go regular expression libraries.
describe('compileRegex()', () => {
  it.each([
    ['abc', 'xabcx', true],
    ['^abc$', 'xabcx', false],
    ['a.c', 'a\nc', false],
    ['(?s)a.c', 'a\nc', true],
    ['^b', 'a\nb', false],
    ['(?m)^b$', 'a\nb\nc', true],
    ['(?i)ÉTÉ', 'été', true],
    ['(?i)[a-c]+$', 'ABC', true],
    ['(?i)[^a]', 'A', false],
    ['a(?i)b', 'aB', true],
    ['a(?i)b', 'AB', false],
    ['a(?i:b)c', 'aBC', false],
    ['(?i)a(?-i)b', 'AB', false],
    ['(?x) a b # note', 'ab', true],
    ['(?P<name>a)(?<other>b)(?:c)', 'abc', true],
    ['a|b|', 'zzz', true],
    ['^(a|bc)d$', 'bcd', true],
    ['^a{2,3}$', 'aaaa', false],
    ['^a{2,3}$', 'aaa', true],
    ['^a{2,}?$', 'aaaa', true],
    ['^a{0}$', '', true],
    ['^[]a]+$', ']a', true],
    ['^[^]a]+$', 'bc', true],
    ['^[a\\-z]+$', '-', true],
    ['^[a-]+$', '-', true],
    ['^[\\d.]+$', '1.5', true],
    ['^[[:alpha:]_]+$', 'ab_', true],
    ['^\\p{Lu}\\p{Greek}\\pN$', 'Aβ7', true],
    ['^\\P{Lu}$', 'A', false],
    ['\\bcat\\b', 'a cat!', true],
    ['\\bcat\\b', 'concat', false],
    ['\\Bcat', 'concat', true],
    ['\\Aab\\z', 'ab', true],
    ['^\\x41\\x{1F600}\\u0042$', 'A😀B', true],
    ['^.$', '😀', true],
    ['^\\w+\\s\\W$', 'héé -', true],
    ['\\.\\*\\/', '.*/', true],
    ['^(a*)*$', 'aaab', false],
    ['^(|a)+$', 'aaa', true],
  ])('tests %s on %j: %s', (pattern, subject, expected) => {
    expect(matches(pattern, subject)).toBe(expected)
  })

  it.each([
    '(',
    ')',
    'a)',
    '[',
    '[b-a]',
    '*',
    'a{2',
    'a{3,2}',
    'a{1001}',
    '\\',
    '\\q',
    '(?z)',
    '(?=a)',
    '(?<!a)',
    '(a)\\1',
    '\\p{Nope}',
    '\\x{110000}',
    '((a{500}){500}){500}',
    '(((){1000}){1000}){1000}',
    '('.repeat(1e5),
  ])('rejects %.30s', (pattern) => {
    expect(compileRegex(pattern)).toBeUndefined()
  })

  it('agrees with JavaScript where the syntaxes agree', () => {
    const atom = fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\w', '\\W', '^', '$', '\\b', '\\B')
    const pattern = fc.letrec<{ part: string }>((tie) => ({
      part: fc.oneof(
        { maxDepth: 4 },
        atom,
        fc.tuple(tie('part'), tie('part')).map(([a, b]) => a + b),
        fc.tuple(tie('part'), tie('part')).map(([a, b]) => `(${a}|${b})`),
        fc
          .tuple(tie('part'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '*?'))
          .map(([a, many]) => `(?:${a})${many}`),
      ),
    })).part
    const subject = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '-'), maxLength: 8 })
    fc.assert(
      fc.property(pattern, fc.array(subject, { minLength: 1, maxLength: 4 }), (source, subjects) => {
        for (const one of subjects) expect(matches(source, one), one).toBe(new RegExp(source).test(one))
      }),
      { numRuns: runs(2000, 2000, 20_000) },
    )
  })

  it('needs steps in proportion to the text for patterns that cause exponential back-tracking', () => {
    for (const pattern of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(.*)*x', '^((a*)*)*$']) {
      const cost = (length: number): number => {
        let steps = 0
        compileRegex(pattern)?.test(`${'a'.repeat(length)}!`, (count) => {
          steps += count
        })
        return steps
      }
      expect(cost(2000)).toBeLessThan(2.1 * cost(1000))
    }
  })

  it('rejects very long patterns before they are parsed', () => {
    expect(compileRegex('x'.repeat(20_000_000))).toBeUndefined()
    expect(compileRegex(`[${'x'.repeat(50_000)}]`)?.test('x', free)).toBe(true)
  })
})
