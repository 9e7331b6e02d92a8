import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FifoList } from '../../src/queue/message/fifo-list.js'
import { runs } from '../support/effort.js'

test('FifoList behaves like an array with push and shift', () => {
  const step = fc.oneof(
    fc.integer({ min: 1, max: 200 }).map((count) => ({ count, push: true })),
    fc.integer({ min: 1, max: 200 }).map((count) => ({ count, push: false })),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const line = new FifoList<number>()
      const model: number[] = []
      let next = 0
      for (const { count, push } of steps) {
        for (let n = 0; n < count; n++) {
          if (push) {
            line.push(next)
            model.push(next++)
          } else expect(line.shift()).toBe(model.shift())
        }
        expect(line.all()).toEqual(model)
      }
    }),
    { numRuns: runs(50, 50, 500) },
  )
})
