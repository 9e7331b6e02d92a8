import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type Bytes,
  fromArray,
  fromBase64,
  isUtf8,
  latin1,
  text,
  toArray,
  toBase64,
  toBase64Url,
  toHex,
  utf8,
} from '../../src/kernel/bytes.js'
import { runs } from '../support/effort.js'

const bytesOf = (...values: number[]): Bytes => fromArray(Uint8Array.from(values))
const anyBytes = fc.uint8Array({ maxLength: 64 })
const anyText = fc.string({ unit: 'binary', maxLength: 40 })

describe('UTF-8', () => {
  test('utf8() returns the bytes that TextEncoder returns', () => {
    fc.assert(
      fc.property(anyText, (given) => {
        expect([...toArray(utf8(given))]).toEqual([...new TextEncoder().encode(given)])
      }),
    )
  })

  test('text() returns the text that TextDecoder returns for valid bytes', () => {
    fc.assert(
      fc.property(anyText, (given) => {
        const encoded = new TextEncoder().encode(given)
        expect(text(fromArray(encoded))).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(encoded))
      }),
    )
  })

  test('replaces a lone surrogate by U+FFFD', () => {
    expect([...toArray(utf8('\ud800'))]).toEqual([0xef, 0xbf, 0xbd])
  })

  test('keeps a byte order mark', () => {
    expect(text(utf8('\ufeffa'))).toBe('\ufeffa')
  })

  test.each([
    ['a lone continuation byte', [0x80], '\ufffd'],
    ['a byte that never occurs', [0xff], '\ufffd'],
    ['a truncated three-byte sequence: one per byte', [0xe2, 0x82], '\ufffd\ufffd'],
    ['a truncated four-byte sequence: one per byte', [0xf0, 0x9f, 0x98], '\ufffd\ufffd\ufffd'],
    ['an overlong form', [0xc0, 0xaf], '\ufffd\ufffd'],
    ['an overlong three-byte form', [0xe0, 0x80, 0xaf], '\ufffd\ufffd\ufffd'],
    ['an encoded surrogate', [0xed, 0xa0, 0x80], '\ufffd\ufffd\ufffd'],
    ['beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80], '\ufffd\ufffd\ufffd\ufffd'],
    ['valid text around an invalid byte', [0x61, 0xc3, 0xa9, 0xff, 0xe2, 0x82, 0xac, 0x62], 'aé\ufffd€b'],
    ['a sequence cut by the next lead byte', [0xe2, 0xc3, 0xa9], '\ufffdé'],
  ])('replaces each invalid byte: %s', (_, bytes, expected) => {
    expect(text(bytesOf(...bytes))).toBe(expected)
    expect(isUtf8(bytesOf(...bytes))).toBe(false)
  })

  test('replaces random invalid bytes one by one, as Go does', () => {
    // Reference implementation: take the longest valid sequence at each position, as TextDecoder sees it.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    const slow = (bytes: Uint8Array): string => {
      let out = ''
      let at = 0
      while (at < bytes.length) {
        const length = [1, 2, 3, 4].find((size) => at + size <= bytes.length && decodes(bytes.subarray(at, at + size)))
        out += length === undefined ? '\ufffd' : decoder.decode(bytes.subarray(at, at + length))
        at += length ?? 1
      }
      return out
    }
    const decodes = (bytes: Uint8Array): boolean => {
      try {
        decoder.decode(bytes)
        return true
      } catch {
        return false
      }
    }
    const mostlyBroken = fc
      .array(fc.constantFrom(0x61, 0x7f, 0x80, 0xbf, 0xc0, 0xc3, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xff), {
        maxLength: 24,
      })
      .map((values) => Uint8Array.from(values))
    fc.assert(
      fc.property(fc.oneof(anyBytes, mostlyBroken), (bytes) => {
        expect(text(fromArray(bytes))).toBe(slow(bytes))
      }),
      { numRuns: runs(500, 500, 5000) },
    )
  })

  test('isUtf8() agrees with a fatal TextDecoder', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        let valid = true
        try {
          new TextDecoder('utf-8', { fatal: true }).decode(bytes)
        } catch {
          valid = false
        }
        expect(isUtf8(fromArray(bytes))).toBe(valid)
      }),
    )
  })
})

describe('arrays', () => {
  test('toArray() and fromArray() keep all bytes', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect([...toArray(fromArray(bytes))]).toEqual([...bytes])
      }),
    )
  })

  test('fromArray() accepts more bytes than a function can have arguments', () => {
    const large = new Uint8Array(300_000).map((_, index) => index % 251)
    const bytes = fromArray(large)
    expect(bytes).toHaveLength(300_000)
    expect(Buffer.from(bytes, 'latin1').equals(large)).toBe(true)
  })

  test('byte strings compare as memcmp does', () => {
    fc.assert(
      fc.property(anyBytes, anyBytes, (a, b) => {
        const [left, right] = [fromArray(a), fromArray(b)]
        expect(left < right ? -1 : left > right ? 1 : 0).toBe(Buffer.compare(a, b))
      }),
    )
  })
})

describe('base64 and hexadecimal', () => {
  test('encode as Buffer does', () => {
    fc.assert(
      fc.property(anyBytes, (array) => {
        const bytes = fromArray(array)
        const buffer = Buffer.from(array)
        expect(toBase64(bytes)).toBe(buffer.toString('base64'))
        expect(toBase64Url(bytes)).toBe(buffer.toString('base64url'))
        expect(toHex(bytes)).toBe(buffer.toString('hex'))
        expect(fromBase64(buffer.toString('base64'))).toBe(bytes)
        expect(fromBase64(buffer.toString('base64url'))).toBe(bytes)
      }),
    )
  })

  test.each(['a', 'ab*=', 'a===', 'é'])('fromBase64() returns undefined for %j', (encoded) => {
    expect(fromBase64(encoded)).toBeUndefined()
  })
})

describe('without Buffer, as in a browser', () => {
  const host = globalThis.Buffer
  afterEach(() => {
    globalThis.Buffer = host
  })

  test('bytes.ts works without Buffer', () => {
    // @ts-expect-error Browsers have none.
    delete globalThis.Buffer
    const results = [
      toBase64(utf8('grüße')),
      text(fromBase64('Z3LDvMOfZQ==')!),
      text(bytesOf(0xff, 0x61)),
      toHex(latin1('\xff')),
    ]
    globalThis.Buffer = host
    expect(results).toEqual(['Z3LDvMOfZQ==', 'grüße', '\ufffda', 'ff'])
  })
})
