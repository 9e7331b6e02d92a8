import { describe, expect, it } from 'vitest'
import type { Bytes } from '../../src/kernel/bytes.js'
import { createRandom } from '../../src/kernel/random.js'
import { IdTable } from '../../src/store/values/id-table.js'
import {
  compareIds,
  firstId,
  formatId,
  lastId,
  nextId,
  parseId,
  previousId,
  type StreamId,
} from '../../src/store/values/stream-id.js'

const id = (text: string): StreamId => parseId(text as Bytes)!

describe('nextId() and previousId()', () => {
  it.each([
    ['0-0', '0-1'],
    ['5-9007199254740991', '5-9007199254740992'],
    ['5-18446744073709551615', '6-0'],
    ['9007199254740991-18446744073709551615', '9007199254740992-0'],
  ])('return the neighbors of each other for %s and %s', (before, after) => {
    expect(formatId(nextId(id(before))!)).toBe(after)
    expect(formatId(previousId(id(after))!)).toBe(before)
    expect(compareIds(id(before), id(after))).toBe(-1)
    expect(compareIds(id(after), id(before))).toBe(1)
    expect(compareIds(id(after), id(after))).toBe(0)
  })

  it('end at 64 bits', () => {
    expect(nextId(lastId)).toBeUndefined()
    expect(previousId(firstId)).toBeUndefined()
    expect(formatId(lastId)).toBe('18446744073709551615-18446744073709551615')
    expect(parseId('18446744073709551616-0' as Bytes)).toBeUndefined()
  })

  it('compareIds() compares halves exactly where numbers would be equal', () => {
    expect(Number('9007199254740992')).toBe(Number('9007199254740993'))
    expect(compareIds(id('9007199254740992-0'), id('9007199254740993-0'))).toBe(-1)
    expect(compareIds(id('1-9007199254740991'), id('1-9007199254740992'))).toBe(-1)
  })
})

/** Same table with a simple implementation: a sorted list of pairs. */
class NaiveTable {
  pairs: [StreamId, number][] = []

  set(key: StreamId, value: number): boolean {
    const found = this.pairs.find(([each]) => compareIds(each, key) === 0)
    if (found) found[1] = value
    else this.pairs.push([key, value])
    this.pairs.sort(([a], [b]) => compareIds(a, b))
    return found === undefined
  }

  delete(key: StreamId): boolean {
    const before = this.pairs.length
    this.pairs = this.pairs.filter(([each]) => compareIds(each, key) !== 0)
    return this.pairs.length < before
  }

  between(from: StreamId, to: StreamId): [StreamId, number][] {
    return this.pairs.filter(([each]) => compareIds(each, from) >= 0 && compareIds(each, to) <= 0)
  }
}

const pairsOf = (entries: Iterable<{ id: StreamId; value: number }>): [StreamId, number][] =>
  [...entries].map((entry) => [entry.id, entry.value])

describe('IdTable', () => {
  it.each(['growing', 'shuffled', 'shrinking'])('agrees with a sorted list: %s', (kind) => {
    const random = createRandom(kind)
    const table = new IdTable<number>()
    const naive = new NaiveTable()
    const anyId = (): StreamId => ({ ms: random.int(300), seq: random.int(3) })
    for (let step = 0; step < 3000; step++) {
      const key = kind === 'growing' && random.chance(9, 10) ? { ms: 300 + step, seq: 0 } : anyId()
      const deleting = random.chance(kind === 'shrinking' && step > 1500 ? 4 : 1, 5)
      const target =
        deleting && random.chance(1, 2) ? (naive.pairs[random.int(naive.pairs.length || 1)]?.[0] ?? key) : key
      if (deleting) expect(table.delete(target)).toBe(naive.delete(target))
      else expect(table.set(target, step)).toBe(naive.set(target, step))
      if (step % 50 !== 0) continue
      const [from, to] = [anyId(), anyId()]
      const expected = naive.between(from, to)
      expect(pairsOf(table.range(from, to))).toEqual(expected)
      expect(pairsOf(table.backwards(from, to))).toEqual(expected.toReversed())
      expect(table.ceiling(from)?.id).toEqual(naive.between(from, lastId)[0]?.[0])
      expect(table.countBelow(from)).toBe(naive.pairs.length - naive.between(from, lastId).length)
    }
    expect(pairsOf(table)).toEqual(naive.pairs)
    expect(pairsOf(table.copy())).toEqual(naive.pairs)
    expect(table.size).toBe(naive.pairs.length)
    expect(table.last()?.id).toEqual(naive.pairs.at(-1)?.[0])
    for (const [key, value] of naive.pairs) expect(table.get(key)).toBe(value)
  })

  it.each([0, 1, 127, 128, 129, 500, 999, 1000, 2000])('deletes %i entries from the beginning', (count) => {
    const table = new IdTable<number>()
    for (let ms = 0; ms < 1000; ms++) table.set({ ms, seq: 0 }, ms)
    table.deleteFirst(count)
    expect(table.size).toBe(Math.max(0, 1000 - count))
    expect(table.first()?.value).toBe(count < 1000 ? count : undefined)
    expect([...table]).toHaveLength(table.size)
  })
})
