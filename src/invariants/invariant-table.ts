import { attemptsWithinRetries } from './attempts-within-retries.js'
import { backoffWithinBounds } from './backoff-within-bounds.js'
import { callbackPerAttempt } from './callback-per-attempt.js'
import { deduplicatedWithinWindow } from './deduplicated-within-window.js'
import { failureCallbackPerDeadLetter } from './failure-callback-per-dead-letter.js'
import { fifoPerQueue } from './fifo-per-queue.js'
import type { Invariant } from './invariant.js'
import { noAttemptAfterSuccess } from './no-attempt-after-success.js'
import { noAttemptLeftRunning } from './no-attempt-left-running.js'
import { noLostMessage } from './no-lost-message.js'
import { parallelismBound } from './parallelism-bound.js'
import { rateBound } from './rate-bound.js'
import { scheduleOnTime } from './schedule-on-time.js'
import { signaturesVerify } from './signatures-verify.js'

/** All invariants that `sandbox.assertInvariants()` checks. */
export const invariants: readonly Invariant[] = [
  noLostMessage,
  noAttemptLeftRunning,
  noAttemptAfterSuccess,
  attemptsWithinRetries,
  backoffWithinBounds,
  callbackPerAttempt,
  failureCallbackPerDeadLetter,
  fifoPerQueue,
  parallelismBound,
  rateBound,
  deduplicatedWithinWindow,
  scheduleOnTime,
  signaturesVerify,
]
