import { expect, test } from 'vitest'
import { noteTime } from './spent.js'

noteTime()
for (let number = 0; number < 200; number++) {
  test(`number ${number}`, () => {
    expect(number).toBe(number)
  })
}
