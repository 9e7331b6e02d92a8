import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromArray, toHex } from '../../src/kernel/bytes.js'
import { GrowingHash, hmacSha256, sha1Hex, sha256Bytes } from '../../src/kernel/digest.js'

const input = fc.uint8Array({ maxLength: 300 })

test('digests equal those of node:crypto', () => {
  fc.assert(
    fc.property(input, (array) => {
      const bytes = fromArray(array)
      expect(sha1Hex(bytes)).toBe(createHash('sha1').update(array).digest('hex'))
      expect(toHex(sha256Bytes(bytes))).toBe(createHash('sha256').update(array).digest('hex'))
    }),
  )
})

test('GrowingHash returns the digest of all bytes, and of a prefix', () => {
  const bytes = fromArray(Uint8Array.from({ length: 300_000 }, (_, at) => at % 251))
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat({ max: bytes.length }), input)), (asked) => {
      const growing = new GrowingHash()
      for (const [length, end] of asked) {
        const expected = createHash('sha256').update(bytes.slice(0, length), 'latin1').update(end).digest('hex')
        expect(toHex(growing.of(bytes, length, fromArray(end)))).toBe(expected)
      }
    }),
    {
      numRuns: 20,
      examples: [
        [
          [
            [131_072, new Uint8Array()],
            [65_536, new Uint8Array()],
            [65_535, new Uint8Array()],
          ],
        ],
      ],
    },
  )
})

test('message authentication codes equal those of node:crypto, for keys of any length', () => {
  fc.assert(
    fc.property(input, input, (key, message) => {
      const expected = createHmac('sha256', key).update(message).digest('hex')
      expect(toHex(hmacSha256(fromArray(key), fromArray(message)))).toBe(expected)
    }),
  )
})
