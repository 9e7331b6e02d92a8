import type { EntryOf } from '../kernel/traffic-log.js'
import type { Findings, Invariant } from './invariant.js'
import type { CheckedMessage } from './invariant-index.js'

/** Status with which a destination rejects all retries. [queue.md 5.1] */
const hopeless = 489

export const attemptsWithinRetries: Invariant = {
  name: 'attempts-within-retries',
  guarantee:
    'A message has at most 1 + `retries` attempts, and its retries are numbered 1, 2, 3 and so on. The message fails only after its last attempt or after a non-retryable response (status 489).',
  suspendedBy: {
    duplicate: 'for the affected message',
    restart: 'for messages with an attempt that the restart cut off',
  },
  examine(history, findings) {
    for (const story of history.stories.values()) {
      if (!history.struck(story.id, this.suspendedBy)) count(story, findings)
    }
  },
}

function count({ id, published, attempts }: CheckedMessage, findings: Findings): void {
  const allowed = published.maxRetries + 1
  const excess = attempts[allowed]
  if (excess !== undefined) {
    findings.broken(
      `${id} was attempted ${times(attempts.length)}, but its number of retries allows attempts only ${times(allowed)}`,
      published,
      excess,
    )
  }
  const wrong = attempts.find((attempt, index) => attempt.retried !== index)
  if (wrong !== undefined) {
    findings.broken(
      `attempt ${attempts.indexOf(wrong) + 1} of ${id} has the retry count ${wrong.retried}`,
      published,
      wrong,
    )
  }
  const last = attempts.at(-1)
  if (last !== undefined && gaveUpEarly(last)) {
    findings.broken(`${id} failed after ${attempts.length} of ${allowed} attempts`, published, last)
  }
}

function gaveUpEarly({ outcome, retried, maxRetries }: EntryOf<'attempt'>): boolean {
  return outcome?.state === 'FAILED' && retried < maxRetries && outcome.status !== hopeless
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
