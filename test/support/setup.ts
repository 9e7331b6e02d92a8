// Setup file of the unit tests.
import fc from 'fast-check'
import { afterAll } from 'vitest'
import { effort, runs, seedOr } from './effort.js'

// The runs and the seed of a property that names none. Only at night is the seed another one each time, so that a failing
// check is due to the change that it checks.
fc.configureGlobal({
  numRuns: runs(30, 100, 1000),
  ...((effort !== 'nightly' || process.env.SEED) && { seed: seedOr(1) }),
})

// Files share a process. Each one leaves the environment as it found it, so that their order does not matter.
const found = { ...process.env }
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in found)) delete process.env[name]
  Object.assign(process.env, found)
})
