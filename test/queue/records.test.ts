import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type IndexedRecord, Records } from '../../src/kernel/indexed-records.js'
import { runs } from '../support/effort.js'

interface Row extends IndexedRecord {
  color: string
  tags: string[]
}

const fields = { color: (row: Row) => row.color, tags: (row: Row) => row.tags }

describe('indexed records', () => {
  test('agree with a plain list for filters, dates, order, cursors and deletions', () => {
    const command = fc.oneof(
      fc.record({
        do: fc.constant('add' as const),
        color: fc.constantFrom('r', 'g', 'b'),
        tags: fc.subarray(['x', 'y']),
        wait: fc.nat(2),
      }),
      fc.record({ do: fc.constant('delete' as const), at: fc.nat(60) }),
      fc.record({
        do: fc.constant('select' as const),
        colors: fc.option(fc.subarray(['r', 'g', 'b', 'none'], { minLength: 1 }), { nil: undefined }),
        tags: fc.option(fc.subarray(['x', 'y'], { minLength: 1 }), { nil: undefined }),
        from: fc.option(fc.nat(20), { nil: undefined }),
        to: fc.option(fc.nat(20), { nil: undefined }),
        latest: fc.boolean(),
        count: fc.integer({ min: 1, max: 7 }),
      }),
    )
    fc.assert(
      fc.property(fc.array(command, { maxLength: 150 }), (commands) => {
        const records = new Records<Row>(fields)
        let list: Row[] = []
        let seq = 0
        let time = 0
        for (const step of commands) {
          if (step.do === 'add') {
            time += step.wait
            const row = { seq: ++seq, createdAt: time, gone: false, color: step.color, tags: step.tags }
            records.add(row)
            list.push(row)
          } else if (step.do === 'delete') {
            const row = list[step.at]
            if (row === undefined) continue
            records.delete(row)
            list = list.filter((other) => other !== row)
          } else {
            const filters = new Map<string, Set<string>>()
            if (step.colors) filters.set('color', new Set(step.colors))
            if (step.tags) filters.set('tags', new Set(step.tags))
            const wanted = list.filter(
              (row) =>
                (!step.colors || step.colors.includes(row.color)) &&
                (!step.tags || row.tags.some((tag) => step.tags!.includes(tag))) &&
                row.createdAt >= (step.from ?? 0) &&
                row.createdAt <= (step.to ?? 1000),
            )
            if (step.latest) wanted.reverse()
            const found: Row[] = []
            let after: number | undefined
            for (;;) {
              const order = step.latest ? 'latestFirst' : 'earliestFirst'
              const page = records.select({ filters, from: step.from, to: step.to, order, after, count: step.count })
              found.push(...page.items)
              if (page.cursor === undefined) break
              expect(page.items).toHaveLength(step.count)
              after = Number(page.cursor.split('-')[1])
            }
            expect(found.map((row) => row.seq)).toEqual(wanted.map((row) => row.seq))
          }
          expect(records.size).toBe(list.length)
          expect(records.first()?.seq).toBe(list[0]?.seq)
        }
      }),
      { numRuns: runs(200, 200, 2000) },
    )
  })
})
