import type { Findings, Invariant } from './invariant.js'
import { type CheckedMessage, endOf, type InvariantIndex } from './invariant-index.js'
import { type KeyTimeline, keyTimelines, limitOf } from './key-timeline.js'

export const parallelismBound: Invariant = {
  name: 'parallelism-bound',
  guarantee:
    'The number of deliveries in flight never exceeds the parallelism of their flow-control key. If the limits of the plan are enforced, the number of all deliveries in flight never exceeds the parallelism of the plan.',
  suspendedBy: {
    duplicate: 'for the affected message',
    restart: 'for messages with an attempt that the restart cut off',
  },
  examine(history, findings) {
    const isExcused = (id: string): boolean => history.struck(id, this.suspendedBy)
    for (const course of keyTimelines(history, isExcused)) walk(course, findings)
    if (history.world.policy.enforceQuotas) walkPlan(history, isExcused, findings)
  },
}

function walk({ key, steps }: KeyTimeline, findings: Findings): void {
  const running = new Set<CheckedMessage>()
  let allowed = Number.POSITIVE_INFINITY
  for (const { is, story, entry, place } of steps) {
    if (is === 'limits') allowed = limitOf(entry, 'parallelism')
    // A reset sets the counter to 0, even while deliveries are running.
    else if (is === 'reset' || is === 'service') running.clear()
    else if (is === 'release') running.delete(story!)
    else if (is === 'take') {
      running.add(story!)
      if (running.size <= allowed) continue
      const calls = [...running].slice(-6).map(({ attempts }) => attempts.findLast(({ seq }) => seq <= place))
      findings.broken(
        `${running.size} deliveries of flow-control key ${key} were in flight at the same time, but the parallelism of the key is ${allowed}`,
        ...calls,
        entry,
      )
    }
    if (is === 'service') allowed = Number.POSITIVE_INFINITY
  }
}

function walkPlan(history: InvariantIndex, isExcused: (id: string) => boolean, findings: Findings): void {
  const allowed = history.world.limits.globalParallelism
  const attempts = history.of('attempt').filter(({ messageId }) => !isExcused(messageId))
  const resets = history.of('setting').flatMap(({ resource: of, seq }) => (of === 'service' ? seq : []))
  // A reset of the queue cuts deliveries off without a log entry for their end. Count the reset as their end.
  const cutOff = ({ seq }: { seq: number }): number => resets.find((reset) => reset > seq) ?? Number.POSITIVE_INFINITY
  const ends = attempts.map((attempt) => Math.min(endOf(attempt), cutOff(attempt))).sort((one, other) => one - other)
  let ended = 0
  for (const [begun, attempt] of attempts.entries()) {
    while (ended < ends.length && ends[ended]! < attempt.seq) ended++
    const running = begun + 1 - ended
    if (running > allowed)
      findings.broken(`${running} deliveries were in flight at the same time, but the plan allows ${allowed}`, attempt)
  }
}
