import fc from 'fast-check'
import { createSandbox } from 'stuntdouble'
import { describe, expect, test, vi } from 'vitest'
import { program, run } from '../invariants/program.js'
import { allInvariants, examineAll } from '../model/store-linearizable.js'
import { seedOr } from '../support/effort.js'
import { during } from './swap.js'
import { mutants } from './table.js'

// For each invariant the table has mistakes in the engines. A thousand random programs must detect each of them; most
// need a dozen. Only the functions of these modules must be prepared for a swap, methods need no preparation.
vi.mock('../../src/queue/delivery/delivery-headers.js', (real) => ready(real))
vi.mock('../../src/queue/delivery/retry.js', (real) => ready(real))
vi.mock('../../src/queue/message/state.js', (real) => ready(real))
vi.mock('../../src/queue/publish/deduplication.js', (real) => ready(real))
vi.mock('../../src/queue/signing/signing.js', (real) => ready(real))
const { ready } = vi.hoisted(() => ({
  ready: async (real: () => Promise<object>) => (await import('./swap.js')).swappable(await real()),
}))

const programs = fc.sample(program(), { numRuns: 1000, seed: seedOr(5) })

describe.each(mutants)('$invariant detects: $what', ({ invariant, what, swap }) => {
  test('within a thousand programs', async () => {
    let caught: string | undefined
    let tried = 0
    await during(swap, async () => {
      for (const given of programs) {
        tried++
        using sandbox = await run(createSandbox, given).catch(() => undefined)
        caught = sandbox && examineAll(sandbox, invariant).violations[0]?.message
        if (caught !== undefined) break
      }
    })
    if (process.env.MUTANTS_VERBOSE) console.log(`${invariant}: ${what}: after ${tried}: ${caught}`)
    expect(caught, `none of ${tried} programs broke ${invariant}`).toBeTypeOf('string')
  })
})

test('every invariant has a mutant that violates it', () => {
  const covered = new Set(mutants.map(({ invariant }) => invariant))
  expect(allInvariants.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual([])
})
