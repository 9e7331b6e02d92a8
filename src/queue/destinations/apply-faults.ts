import { actionAt } from '../../faults/catalog.js'
import type { DeliveryFault } from '../../faults/fault.js'
import type { AttemptAction, AttemptFaultContext } from '../../faults/fault-context.js'
import type { Bytes } from '../../kernel/bytes.js'
import { noHeaders } from '../../kernel/http.js'
import type { RawOutcome } from '../message/message.js'
import type { Attempt } from '../message/message-entries.js'
import type { DeliveryContext } from './delivery-context.js'
import { rateLimitResponse } from './rate-limit.js'
import { rawResponse } from './raw-response.js'

// Applies faults to one attempt: first those of fault rules, in the order of injection, then the fault of a script
// step.

type Maybe<T> = T | Promise<T>

export interface AppliedFault {
  readonly fault: DeliveryFault
  readonly phase: 'before' | 'after'
  draw(below: number): number
  report?(effect: string): void
}

export interface AttemptInjectionContext {
  readonly attempt: Attempt
  readonly context: DeliveryContext
  /**
   * Responds after all faults have been applied: runs a handler or a script, or sends the delivery over the network.
   */
  underneath(context: DeliveryContext): Maybe<RawOutcome>
}

/** Outcome of a destination that never responds. The attempt ends when it times out. */
export const noResponse: RawOutcome = {
  status: 0,
  headers: noHeaders,
  body: '' as Bytes,
  error: 'no response',
  never: true,
}

/**
 * Applies the faults around the delivery. The first fault is the outermost: it sees the outcome of all other faults.
 */
export function applyFaults(
  encounters: readonly AppliedFault[],
  scene: AttemptInjectionContext,
  from = 0,
): Maybe<RawOutcome> {
  const met = encounters[from]
  if (met === undefined) return scene.underneath(scene.context)
  const { fault, phase } = met
  const { attempt, context } = scene
  const { task } = context
  const moment: AttemptFaultContext = {
    phase,
    timeout: context.timeout,
    nonRetryableHeader: attempt.message.settings.words.header('NonRetryable-Error'),
    draw: (below) => met.draw(below),
    tell: (effect) => met.report?.(effect),
    now: () => context.now(),
    sleep: (ms) => task.sleep(ms),
    onwards: () => applyFaults(encounters, scene, from + 1),
    answer: rawResponse,
    rateLimited: (given) => rateLimitResponse(given, context.now()),
    sign(wrong) {
      attempt.signing = wrong
    },
    play: (next) => applyFaults([{ fault: next, phase: 'before', draw: (below) => met.draw(below) }], scene),
    again(afterMs, run, when) {
      const copy = (given: DeliveryContext): Promise<void> =>
        run({ sleep: (ms) => given.task.sleep(ms), deliver: () => scene.underneath(given) })
      context.again(afterMs, copy, when)
    },
  }
  return meetingOf(fault).meets(fault, moment)
}

/** Whether a delivery with this fault still reaches the destination. If so, recorders must record it. */
export function arrives(fault: DeliveryFault): boolean {
  const met = meetingOf(fault)
  const last = met.next?.(fault)
  return last === undefined ? met.arrives === true : arrives(last)
}

function meetingOf(fault: DeliveryFault): AttemptAction<DeliveryFault> {
  return actionAt('queue.delivery', fault) as AttemptAction<DeliveryFault>
}
