// Setup file of the unit tests.
import fc from 'fast-check'
import { afterAll } from 'vitest'
import { effort, runs, seedOr } from './effort.js'

// Default runs and seed of properties. Only nightly runs use a new seed each time, so that a failing
// check is caused by the change that it tests.
fc.configureGlobal({
  numRuns: runs(30, 100, 1000),
  ...((effort !== 'nightly' || process.env.SEED) && { seed: seedOr(1) }),
})

// Files share a process, so each one restores the environment, and their order does not matter.
const environment = process.env
const found = { ...environment }
afterAll(() => {
  process.env = environment
  for (const name of Object.keys(environment)) if (!(name in found)) delete environment[name]
  Object.assign(environment, found)
})
