import { expect, test } from 'vitest'
import { progressLine } from '../../src/workers/progress.js'

const begun = { runs: 250_000, of: 1_000_000, failed: 3, reached: 214, possible: 380, underWay: [250_000, 251_417] }

test.each([
  [begun, 100_000, 0, '250,000 of 1,000,000 runs, 25 %, 2,500/s, 5 min left, reached 214 of 380, 3 failed'],
  [{ ...begun, runs: 0, failed: 0, possible: 0 }, 0, 0, '0 of 1,000,000 runs, 0 %, 0/s, none failed'],
  [
    { ...begun, runs: 1_000_000 },
    50_000,
    0,
    '1,000,000 of 1,000,000 runs, 100 %, 20,000/s, reached 214 of 380, 3 failed',
  ],
  [
    { ...begun, runs: 1000 },
    100_000,
    0,
    '1,000 of 1,000,000 runs, 0 %, 10/s, 27.8 h left, reached 214 of 380, 3 failed',
  ],
  [{ ...begun, of: undefined }, 12_000, 0, 'counting the runs, for 12 s now; Ctrl-C ends the campaign'],
  [begun, 100_000, 45_000, 'no run has ended for 45 s: running run 250000, run 251417; Ctrl-C ends the campaign'],
])('progressLine() formats progress %#', (progress, elapsed, still, line) => {
  expect(progressLine(progress, elapsed, still)).toBe(line)
})
