import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { wildcard } from '../../src/kernel/wildcard.js'

/** The second way: the same pattern as a regular expression, whose engine may backtrack. */
function expression(pattern: string, flags: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, flags)
}

const letters = fc.constantFrom('a', 'b', 'A', '*', '/', '.', '+', '\n', '[', 'ß', 'ſ', 'K', 'é', 'É', 'İ', '\ud83d')
const text = (maxLength: number) => fc.array(letters, { maxLength }).map((chars) => chars.join(''))

describe('a pattern with stars', () => {
  test('matches what the regular expression matches', () => {
    fc.assert(
      fc.property(text(8), text(12), (pattern, given) => {
        expect(wildcard(pattern)(given)).toBe(expression(pattern, 's').test(given))
        expect(wildcard(pattern, { ignoreCase: true })(given)).toBe(expression(pattern, 'is').test(given))
      }),
      { numRuns: 3_000 },
    )
  })

  test('matches every text that fills its stars', () => {
    fc.assert(
      fc.property(fc.array(text(4), { minLength: 1, maxLength: 6 }), fc.array(text(4)), (parts, fillings) => {
        const filled = parts.map((part, index) => (index === 0 ? part : (fillings[index] ?? '') + part)).join('')
        expect(wildcard(parts.join('*'))(filled)).toBe(true)
      }),
    )
  })

  test('never backtracks', () => {
    const given = `https://shop.test/${'a'.repeat(100_000)}`
    const eight = `https://shop.test/${'*a'.repeat(8)}*b`
    expect(wildcard(eight, { ignoreCase: true })(given)).toBe(false)
    expect(wildcard(`${'*aa'.repeat(10_000)}*`)(given)).toBe(true)
    expect(wildcard(`${'*'.repeat(100_000)}b`)(given)).toBe(false)
  })
})
