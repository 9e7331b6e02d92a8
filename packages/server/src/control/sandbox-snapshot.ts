import type { StatusSnapshot } from '../../../../src/client/status-snapshot.js'
import { traceOf } from '../../../../src/report/trace.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { OpenRedaction } from './wire-entry.js'

export function snapshotOf(sandbox: Sandbox): StatusSnapshot {
  const { traffic, tokens, dialect, policy, store, clock, faults, destinations, outbound, workflows, urls } = sandbox
  return {
    trace: traceOf(traffic.entries, traffic.context, new OpenRedaction()),
    state: sandbox.dump(),
    tokens,
    dialect,
    policy,
    cost: store.cost(),
    databaseCosts: Object.fromEntries(Object.keys(urls.databases).map((name) => [name, sandbox.storeIn(name).cost()])),
    costs: [...traffic.costs],
    pending: clock.pending.map(({ at, label, background }) => ({ at, label, background })),
    running: clock.running,
    faults: faults.rules,
    unused: faults.unused,
    unusedStubs: workflows.map(({ unused }) => unused),
    outbound: { patterns: outbound.patterns, unhandled: outbound.unhandled, unused: outbound.unused },
    destinations: { unhandled: destinations.unhandled, unused: destinations.unused },
  }
}
