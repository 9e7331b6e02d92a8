import type { Invariant } from './invariant.js'
import { endOf } from './invariant-index.js'

export const noAttemptAfterSuccess: Invariant = {
  name: 'no-attempt-after-success',
  guarantee: 'No message is delivered again after a successful delivery, and no two attempts of one message overlap.',
  suspendedBy: {
    duplicate: 'for the affected message',
    restart: 'for messages with an attempt that the restart cut off',
  },
  examine(history, findings) {
    for (const { id, attempts } of history.stories.values()) {
      if (history.struck(id, this.suspendedBy)) continue
      for (const [index, attempt] of attempts.entries()) {
        const before = attempts[index - 1]
        if (before === undefined) continue
        if (before.outcome?.state === 'DELIVERED') {
          findings.broken(`${id} was delivered, and then delivered again`, before, attempt)
        } else if (endOf(before) > attempt.seq) {
          findings.broken(`an attempt of ${id} began before the previous one had ended`, before, attempt)
        }
      }
    }
  },
}
