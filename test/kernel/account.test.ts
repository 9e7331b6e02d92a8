import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Account } from '../../src/kernel/account.js'

test('take() counts bytes in the account and all its parents, or in none', () => {
  const all = new Account(1000)
  const first = new Account(800, all)
  const second = new Account(800, all)
  expect(first.take(600)).toBe(true)
  expect(second.take(600)).toBe(false)
  expect([first.held, second.held, all.held]).toEqual([600, 0, 600])
  expect(second.left).toBe(400)
  first.release()
  expect(second.take(800)).toBe(true)
  expect(second.take(1)).toBe(false)
})

test('release() of more bytes than were taken releases the rest only', () => {
  const all = new Account(10)
  const account = new Account(10, all)
  new Account(10, all).take(4)
  account.take(6)
  account.release(5)
  account.release(5)
  expect([account.held, all.held]).toEqual([0, 4])
})

test('counts what its children hold, and never exceeds its limit', () => {
  const step = fc.record({ of: fc.nat(3), bytes: fc.nat(120), gives: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const all = new Account(200)
      const below = [40, 80, 120, 500].map((limit) => new Account(limit, all))
      const model = [0, 0, 0, 0]
      for (const { of, bytes, gives } of steps) {
        const account = below[of]!
        const sum = model.reduce((a, b) => a + b)
        if (gives) {
          account.release(bytes)
          model[of]! -= Math.min(bytes, model[of]!)
        } else {
          const fits = model[of]! + bytes <= account.limit && sum + bytes <= 200
          expect(account.take(bytes)).toBe(fits)
          if (fits) model[of]! += bytes
        }
        expect(below.map(({ held }) => held)).toEqual(model)
        expect(all.held).toBe(model.reduce((a, b) => a + b))
      }
    }),
  )
})

test('put() counts bytes even beyond the limit, and take() then fails', () => {
  const all = new Account(100)
  const part = new Account(1_000, all)
  part.put(150)
  expect([part.held, all.held, part.left]).toEqual([150, 150, -50])
  expect([part.take(1), all.take(1), part.take(0)]).toEqual([false, false, false])
  part.release(60)
  expect(part.take(10)).toBe(true)
  expect(all.held).toBe(100)
})

test('leave() releases the bytes from the parent, which then ignores the account', () => {
  const all = new Account(100)
  const [one, other] = [new Account(100, all), new Account(100, all)]
  one.take(40)
  other.take(50)
  one.leave()
  expect([one.held, all.held]).toEqual([40, 50])
  expect(one.take(60)).toBe(true)
  one.release()
  one.leave()
  expect([one.held, all.held, other.left]).toEqual([0, 50, 50])
})
