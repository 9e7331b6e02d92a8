import fc from 'fast-check'
import { createSandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { program, run, stormyProgram } from './program.js'

// The unmutated engine keeps its promises, whatever a test does to it.

const runs = Number(process.env.PROGRAM_RUNS ?? 300)

test(`${runs} random programs break no promise`, { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(program(), async (given) => {
      using sandbox = await run(createSandbox, given)
      expect(sandbox.check().unknown).toEqual([])
    }),
    { numRuns: runs, seed: Number(process.env.PROGRAM_SEED ?? 1) },
  )
})

test('a log that has forgotten its beginning raises no false alarm, and says what it cannot know', {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(program(true), async (given) => {
      using sandbox = await run(createSandbox, given)
      const { unknown } = sandbox.check()
      if (sandbox.traffic.dropped > 0) expect(unknown.length).toBeGreaterThan(0)
    }),
    { numRuns: runs / 2, seed: 2 },
  )
})

test('a declared fault suspends what it breaks by design, and nothing else breaks', { timeout: 600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(stormyProgram, async (given) => {
      using sandbox = await run(createSandbox, given)
      sandbox.check()
    }),
    { numRuns: runs, seed: Number(process.env.PROGRAM_SEED ?? 3) },
  )
})
