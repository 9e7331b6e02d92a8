import type { StatusSnapshot } from '../../../../src/client/status-snapshot.js'
import { traceOf } from '../../../../src/report/trace.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { OpenRedaction } from './wire-entry.js'

export function snapshotOf(sandbox: Sandbox): StatusSnapshot {
  const {
    traffic,
    tokens,
    dialect: vocabulary,
    policy,
    store,
    clock,
    faults,
    destinations,
    outbound: calls,
    workflows,
  } = sandbox
  return {
    trace: traceOf(traffic.entries, traffic.context, new OpenRedaction()),
    state: sandbox.dump(),
    tokens,
    dialect: vocabulary,
    policy,
    cost: store.cost(),
    costs: [...traffic.costs],
    pending: clock.pending.map(({ at, label, background }) => ({ at, label, background })),
    running: clock.running,
    faults: faults.rules,
    unused: faults.unused,
    unusedVerbs: workflows.map(({ unused }) => unused),
    outbound: { patterns: calls.patterns, unhandled: calls.unhandled, unused: calls.unused },
    destinations: { unhandled: destinations.unhandled, unused: destinations.unused },
  }
}
