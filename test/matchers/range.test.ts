import { describe, expect, test } from 'vitest'
import { boundsOf, boundsText, within } from '../../matchers/range.js'

describe('a range', () => {
  test.each([
    [2, 'exactly 2', [2], [1, 3]],
    [0, 'exactly 0', [0], [1]],
    ['>=2', 'at least 2', [2, 99], [0, 1]],
    ['> 2', 'at least 3', [3, 99], [2]],
    ['<=2', 'at most 2', [0, 2], [3]],
    ['<2', 'at most 1', [0, 1], [2]],
    ['2..4', '2 to 4', [2, 3, 4], [1, 5]],
    [{ min: 2 }, 'at least 2', [2, 99], [1]],
    [{ max: 2 }, 'at most 2', [0, 2], [3]],
    [{ min: 2, max: 2 }, 'exactly 2', [2], [1, 3]],
  ])('%j is %s', (range, text, inside, outside) => {
    const bounds = boundsOf(range)!
    expect(boundsText(bounds)).toBe(text)
    for (const count of inside) expect(within(count, bounds), String(count)).toBe(true)
    for (const count of outside) expect(within(count, bounds), String(count)).toBe(false)
  })

  test.each([
    1.5,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '2',
    '=2',
    '>=-1',
    '>=1.5',
    '4..2',
    '<0',
    '',
    null,
    undefined,
    {},
    { min: 3, max: 2 },
    { min: '2' },
    { min: 1, most: 2 },
    [],
    true,
  ])('%j is invalid', (range) => {
    expect(boundsOf(range)).toBeUndefined()
  })
})
