import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Bytes } from '../../../src/kernel/bytes.js'
import { createRandom } from '../../../src/kernel/random.js'
import type { LexBound, ScoreRange } from '../../../src/store/command/text.js'
import { SortedSet } from '../../../src/store/values/sorted-set-value.js'

type Pair = [member: Bytes, score: number]

class NaiveSortedSet {
  readonly scores = new Map<Bytes, number>()

  sorted(): Pair[] {
    return [...this.scores].sort(([a, one], [b, other]) => one - other || (a < b ? -1 : a > b ? 1 : 0))
  }
}

function walked(set: SortedSet, from: number, to: number, descending: boolean): Pair[] {
  const pairs: Pair[] = []
  set.walk(from, to, descending, (member, score) => pairs.push([member, score]))
  return pairs
}

const member = fc.nat(40).map((number) => `m${number}` as Bytes)
const score = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constantFrom(0.5, -0.5, -0))
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('set' as const), member, score }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), member }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cut' as const), from: fc.nat(40), count: fc.nat(5) }) },
)
const range: fc.Arbitrary<ScoreRange> = fc.record({
  min: fc.oneof(score, fc.constant(-Infinity)),
  minExclusive: fc.boolean(),
  max: fc.oneof(score, fc.constant(Infinity)),
  maxExclusive: fc.boolean(),
})

function inRange(value: number, { min, minExclusive, max, maxExclusive }: ScoreRange): boolean {
  return (minExclusive ? value > min : value >= min) && (maxExclusive ? value < max : value <= max)
}

describe('SortedSet', () => {
  it('agrees with sorting on every read', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), range, fc.nat(40), fc.nat(40), (steps, scores, from, to) => {
        const set = new SortedSet()
        const model = new NaiveSortedSet()
        for (const action of steps) {
          if (action.do === 'set') {
            expect(set.set(action.member, action.score)).toBe(model.scores.get(action.member))
            model.scores.set(action.member, action.score + 0)
          } else if (action.do === 'delete') {
            expect(set.delete(action.member)).toBe(model.scores.delete(action.member))
          } else {
            const gone = model.sorted().slice(action.from, action.from + action.count)
            expect(set.removeRanks(action.from, action.from + action.count)).toBe(gone.length)
            for (const [name] of gone) model.scores.delete(name)
          }
        }
        const sorted = model.sorted()
        expect(set.size).toBe(sorted.length)
        expect(walked(set, 0, set.size, false)).toEqual(sorted)
        expect(walked(set, 0, set.size, true)).toEqual(sorted.toReversed())
        expect(walked(set, from, to, false)).toEqual(sorted.slice(from, to))
        expect(walked(set, from, to, true)).toEqual(sorted.slice(from, to).toReversed())
        expect(walked(set.copy(), 0, set.size, false)).toEqual(sorted)
        expect([...set.members()]).toEqual(sorted.map(([name]) => name))
        sorted.forEach(([name, value], at) => {
          expect(set.rank(name)).toBe(at)
          expect(set.score(name)).toBe(value)
        })
        expect(set.rank('absent' as Bytes)).toBeUndefined()
        const { from: low, to: high } = set.scoreRanks(scores)
        expect(walked(set, low, high, false)).toEqual(sorted.filter(([, value]) => inRange(value, scores)))
      }),
    )
  })

  it('finds ranges of bytes among equal scores', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'b', '\xff', '\0'), maxLength: 3 }) as fc.Arbitrary<Bytes>
    const bound: fc.Arbitrary<LexBound> = fc.oneof(
      fc.constantFrom('-' as const, '+' as const),
      fc.record({ member: name, exclusive: fc.boolean() }),
    )
    const isAbove = (value: Bytes, limit: LexBound) =>
      limit === '-' || (limit !== '+' && (limit.exclusive ? value > limit.member : value >= limit.member))
    const isBelow = (value: Bytes, limit: LexBound) =>
      limit === '+' || (limit !== '-' && (limit.exclusive ? value < limit.member : value <= limit.member))
    fc.assert(
      fc.property(fc.uniqueArray(name), bound, bound, (names, min, max) => {
        const set = new SortedSet()
        for (const each of names) set.set(each, 0)
        const { from, to } = set.lexRanks({ min, max })
        const expected = names.filter((each) => isAbove(each, min) && isBelow(each, max)).sort()
        expect(walked(set, from, to, false).map(([each]) => each)).toEqual(expected)
      }),
    )
  })

  it('keeps order and ranks over many blocks while members are added, moved and deleted', () => {
    const random = createRandom('blocks')
    const set = new SortedSet()
    const model = new NaiveSortedSet()
    const check = () => {
      const sorted = model.sorted()
      expect(walked(set, 0, set.size, false)).toEqual(sorted)
      for (let at = 0; at < sorted.length; at += 97) {
        expect(set.rank(sorted[at]![0])).toBe(at)
        expect(walked(set, at, at + 1, false)).toEqual([sorted[at]])
        const { from, to } = set.scoreRanks({
          min: sorted[at]![1],
          minExclusive: false,
          max: Infinity,
          maxExclusive: false,
        })
        expect([from, to]).toEqual([sorted.findIndex(([, value]) => value === sorted[at]![1]), sorted.length])
      }
    }
    const put = (name: string, value: number) => {
      set.set(name as Bytes, value)
      model.scores.set(name as Bytes, value + 0)
    }
    for (let count = 0; count < 3000; count++) put(`up${count}`, count)
    for (let count = 0; count < 3000; count++) put(`down${count}`, -count)
    check()
    for (let count = 0; count < 6000; count++) put(`any${random.int(4000)}`, random.int(500))
    check()
    for (const [name] of model.sorted()) {
      if (!random.chance(9, 10)) continue
      set.delete(name)
      model.scores.delete(name)
      if (model.scores.size % 1000 === 0) check()
    }
    check()
    expect(set.removeRanks(0, set.size)).toBe(model.scores.size)
    expect(set.size).toBe(0)
    put('again', 1)
    expect(set.rank('again' as Bytes)).toBe(0)
  })

  it('does not distinguish -0 from 0', () => {
    const set = new SortedSet()
    set.set('a' as Bytes, -0)
    expect(Object.is(set.score('a' as Bytes), 0)).toBe(true)
  })

  it('picks random members and returns all of them page by page', () => {
    const set = new SortedSet()
    for (const name of ['c', 'a', 'b']) set.set(name as Bytes, 1)
    const random = createRandom('pick')
    const picked = new Set(Array.from({ length: 50 }, () => set.random(random)))
    expect([...picked].sort()).toEqual(['a', 'b', 'c'])
    const first = set.scan(0, 2)
    expect(first.keys).toEqual(['c', 'a'])
    expect(set.scan(first.cursor, 2)).toEqual({ keys: ['b'], cursor: 0 })
  })
})
