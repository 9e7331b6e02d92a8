import { expect, test } from 'vitest'
import { Work } from '../../src/kernel/work.js'

test('spent counts across renewals', () => {
  const work = new Work(100, () => new Error('no more'))
  work.charge(30)
  work.left -= 20
  expect(work.spent).toBe(50)
  work.renew(1_000)
  work.charge(5)
  expect(() => work.charge(2_000)).toThrow('no more')
  expect(work.spent).toBe(55)
  // Work of another part in between still counts.
  const { left } = work
  work.renew(1_000)
  work.charge(100)
  work.renew(left)
  expect(work.spent).toBe(155)
  expect(work.left).toBe(left)
})
