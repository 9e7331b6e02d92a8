import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { distanceOf, rank, testOf } from '../../matchers/near-misses.js'
import {
  bodyField,
  headersField,
  numberField,
  type PatternFields,
  spanField,
  textField,
  urlField,
} from '../../matchers/pattern-fields.js'
import { differingLines, diffLines } from '../../matchers/text-diff.js'
import { utf8 } from '../../src/kernel/bytes.js'
import { runs, seedOr } from '../support/effort.js'

interface Thing {
  readonly to: string
  readonly retries: number
  readonly delay: number
  readonly tag: string
  readonly body: string
}

const fields: PatternFields<Thing> = {
  to: urlField(({ to }) => to),
  retries: numberField(({ retries }) => retries),
  delay: spanField(({ delay }) => delay),
  tag: textField(({ tag }) => tag),
  headers: headersField(({ tag }) => [['X-Tag', tag]]),
  body: bodyField(({ body }) => utf8(body)),
}

const word = fc.constantFrom('a', 'ab', 'abc', 'b/1', 'b/2', '\ufffd', 'é')
const thing: fc.Arbitrary<Thing> = fc.record({
  to: fc.oneof(word, fc.webUrl()),
  retries: fc.integer({ min: 0, max: 5 }),
  delay: fc.constantFrom(0, 1000, 60_000),
  tag: word,
  body: fc.oneof(word, fc.json({ maxDepth: 2 }), fc.constant('{"id":1}')),
})
const pattern = fc.record(
  {
    to: fc.oneof(word, fc.constantFrom('*', 'b/*', '*1', 'http*')),
    retries: fc.integer({ min: 0, max: 5 }),
    delay: fc.constantFrom('1s', '1m', 0, 1000),
    tag: fc.oneof(word, fc.constant(/a/g)),
    headers: fc.record({ 'x-tag': word }),
    body: fc.oneof(word, fc.constantFrom({ id: 1 }, { id: 2 }, [], /a/y)),
  },
  { requiredKeys: [] },
)

describe('test of fields', () => {
  test('fits exactly if nothing differs', () => {
    fc.assert(
      fc.property(thing, pattern, (one, wanted) => {
        const { fits, compare } = testOf(fields, wanted)
        const misses = compare(one).filter(({ differences }) => differences.length > 0)
        expect(fits(one)).toBe(misses.length === 0)
        // A second call returns the same for any flags of a regular expression.
        expect(fits(one)).toBe(misses.length === 0)
      }),
      { numRuns: runs(2000, 2000, 20_000), seed: seedOr(7) },
    )
  })

  test('has the approximate distance 0 for everything that fits', () => {
    fc.assert(
      fc.property(thing, pattern, (one, wanted) => {
        const { fits, rough } = testOf(fields, wanted)
        if (fits(one)) expect(rough(one)).toBe(0)
      }),
      { seed: 7 },
    )
  })

  test('finds all matches, and the same nearest candidate as a full comparison', () => {
    fc.assert(
      fc.property(fc.array(thing, { maxLength: 40 }), pattern, (things, wanted) => {
        const given = testOf(fields, wanted)
        const { found, missed, nearest } = rank(things, given)
        expect(found).toEqual(things.filter(given.fits))
        expect(missed).toBe(things.length - found.length)
        const all = things.filter((one) => !given.fits(one)).map((one) => distanceOf(given.compare(one)))
        const best = Math.min(...all)
        expect(nearest).toHaveLength(Math.min(3, missed))
        if (missed > 0) expect(distanceOf(nearest[0]!.compared)).toBeCloseTo(best, 10)
      }),
      { numRuns: runs(500, 500, 5000), seed: seedOr(7) },
    )
  })

  test.each([
    ['one wrong field', { to: 'b/1', tag: 'x' }, { to: 'b/9', tag: 'y' }],
    ['a nearer number', { to: 'b/1', retries: 4 }, { to: 'b/1', retries: 50 }],
    ['the right address', { to: 'b/1', retries: 50 }, { to: 'elsewhere', retries: 5 }],
    ['a span that is nearly as long', { to: 'b/1', delay: 59_000 }, { to: 'b/1', delay: 1000 }],
    ['a body with one wrong field', { to: 'b/1', body: '{"id":1,"n":2}' }, { to: 'b/1', body: '{"id":2,"n":3}' }],
  ])('ranks %s as nearer', (_, near, far) => {
    const base = { to: 'b/1', retries: 5, delay: 60_000, tag: 'y', body: '{"id":1,"n":1}' }
    const wanted = { to: 'b/1', retries: 5, delay: '1m', tag: 'y', body: { id: 1, n: 1 } }
    const given = testOf(fields, wanted)
    const [first, second] = [
      { ...base, ...far },
      { ...base, ...near },
    ]
    expect(rank([first, second], given).nearest.map(({ thing: one }) => one)).toEqual([second, first])
  })
})

describe('diff of lines', () => {
  test('converts one text into the other', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
    fc.assert(
      fc.property(text, text, (wanted, found) => {
        const lines = diffLines(wanted, found)
        expect(lines.filter(([mark]) => mark !== '+').map(([, line]) => line)).toEqual(wanted)
        expect(lines.filter(([mark]) => mark !== '-').map(([, line]) => line)).toEqual(found)
      }),
      { seed: 7 },
    )
  })

  test('has the minimum number of lines', () => {
    const changed = diffLines(['a', 'b', 'c', 'd'], ['a', 'x', 'c', 'd', 'e']).filter(([mark]) => mark !== ' ')
    expect(changed).toEqual([
      ['-', 'b'],
      ['+', 'x'],
      ['+', 'e'],
    ])
  })

  test('shows the lines around a difference', () => {
    const wanted = Array.from({ length: 20 }, (_, index) => `line ${index}`)
    const found = wanted.with(10, 'another')
    expect(differingLines(wanted.join('\n'), found.join('\n'))).toEqual([
      '  …',
      '  line 8',
      '  line 9',
      '- line 10',
      '+ another',
      '  line 11',
      '  line 12',
      '  …',
    ])
  })

  test('compares lists item by item', () => {
    const item = (id: number): object => ({ id, name: `the item with the number ${id}` })
    expect(differingLines([item(1), item(2), item(3)], [item(1), item(3)])).toEqual([
      '  [',
      "    { id: 1, name: 'the item with the number 1' }",
      "-   { id: 2, name: 'the item with the number 2' }",
      "    { id: 3, name: 'the item with the number 3' }",
      '  ]',
    ])
  })

  test('shows the first difference of a long line', () => {
    const line = 'x'.repeat(300)
    expect(differingLines(`${line}abc${line}`, `${line}abd${line}`)).toEqual([
      '  at character 302, of 603 expected and 603 received characters:',
      `- …${'x'.repeat(18)}abc${'x'.repeat(39)}…`,
      `+ …${'x'.repeat(18)}abd${'x'.repeat(39)}…`,
    ])
  })

  test.each([
    ['short texts', 'a', 'b'],
    ['different kinds', 'a\nb', 42],
    ['nothing in common', 'a\nb', 'c\nd'],
    ['nothing that differs', 'a\nb', 'a\nb'],
  ])('is missing for %s', (_, wanted, found) => {
    expect(differingLines(wanted, found)).toBeUndefined()
  })
})
