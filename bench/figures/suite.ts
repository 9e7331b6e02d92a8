// Cost for a user's test suite: 200 tests in one file of Vitest, empty, with only the fixture, and with six SDK calls
// to the fixture or to hand-written msw handlers. Each run is a separate process.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Figure, Variant } from '../harness.ts'

const run = promisify(execFile)
const folder = new URL('../suite/', import.meta.url).pathname
const vitest = new URL('../../node_modules/vitest/vitest.mjs', import.meta.url).pathname
const file = join(tmpdir(), `stuntdouble-suite-${process.pid}`)
let spent = 0

/** Returns the processor time of each test in its process. */
function suite(name: string, which: string): Variant {
  return {
    name,
    async run() {
      const options = { cwd: folder, env: { ...process.env, SPENT: file } }
      await run(process.execPath, [vitest, 'run', `${which}.case.ts`, '--reporter=dot'], options)
      spent = Number(readFileSync(file, 'utf8')) / 200
    },
  }
}

function fixtureAlone(): Figure {
  return {
    name: 'a test of 200 in a file of Vitest, the fixture over nothing',
    baseline: suite('an empty test', 'empty'),
    variants: [suite('a test with the fixture', 'fixture')],
    within: { 'a test with the fixture': 600 },
    rounds: 9,
    times: 1,
    reading: () => spent,
  }
}

function sixCalls(): Figure {
  return {
    name: 'a test of 200 with six calls of the SDKs, the fixture over handlers of msw by hand',
    baseline: suite('handlers of msw', 'msw'),
    variants: [suite('the fixture', 'six-calls')],
    atMost: { 'the fixture': 0.15 },
    rounds: 9,
    times: 1,
    reading: () => spent,
  }
}

export const figures = [fixtureAlone, sixCalls]
