import { sandboxMatchers } from 'stuntdouble/matchers'
import { expect, test } from 'vitest'
import { runSuiteTest } from './suite/suite-test.js'
import { suiteTests } from './suite/tests.js'

// The nightly runs this suite from the packed package in each runtime. Here it runs on the sources.

expect.extend(sandboxMatchers)

const tests = suiteTests(() => {})

test('the suite has 40 tests with different names', () => {
  expect(new Set(tests.map(({ name }) => name)).size).toBe(40)
})

for (const one of tests) test(one.name, async () => runSuiteTest(one, expect))
