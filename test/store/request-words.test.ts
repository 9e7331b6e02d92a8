import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromArray, latin1, utf8 } from '../../src/kernel/bytes.js'
import { argvOfJson, rowsOfJson } from '../../src/store/rest/request.js'

// Arguments in JSON bodies, compared with the definition: an escape is the UTF-8 of its character, everything else is
// unchanged.

const plain = fc.string({ minLength: 1, maxLength: 5 }).filter((text) => !/["\\\x00-\x1f]/.test(text))
const piece = fc.oneof(
  plain.map((text) => ({ written: utf8(text), meant: utf8(text) })),
  fc.constantFrom('ä', '€', '😀').map((text) => ({ written: utf8(text), meant: utf8(text) })),
  fc.constantFrom('\x01', 'ä', '€', '😀', '"').map((text) => ({ written: latin1(escaped(text)), meant: utf8(text) })),
  fc.constantFrom('n', 't', '"', '\\', '/').map((sign) => ({
    written: latin1(`\\${sign}`),
    meant: latin1(({ n: '\n', t: '\t' } as Record<string, string>)[sign] ?? sign),
  })),
  // Not valid UTF-8: a byte that cannot occur alone.
  fc.constantFrom(0xff, 0xc3, 0x80).map((byte) => {
    const bytes = fromArray(new Uint8Array([byte]))
    return { written: bytes, meant: bytes }
  }),
)
const word = fc.array(piece, { maxLength: 8 }).map((pieces) => ({
  written: `"${pieces.map(({ written }) => written).join('')}"`,
  meant: pieces.map(({ meant }) => meant).join(''),
}))
const row = fc.array(word, { minLength: 1, maxLength: 6 })
const gap = fc.constantFrom('', ' ', '\n  ')

function escaped(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

test('reads the characters and escapes of an argument at every position', () => {
  fc.assert(
    fc.property(row, gap, (words, space) => {
      const body = latin1(`[${words.map(({ written }) => space + written).join(`${space},`)}${space}]`)
      const meant = words.map(({ meant }) => meant)
      expect(argvOfJson(body)).toEqual(meant)
      expect(rowsOfJson(latin1(`[${body},${body}]`))).toEqual([meant, meant])
    }),
  )
})

test.each(['["a\x01"]', '["\\x"]', '["\\u12"]', '["a', '["a\\"]', '["a" "b"]'])('rejects invalid JSON: %j', (body) => {
  expect(() => argvOfJson(latin1(body))).toThrow(/ERR/)
})
