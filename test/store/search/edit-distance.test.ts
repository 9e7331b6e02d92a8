import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Work } from '../../../src/kernel/work.js'
import { distanceTo } from '../../../src/store/search/edit-distance.js'
import { running, searchingSandbox } from './searching.js'

/**
 * Returns the distance by its definition without shortcuts: the cheapest edits between two words, each two neighbors
 * swapped at most once.
 */
function editsBetween(one: string, other: string, swapCost: number): number {
  const rows = Array.from({ length: one.length + 1 }, (_, a) =>
    Array.from({ length: other.length + 1 }, (_, b) => a + b),
  )
  for (let a = 1; a <= one.length; a++) {
    for (let b = 1; b <= other.length; b++) {
      const isSame = one[a - 1] === other[b - 1]
      const isSwap = a > 1 && b > 1 && one[a - 1] === other[b - 2] && one[a - 2] === other[b - 1]
      rows[a]![b] = Math.min(
        rows[a - 1]![b]! + 1,
        rows[a]![b - 1]! + 1,
        rows[a - 1]![b - 1]! + (isSame ? 0 : 1),
        isSwap ? rows[a - 2]![b - 2]! + swapCost : Number.POSITIVE_INFINITY,
      )
    }
  }
  return rows[one.length]![other.length]!
}

const free = new Work(Number.POSITIVE_INFINITY, () => new Error())

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 })

test('distanceTo() agrees with the definition for a sequence of words', () => {
  fc.assert(
    fc.property(
      word.filter(({ length }) => length > 0),
      fc.array(word, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(0, 1, 2),
      fc.constantFrom(1 as const, 2 as const),
      (term, others, distance, swapCost) => {
        const isNear = distanceTo({ term, distance, swapCost, isPrefix: false }, free)
        const begins = distanceTo({ term, distance, swapCost, isPrefix: true }, free)
        for (const other of others.filter(({ length }) => length > 0)) {
          expect(isNear(other)).toBe(editsBetween(term, other, swapCost) <= distance)
          const beginnings = Array.from({ length: other.length + 1 }, (_, end) => other.slice(0, end))
          expect(begins(other)).toBe(beginnings.some((one) => editsBetween(term, one, swapCost) <= distance))
        }
      },
    ),
  )
})

test('distanceTo() compares a word of half a megabyte in time proportional to its length', async () => {
  const run = running(await searchingSandbox())
  const long = 'a'.repeat(500_000)
  run('SEARCH.CREATE words ON HASH PREFIX 1 w: SCHEMA text TEXT')
  run('HSET w:1 text', `${long}b`)
  expect(run('SEARCH.COUNT words', JSON.stringify({ text: long }))).toBe(1)
  expect(run('SEARCH.COUNT words', JSON.stringify({ text: { $fuzzy: `${long}c` } }))).toBe(1)
  expect(run('SEARCH.COUNT words', JSON.stringify({ text: { $fuzzy: { value: `c${long}`, prefix: true } } }))).toBe(1)
  expect(run('SEARCH.COUNT words', JSON.stringify({ text: { $fuzzy: { value: `${long}aa`, distance: 2 } } }))).toBe(1)
})
