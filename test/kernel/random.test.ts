import { describe, expect, test } from 'vitest'
import { utf8 } from '../../src/kernel/bytes.js'
import { base58Id, createRandom, hexId, type Random } from '../../src/kernel/random.js'
import { secretRandom } from '../../src/kernel/secret-random.js'

const keyed = (key: string): Random => secretRandom(utf8(key))

const draws = (random: Random, count: number, below = 1_000): number[] =>
  Array.from({ length: count }, () => random.int(below))

test('the same seed repeats the same draws', () => {
  expect(draws(createRandom(7), 50)).toEqual(draws(createRandom(7), 50))
  expect(draws(createRandom('7'), 50)).toEqual(draws(createRandom(7), 50))
})

test('other seeds, also neighbors, give other draws', () => {
  const firsts = new Set(Array.from({ length: 1_000 }, (_, seed) => draws(createRandom(seed), 4, 1_000_000).join()))
  expect(firsts.size).toBe(1_000)
})

describe.each([
  ['a seed', (seed: string): Random => createRandom(seed)],
  ['a key', keyed],
])('streams of %s', (_, made) => {
  test('depend on seed and name only, not on other draws', () => {
    const untouched = made('7').fork('message')
    const busy = made('7')
    draws(busy, 100)
    draws(busy.fork('dice'), 100)
    expect(draws(busy.fork('message'), 50)).toEqual(draws(untouched, 50))
  })

  test('differ by name and by depth', () => {
    const root = made('7')
    const streams = [root, root.fork('a'), root.fork('b'), root.fork('a').fork('b'), root.fork('b').fork('a')]
    expect(new Set(streams.map((stream) => draws(stream, 8).join())).size).toBe(streams.length)
  })
})

describe.each([
  ['a seed', (seed: string): Random => createRandom(seed)],
  ['a key', keyed],
])('uniformity of draws from %s', (_, made) => {
  // With 10 cells, the sum below exceeds 33.7 in 1 of 10,000 correct runs. The seed is fixed, so the result never
  // changes.
  test.each([2, 3, 10, 1_000, 2 ** 32])('int(%d) fills ten equal cells evenly', (below) => {
    const cells = Math.min(10, below)
    const counts = new Array<number>(cells).fill(0)
    const random = made('even')
    const total = 20_000
    for (let count = 0; count < total; count++) counts[Math.floor((random.int(below) / below) * cells)]!++
    const sizes = counts.map((_, cell) => Math.ceil(((cell + 1) * below) / cells) - Math.ceil((cell * below) / cells))
    const chiSquare = counts.reduce((sum, found, cell) => {
      const expected = (total * sizes[cell]!) / below
      return sum + (found - expected) ** 2 / expected
    }, 0)
    expect(chiSquare).toBeLessThan(33.7)
  })

  test('float() stays in [0, 1) and averages a half', () => {
    const random = made('3')
    const floats = Array.from({ length: 10_000 }, () => random.float())
    expect(Math.min(...floats)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...floats)).toBeLessThan(1)
    expect(floats.reduce((sum, value) => sum + value, 0) / floats.length).toBeCloseTo(0.5, 1)
  })

  test('chance(1, 4) is true about every fourth time; chance(0, n) never; chance(n, n) always', () => {
    const random = made('5')
    let hits = 0
    for (let count = 0; count < 10_000; count++) if (random.chance(1, 4)) hits++
    expect(hits / 10_000).toBeCloseTo(0.25, 1)
    expect(Array.from({ length: 100 }, () => random.chance(0, 3))).not.toContain(true)
    expect(Array.from({ length: 100 }, () => random.chance(3, 3))).not.toContain(false)
  })
})

test.each([0, -1, 2 ** 32 + 1, Number.NaN])('int(%d) throws a RangeError', (below) => {
  for (const random of [createRandom(1), keyed('1')]) {
    expect(() => random.int(below)).toThrow(/random\.int\(\): below .*1 to 2\^32/)
  }
})

test('IDs have the requested length and alphabet', () => {
  const random = createRandom(9)
  expect(base58Id(random, 28)).toMatch(/^[1-9A-HJ-NP-Za-km-z]{28}$/)
  expect(hexId(random, 40)).toMatch(/^[0-9a-f]{40}$/)
  const ids = new Set(Array.from({ length: 5_000 }, () => base58Id(random, 12)))
  expect(ids.size).toBe(5_000)
})
