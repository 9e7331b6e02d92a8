import { expect, test } from 'stuntdouble/vitest'
import { noteTime } from './spent.js'

noteTime()
for (let number = 0; number < 200; number++) {
  test(`number ${number}`, ({ sandbox }) => {
    expect(sandbox).toBeDefined()
  })
}
