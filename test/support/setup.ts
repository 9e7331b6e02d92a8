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
const environment = process.env
const found = { ...environment }
afterAll(() => {
  process.env = environment
  for (const name of Object.keys(environment)) if (!(name in found)) delete environment[name]
  Object.assign(environment, found)
})
