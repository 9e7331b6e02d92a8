import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Heap, type HeapItem } from '../../src/kernel/heap.js'

const byRank = (a: HeapItem, b: HeapItem): number => a.at - b.at || a.sequence - b.sequence
const times = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 200 })
const ranked = (at: readonly number[]): HeapItem[] => at.map((time, sequence) => ({ at: time, sequence }))

function emptied<T extends HeapItem>(heap: Heap<T>): T[] {
  const out: T[] = []
  for (let item = heap.pop(); item !== undefined; item = heap.pop()) out.push(item)
  return out
}

test('items leave in the order of a stable sort by time', () => {
  fc.assert(
    fc.property(times, (at) => {
      const items = ranked(at)
      const heap = new Heap<HeapItem>()
      for (const item of items) heap.push(item)
      expect(heap.size).toBe(items.length)
      expect(heap.peek()).toBe([...items].sort(byRank)[0])
      expect(emptied(heap)).toEqual([...items].sort(byRank))
      expect(heap.size).toBe(0)
    }),
  )
})

test('pushes and pops in any order agree with a sorted list', () => {
  const step = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant('pop' as const))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new Heap<HeapItem>()
      const sorted: HeapItem[] = []
      for (const [sequence, what] of steps.entries()) {
        if (what === 'pop') expect(heap.pop()).toEqual(sorted.shift())
        else {
          const item = { at: what, sequence }
          heap.push(item)
          sorted.push(item)
          sorted.sort(byRank)
        }
      }
    }),
  )
})

test('keep() removes rejected items and leaves a valid heap', () => {
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 5 }), (at, modulus) => {
      const heap = new Heap<HeapItem>()
      const items = ranked(at)
      for (const item of items) heap.push(item)
      const wanted = (item: HeapItem): boolean => item.sequence % modulus === 0
      heap.keep(wanted)
      expect(emptied(heap)).toEqual(items.filter(wanted).sort(byRank))
    }),
  )
})
