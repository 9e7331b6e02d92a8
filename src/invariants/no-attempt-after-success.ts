import type { Invariant } from './invariant.js'
import { endOf } from './invariant-index.js'

export const noAttemptAfterSuccess: Invariant = {
  name: 'no-attempt-after-success',
  guarantee: 'Nothing is delivered again after it was delivered, and no two attempts of one message run at once.',
  suspendedBy: { duplicate: 'for the message it struck', restart: 'for messages whose attempt it cut off' },
  examine(history, findings) {
    for (const { id, attempts } of history.stories.values()) {
      if (history.struck(id, this.suspendedBy)) continue
      for (const [index, attempt] of attempts.entries()) {
        const before = attempts[index - 1]
        if (before === undefined) continue
        if (before.outcome?.state === 'DELIVERED') {
          findings.broken(`${id} was delivered, and then delivered again`, before, attempt)
        } else if (endOf(before) > attempt.seq) {
          findings.broken(`an attempt of ${id} began before the one before it had ended`, before, attempt)
        }
      }
    }
  },
}
