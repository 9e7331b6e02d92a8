// Compiled, never run: what may be written, under the augmentations of all three runners at once.
import { expect as jest } from '@jest/globals'
import type {} from 'stuntdouble/jest/extend'
import type { AsymmetricMatcher } from 'stuntdouble/matchers'
import type {} from 'stuntdouble/playwright/extend'
import type {} from 'stuntdouble/vitest/extend'
import { expect as vitest } from 'vitest'

export const inside: AsymmetricMatcher[] = [
  vitest.messageTo('https://shop.test/orders', { retries: 3 }),
  jest.messageTo('https://shop.test/orders', { retries: 3 }),
]
