import { matcherTests } from './matcher-tests.ts'
import { queueTests } from './queue-tests.ts'
import { runtimeTests, traceTest } from './runtime-tests.ts'
import { storeTests } from './store-tests.ts'
import type { SuiteTest } from './suite-test.ts'
import { workflowTests } from './workflow-tests.ts'

/** Each test of the suite. `report` gets the trace that is compared between the runtimes. */
export const suiteTests = (report: (trace: string) => void): readonly SuiteTest[] => [
  ...storeTests,
  ...queueTests,
  ...matcherTests,
  ...workflowTests,
  ...runtimeTests,
  traceTest(report),
]
