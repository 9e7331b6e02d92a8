import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Bytes } from '../../../src/kernel/bytes.js'
import { createRandom } from '../../../src/kernel/random.js'
import { OrderedTable } from '../../../src/store/values/ordered-table.js'

const key = fc.nat(60).map((number) => `k${number}` as Bytes)
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('set' as const), key, value: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
)

describe('OrderedTable', () => {
  it('agrees with a Map', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const table = new OrderedTable<number>()
        const model = new Map<Bytes, number>()
        for (const action of steps) {
          if (action.do === 'set') {
            expect(table.put(action.key, action.value)).toBe(!model.has(action.key))
            model.set(action.key, action.value)
          } else if (action.do === 'delete') {
            expect(table.delete(action.key)).toBe(model.delete(action.key))
          } else {
            table.clear()
            model.clear()
          }
          expect(table.size).toBe(model.size)
        }
        expect([...table]).toEqual([...model])
        expect([...table.keys()]).toEqual([...model.keys()])
        const visited: [Bytes, number][] = []
        table.forEach((value, name) => {
          visited.push([name, value])
        })
        expect(visited).toEqual([...model])
        expect([...table.copy()]).toEqual([...model])
        for (let number = 0; number <= 60; number++) {
          const name = `k${number}` as Bytes
          expect(table.get(name)).toBe(model.get(name))
          expect(table.has(name)).toBe(model.has(name))
        }
      }),
    )
  })

  it('returns lasting keys exactly once in a scan, for all other changes', () => {
    const pages = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.array(step, { maxLength: 60 })), {
      maxLength: 30,
    })
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 60 }), pages, (start, turns) => {
        const table = new OrderedTable<number>()
        for (const name of start) table.put(name, 100)
        const stayed = new Set(start)
        const seen: Bytes[] = []
        let cursor = 0
        for (let turn = 0; ; turn++) {
          const [count, steps] = turns[turn] ?? [5, []]
          const page = table.scan(cursor, count)
          expect(page.keys.length).toBeLessThanOrEqual(count)
          seen.push(...page.keys)
          cursor = page.cursor
          if (cursor === 0) break
          for (const action of steps) {
            if (action.do === 'set') table.put(action.key, action.value)
            if (action.do === 'delete') {
              table.delete(action.key)
              stayed.delete(action.key)
            }
          }
        }
        for (const name of stayed) expect(seen.filter((other) => other === name)).toEqual([name])
      }),
    )
  })

  it('ends a scan with cursor 0 even when only holes are left', () => {
    const table = new OrderedTable<true>()
    for (const name of ['a', 'b', 'c', 'd']) table.put(name as Bytes, true)
    table.delete('c' as Bytes)
    table.delete('d' as Bytes)
    expect(table.scan(0, 2)).toEqual({ keys: ['a', 'b'], cursor: 0 })
    expect(table.scan(99, 2)).toEqual({ keys: [], cursor: 0 })
  })

  it('picks every key with the same probability', () => {
    const table = new OrderedTable<true>()
    for (let number = 0; number < 100; number++) table.put(`k${number}` as Bytes, true)
    for (let number = 0; number < 100; number++) if (number % 10 !== 3) table.delete(`k${number}` as Bytes)
    const random = createRandom('fair')
    const draws = new Map<Bytes, number>()
    for (let count = 0; count < 10_000; count++) {
      const picked = table.random(random)
      draws.set(picked, (draws.get(picked) ?? 0) + 1)
    }
    expect(draws.size).toBe(10)
    for (const times of draws.values()) expect(Math.abs(times - 1000)).toBeLessThan(150)
  })

  it('has no random key when empty', () => {
    expect(() => new OrderedTable<true>().random(createRandom(1))).toThrow(RangeError)
  })
})
