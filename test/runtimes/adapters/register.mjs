import { sandboxMatchers } from 'stuntdouble/matchers'
import { lacks } from './lacks.mjs'
import { runSuiteTest } from './suite/suite-test.ts'
import { suiteTests } from './suite/tests.ts'

/**
 * Registers the suite with a runner. Each test prints its outcome, which test/runtimes/run.ts reads from every runner
 * in the same way; the failures are printed by the runner.
 */
export function register(expect, test) {
  expect.extend(sandboxMatchers)
  // Some runners split long lines.
  const tests = suiteTests((trace) => {
    for (const part of trace.match(/.{1,4000}/gs)) print({ trace: part })
  })
  for (const one of tests) {
    if (lacks.includes(one.needs)) {
      print({ skipped: one.name, needs: one.needs })
      continue
    }
    test(one.name, async () => {
      await runSuiteTest(one, expect)
      print({ passed: one.name })
    })
  }
}

function print(line) {
  console.log(`\nstuntdouble: ${JSON.stringify(line)}`)
}
