import type { EntryOf } from '../kernel/traffic.js'
import { type KeyCourse, keyCourses, limitOf } from './flow-control.js'
import type { Findings, Invariant } from './invariant.js'

export const rateBound: Invariant = {
  name: 'rate-bound',
  promise:
    'No more calls start in a period of a flow-control key than its rate; a period begins with the first call after the last one.',
  suspendedBy: { duplicate: 'for the message it struck', restart: 'for messages whose attempt it cut off' },
  examine(history, findings) {
    for (const course of keyCourses(history, (id) => history.struck(id, this.suspendedBy))) {
      walk(course, history.isWhole, findings)
    }
  },
}

function walk({ key, rate, steps }: KeyCourse, isWhole: boolean, findings: Findings): void {
  let period = 1000
  let start = Number.NEGATIVE_INFINITY
  // Where calls took turns that the log does not show, periods may have begun earlier: two can overlap one seen here.
  let isSure = isWhole
  let calls: EntryOf<'attempt'>[] = []
  for (const { is, at, place, attempt, setting, since } of steps) {
    if (is === 'limits') {
      rate.set(place, limitOf(setting, 'rate'))
      const seconds = limitOf(setting, 'period')
      if (Number.isFinite(seconds)) period = seconds * 1000
    } else if (is === 'unsure') isSure = false
    else if (is === 'reset' || is === 'rate-reset') {
      start = at
      calls = []
      if (setting?.of === 'service') {
        start = Number.NEGATIVE_INFINITY
        rate.set(place, Number.POSITIVE_INFINITY)
      }
    } else if (is === 'start') {
      if (at >= start + period) {
        if (at >= start + 2 * period && Number.isFinite(start)) isSure = true
        start = at
        calls = []
      }
      calls.push(attempt!)
      const highest = rate.highestSince(since!)
      const allowed = isSure ? highest : 2 * highest
      if (calls.length <= allowed) continue
      findings.broken(
        `${calls.length} calls of flow-control key ${key} started within ${period / 1000} s; its rate is ${highest}`,
        ...calls.slice(-6),
      )
    }
  }
}
