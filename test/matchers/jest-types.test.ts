import type { expect as jestExpect } from '@jest/globals'
import type { Sandbox } from 'stuntdouble'
import { expectTypeOf, test } from 'vitest'
import type {} from '../../matchers/jest.js'

type Assertions = ReturnType<typeof jestExpect<Sandbox>>

test("declares the matchers for Jest's and Vitest's assertions in one program", () => {
  expectTypeOf<Assertions['toHaveKey']>().parameter(0).toEqualTypeOf<string>()
  expectTypeOf<Assertions['toBeIdle']>().returns.toEqualTypeOf<void>()
  expectTypeOf<Assertions['not']>().toHaveProperty('toHavePublished')
  expectTypeOf<Assertions['resolves']>().toHaveProperty('toHaveDelivered')
})
