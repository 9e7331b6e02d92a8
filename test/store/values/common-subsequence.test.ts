import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commonRanges, lengthOfCommon } from '../../../src/store/values/common-subsequence.js'
import { runs } from '../../support/effort.js'

/** Table of the textbook algorithm: the common length of all prefixes. */
function textbook(a: Uint8Array, b: Uint8Array): number {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      table[i]![j] = a[i - 1] === b[j - 1] ? table[i - 1]![j - 1]! + 1 : Math.max(table[i - 1]![j]!, table[i]![j - 1]!)
    }
  }
  return table[a.length]![b.length]!
}

const letters = (max: number) => fc.uint8Array({ max, maxLength: 200, size: 'max' })
const pair = fc.constantFrom(0, 1, 3, 255).chain((max) => fc.tuple(letters(max), letters(max)))

describe('longest common subsequence', () => {
  it('has the length of the textbook algorithm for both orders of the strings', () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        expect(lengthOfCommon(a, b)).toBe(textbook(a, b))
        expect(lengthOfCommon(b, a)).toBe(textbook(a, b))
      }),
      { numRuns: runs(300, 300, 3000) },
    )
  })

  it('is part of both strings, in maximal ranges from last to first', () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const ranges = commonRanges(a, b)
        let [endA, endB] = [a.length, b.length]
        let isFirst = true
        for (const {
          a: [fromA, toA],
          b: [fromB, toB],
          length,
        } of ranges) {
          expect([toA - fromA + 1, toB - fromB + 1]).toEqual([length, length])
          expect(length).toBeGreaterThan(0)
          expect(toA < endA && toB < endB).toBe(true)
          if (!isFirst) expect(toA === endA - 1 && toB === endB - 1).toBe(false)
          expect(a.subarray(fromA, toA + 1)).toEqual(b.subarray(fromB, toB + 1))
          ;[endA, endB, isFirst] = [fromA, fromB, false]
        }
        expect(ranges.reduce((sum, { length }) => sum + length, 0)).toBe(textbook(a, b))
      }),
      { numRuns: runs(300, 300, 3000) },
    )
  })
})
