import fc from 'fast-check'
import { expect, test } from 'vitest'
import { entryWith, placeAfter } from '../../src/kernel/entry-places.js'
import type { Entry } from '../../src/kernel/traffic-log.js'
import { runs } from '../support/effort.js'

test('an entry is found by its number in any sorted selection of a log', () => {
  const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 40 })
  fc.assert(
    fc.property(numbers, fc.integer({ min: -1, max: 62 }), (given, seq) => {
      const entries = given.sort((one, other) => one - other).map((number) => ({ seq: number }) as Entry)
      const plain = entries.findIndex((entry) => entry.seq > seq)
      expect(placeAfter(entries, seq)).toBe(plain === -1 ? entries.length : plain)
      expect(entryWith(entries, seq)).toBe(entries.find((entry) => entry.seq === seq))
    }),
    { numRuns: runs(300, 1000, 10_000) },
  )
})
