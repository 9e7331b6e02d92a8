import type { EntryOf } from '../kernel/traffic-log.js'
import type { Findings, Invariant } from './invariant.js'
import { type CheckedMessage, endOf, wasCancelled } from './invariant-index.js'

export const callbackPerAttempt: Invariant = {
  name: 'callback-per-attempt',
  guarantee:
    'A message with a callback sends one after each of its attempts, and none otherwise; a call of a workflow run after its last.',
  suspendedBy: {
    drop: 'for the attempt or the callback it struck',
    duplicate: 'for the message it struck',
    restart: 'for messages whose attempt it cut off',
  },
  examine(history, findings) {
    for (const story of history.stories.values()) {
      if (history.struck(story.id, this.suspendedBy)) continue
      if (story.published.callback === undefined && story.callbacks.length === 0) continue
      count(story, findings, history.world.policy.workflowCallCallbacks === 'last')
    }
  },
}

/** @param isLastOnly calls of workflow runs are reported when they have ended */
function count(story: CheckedMessage, findings: Findings, isLastOnly: boolean): void {
  const { id, published, attempts, callbacks } = story
  const sent = new Map<number | undefined, EntryOf<'published'>[]>()
  for (const callback of callbacks) {
    if (callback.kind !== 'callback') continue
    const others = sent.get(callback.cause)
    if (others === undefined) sent.set(callback.cause, [callback])
    else others.push(callback)
  }
  for (const attempt of attempts) {
    const reports = sent.get(attempt.seq) ?? []
    sent.delete(attempt.seq)
    const isPassedOver = isLastOnly && attempt.workflowRunId !== undefined && attempt.outcome?.state === 'RETRY'
    const isDue = published.callback !== undefined && attempt.outcome !== undefined && !isPassedOver
    const wanted = isDue && !wasCancelled(story, endOf(attempt)) ? 1 : 0
    if (reports.length === wanted) continue
    findings.broken(
      `attempt ${attempt.retried + 1} of ${id} was reported ${reports.length} times instead of ${wanted === 1 ? 'once' : 'never'}`,
      published,
      attempt,
      ...reports,
    )
  }
  for (const [stray] of sent.values()) findings.broken(`a callback of ${id} reports no attempt`, published, stray)
}
