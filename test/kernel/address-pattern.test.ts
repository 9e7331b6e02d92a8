import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AddressPattern, normalUrl, wildcard } from '../../src/kernel/address-pattern.js'
import { runs } from '../support/effort.js'

/** Reference implementation: the same pattern as a regular expression, whose engine may backtrack. */
function expression(pattern: string, flags: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, flags)
}

const letters = fc.constantFrom('a', 'b', 'A', '*', '/', '.', '+', '\n', '[', 'ß', 'ſ', 'K', 'é', 'É', 'İ', '\ud83d')
const text = (maxLength: number) => fc.array(letters, { maxLength }).map((chars) => chars.join(''))

describe('wildcard()', () => {
  test('matches what the regular expression matches', () => {
    fc.assert(
      fc.property(text(8), text(12), (pattern, given) => {
        expect(wildcard(pattern)(given)).toBe(expression(pattern, 's').test(given))
        expect(wildcard(pattern, { ignoreCase: true })(given)).toBe(expression(pattern, 'is').test(given))
      }),
      { numRuns: runs(3000, 3000, 30_000) },
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

describe('URL normalization', () => {
  const part = fc.constantFrom(
    'a',
    'B',
    '.',
    '..',
    '/',
    '%2e',
    '%2E',
    '%41',
    '1',
    '?',
    '#',
    "'",
    '(',
    '-',
    ':',
    ' ',
    'é',
  )
  const host = fc.constantFrom(
    'shop.test',
    'Shop.Test',
    '127.1',
    '0x7f.1',
    'a.7',
    'a.0x',
    'shop.test.',
    'shop.test:80',
    '[::1]',
  )
  const tail = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''))

  test('compares URLs as the URL standard does, although most are not parsed', () => {
    fc.assert(
      fc.property(fc.constantFrom('http', 'https', 'HTTP'), host, tail, (scheme, at, path) => {
        const url = `${scheme}://${at}/${path}`
        expect(normalUrl(url)).toBe(URL.canParse(url) ? new URL(url).href : url)
      }),
      { numRuns: runs(3000, 3000, 30_000) },
    )
  })

  test('ignores the case of scheme and host, and with a star of the whole URL', () => {
    expect(new AddressPattern('HTTPS://Shop.Test/Orders').matches('https://shop.test/Orders')).toBe(true)
    expect(new AddressPattern('https://shop.test/Orders').matches('https://shop.test/orders')).toBe(false)
    expect(new AddressPattern('https://shop.test/Orders/*').matches('https://shop.test/orders/1')).toBe(true)
  })
})
