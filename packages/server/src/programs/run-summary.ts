import type { EntryOf } from '../../../../src/kernel/traffic-log.js'
import type { SummarizedTenant } from '../../../../src/report/step-summary.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { sandboxInternals } from '../../../../src/sandbox/sandbox-internals.js'

/** Maximum entries of a timeline. */
export const maxShown = 200

/** Returns the note that the log of a sandbox does not contain everything; empty if it does. */
export function sinceReset(sandbox: Sandbox): string {
  return sandboxInternals.of(sandbox).beginning().world > 0 ? ' since the last reset or load' : ''
}

/** Returns the facts about one tenant for the summary of a step in GitHub Actions. */
export function summarizedTenant(sandbox: Sandbox, name: string): SummarizedTenant {
  const { traffic, destinations, outbound, faults, queues } = sandbox
  const requests = traffic.ofType('request')
  const attempts = traffic.ofType('attempt')
  const { violations } = sandbox.checkInvariants()
  const problems = [
    ...destinations.unhandled,
    ...outbound.unhandled,
    ...faults.unused.map(({ message }) => message),
    ...violations.map(({ message }) => message),
  ]
  const since = sinceReset(sandbox)
  const redaction = traffic.redaction()
  return {
    name,
    counts: [
      ['requests', requests.length],
      ['requests with an error status', requests.filter(({ response }) => (response?.status ?? 0) >= 400).length],
      ['commands of the data store', traffic.ofType('command').length],
      ['delivery attempts', attempts.length],
      ['failed delivery attempts', attempts.filter(({ outcome }) => isFailure(outcome?.state)).length],
      ['dead letters', sum(queues.map(({ deadLetters }) => deadLetters.length))],
      ['unhandled deliveries', destinations.unhandled.length],
      ['unhandled outbound requests', outbound.unhandled.length],
      ...injectedFaults(traffic.ofType('fault')),
      ['unused faults', faults.unused.length],
      ['violated invariants', new Set(violations.map(({ invariant }) => invariant)).size],
    ],
    problems: problems.map((problem) => redaction.text(problem)),
    ...(since !== '' && { note: `Only events${since} are counted.` }),
    timeline: traffic.timeline({ limit: maxShown }),
  }
}

function isFailure(state: string | undefined): boolean {
  return state === 'RETRY' || state === 'FAILED'
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

/** Returns the number of injected faults of each kind. */
function injectedFaults(entries: readonly EntryOf<'fault'>[]): (readonly [string, number])[] {
  const kinds = new Map<string, number>()
  for (const { fault: kind } of entries) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  return [...kinds].map(([kind, count]) => [`injected faults: ${kind}`, count])
}
