// Setup file of the unit tests.
import fc from 'fast-check'
import { afterAll } from 'vitest'
import { runs, seedOr } from './effort.js'

// The runs of a property that names none, and the seed of a replay.
fc.configureGlobal({
  numRuns: runs(30, 100, 1000),
  ...(process.env.SEED && { seed: seedOr(0) }),
})

// Files share a process. Each one leaves the environment as it found it, so that their order does not matter.
const found = { ...process.env }
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in found)) delete process.env[name]
  Object.assign(process.env, found)
})
