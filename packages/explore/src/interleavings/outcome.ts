import type { FaultRule } from '../../../../src/faults/fault.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { InterleavingStep } from './client-run.js'
import type { Anomaly } from './flaws.js'
import type { SerialDifference } from './order-endings.js'

/** An outcome of one or more runs, with its cause. */
export interface ExplorationOutcome {
  /** Short description of the fault or the order of the run. */
  readonly title: string
  /** Number of runs with this outcome. */
  readonly count: number
  /** Whether all checks of the runs with this outcome hold. */
  readonly holds: boolean
  /** Why the outcome does not hold, or `''` if it holds. */
  readonly reason: string
  /** The sandbox at the end of the first run with this outcome. */
  readonly sandbox: Sandbox
  /** The rule that injected the fault. Add the rule to a test to reproduce the outcome. */
  readonly rule?: FaultRule
  /** For interleavings: names of the clients in the order of their requests. */
  readonly order?: readonly string[]
  /** For interleavings: the requests with their responses. */
  readonly steps?: readonly InterleavingStep[]
  /** For interleavings: the anomaly of the order. */
  readonly anomaly?: Anomaly
  /** Differences from the serial orders, or from the run without the fault. */
  readonly differences?: readonly SerialDifference[]
}
