import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { latin1, utf8 } from '../../../src/kernel/bytes.js'
import { BackReferenceError, compilePosixRegex } from '../../../src/store/values/posix-regex.js'
import { PatternError } from '../../../src/store/values/regex.js'
import { runs } from '../../support/effort.js'

const matches = (expression: string, subject: string, ignoreCase = false): boolean =>
  compilePosixRegex(utf8(expression), ignoreCase).test(utf8(subject), () => {})

const reasonOf = (expression: string): string => {
  try {
    compilePosixRegex(utf8(expression), false)
    return 'valid'
  } catch (error) {
    if (error instanceof PatternError) return error.message
    throw error
  }
}

// Expectations: IEEE Std 1003.1, chapter 9 (regular expressions); the escapes are those of the TRE library.
describe('compilePosixRegex()', () => {
  it.each([
    ['foo|bar', 'a bar', true],
    ['foo|bar', 'a baz', false],
    ['^[a-z]+$', 'apricot', true],
    ['^[a-z]+$', 'error: disk', false],
    ['a.c', 'a\nc', true],
    ['^b', 'a\nb', false],
    ['a$', 'a\nb', false],
    ['^(ab)*$', 'ababab', true],
    ['^(ab)*$', 'aba', false],
    ['^a{2}$', 'aa', true],
    ['^a{2}$', 'aaa', false],
    ['^a{2,}$', 'aaaa', true],
    ['^a{,2}$', 'aaa', false],
    ['^a{2,3}b?$', 'aaab', true],
    ['^a{0}$', '', true],
    ['^(a|b){2,4}$', 'abab', true],
    ['^a{255}$', 'a'.repeat(255), true],
    ['^[]a]+$', ']a', true],
    ['^[^]a]+$', 'bc', true],
    ['^[^]a]+$', ']', false],
    ['^[a-]+$', '-a', true],
    ['^[-a]+$', '-a', true],
    ['^[a\\]+$', '\\', true],
    ['^[+--]+$', '+,-', true],
    ['^[[:alpha:]]+$', 'abC', true],
    ['^[[:alpha:]]+$', 'ab1', false],
    ['^[[:digit:][:space:]_]+$', '1 _2\t', true],
    ['^[^[:upper:]]+$', 'abc', true],
    ['^[^[:upper:]]+$', 'aBc', false],
    ['^[[:punct:]]+$', '!~/', true],
    ['^[[:xdigit:]]+$', '09afAF', true],
    ['[[:cntrl:]]', '\x07', true],
    ['^[[:graph:]]+$', 'a b', false],
    ['^[[:print:]]+$', 'a b', true],
    ['^[[:blank:]]+$', ' \t', true],
    ['^[[:lower:][:alnum:]]+$', 'aB1', true],
    ['a)', 'a)', true],
    ['()', 'x', true],
    ['a||b', 'zzz', true],
    ['\\.\\*\\(', '.*(', true],
    ['\\.', 'a', false],
    ['^\\w+\\W\\d\\D\\s\\S$', 'a_1-2x y', true],
    ['\\bcat\\b', 'a cat!', true],
    ['\\bcat\\b', 'concat', false],
    ['\\Bcat', 'concat', true],
    ['\\<on', 'concat on', true],
    ['\\<on', 'concat', false],
    ['at\\>', 'concat', true],
    ['at\\>', 'catch', false],
    ['\\t', 'a\tb', true],
    ['a**', 'b', true],
    ['^(a*)*b$', 'aab', true],
    ['^..$', 'é', true],
    ['é', 'café', true],
  ])('tests %s on %j: %s', (expression, subject, expected) => {
    expect(matches(expression, subject)).toBe(expected)
  })

  it.each([
    ['ERROR', 'error', true],
    ['^[A-C]+$', 'abc', true],
    ['^[^a]$', 'A', false],
    ['^[[:upper:]]+$', 'abc', true],
    ['É', 'é', false],
    ['@', '`', false],
    ['\\W', 'a', false],
  ])('ignores the case of ASCII letters: %s on %j: %s', (expression, subject, expected) => {
    expect(matches(expression, subject, true)).toBe(expected)
  })

  it.each([
    ['(', "Missing ')'"],
    ['a(b', "Missing ')'"],
    ['[', "Missing ']'"],
    ['[]', "Missing ']'"],
    ['[a', "Missing ']'"],
    ['[a-', "Missing ']'"],
    ['[[:alpha', "Missing ']'"],
    ['[b-a]', 'Invalid character range'],
    ['[[:alpha:]-z]', 'Invalid character range'],
    ['[[:nope:]]', 'Unknown character class name'],
    ['[[.a.]]', 'Unknown collating element'],
    ['[[=a=]]', 'Unknown collating element'],
    ['*', 'Invalid use of repetition operators'],
    ['a|*', 'Invalid use of repetition operators'],
    ['(+)', 'Invalid use of repetition operators'],
    ['{1}', 'Invalid use of repetition operators'],
    ['a{', "Missing '}'"],
    ['a{2', "Missing '}'"],
    ['a{}', 'Invalid contents of {}'],
    ['a{,}', 'Invalid contents of {}'],
    ['a{x}', 'Invalid contents of {}'],
    ['a{3,2}', 'Invalid contents of {}'],
    ['a{256}', 'Invalid contents of {}'],
    ['\\', 'Trailing backslash'],
    ['\\x41', 'Unsupported escape \\x'],
    ['((a{255}){255}){255}', 'too large'],
    [`${'('.repeat(101)}${')'.repeat(101)}`, 'Groups are nested deeper than 100'],
    [`a${'*'.repeat(2000)}`, 'Invalid use of repetition operators'],
  ])('rejects %.30s: %s', (expression, reason) => {
    expect(reasonOf(expression)).toBe(reason)
  })

  it.each(['(a)\\1', '\\9', 'a|\\2'])('rejects the back-reference of %s', (expression) => {
    expect(() => compilePosixRegex(latin1(expression), false)).toThrow(BackReferenceError)
  })

  it('agrees with JavaScript where the syntaxes agree', () => {
    const atom = fc.constantFrom('a', 'b', 'c', '[ab]', '[^a]', '[a-c-]', '^', '$', '\\.', '\\w', '\\b')
    const expression = fc.letrec<{ part: string }>((tie) => ({
      part: fc.oneof(
        { maxDepth: 4 },
        atom,
        fc.tuple(tie('part'), tie('part')).map(([a, b]) => a + b),
        fc.tuple(tie('part'), tie('part')).map(([a, b]) => `(${a}|${b})`),
        fc.tuple(tie('part'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}')).map(([a, many]) => `(${a})${many}`),
      ),
    })).part
    const subject = fc.string({ unit: fc.constantFrom('a', 'B', 'b', 'c', ' ', '-', '.'), maxLength: 8 })
    fc.assert(
      fc.property(
        expression,
        fc.boolean(),
        fc.array(subject, { minLength: 1, maxLength: 4 }),
        (source, fold, subjects) => {
          const expected = new RegExp(source, fold ? 'i' : '')
          for (const one of subjects) expect(matches(source, one, fold), one).toBe(expected.test(one))
        },
      ),
      { numRuns: runs(1000, 2000, 20_000) },
    )
  })

  it('needs steps in proportion to the text for expressions that cause exponential back-tracking', () => {
    for (const expression of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(.*)*x', '^((a*)*)*$', '(a?){100}a{100}$']) {
      const cost = (length: number): number => {
        let steps = 0
        compilePosixRegex(latin1(expression), false).test(latin1(`${'a'.repeat(length)}!`), (count) => {
          steps += count
        })
        return steps
      }
      expect(cost(2000), expression).toBeLessThan(2.2 * cost(1000))
    }
  })
})
