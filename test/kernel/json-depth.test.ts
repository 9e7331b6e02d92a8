import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isDeeper } from '../../src/kernel/json-depth.js'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

test('isDeeper() returns the depth of any JSON, regardless of its strings', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.integer({ min: 0, max: 9 }), (value, levels) => {
      for (const space of [undefined, 2]) {
        expect(isDeeper(JSON.stringify(value, null, space), levels)).toBe(depthOf(value) > levels)
      }
    }),
  )
  expect(isDeeper(JSON.stringify(['[[["\\', '}', ['"']]), 2)).toBe(false)
})
