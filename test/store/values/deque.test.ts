import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Bytes } from '../../../src/kernel/bytes.js'
import { Deque } from '../../../src/store/values/deque.js'

const value = fc.constantFrom('a', 'b', 'c', 'd') as fc.Arbitrary<Bytes>
const index = fc.nat(40)

/** Each step makes the same change to the deque and to a plain array. */
const step = fc.oneof(
  value.map((item) => (deque: Deque, model: Bytes[]) => {
    deque.push(item)
    model.push(item)
  }),
  value.map((item) => (deque: Deque, model: Bytes[]) => {
    deque.unshift(item)
    model.unshift(item)
  }),
  fc.constant((deque: Deque, model: Bytes[]) => {
    expect(deque.pop()).toBe(model.pop())
  }),
  fc.constant((deque: Deque, model: Bytes[]) => {
    expect(deque.shift()).toBe(model.shift())
  }),
  fc.tuple(index, value).map(([at, item]) => (deque: Deque, model: Bytes[]) => {
    const place = Math.min(at, model.length)
    deque.insert(place, item)
    model.splice(place, 0, item)
  }),
  fc.tuple(index, value).map(([at, item]) => (deque: Deque, model: Bytes[]) => {
    if (at >= model.length) return
    deque.set(at, item)
    model[at] = item
  }),
  fc.tuple(index, index).map(([from, to]) => (deque: Deque, model: Bytes[]) => {
    deque.trim(from, to + 20)
    model.splice(0, model.length, ...model.slice(from, to + 20))
  }),
  fc.tuple(value, fc.nat(3), fc.boolean()).map(([item, limit, fromRight]) => (deque: Deque, model: Bytes[]) => {
    let removed = 0
    while (removed < limit) {
      const at = fromRight ? model.lastIndexOf(item) : model.indexOf(item)
      if (at < 0) break
      model.splice(at, 1)
      removed++
    }
    expect(deque.remove(item, limit, fromRight)).toBe(removed)
  }),
)

describe('Deque', () => {
  it('agrees with an array', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), index, index, (steps, from, to) => {
        const deque = new Deque()
        const model: Bytes[] = []
        for (const run of steps) {
          run(deque, model)
          expect(deque.length).toBe(model.length)
        }
        expect([...deque]).toEqual(model)
        expect([...deque.copy()]).toEqual(model)
        expect(deque.slice(from, to)).toEqual(model.slice(from, to))
        expect(deque.at(from)).toBe(model[from])
        expect(deque.at(-1)).toBeUndefined()
      }),
    )
  })

  it('grows and shrinks over thousands of values', () => {
    const deque = new Deque()
    for (let count = 0; count < 5000; count++) deque.push(String(count) as Bytes)
    for (let count = 0; count < 4990; count++) expect(deque.shift()).toBe(String(count))
    expect([...deque]).toEqual(Array.from({ length: 10 }, (_, at) => String(4990 + at)))
  })

  it('rejects replacing a missing value', () => {
    expect(() => Deque.from(['a' as Bytes]).set(1, 'b' as Bytes)).toThrow(RangeError)
  })
})
