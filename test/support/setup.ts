// Setup file of the unit tests.
import fc from 'fast-check'
import { afterAll, expect } from 'vitest'
import { appendFileSync } from 'node:fs'
import { runs } from './effort.js'

const seed = Number(process.env.SEED)

// What a property gets that names no number of runs, and the seed of a replay.
fc.configureGlobal({
  numRuns: runs(30, 100, 1000),
  ...(process.env.SEED !== undefined && Number.isInteger(seed) && { seed }),
})

// Files share a process: one that leaves something behind would fail others, in some orders only.
const found = { ...process.env }
const globals = [globalThis.fetch, globalThis.Date, globalThis.setTimeout, globalThis.WebSocket] as const
afterAll(() => {
  const left = ['fetch', 'Date', 'setTimeout', 'WebSocket'].filter(
    (name, index) => (globalThis as never)[name] !== globals[index],
  )
  const variables = [...new Set([...Object.keys(found), ...Object.keys(process.env)])].filter(
    (name) => found[name] !== process.env[name],
  )
  if (left.length > 0 || variables.length > 0)
    appendFileSync('/tmp/m/leaks.txt', `${expect.getState().testPath} ${left} ${variables}\n`)
})
