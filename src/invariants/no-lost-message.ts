import type { Findings, Invariant } from './invariant.js'
import { type CheckedMessage, type InvariantIndex, isFinal } from './invariant-index.js'

export const noLostMessage: Invariant = {
  name: 'no-lost-message',
  guarantee: 'Every published message is delivered, is a dead letter, is canceled, or is pending.',
  suspendedBy: { drop: 'for the affected message' },
  examine(history, findings) {
    if (!history.isWhole) findings.unknown('messages whose published entry the log has dropped')
    for (const story of history.stories.values()) {
      if (!story.isAbandoned && !history.struck(story.id, this.suspendedBy)) follow(story, history, findings)
    }
  },
}

/**
 * Whether it is correct that a failed message does not become a dead letter. A failed workflow call becomes the result
 * of its step. A failed call of a failure function is recorded in the workflow run. [workflow.md 6, 11]
 */
function isResult(
  { callback, kind }: CheckedMessage['published'],
  { workflowRunId }: CheckedMessage['attempts'][number],
): boolean {
  return workflowRunId !== undefined && (callback !== undefined || kind === 'failure-callback')
}

function follow(story: CheckedMessage, { world }: InvariantIndex, findings: Findings): void {
  const { id, published, attempts, changes, deadLetters } = story
  const last = attempts.findLast(isFinal)
  if (last?.outcome?.state === 'DELIVERED') return
  if (last?.outcome?.state === 'FAILED') {
    if (deadLetters.length === 0 && !isResult(published, last))
      findings.broken(`${id} failed permanently, but is not in the dead-letter queue`, published, last)
    return
  }
  if (changes.some((change) => change.state === 'CANCELLED')) return
  const where = world.pending.get(id)
  if (where === undefined) findings.broken(`${id} disappeared without having ended`, published, attempts.at(-1))
  else if (where === 'adrift') {
    findings.broken(
      `${id} has not ended, and nothing will deliver it: it has no timer and is in no wait list`,
      published,
      attempts.at(-1),
    )
  }
}
