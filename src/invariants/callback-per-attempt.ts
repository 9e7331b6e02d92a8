import type { EntryOf } from '../kernel/traffic-log.js'
import type { Findings, Invariant } from './invariant.js'
import { type CheckedMessage, endOf, wasCancelled } from './invariant-index.js'

export const callbackPerAttempt: Invariant = {
  name: 'callback-per-attempt',
  guarantee:
    'A message with a callback URL sends one callback after each of its attempts. A step that calls a URL with `context.call()` sends a callback only after its last attempt. No other callbacks are sent.',
  suspendedBy: {
    drop: 'for the affected attempt or callback',
    duplicate: 'for the affected message',
    restart: 'for messages with an attempt that the restart cut off',
  },
  examine(history, findings) {
    for (const story of history.stories.values()) {
      if (history.struck(story.id, this.suspendedBy)) continue
      if (story.published.callback === undefined && story.callbacks.length === 0) continue
      count(story, findings, history.world.policy.workflowCallCallbacks === 'last')
    }
  },
}

/**
 * Checks the number of callbacks of a message.
 * @param isLastOnly `true` if a call of a workflow run sends its callback only after its last attempt
 */
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
      `attempt ${attempt.retried + 1} of ${id} sent its callback ${reports.length} times instead of ${wanted === 1 ? 'once' : 'never'}`,
      published,
      attempt,
      ...reports,
    )
  }
  for (const [stray] of sent.values())
    findings.broken(`the log contains a callback for ${id} that belongs to none of its attempts`, published, stray)
}
