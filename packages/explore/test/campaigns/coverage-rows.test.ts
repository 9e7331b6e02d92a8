import { array, assert, constantFrom, dictionary, integer, property, record, shuffledSubarray } from 'fast-check'
import { expect, test } from 'vitest'
import { amountOf, type CoverageRow, united } from '../../src/campaign/coverage-rows.js'

const faults = ['status', 'hang', 'delay', 'reset']
const part = array(
  record({
    state: constantFrom('new', 'paid'),
    point: constantFrom('first', 'second'),
    seen: integer({ min: 1, max: 9 }),
    moment: integer({ min: 0, max: 3 }),
    could: shuffledSubarray(faults),
    struck: dictionary(constantFrom(...faults), integer({ min: 1, max: 9 })),
  }),
  { maxLength: 4 },
)
const partsInAnyOrder = array(part, { maxLength: 6 }).chain((parts) =>
  record({
    parts: shuffledSubarray([...parts.keys()], { minLength: parts.length }).map((order) => ({ parts, order })),
    cuts: array(integer({ min: 0, max: parts.length }), { maxLength: 3 }),
  }),
)

/**
 * A run belongs to one part, and each place has one first injection point in it. Blocks of an exploration always
 * satisfy this.
 */
function possible(parts: readonly (readonly CoverageRow[])[]): readonly (readonly CoverageRow[])[] {
  return parts.map((rows, at) => rows.map((row, place) => ({ ...row, seen: row.seen + 10 * at, moment: place })))
}

test('united() gives the same rows for any order of the parts, and for parts that were merged before', () => {
  assert(
    property(partsInAnyOrder, ({ parts: { parts: given, order }, cuts }) => {
      const parts = possible(given)
      const whole = JSON.stringify(united(parts))
      const others = order.map((index) => parts[index]!)
      const ends = [0, ...cuts.sort((a, b) => a - b), others.length]
      const groups = ends.slice(1).map((end, at) => united(others.slice(ends[at], end)))
      expect(sameKeys(JSON.stringify(united(groups)))).toBe(sameKeys(whole))
      expect(amountOf(united(groups))).toEqual(amountOf(united(parts)))
    }),
  )
})

/** The order of the faults that were injected is never shown, so it is normalized. */
function sameKeys(text: string): string {
  const rows = JSON.parse(text) as CoverageRow[]
  return JSON.stringify(rows.map((row) => ({ ...row, struck: Object.entries(row.struck).sort() })))
}
