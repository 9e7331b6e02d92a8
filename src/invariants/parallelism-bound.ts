import type { EntryOf } from '../kernel/traffic.js'
import { type KeyCourse, keyCourses, limitOf } from './flow-control.js'
import { endOf, type History } from './history.js'
import type { Findings, Invariant } from './invariant.js'

export const parallelismBound: Invariant = {
  name: 'parallelism-bound',
  promise:
    'No more calls run at once than the parallelism of their flow-control key, and of the plan where it is enforced.',
  suspendedBy: { duplicate: 'for the message it struck', restart: 'for messages whose attempt it cut off' },
  examine(history, findings) {
    const isExcused = (id: string): boolean => history.struck(id, this.suspendedBy)
    for (const course of keyCourses(history, isExcused)) walk(course, findings)
    if (history.world.policy.enforceQuotas) walkPlan(history, isExcused, findings)
  },
}

function walk({ key, parallelism, steps }: KeyCourse, findings: Findings): void {
  const running = new Set<EntryOf<'attempt'>>()
  for (const { is, place, attempt, setting, since } of steps) {
    if (is === 'limits') parallelism.set(place, limitOf(setting, 'parallelism'))
    else if (is === 'reset') {
      // Those that run are not counted any more.
      running.clear()
      if (setting !== undefined) parallelism.set(place, Number.POSITIVE_INFINITY)
    } else if (is === 'end') running.delete(attempt!)
    else if (is === 'start') {
      running.add(attempt!)
      const allowed = parallelism.highestSince(since!)
      if (running.size <= allowed) continue
      findings.broken(
        `${running.size} calls of flow-control key ${key} ran at once; its parallelism is ${allowed}`,
        ...[...running].slice(-6),
      )
    }
  }
}

function walkPlan(history: History, isExcused: (id: string) => boolean, findings: Findings): void {
  const allowed = history.world.limits.globalParallelism
  const ends = history
    .of('attempt')
    .map(endOf)
    .sort((one, other) => one - other)
  let running = 0
  let ended = 0
  for (const attempt of history.of('attempt')) {
    if (isExcused(attempt.messageId)) continue
    while (ended < ends.length && ends[ended]! < attempt.seq) {
      ended++
      running--
    }
    if (++running > allowed) findings.broken(`${running} calls ran at once; the plan allows ${allowed}`, attempt)
  }
}
