import type { UnplayedCalls } from '../calls/calls.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import type { Vocabulary } from '../protocol/dialect.js'
import type { Step } from '../queue/destinations/delivery-script.js'
import type { Trace } from '../report/trace.js'
import type { StoreCosts } from '../report/traffic-context.js'
import type { Mark } from '../report/traffic-view.js'
import type { ListedFault, UnusedFault } from '../rules/fault-rules.js'
import type { SandboxTokens } from '../sandbox/sandbox.js'
import type { SandboxDump } from '../sandbox/sandbox-dump.js'
import type { Spend } from '../store/meter.js'

/** A tenant at one moment, as it travels. */
export interface WorldSnapshot {
  readonly trace: Trace
  readonly state: SandboxDump
  readonly tokens: SandboxTokens
  readonly vocabulary: Vocabulary
  readonly policy: ResolvedPolicy
  readonly spend: Spend
  /** What the data store had billed at each mark of the log. */
  readonly costs: readonly (readonly [Mark, StoreCosts])[]
  readonly pending: readonly { readonly at: number; readonly label: string; readonly background: boolean }[]
  readonly running: readonly string[]
  readonly faults: readonly ListedFault[]
  readonly unused: readonly UnusedFault[]
  /** Sentences about verbs of workflows that nothing met, by region, the home region first. */
  readonly unusedVerbs: readonly (readonly string[])[]
  /** What `sandbox.calls` has to say. */
  readonly calls: {
    readonly patterns: readonly string[]
    readonly unhandled: readonly string[]
    readonly unplayed: readonly UnplayedCalls[]
  }
  readonly unhandled: readonly string[]
  readonly unplayed: readonly { readonly pattern: string; readonly steps: readonly Step[] }[]
}
