import { assertInvariantsOf, type InvariantOptions, type InvariantReport } from '../invariants/invariant-check.js'
import type { CheckedSandbox } from '../invariants/invariant-index.js'
import { parseCron } from '../kernel/cron.js'
import type { Entry } from '../kernel/traffic-log.js'
import type { Queue } from '../queue/direct-queue.js'
import { Attempt } from '../queue/message/message-entries.js'
import { engineOf } from '../queue/queue-internals.js'
import { parseRetryExpression } from '../queue/settings/retry-expression.js'
import { timeline } from '../report/timeline.js'
import type { SandboxParts } from './sandbox-parts.js'

export function checkSandboxInvariants(sandbox: SandboxParts, options: InvariantOptions): InvariantReport {
  return examinedBy(sandbox, (world) => assertInvariantsOf(world, options))
}

/** Runs a check once for each region that was used. */
export function examinedBy(sandbox: SandboxParts, check: (world: CheckedSandbox) => InvariantReport): InvariantReport {
  const { queues, traffic } = sandbox
  const isOne = queues.length === 1
  const checks = queues.map((queue, index) =>
    check(worldOf(sandbox, queue, isOne ? traffic.entries : seenIn(queue, index === 0))),
  )
  const [first] = checks
  if (isOne) return first!
  return {
    checked: first!.checked,
    violations: checks.flatMap(({ violations: breaches }) => breaches),
    unknown: checks.flatMap(({ unknown }) => unknown),
  }
}

/**
 * Returns the log entries with which a region is checked. Entries of the data store belong to no region, so only the
 * home region is checked with them.
 */
function seenIn({ traffic }: Queue, isHome: boolean): readonly Entry[] {
  const { entries } = traffic
  return isHome ? entries : entries.filter(({ type }) => type !== 'command' && type !== 'keyspace')
}

function worldOf(sandbox: SandboxParts, face: Queue, entries: readonly Entry[]): CheckedSandbox {
  const { clock, policy } = sandbox
  const queue = engineOf(face)
  const { limits, keys } = queue
  return {
    entries,
    now: clock.now(),
    isRealTime: clock.mode === 'real',
    isDrained: clock.isDrained,
    policy,
    limits,
    pending: queue.whereabouts(),
    signingKeys: [...keys.former].reverse().concat(keys.current),
    signatureHeaders: (attempt) =>
      (attempt instanceof Attempt ? attempt.message.settings.words : queue.words).headers('Signature'),
    retryDelay: (expression, retried) => parseRetryExpression(expression).evaluate(retried),
    slots: slotsBetween,
  }
}

/** Formats a timeline of the given entries. It also contains all other entries about their messages. */
export function timelineAround({ traffic }: SandboxParts, entries: readonly Entry[]): string {
  const told = new Set(entries)
  for (const entry of entries) {
    if ('messageId' in entry) for (const other of traffic.forMessage(entry.messageId)) told.add(other)
  }
  const story = [...told].sort((one, other) => one.seq - other.seq)
  return timeline(story, { limit: entriesTold, around: entries[0]?.seq ?? 0 })
}

/** Maximum number of entries in the timeline of a violation. */
const entriesTold = 24

function* slotsBetween(expression: string, from: number, to: number): Iterable<number> {
  const cron = parseCron(expression, { every: true })
  for (let at = cron.next(from); at !== undefined && at <= to; at = cron.next(at)) yield at
}
