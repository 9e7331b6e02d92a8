import type { UnusedScript } from '../calls/outbound.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import type { Dialect } from '../protocol/dialect.js'
import type { Step } from '../queue/destinations/delivery-script.js'
import type { Trace } from '../report/trace.js'
import type { StoreCostTotals } from '../report/traffic-context.js'
import type { TrafficMark } from '../report/traffic-view.js'
import type { FaultRuleStatus, UnusedFault } from '../rules/fault-rules.js'
import type { SandboxTokens } from '../sandbox/sandbox.js'
import type { SandboxDump } from '../sandbox/sandbox-dump.js'
import type { StoreCost } from '../store/meter.js'

/** Copy of a tenant, as the control API sends it. */
export interface StatusSnapshot {
  /** Traffic log as a trace, without redaction. */
  readonly trace: Trace
  /** The whole state, as `dump()` returns it. */
  readonly state: SandboxDump
  /** Tokens that clients authenticate with. */
  readonly tokens: SandboxTokens
  /** Dialect of the sandbox: its names for the service's headers, parameters and variables. */
  readonly dialect: Dialect
  /** Policy of the sandbox, including the defaults. */
  readonly policy: ResolvedPolicy
  /** Billed commands and bytes of the store since the start or the last reset. */
  readonly cost: StoreCost
  /** Billed commands and bytes of each added database, by name. */
  readonly databaseCosts: Readonly<Record<string, StoreCost>>
  /** Cost of the data store at each mark that was set in the log. */
  readonly costs: readonly (readonly [TrafficMark, StoreCostTotals])[]
  /** The waiting timers, earliest first. */
  readonly pending: readonly { readonly at: number; readonly label: string; readonly background: boolean }[]
  /** Labels of the work that is running. */
  readonly running: readonly string[]
  /** The rules with their counters, in the order in which they are evaluated. */
  readonly faults: readonly FaultRuleStatus[]
  /** Rules that were never injected, each with the line of the code that added it. */
  readonly unused: readonly UnusedFault[]
  /** Messages about unused workflow stubs, one list per region. The home region is the first. */
  readonly unusedStubs: readonly (readonly string[])[]
  /** Registered patterns, unhandled requests and unused scripts of `sandbox.outbound`. */
  readonly outbound: {
    readonly patterns: readonly string[]
    readonly unhandled: readonly string[]
    readonly unused: readonly UnusedScript[]
  }
  /** Unhandled deliveries and unused scripts of `sandbox.destinations`. */
  readonly destinations: {
    readonly unhandled: readonly string[]
    readonly unused: readonly { readonly pattern: string; readonly steps: readonly Step[] }[]
  }
}
