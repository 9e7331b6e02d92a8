import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromArray, toHex } from '../../src/kernel/bytes.js'
import { GrowingHash, hmacSha256, sha1Hex, sha256Bytes } from '../../src/kernel/digest.js'

const input = fc.uint8Array({ maxLength: 300 })

test('digests are those of node:crypto', () => {
  fc.assert(
    fc.property(input, (array) => {
      const bytes = fromArray(array)
      expect(sha1Hex(bytes)).toBe(createHash('sha1').update(array).digest('hex'))
      expect(toHex(sha256Bytes(bytes))).toBe(createHash('sha256').update(array).digest('hex'))
    }),
  )
})

test('what grows has the digest of all that is there', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(input, input)), (parts) => {
      const growing = new GrowingHash()
      const sofar = createHash('sha256')
      for (const [part, end] of parts) {
        growing.add(fromArray(part))
        sofar.update(part)
        expect(toHex(growing.endingIn(fromArray(end)))).toBe(sofar.copy().update(end).digest('hex'))
      }
    }),
  )
})

test('message authentication codes are those of node:crypto, for keys of any length', () => {
  fc.assert(
    fc.property(input, input, (key, message) => {
      const expected = createHmac('sha256', key).update(message).digest('hex')
      expect(toHex(hmacSha256(fromArray(key), fromArray(message)))).toBe(expected)
    }),
  )
})
