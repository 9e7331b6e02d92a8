import type { WorldSnapshot } from '../../../../src/client/world-snapshot.js'
import { traceOf } from '../../../../src/report/trace.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { OpenRedaction } from './wire-entry.js'

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
