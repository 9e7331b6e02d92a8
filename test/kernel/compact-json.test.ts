import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compactJson } from '../../src/kernel/compact-json.js'
import { runs } from '../support/effort.js'

test('compactJson() returns what JSON.stringify() returns', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 3 }), (value, kind) => {
      // The value is nested deeper than the stack allows.
      const levels = 20_000
      const [open, close] = [
        ['[', ']'],
        ['{"a":', '}'],
        ['[1,', ',2]'],
        ['{"é":[],"b":', '}'],
      ][kind]!
      const text = open!.repeat(levels) + JSON.stringify(value) + close!.repeat(levels)
      expect(compactJson(JSON.parse(text)) === text).toBe(true)
      expect(compactJson(value)).toBe(JSON.stringify(value))
    }),
    { numRuns: runs(12, 12, 120) },
  )
})
