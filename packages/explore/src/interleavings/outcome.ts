import type { FaultRule } from '../../../../src/faults/fault.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { InterleavingStep } from './client-run.js'
import type { Anomaly } from './flaws.js'
import type { SerialDifference } from './order-endings.js'

/** One way in which it can go, and what comes of it. */
export interface ExplorationOutcome {
  /** What was special about this run, in a few words. */
  readonly title: string
  /** Runs that ended so. */
  readonly count: number
  readonly holds: boolean
  /** Why it does not hold, `''` when it does. */
  readonly reason: string
  /** The world in the end, in the first run that ended so. */
  readonly sandbox: Sandbox
  /** The rule that struck; add it to see the same again. */
  readonly rule?: FaultRule
  /** For interleavings: who went when. */
  readonly order?: readonly string[]
  /** For interleavings: who did what, and what came back. */
  readonly steps?: readonly InterleavingStep[]
  /** For interleavings: what goes wrong, by its name. */
  readonly anomaly?: Anomaly
  /** What is otherwise than where one comes after the other, or than without the fault. */
  readonly differences?: readonly SerialDifference[]
}
