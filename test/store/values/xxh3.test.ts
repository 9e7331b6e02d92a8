import { expect, it } from 'vitest'
import { latin1 } from '../../../src/kernel/bytes.js'
import { xxh3Hex } from '../../../src/store/values/xxh3.js'
import recorded from './xxh3.recorded.json' with { type: 'json' }

// Digests of the reference implementation (xxhsum 0.8.1, -H3) for one text of each length, with both sides of each
// limit between the length classes of the algorithm.
it.each(recorded as [length: number, digest: string][])('hashes a text of %i bytes', (length, digest) => {
  const text = Array.from({ length }, (_, at) =>
    String.fromCharCode((at * 131 + length * 7 + (at >> 8) * 13) & 255),
  ).join('')
  expect(xxh3Hex(latin1(text))).toBe(digest)
})

// store.md 7.2
it.each([
  ['', '2d06800538d394c2'],
  ['bar', 'd463c860a032d362'],
  ['Hello world', 'b6acb9d84a38ff74'],
  ['a'.repeat(300), 'c1d17581d8eb7e21'],
])('hashes %j', (text, digest) => {
  expect(xxh3Hex(latin1(text))).toBe(digest)
})
