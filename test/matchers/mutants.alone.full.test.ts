import { sandboxMatchers } from 'stuntdouble/matchers'
import { afterAll, expect, test, vi } from 'vitest'
import { during } from '../mutants/swap.js'
import { broken, world } from './verdicts.js'
import { mutants } from './wrong.js'

// Checks that the table of verdicts detects mistakes in each matcher.

// Modules in which mistakes replace functions. Tables and methods need no preparation.
vi.mock('../../matchers/compare-values.js', (real) => ready(real))
vi.mock('../../matchers/comparison-kinds.js', (real) => ready(real))
vi.mock('../../matchers/near-misses.js', (real) => ready(real))
vi.mock('../../matchers/range.js', (real) => ready(real))
vi.mock('../../matchers/received.js', (real) => ready(real))
vi.mock('../../matchers/stored.js', (real) => ready(real))
vi.mock('../../matchers/verdict.js', (real) => ready(real))
vi.mock('../../src/kernel/address-pattern.js', (real) => ready(real))
const { ready } = vi.hoisted(() => ({
  ready: async (real: () => Promise<object>) => (await import('../mutants/swap.js')).swappable(await real()),
}))

const given = await world()
afterAll(() => given.dispose())

test.each(mutants)('detects the mistake: $what', async ({ breaks, swap }) => {
  // Any row would detect a mistake that throws.
  const complaints = (await during(swap, () => broken(sandboxMatchers, given))).filter(
    (one) => !one.includes(': throws '),
  )
  const caught = breaks.filter((matcher) => complaints.some((complaint) => complaint.startsWith(`${matcher} on`)))
  expect(caught).toEqual(breaks)
})

test('has a mutant for every matcher', () => {
  // The verdicts of toHold are in packages/explore/test/interleavings.test.ts.
  const covered = new Set(['toHold', ...mutants.flatMap(({ breaks }) => breaks)])
  expect(Object.keys(sandboxMatchers).filter((name) => !covered.has(name as never))).toEqual([])
})

test('restores the matchers after a mistake', () => {
  expect(broken(sandboxMatchers, given)).toEqual([])
})
