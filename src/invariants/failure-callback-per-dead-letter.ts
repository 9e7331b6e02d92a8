import type { Findings, Invariant } from './invariant.js'
import { type CheckedMessage, wasCancelled } from './invariant-index.js'

export const failureCallbackPerDeadLetter: Invariant = {
  name: 'failure-callback-per-dead-letter',
  guarantee:
    'A message that fails permanently becomes exactly one dead letter. If the message has a failure callback URL, it sends exactly one failure callback.',
  suspendedBy: { drop: 'for the affected attempt or callback', duplicate: 'for the affected message' },
  examine(history, findings) {
    for (const story of history.stories.values()) {
      const isConcerned = story.deadLetters.length > 0 || story.callbacks.some(isFailureCallback)
      if (isConcerned && !history.struck(story.id, this.suspendedBy)) count(story, findings)
    }
  },
}

const isFailureCallback = ({ kind }: { kind: string }): boolean => kind === 'failure-callback'

function count(story: CheckedMessage, findings: Findings): void {
  const { id, published, attempts, deadLetters, callbacks } = story
  const sent = callbacks.filter(isFailureCallback)
  const [letter, second] = deadLetters
  if (second !== undefined) findings.broken(`${id} is in the dead-letter queue twice`, published, letter, second)
  const failed = attempts.find((attempt) => attempt.seq === letter?.cause)
  if (letter !== undefined && failed?.outcome?.state !== 'FAILED') {
    findings.broken(
      `${id} is a dead letter, but no attempt of it failed permanently`,
      published,
      attempts.at(-1),
      letter,
    )
  }
  const isWanted = letter !== undefined && published.failureCallback !== undefined && !wasCancelled(story, letter.seq)
  if (sent.length === (isWanted ? 1 : 0)) return
  findings.broken(
    `${id} sent ${sent.length} failure callbacks instead of ${isWanted ? 'one' : 'none'}`,
    published,
    letter,
    ...sent,
  )
}
