import { expect, test } from 'vitest'
import { Work } from '../../src/kernel/work.js'

test('what was spent is counted beyond every beginning', () => {
  const work = new Work(100, () => new Error('no more'))
  work.charge(30)
  work.left -= 20
  expect(work.spent).toBe(50)
  work.renew(1_000)
  work.charge(5)
  expect(() => work.charge(2_000)).toThrow('no more')
  expect(work.spent).toBe(55)
  // Somebody else's part in between goes on counting.
  const { left } = work
  work.renew(1_000)
  work.charge(100)
  work.renew(left)
  expect(work.spent).toBe(155)
  expect(work.left).toBe(left)
})
