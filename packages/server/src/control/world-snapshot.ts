import type { UnplayedCalls } from '../../../../src/calls/calls.js'
import type { Policy } from '../../../../src/policy/policy.js'
import type { Vocabulary } from '../../../../src/protocol/vocabulary.js'
import type { Step } from '../../../../src/queue/destinations/script.js'
import { type Trace, traceOf } from '../../../../src/report/trace.js'
import type { Mark, StoreCosts } from '../../../../src/report/traffic-view.js'
import type { ListedFault, UnusedFault } from '../../../../src/rules/rules.js'
import type { SandboxDump } from '../../../../src/sandbox/dump.js'
import type { Sandbox, SandboxTokens } from '../../../../src/sandbox/sandbox.js'
import type { Spend } from '../../../../src/store/meter.js'
import { OpenRedaction } from './wire-entry.js'

/** A tenant at one moment, as it travels. */
export interface WorldSnapshot {
  readonly trace: Trace
  readonly state: SandboxDump
  readonly tokens: SandboxTokens
  readonly vocabulary: Vocabulary
  readonly policy: Policy
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

export function snapshotOf(sandbox: Sandbox): WorldSnapshot {
  const { traffic, tokens, vocabulary, policy, store, clock, faults, destinations, calls, workflows } = sandbox
  return {
    trace: traceOf(traffic.entries, traffic.context, new OpenRedaction()),
    state: sandbox.dump(),
    tokens,
    vocabulary,
    policy,
    spend: store.spend(),
    costs: [...traffic.costs],
    pending: clock.pending().map(({ at, label, background }) => ({ at, label, background })),
    running: clock.running(),
    faults: faults.list(),
    unused: faults.unused(),
    unusedVerbs: workflows.map(({ unused }) => unused),
    calls: { patterns: calls.patterns, unhandled: calls.unhandled, unplayed: calls.unplayed },
    unhandled: destinations.unhandled,
    unplayed: destinations.unplayed,
  }
}
